/* Threads that launch at the same time, each on a stream of its own and on the GPUs in turn:
 *
 *   hip_threads CODE_OBJECT [THREADS [LAUNCHES]]
 *
 * LAUNCHES is per thread; every hundredth is waited for. Prints what hip.h says. */
#include "hip.h"

#include <pthread.h>
#include <stdint.h>

#define MOST_THREADS 32
#define ELEMENTS 1024

static int launches;

static void *work(void *number) {
    int gpu = (int)((intptr_t)number % gpu_count);
    void *to, *from;
    hip_stream stream;
    HIP(SetDevice, gpu);
    HIP(Malloc, &to, ELEMENTS * sizeof(double));
    HIP(Malloc, &from, ELEMENTS * sizeof(double));
    HIP(StreamCreateWithFlags, &stream, NON_BLOCKING);
    for (int at = 0; at < launches; at++) {
        hip_launch(gpu, at, stream, to, from, ELEMENTS);
        if (at % 100 == 99) HIP(StreamSynchronize, stream);
    }
    HIP(StreamSynchronize, stream);
    HIP(StreamDestroy, stream);
    HIP(Free, to);
    HIP(Free, from);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    int threads = hip_number(argc, argv, 2, 4);
    launches = hip_number(argc, argv, 3, 250);
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    hip_begin(argv[1]);
    pthread_t all[MOST_THREADS];
    for (intptr_t thread = 0; thread < threads; thread++) {
        if (pthread_create(&all[thread], NULL, work, (void *)thread) != 0) return 1;
    }
    for (int thread = 0; thread < threads; thread++) pthread_join(all[thread], NULL);
    hip_end();
    return 0;
}
