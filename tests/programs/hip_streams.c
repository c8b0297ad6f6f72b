/* Kernels on several streams of every GPU, one after another round about:
 *
 *   hip_streams CODE_OBJECT [STREAMS [LAUNCHES]]
 *
 * LAUNCHES is per stream. Every tenth round the streams of a GPU wait for one another by an event. Prints what
 * hip.h says. */
#include "hip.h"

#define MOST_STREAMS 16
#define ELEMENTS 4096

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    int streams = hip_number(argc, argv, 2, 2), launches = hip_number(argc, argv, 3, 10);
    if (streams > MOST_STREAMS) streams = MOST_STREAMS;
    hip_begin(argv[1]);
    static hip_stream all[MOST_GPUS][MOST_STREAMS];
    hip_event ready[MOST_GPUS];
    void *to[MOST_GPUS], *from[MOST_GPUS];
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        HIP(SetDevice, gpu);
        HIP(Malloc, &to[gpu], ELEMENTS * sizeof(double));
        HIP(Malloc, &from[gpu], ELEMENTS * sizeof(double));
        HIP(EventCreate, &ready[gpu]);
        for (int stream = 0; stream < streams; stream++)
            HIP(StreamCreateWithFlags, &all[gpu][stream], NON_BLOCKING);
    }
    for (int round = 0; round < launches; round++) {
        for (int gpu = 0; gpu < gpu_count; gpu++) {
            HIP(SetDevice, gpu);
            for (int stream = 0; stream < streams; stream++)
                hip_launch(gpu, round + stream, all[gpu][stream], to[gpu], from[gpu], ELEMENTS);
            if (round % 10 == 9) {
                HIP(EventRecord, ready[gpu], all[gpu][0]);
                for (int stream = 1; stream < streams; stream++) HIP(StreamWaitEvent, all[gpu][stream], ready[gpu], 0);
            }
        }
    }
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        HIP(SetDevice, gpu);
        for (int stream = 0; stream < streams; stream++) {
            HIP(StreamSynchronize, all[gpu][stream]);
            HIP(StreamDestroy, all[gpu][stream]);
        }
        HIP(EventDestroy, ready[gpu]);
        HIP(Free, to[gpu]);
        HIP(Free, from[gpu]);
    }
    hip_end();
    return 0;
}
