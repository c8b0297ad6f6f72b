/* Threads that nest ranges as it comes, launch kernels in them, and say what they did.
 *   ranges HOW THREADS STEPS [no_gpu]     HOW: as in roctx.h
 *
 * Every level and every id that roctx returns is checked. REPORT has, besides hsa.h's lines:
 *
 *   push   TID  TEXT  START  START  END  END      a range, and the moments before and after each of its calls
 *   start  TID  TEXT  START  START  END  END      one that any thread could end, which TID began
 *   mark   TID  TEXT  TIME  TIME
 *   in     NUMBER  TEXT  TID                      a dispatch, and the innermost range of its thread, - for none
 *
 * in ns of CLOCK_BOOTTIME. Each text occurs once. */
#define _GNU_SOURCE
#include "hsa.h"
#include "roctx.h"
#include <pthread.h>
#include <time.h>

enum { MOST_THREADS = 16, MOST_OPEN = 64, AT_ONCE = 16 };

typedef struct {
    uint64_t id;
    int tid;
    char text[48];
    int64_t before, after;
} range_t;

/* One for each thread: whoever rings a doorbell submits what others have put there, too. */
static hsa_queue_t *queues[MOST_THREADS];
static kernel_t alpha;
static int steps, is_without_gpu;
/* Started and not stopped, by whatever thread. */
static range_t started[MOST_OPEN];
static int started_count;
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void report_range(const char *kind, const range_t *range, int64_t before, int64_t after) {
    fprintf(report, "%s\t%d\t%s\t%ld\t%ld\t%ld\t%ld\n", kind, range->tid, range->text, range->before, range->after,
            before, after);
}

static void mark(const char *text) {
    int64_t before = now();
    if (roctx.MarkA) roctx.MarkA(text);
    fprintf(report, "mark\t%d\t%s\t%ld\t%ld\n", gettid(), text, before, now());
}

static void start(const char *text) {
    range_t range = {.tid = gettid(), .before = now()};
    strcpy(range.text, text);
    range.id = roctx.RangeStartA ? roctx.RangeStartA(text) : 1;
    range.after = now();
    REQUIRE(range.id > 0);
    pthread_mutex_lock(&shared);
    for (int at = 0; at < started_count; at++) REQUIRE(!roctx.RangeStartA || started[at].id != range.id);
    started[started_count++] = range;
    pthread_mutex_unlock(&shared);
}

static void stop(unsigned which) {
    range_t range = {0};
    pthread_mutex_lock(&shared);
    if (started_count > 0) {
        which %= started_count;
        range = started[which];
        started[which] = started[--started_count];
    }
    pthread_mutex_unlock(&shared);
    if (range.tid == 0) return;
    int64_t before = now();
    if (roctx.RangeStop) roctx.RangeStop(range.id);
    report_range("start", &range, before, now());
}

static void push(range_t *open, int *depth, const char *text) {
    range_t *range = &open[*depth];
    range->tid = gettid();
    strcpy(range->text, text);
    range->before = now();
    REQUIRE(!roctx.RangePushA || roctx.RangePushA(text) == *depth);
    range->after = now();
    ++*depth;
}

static void pop(range_t *open, int *depth) {
    if (*depth == 0) {
        REQUIRE(!roctx.RangePop || roctx.RangePop() == -1);
        return;
    }
    --*depth;
    int64_t before = now();
    REQUIRE(!roctx.RangePop || roctx.RangePop() == *depth);
    report_range("push", &open[*depth], before, now());
}

static void *work(void *number) {
    unsigned seed = 1 + (unsigned)(uintptr_t)number;
    hsa_queue_t *queue = queues[(uintptr_t)number];
    range_t open[MOST_OPEN];
    int depth = 0, in_flight = 0;
    for (int step = 0; step < steps; step++) {
        char text[48];
        snprintf(text, sizeof text, "%ju: step %d \xc3\xa4", (uintmax_t)(uintptr_t)number, step);
        switch (rand_r(&seed) % 8) {
        case 0: case 1: if (depth < MOST_OPEN / 2) push(open, &depth, text); break;
        case 2: case 3: pop(open, &depth); break;
        case 4: mark(text); break;
        /* Each thread adds at most one at a time, so the array is never full. */
        case 5: if (started_count < MOST_OPEN - MOST_THREADS) start(text); break;
        case 6: stop((unsigned)rand_r(&seed)); break;
        default:
            if (is_without_gpu) break;
            launch_t launched = launch(queue, alpha, NONE);
            pthread_mutex_lock(&shared);
            report_untimed(launched);
            fprintf(report, "in\t%u\t%s\t%d\n", launched.number, depth ? open[depth - 1].text : "-", gettid());
            pthread_mutex_unlock(&shared);
            if (++in_flight % AT_ONCE == 0) drain(queue);
        }
    }
    while (depth > 0) pop(open, &depth);
    return NULL;
}

int main(int argc, char **argv) {
    REQUIRE(argc >= 4);
    int threads = atoi(argv[2]);
    steps = atoi(argv[3]);
    is_without_gpu = argc > 4;
    REQUIRE(threads <= MOST_THREADS);
    roctx_find(argv[1]);
    if (is_without_gpu) {
        report = fopen(getenv("REPORT"), "w");
        REQUIRE(report);
    } else {
        /* Ranges come before the runtime, too. */
        range_t before[1];
        int depth = 0;
        push(before, &depth, "before the runtime");
        begin();
        pop(before, &depth);
        alpha = kernel_of(load(0), 0, "alpha");
        for (int at = 0; at < threads; at++) queues[at] = timed_queue(0);
    }
    pthread_t running[MOST_THREADS];
    for (uintptr_t at = 0; at < (uintptr_t)threads; at++)
        REQUIRE(pthread_create(&running[at], NULL, work, (void *)at) == 0);
    for (int at = 0; at < threads; at++) REQUIRE(pthread_join(running[at], NULL) == 0);
    while (started_count > 0) stop(0);
    if (is_without_gpu) {
        fflush(report);
    } else {
        for (int at = 0; at < threads; at++) {
            drain(queues[at]);
            CHECK(hsa_queue_destroy(queues[at]));
        }
        end();
    }
    return 0;
}
