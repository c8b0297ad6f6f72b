/* Calls of HIP that a tracer of calls might get wrong:
 *
 *   hip_calls CODE_OBJECT HOW
 *
 * HOW  callbacks   kernels, each with a host function behind it that calls HIP from a thread of the runtime
 *      async       memory that is allocated and freed in a stream, among kernels that use it
 *      threads     a thousand threads at once, each with calls of its own
 *      nested      functions of HIP that call others of HIP
 *      errors      calls that fail, also of the runtime compiler
 *      missing     names that HIP has not, and all ways to ask for those that it has
 *      default     functions that were asked for without naming a library
 *      handed      functions that HIP itself hands out (hipGetProcAddress), where it does
 *      leave       threads that call HIP while they are cancelled, and when nothing else is left of them
 *      exit        exit while another thread waits in a call
 *      fork        a child that calls HIP, too, of a process whose other thread does so all the time
 *
 * Into CALLS goes, per function:  name <TAB> calls. */
#define _GNU_SOURCE
#include "hip.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 1000, ROUNDS = 20, ELEMENTS = 1024 };

/* A function that not every HIP has, or that the other programs do not call. */
static void *other(const char *name) {
    static void *library;
    if (!library) library = dlopen(getenv("HIP_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    return dlsym(library, name);
}

typedef int (*any)();
/* Calls a function if HIP has it; its result, or -1. */
#define OTHER(name, ...) (other(name) ? (hip_called(name), ((any)other(name))(__VA_ARGS__)) : -1)

static void *to, *from;
static hip_stream stream;

static void in_host_function(void *done) {
    HIP(GetDeviceCount, &(int){0});
    (*(atomic_int *)done)++;
}

static void in_callback(hip_stream stream, hip_error error, void *done) {
    (void)stream;
    if (error == 0) in_host_function(done);
}

static void callbacks(void) {
    static atomic_int done;
    int expected = 0;
    for (int round = 0; round < ROUNDS; round++) {
        hip_launch(0, round, stream, to, from, ELEMENTS);
        if (OTHER("hipStreamAddCallback", stream, in_callback, &done, 0) == 0) expected++;
        if (OTHER("hipLaunchHostFunc", stream, in_host_function, &done) == 0) expected++;
    }
    HIP(StreamSynchronize, stream);
    while (done < expected) usleep(1000);
    printf("callbacks\t%d\n", done >= ROUNDS);
}

static void async(void) {
    for (int round = 0; round < ROUNDS; round++) {
        void *memory = NULL;
        if (OTHER("hipMallocAsync", &memory, (size_t)ELEMENTS * 8, stream) != 0) return;
        hip_launch(0, round, stream, memory, from, ELEMENTS);
        OTHER("hipFreeAsync", memory, stream);
    }
    HIP(StreamSynchronize, stream);
}

static pthread_barrier_t all;

static void *thread(void *number) {
    pthread_barrier_wait(&all);
    HIP(SetDevice, 0);
    for (int round = 0; round < ROUNDS; round++) HIP(GetDeviceCount, &(int){0});
    if ((size_t)number % 100 == 0) hip_launch(0, (int)(size_t)number, stream, to, from, ELEMENTS);
    pthread_barrier_wait(&all);
    return NULL;
}

static void threads(void) {
    static pthread_t ids[THREADS];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    pthread_barrier_init(&all, NULL, THREADS);
    for (size_t at = 0; at < THREADS; at++)
        if (pthread_create(&ids[at], &small, thread, (void *)at)) exit(1);
    for (int at = 0; at < THREADS; at++) pthread_join(ids[at], NULL);
}

static void nested(void) {
    static char properties[8192], wanted[8192];
    int device = 0;
    for (int round = 0; round < ROUNDS; round++) {
        OTHER("hipChooseDevice", &device, wanted);
        OTHER("hipGetDevice", &device);
        OTHER("hipDeviceGetName", properties, 64, 0);
    }
    printf("device\t%d\n", device);
}

static void errors(void) {
    for (int round = 0; round < ROUNDS; round++) {
        hip_called("hipSetDevice");
        int status = hip.SetDevice(4711);
        if (round == 0) printf("status\t%d\n", status);
        OTHER("hipFree", (void *)0x10);
        OTHER("hipGetLastError");
    }
    void *program = NULL;
    OTHER("hiprtcCreateProgram", &program, "no program", "name.hip", 0, NULL, NULL);
    OTHER("hiprtcDestroyProgram", &program);
}

static void missing(void) {
    void *library = dlopen(getenv("HIP_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    /* Of HIP 7.1, of no HIP, of HIP 7.2.4 but not of 5.2.3, and of all. */
    const char *names[] = {"hipMemSetMemPool", "hipNoSuchFunction", "hipExtModuleLaunchKernel", "hipMalloc"};
    for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
        const char *error;
        void *found[] = {dlsym(library, names[at]), dlsym(RTLD_DEFAULT, names[at]), dlsym(RTLD_NEXT, names[at])};
        error = dlerror();
        printf("%s\t%d%d%d\t%d\n", names[at], !!found[0], !!found[1], !!found[2], error != NULL);
    }
}

static void by_default(void) {
    any get = (any)dlsym(RTLD_DEFAULT, "hipGetDevice");
    for (int round = 0; round < ROUNDS; round++) {
        hip_called("hipGetDevice");
        int device = -1;
        if (get(&device) != 0 || device != 0) exit(1);
    }
}

static void handed(void) {
    if (!other("hipGetProcAddress")) return;
    any synchronize = NULL, launch = NULL, none = NULL;
    /* As a program asks that was compiled for HIP 6.0, for the stream that is the default by default. */
    printf("found\t%d", OTHER("hipGetProcAddress", "hipStreamSynchronize", &synchronize, 600, (uint64_t)0, NULL));
    printf("\t%d", OTHER("hipGetProcAddress", "hipModuleLaunchKernel", &launch, 600, (uint64_t)0, NULL));
    printf("\t%d\n", OTHER("hipGetProcAddress", "hipNoSuchFunction", &none, 600, (uint64_t)0, NULL));
    if (!synchronize || !launch) exit(1);
    *(any *)&hip.ModuleLaunchKernel = launch;
    for (int round = 0; round < ROUNDS; round++) hip_launch(0, round, stream, to, from, ELEMENTS);
    hip_called("hipStreamSynchronize");
    synchronize(stream);
    /* Of HIP 7.1 and later. */
    if (OTHER("hipGetDriverEntryPoint", "hipStreamSynchronize", &synchronize, (uint64_t)0, &(int){0}) != 0) return;
    hip_called("hipStreamSynchronize");
    synchronize(stream);
}

static pthread_key_t last;
static sem_t is_waiting;

/* The C library does this after everything else that a thread has to do at its end. */
static void very_last(void *unused) {
    (void)unused;
    hip_called("hipGetDevice");
    ((any)other("hipGetDevice"))(&(int){0});
}

static void cleanup(void *unused) {
    (void)unused;
    HIP(SetDevice, 0);
}

static void *leaves(void *how) {
    pthread_setspecific(last, how);
    HIP(GetDeviceCount, &(int){0});
    pthread_cleanup_push(cleanup, NULL);
    if (how == &last) pthread_exit(NULL);
    sem_post(&is_waiting);
    for (;;) pause();
    pthread_cleanup_pop(1);
    return NULL;
}

static void leaving(void) {
    pthread_t ids[2];
    pthread_key_create(&last, very_last);
    sem_init(&is_waiting, 0, 0);
    for (int round = 0; round < ROUNDS; round++) {
        if (pthread_create(&ids[0], NULL, leaves, &last)) exit(1);
        if (pthread_create(&ids[1], NULL, leaves, &is_waiting)) exit(1);
        sem_wait(&is_waiting);
        pthread_cancel(ids[1]);
        for (int at = 0; at < 2; at++) pthread_join(ids[at], NULL);
    }
}

static void *waits(void *number) {
    hip_launch(0, 0, stream, to, from, ELEMENTS);
    *(pid_t *)number = gettid();
    sem_post(&is_waiting);
    HIP(StreamSynchronize, stream);
    return NULL;
}

/* Whether a thread that does nothing but make a call is in it: it sleeps, or has been at it for 20 ms of CPU. */
static int is_in_call(pthread_t id, pid_t number) {
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", number);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1) exit(1);
    fclose(file);
    clockid_t clock;
    struct timespec used = {0};
    if (pthread_getcpuclockid(id, &clock) || clock_gettime(clock, &used)) exit(1);
    static int64_t before = -1;
    int64_t now = used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
    if (before < 0) before = now;
    return state == 'S' || now - before > 20000000;
}

static void ends(void) {
    pthread_t id;
    pid_t number;
    sem_init(&is_waiting, 0, 0);
    if (pthread_create(&id, NULL, waits, &number)) exit(1);
    sem_wait(&is_waiting);
    while (!is_in_call(id, number)) usleep(1000);
    hip_account();
    printf("waits\t%d\n", number);
    fflush(stdout);
    /* What HIP does at an orderly exit would wait for the kernel. */
    quick_exit(3);
}

static atomic_int is_enough;

static void *peeks(void *peek) {
    do {
        for (int round = 0; round < 100; round++) {
            hip_called("hipPeekAtLastError");
            ((any)peek)();
        }
        /* No faster than any recorder. */
        usleep(1000);
    } while (!is_enough);
    return NULL;
}

static void forks(void) {
    any peek = (any)other("hipPeekAtLastError");
    hip_called("hipPeekAtLastError");
    peek();
    pthread_t busy;
    if (pthread_create(&busy, NULL, peeks, (void *)peek)) exit(1);
    for (int round = 0; round < ROUNDS; round++) {
        pid_t child = fork();
        if (child == 0) {
            peek();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status) printf("child\t%d\n", status);
        hip_called("hipPeekAtLastError");
        peek();
        hip_launch(0, round, stream, to, from, ELEMENTS);
        /* HIP 7.2.4 sometimes frees the command of a stream twice that becomes idle by itself, with and without a tracer. */
        HIP(StreamSynchronize, stream);
    }
    is_enough = 1;
    pthread_join(busy, NULL);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        {"callbacks", callbacks}, {"async", async},     {"threads", threads},    {"nested", nested}, {"errors", errors},
        {"missing", missing},     {"default", by_default}, {"handed", handed}, {"leave", leaving}, {"exit", ends}, {"fork", forks},
    };
    if (argc < 3) return 2;
    hip_begin(argv[1]);
    HIP(SetDevice, 0);
    HIP(Malloc, &to, ELEMENTS * sizeof(double));
    HIP(Malloc, &from, ELEMENTS * sizeof(double));
    HIP(StreamCreateWithFlags, &stream, NON_BLOCKING);
    for (size_t at = 0; at < sizeof ways / sizeof *ways; at++)
        if (strcmp(argv[2], ways[at].name) == 0) ways[at].run();
    HIP(StreamSynchronize, stream);
    HIP(StreamDestroy, stream);
    HIP(Free, to);
    HIP(Free, from);
    hip_end();
    return 0;
}
