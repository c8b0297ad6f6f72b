/* Threads that each create a queue at the same moment, the first of the process, and launch two kernels that count
 * one signal down, which somebody must do for them:
 *   first_queues THREADS */
#include "hsa.h"
#include <pthread.h>

enum { MOST_THREADS = 16 };

static kernel_t alpha;
static pthread_barrier_t start;
static pthread_mutex_t reporting = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    (void)unused;
    hsa_signal_t signal = signal_of(2);
    pthread_barrier_wait(&start);
    hsa_queue_t *queue = timed_queue(0);
    launch_t first = launch(queue, alpha, signal);
    launch_t second = launch(queue, alpha, signal);
    REQUIRE(wait_for(signal) == 0);
    pthread_mutex_lock(&reporting);
    report_untimed(first);
    report_untimed(second);
    pthread_mutex_unlock(&reporting);
    CHECK(hsa_signal_destroy(signal));
    return queue;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    REQUIRE(threads <= MOST_THREADS);
    begin();
    alpha = kernel_of(load(0), 0, "alpha");
    pthread_t running[MOST_THREADS];
    hsa_queue_t *queues[MOST_THREADS];
    REQUIRE(pthread_barrier_init(&start, NULL, (unsigned)threads) == 0);
    for (int at = 0; at < threads; at++) REQUIRE(pthread_create(&running[at], NULL, work, NULL) == 0);
    for (int at = 0; at < threads; at++) {
        void *queue;
        REQUIRE(pthread_join(running[at], &queue) == 0);
        queues[at] = queue;
    }
    for (int at = 0; at < threads; at++) CHECK(hsa_queue_destroy(queues[at]));
    end();
    return 0;
}
