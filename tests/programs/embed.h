/* What programs that get records themselves share. */
#ifndef EMBED_H
#define EMBED_H

#define _GNU_SOURCE
#include "../../tracer/include/rtl.h"
#include "hsa.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>

int roctxRangePushA(const char *text);
int roctxRangePop(void);
int roctxNameOsThread(const char *name);
int roctxNameHipStream(const char *name, const void *stream);

/* Kernels that callbacks were told of. */
static size_t told;
static sem_t may_return;
static int waits, prints;

/* Recordings whose end callbacks were told of, and how many kernels the last one delivered. */
static int ended;
static uint64_t delivered;

static hsa_queue_t *queue;
static kernel_t alpha;
static hsa_signal_t done;

static void on_kernels(const struct rtl_kernel *kernels, size_t count, void *data) {
    (void)kernels;
    REQUIRE(data == &told);
    if (__atomic_load_n(&waits, __ATOMIC_ACQUIRE)) sem_wait(&may_return);
    __atomic_add_fetch(&told, count, __ATOMIC_RELEASE);
    if (prints) dprintf(STDOUT_FILENO, "%zu\n", count);
}

static void on_end(const struct rtl_counters *counters, void *data) {
    REQUIRE(data == &told && counters->size == sizeof *counters);
    REQUIRE(counters->kernels.delivered + counters->kernels.lost + counters->kernels.skipped <= counters->kernels.seen);
    delivered = counters->kernels.delivered;
    __atomic_add_fetch(&ended, 1, __ATOMIC_RELEASE);
}

static int ended_now(void) {
    return __atomic_load_n(&ended, __ATOMIC_ACQUIRE);
}

static size_t told_now(void) {
    return __atomic_load_n(&told, __ATOMIC_ACQUIRE);
}

static struct rtl_callbacks callbacks_for(void (*kernels)(const struct rtl_kernel *, size_t, void *)) {
    struct rtl_callbacks callbacks = {
        .size = sizeof callbacks, .data = &told, .mode = "standard", .kernels = kernels, .ended = on_end};
    return callbacks;
}

static rtl_status set_callbacks(void) {
    struct rtl_callbacks callbacks = callbacks_for(on_kernels);
    return rtl_set_callbacks(&callbacks);
}

static struct rtl_counters counters_now(void) {
    struct rtl_counters counters = {.size = sizeof counters};
    REQUIRE(rtl_get_counters(&counters) == RTL_OK);
    return counters;
}

static void start(void) {
    begin();
    alpha = kernel_of(load(0), 0, "alpha");
    queue = timed_queue(0);
    done = signal_of(1);
}

/* So many kernels, which have ended. */
static void work(int kernels) {
    while (kernels > 0) {
        int batch = kernels < 512 ? kernels : 512;
        hsa_signal_store_relaxed(done, 1);
        for (int at = 1; at <= batch; at++) launch(queue, alpha, at == batch ? done : NONE);
        REQUIRE(wait_for(done) == 0);
        kernels -= batch;
    }
}

static void start_and_work(int kernels) {
    start();
    work(kernels);
}

static void wait_for_child(pid_t child) {
    int status;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    if (status != 0) fprintf(stderr, "the child ended with %#x\n", status);
    REQUIRE(status == 0);
}

#endif
