/* Queues on which kernels run, or none, without passing hsa_queue_create; and packets that no doorbell announces.
 *   unseen WHAT      WHAT: counted, unused, created, launched,
 *                    unrung or left */
#include "hsa.h"

extern hsa_status_t hsa_amd_counted_queue_acquire(hsa_agent_t, hsa_queue_type32_t, uint32_t,
                                                  void (*)(hsa_status_t, hsa_queue_t *, void *), void *, uint64_t,
                                                  hsa_queue_t **) __attribute__((weak));
extern hsa_status_t hsa_amd_counted_queue_release(hsa_queue_t *) __attribute__((weak));

enum { NORMAL = 1, KERNELS = 20 };

static hsa_queue_t *acquired(void) {
    hsa_queue_t *queue;
    REQUIRE(hsa_amd_counted_queue_acquire);
    CHECK(hsa_amd_counted_queue_acquire(gpus[0], HSA_QUEUE_TYPE_MULTI, NORMAL, queue_error, NULL, 0, &queue));
    return queue;
}

static void launch_all(hsa_queue_t *queue) {
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    for (int at = 0; at < KERNELS; at++) report_untimed(launch(queue, alpha, NONE));
    drain(queue);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    begin();
    if (strcmp(what, "counted") == 0) {
        hsa_queue_t *queue = acquired(), *left = acquired();
        launch_all(queue);
        CHECK(hsa_amd_counted_queue_release(queue));
        /* Still there when the runtime ends. */
        drain(left);
    } else if (strcmp(what, "unused") == 0) {
        CHECK(hsa_amd_counted_queue_release(acquired()));
        load(0);
    } else if (strcmp(what, "created") == 0) {
        CHECK(hsa_queue_destroy(queue_of(0, QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI)));
        load(0);
    } else if (strcmp(what, "launched") == 0) {
        hsa_queue_t *queue = queue_of(0, QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI);
        launch_all(queue);
        CHECK(hsa_queue_destroy(queue));
    } else if (strcmp(what, "unrung") == 0 || strcmp(what, "left") == 0) {
        for (uint64_t packets = 3; packets < 5; packets++) {
            hsa_queue_t *queue = queue_of(0, QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI);
            hsa_queue_add_write_index_relaxed(queue, packets);
            if (strcmp(what, "left")) CHECK(hsa_queue_destroy(queue));
        }
    }
    end();
    return 0;
}
