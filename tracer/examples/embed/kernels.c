/* Prints a table of its own kernels with their times.
 *
 *     cc -std=c99 kernels.c work.c -I PREFIX/include -L PREFIX/lib -Wl,-rpath,PREFIX/lib -lrtl -lhsa-runtime64 */
#include <inttypes.h>
#include <rtl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

enum { MOST_KERNELS = 1000 };

struct total {
    char name[64];
    uint64_t calls;
    int64_t nanoseconds;
};

/* Written by the library's thread alone until rtl_flush has returned. */
static struct total totals[MOST_KERNELS];

static void add_kernels(const struct rtl_kernel *kernels, size_t count, void *data) {
    struct total *all = (struct total *)data;
    size_t at;
    for (at = 0; at < count; at++) {
        const struct rtl_kernel *kernel = &kernels[at];
        struct total *total = &all[kernel->kernel_id < MOST_KERNELS ? kernel->kernel_id : MOST_KERNELS - 1];
        strncpy(total->name, kernel->name, sizeof total->name - 1);
        total->calls++;
        total->nanoseconds += kernel->end - kernel->start;
    }
}

static int check(rtl_status status) {
    if (status != RTL_OK) fprintf(stderr, "rtl: %s\n", rtl_status_text(status));
    return status == RTL_OK;
}

int main(void) {
    struct rtl_callbacks callbacks = {0};
    struct rtl_counters counters = {0};
    size_t at;

    callbacks.size = sizeof callbacks;
    callbacks.data = totals;
    callbacks.mode = "standard";
    callbacks.kernels = add_kernels;
    if (!check(rtl_set_callbacks(&callbacks))) return EXIT_FAILURE;

    work();

    if (!check(rtl_flush(60000))) return EXIT_FAILURE;
    for (at = 0; at < MOST_KERNELS; at++)
        if (totals[at].calls > 0)
            printf("%8" PRIu64 " calls  %12" PRId64 " ns  %s\n", totals[at].calls, totals[at].nanoseconds,
                   totals[at].name);
    counters.size = sizeof counters;
    if (!check(rtl_get_counters(&counters))) return EXIT_FAILURE;
    printf("%8" PRIu64 " of %" PRIu64 " kernels lost\n", counters.kernels.lost, counters.kernels.seen);
    return check(rtl_stop(60000)) ? EXIT_SUCCESS : EXIT_FAILURE;
}
