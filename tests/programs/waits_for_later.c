/* A kernel that cannot begin before one that is submitted after it, on another queue, has ended. A tracer that
 * answers for signals in the order of submission waits for ever here.
 *   waits_for_later ROUNDS SIGNAL      SIGNAL is the value that the later kernel's signal begins with */
#include "hsa.h"

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    hsa_signal_value_t value = argc > 2 ? atoi(argv[2]) : 1;
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *early = timed_queue(0), *late = timed_queue(0);
    for (int round = 0; round < rounds; round++) {
        hsa_signal_t done = signal_of(value);
        hsa_barrier_and_packet_t wait = barrier_packet(done, NONE);
        submit(early, &wait);
        launch_t waiting = launch(early, alpha, signal_of(1));
        launch_t unsignalled = launch(early, alpha, NONE);
        for (int at = 0; at < value; at++) report_untimed(launch(late, alpha, done));
        REQUIRE(wait_for(waiting.signal) == 0);
        report_timed(waiting);
        report_untimed(unsignalled);
        drain(early);
        CHECK(hsa_signal_destroy(done));
        CHECK(hsa_signal_destroy(waiting.signal));
    }
    CHECK(hsa_queue_destroy(early));
    CHECK(hsa_queue_destroy(late));
    end();
    return 0;
}
