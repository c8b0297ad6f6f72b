/* Kernels on a queue that is still there when the runtime is shut down, and a process that lives on for a moment. */
#include "hsa.h"

int main(void) {
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    launch_t launches[100];
    for (int at = 0; at < 100; at++) launches[at] = launch(queue, alpha, signal_of(1));
    for (int at = 0; at < 100; at++) {
        REQUIRE(wait_for(launches[at].signal) == 0);
        report_timed(launches[at]);
        CHECK(hsa_signal_destroy(launches[at].signal));
    }
    /* The collector sees that nothing is in flight, and makes itself ready for more. */
    usleep(50000);
    end();
    usleep(50000);
    return 0;
}
