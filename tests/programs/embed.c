/* A program that is linked to librtl.so and gets records itself:
 *   embed WHAT
 *
 * WHAT is one of
 *   arguments   registrations that are refused, and the one that is not
 *   older       a program that knows less than the library
 *   newer       one that knows more, and does without
 *   unreachable registers where the runtime cannot load the library
 *   late        registers when the runtime runs
 *   flush       waits for records again and again, once while a kernel does not end
 *   stop        kernels before and after the end of the recording, and in another life of the runtime
 *   again       two lives of the runtime
 *   slow        a callback that does not return while 400,000 kernels run
 *   stuck       a callback that does not return in time
 *   inside      callbacks that use the GPU and ranges themselves
 *   exit_inside a callback that ends the process
 *   fork_inside a callback that forks, and returns in the child too
 *   names       what GPUs, threads and streams are called
 *   fork        a child in the middle
 *   fork_first  children that start the runtime themselves, of which one registers
 *   exec        starts itself as `plain`
 *   plain       ten kernels, and nobody is told
 *   exit        leaves without a word
 *   leave       leaves without even exit; callbacks print how many kernels each is told of
 *
 * What is not as it should be ends it; standard output says what was found. */
#define _GNU_SOURCE
#include "../../include/rtl.h"
#include "hsa.h"
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/wait.h>

int roctxRangePushA(const char *text);
int roctxRangePop(void);
int roctxNameOsThread(const char *name);
int roctxNameHipStream(const char *name, const void *stream);

extern char **environ;

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

static void try_arguments(void) {
    struct rtl_callbacks callbacks = {.size = sizeof callbacks};
    REQUIRE(rtl_set_callbacks(NULL) == RTL_ERROR_ARGUMENT);
    REQUIRE(rtl_set_callbacks(&callbacks) == RTL_ERROR_ARGUMENT);
    callbacks.kernels = on_kernels;
    callbacks.data = &told;
    for (size_t size = 0; size < offsetof(struct rtl_callbacks, barriers); size++) {
        callbacks.size = size;
        REQUIRE(rtl_set_callbacks(&callbacks) == RTL_ERROR_ARGUMENT);
    }
    callbacks.size = (size_t)-1;
    REQUIRE(rtl_set_callbacks(&callbacks) == RTL_ERROR_ARGUMENT);
    callbacks.size = sizeof callbacks;
    callbacks.options = 1u << 31;
    REQUIRE(rtl_set_callbacks(&callbacks) == RTL_ERROR_UNSUPPORTED);
    callbacks.options = 0;
    callbacks.mode = "fast";
    REQUIRE(rtl_set_callbacks(&callbacks) == RTL_ERROR_ARGUMENT);
    REQUIRE(rtl_get_counters(NULL) == RTL_ERROR_ARGUMENT);
    REQUIRE(counters_now().kernels.seen == 0);
    REQUIRE(rtl_flush(0) == RTL_OK);
    callbacks.mode = NULL;
    REQUIRE(rtl_set_callbacks(&callbacks) == RTL_OK);
    REQUIRE(rtl_set_callbacks(&callbacks) == RTL_ERROR_REGISTERED);
    for (int status = RTL_OK; status <= RTL_ERROR_UNSUPPORTED + 1; status++)
        printf("%d\t%s\n", status, rtl_status_text((rtl_status)status));
    /* RTL_MODE says standard. */
    start_and_work(10);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 10);
}

static void try_older(void) {
    struct rtl_callbacks callbacks = callbacks_for(on_kernels);
    callbacks.size = offsetof(struct rtl_callbacks, barriers);
    /* Whatever lies behind what it knows of is not read. */
    memset((char *)&callbacks + callbacks.size, 0xff, sizeof callbacks - callbacks.size);
    REQUIRE(rtl_set_callbacks(&callbacks) == RTL_OK);
    start_and_work(10);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 10);
    struct rtl_counters counters = {.size = offsetof(struct rtl_counters, barriers), .barriers = {.seen = 77}};
    REQUIRE(rtl_get_counters(&counters) == RTL_OK && counters.kernels.delivered == 10);
    REQUIRE(counters.size == offsetof(struct rtl_counters, barriers) && counters.barriers.seen == 77);
}

static void try_newer(void) {
    struct {
        struct rtl_callbacks known;
        void (*another)(void);
    } callbacks = {.known = callbacks_for(on_kernels), .another = abort};
    callbacks.known.size = sizeof callbacks;
    REQUIRE(rtl_set_callbacks(&callbacks.known) == RTL_ERROR_UNSUPPORTED);
    callbacks.another = NULL;
    REQUIRE(rtl_set_callbacks(&callbacks.known) == RTL_OK);
    start_and_work(10);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 10);
    struct {
        struct rtl_counters known;
        uint64_t another;
    } counters = {.another = 77};
    counters.known.size = sizeof counters;
    REQUIRE(rtl_get_counters(&counters.known) == RTL_OK && counters.known.kernels.delivered == 10);
    REQUIRE(counters.another == 77);
}

static void try_unreachable(void) {
    printf("%s\n", rtl_status_text(set_callbacks()));
    start_and_work(10);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 0);
}

static void try_late(void) {
    start();
    printf("%s\n", rtl_status_text(set_callbacks()));
    work(10);
    REQUIRE(rtl_flush(1000) == RTL_OK && told_now() == 0);
}

static void try_flush(void) {
    REQUIRE(set_callbacks() == RTL_OK);
    start();
    for (size_t round = 1; round <= 20; round++) {
        work(50);
        REQUIRE(rtl_flush(60000) == RTL_OK);
        REQUIRE(told_now() == 50 * round);
        struct rtl_counts kernels = counters_now().kernels;
        REQUIRE(kernels.seen == 50 * round && kernels.delivered == 50 * round && kernels.lost == 0);
    }
    /* One that waits, and one on another queue that does not. */
    hsa_signal_t held = signal_of(1), ended = signal_of(1);
    hsa_queue_t *other = timed_queue(0);
    hsa_barrier_and_packet_t barrier = barrier_packet(held, NONE);
    submit(other, &barrier);
    launch(other, alpha, ended);
    work(1);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 1001);
    hsa_signal_store_screlease(held, 0);
    REQUIRE(wait_for(ended) == 0);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 1002);
    CHECK(hsa_queue_destroy(other));
}

static void try_stop(void) {
    REQUIRE(set_callbacks() == RTL_OK);
    start_and_work(100);
    REQUIRE(ended_now() == 0);
    REQUIRE(rtl_stop(60000) == RTL_OK && told_now() == 100);
    REQUIRE(ended_now() == 1 && delivered == 100);
    work(100);
    roctxRangePushA("nobody is told");
    roctxRangePop();
    REQUIRE(rtl_flush(60000) == RTL_OK && rtl_stop(60000) == RTL_OK && told_now() == 100);
    REQUIRE(counters_now().kernels.delivered == 100);
    REQUIRE(set_callbacks() == RTL_ERROR_REGISTERED);
}

static void try_again(void) {
    REQUIRE(set_callbacks() == RTL_OK);
    start_and_work(100);
    CHECK(hsa_queue_destroy(queue));
    end();
    REQUIRE(told_now() == 100 && ended_now() == 1 && delivered == 100);
    gpu_count = 0;
    start_and_work(50);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 150);
    REQUIRE(counters_now().kernels.delivered == 50);
}

static void try_slow(void) {
    const uint64_t kernels = 400000;
    sem_init(&may_return, 0, 0);
    waits = 1;
    REQUIRE(set_callbacks() == RTL_OK);
    start_and_work((int)kernels);
    REQUIRE(told_now() == 0 && rtl_flush(50) == RTL_ERROR_TIMEOUT);
    struct rtl_counts counts = counters_now().kernels;
    REQUIRE(counts.seen == kernels && counts.delivered == 0 && counts.lost_behind > 0);
    __atomic_store_n(&waits, 0, __ATOMIC_RELEASE);
    sem_post(&may_return);
    REQUIRE(rtl_flush(60000) == RTL_OK);
    counts = counters_now().kernels;
    REQUIRE(counts.seen == kernels && counts.delivered == told_now() && counts.delivered >= 262144);
    REQUIRE(counts.lost == counts.lost_behind && counts.delivered + counts.lost == kernels);
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

static void wait_for_child(pid_t child) {
    int status;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    if (status != 0) fprintf(stderr, "the child ended with %#x\n", status);
    REQUIRE(status == 0);
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

static void try_fork(void) {
    REQUIRE(set_callbacks() == RTL_OK);
    start_and_work(100);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 100);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        roctxRangePushA("nobody is told");
        roctxRangePop();
        REQUIRE(counters_now().kernels.seen == 0);
        REQUIRE(rtl_flush(0) == RTL_OK && rtl_stop(0) == RTL_OK && told_now() == 100);
        exit(0);
    }
    wait_for_child(child);
    work(100);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 200);
}

static void try_fork_first(void) {
    REQUIRE(set_callbacks() == RTL_OK);
    for (int registers = 0; registers < 2; registers++) {
        pid_t child = fork();
        if (child == 0) {
            if (registers) REQUIRE(set_callbacks() == RTL_OK);
            start_and_work(100);
            REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == (registers ? 100 : 0));
            end();
            exit(0);
        }
        wait_for_child(child);
    }
    start_and_work(100);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 100);
}

static void try_exec(char *program) {
    REQUIRE(set_callbacks() == RTL_OK);
    char *arguments[] = {program, "plain", NULL};
    pid_t child;
    /* By its own name: where another loader than the system's has started it, the child is started by the system's. */
    REQUIRE(posix_spawn(&child, program, NULL, NULL, arguments, environ) == 0);
    wait_for_child(child);
    start_and_work(10);
    REQUIRE(rtl_flush(60000) == RTL_OK && told_now() == 10);
}

static void at_exit(void) {
    printf("%zu at the end, told %d times\n", told_now(), ended_now());
}

static void try_exit(void) {
    atexit(at_exit);
    REQUIRE(set_callbacks() == RTL_OK);
    start_and_work(100);
    exit(0);
}

static void try_leave(void) {
    prints = 1;
    REQUIRE(set_callbacks() == RTL_OK);
    start_and_work(100);
    _exit(0);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "arguments") == 0) try_arguments();
    else if (strcmp(what, "older") == 0) try_older();
    else if (strcmp(what, "newer") == 0) try_newer();
    else if (strcmp(what, "inside") == 0) try_inside();
    else if (strcmp(what, "exit_inside") == 0) try_exit_inside();
    else if (strcmp(what, "fork_inside") == 0) try_fork_inside();
    else if (strcmp(what, "names") == 0) try_names();
    else if (strcmp(what, "unreachable") == 0) try_unreachable();
    else if (strcmp(what, "late") == 0) try_late();
    else if (strcmp(what, "flush") == 0) try_flush();
    else if (strcmp(what, "stop") == 0) try_stop();
    else if (strcmp(what, "again") == 0) try_again();
    else if (strcmp(what, "slow") == 0) try_slow();
    else if (strcmp(what, "stuck") == 0) try_stuck();
    else if (strcmp(what, "fork") == 0) try_fork();
    else if (strcmp(what, "fork_first") == 0) try_fork_first();
    else if (strcmp(what, "exec") == 0) try_exec(argv[0]);
    else if (strcmp(what, "plain") == 0) start_and_work(10);
    else if (strcmp(what, "exit") == 0) try_exit();
    else if (strcmp(what, "leave") == 0) try_leave();
    else return 2;
    CHECK(hsa_queue_destroy(queue));
    end();
    printf("%s\n", what);
    return 0;
}
