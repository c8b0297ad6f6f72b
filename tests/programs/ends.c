/* Processes that end without a word to the runtime, with kernels done, running and waiting.
 *   ends DISPATCHES HOW      HOW: return, exit, quick, now, abort, kill, thread, fork or hang
 * It ends when its standard input does. */
#include "hsa.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static void *leave(void *unused) {
    (void)unused;
    exit(7);
}

/* With `hangs` the second half waits behind a kernel beta, which the test lets run for ever. */
static void some_work(int dispatches, int hangs) {
    hsa_executable_t executable = load(0);
    kernel_t alpha = kernel_of(executable, 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    for (int at = 0; at < dispatches; at++) report_untimed(launch(queue, alpha, at % 2 ? signal_of(1) : NONE));
    drain(queue);
    if (hangs) report_untimed(launch(queue, kernel_of(executable, 0, "beta"), NONE));
    for (int at = 0; at < dispatches; at++) report_untimed(launch(queue, alpha, at % 2 ? signal_of(1) : NONE));
    fflush(report);
}

int main(int argc, char **argv) {
    int dispatches = argc > 1 ? atoi(argv[1]) : 1;
    const char *how = argc > 2 ? argv[2] : "return";
    begin();
    some_work(dispatches, strcmp(how, "hang") == 0);
    puts("this line is printed");
    while (getchar() != EOF) {}
    if (strcmp(how, "exit") == 0 || strcmp(how, "hang") == 0) exit(7);
    if (strcmp(how, "quick") == 0) {
        fflush(stdout);
        quick_exit(7);
    }
    if (strcmp(how, "now") == 0) {
        fflush(stdout);
        _exit(7);
    }
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(how, "thread") == 0) {
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, leave, NULL) == 0);
        pthread_join(thread, NULL);
    }
    if (strcmp(how, "fork") == 0) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            fputs("the child ends\n", stdout);
            exit(3);
        }
        int status;
        REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    }
    return 0;
}
