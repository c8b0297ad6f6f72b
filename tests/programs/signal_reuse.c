/* Completion signals that are used again or gone the moment the program has waited for them.
 *   signal_reuse ROUNDS WHAT      WHAT: destroy, again, copy or time
 * `time` asks for the times first; the others never do, so a tracer that comes later finds another use. */
#include "hsa.h"

static hsa_amd_memory_pool_t system_pool;

static hsa_status_t remember_pool(hsa_amd_memory_pool_t pool, void *unused) {
    (void)unused;
    hsa_amd_segment_t segment;
    bool allocates;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allocates));
    if (segment == HSA_AMD_SEGMENT_GLOBAL && allocates) system_pool = pool;
    return HSA_STATUS_SUCCESS;
}

static char *buffer_for_gpu(void) {
    void *buffer;
    CHECK(hsa_amd_memory_pool_allocate(system_pool, 4096, 0, &buffer));
    CHECK(hsa_amd_agents_allow_access(1, &gpus[0], NULL, buffer));
    return buffer;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const char *what = argc > 2 ? argv[2] : "destroy";
    begin();
    CHECK(hsa_amd_agent_iterate_memory_pools(cpu, remember_pool, NULL));
    char *from = buffer_for_gpu(), *to = buffer_for_gpu();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    hsa_signal_t signal = signal_of(1);
    for (int round = 0; round < rounds; round++) {
        launch_t done = launch(queue, alpha, signal);
        REQUIRE(wait_for(signal) == 0);
        if (strcmp(what, "time") == 0) {
            report_timed(done);
        } else {
            report_untimed(done);
        }
        if (strcmp(what, "copy") == 0) {
            memset(from, 'a' + round % 26, 4096);
            hsa_signal_store_relaxed(signal, 1);
            CHECK(hsa_amd_memory_async_copy(to, gpus[0], from, gpus[0], 4096, 0, NULL, signal));
            REQUIRE(wait_for(signal) == 0);
            REQUIRE(to[0] == from[0] && to[4095] == from[4095]);
        }
        if (strcmp(what, "destroy") == 0) {
            CHECK(hsa_signal_destroy(signal));
            signal = signal_of(1);
        } else {
            hsa_signal_store_screlease(signal, 1);
        }
    }
    CHECK(hsa_signal_destroy(signal));
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_amd_memory_pool_free(from));
    CHECK(hsa_amd_memory_pool_free(to));
    end();
    return 0;
}
