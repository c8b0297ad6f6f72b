/* Ops of every kind, and between which moments each was enqueued:
 *   enqueued PATH ROUNDS
 *
 * Writes a line for each to PATH, between tabs:
 *   kernel   NUMBER  BEFORE  AFTER
 *   barrier  NUMBER  BEFORE  AFTER
 *   copy     BYTES   BEFORE  AFTER
 * NUMBER counts the kernels, of which it is the grid, and the barriers. BEFORE and AFTER are ns of CLOCK_BOOTTIME around the
 * call that enqueues: the store to the doorbell, or the copy. */
#include "hsa.h"

#include <time.h>

#define ROOM 65536
#define BATCH 5

static FILE *moments;
static uint32_t barrier_count;

static int64_t now(void) {
    struct timespec time;
    REQUIRE(clock_gettime(CLOCK_BOOTTIME, &time) == 0);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void tell(const char *kind, uint64_t number, int64_t before) {
    int64_t after = now();
    fprintf(moments, "%s\t%lu\t%ld\t%ld\n", kind, number, before, after);
}

static void kernels(hsa_queue_t *queue, kernel_t kernel, hsa_signal_t signal, int count) {
    hsa_kernel_dispatch_packet_t packets[BATCH];
    for (int at = 0; at < count; at++) {
        packets[at] = kernel_packet(kernel, signal);
        packets[at].header |= 1 << HSA_PACKET_HEADER_BARRIER;
        launch_t launched = launch_of(kernel, &packets[at]);
        report_untimed(launched);
    }
    int64_t before = now();
    submit_all(queue, packets, (uint64_t)count);
    for (int at = 0; at < count; at++) tell("kernel", packets[at].grid_size_x, before);
}

static void barrier(hsa_queue_t *queue) {
    hsa_signal_t done = signal_of(1);
    hsa_barrier_and_packet_t packet = barrier_packet(NONE, done);
    int64_t before = now();
    submit(queue, &packet);
    tell("barrier", barrier_count++, before);
    REQUIRE(wait_for(done) == 0);
    CHECK(hsa_signal_destroy(done));
}

static void copy(char *to, char *from, size_t bytes) {
    hsa_signal_t done = signal_of(1);
    int64_t before = now();
    CHECK(hsa_amd_memory_async_copy(to, gpus[0], from, cpu, bytes, 0, NULL, done));
    tell("copy", bytes, before);
    REQUIRE(wait_for(done) == 0);
    CHECK(hsa_signal_destroy(done));
}

int main(int argc, char **argv) {
    REQUIRE(argc == 3 && (moments = fopen(argv[1], "w")));
    begin();
    kernel_t kernel = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    char *from = allocate(cpu, ROOM), *to = allocate(gpus[0], ROOM);
    for (int round = 0; round < atoi(argv[2]); round++) {
        kernels(queue, kernel, NONE, 1);
        kernels(queue, kernel, NONE, BATCH);
        hsa_signal_t alone = signal_of(1);
        kernels(queue, kernel, alone, 1);
        REQUIRE(wait_for(alone) == 0);
        hsa_signal_t shared = signal_of(BATCH);
        kernels(queue, kernel, shared, BATCH);
        barrier(queue);
        REQUIRE(wait_for(shared) == 0);
        copy(to, from, 4096 + 4 * (size_t)round);
        CHECK(hsa_signal_destroy(alone));
        CHECK(hsa_signal_destroy(shared));
    }
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_amd_memory_pool_free(from));
    CHECK(hsa_amd_memory_pool_free(to));
    fclose(moments);
    end();
    return 0;
}
