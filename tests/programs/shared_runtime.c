/* Libraries that do not know of each other start and shut down the runtime while a kernel after the other is launched.
 *   shared_runtime DISPATCHES */
#include "hsa.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define LIBRARIES 3

static atomic_bool is_over;

static void *library(void *unused) {
    while (!is_over) {
        CHECK(hsa_init());
        CHECK(hsa_shut_down());
        usleep(50);
    }
    return unused;
}

int main(int argc, char **argv) {
    REQUIRE(argc == 2);
    int dispatches = atoi(argv[1]);
    begin();
    hsa_executable_t executable = load(0);
    kernel_t alpha = kernel_of(executable, 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    pthread_t libraries[LIBRARIES];
    for (int at = 0; at < LIBRARIES; at++) REQUIRE(pthread_create(&libraries[at], NULL, library, NULL) == 0);
    for (int at = 0; at < dispatches; at++) {
        report_untimed(launch(queue, alpha, NONE));
        if (at % 100 == 99) drain(queue);
    }
    drain(queue);
    is_over = true;
    for (int at = 0; at < LIBRARIES; at++) REQUIRE(pthread_join(libraries[at], NULL) == 0);
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_executable_destroy(executable));
    end();
    return 0;
}
