/* What the HSA programs of the end-to-end tests are made of: GPUs, kernels of a code object, queues, packets.
 *
 * Standard output says nothing that differs between two runs, because it must be the same with and without the
 * tracer. What the test wants to know besides goes to the file REPORT, one line for each dispatch, between tabs:
 *
 *   NUMBER  GPU  NAME  OBJECT  START  END
 *
 * NUMBER counts from 1 through the process and is the dispatch's grid size in x, so a row of a trace says which
 * dispatch it is. NAME is the kernel's in the code object (the file CODE_OBJECT). START and END are what the
 * runtime reports, in ns of the system clock, 0 where the program did not ask. */
#ifndef HSA_PROGRAM_H
#define HSA_PROGRAM_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_GPUS 64
#define QUEUE_PACKETS 1024
#define NONE ((hsa_signal_t){0})

#define CHECK(call)                                                     \
    do {                                                                \
        hsa_status_t status = (call);                                   \
        if (status != HSA_STATUS_SUCCESS) {                             \
            fprintf(stderr, "%s: %#x\n", #call, status);                \
            exit(1);                                                    \
        }                                                               \
    } while (0)

#define REQUIRE(condition)                                              \
    do {                                                                \
        if (!(condition)) {                                             \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
            exit(1);                                                    \
        }                                                               \
    } while (0)

static hsa_agent_t gpus[MOST_GPUS];
static int gpu_count;
static hsa_agent_t cpu;
static FILE *report;
static uint32_t dispatch_count;

static inline hsa_status_t remember_agent(hsa_agent_t agent, void *unused) {
    (void)unused;
    hsa_device_type_t type;
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU) cpu = agent;
    if (type == HSA_DEVICE_TYPE_GPU && gpu_count < MOST_GPUS) gpus[gpu_count++] = agent;
    return HSA_STATUS_SUCCESS;
}

/* The runtime, its GPUs and the report. */
static inline void begin(void) {
    const char *path = getenv("REPORT");
    report = fopen(path ? path : "/dev/null", "w");
    REQUIRE(report);
    CHECK(hsa_init());
    CHECK(hsa_iterate_agents(remember_agent, NULL));
    REQUIRE(gpu_count > 0);
}

static inline void end(void) {
    fflush(report);
    CHECK(hsa_shut_down());
}

static inline hsa_status_t first_pool(hsa_amd_memory_pool_t pool, void *found) {
    hsa_amd_segment_t segment;
    bool can_allocate;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &can_allocate));
    if (segment != HSA_AMD_SEGMENT_GLOBAL || !can_allocate) return HSA_STATUS_SUCCESS;
    *(hsa_amd_memory_pool_t *)found = pool;
    return HSA_STATUS_INFO_BREAK;
}

/* Memory of an agent that every GPU may use. */
static inline void *allocate(hsa_agent_t agent, size_t bytes) {
    hsa_amd_memory_pool_t pool;
    void *memory;
    REQUIRE(hsa_amd_agent_iterate_memory_pools(agent, first_pool, &pool) == HSA_STATUS_INFO_BREAK);
    CHECK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
    CHECK(hsa_amd_agents_allow_access((uint32_t)gpu_count, gpus, NULL, memory));
    return memory;
}

/* A code object from a file, on one GPU. */
static inline hsa_executable_t load_file(int gpu, const char *path) {
    int file = open(path, O_RDONLY);
    REQUIRE(file >= 0);
    hsa_code_object_reader_t reader;
    CHECK(hsa_code_object_reader_create_from_file(file, &reader));
    hsa_executable_t executable;
    CHECK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    CHECK(hsa_executable_load_agent_code_object(executable, gpus[gpu], reader, NULL, NULL));
    CHECK(hsa_executable_freeze(executable, NULL));
    CHECK(hsa_code_object_reader_destroy(reader));
    close(file);
    return executable;
}

/* The code object that the test made for this program. */
static inline hsa_executable_t load(int gpu) {
    const char *path = getenv("CODE_OBJECT");
    REQUIRE(path);
    return load_file(gpu, path);
}

typedef struct {
    int gpu;
    uint64_t object;
    const char *name;
} kernel_t;

static inline kernel_t kernel_of(hsa_executable_t executable, int gpu, const char *name) {
    char descriptor[4096];
    snprintf(descriptor, sizeof descriptor, "%s.kd", name);
    hsa_executable_symbol_t symbol;
    CHECK(hsa_executable_get_symbol_by_name(executable, descriptor, &gpus[gpu], &symbol));
    kernel_t kernel = {.gpu = gpu, .name = name};
    CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel.object));
    return kernel;
}

static inline void queue_error(hsa_status_t status, hsa_queue_t *queue, void *unused) {
    (void)queue, (void)unused;
    fprintf(stderr, "queue error %#x\n", status);
    exit(1);
}

static inline hsa_queue_t *queue_of(int gpu, uint32_t packets, hsa_queue_type32_t type) {
    hsa_queue_t *queue;
    CHECK(hsa_queue_create(gpus[gpu], packets, type, queue_error, NULL, UINT32_MAX, UINT32_MAX, &queue));
    return queue;
}

/* A queue whose signals carry times. */
static inline hsa_queue_t *timed_queue(int gpu) {
    hsa_queue_t *queue = queue_of(gpu, QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI);
    CHECK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
    return queue;
}

static inline hsa_signal_t signal_of(hsa_signal_value_t value) {
    hsa_signal_t signal;
    CHECK(hsa_signal_create(value, 0, NULL, &signal));
    return signal;
}

/* A kernel of one work-group, numbered. It may begin before those before it in its queue have ended. */
static inline hsa_kernel_dispatch_packet_t kernel_packet(kernel_t kernel, hsa_signal_t signal) {
    return (hsa_kernel_dispatch_packet_t){
        .header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
        .setup = 1,
        .workgroup_size_x = 64,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = __atomic_add_fetch(&dispatch_count, 1, __ATOMIC_RELAXED),
        .grid_size_y = 1,
        .grid_size_z = 1,
        .kernel_object = kernel.object,
        .completion_signal = signal,
    };
}

static inline hsa_barrier_and_packet_t barrier_packet(hsa_signal_t dependency, hsa_signal_t signal) {
    return (hsa_barrier_and_packet_t){
        .header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER,
        .dep_signal = {dependency},
        .completion_signal = signal,
    };
}

/* Packets of 64 bytes, each header last, under one doorbell. */
static inline void submit_all(hsa_queue_t *queue, const void *packets, uint64_t count) {
    uint64_t first = hsa_queue_add_write_index_scacq_screl(queue, count);
    while (first + count - hsa_queue_load_read_index_scacquire(queue) > queue->size) {}
    for (uint64_t at = 0; at < count; at++) {
        const char *packet = (const char *)packets + at * 64;
        char *slot = (char *)queue->base_address + (first + at) % queue->size * 64;
        memcpy(slot + 4, packet + 4, 60);
        uint32_t header;
        memcpy(&header, packet, 4);
        __atomic_store_n((uint32_t *)slot, header, __ATOMIC_RELEASE);
    }
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)(first + count - 1));
}

static inline void submit(hsa_queue_t *queue, const void *packet) {
    submit_all(queue, packet, 1);
}

/* Until the signal is below 1. What it is then. */
static inline hsa_signal_value_t wait_for(hsa_signal_t signal) {
    return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
}

/* Until everything before it in the queue has ended. */
static inline void drain(hsa_queue_t *queue) {
    hsa_signal_t done = signal_of(1);
    hsa_barrier_and_packet_t packet = barrier_packet(NONE, done);
    submit(queue, &packet);
    REQUIRE(wait_for(done) == 0);
    CHECK(hsa_signal_destroy(done));
}

/* A dispatch that is in a queue. */
typedef struct {
    kernel_t kernel;
    uint32_t number;
    hsa_signal_t signal;
} launch_t;

static inline launch_t launch_of(kernel_t kernel, const hsa_kernel_dispatch_packet_t *packet) {
    return (launch_t){.kernel = kernel, .number = packet->grid_size_x, .signal = packet->completion_signal};
}

/* Begins when all kernels before it in its queue have ended. */
static inline launch_t launch(hsa_queue_t *queue, kernel_t kernel, hsa_signal_t signal) {
    hsa_kernel_dispatch_packet_t packet = kernel_packet(kernel, signal);
    packet.header |= 1 << HSA_PACKET_HEADER_BARRIER;
    submit(queue, &packet);
    return launch_of(kernel, &packet);
}

static inline void report_times(launch_t launch, uint64_t from, uint64_t to) {
    fprintf(report, "%u\t%d\t%s\t%#lx\t%lu\t%lu\n", launch.number, launch.kernel.gpu, launch.kernel.name,
            launch.kernel.object, from, to);
}

/* That it was there, without times. */
static inline void report_untimed(launch_t launch) {
    report_times(launch, 0, 0);
}

/* With the times that the runtime reads from its signal. */
static inline void report_timed(launch_t launch) {
    hsa_amd_profiling_dispatch_time_t time;
    CHECK(hsa_amd_profiling_get_dispatch_time(gpus[launch.kernel.gpu], launch.signal, &time));
    REQUIRE(time.start > 0 && time.start < time.end);
    report_times(launch, time.start, time.end);
}

#endif
