/* One dispatch of each kernel that is named, one after the other.
 *   every_kernel NAME... */
#include "hsa.h"

int main(int argc, char **argv) {
    begin();
    hsa_executable_t executable = load(0);
    hsa_queue_t *queue = timed_queue(0);
    for (int at = 1; at < argc; at++) report_untimed(launch(queue, kernel_of(executable, 0, argv[at]), NONE));
    drain(queue);
    CHECK(hsa_queue_destroy(queue));
    end();
    return 0;
}
