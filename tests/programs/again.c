/* The runtime is shut down and started again.
 *   again LIFE...      LIFE: how many dispatches there are in it, 0 for a life in which nobody asks for a queue; or fork:
 *                      the lives that follow are those of a child
 * A child reports nothing; its exit code is the process' own. */
#include "hsa.h"
#include <sys/wait.h>

static void live(int dispatches) {
    CHECK(hsa_init());
    gpu_count = 0;
    CHECK(hsa_iterate_agents(remember_agent, NULL));
    REQUIRE(gpu_count > 0);
    if (dispatches > 0) {
        hsa_executable_t executable = load(0);
        kernel_t alpha = kernel_of(executable, 0, "alpha");
        hsa_queue_t *queue = timed_queue(0);
        for (int at = 0; at < dispatches; at++) report_untimed(launch(queue, alpha, NONE));
        drain(queue);
        CHECK(hsa_queue_destroy(queue));
        CHECK(hsa_executable_destroy(executable));
    }
    CHECK(hsa_shut_down());
}

int main(int argc, char **argv) {
    const char *path = getenv("REPORT");
    report = fopen(path ? path : "/dev/null", "w");
    REQUIRE(report);
    for (int at = 1; at < argc; at++) {
        if (strcmp(argv[at], "fork") != 0) {
            live(atoi(argv[at]));
            continue;
        }
        fflush(report);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child > 0) {
            int status;
            REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status));
            return WEXITSTATUS(status);
        }
        report = fopen("/dev/null", "w");
        REQUIRE(report);
    }
    fflush(report);
    return 0;
}
