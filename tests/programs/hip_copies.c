/* Every way that bytes take, read back and compared:
 *
 *   hip_copies CODE_OBJECT [BYTES]
 *
 * Prints, per way and GPU:  way <TAB> GPU <TAB> same or differs. `pageable` and `pinned` go from the host to the GPU
 * and back, `peer` and `peer-async` come from the GPU before, `device` goes from one place of the GPU to another,
 * `fill` and `fill-words` are memsets. Then what hip.h says: no kernel of its own is launched. */
#include "hip.h"

#include <stdint.h>
#include <string.h>

static size_t bytes;

static void print(const char *way, int gpu, const unsigned char *found, const unsigned char *expected) {
    printf("%s\t%d\t%s\n", way, gpu, memcmp(found, expected, bytes) == 0 ? "same" : "differs");
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    bytes = (size_t)hip_number(argc, argv, 2, 1 << 20);
    hip_begin(argv[1]);
    unsigned char *sent = malloc(bytes), *received = malloc(bytes), *filled = malloc(bytes);
    void *pinned, *memory[MOST_GPUS], *other[MOST_GPUS];
    hip_stream streams[MOST_GPUS];
    if (!sent || !received || !filled) return 1;
    HIP(HostMalloc, &pinned, bytes, 0);
    for (size_t at = 0; at < bytes; at++) sent[at] = (unsigned char)(at * 13 + at / 251);

    for (int gpu = 0; gpu < gpu_count; gpu++) {
        HIP(SetDevice, gpu);
        HIP(StreamCreateWithFlags, &streams[gpu], NON_BLOCKING);
        HIP(Malloc, &memory[gpu], bytes);
        HIP(Malloc, &other[gpu], bytes);
        hip_stream stream = streams[gpu];

        memset(received, 0, bytes);
        HIP(Memcpy, memory[gpu], sent, bytes, HOST_TO_DEVICE);
        HIP(Memcpy, received, memory[gpu], bytes, DEVICE_TO_HOST);
        print("pageable", gpu, received, sent);

        memcpy(pinned, sent, bytes);
        HIP(MemcpyAsync, other[gpu], pinned, bytes, HOST_TO_DEVICE, stream);
        HIP(StreamSynchronize, stream);
        memset(pinned, 0, bytes);
        HIP(MemcpyAsync, pinned, other[gpu], bytes, DEVICE_TO_HOST, stream);
        HIP(StreamSynchronize, stream);
        print("pinned", gpu, pinned, sent);

        memset(filled, 0x5a, bytes);
        HIP(MemsetAsync, other[gpu], 0x5a, bytes, stream);
        HIP(MemcpyAsync, pinned, other[gpu], bytes, DEVICE_TO_HOST, stream);
        HIP(StreamSynchronize, stream);
        print("fill", gpu, pinned, filled);

        uint32_t word = 0x01020304;
        for (size_t at = 0; at + 4 <= bytes; at += 4) memcpy(filled + at, &word, 4);
        HIP(MemsetD32Async, other[gpu], (int)word, bytes / 4, stream);
        HIP(MemcpyAsync, pinned, other[gpu], bytes, DEVICE_TO_HOST, stream);
        HIP(StreamSynchronize, stream);
        print("fill-words", gpu, pinned, filled);

        memset(received, 0, bytes);
        HIP(Memcpy, other[gpu], received, bytes, HOST_TO_DEVICE);
        HIP(MemcpyAsync, other[gpu], memory[gpu], bytes, DEVICE_TO_DEVICE, stream);
        HIP(MemcpyAsync, pinned, other[gpu], bytes, DEVICE_TO_HOST, stream);
        HIP(StreamSynchronize, stream);
        print("device", gpu, pinned, sent);

        if (gpu == 0) continue;
        int reachable;
        HIP(DeviceCanAccessPeer, &reachable, gpu, gpu - 1);
        if (reachable) HIP(DeviceEnablePeerAccess, gpu - 1, 0);
        for (int synchronous = 1; synchronous >= 0; synchronous--) {
            memset(received, 0, bytes);
            HIP(Memcpy, memory[gpu], received, bytes, HOST_TO_DEVICE);
            if (synchronous) {
                HIP(MemcpyPeer, memory[gpu], gpu, memory[gpu - 1], gpu - 1, bytes);
            } else {
                HIP(MemcpyPeerAsync, memory[gpu], gpu, memory[gpu - 1], gpu - 1, bytes, stream);
                HIP(StreamSynchronize, stream);
            }
            HIP(Memcpy, received, memory[gpu], bytes, DEVICE_TO_HOST);
            print(synchronous ? "peer" : "peer-async", gpu, received, sent);
        }
    }

    for (int gpu = 0; gpu < gpu_count; gpu++) {
        HIP(SetDevice, gpu);
        HIP(StreamDestroy, streams[gpu]);
        HIP(Free, memory[gpu]);
        HIP(Free, other[gpu]);
    }
    HIP(HostFree, pinned);
    hip_end();
    free(sent);
    free(received);
    free(filled);
    return 0;
}
