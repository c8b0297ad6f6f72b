/* Queues by descriptor, as ROCm 10 has them: several in one call, of which some are refused, with priorities and compute
 * units; and kernels that are launched in clusters.
 *   queue_descriptors DISPATCHES */
#include "hsa.h"
#include "queue_descriptor.h"

extern hsa_status_t hsa_amd_queue_create(hsa_agent_t, descriptor *, uint32_t) __attribute__((weak));

enum { NORMAL = 1, HIGH, EXT_KERNEL_DISPATCH = 3, GROUP = 64, GROUPS = 2 };

static descriptor asked(uint8_t engine, uint32_t packets) {
    return (descriptor){.version = 1, .engine = engine, .size = packets * 64, .priority = NORMAL, .callback = queue_error,
                        .type = HSA_QUEUE_TYPE_MULTI, .private_segment_size = UINT32_MAX};
}

/* In clusters of GROUPS work-groups. The number of the dispatch is its grid size in x as ever, so it is one that such
 * clusters divide. */
static void launch_in_clusters(hsa_queue_t *queue, kernel_t kernel, hsa_signal_t after, hsa_signal_t signal) {
    dispatch_count |= GROUP * GROUPS - 1;
    hsa_kernel_dispatch_packet_t as_usual = kernel_packet(kernel, signal);
    uint32_t clusters = as_usual.grid_size_x / (GROUP * GROUPS);
    uint64_t words[8] = {0};
    char *packet = (char *)words;
    const uint16_t one = 1, group = GROUP;
    packet[1] = 1;
    packet[2] = EXT_KERNEL_DISPATCH;
    packet[3] = 1;
    memcpy(packet + 4, &group, sizeof group);
    for (int at = 6; at <= 8; at += 2) memcpy(packet + at, &one, sizeof one);
    memcpy(packet + 12, &clusters, 4);
    for (int at = 16; at <= 18; at += 2) memcpy(packet + at, &one, sizeof one);
    packet[20] = GROUPS, packet[21] = packet[22] = 1;
    memcpy(packet + 32, &kernel.object, 8);
    memcpy(packet + 48, &after, 8);
    memcpy(packet + 56, &signal, 8);
    submit(queue, packet);
    report_untimed(launch_of(kernel, &as_usual));
}

int main(int argc, char **argv) {
    int dispatches = argc > 1 ? atoi(argv[1]) : 1;
    REQUIRE(hsa_amd_queue_create);
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    uint32_t half[4] = {0x0f0f0f0f, 0xf0f0f0f0, 0xffff, 0};

    printf("none: %#x\n", hsa_amd_queue_create(gpus[0], NULL, 1));
    descriptor all[] = {asked(COMPUTE, 256), asked(COMPUTE, 100), asked(AIE, 256), asked(COMPUTE, 1024),
                        asked(COMPUTE, 64), asked(SDMA, 256), asked(COMPUTE, 64)};
    enum { COUNT = sizeof all / sizeof *all };
    all[3].priority = HIGH;
    all[4].cu_mask = half;
    all[4].cu_mask_count = 128;
    all[6].version = 2;
    printf("no descriptor: %#x\n", hsa_amd_queue_create(gpus[0], all, 0));
    printf("all: %#x\n", hsa_amd_queue_create(gpus[0], all, COUNT));
    for (int at = 0; at < COUNT; at++) {
        hsa_queue_t *queue = all[at].queue;
        if (!queue) {
            printf("%d: none\n", at);
            continue;
        }
        uint32_t mask[4] = {0};
        CHECK(hsa_amd_queue_cu_get_mask(queue, 128, mask));
        printf("%d: type %u, %u packets, mask %x %x %x %x\n", at, queue->type, queue->size, mask[0], mask[1], mask[2],
               mask[3]);
        for (int launched = 0; launched < dispatches && all[at].engine == COMPUTE; launched++) {
            report_untimed(launch(queue, alpha, NONE));
            launch_in_clusters(queue, alpha, NONE, NONE);
            hsa_signal_t before = signal_of(1), behind = signal_of(1);
            report_untimed(launch(queue, alpha, before));
            launch_in_clusters(queue, alpha, before, behind);
            REQUIRE(wait_for(behind) == 0 && hsa_signal_load_scacquire(before) == 0);
            CHECK(hsa_signal_destroy(before));
            CHECK(hsa_signal_destroy(behind));
        }
        drain(queue);
        CHECK(hsa_queue_destroy(queue));
    }
    end();
    return 0;
}
