"""Processes that use a GPU each by HIP, through ctypes:

    workers.py METHOD COUNT [first]   METHOD: fork, spawn or forkserver of multiprocessing, which each starts a
                                      process for each rank; or ranks: programs of their own, as launchers start them.
                                      With `first` this process itself uses a GPU before
    workers.py rank                   one such program, of the rank that the environment says
    workers.py look                   only asks how many GPUs there are

Rank N launches 10 * (N + 1) kernels, this process 5. HIP_LIBRARY is HIP, KERNELS the code object. PYTHON, where it is set, is
what starts another Python like this one. Prints how the processes ended.
"""

import ctypes
import multiprocessing
import os
import subprocess
import sys

PYTHON = os.environ.get("PYTHON", sys.executable)


def check(error):
    if error != 0:
        raise RuntimeError(f"HIP says {error}")


def begin():
    hip, gpus = ctypes.CDLL(os.environ["HIP_LIBRARY"]), ctypes.c_int()
    check(hip.hipGetDeviceCount(ctypes.byref(gpus)))
    return hip, gpus.value


def launch(rank, times):
    hip, gpus = begin()
    check(hip.hipSetDevice(rank % gpus))
    module, kernel, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(hip.hipModuleLoad(ctypes.byref(module), os.environ["KERNELS"].encode()))
    check(hip.hipModuleGetFunction(ctypes.byref(kernel), module, b"scale"))
    check(hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 16)))
    arguments = [memory, memory, ctypes.c_int(64)]
    addresses = [ctypes.cast(ctypes.byref(argument), ctypes.c_void_p) for argument in arguments]
    addresses = (ctypes.c_void_p * len(addresses))(*addresses)
    for _ in range(times):
        check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, addresses, None))
    check(hip.hipDeviceSynchronize())


def work(rank):
    launch(rank, 10 * (rank + 1))


def start_ranks(count):
    for rank in range(count):
        environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count))
        yield subprocess.Popen([PYTHON, __file__, "rank"], env=environment)


def main(method, count):
    if method == "ranks":
        print([rank.wait() for rank in list(start_ranks(count))])
        return
    multiprocessing.set_executable(PYTHON)
    context = multiprocessing.get_context(method)
    workers = [context.Process(target=work, args=(rank,)) for rank in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print([worker.exitcode for worker in workers])


if __name__ == "__main__":
    if sys.argv[1] == "rank":
        work(int(os.environ["RANK"]))
        sys.exit()
    if sys.argv[1] == "look":
        print(begin()[1])
        sys.exit()
    if sys.argv[3:] == ["first"]:
        launch(0, 5)
    main(sys.argv[1], int(sys.argv[2]))
