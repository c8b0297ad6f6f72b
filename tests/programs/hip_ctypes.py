"""Drives HIP from Python, without any package:  hip_ctypes.py CODE_OBJECT [STEPS]

Every step copies to each GPU, launches the kernels of kernels.cl in turn on two streams and copies back, within ranges of
roctx. HIP is the library that HIP_LIBRARY names. Prints, per kernel:  name <TAB> launches.
"""

import ctypes
import os
import sys

KERNELS = ["scale", "_ZN4test4axpyIfEEvPT_PKS1_i", "_ZN4test4axpyIdEEvPT_PKS1_i"]
# As many elements of 8 bytes; a copy of so many is done by the GPU's engine, or by a kernel of HIP.
COUNT, GROUP = 1 << 17, 64
BYTES = 8 * COUNT
HOST_TO_DEVICE, DEVICE_TO_HOST, NON_BLOCKING = 1, 2, 1

library = ctypes.CDLL(os.environ.get("HIP_LIBRARY", "libamdhip64.so"))
roctx = ctypes.CDLL("libroctx64.so.4")


def hip(name, *arguments):
    error = getattr(library, "hip" + name)(*arguments)
    if error:
        sys.exit(f"hip{name}: error {error}")


def created(name, *arguments):
    """What a function of HIP puts where its first argument points."""
    handle = ctypes.c_void_p()
    hip(name, ctypes.byref(handle), *arguments)
    return handle


class Gpu:
    def __init__(self, number, code_object):
        self.number = number
        hip("SetDevice", number)
        module = created("ModuleLoad", code_object)
        self.kernels = [created("ModuleGetFunction", module, kernel.encode()) for kernel in KERNELS]
        self.streams = [created("StreamCreateWithFlags", NON_BLOCKING) for _ in range(2)]
        size = ctypes.c_size_t(BYTES)
        self.to, self.source = created("Malloc", size), created("Malloc", size)
        self.host = created("HostMalloc", size, 0)

    def copy(self, to, source, direction, stream):
        hip("MemcpyAsync", to, source, ctypes.c_size_t(BYTES), direction, stream)

    def launch(self, kernel, stream):
        values = [self.to, self.source, ctypes.c_int(COUNT)]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        groups = COUNT // GROUP
        hip("ModuleLaunchKernel", self.kernels[kernel], groups, 1, 1, GROUP, 1, 1, 0, stream, pointers, None)

    def step(self, number):
        hip("SetDevice", self.number)
        roctx.roctxRangePushA(b"step")
        for at, stream in enumerate(self.streams):
            self.copy(self.source, self.host, HOST_TO_DEVICE, stream)
            self.launch((number + at) % len(KERNELS), stream)
            self.copy(self.host, self.to, DEVICE_TO_HOST, stream)
        for stream in self.streams:
            hip("StreamSynchronize", stream)
        roctx.roctxRangePop()


def main(code_object, steps):
    count = ctypes.c_int()
    hip("GetDeviceCount", ctypes.byref(count))
    gpus = [Gpu(number, code_object.encode()) for number in range(count.value)]
    for number in range(steps):
        roctx.roctxMarkA(b"begins" if number == 0 else b"goes on")
        for gpu in gpus:
            gpu.step(number)
    for at, name in enumerate(KERNELS):
        launches = sum(at in (number % len(KERNELS), (number + 1) % len(KERNELS)) for number in range(steps))
        print(f"{name}\t{launches * len(gpus)}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
