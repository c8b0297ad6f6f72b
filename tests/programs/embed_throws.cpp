// A callback that throws.
#include <rtl.h>

#include <cstdio>

#include "work.h"

int main() {
    rtl_callbacks callbacks = {};
    callbacks.size = sizeof callbacks;
    callbacks.mode = "standard";
    callbacks.kernels = [](const rtl_kernel *, std::size_t, void *) { throw 1; };
    if (rtl_set_callbacks(&callbacks) != RTL_OK) return 2;
    work();
    rtl_flush(60000);
    std::puts("it went on");
    return 0;
}
