/* Works until it kills itself: waves of kernels, one after another in one queue.
 *   until_killed DISPATCHES MICROSECONDS      DISPATCHES: of a wave; MICROSECONDS: from the end of the first wave */
#include "hsa.h"
#include <pthread.h>
#include <signal.h>
#include <time.h>

static void *kill_in(void *microseconds) {
    long wait = (long)microseconds;
    struct timespec time = {.tv_sec = wait / 1000000, .tv_nsec = wait % 1000000 * 1000};
    nanosleep(&time, NULL);
    kill(getpid(), SIGKILL);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int dispatches = atoi(argv[1]);
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    for (long wave = 0;; wave++) {
        for (int at = 0; at < dispatches; at++) launch(queue, alpha, NONE);
        drain(queue);
        pthread_t killer;
        if (wave == 0) REQUIRE(pthread_create(&killer, NULL, kill_in, (void *)atol(argv[2])) == 0);
    }
}
