/* Kernels that may overlap, then a barrier, again and again.
 *   batch BATCHES PACKETS SIGNALS DOORBELLS
 * SIGNALS: none, own or last (only the last kernel has one). DOORBELLS: one for all packets, or each. */
#include "hsa.h"

int main(int argc, char **argv) {
    int batches = argc > 1 ? atoi(argv[1]) : 1, size = argc > 2 ? atoi(argv[2]) : 8;
    const char *signals = argc > 3 ? argv[3] : "none";
    int each = argc > 4 && strcmp(argv[4], "each") == 0;
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    hsa_kernel_dispatch_packet_t *packets = calloc((size_t)size, sizeof *packets);
    for (int batch = 0; batch < batches; batch++) {
        for (int at = 0; at < size; at++) {
            int own = strcmp(signals, "own") == 0 || (strcmp(signals, "last") == 0 && at == size - 1);
            packets[at] = kernel_packet(alpha, own ? signal_of(1) : NONE);
        }
        if (each) {
            for (int at = 0; at < size; at++) submit(queue, &packets[at]);
        } else {
            submit_all(queue, packets, (uint64_t)size);
        }
        drain(queue);
        for (int at = 0; at < size; at++) {
            launch_t done = launch_of(alpha, &packets[at]);
            if (done.signal.handle == 0) {
                report_untimed(done);
                continue;
            }
            REQUIRE(wait_for(done.signal) == 0);
            report_timed(done);
            CHECK(hsa_signal_destroy(done.signal));
        }
    }
    free(packets);
    CHECK(hsa_queue_destroy(queue));
    end();
    return 0;
}
