/* Launches as many kernels as each line of standard input says, waits for them, and answers with a line. The first line
 * that it prints is its number. */
#include "hsa.h"

int main(void) {
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    printf("%d\n", getpid());
    fflush(stdout);
    char line[32];
    while (fgets(line, sizeof line, stdin)) {
        for (int count = atoi(line); count > 0; count--) report_untimed(launch(queue, alpha, NONE));
        drain(queue);
        printf("done\n");
        fflush(stdout);
    }
    CHECK(hsa_queue_destroy(queue));
    end();
    return 0;
}
