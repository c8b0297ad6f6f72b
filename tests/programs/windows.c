/* Windows of a recording: dispatches and ranges in turn while it is paused and while it is not.
 *   windows HOW ROUNDS [whole]      HOW: as in roctx.h
 *
 * Begins as RTL_START says, and resumes and pauses in turn for the whole process or for its only thread. REPORT has what is
 * to be recorded, as ranges.c has it; standard output, how many dispatches were not. */
#define _GNU_SOURCE
#include "hsa.h"
#include "roctx.h"
#include <time.h>

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int argc, char **argv) {
    REQUIRE(argc >= 4);
    roctx_find(argv[1]);
    REQUIRE(roctx.ProfilerPause && roctx.ProfilerResume);
    int rounds = atoi(argv[2]), missing = 0;
    uint64_t tid = 0;
    if (strcmp(argv[3], "thread") == 0) REQUIRE(roctx.GetThreadId(&tid) == 0);
    begin();
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    int is_paused = getenv("RTL_START") != NULL && strcmp(getenv("RTL_START"), "stopped") == 0;
    /* A range that is open through all windows, which is recorded where it begins in one. */
    roctx.RangePushA("all along");
    int is_recorded_all_along = !is_paused;
    for (int round = 0; round < rounds; round++) {
        char text[32];
        snprintf(text, sizeof text, "round %d", round);
        int64_t started = now();
        roctx.RangePushA(text);
        int64_t pushed = now();
        for (int at = 0; at < 5; at++) {
            /* Some with the program's own signals, which must come as ever. */
            hsa_signal_t signal = at % 2 ? signal_of(1) : at == 4 ? signal_of(2) : NONE;
            launch_t launched = launch(queue, alpha, signal);
            if (at == 4) {
                launch_t other = launch(queue, alpha, signal);
                missing += is_paused;
                if (!is_paused) {
                    report_untimed(other);
                    fprintf(report, "in\t%u\t%s\t%d\n", other.number, text, getpid());
                }
            }
            if (signal.handle) {
                REQUIRE(wait_for(signal) == 0);
                CHECK(hsa_signal_destroy(signal));
            }
            missing += is_paused;
            if (is_paused) continue;
            report_untimed(launched);
            fprintf(report, "in\t%u\t%s\t%d\n", launched.number, text, getpid());
        }
        drain(queue);
        int64_t popping = now();
        roctx.RangePop();
        if (!is_paused)
            fprintf(report, "push\t%d\t%s\t%ld\t%ld\t%ld\t%ld\n", getpid(), text, started, pushed, popping, now());
        is_paused = !is_paused;
        REQUIRE((is_paused ? roctx.ProfilerPause : roctx.ProfilerResume)(tid) == 0);
    }
    if (is_recorded_all_along) fprintf(report, "push\t%d\tall along\t0\t%ld\t0\t%ld\n", getpid(), now(), now() + 1000000000);
    roctx.RangePop();
    printf("%d\n", missing);
    CHECK(hsa_queue_destroy(queue));
    end();
    return 0;
}
