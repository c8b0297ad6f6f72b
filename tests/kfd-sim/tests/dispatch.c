/* The smallest HSA program that measures: dispatches kernels on queues of every GPU, waits, and prints what the
 * runtime says of each:  gpu <TAB> kernel object <TAB> start <TAB> end, in ns of the system clock.
 *
 *   dispatch DISPATCHES [barrier]
 *
 * There is no code object: the simulated GPU runs none, so any number names a kernel.
 * With `barrier`, a barrier packet makes each dispatch wait for the one before it on the GPU before. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GPUS 8
#define PACKETS 64

#define CHECK(call)                                                     \
    do {                                                                \
        hsa_status_t status = (call);                                   \
        if (status != HSA_STATUS_SUCCESS) {                             \
            fprintf(stderr, "%s: %#x\n", #call, status);                \
            exit(1);                                                    \
        }                                                               \
    } while (0)

static hsa_agent_t gpus[MOST_GPUS];
static int gpu_count;

static hsa_status_t remember_gpu(hsa_agent_t agent, void *unused) {
    (void)unused;
    hsa_device_type_t type;
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_GPU && gpu_count < MOST_GPUS) gpus[gpu_count++] = agent;
    return HSA_STATUS_SUCCESS;
}

/* Writes a packet of 64 bytes, its header last, and rings the doorbell. */
static void submit(hsa_queue_t *queue, const void *packet) {
    uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {}
    char *slot = (char *)queue->base_address + index % queue->size * 64;
    memcpy(slot + 4, (const char *)packet + 4, 60);
    uint32_t header;
    memcpy(&header, packet, 4);
    __atomic_store_n((uint32_t *)slot, header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static uint64_t object_of(int gpu, int at) {
    return 0x100000u * (uint64_t)(gpu + 1) + 64u * (uint64_t)at;
}

int main(int argc, char **argv) {
    int dispatches = argc > 1 ? atoi(argv[1]) : 1;
    int barrier = argc > 2 && strcmp(argv[2], "barrier") == 0;
    CHECK(hsa_init());
    CHECK(hsa_iterate_agents(remember_gpu, NULL));

    hsa_queue_t *queues[MOST_GPUS];
    hsa_signal_t *signals[MOST_GPUS];
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        CHECK(hsa_queue_create(gpus[gpu], PACKETS, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
                               &queues[gpu]));
        CHECK(hsa_amd_profiling_set_profiler_enabled(queues[gpu], 1));
        signals[gpu] = calloc((size_t)dispatches, sizeof(hsa_signal_t));
        for (int at = 0; at < dispatches; at++) CHECK(hsa_signal_create(1, 0, NULL, &signals[gpu][at]));
    }

    for (int at = 0; at < dispatches; at++) {
        for (int gpu = 0; gpu < gpu_count; gpu++) {
            if (barrier && gpu + at > 0) {
                hsa_barrier_and_packet_t wait = {.header = HSA_PACKET_TYPE_BARRIER_AND};
                wait.dep_signal[0] = gpu > 0 ? signals[gpu - 1][at] : signals[gpu_count - 1][at - 1];
                submit(queues[gpu], &wait);
            }
            hsa_kernel_dispatch_packet_t packet = {
                .header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
                .setup = 1,
                .workgroup_size_x = 64,
                .workgroup_size_y = 1,
                .workgroup_size_z = 1,
                .grid_size_x = 64,
                .grid_size_y = 1,
                .grid_size_z = 1,
                .kernel_object = object_of(gpu, at),
                .completion_signal = signals[gpu][at],
            };
            submit(queues[gpu], &packet);
        }
    }

    for (int gpu = 0; gpu < gpu_count; gpu++) {
        for (int at = 0; at < dispatches; at++) {
            hsa_signal_value_t value = hsa_signal_wait_scacquire(signals[gpu][at], HSA_SIGNAL_CONDITION_LT, 1,
                                                                 UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
            if (value != 0) {
                fprintf(stderr, "signal %d of GPU %d: %ld\n", at, gpu, (long)value);
                return 1;
            }
            hsa_amd_profiling_dispatch_time_t time;
            CHECK(hsa_amd_profiling_get_dispatch_time(gpus[gpu], signals[gpu][at], &time));
            printf("%d\t%#lx\t%lu\t%lu\n", gpu, object_of(gpu, at), time.start, time.end);
        }
    }

    for (int gpu = 0; gpu < gpu_count; gpu++) {
        for (int at = 0; at < dispatches; at++) CHECK(hsa_signal_destroy(signals[gpu][at]));
        free(signals[gpu]);
        CHECK(hsa_queue_destroy(queues[gpu]));
    }
    CHECK(hsa_shut_down());
    return 0;
}
