/* Many kernels count one signal down, and who waits for it sees every step in order and zero in the end.
 * ROUNDS times, who waits for something later in the queue instead finds it at zero too.
 *   shared_signal DISPATCHES [ROUNDS] */
#include "hsa.h"

int main(int argc, char **argv) {
    int dispatches = argc > 1 ? atoi(argv[1]) : 1, rounds = argc > 2 ? atoi(argv[2]) : 0;
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
    for (int round = 0; round < rounds; round++) {
        hsa_signal_store_screlease(signal, 3);
        launch_t counted[3];
        for (int at = 0; at < 3; at++) counted[at] = launch(queue, alpha, signal);
        if (round % 2) {
            drain(queue);
        } else {
            hsa_signal_t own = signal_of(1);
            launch_t behind = launch(queue, alpha, own);
            REQUIRE(wait_for(own) == 0);
            report_timed(behind);
            CHECK(hsa_signal_destroy(own));
        }
        REQUIRE(hsa_signal_load_scacquire(signal) == 0);
        for (int at = 0; at < 3; at++) report_untimed(counted[at]);
    }
    CHECK(hsa_signal_destroy(signal));
    CHECK(hsa_queue_destroy(queue));
    end();
    return 0;
}
