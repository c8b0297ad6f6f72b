/* Many kernels count one signal down, and who waits for it sees every step in order and zero in the end.
 *   shared_signal DISPATCHES */
#include "hsa.h"

int main(int argc, char **argv) {
    int dispatches = argc > 1 ? atoi(argv[1]) : 1;
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    hsa_signal_t signal = signal_of(dispatches);
    for (int at = 0; at < dispatches; at++) report_untimed(launch(queue, alpha, signal));
    hsa_signal_value_t before = dispatches;
    while (before > 0) {
        hsa_signal_value_t value = hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, before, UINT64_MAX,
                                                             HSA_WAIT_STATE_BLOCKED);
        REQUIRE(value < before);
        before = value;
    }
    REQUIRE(before == 0);
    /* And down to below zero: a signal is only a number. */
    launch_t last = launch(queue, alpha, signal);
    hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    REQUIRE(hsa_signal_load_scacquire(signal) == -1);
    report_timed(last);
    drain(queue);
    CHECK(hsa_signal_destroy(signal));
    CHECK(hsa_queue_destroy(queue));
    end();
    return 0;
}
