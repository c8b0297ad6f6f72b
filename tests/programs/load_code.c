/* Loads a code object and launches none of its kernels but the first, FIRST. */
#include "hsa.h"

int main(void) {
    begin();
    hsa_executable_t executable = load(0);
    const char *name = getenv("FIRST");
    if (name) {
        kernel_t kernel = kernel_of(executable, 0, name);
        hsa_queue_t *queue = timed_queue(0);
        report_untimed(launch(queue, kernel, NONE));
        drain(queue);
        CHECK(hsa_queue_destroy(queue));
    }
    CHECK(hsa_executable_destroy(executable));
    end();
    return 0;
}
