/* How long a launch takes its thread, one by one.
 *   submit_latency LAUNCHES
 * A launch is timed from when its queue has room until its doorbell has been rung. REPORT has the ns of the clock itself and of
 * the launches: median, 99 %, 99.9 % and the most. */
#define _GNU_SOURCE
#include "hsa.h"
#include <time.h>

enum { QUEUE = 16384 };

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int order(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    size_t launches = argc > 1 ? (size_t)atol(argv[1]) : 1000000;
    REQUIRE(launches > 1000);
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = queue_of(0, QUEUE, HSA_QUEUE_TYPE_MULTI);
    CHECK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
    uint64_t *times = malloc(launches * sizeof *times);
    REQUIRE(times);
    uint64_t before = now();
    for (size_t at = 0; at < launches; at++) times[at] = now();
    uint64_t clock = (now() - before) / launches;
    for (size_t at = 0; at < launches; at++) {
        hsa_kernel_dispatch_packet_t packet = kernel_packet(alpha, NONE);
        before = now();
        submit(queue, &packet);
        times[at] = now() - before;
        /* Debian's runtime 5.2.3 asserts when an intercepted queue is full and gets more. */
        if (at % (QUEUE / 4) == QUEUE / 4 - 1) drain(queue);
    }
    drain(queue);
    qsort(times, launches, sizeof *times, order);
    fprintf(report, "%lu\t%lu\t%lu\t%lu\t%lu\n", clock, times[launches / 2], times[launches * 99 / 100],
            times[launches * 999 / 1000], times[launches - 1]);
    CHECK(hsa_queue_destroy(queue));
    end();
    return 0;
}
