/* roctx without its headers: the functions that a program finds, the way that it looks for them.
 *
 *   linked     the program is linked to a library of roctx (compiled with -DROCTX_LINKED)
 *   global     whatever has been loaded before
 *   NAME       it opens a library of this name or path
 *
 * Where there is none the functions are NULL and everything goes on, as in programs that do without. */
#ifndef ROCTX_PROGRAM_H
#define ROCTX_PROGRAM_H

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#define ROCTX_FUNCTIONS(F)                          \
    F(void, MarkA, (const char *))                  \
    F(int, RangePushA, (const char *))              \
    F(int, RangePop, (void))                        \
    F(uint64_t, RangeStartA, (const char *))        \
    F(void, RangeStop, (uint64_t))

/* Those that librocprofiler-sdk-roctx alone has. */
#define ROCTX_MORE(F)                               \
    F(int, ProfilerPause, (uint64_t))               \
    F(int, ProfilerResume, (uint64_t))              \
    F(int, NameOsThread, (const char *))            \
    F(int, NameHsaAgent, (const char *, const void *)) \
    F(int, NameHipDevice, (const char *, int))      \
    F(int, NameHipStream, (const char *, const void *)) \
    F(int, GetThreadId, (uint64_t *))

#define ROCTX_FIELD(result, name, arguments) result(*name) arguments;
static struct {
    ROCTX_FUNCTIONS(ROCTX_FIELD)
    ROCTX_MORE(ROCTX_FIELD)
} roctx;

#ifdef ROCTX_LINKED
#define ROCTX_DECLARE(result, name, arguments) result roctx##name arguments;
ROCTX_FUNCTIONS(ROCTX_DECLARE)
#endif

static inline void roctx_find(const char *how) {
#ifdef ROCTX_LINKED
#define ROCTX_TAKE(result, name, arguments) roctx.name = roctx##name;
    ROCTX_FUNCTIONS(ROCTX_TAKE)
#endif
    if (strcmp(how, "linked") == 0) return;
    void *library = strcmp(how, "global") == 0 ? RTLD_DEFAULT : dlopen(how, RTLD_NOW);
    if (!library && strcmp(how, "global") != 0) return;
#define ROCTX_FIND(result, name, arguments) *(void **)&roctx.name = dlsym(library, "roctx" #name);
    ROCTX_FUNCTIONS(ROCTX_FIND)
    ROCTX_MORE(ROCTX_FIND)
}

#endif
