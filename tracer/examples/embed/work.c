/* 30 steps of a kernel each of `alpha`, `beta` and a C++ function `gamma`, of which one runs in a range of its own. The
 * tests run this on simulated GPUs, so it takes its kernels from the file that CODE_OBJECT names. */
#define _GNU_SOURCE
#include "work.h"
#include "../../../tests/programs/hsa.h"

int roctxRangePushA(const char *text);
int roctxRangePop(void);

void work(void) {
    begin();
    hsa_executable_t executable = load(0);
    kernel_t kernels[] = {kernel_of(executable, 0, "alpha"), kernel_of(executable, 0, "beta"),
                          kernel_of(executable, 0, "_Z5gammaPKfPf")};
    hsa_queue_t *queue = timed_queue(0);
    hsa_signal_t done = signal_of(1);
    for (int step = 0; step < 30; step++) {
        hsa_signal_store_relaxed(done, 1);
        roctxRangePushA("step");
        launch(queue, kernels[0], NONE);
        roctxRangePushA("forward");
        launch(queue, kernels[1], NONE);
        roctxRangePop();
        launch(queue, kernels[2], done);
        roctxRangePop();
        REQUIRE(wait_for(done) == 0);
    }
    CHECK(hsa_signal_destroy(done));
    CHECK(hsa_queue_destroy(queue));
}
