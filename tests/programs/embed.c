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
 *   fork        a child in the middle
 *   fork_first  children that start the runtime themselves, of which one registers
 *   exec        starts itself as `plain`
 *   plain       ten kernels, and nobody is told
 *   exit        leaves without a word
 *   leave       leaves without even exit; callbacks print how many kernels each is told of
 *
 * What is not as it should be ends it; standard output says what was found. */
#include "embed.h"
#include <spawn.h>

extern char **environ;

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
    /* A pointer that ends in the middle is none. */
    for (size_t size = offsetof(struct rtl_callbacks, barriers) + 1; size < sizeof callbacks; size++) {
        if (size % sizeof(void *) == 0) continue;
        callbacks.size = size;
        REQUIRE(rtl_set_callbacks(&callbacks) == RTL_ERROR_ARGUMENT);
    }
    struct rtl_counters counters = {.size = sizeof counters - 1, .barriers = {.seen = 77}};
    REQUIRE(rtl_get_counters(&counters) == RTL_ERROR_ARGUMENT && counters.barriers.seen == 77);
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
    else if (strcmp(what, "unreachable") == 0) try_unreachable();
    else if (strcmp(what, "late") == 0) try_late();
    else if (strcmp(what, "flush") == 0) try_flush();
    else if (strcmp(what, "stop") == 0) try_stop();
    else if (strcmp(what, "again") == 0) try_again();
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
