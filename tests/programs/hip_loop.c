/* The bench's program for calls of HIP: kernels as fast as they can be launched, in batches that are waited for.
 *   hip_loop DISPATCHES WARM_UP BATCH
 * CODE_OBJECT is that of kernels.cl. To the file REPORT goes what loop.c says, without allocations. */
#define _GNU_SOURCE
#include "hip.h"
#include <stdint.h>
#include <time.h>

#define ELEMENTS 64

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void launch_and_wait(hip_stream stream, void *memory, int dispatches, int batch) {
    for (int done = 0; done < dispatches; done += batch) {
        int size = dispatches - done < batch ? dispatches - done : batch;
        for (int at = 0; at < size; at++) hip_launch(0, 0, stream, memory, memory, ELEMENTS);
        HIP(StreamSynchronize, stream);
    }
}

int main(int argc, char **argv) {
    int dispatches = hip_number(argc, argv, 1, 1000), warm_up = hip_number(argc, argv, 2, 1);
    int batch = hip_number(argc, argv, 3, 512);
    const char *code_object = getenv("CODE_OBJECT"), *report = getenv("REPORT");
    FILE *to = fopen(report ? report : "/dev/null", "w");
    if (!code_object || !to) return 2;
    hip_begin(code_object);
    HIP(SetDevice, 0);
    void *memory;
    hip_stream stream;
    HIP(Malloc, &memory, ELEMENTS * sizeof(double));
    HIP(StreamCreateWithFlags, &stream, NON_BLOCKING);
    launch_and_wait(stream, memory, warm_up, batch);
    uint64_t begun = now();
    launch_and_wait(stream, memory, dispatches, batch);
    fprintf(to, "%lu\t0\n", now() - begun);
    fclose(to);
    HIP(StreamDestroy, stream);
    HIP(Free, memory);
    hip_end();
    return 0;
}
