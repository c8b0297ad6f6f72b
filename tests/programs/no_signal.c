/* Kernels without completion signals, as HIP launches them; a barrier packet says when they are done.
 *   no_signal DISPATCHES */
#include "hsa.h"

int main(int argc, char **argv) {
    int dispatches = argc > 1 ? atoi(argv[1]) : 1;
    begin();
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        kernel_t alpha = kernel_of(load(gpu), gpu, "alpha");
        hsa_queue_t *queue = timed_queue(gpu);
        for (int at = 0; at < dispatches; at++) {
            /* Debian's runtime 5.2.3 asserts when an intercepted queue is full and gets more. */
            if (at % (QUEUE_PACKETS / 2) == 0) drain(queue);
            report_untimed(launch(queue, alpha, NONE));
        }
        drain(queue);
        CHECK(hsa_queue_destroy(queue));
    }
    end();
    return 0;
}
