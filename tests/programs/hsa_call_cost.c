/* What calls of HSA cost their process that it makes again and again:
 *   hsa_call_cost CALLS
 *
 * In bursts with pauses in between, as a program has that does something else, too. REPORT has a line for each function,
 * between tabs: its name, and ns of CPU a call, of this thread in the bursts and of all other threads until a moment after the
 * last of them. */
#define _GNU_SOURCE
#include "hsa.h"

#include <time.h>

enum { BURST = 500 };

static hsa_signal_t zero;
static hsa_queue_t *queue;

static void load_signal(void) { hsa_signal_load_relaxed(zero); }
static void index_of(void) { hsa_queue_load_read_index_scacquire(queue); }
static void wait_none(void) { wait_for(zero); }
static void ask(void) {
    uint32_t size;
    CHECK(hsa_agent_get_info(gpus[0], HSA_AGENT_INFO_WAVEFRONT_SIZE, &size));
}

static double spent(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

/* The thread's CPU in the bursts. */
static double run(void (*call)(void), long calls) {
    double sum = 0;
    for (long burst = 0; burst < calls / BURST; burst++) {
        double before = spent(CLOCK_THREAD_CPUTIME_ID);
        for (int at = 0; at < BURST; at++) call();
        sum += spent(CLOCK_THREAD_CPUTIME_ID) - before;
        usleep(500);
    }
    return sum;
}

static void measure(const char *name, void (*call)(void), long calls) {
    run(call, calls / 10);
    usleep(200000);
    double before = spent(CLOCK_PROCESS_CPUTIME_ID) - spent(CLOCK_THREAD_CPUTIME_ID);
    double bursts = run(call, calls);
    usleep(200000);
    double others = spent(CLOCK_PROCESS_CPUTIME_ID) - spent(CLOCK_THREAD_CPUTIME_ID) - before;
    fprintf(report, "%s\t%.2f\t%.2f\n", name, bursts / calls, others / calls);
}

int main(int argc, char **argv) {
    long calls = argc > 1 ? atol(argv[1]) : BURST;
    begin();
    zero = signal_of(0);
    queue = queue_of(0, QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI);
    measure("hsa_signal_load_relaxed", load_signal, calls);
    measure("hsa_queue_load_read_index_scacquire", index_of, calls);
    measure("hsa_signal_wait_scacquire", wait_none, calls);
    measure("hsa_agent_get_info", ask, calls);
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_signal_destroy(zero));
    end();
    return 0;
}
