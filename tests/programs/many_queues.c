/* Many queues of one process, spread over all GPUs. Each busy one gets KERNELS kernels without signals, round by round.
 *   many_queues QUEUES KERNELS [BUSY KEEP]
 * BUSY: queues that get kernels, the last ones. KEEP: 1 leaves the queues to the end of the process. */
#include "hsa.h"

enum { MOST_QUEUES = 10000, AT_ONCE = 16 };

static hsa_queue_t *queues[MOST_QUEUES];

int main(int argc, char **argv) {
    int queue_count = argc > 1 ? atoi(argv[1]) : 1;
    int kernels = argc > 2 ? atoi(argv[2]) : 1;
    int busy = argc > 3 ? atoi(argv[3]) : queue_count;
    int keeps = argc > 4 && atoi(argv[4]);
    REQUIRE(queue_count <= MOST_QUEUES && busy <= queue_count);
    begin();
    static kernel_t alphas[MOST_GPUS];
    for (int gpu = 0; gpu < gpu_count; gpu++) alphas[gpu] = kernel_of(load(gpu), gpu, "alpha");
    for (int at = 0; at < queue_count; at++) {
        queues[at] = queue_of(at % gpu_count, 256, HSA_QUEUE_TYPE_MULTI);
        CHECK(hsa_amd_profiling_set_profiler_enabled(queues[at], 1));
    }
    for (int done = 0; done < kernels; done += AT_ONCE) {
        int now = kernels - done < AT_ONCE ? kernels - done : AT_ONCE;
        hsa_signal_t last = signal_of(busy);
        for (int at = queue_count - busy; at < queue_count; at++) {
            for (int step = 0; step < now; step++) report_untimed(launch(queues[at], alphas[at % gpu_count], NONE));
            hsa_barrier_and_packet_t packet = barrier_packet(NONE, last);
            submit(queues[at], &packet);
        }
        REQUIRE(wait_for(last) == 0);
        CHECK(hsa_signal_destroy(last));
    }
    for (int at = 0; at < queue_count && !keeps; at++) CHECK(hsa_queue_destroy(queues[at]));
    end();
    return 0;
}
