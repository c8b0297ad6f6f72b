/* A graph captured from two streams that fork and join, launched again and again on every GPU:
 *
 *   hip_graph CODE_OBJECT [KERNELS [LAUNCHES [CAPTURES]]]
 *
 * The graph has so many kernels, every third on the second stream, and a fill of memory at its end. It is captured
 * so often, and each time launched so often: HIP 5.2.3 executes a module's kernels at the first launch only. Prints
 * what hip.h says. */
#include "hip.h"

#define ELEMENTS 1024

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    int nodes = hip_number(argc, argv, 2, 10), launches = hip_number(argc, argv, 3, 1);
    int captures = hip_number(argc, argv, 4, 20);
    hip_begin(argv[1]);
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        void *to, *from;
        hip_stream streams[2];
        hip_event forked, joined;
        HIP(SetDevice, gpu);
        HIP(Malloc, &to, ELEMENTS * sizeof(double));
        HIP(Malloc, &from, ELEMENTS * sizeof(double));
        for (int stream = 0; stream < 2; stream++) HIP(StreamCreateWithFlags, &streams[stream], NON_BLOCKING);
        HIP(EventCreate, &forked);
        HIP(EventCreate, &joined);

        for (int capture = 0; capture < captures; capture++) {
            hip_graph graph;
            hip_graph_exec ready;
            HIP(StreamBeginCapture, streams[0], CAPTURE_THREAD_LOCAL);
            HIP(EventRecord, forked, streams[0]);
            HIP(StreamWaitEvent, streams[1], forked, 0);
            for (int node = 0; node < nodes; node++) {
                hip_launch(gpu, node, streams[node % 3 == 2], to, from, ELEMENTS);
                /* Capturing launches nothing; each launch of the graph does. */
                hip_launched_again(node, launches - 1);
            }
            HIP(EventRecord, joined, streams[1]);
            HIP(StreamWaitEvent, streams[0], joined, 0);
            HIP(MemsetAsync, from, 0, ELEMENTS, streams[0]);
            HIP(StreamEndCapture, streams[0], &graph);
            HIP(GraphInstantiate, &ready, graph, NULL, NULL, 0);
            for (int at = 0; at < launches; at++) HIP(GraphLaunch, ready, streams[0]);
            HIP(StreamSynchronize, streams[0]);
            HIP(GraphExecDestroy, ready);
            HIP(GraphDestroy, graph);
        }

        HIP(EventDestroy, forked);
        HIP(EventDestroy, joined);
        for (int stream = 0; stream < 2; stream++) HIP(StreamDestroy, streams[stream]);
        HIP(Free, to);
        HIP(Free, from);
    }
    hip_end();
    return 0;
}
