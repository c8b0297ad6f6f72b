/* Queues that are destroyed while kernels run and wait in them, with and without completion signals.
 *   destroy_in_flight QUEUES DISPATCHES */
#include "hsa.h"

int main(int argc, char **argv) {
    int queues = argc > 1 ? atoi(argv[1]) : 1, dispatches = argc > 2 ? atoi(argv[2]) : 1;
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    for (int at = 0; at < queues; at++) {
        hsa_queue_t *queue = timed_queue(0);
        launch_t first = launch(queue, alpha, signal_of(1));
        REQUIRE(wait_for(first.signal) == 0);
        report_timed(first);
        CHECK(hsa_signal_destroy(first.signal));
        hsa_signal_t shared = signal_of(dispatches);
        for (int step = 0; step < dispatches; step++) {
            hsa_signal_t signal = step % 3 == 0 ? NONE : step % 3 == 1 ? signal_of(1) : shared;
            report_untimed(launch(queue, alpha, signal));
        }
        CHECK(hsa_queue_destroy(queue));
    }
    end();
    return 0;
}
