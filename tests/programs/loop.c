/* The bench's program: kernels as fast as they can be submitted, in batches whose last one has a signal that is
 * waited for.
 *   loop DISPATCHES WARM_UP BATCH
 * To the file REPORT go the ns from the first dispatch after WARM_UP to the end of the last wait, and how often the
 * submitting thread allocated while it submitted, where the bench has preloaded a counter. PAUSE_MS: how long it waits behind
 * one dispatch before the warm-up. */
#define _GNU_SOURCE
#include "hsa.h"
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

typedef uint64_t (*allocations_function)(int count_from_here);

static void submit_and_wait(hsa_queue_t *queue, kernel_t kernel, hsa_signal_t signal, int dispatches, int batch,
                            allocations_function allocations, uint64_t *allocated) {
    for (int done = 0; done < dispatches; done += batch) {
        int size = dispatches - done < batch ? dispatches - done : batch;
        hsa_signal_store_relaxed(signal, 1);
        if (allocations) allocations(1);
        for (int at = 0; at < size; at++) launch(queue, kernel, at == size - 1 ? signal : NONE);
        if (allocations) *allocated += allocations(0);
        REQUIRE(wait_for(signal) == 0);
    }
}

int main(int argc, char **argv) {
    int dispatches = argc > 1 ? atoi(argv[1]) : 1000, warm_up = argc > 2 ? atoi(argv[2]) : 0;
    int batch = argc > 3 ? atoi(argv[3]) : 512;
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = queue_of(0, 16384, HSA_QUEUE_TYPE_MULTI);
    CHECK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
    hsa_signal_t signal = signal_of(1);
    allocations_function allocations = (allocations_function)dlsym(RTLD_DEFAULT, "allocations");
    uint64_t allocated = 0;
    const char *pause = getenv("PAUSE_MS");
    if (pause) {
        // What a tracer prepares behind the first dispatch is there before the others.
        submit_and_wait(queue, alpha, signal, 1, batch, allocations, &allocated);
        usleep(1000 * (useconds_t)atoi(pause));
    }
    submit_and_wait(queue, alpha, signal, warm_up, batch, allocations, &allocated);
    allocated = 0;
    uint64_t begun = now();
    submit_and_wait(queue, alpha, signal, dispatches, batch, allocations, &allocated);
    fprintf(report, "%lu\t%lu\n", now() - begun, allocated);
    CHECK(hsa_signal_destroy(signal));
    CHECK(hsa_queue_destroy(queue));
    end();
    return 0;
}
