/* Barrier packets that wait for the signals of kernels on other queues: all of them, and any of them.
 *   dependencies ROUNDS */
#include "hsa.h"

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    begin();
    enum { QUEUES = 3 };
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queues[QUEUES];
    for (int at = 0; at < QUEUES; at++) queues[at] = timed_queue(0);
    for (int round = 0; round < rounds; round++) {
        hsa_signal_t all = signal_of(1), any = signal_of(1);
        launch_t first = launch(queues[0], alpha, signal_of(1)), second = launch(queues[1], alpha, signal_of(1));
        hsa_barrier_and_packet_t wait_all = {
            .header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER,
            .dep_signal = {first.signal, second.signal},
            .completion_signal = all,
        };
        submit(queues[2], &wait_all);
        launch_t after_all = launch(queues[2], alpha, signal_of(1));
        hsa_signal_t never = signal_of(1);
        hsa_barrier_or_packet_t wait_any = {
            .header = HSA_PACKET_TYPE_BARRIER_OR | 1 << HSA_PACKET_HEADER_BARRIER,
            .dep_signal = {never, after_all.signal},
            .completion_signal = any,
        };
        submit(queues[0], &wait_any);
        launch_t after_any = launch(queues[0], alpha, signal_of(1));
        launch_t launches[] = {first, second, after_all, after_any};
        hsa_amd_profiling_dispatch_time_t times[4];
        for (int at = 0; at < 4; at++) {
            REQUIRE(wait_for(launches[at].signal) == 0);
            CHECK(hsa_amd_profiling_get_dispatch_time(gpus[0], launches[at].signal, &times[at]));
            report_timed(launches[at]);
        }
        REQUIRE(wait_for(all) == 0 && wait_for(any) == 0);
        REQUIRE(times[0].end <= times[2].start && times[1].end <= times[2].start && times[2].end <= times[3].start);
        for (int at = 0; at < 4; at++) CHECK(hsa_signal_destroy(launches[at].signal));
        hsa_signal_t signals[] = {all, any, never};
        for (int at = 0; at < 3; at++) CHECK(hsa_signal_destroy(signals[at]));
    }
    for (int at = 0; at < QUEUES; at++) CHECK(hsa_queue_destroy(queues[at]));
    end();
    return 0;
}
