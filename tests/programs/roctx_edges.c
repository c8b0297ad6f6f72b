/* What a program does to roctx that it should not, and what it may: every value that roctx returns goes to standard
 * output.
 *   roctx_edges HOW WHAT      HOW: as in roctx.h; WHAT: usual, deep, many or fork */
#define _GNU_SOURCE
#include "roctx.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_key_t key;

static void at_thread_end(void *unused) {
    (void)unused;
    printf("in a destructor: %d", roctx.RangePushA("in a destructor"));
    printf(" %d\n", roctx.RangePop());
}

/* Leaves a range open, one that nobody stops, and does more as it ends. */
static void *leave_open(void *unused) {
    pthread_setspecific(key, &key);
    printf("in a thread: %d", roctx.RangePushA("never popped"));
    printf(" %d\n", roctx.RangePushA("popped"));
    printf("popped: %d\n", roctx.RangePop());
    printf("started: %d\n", roctx.RangeStartA("never stopped") > 0);
    return unused;
}

static void handle(int unused) {
    (void)unused;
    roctx.MarkA("in a signal handler");
    roctx.RangePushA("in a signal handler");
    roctx.RangePop();
}

/* What only the newer library has. */
static int has_more;

static void usual(void) {
    printf("nothing to pop: %d\n", roctx.RangePop());
    char *million = malloc(1000001);
    memset(million, 'm', 1000000);
    million[1000000] = 0;
    const char *texts[] = {"plain", NULL, "", "caf\xe9", million, "plain"};
    enum { COUNT = sizeof texts / sizeof *texts };
    for (int at = 0; at < COUNT; at++) printf("push: %d\n", roctx.RangePushA(texts[at]));
    roctx.MarkA(NULL);
    roctx.MarkA(million);
    for (int at = 0; at < COUNT; at++) printf("pop: %d\n", roctx.RangePop());
    printf("nothing to pop: %d\n", roctx.RangePop());

    uint64_t first = roctx.RangeStartA("first"), second = roctx.RangeStartA("second");
    printf("ids: %lu %lu\n", first, second);
    roctx.RangeStop(first);
    roctx.RangeStop(first);
    roctx.RangeStop(second);
    roctx.RangeStop(0);
    roctx.RangeStop(1000000);

    pthread_t thread;
    pthread_key_create(&key, at_thread_end);
    if (pthread_create(&thread, NULL, leave_open, NULL) != 0) exit(1);
    pthread_join(thread, NULL);

    signal(SIGUSR1, handle);
    printf("around a signal: %d", roctx.RangePushA("around a signal"));
    raise(SIGUSR1);
    printf(" %d\n", roctx.RangePop());

    if (has_more) {
        uint64_t tid;
        printf("names: %d", roctx.NameOsThread("the first thread"));
        uint64_t agent = 77;
        printf(" %d", roctx.NameHsaAgent("an agent", &agent));
        printf(" %d %d\n", roctx.NameHipDevice("a device", 3), roctx.NameHipStream("a stream", &agent));
        printf("own tid: %d %d\n", roctx.GetThreadId(&tid), tid == (uint64_t)gettid());
        printf("pause: %d %d\n", roctx.ProfilerPause(0), roctx.ProfilerPause(0));
        roctx.RangePushA("paused");
        printf("resume: %d %d\n", roctx.ProfilerResume(0), roctx.ProfilerResume(0));
        roctx.MarkA("within a range that is not recorded");
        roctx.RangePop();
        printf("pause this thread: %d", roctx.ProfilerPause(tid));
        roctx.MarkA("paused");
        printf(" %d\n", roctx.ProfilerResume(tid));
    }
    roctx.MarkA("last");
}

static void deep(void) {
    int level = 0;
    for (int at = 0; at < 3000; at++) level = roctx.RangePushA("deep");
    printf("%d\n", level);
    for (int at = 0; at < 3000; at++) level = roctx.RangePop();
    printf("%d %d\n", level, roctx.RangePop());
}

/* More texts than are kept. */
static void many(void) {
    char text[32];
    for (int at = 0; at < 140000; at++) {
        snprintf(text, sizeof text, "text %d", at);
        roctx.MarkA(text);
        /* As fast as a recorder that has little of the machine. */
        if (at % 50 == 0) usleep(1000);
    }
}

/* A child has its parent's levels, and its own recording. */
static void in_fork(void) {
    printf("%d\n", roctx.RangePushA("of the parent"));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("%d", roctx.RangePushA("of the child"));
        printf(" %d", roctx.RangePop());
        printf(" %d", roctx.RangePop());
        printf(" %d\n", roctx.RangePop());
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("%d %d\n", status, roctx.RangePop());
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    roctx_find(argv[1]);
    if (!roctx.RangePushA) return 3;
    has_more = strstr(argv[1], "sdk") != NULL;
    if (strcmp(argv[2], "usual") == 0) usual();
    if (strcmp(argv[2], "deep") == 0) deep();
    if (strcmp(argv[2], "many") == 0) many();
    if (strcmp(argv[2], "fork") == 0) in_fork();
    return 0;
}
