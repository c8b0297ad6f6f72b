/* Kernels whose completion signals are the program's: their values, and the times that the runtime reads from them,
 * stay right.
 *   own_signal DISPATCHES */
#include "hsa.h"

int main(int argc, char **argv) {
    int dispatches = argc > 1 ? atoi(argv[1]) : 1;
    begin();
    const char *names[] = {"alpha", "beta", "_Z5gammaPKfPf"};
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        hsa_executable_t executable = load(gpu);
        kernel_t kernels[3];
        for (int at = 0; at < 3; at++) kernels[at] = kernel_of(executable, gpu, names[at]);
        hsa_queue_t *queue = timed_queue(gpu);
        launch_t *launches = calloc((size_t)dispatches, sizeof *launches);
        for (int at = 0; at < dispatches; at++) launches[at] = launch(queue, kernels[at % 3], signal_of(1));
        for (int at = 0; at < dispatches; at++) {
            REQUIRE(wait_for(launches[at].signal) == 0);
            report_timed(launches[at]);
        }
        for (int at = 0; at < dispatches; at++) {
            REQUIRE(hsa_signal_load_scacquire(launches[at].signal) == 0);
            CHECK(hsa_signal_destroy(launches[at].signal));
        }
        printf("GPU %d: %d dispatches\n", gpu, dispatches);
        free(launches);
        CHECK(hsa_queue_destroy(queue));
        CHECK(hsa_executable_destroy(executable));
    }
    end();
    return 0;
}
