/* HIP without its headers and its compiler: the functions of the library that HIP_LIBRARY names, every GPU with the
 * kernels of kernels.cl, and a count of what was launched and called. The calls used here are the same from HIP 5 to HIP 7.
 *
 * Compiled with HIP_LINKED the program is linked with HIP instead of opening it. Where CALLS names a file, hip_end writes
 * into it, per function:  name <TAB> calls.
 *
 * A program that needs other functions lists them in HIP_MORE before it includes this. Those that not every HIP has are in
 * HIP_SINCE_6 and HIP_SINCE_7: null where it has them not. */
#ifndef HIP_H
#define HIP_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GPUS 8

typedef int hip_error;
typedef struct hip_stream *hip_stream;
typedef struct hip_event *hip_event;
typedef struct hip_module *hip_module;
typedef struct hip_function *hip_function;
typedef struct hip_graph *hip_graph;
typedef struct hip_graph_exec *hip_graph_exec;
typedef struct {
    unsigned x, y, z;
} hip_dim3;

/* Directions of a copy. */
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3 };
/* Flags: a stream that does not wait for the default one, and a capture that no other thread disturbs. */
enum { NON_BLOCKING = 1, CAPTURE_THREAD_LOCAL = 1 };

#ifndef HIP_MORE
#define HIP_MORE(F)
#endif
#ifndef HIP_SINCE_6
#define HIP_SINCE_6(F)
#endif
#ifndef HIP_SINCE_7
#define HIP_SINCE_7(F)
#endif

#define HIP_FUNCTIONS(F)                                                                                          \
    F(GetDeviceCount, (int *))                                                                                    \
    F(SetDevice, (int))                                                                                           \
    F(DeviceSynchronize, (void))                                                                                  \
    F(DeviceCanAccessPeer, (int *, int, int))                                                                     \
    F(DeviceEnablePeerAccess, (int, unsigned))                                                                    \
    F(Malloc, (void **, size_t))                                                                                  \
    F(Free, (void *))                                                                                             \
    F(HostMalloc, (void **, size_t, unsigned))                                                                    \
    F(HostFree, (void *))                                                                                         \
    F(Memcpy, (void *, const void *, size_t, int))                                                                \
    F(MemcpyAsync, (void *, const void *, size_t, int, hip_stream))                                               \
    F(Memcpy2D, (void *, size_t, const void *, size_t, size_t, size_t, int))                                      \
    F(MemcpyPeer, (void *, int, const void *, int, size_t))                                                       \
    F(MemcpyPeerAsync, (void *, int, const void *, int, size_t, hip_stream))                                      \
    F(MemsetAsync, (void *, int, size_t, hip_stream))                                                             \
    F(Memset2D, (void *, size_t, int, size_t, size_t))                                                            \
    F(MemsetD32Async, (void *, int, size_t, hip_stream))                                                          \
    F(StreamCreateWithFlags, (hip_stream *, unsigned))                                                            \
    F(StreamDestroy, (hip_stream))                                                                                \
    F(StreamSynchronize, (hip_stream))                                                                            \
    F(StreamWaitEvent, (hip_stream, hip_event, unsigned))                                                         \
    F(EventCreate, (hip_event *))                                                                                 \
    F(EventDestroy, (hip_event))                                                                                  \
    F(EventRecord, (hip_event, hip_stream))                                                                       \
    F(EventSynchronize, (hip_event))                                                                              \
    F(EventElapsedTime, (float *, hip_event, hip_event))                                                          \
    F(StreamBeginCapture, (hip_stream, int))                                                                      \
    F(StreamEndCapture, (hip_stream, hip_graph *))                                                                \
    F(GraphInstantiate, (hip_graph_exec *, hip_graph, void *, char *, size_t))                                    \
    F(GraphLaunch, (hip_graph_exec, hip_stream))                                                                  \
    F(GraphExecDestroy, (hip_graph_exec))                                                                         \
    F(GraphDestroy, (hip_graph))                                                                                  \
    F(ModuleLoad, (hip_module *, const char *))                                                                   \
    F(ModuleUnload, (hip_module))                                                                                 \
    F(ModuleGetFunction, (hip_function *, hip_module, const char *))                                              \
    F(ModuleLaunchKernel, (hip_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,    \
                           hip_stream, void **, void **))                                                         \
    HIP_MORE(F)

#define HIP_FIELD(name, arguments) hip_error(*name) arguments;
static struct {
    HIP_FUNCTIONS(HIP_FIELD)
    HIP_SINCE_6(HIP_FIELD)
    HIP_SINCE_7(HIP_FIELD)
    const char *(*GetErrorString)(hip_error);
} hip;

/* HIP_LINKED is the version of HIP that the program is linked with. */
#ifdef HIP_LINKED
#define HIP_DECLARED(name, arguments) hip_error hip##name arguments;
HIP_FUNCTIONS(HIP_DECLARED)
HIP_SINCE_6(HIP_DECLARED)
HIP_SINCE_7(HIP_DECLARED)
const char *hipGetErrorString(hip_error);
#endif

#define HIP_NUMBER(name, arguments) HIP_NUMBER_##name,
enum { HIP_FUNCTIONS(HIP_NUMBER) HIP_SINCE_6(HIP_NUMBER) HIP_SINCE_7(HIP_NUMBER) HIP_COUNT };
static atomic_long hip_calls[HIP_COUNT];

/* Calls a function of HIP and ends the program when it fails. */
#define HIP(name, ...) \
    hip_check(((void)atomic_fetch_add(&hip_calls[HIP_NUMBER_##name], 1), hip.name(__VA_ARGS__)), #name)

static inline void hip_check(hip_error error, const char *call) {
    if (error == 0) return;
    fprintf(stderr, "hip%s: %d %s\n", call, error, hip.GetErrorString(error));
    exit(1);
}

/* The kernels of kernels.cl. The template's two instances differ in nothing but their type. */
static const char *const kernel_names[] = {
    "scale",
    "_ZN4test4axpyIfEEvPT_PKS1_i",
    "_ZN4test4axpyIdEEvPT_PKS1_i",
};
enum { KERNELS = sizeof kernel_names / sizeof *kernel_names };

static int gpu_count;
static hip_module modules[MOST_GPUS];
static hip_function kernels[MOST_GPUS][KERNELS];
static atomic_long launched[KERNELS];

static inline void *hip_symbol(void *library, const char *name) {
    void *symbol = dlsym(library, name);
    if (symbol) return symbol;
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
}

/* Notes a call that is made without HIP(...). */
enum { MOST_OTHERS = 32 };
static struct {
    const char *name;
    atomic_long calls;
} hip_others[MOST_OTHERS];

static inline void hip_called(const char *name) {
    int at = 0;
    while (hip_others[at].name && strcmp(hip_others[at].name, name)) at++;
    hip_others[at].name = name;
    hip_others[at].calls++;
}

/* Finds the functions. */
static inline void hip_open(void) {
#ifdef HIP_LINKED
#define HIP_LOAD(name, arguments) hip.name = hip##name;
#if HIP_LINKED >= 6
    HIP_SINCE_6(HIP_LOAD)
#endif
#if HIP_LINKED >= 7
    HIP_SINCE_7(HIP_LOAD)
#endif
#else
    const char *name = getenv("HIP_LIBRARY");
    void *library = dlopen(name ? name : "libamdhip64.so", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define HIP_FIND(name, arguments) *(void **)&hip.name = dlsym(library, "hip" #name);
    HIP_SINCE_6(HIP_FIND)
    HIP_SINCE_7(HIP_FIND)
#define HIP_LOAD(name, arguments) *(void **)&hip.name = hip_symbol(library, "hip" #name);
#endif
    HIP_FUNCTIONS(HIP_LOAD)
    HIP_LOAD(GetErrorString, )
}

/* Opens HIP and loads this code object on every GPU. */
static inline void hip_begin(const char *code_object) {
    hip_open();
    HIP(GetDeviceCount, &gpu_count);
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        HIP(SetDevice, gpu);
        HIP(ModuleLoad, &modules[gpu], code_object);
        for (int kernel = 0; kernel < KERNELS; kernel++)
            HIP(ModuleGetFunction, &kernels[gpu][kernel], modules[gpu], kernel_names[kernel]);
    }
}

/* Launches the kernel of this number (any number) on the current GPU, over `count` elements of at most 8 bytes. */
static inline void hip_launch(int gpu, int number, hip_stream stream, void *to, void *from, int count) {
    void *arguments[] = {&to, &from, &count};
    int kernel = number % KERNELS;
    HIP(ModuleLaunchKernel, kernels[gpu][kernel], (unsigned)(count + 63) / 64, 1, 1, 64, 1, 1, 0, stream, arguments,
        NULL);
    launched[kernel]++;
}

/* Notes that a graph launched this kernel once more. */
static inline void hip_launched_again(int number, long times) { launched[number % KERNELS] += times; }

/* Writes how often each function was called. */
static inline void hip_account(void) {
#define HIP_NAME(name, arguments) "hip" #name,
    static const char *const names[] = {HIP_FUNCTIONS(HIP_NAME) HIP_SINCE_6(HIP_NAME) HIP_SINCE_7(HIP_NAME)};
    const char *path = getenv("CALLS");
    FILE *account = path ? fopen(path, "w") : NULL;
    if (!account) return;
    for (int at = 0; at < HIP_COUNT; at++)
        if (hip_calls[at]) fprintf(account, "%s\t%ld\n", names[at], hip_calls[at]);
    for (int at = 0; at < MOST_OTHERS && hip_others[at].name; at++)
        fprintf(account, "%s\t%ld\n", hip_others[at].name, hip_others[at].calls);
    fclose(account);
}

/* Waits for every GPU and prints, per kernel:  name <TAB> launches. */
static inline void hip_end(void) {
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        HIP(SetDevice, gpu);
        HIP(DeviceSynchronize);
        HIP(ModuleUnload, modules[gpu]);
    }
    hip_account();
    for (int kernel = 0; kernel < KERNELS; kernel++) printf("%s\t%ld\n", kernel_names[kernel], launched[kernel]);
}

/* A number on the command line, at least 1. */
static inline int hip_number(int argc, char **argv, int at, int otherwise) {
    int number = argc > at ? atoi(argv[at]) : otherwise;
    return number > 0 ? number : 1;
}

#endif
