/* The ways in which a process ends. */
#ifndef WAYS_H
#define WAYS_H

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static sigjmp_buf before_the_fault;
static volatile sig_atomic_t was_interrupted;

static inline void say_now(const char *line) {
    if (write(STDOUT_FILENO, line, strlen(line)) < 0) _exit(8);
}

static inline void on_interrupt(int signal) {
    (void)signal;
    was_interrupted = 1;
}

static inline void on_termination(int signal) {
    (void)signal;
    say_now("terminated\n");
    exit(9);
}

/* As a reporter of crashes does it: says so and lets the signal do what it does. */
static inline void on_fault_report(int number) {
    say_now("a fault is reported\n");
    signal(number, SIG_DFL);
}

static inline void on_fault_jump(int signal) {
    (void)signal;
    siglongjmp(before_the_fault, 1);
}

static volatile sig_atomic_t size_signals;

static inline void on_size(int signal) {
    (void)signal;
    size_signals++;
}

static inline void handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(number, &action, NULL);
}

/* What a program sets up before it works, where it is to end so. FILE_LIMIT is the most bytes of a file; the simulator has
 * made its own, which is larger. */
static inline void prepare_to_end(const char *how) {
    const char *most = getenv("FILE_LIMIT");
    struct rlimit limit = {.rlim_cur = most ? strtoul(most, NULL, 10) : RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    if (most) setrlimit(RLIMIT_FSIZE, &limit);
    if (strcmp(how, "term-handled") == 0) handle(SIGTERM, on_termination);
    if (strcmp(how, "int-handled") == 0) handle(SIGINT, on_interrupt);
    if (strcmp(how, "size-handled") == 0) handle(SIGXFSZ, on_size);
    if (strcmp(how, "fault-reported") == 0) handle(SIGSEGV, on_fault_report);
    if (strcmp(how, "fault-survived") == 0) handle(SIGSEGV, on_fault_jump);
}

/* Writes more than files may be long (RLIMIT_FSIZE). */
static inline void write_too_much(void) {
    static const char bytes[1 << 16];
    FILE *file = tmpfile();
    if (!file) exit(8);
    ssize_t written = 0;
    for (int at = 0; at < 4 && written >= 0; at++) written = write(fileno(file), bytes, sizeof bytes);
    printf("%s, %d signals\n", written < 0 ? "too much" : "no limit", (int)size_signals);
    fflush(stdout);
}

static inline void fault(void) {
    *(volatile int *)8 = 1;
}

/* What `throw 7` does in C++: the functions that its compiler calls. */
static inline void throw_seven(void) {
    void *library = dlopen("libstdc++.so.6", RTLD_NOW);
    if (!library) exit(8);
    void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(library, "__cxa_allocate_exception");
    void (*throw)(void *, void *, void *) = (void (*)(void *, void *, void *))dlsym(library, "__cxa_throw");
    int *exception = allocate(sizeof *exception);
    *exception = 7;
    throw(exception, dlsym(library, "_ZTIi"), NULL);
}

static inline void *leave_from_a_thread(void *unused) {
    (void)unused;
    exit(7);
}

/* Ends the process, or says what `main` is to return. */
static inline int leave(const char *how) {
    fflush(stdout);
    if (strcmp(how, "exit") == 0) exit(7);
    if (strcmp(how, "quick") == 0) quick_exit(7);
    if (strcmp(how, "now") == 0) _exit(7);
    if (strncmp(how, "size", 4) == 0) write_too_much();
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "throw") == 0) throw_seven();
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strncmp(how, "term", 4) == 0) raise(SIGTERM);
    if (strncmp(how, "int", 3) == 0) raise(SIGINT);
    if (strcmp(how, "fault-survived") == 0 && sigsetjmp(before_the_fault, 1) == 0) fault();
    if (strcmp(how, "fault") == 0 || strcmp(how, "fault-reported") == 0) fault();
    if (strcmp(how, "thread") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, leave_from_a_thread, NULL) == 0) pthread_join(thread, NULL);
    }
    return was_interrupted ? 9 : 0;
}

#endif
