/* A host that is far ahead of the GPU: it launches on several streams in turn and waits for none of them.
 *   hip_ahead CODE_OBJECT NODES LAUNCHES STREAMS
 * NODES is how many kernels the graph has that it launches, or 0: then it launches kernels themselves. Prints what
 * hip.h says. */
#include "hip.h"

#define ELEMENTS 64
#define MOST_STREAMS 16

static hip_graph_exec graph_of(hip_stream stream, int nodes, void *memory) {
    hip_graph graph;
    hip_graph_exec ready;
    HIP(StreamBeginCapture, stream, CAPTURE_THREAD_LOCAL);
    for (int node = 0; node < nodes; node++) {
        hip_launch(0, node, stream, memory, memory, ELEMENTS);
        /* Capturing launches nothing. */
        hip_launched_again(node, -1);
    }
    HIP(StreamEndCapture, stream, &graph);
    HIP(GraphInstantiate, &ready, graph, NULL, NULL, 0);
    HIP(GraphDestroy, graph);
    return ready;
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    int nodes = atoi(argv[2]), launches = atoi(argv[3]), count = atoi(argv[4]);
    if (count < 1 || count > MOST_STREAMS) return 2;
    hip_begin(argv[1]);
    HIP(SetDevice, 0);
    void *memory;
    hip_stream streams[MOST_STREAMS];
    hip_graph_exec graphs[MOST_STREAMS];
    HIP(Malloc, &memory, ELEMENTS * sizeof(double));
    for (int at = 0; at < count; at++) {
        HIP(StreamCreateWithFlags, &streams[at], NON_BLOCKING);
        if (nodes) graphs[at] = graph_of(streams[at], nodes, memory);
    }

    for (int at = 0; at < launches; at++) {
        if (nodes) {
            HIP(GraphLaunch, graphs[at % count], streams[at % count]);
            for (int node = 0; node < nodes; node++) hip_launched_again(node, 1);
        } else {
            hip_launch(0, at, streams[at % count], memory, memory, ELEMENTS);
        }
    }

    for (int at = 0; at < count; at++) {
        HIP(StreamSynchronize, streams[at]);
        if (nodes) HIP(GraphExecDestroy, graphs[at]);
        HIP(StreamDestroy, streams[at]);
    }
    HIP(Free, memory);
    hip_end();
    return 0;
}
