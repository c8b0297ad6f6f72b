/* Preloaded: the clock fails for librtl.so, which nobody expects of a clock: its caller panics.
 *   CLOCK_FAILS    in which thread: a name, or `host` for all that are not the tracer's own
 *   CLOCK_AFTER    after how many calls in it
 *   CLOCK_TIMES    how often then; without it for ever */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int number(const char *name, int otherwise) {
    const char *value = getenv(name);
    return value ? atoi(value) : otherwise;
}

static int is_called_by_tracer(const void *caller) {
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "librtl.so");
}

static int is_to_fail(const char *thread) {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    return strcmp(thread, "host") == 0 ? strncmp(name, "rtl-", 4) != 0 : strcmp(thread, name) == 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*original)(clockid_t, struct timespec *);
    static atomic_int calls;
    if (!original) original = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *thread = getenv("CLOCK_FAILS");
    // Of the standard library's one clock, which it believes in; the tracer's own reading of clocks fails to nobody.
    if (thread && clock == CLOCK_MONOTONIC && is_called_by_tracer(__builtin_return_address(0)) && is_to_fail(thread)) {
        int call = atomic_fetch_add(&calls, 1), after = number("CLOCK_AFTER", 0);
        if (call >= after && call - after < number("CLOCK_TIMES", INT_MAX)) {
            errno = EINVAL;
            return -1;
        }
    }
    return original(clock, time);
}
