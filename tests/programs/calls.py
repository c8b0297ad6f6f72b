"""Calls of HIP by Python's ctypes, 62 of them, and an account of them as tests/programs/hip.h writes it."""

import ctypes
import os
import sys

hip = ctypes.CDLL(os.environ["HIP_LIBRARY"])
calls = {}


def call(name, *arguments):
    calls[name] = calls.get(name, 0) + 1
    status = getattr(hip, name)(*arguments)
    if status:
        sys.exit(f"{name}: {status}")


call("hipGetDeviceCount", ctypes.byref(ctypes.c_int()))
memory = ctypes.c_void_p()
for size in range(1, 21):
    call("hipMalloc", ctypes.byref(memory), ctypes.c_size_t(size * 64))
    call("hipMemcpy", memory, b"x" * 64, ctypes.c_size_t(64), 1)
    call("hipFree", memory)
call("hipDeviceSynchronize")
with open(os.environ["CALLS"], "w") as account:
    account.writelines(f"{name}\t{count}\n" for name, count in calls.items())
