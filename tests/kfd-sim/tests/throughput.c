/* Measures the cost of a dispatch: kernels in batches on a queue of 16384, the program waits for the end of each batch.
 *
 *   throughput DISPATCHES BATCH [each]
 *
 * The last dispatch of a batch has a signal; with `each`, all of them have one of their own. Prints, per dispatch:
 * wall ns <TAB> ns of CPU of the process <TAB> ns of CPU of the thread that submits. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS 16384

#define CHECK(call)                                                     \
    do {                                                                \
        hsa_status_t status = (call);                                   \
        if (status != HSA_STATUS_SUCCESS) {                             \
            fprintf(stderr, "%s: %#x\n", #call, status);                \
            exit(1);                                                    \
        }                                                               \
    } while (0)

static hsa_agent_t gpu;

static hsa_status_t find_gpu(hsa_agent_t agent, void *unused) {
    (void)unused;
    hsa_device_type_t type;
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type != HSA_DEVICE_TYPE_GPU) return HSA_STATUS_SUCCESS;
    gpu = agent;
    return HSA_STATUS_INFO_BREAK;
}

static double nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    long dispatches = argc > 1 ? atol(argv[1]) : 1000000, batch = argc > 2 ? atol(argv[2]) : 512;
    int each = argc > 3 && strcmp(argv[3], "each") == 0;
    if (batch < 1 || batch > SLOTS) return 2;
    CHECK(hsa_init());
    hsa_iterate_agents(find_gpu, NULL);
    hsa_queue_t *queue;
    CHECK(hsa_queue_create(gpu, SLOTS, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
    CHECK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
    hsa_signal_t *signals = calloc((size_t)batch, sizeof *signals);
    for (long at = 0; at < batch; at++) CHECK(hsa_signal_create(1, 0, NULL, &signals[at]));

    const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
    double before[3];
    for (int at = 0; at < 3; at++) before[at] = nanoseconds(clocks[at]);
    for (long done = 0; done < dispatches; done += batch) {
        for (long at = 0; at < batch; at++) {
            uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
            hsa_kernel_dispatch_packet_t packet = {
                .setup = 1,
                .workgroup_size_x = 64,
                .workgroup_size_y = 1,
                .workgroup_size_z = 1,
                .grid_size_x = 64,
                .grid_size_y = 1,
                .grid_size_z = 1,
                .kernel_object = 0x1000 * (uint64_t)(at % 4 + 1),
            };
            if (each || at == batch - 1) {
                packet.completion_signal = signals[at];
                hsa_signal_store_relaxed(signals[at], 1);
            }
            char *slot = (char *)queue->base_address + index % SLOTS * 64;
            memcpy(slot + 4, (char *)&packet + 4, 60);
            uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER | 1 << 16;
            __atomic_store_n((uint32_t *)slot, header, __ATOMIC_RELEASE);
            hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
        }
        hsa_signal_wait_scacquire(signals[batch - 1], HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    }
    for (int at = 0; at < 3; at++)
        printf("%.0f%c", (nanoseconds(clocks[at]) - before[at]) / (double)dispatches, at < 2 ? '\t' : '\n');

    for (long at = 0; at < batch; at++) CHECK(hsa_signal_destroy(signals[at]));
    free(signals);
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_shut_down());
    return 0;
}
