/* The runtime is shut down and started again, with work in each of its lives.
 *   again LIVES DISPATCHES */
#include "hsa.h"

int main(int argc, char **argv) {
    int lives = argc > 1 ? atoi(argv[1]) : 2, dispatches = argc > 2 ? atoi(argv[2]) : 1;
    begin();
    for (int life = 0; life < lives; life++) {
        if (life > 0) {
            gpu_count = 0;
            CHECK(hsa_init());
            CHECK(hsa_iterate_agents(remember_agent, NULL));
        }
        hsa_executable_t executable = load(0);
        kernel_t alpha = kernel_of(executable, 0, "alpha");
        hsa_queue_t *queue = timed_queue(0);
        for (int at = 0; at < dispatches; at++) report_untimed(launch(queue, alpha, NONE));
        drain(queue);
        CHECK(hsa_queue_destroy(queue));
        CHECK(hsa_executable_destroy(executable));
        CHECK(hsa_shut_down());
    }
    fflush(report);
    return 0;
}
