/* Queues of every kind, and what the runtime says of each: with a tracer they are what they were asked to be. */
#include "hsa.h"

static void describe(const char *what, hsa_queue_t *queue) {
    uint32_t mask[4] = {0};
    hsa_status_t masked = hsa_amd_queue_cu_get_mask(queue, 128, mask);
    printf("%s: type %u, %u packets, features %u, mask (%#x) %x %x %x %x\n", what, queue->type, queue->size,
           queue->features, masked, mask[0], mask[1], mask[2], mask[3]);
}

static void use(hsa_queue_t *queue, kernel_t kernel) {
    CHECK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
    launch_t done = launch(queue, kernel, signal_of(1));
    REQUIRE(wait_for(done.signal) == 0);
    report_timed(done);
    CHECK(hsa_signal_destroy(done.signal));
    CHECK(hsa_queue_destroy(queue));
}

int main(void) {
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue;
    struct {
        const char *what;
        uint32_t packets;
        hsa_queue_type32_t type;
        uint32_t scratch, lds;
    } kinds[] = {
        {"multi", 256, HSA_QUEUE_TYPE_MULTI, UINT32_MAX, UINT32_MAX},
        {"single", 256, HSA_QUEUE_TYPE_SINGLE, UINT32_MAX, UINT32_MAX},
        {"smallest", 64, HSA_QUEUE_TYPE_MULTI, 0, 0},
        {"large", 16384, HSA_QUEUE_TYPE_MULTI, UINT32_MAX, 0},
        {"scratch", 1024, HSA_QUEUE_TYPE_MULTI, 256, 1024},
        {"cooperative", 1024, HSA_QUEUE_TYPE_COOPERATIVE, UINT32_MAX, UINT32_MAX},
    };
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++) {
        hsa_status_t status = hsa_queue_create(gpus[0], kinds[at].packets, kinds[at].type, queue_error, NULL,
                                               kinds[at].scratch, kinds[at].lds, &queue);
        if (status != HSA_STATUS_SUCCESS) {
            printf("%s: %#x\n", kinds[at].what, status);
            continue;
        }
        describe(kinds[at].what, queue);
        use(queue, alpha);
    }
    hsa_status_t refused = hsa_queue_create(gpus[0], 100, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue);
    printf("100 packets: %#x\n", refused);

    uint32_t half[4] = {0x0f0f0f0f, 0xf0f0f0f0, 0xffff, 0};
    queue = timed_queue(0);
    printf("set mask: %#x\n", hsa_amd_queue_cu_set_mask(queue, 128, half));
    describe("masked", queue);
    use(queue, alpha);

    for (int priority = HSA_AMD_QUEUE_PRIORITY_LOW; priority <= HSA_AMD_QUEUE_PRIORITY_HIGH; priority++) {
        queue = timed_queue(0);
        printf("set priority %d: %#x\n", priority, hsa_amd_queue_set_priority(queue, priority));
        use(queue, alpha);
    }
    end();
    return 0;
}
