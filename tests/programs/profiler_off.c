/* A program that never asks for times, asks for them, and stops asking: what it does to its own queue must not end
 * the recording.
 *   profiler_off DISPATCHES */
#include "hsa.h"

int main(int argc, char **argv) {
    int dispatches = argc > 1 ? atoi(argv[1]) : 1;
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = queue_of(0, QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI);
    for (int phase = 0; phase < 3; phase++) {
        if (phase > 0) CHECK(hsa_amd_profiling_set_profiler_enabled(queue, phase == 1));
        for (int at = 0; at < dispatches; at++) {
            launch_t done = launch(queue, alpha, at % 2 ? signal_of(1) : NONE);
            if (at % 2 == 0) {
                report_untimed(done);
                continue;
            }
            REQUIRE(wait_for(done.signal) == 0);
            if (phase == 1) report_timed(done);
            else report_untimed(done);
            CHECK(hsa_signal_destroy(done.signal));
        }
        drain(queue);
    }
    CHECK(hsa_queue_destroy(queue));
    end();
    return 0;
}
