/* Kernels, and ranges of several threads, while the process may have little more memory than it has.
 *   short_of_memory WHEN KIB NEEDED DISPATCHES
 *
 * The limit (RLIMIT_AS) is KIB above what the process has then. WHEN: the `runtime` has started, or kernels are `running`.
 * NEEDED is what it asks for afterwards, in KiB: exit code 3 where it does not get that. No limit for KIB 0. */
#define _GNU_SOURCE
#include "hsa.h"
#include "roctx.h"
#include <pthread.h>
#include <sys/resource.h>

enum { THREADS = 3, WARM_UP = 100, PIECE = 64 };

static pthread_barrier_t limited;
static int dispatches;

static void limit(long kib) {
    if (kib == 0) return;
    char text[64] = "";
    int file = open("/proc/self/statm", O_RDONLY);
    REQUIRE(file >= 0 && read(file, text, sizeof text - 1) > 0);
    close(file);
    rlim_t bytes = (rlim_t)strtol(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)kib * 1024;
    REQUIRE(setrlimit(RLIMIT_AS, &(struct rlimit){.rlim_cur = bytes, .rlim_max = bytes}) == 0);
}

static void range(int step) {
    char text[32];
    snprintf(text, sizeof text, "step %d", step);
    if (roctx.RangePushA) roctx.RangePushA(text);
    if (roctx.RangePop) roctx.RangePop();
}

static void *annotate(void *unused) {
    pthread_barrier_wait(&limited);
    for (int step = 0; step < dispatches; step++) range(step);
    return unused;
}

static void launch_all(hsa_queue_t *queue, kernel_t kernel, int count) {
    for (int at = 0; at < count; at++) {
        if (at % (QUEUE_PACKETS / 2) == 0) drain(queue);
        range(at);
        report_untimed(launch(queue, kernel, NONE));
    }
    drain(queue);
}

int main(int argc, char **argv) {
    REQUIRE(argc == 5);
    const char *when = argv[1];
    long kib = atol(argv[2]), needed = atol(argv[3]);
    dispatches = atoi(argv[4]);
    roctx_find("global");
    pthread_t threads[THREADS];
    pthread_barrier_init(&limited, NULL, THREADS + 1);
    for (int at = 0; at < THREADS; at++) REQUIRE(pthread_create(&threads[at], NULL, annotate, NULL) == 0);
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    if (strcmp(when, "runtime") == 0) limit(kib);
    hsa_queue_t *queue = timed_queue(0);
    launch_all(queue, alpha, WARM_UP);
    if (strcmp(when, "running") == 0) limit(kib);
    pthread_barrier_wait(&limited);
    launch_all(queue, alpha, dispatches);
    for (int at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
    for (long got = 0; got < needed; got += PIECE) {
        char *piece = malloc(PIECE * 1024);
        if (!piece) exit(3);
        memset(piece, 1, PIECE * 1024);
    }
    launch_all(queue, alpha, dispatches);
    CHECK(hsa_queue_destroy(queue));
    end();
    puts("well");
    return 0;
}
