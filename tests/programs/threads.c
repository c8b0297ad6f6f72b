/* Threads that share queues: each submits to all of them, half with signals and half without.
 *   threads THREADS DISPATCHES QUEUES */
#include "hsa.h"
#include <pthread.h>

enum { MOST_THREADS = 16, MOST_QUEUES = 8, AT_ONCE = 32 };

static hsa_queue_t *queues[MOST_QUEUES];
static int queue_count, dispatches;
static kernel_t alpha;
static pthread_mutex_t reporting = PTHREAD_MUTEX_INITIALIZER;

/* Never more than AT_ONCE in flight: Debian's runtime 5.2.3 asserts when a full queue gets more. */
static void *work(void *unused) {
    launch_t launches[AT_ONCE];
    for (int at = 0; at < dispatches; at += AT_ONCE) {
        hsa_signal_t last = signal_of(queue_count);
        for (int step = 0; step < AT_ONCE; step++)
            launches[step] = launch(queues[step % queue_count], alpha, step % 2 ? signal_of(1) : NONE);
        for (int queue = 0; queue < queue_count; queue++) {
            hsa_barrier_and_packet_t packet = barrier_packet(NONE, last);
            submit(queues[queue], &packet);
        }
        REQUIRE(wait_for(last) == 0);
        pthread_mutex_lock(&reporting);
        for (int step = 0; step < AT_ONCE; step++) {
            if (step % 2 == 0) {
                report_untimed(launches[step]);
                continue;
            }
            REQUIRE(wait_for(launches[step].signal) == 0);
            report_timed(launches[step]);
            CHECK(hsa_signal_destroy(launches[step].signal));
        }
        pthread_mutex_unlock(&reporting);
        CHECK(hsa_signal_destroy(last));
    }
    return unused;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    dispatches = argc > 2 ? atoi(argv[2]) : AT_ONCE;
    queue_count = argc > 3 ? atoi(argv[3]) : 1;
    REQUIRE(threads <= MOST_THREADS && queue_count <= MOST_QUEUES);
    begin();
    alpha = kernel_of(load(0), 0, "alpha");
    for (int at = 0; at < queue_count; at++) queues[at] = timed_queue(0);
    pthread_t running[MOST_THREADS];
    for (int at = 0; at < threads; at++) REQUIRE(pthread_create(&running[at], NULL, work, NULL) == 0);
    for (int at = 0; at < threads; at++) REQUIRE(pthread_join(running[at], NULL) == 0);
    for (int at = 0; at < queue_count; at++) CHECK(hsa_queue_destroy(queues[at]));
    end();
    return 0;
}
