/* What HIP itself measures: kernels between two events on every GPU.
 *
 *   hip_events CODE_OBJECT [LAUNCHES]
 *
 * Prints, per GPU:  elapsed <TAB> GPU <TAB> microseconds between the events, and then what hip.h says. */
#include "hip.h"

#define ELEMENTS 1024

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    int launches = hip_number(argc, argv, 2, 10);
    hip_begin(argv[1]);
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        void *to, *from;
        hip_stream stream;
        hip_event before, after;
        HIP(SetDevice, gpu);
        HIP(Malloc, &to, ELEMENTS * sizeof(double));
        HIP(Malloc, &from, ELEMENTS * sizeof(double));
        HIP(StreamCreateWithFlags, &stream, NON_BLOCKING);
        HIP(EventCreate, &before);
        HIP(EventCreate, &after);
        HIP(EventRecord, before, stream);
        for (int at = 0; at < launches; at++) hip_launch(gpu, at, stream, to, from, ELEMENTS);
        HIP(EventRecord, after, stream);
        HIP(EventSynchronize, after);
        float milliseconds;
        HIP(EventElapsedTime, &milliseconds, before, after);
        printf("elapsed\t%d\t%.0f\n", gpu, milliseconds * 1000);
        HIP(EventDestroy, before);
        HIP(EventDestroy, after);
        HIP(StreamDestroy, stream);
        HIP(Free, to);
        HIP(Free, from);
    }
    hip_end();
    return 0;
}
