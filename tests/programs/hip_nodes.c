/* A graph of nodes of every kind: a fill, a copy to the GPU, a graph of three kernels within it, and a copy back, launched
 * again and again:
 *
 *   hip_nodes CODE_OBJECT [LAUNCHES]
 *
 * The kernels have 64, 128 and 192 work-items, the fill is of 5000 bytes, the copies are of 6000 and 7000. Prints, per
 * launch:  copied <TAB> same or differs. Then what hip.h says. */
#define HIP_MORE(F)                                                                                                 \
    F(GraphCreate, (hip_graph *, unsigned))                                                                         \
    F(GraphAddMemsetNode, (hip_node *, hip_graph, const hip_node *, size_t, const struct fill *))                   \
    F(GraphAddMemcpyNode1D, (hip_node *, hip_graph, const hip_node *, size_t, void *, const void *, size_t, int))   \
    F(GraphAddChildGraphNode, (hip_node *, hip_graph, const hip_node *, size_t, hip_graph))

#include <stddef.h>
typedef struct hip_node *hip_node;
/* hipMemsetParams */
struct fill {
    void *to;
    unsigned size_of_element;
    size_t height, pitch;
    unsigned value;
    size_t width;
};
#include "hip.h"

enum { KERNEL_NODES = 3, FILLED = 5000, SENT = 6000, RECEIVED = 7000, BYTES = 8192 };

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    int launches = hip_number(argc, argv, 2, 5);
    hip_begin(argv[1]);
    HIP(SetDevice, 0);
    char *to, *from, *filled, *pinned;
    hip_stream stream;
    HIP(Malloc, (void **)&to, BYTES);
    HIP(Malloc, (void **)&from, BYTES);
    HIP(Malloc, (void **)&filled, BYTES);
    HIP(HostMalloc, (void **)&pinned, 2 * BYTES, 0);
    HIP(StreamCreateWithFlags, &stream, NON_BLOCKING);

    hip_graph within, graph;
    HIP(StreamBeginCapture, stream, CAPTURE_THREAD_LOCAL);
    for (int node = 0; node < KERNEL_NODES; node++) {
        hip_launch(0, node, stream, to, from, 64 * (node + 1));
        hip_launched_again(node, launches - 1);
    }
    HIP(StreamEndCapture, stream, &within);

    struct fill fill = {filled, 1, 1, FILLED, 7, FILLED};
    hip_node nodes[4];
    HIP(GraphCreate, &graph, 0);
    HIP(GraphAddMemsetNode, &nodes[0], graph, NULL, 0, &fill);
    HIP(GraphAddMemcpyNode1D, &nodes[1], graph, &nodes[0], 1, from, pinned, SENT, HOST_TO_DEVICE);
    HIP(GraphAddChildGraphNode, &nodes[2], graph, &nodes[1], 1, within);
    HIP(GraphAddMemcpyNode1D, &nodes[3], graph, &nodes[2], 1, pinned + BYTES, from, RECEIVED, DEVICE_TO_HOST);
    hip_graph_exec ready;
    HIP(GraphInstantiate, &ready, graph, NULL, NULL, 0);
    for (int launch = 0; launch < launches; launch++) {
        memset(pinned, launch, BYTES);
        HIP(GraphLaunch, ready, stream);
        HIP(StreamSynchronize, stream);
        printf("copied\t%s\n", memcmp(pinned, pinned + BYTES, SENT) == 0 ? "same" : "differs");
    }

    HIP(GraphExecDestroy, ready);
    HIP(GraphDestroy, graph);
    HIP(GraphDestroy, within);
    HIP(StreamDestroy, stream);
    HIP(HostFree, pinned);
    HIP(Free, to);
    HIP(Free, from);
    HIP(Free, filled);
    hip_end();
    return 0;
}
