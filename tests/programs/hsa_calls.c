/* Calls many functions of HSA, and counts itself how often it called which:
 *   hsa_calls PATH
 *
 * Writes a line for each thread and function to PATH, between tabs: TID FUNCTION CALLS. The first hsa_init and the last
 * hsa_shut_down are not among them. */
#define _GNU_SOURCE
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

static void count_call(const char *function);

#define COUNTED(function, ...) (count_call(#function), function(__VA_ARGS__))
#define hsa_agent_get_info(...) COUNTED(hsa_agent_get_info, __VA_ARGS__)
#define hsa_amd_agent_iterate_memory_pools(...) COUNTED(hsa_amd_agent_iterate_memory_pools, __VA_ARGS__)
#define hsa_amd_agents_allow_access(...) COUNTED(hsa_amd_agents_allow_access, __VA_ARGS__)
#define hsa_amd_memory_async_copy(...) COUNTED(hsa_amd_memory_async_copy, __VA_ARGS__)
#define hsa_amd_memory_pool_allocate(...) COUNTED(hsa_amd_memory_pool_allocate, __VA_ARGS__)
#define hsa_amd_memory_pool_free(...) COUNTED(hsa_amd_memory_pool_free, __VA_ARGS__)
#define hsa_amd_memory_pool_get_info(...) COUNTED(hsa_amd_memory_pool_get_info, __VA_ARGS__)
#define hsa_amd_pointer_info(...) COUNTED(hsa_amd_pointer_info, __VA_ARGS__)
#define hsa_amd_profiling_get_dispatch_time(...) COUNTED(hsa_amd_profiling_get_dispatch_time, __VA_ARGS__)
#define hsa_amd_profiling_set_profiler_enabled(...) COUNTED(hsa_amd_profiling_set_profiler_enabled, __VA_ARGS__)
#define hsa_amd_signal_async_handler(...) COUNTED(hsa_amd_signal_async_handler, __VA_ARGS__)
#define hsa_amd_signal_wait_any(...) COUNTED(hsa_amd_signal_wait_any, __VA_ARGS__)
#define hsa_code_object_reader_create_from_file(...) COUNTED(hsa_code_object_reader_create_from_file, __VA_ARGS__)
#define hsa_code_object_reader_destroy(...) COUNTED(hsa_code_object_reader_destroy, __VA_ARGS__)
#define hsa_executable_create_alt(...) COUNTED(hsa_executable_create_alt, __VA_ARGS__)
#define hsa_executable_destroy(...) COUNTED(hsa_executable_destroy, __VA_ARGS__)
#define hsa_executable_freeze(...) COUNTED(hsa_executable_freeze, __VA_ARGS__)
#define hsa_executable_get_symbol_by_name(...) COUNTED(hsa_executable_get_symbol_by_name, __VA_ARGS__)
#define hsa_executable_load_agent_code_object(...) COUNTED(hsa_executable_load_agent_code_object, __VA_ARGS__)
#define hsa_executable_symbol_get_info(...) COUNTED(hsa_executable_symbol_get_info, __VA_ARGS__)
#define hsa_isa_get_info_alt(...) COUNTED(hsa_isa_get_info_alt, __VA_ARGS__)
#define hsa_agent_iterate_isas(...) COUNTED(hsa_agent_iterate_isas, __VA_ARGS__)
#define hsa_iterate_agents(...) COUNTED(hsa_iterate_agents, __VA_ARGS__)
#define hsa_queue_add_write_index_scacq_screl(...) COUNTED(hsa_queue_add_write_index_scacq_screl, __VA_ARGS__)
#define hsa_queue_create(...) COUNTED(hsa_queue_create, __VA_ARGS__)
#define hsa_queue_destroy(...) COUNTED(hsa_queue_destroy, __VA_ARGS__)
#define hsa_queue_load_read_index_scacquire(...) COUNTED(hsa_queue_load_read_index_scacquire, __VA_ARGS__)
#define hsa_queue_load_write_index_relaxed(...) COUNTED(hsa_queue_load_write_index_relaxed, __VA_ARGS__)
#define hsa_signal_add_relaxed(...) COUNTED(hsa_signal_add_relaxed, __VA_ARGS__)
#define hsa_signal_cas_screlease(...) COUNTED(hsa_signal_cas_screlease, __VA_ARGS__)
#define hsa_signal_create(...) COUNTED(hsa_signal_create, __VA_ARGS__)
#define hsa_signal_destroy(...) COUNTED(hsa_signal_destroy, __VA_ARGS__)
#define hsa_signal_exchange_relaxed(...) COUNTED(hsa_signal_exchange_relaxed, __VA_ARGS__)
#define hsa_signal_load_relaxed(...) COUNTED(hsa_signal_load_relaxed, __VA_ARGS__)
#define hsa_signal_store_relaxed(...) COUNTED(hsa_signal_store_relaxed, __VA_ARGS__)
#define hsa_signal_store_screlease(...) COUNTED(hsa_signal_store_screlease, __VA_ARGS__)
#define hsa_signal_wait_scacquire(...) COUNTED(hsa_signal_wait_scacquire, __VA_ARGS__)
#define hsa_status_string(...) COUNTED(hsa_status_string, __VA_ARGS__)
#define hsa_system_get_info(...) COUNTED(hsa_system_get_info, __VA_ARGS__)

#include "hsa.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS 4
#define ROUNDS 200
#define ROOM 65536
#define MOST 512

typedef struct {
    pid_t thread;
    const char *function;
    uint64_t calls;
} counted_t;

static counted_t counts[MOST];
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static void count_call(const char *function) {
    pid_t thread = gettid();
    pthread_mutex_lock(&counting);
    counted_t *at = counts;
    while (at->function && (at->thread != thread || strcmp(at->function, function) != 0)) at++;
    REQUIRE(at < counts + MOST - 1);
    *at = (counted_t){thread, function, at->calls + 1};
    pthread_mutex_unlock(&counting);
}

/* What a newer runtime may have and this one may lack. */
static void *newer(const char *function) {
    void *found = dlsym(RTLD_DEFAULT, function);
    if (found) count_call(function);
    return found;
}

/* Each thread for itself, as libraries do that do not know of each other. */
static void *signals(void *unused) {
    CHECK(COUNTED(hsa_init));
    hsa_signal_t signal = signal_of(0);
    for (int round = 0; round < ROUNDS; round++) {
        hsa_signal_add_relaxed(signal, 2);
        REQUIRE(hsa_signal_load_relaxed(signal) == 2);
        REQUIRE(hsa_signal_exchange_relaxed(signal, 3) == 2);
        REQUIRE(hsa_signal_cas_screlease(signal, 3, 0) == 3);
    }
    CHECK(hsa_signal_destroy(signal));
    CHECK(COUNTED(hsa_shut_down));
    return unused;
}

static atomic_bool is_handled;

/* On a thread of the runtime. */
static bool handle(hsa_signal_value_t value, void *told) {
    REQUIRE(value == 0);
    hsa_signal_store_screlease(*(hsa_signal_t *)told, 0);
    is_handled = true;
    return false;
}

static void handler(void) {
    hsa_signal_t signal = signal_of(1), told = signal_of(1);
    CHECK(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, handle, &told));
    hsa_signal_store_relaxed(signal, 0);
    REQUIRE(wait_for(told) == 0);
    while (!is_handled) sched_yield();
    CHECK(hsa_signal_destroy(signal));
    CHECK(hsa_signal_destroy(told));
}

static hsa_status_t look_at_isa(hsa_isa_t isa, void *unused) {
    (void)unused;
    uint32_t length;
    CHECK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length));
    return HSA_STATUS_SUCCESS;
}

static void questions(void *memory) {
    uint64_t ticks;
    const char *text;
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks));
    CHECK(hsa_status_string(HSA_STATUS_ERROR_INVALID_AGENT, &text));
    CHECK(hsa_amd_pointer_info(memory, &info, NULL, NULL, NULL));
    CHECK(hsa_agent_iterate_isas(gpus[0], look_at_isa, NULL));
    REQUIRE(hsa_agent_get_info(gpus[0], (hsa_agent_info_t)0x7fff, &ticks) == HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void newer_ones(hsa_queue_t *queue) {
    hsa_signal_t signal = signal_of(0);
    hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_LT;
    hsa_signal_value_t one = 1, value;
    REQUIRE(hsa_amd_signal_wait_any(1, &signal, &condition, &one, UINT64_MAX, HSA_WAIT_STATE_ACTIVE, &value) == 0);
    uint32_t (*wait_all)(uint32_t, hsa_signal_t *, hsa_signal_condition_t *, hsa_signal_value_t *, uint64_t,
                         hsa_wait_state_t, hsa_signal_value_t *) = newer("hsa_amd_signal_wait_all");
    if (wait_all) wait_all(1, &signal, &condition, &one, UINT64_MAX, HSA_WAIT_STATE_ACTIVE, &value);
    hsa_status_t (*queue_info)(hsa_queue_t *, uint32_t, void *) = newer("hsa_amd_queue_get_info");
    hsa_agent_t agent;
    if (queue_info) queue_info(queue, 0, &agent);
    hsa_status_t (*scratch)(hsa_agent_t, size_t) = newer("hsa_amd_agent_set_async_scratch_limit");
    if (scratch) scratch(gpus[0], 0);
    hsa_status_t (*close_memory)(int) = newer("hsa_amd_portable_close_dmabuf");
    if (close_memory) close_memory(-1);
    CHECK(hsa_signal_destroy(signal));
}

static void work(char *from, char *to) {
    hsa_executable_t executable = load(0);
    kernel_t kernel = kernel_of(executable, 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    hsa_signal_t done = signal_of(1);
    for (int round = 0; round < 20; round++) report_untimed(launch(queue, kernel, NONE));
    launch_t timed = launch(queue, kernel, done);
    REQUIRE(wait_for(done) == 0);
    report_timed(timed);
    REQUIRE(hsa_queue_load_write_index_relaxed(queue) == 21);
    for (int round = 0; round < 5; round++) {
        hsa_signal_store_relaxed(done, 1);
        CHECK(hsa_amd_memory_async_copy(to, gpus[0], from, cpu, 4096, 0, NULL, done));
        REQUIRE(wait_for(done) == 0);
    }
    newer_ones(queue);
    CHECK(hsa_signal_destroy(done));
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_executable_destroy(executable));
}

int main(int argc, char **argv) {
    REQUIRE(argc == 2);
    begin();
    char *from = allocate(cpu, ROOM), *to = allocate(gpus[0], ROOM);
    pthread_t threads[THREADS];
    for (int at = 0; at < THREADS; at++) REQUIRE(pthread_create(&threads[at], NULL, signals, NULL) == 0);
    work(from, to);
    handler();
    questions(from);
    for (int at = 0; at < THREADS; at++) REQUIRE(pthread_join(threads[at], NULL) == 0);
    CHECK(hsa_amd_memory_pool_free(from));
    CHECK(hsa_amd_memory_pool_free(to));
    FILE *file = fopen(argv[1], "w");
    REQUIRE(file);
    for (counted_t *at = counts; at->function; at++) fprintf(file, "%d\t%s\t%lu\n", at->thread, at->function, at->calls);
    fclose(file);
    end();
    return 0;
}
