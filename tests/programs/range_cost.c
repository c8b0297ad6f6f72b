/* What a pair of push and pop costs its process.
 *   range_cost HOW PAIRS TEXTS     HOW: as in roctx.h; TEXTS: how many different texts are used in turn
 *
 * In bursts with pauses in between, as a program has that does something else, too. REPORT has ns of CPU, a pair: of this
 * thread in the bursts, and of all other threads until a moment after the last of them. */
#define _GNU_SOURCE
#include "roctx.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BURST = 500, MOST_TEXTS = 100000 };

static double cpu(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

/* The thread's CPU in the bursts. */
static double run(long pairs, char (*texts)[32], long count) {
    double sum = 0;
    for (long burst = 0, text = 0; burst < pairs / BURST; burst++) {
        double before = cpu(CLOCK_THREAD_CPUTIME_ID);
        for (int at = 0; at < BURST; at++) {
            roctx.RangePushA(texts[text]);
            roctx.RangePop();
            if (++text == count) text = 0;
        }
        sum += cpu(CLOCK_THREAD_CPUTIME_ID) - before;
        usleep(500);
    }
    return sum;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    roctx_find(argv[1]);
    if (!roctx.RangePushA) return 3;
    long pairs = atol(argv[2]), count = atol(argv[3]);
    static char texts[MOST_TEXTS][32];
    if (count < 1 || count > MOST_TEXTS) return 2;
    for (long at = 0; at < count; at++) snprintf(texts[at], sizeof *texts, "layer%ld.attention.forward", at);
    run(pairs / 10, texts, count);
    usleep(200000);
    double before = cpu(CLOCK_PROCESS_CPUTIME_ID) - cpu(CLOCK_THREAD_CPUTIME_ID);
    double bursts = run(pairs, texts, count);
    usleep(200000);
    double others = cpu(CLOCK_PROCESS_CPUTIME_ID) - cpu(CLOCK_THREAD_CPUTIME_ID) - before;
    FILE *report = fopen(getenv("REPORT"), "w");
    if (!report) return 1;
    fprintf(report, "%.2f\t%.2f\n", bursts / pairs, others / pairs);
    return fclose(report);
}
