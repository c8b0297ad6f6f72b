"""Calls of HIP by Python's ctypes, and an account of them as tests/programs/hip.h writes it:  calls.py

Memory; structures by value; properties of the device by every name that this HIP has for the function; kernels of the code
object that KERNELS names. Prints the device's name, per function that tells it, and how many kernels were launched.
"""

import ctypes
import os
import sys

hip = ctypes.CDLL(os.environ["HIP_LIBRARY"])
calls = {}

HOST_TO_DEVICE = 1


class Pitched(ctypes.Structure):
    """hipPitchedPtr"""

    _fields_ = [("memory", ctypes.c_void_p), ("pitch", ctypes.c_size_t), ("width", ctypes.c_size_t), ("height", ctypes.c_size_t)]


class Extent(ctypes.Structure):
    """hipExtent"""

    _fields_ = [("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t)]


def call(name, *arguments):
    calls[name] = calls.get(name, 0) + 1
    status = getattr(hip, name)(*arguments)
    if status:
        sys.exit(f"{name}: {status}")


def memory():
    to = ctypes.c_void_p()
    for size in range(1, 21):
        call("hipMalloc", ctypes.byref(to), ctypes.c_size_t(size * 64))
        call("hipMemcpy", to, b"x" * 64, ctypes.c_size_t(64), HOST_TO_DEVICE)
        call("hipFree", to)


def structures_by_value():
    pitched, extent = Pitched(), Extent(100, 10, 2)
    call("hipMalloc3D", ctypes.byref(pitched), extent)
    call("hipMemset3D", pitched, 7, extent)
    call("hipFree", ctypes.c_void_p(pitched.memory))


def properties():
    for name in ["hipGetDeviceProperties", "hipGetDevicePropertiesR0600"]:
        if hasattr(hip, name):
            found = ctypes.create_string_buffer(8192)
            call(name, found, 0)
            print(name, found.value.decode(), sep="\t")


def kernels():
    module, function, to = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    call("hipModuleLoad", ctypes.byref(module), os.environ["KERNELS"].encode())
    call("hipModuleGetFunction", ctypes.byref(function), module, b"scale")
    call("hipMalloc", ctypes.byref(to), ctypes.c_size_t(4096))
    values = [to, to, ctypes.c_int(64)]
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    for _ in range(10):
        call("hipModuleLaunchKernel", function, 1, 1, 1, 64, 1, 1, 0, None, pointers, None)
    call("hipDeviceSynchronize")
    call("hipModuleUnload", module)
    call("hipFree", to)
    print("launched", calls["hipModuleLaunchKernel"], sep="\t")


call("hipGetDeviceCount", ctypes.byref(ctypes.c_int()))
memory()
structures_by_value()
properties()
kernels()
with open(os.environ["CALLS"], "w") as account:
    account.writelines(f"{name}\t{count}\n" for name, count in calls.items())
