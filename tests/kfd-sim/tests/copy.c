/* Sends bytes from the host to every GPU, from GPU to GPU and back, and compares:
 *
 *   copy BYTES [fill | rows]
 *
 * The host's buffers are ordinary memory that is locked, so the GPU sees them at other addresses. With `fill` the last
 * GPU's memory, but for the bytes behind the last whole word, is filled before it comes back. With `rows`, which takes
 * DMA and 10,000 bytes at least, the first GPU then gets rows out of wider ones and gives them back as wider ones.
 * Prints, per copy:  bytes <TAB> start <TAB> end, in ns of the system clock. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GPUS 8

#define CHECK(call)                                                     \
    do {                                                                \
        hsa_status_t status = (call);                                   \
        if (status != HSA_STATUS_SUCCESS) {                             \
            fprintf(stderr, "%s: %#x\n", #call, status);                \
            exit(1);                                                    \
        }                                                               \
    } while (0)

static hsa_agent_t cpu, gpus[MOST_GPUS];
static int gpu_count;

static hsa_status_t remember(hsa_agent_t agent, void *unused) {
    (void)unused;
    hsa_device_type_t type;
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU) cpu = agent;
    if (type == HSA_DEVICE_TYPE_GPU && gpu_count < MOST_GPUS) gpus[gpu_count++] = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t first_pool(hsa_amd_memory_pool_t pool, void *found) {
    hsa_amd_segment_t segment;
    bool can_allocate;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &can_allocate));
    if (segment != HSA_AMD_SEGMENT_GLOBAL || !can_allocate) return HSA_STATUS_SUCCESS;
    *(hsa_amd_memory_pool_t *)found = pool;
    return HSA_STATUS_INFO_BREAK;
}

static void copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent, size_t bytes) {
    hsa_signal_t done;
    CHECK(hsa_signal_create(1, 0, NULL, &done));
    CHECK(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, 0, NULL, done));
    if (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) != 0) {
        fprintf(stderr, "a copy failed\n");
        exit(1);
    }
    hsa_amd_profiling_async_copy_time_t time;
    CHECK(hsa_amd_profiling_get_async_copy_time(done, &time));
    printf("%zu\t%lu\t%lu\n", bytes, time.start, time.end);
    CHECK(hsa_signal_destroy(done));
}

#define WIDTH 36
#define ROWS 50

/* Copies rows one way: those of the host are 192 bytes apart, those of the GPU 96. */
static void copy_rows(void *to, size_t to_pitch, void *from, size_t from_pitch, hsa_amd_copy_direction_t direction) {
    const hsa_pitched_ptr_t target = {to, to_pitch, to_pitch * ROWS}, source = {from, from_pitch, from_pitch * ROWS};
    const hsa_dim3_t first = {4, 1, 0}, range = {WIDTH, ROWS - 1, 1};
    hsa_signal_t done;
    CHECK(hsa_signal_create(1, 0, NULL, &done));
    CHECK(hsa_amd_memory_async_copy_rect(&target, &first, &source, &first, &range, gpus[0], direction, 0, NULL, done));
    if (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) != 0) {
        fprintf(stderr, "a copy of rows failed\n");
        exit(1);
    }
    CHECK(hsa_signal_destroy(done));
}

/* Returns true if rows come back as they were sent, and nothing beside them has changed. */
static int rows_come_back(unsigned char *sent, void *source, unsigned char *received, void *target, void *memory) {
    memset(received, 0, 192 * ROWS);
    copy_rows(memory, 96, source, 192, hsaHostToDevice);
    copy_rows(target, 192, memory, 96, hsaDeviceToHost);
    for (int at = 0; at < 192 * ROWS; at++) {
        int inside = at / 192 >= 1 && at % 192 >= 4 && at % 192 < 4 + WIDTH;
        if (received[at] != (inside ? sent[at] : 0)) return 0;
    }
    return 1;
}

int main(int argc, char **argv) {
    size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 4096;
    CHECK(hsa_init());
    CHECK(hsa_iterate_agents(remember, NULL));
    CHECK(hsa_amd_profiling_async_copy_enable(true));
    unsigned char *sent = malloc(bytes), *received = calloc(1, bytes);
    for (size_t at = 0; at < bytes; at++) sent[at] = (unsigned char)(at * 7 + 3);
    void *source, *target;
    CHECK(hsa_amd_memory_lock(sent, bytes, gpus, gpu_count, &source));
    CHECK(hsa_amd_memory_lock(received, bytes, gpus, gpu_count, &target));

    void *memory[MOST_GPUS];
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        hsa_amd_memory_pool_t pool;
        if (hsa_amd_agent_iterate_memory_pools(gpus[gpu], first_pool, &pool) != HSA_STATUS_INFO_BREAK) return 1;
        CHECK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory[gpu]));
        CHECK(hsa_amd_agents_allow_access(gpu_count, gpus, NULL, memory[gpu]));
    }
    copy(memory[0], gpus[0], source, cpu, bytes);
    for (int gpu = 1; gpu < gpu_count; gpu++) copy(memory[gpu], gpus[gpu], memory[gpu - 1], gpus[gpu - 1], bytes);
    if (argc > 2 && strcmp(argv[2], "fill") == 0) {
        const uint32_t word = 0x01020304;
        CHECK(hsa_amd_memory_fill(memory[gpu_count - 1], word, bytes / 4));
        for (size_t at = 0; at + 4 <= bytes; at += 4) memcpy(sent + at, &word, 4);
    }
    copy(target, cpu, memory[gpu_count - 1], gpus[gpu_count - 1], bytes);
    int same = memcmp(sent, received, bytes) == 0;
    if (argc > 2 && strcmp(argv[2], "rows") == 0) same &= rows_come_back(sent, source, received, target, memory[0]);
    if (!same) fprintf(stderr, "other bytes came back\n");

    for (int gpu = 0; gpu < gpu_count; gpu++) CHECK(hsa_amd_memory_pool_free(memory[gpu]));
    CHECK(hsa_amd_memory_unlock(sent));
    CHECK(hsa_amd_memory_unlock(received));
    CHECK(hsa_shut_down());
    free(sent);
    free(received);
    return same ? 0 : 1;
}
