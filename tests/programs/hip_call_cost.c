/* What a call of HIP costs:
 *
 *   hip_call_cost CALLS
 *
 * Calls hipGetDeviceCount in bursts of 500, a millisecond apart so that a recorder keeps up. REPORT gets the ns of CPU of a
 * call in this thread, and in the process's other threads. */
#define _GNU_SOURCE
#include "hip.h"
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int64_t cpu(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int main(int argc, char **argv) {
    long calls = hip_number(argc, argv, 1, 1000000);
    FILE *report = fopen(getenv("REPORT"), "w");
    if (!report) return 1;
    hip_open();
    int count = 0;
    HIP(GetDeviceCount, &count);
    int64_t in_calls = 0, process = cpu(CLOCK_PROCESS_CPUTIME_ID), thread = cpu(CLOCK_THREAD_CPUTIME_ID);
    for (long done = 0; done < calls; done += 500) {
        int64_t before = cpu(CLOCK_THREAD_CPUTIME_ID);
        for (int at = 0; at < 500; at++) hip.GetDeviceCount(&count);
        in_calls += cpu(CLOCK_THREAD_CPUTIME_ID) - before;
        usleep(1000);
    }
    /* The recorder comes by every 50 ms. */
    usleep(300000);
    process = cpu(CLOCK_PROCESS_CPUTIME_ID) - process;
    thread = cpu(CLOCK_THREAD_CPUTIME_ID) - thread;
    fprintf(report, "%.1f %.1f\n", (double)in_calls / calls, (double)(process - thread) / calls);
    fclose(report);
    return 0;
}
