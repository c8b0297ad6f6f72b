/* Processes that end with kernels done, running and waiting, and without a word to the runtime.
 *   ends DISPATCHES HOW      HOW: one of ways.h; fork; hang; or callback
 * It ends when its standard input does. */
#include "hsa.h"
#include "ways.h"
#include <sys/wait.h>

static void launch_all(hsa_queue_t *queue, kernel_t kernel, int dispatches) {
    for (int at = 0; at < dispatches; at++) {
        /* Debian's runtime 5.2.3 asserts when an intercepted queue is full and gets more. */
        if (at % (QUEUE_PACKETS / 2) == QUEUE_PACKETS / 2 - 1) drain(queue);
        report_untimed(launch(queue, kernel, at % 2 ? signal_of(1) : NONE));
    }
}

/* With `hangs` the second half waits behind a kernel beta, which the test lets run for ever. */
static void some_work(int dispatches, int hangs) {
    hsa_executable_t executable = load(0);
    kernel_t alpha = kernel_of(executable, 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    launch_all(queue, alpha, dispatches);
    drain(queue);
    if (hangs) report_untimed(launch(queue, kernel_of(executable, 0, "beta"), NONE));
    launch_all(queue, alpha, dispatches);
    fflush(report);
}

static hsa_status_t throw_at_an_agent(hsa_agent_t agent, void *unused) {
    (void)agent, (void)unused;
    throw_seven();
    return HSA_STATUS_SUCCESS;
}

static void fork_once(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        fputs("the child ends\n", stdout);
        exit(3);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

int main(int argc, char **argv) {
    int dispatches = argc > 1 ? atoi(argv[1]) : 1;
    const char *how = argc > 2 ? argv[2] : "return";
    int hangs = strcmp(how, "hang") == 0;
    begin();
    prepare_to_end(how);
    some_work(dispatches, hangs);
    puts("this line is printed");
    while (getchar() != EOF) {}
    if (strcmp(how, "fork") == 0) fork_once();
    if (strcmp(how, "callback") == 0) {
        fflush(stdout);
        printf("%#x\n", hsa_iterate_agents(throw_at_an_agent, NULL));
    }
    return leave(hangs ? "exit" : how);
}
