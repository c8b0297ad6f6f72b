/* Executables come and go, and the next kernel lies where the one before it was: its name is another.
 *   address_reuse ROUNDS      FIRST and SECOND are code objects with one kernel each, first and other */
#include "hsa.h"

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    begin();
    hsa_queue_t *queue = timed_queue(0);
    uint64_t before = 0;
    int reused = 0;
    for (int round = 0; round < rounds; round++) {
        hsa_executable_t executable = load_file(0, getenv(round % 2 ? "SECOND" : "FIRST"));
        kernel_t kernel = kernel_of(executable, 0, round % 2 ? "other" : "first");
        reused += kernel.object == before;
        before = kernel.object;
        launch_t launches[] = {launch(queue, kernel, NONE), launch(queue, kernel, signal_of(1))};
        REQUIRE(wait_for(launches[1].signal) == 0);
        report_untimed(launches[0]);
        report_timed(launches[1]);
        CHECK(hsa_signal_destroy(launches[1].signal));
        CHECK(hsa_executable_destroy(executable));
    }
    drain(queue);
    /* Without this the program proves nothing. */
    REQUIRE(rounds < 2 || reused > 0);
    CHECK(hsa_queue_destroy(queue));
    end();
    return 0;
}
