/* The smallest HSA program that measures: dispatches kernels on queues of every GPU, waits, and prints the
 * times that the runtime has for each:  gpu <TAB> kernel object <TAB> start <TAB> end, in ns of the system clock.
 *
 *   dispatch DISPATCHES [barrier | first | logged]
 *
 * There is no code object: the simulated GPU runs none, so any number names a kernel.
 * With `barrier`, a barrier packet makes each dispatch wait for the one before it on the GPU before. With `first` it
 * ends as soon as any signal has changed, and prints that one alone. With `logged` it looks whether every signal is
 * in the simulator's log by the time that it has changed. */
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

/* Returns true if a line of the simulator's log has a signal in its last column but one. */
static int is_logged(hsa_signal_t signal) {
    char column[32], line[256];
    snprintf(column, sizeof column, "\t%#lx\t", signal.handle);
    FILE *log = fopen(getenv("KFD_SIM_LOG"), "r");
    int found = 0;
    while (log && !found && fgets(line, sizeof line, log)) found = strstr(line, column) != NULL;
    if (log) fclose(log);
    return found;
}

static uint64_t object_of(int gpu, int at) {
    return 0x100000u * (uint64_t)(gpu + 1) + 64u * (uint64_t)at;
}

static void print(int gpu, int at, hsa_signal_t signal) {
    hsa_amd_profiling_dispatch_time_t time;
    CHECK(hsa_amd_profiling_get_dispatch_time(gpus[gpu], signal, &time));
    printf("%d\t%#lx\t%lu\t%lu\n", gpu, object_of(gpu, at), time.start, time.end);
}

/* Prints the first signal that is seen to have changed. */
static void print_first(hsa_signal_t *signals[], int dispatches) {
    for (;;) {
        for (int gpu = 0; gpu < gpu_count; gpu++) {
            for (int at = 0; at < dispatches; at++) {
                if (hsa_signal_load_scacquire(signals[gpu][at]) != 0) continue;
                print(gpu, at, signals[gpu][at]);
                return;
            }
        }
    }
}

int main(int argc, char **argv) {
    int dispatches = argc > 1 ? atoi(argv[1]) : 1;
    const char *mode = argc > 2 ? argv[2] : "";
    int barrier = strcmp(mode, "barrier") == 0, logged = strcmp(mode, "logged") == 0;
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

    if (strcmp(mode, "first") == 0) {
        print_first(signals, dispatches);
        fflush(stdout);
        /* Nothing is freed, because work in flight may never end. */
        _Exit(0);
    }
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        for (int at = 0; at < dispatches; at++) {
            hsa_signal_value_t value = hsa_signal_wait_scacquire(signals[gpu][at], HSA_SIGNAL_CONDITION_LT, 1,
                                                                 UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
            if (value != 0) {
                fprintf(stderr, "signal %d of GPU %d: %ld\n", at, gpu, (long)value);
                return 1;
            }
            if (logged && !is_logged(signals[gpu][at])) {
                fprintf(stderr, "signal %d of GPU %d is not in the log\n", at, gpu);
                return 1;
            }
            print(gpu, at, signals[gpu][at]);
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
