/* A process and its children, step by step:
 *   forks STEP...
 *
 *   begin end        the runtime is started with a queue, and shut down
 *   work             dispatches that are waited for
 *   submit drain     dispatches that are left in the queue, and the wait for all that are in it
 *   threads join     threads that submit and use ranges all the time, and their end
 *   range            a range and a marker of roctx
 *   calls            calls of the runtime that a child has inherited, and what it answers
 *   user             it becomes nobody, where it is root
 *   root             where it is root, its root directory becomes one without anything else
 *   recorded         the file that RTL_OUTPUT names is waited for, where a tool is loaded
 *   secure           whether the program has rights that its caller has not
 *   exit _exit       the process ends
 *   true self        it becomes another program without a GPU; itself with: begin range work end
 *   nowhere          it cannot become a program that is not there
 *   fork=STEPS       a child does these, with commas between them, and is waited for; a line says how it ended
 *   clone=STEPS      the same by the bare system call, of which no library is told
 *   vfork spawn      a child that becomes this program with: begin range work end
 *   storm=COUNT      so many children one after the other, which end in different ways at once
 *   late=STEPS       a grandchild does these when its parent and this process have ended
 *
 * A program that was started by a loader of its own is started again by that loader. A child that hangs is killed. */
#define _GNU_SOURCE
#include "hsa.h"
#include "roctx.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { AT_ONCE = 20, THREADS = 4, MOST_WORDS = 64, NOBODY = 65534 };

/* What hangs; far more than anything here takes on a busy machine. */
enum { SECONDS = 240 };

extern char **environ;

static hsa_queue_t *queue;
static hsa_executable_t executable;
static kernel_t alpha;
static pthread_t running[THREADS];
static volatile int is_over;

static void step(char *what);

static void start(void) {
    gpu_count = 0;
    begin();
    executable = load(0);
    alpha = kernel_of(executable, 0, "alpha");
    queue = timed_queue(0);
}

static void shut_down(void) {
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_executable_destroy(executable));
    end();
}

static void submit_some(void) {
    for (int at = 0; at < AT_ONCE; at++) launch(queue, alpha, NONE);
}

static void *submit_all_the_time(void *unused) {
    while (!is_over) {
        if (roctx.RangePushA) roctx.RangePushA("of a thread");
        for (int at = 0; at < 8; at++) launch(queue, alpha, NONE);
        drain(queue);
        if (roctx.RangePop) roctx.RangePop();
    }
    return unused;
}

static void start_threads(void) {
    is_over = 0;
    for (int at = 0; at < THREADS; at++) REQUIRE(pthread_create(&running[at], NULL, submit_all_the_time, NULL) == 0);
}

static void join_threads(void) {
    is_over = 1;
    for (int at = 0; at < THREADS; at++) REQUIRE(pthread_join(running[at], NULL) == 0);
}

static void range(void) {
    if (!roctx.RangePushA) return;
    roctx.RangePushA("range");
    roctx.MarkA("marker");
    roctx.RangePop();
}

static void print(const char *what, long result) {
    printf("%s\t%#lx\n", what, result);
    fflush(stdout);
}

/* What the runtime answers in a child that has not started it itself. */
static void call(void) {
    hsa_signal_t signal = NONE;
    hsa_queue_t *another;
    print("init", hsa_init());
    print("signal", hsa_signal_create(1, 0, NULL, &signal));
    hsa_signal_store_screlease(signal, 0);
    print("value", hsa_signal_load_relaxed(signal));
    print("signal destroyed", hsa_signal_destroy(signal));
    print("queue", hsa_queue_create(gpus[0], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &another));
    print("shut down", hsa_shut_down());
}

static void become_nobody(void) {
    if (geteuid() != 0) return;
    REQUIRE(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
}

static void change_root(void) {
    if (geteuid() != 0) return;
    char folder[] = "/tmp/root_XXXXXX";
    REQUIRE(mkdtemp(folder) && chdir(folder) == 0 && rmdir(folder) == 0 && chroot(".") == 0);
}

static void wait_for_file(void) {
    if (!getenv("HSA_TOOLS_LIB")) return;
    while (access(getenv("RTL_OUTPUT"), F_OK) != 0) usleep(1000);
}

/* The words that this program was started with, and steps of its own. */
static char **words_of_self(void) {
    static char line[1 << 14], *words[MOST_WORDS];
    static char *const steps[] = {"begin", "range", "work", "end", NULL};
    int file = open("/proc/self/cmdline", O_RDONLY), count = 0;
    ssize_t length = read(file, line, sizeof line - 1);
    close(file);
    for (char *word = line; word < line + length && count < MOST_WORDS / 2; word += strlen(word) + 1) {
        words[count++] = word;
        if (strcmp(word, program_invocation_name) == 0) break;
    }
    memcpy(&words[count], steps, sizeof steps);
    return words;
}

static void become(char *const *words) {
    execv(words[0], words);
    _exit(126);
}

/* How a child ended. */
static void wait_for_child(const char *how, pid_t child) {
    int status;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    printf("%s\t%s %d\n", how, WIFEXITED(status) ? "exit" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    fflush(stdout);
}

static void do_all(char *steps) {
    alarm(SECONDS);
    char *rest;
    for (char *word = strtok_r(steps, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) step(word);
}

static void fork_and(char *steps) {
    pid_t child = fork();
    if (child == 0) {
        do_all(steps);
        _exit(0);
    }
    wait_for_child("fork", child);
}

static void clone_and(char *steps) {
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        do_all(steps);
        _exit(0);
    }
    wait_for_child("clone", child);
}

static void vfork_and_become(void) {
    char *const *words = words_of_self();
    pid_t child = vfork();
    if (child == 0) become(words);
    wait_for_child("vfork", child);
}

static void spawn(void) {
    char *const *words = words_of_self();
    pid_t child;
    REQUIRE(posix_spawn(&child, words[0], NULL, NULL, words, environ) == 0);
    wait_for_child("spawn", child);
}

static void storm(int count) {
    static const char *const ends[] = {"_exit", "exit", "range,exit", "range,_exit", "true"};
    for (int at = 0; at < count; at++) {
        usleep((unsigned)(rand() % 2000));
        char steps[32];
        strcpy(steps, ends[at % 5]);
        pid_t child = fork();
        if (child == 0) do_all(steps);
        int status;
        REQUIRE(waitpid(child, &status, 0) == child);
        if (status != 0) printf("%d of the storm (%s): %#x\n", at, ends[at % 5], (unsigned)status);
    }
}

/* The grandchild waits for the end of the pipe, which this process holds as long as it lives. */
static void outlive(char *steps) {
    int ends[2];
    char nothing;
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    pid_t child = fork();
    if (child == 0) {
        setsid();
        close(ends[1]);
        if (fork() > 0) _exit(0);
        REQUIRE(read(ends[0], &nothing, 1) == 0);
        do_all(steps);
        exit(0);
    }
    wait_for_child("late", child);
}

static void step(char *what) {
    char *steps = strchr(what, '=');
    if (steps) *steps++ = 0;
#define IS(name) (strcmp(what, name) == 0)
    if (IS("begin")) start();
    else if (IS("end")) shut_down();
    else if (IS("work")) submit_some(), drain(queue);
    else if (IS("submit")) submit_some();
    else if (IS("drain")) drain(queue);
    else if (IS("threads")) start_threads();
    else if (IS("join")) join_threads();
    else if (IS("range")) range();
    else if (IS("calls")) call();
    else if (IS("user")) become_nobody();
    else if (IS("root")) change_root();
    else if (IS("recorded")) wait_for_file();
    else if (IS("secure")) print("secure", (long)getauxval(AT_SECURE));
    else if (IS("exit")) exit(0);
    else if (IS("_exit")) _exit(0);
    else if (IS("true")) become((char *[]){"/bin/true", NULL});
    else if (IS("nowhere")) REQUIRE(execl("/nowhere/at/all", "all", NULL) == -1 && errno == ENOENT);
    else if (IS("self")) become(words_of_self());
    else if (IS("fork")) fork_and(steps);
    else if (IS("clone")) clone_and(steps);
    else if (IS("vfork")) vfork_and_become();
    else if (IS("spawn")) spawn();
    else if (IS("storm")) storm(atoi(steps));
    else if (IS("late")) outlive(steps);
    else REQUIRE(!"a step");
}

int main(int argc, char **argv) {
    /* Only one of the processes could have the report. */
    unsetenv("REPORT");
    roctx_find("global");
    for (int at = 1; at < argc; at++) step(argv[at]);
    return 0;
}
