/* What callbacks do themselves, in a program that is linked to librtl.so:
 *   embed_inside WHAT
 *
 * WHAT is one of
 *   slow        a callback that does not return while 400,000 kernels and more run, more than RTL_BUFFER holds
 *   stuck       a callback that does not return in time
 *   inside      callbacks that use the GPU and ranges themselves
 *   exit_inside a callback that ends the process
 *   fork_inside a callback that forks, and returns in the child too
 *   names       what GPUs, threads and streams are called
 *
 * What is not as it should be ends it; standard output says what was found. */
#include "embed.h"

static void try_slow(void) {
    uint64_t kernels = 400000;
    sem_init(&may_return, 0, 0);
    waits = 1;
    REQUIRE(set_callbacks() == RTL_OK);
    start_and_work((int)kernels);
    /* A thread of the tracer that does not run has not noticed yet that it is behind. */
    for (; counters_now().kernels.lost_behind == 0; kernels += 512) work(512);
    REQUIRE(told_now() == 0 && rtl_flush(50) == RTL_ERROR_TIMEOUT);
    struct rtl_counts counts = counters_now().kernels;
    REQUIRE(counts.seen == kernels && counts.delivered == 0 && counts.lost_behind > 0);
    __atomic_store_n(&waits, 0, __ATOMIC_RELEASE);
    sem_post(&may_return);
    REQUIRE(rtl_flush(60000) == RTL_OK);
    counts = counters_now().kernels;
    /* A quarter of RTL_BUFFER is for what has completed, however much of it is in flight. */
    REQUIRE(counts.seen == kernels && counts.delivered == told_now() && counts.delivered >= (24 << 20) / 4 / 72);
    REQUIRE(counts.lost >= counts.lost_behind && counts.delivered + counts.lost == kernels);
    /* It goes on as before. */
    size_t before = told_now();
    work(100);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == before + 100);
}

static void try_stuck(void) {
    sem_init(&may_return, 0, 0);
    waits = 1;
    REQUIRE(set_callbacks() == RTL_OK);
    start_and_work(100);
    REQUIRE(rtl_stop(100) == RTL_ERROR_TIMEOUT && told_now() == 0);
    __atomic_store_n(&waits, 0, __ATOMIC_RELEASE);
    sem_post(&may_return);
    REQUIRE(rtl_stop(60000) == RTL_OK && ended_now() == 1);
    struct rtl_counts counts = counters_now().kernels;
    REQUIRE(delivered == counts.delivered);
    REQUIRE(counts.seen == 100 && counts.delivered == told_now() && counts.delivered + counts.lost == 100);
}

/* What the first callbacks ask of the GPU themselves. */
enum { OF_CALLBACKS = 3 };
static hsa_queue_t *own_queue;
static hsa_signal_t own_done;

static void work_inside(const struct rtl_kernel *kernels, size_t count, void *data) {
    static int calls;
    if (calls < OF_CALLBACKS) {
        calls++;
        hsa_signal_store_relaxed(own_done, 1);
        roctxRangePushA("inside");
        launch(own_queue, alpha, own_done);
        REQUIRE(wait_for(own_done) == 0);
        roctxRangePop();
        REQUIRE(set_callbacks() == RTL_ERROR_REGISTERED);
        REQUIRE(counters_now().kernels.seen > 0);
        REQUIRE(rtl_flush(0) == RTL_ERROR_CALLBACK && rtl_stop(0) == RTL_ERROR_CALLBACK);
    }
    on_kernels(kernels, count, data);
}

static void try_inside(void) {
    struct rtl_callbacks callbacks = callbacks_for(work_inside);
    REQUIRE(rtl_set_callbacks(&callbacks) == RTL_OK);
    start();
    own_queue = timed_queue(0);
    own_done = signal_of(1);
    work(100);
    /* Each of them is a reason for another callback. */
    for (int round = 0; round <= OF_CALLBACKS; round++) REQUIRE(rtl_flush(60000) == RTL_OK);
    REQUIRE(told_now() == 100 + OF_CALLBACKS);
    CHECK(hsa_signal_destroy(own_done));
    CHECK(hsa_queue_destroy(own_queue));
}

static void exit_inside(const struct rtl_kernel *kernels, size_t count, void *data) {
    (void)kernels, (void)count, (void)data;
    exit(3);
}

static void try_exit_inside(void) {
    struct rtl_callbacks callbacks = callbacks_for(exit_inside);
    REQUIRE(rtl_set_callbacks(&callbacks) == RTL_OK);
    start_and_work(100);
    for (;;) pause();
}

static void fork_inside(const struct rtl_kernel *kernels, size_t count, void *data) {
    pid_t child = fork();
    if (child == 0) return;
    wait_for_child(child);
    on_kernels(kernels, count, data);
}

static void try_fork_inside(void) {
    struct rtl_callbacks callbacks = callbacks_for(fork_inside);
    REQUIRE(rtl_set_callbacks(&callbacks) == RTL_OK);
    start_and_work(100);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 100);
}

/* By kind: the last name that callbacks were told of, and its number. */
static char names[RTL_NAME_STREAM + 1][64];
static uint64_t numbers[RTL_NAME_STREAM + 1];

static void on_names(const struct rtl_name *all, size_t count, void *data) {
    REQUIRE(data == &told);
    for (size_t at = 0; at < count; at++) {
        const struct rtl_name *name = &all[at];
        REQUIRE(strlen(name->text) == name->text_length && name->kind <= RTL_NAME_STREAM);
        snprintf(names[name->kind], sizeof names[0], "%s", name->text);
        numbers[name->kind] = name->number;
    }
}

static void on_named_kernels(const struct rtl_kernel *kernels, size_t count, void *data) {
    REQUIRE(strncmp(names[RTL_NAME_GPU_TARGET], "gfx", 3) == 0 && numbers[RTL_NAME_GPU_TARGET] == kernels[0].gpu);
    REQUIRE(names[RTL_NAME_THREAD][0] && numbers[RTL_NAME_THREAD] == kernels[0].tid);
    on_kernels(kernels, count, data);
}

static void try_names(void) {
    struct rtl_callbacks callbacks = callbacks_for(on_named_kernels);
    callbacks.names = on_names;
    REQUIRE(pthread_setname_np(pthread_self(), "as it was") == 0);
    REQUIRE(rtl_set_callbacks(&callbacks) == RTL_OK);
    start_and_work(10);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 10);
    REQUIRE(strcmp(names[RTL_NAME_THREAD], "as it was") == 0);
    REQUIRE(strlen(names[RTL_NAME_GPU_PCI]) == strlen("0000:83:00.0"));
    roctxNameOsThread("who launches");
    roctxNameHipStream("compute", &told);
    REQUIRE(rtl_flush(60000) == RTL_OK);
    REQUIRE(strcmp(names[RTL_NAME_THREAD], "who launches") == 0 && numbers[RTL_NAME_THREAD] == (uint64_t)gettid());
    REQUIRE(strcmp(names[RTL_NAME_STREAM], "compute") == 0 && numbers[RTL_NAME_STREAM] == (uintptr_t)&told);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "slow") == 0) try_slow();
    else if (strcmp(what, "stuck") == 0) try_stuck();
    else if (strcmp(what, "inside") == 0) try_inside();
    else if (strcmp(what, "exit_inside") == 0) try_exit_inside();
    else if (strcmp(what, "fork_inside") == 0) try_fork_inside();
    else if (strcmp(what, "names") == 0) try_names();
    else return 2;
    CHECK(hsa_queue_destroy(queue));
    end();
    printf("%s\n", what);
    return 0;
}
