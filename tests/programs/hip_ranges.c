/* Kernels of HIP in ranges, on two streams:
 *
 *   hip_ranges CODE_OBJECT HOW STEPS      HOW: as in roctx.h
 *
 * REPORT has what ranges.c reports. The size of a launch in work-items is its number. */
#define _GNU_SOURCE
#include "hip.h"
#include "roctx.h"
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

enum { MOST_STEPS = 64 };

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t push(const char *text) {
    if (roctx.RangePushA) roctx.RangePushA(text);
    return now();
}

static void pop(FILE *report, const char *text, int64_t before, int64_t after) {
    int64_t popping = now();
    if (roctx.RangePop) roctx.RangePop();
    fprintf(report, "push\t%d\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", gettid(), text, before, after,
            popping, now());
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int steps = hip_number(argc, argv, 3, 10);
    if (steps > MOST_STEPS) steps = MOST_STEPS;
    roctx_find(argv[2]);
    FILE *report = fopen(getenv("REPORT"), "w");
    if (!report) return 1;
    hip_begin(argv[1]);
    hip_stream streams[2];
    void *to, *from;
    size_t bytes = 64 * 3 * (MOST_STEPS + 1) * sizeof(double);
    HIP(SetDevice, 0);
    HIP(Malloc, &to, bytes);
    HIP(Malloc, &from, bytes);
    for (int at = 0; at < 2; at++) HIP(StreamCreateWithFlags, &streams[at], NON_BLOCKING);
    int number = 0;
    for (int step = 0; step < steps; step++) {
        char outer[32], inner[32];
        snprintf(outer, sizeof outer, "step %d", step);
        snprintf(inner, sizeof inner, "forward of step %d", step);
        int64_t before_outer = now(), after_outer = push(outer);
        hip_launch(0, step, streams[step % 2], to, from, 64 * ++number);
        fprintf(report, "in\t%d\t%s\t%d\n", 64 * number, outer, gettid());
        int64_t before_inner = now(), after_inner = push(inner);
        for (int at = 0; at < 2; at++) {
            hip_launch(0, step, streams[at], to, from, 64 * ++number);
            fprintf(report, "in\t%d\t%s\t%d\n", 64 * number, inner, gettid());
        }
        pop(report, inner, before_inner, after_inner);
        pop(report, outer, before_outer, after_outer);
    }
    fclose(report);
    for (int at = 0; at < 2; at++) {
        HIP(StreamSynchronize, streams[at]);
        HIP(StreamDestroy, streams[at]);
    }
    HIP(Free, to);
    HIP(Free, from);
    hip_end();
    return 0;
}
