/* Copies, fills and allocations by functions of HIP that the other programs do not call, each with a size of its own:
 *
 *   hip_memory CODE_OBJECT HOW
 *
 * HOW  peers     from the first GPU to the others, with peer access, by every function that does so
 *      pools     memory of a stream's pool and of one of its own, freed in the stream among kernels that use it
 *      threads   copies and fills on the default stream of each of two threads (`_spt`)
 *
 * Into REPORT goes, per copy or fill:  asked <TAB> function <TAB> bytes <TAB> kind as HIP numbers them, 5 of a fill. Prints
 * a function that fails:  function <TAB> status; and of copies:  way <TAB> GPU <TAB> same or differs. Then what hip.h says. */
#define HIP_MORE(F)                                                               \
    F(MemcpyDtoD, (void *, void *, size_t))                                       \
    F(MemcpyDtoDAsync, (void *, void *, size_t, hip_stream))                      \
    F(MemcpyWithStream, (void *, const void *, size_t, int, hip_stream))          \
    F(Memcpy_spt, (void *, const void *, size_t, int))                            \
    F(MemcpyAsync_spt, (void *, const void *, size_t, int, hip_stream))           \
    F(Memset_spt, (void *, int, size_t))                                          \
    F(StreamSynchronize_spt, (hip_stream))                                        \
    F(DeviceGetDefaultMemPool, (void **, int))                                    \
    F(MemPoolCreate, (void **, const struct pool *))                              \
    F(MemPoolTrimTo, (void *, size_t))                                            \
    F(MemPoolDestroy, (void *))                                                   \
    F(MallocAsync, (void **, size_t, hip_stream))                                 \
    F(MallocFromPoolAsync, (void **, size_t, void *, hip_stream))                 \
    F(FreeAsync, (void *, hip_stream))

#include <stddef.h>
/* hipMemPoolProps; what is said of a pool that HIP may choose the size of. */
struct pool {
    int allocation, handles, location, device;
    void *security;
    unsigned char reserved[64];
};
#include "hip.h"

#include <pthread.h>

enum { DEFAULT = 4, FILL = 5, PINNED = 1, ON_DEVICE = 1, ROUNDS = 5, ELEMENTS = 1024 };
#define MOST_BYTES (1 << 20)

static FILE *report;
static pthread_mutex_t reporting = PTHREAD_MUTEX_INITIALIZER;
static unsigned char sent[MOST_BYTES];

static void note(const char *function, size_t size, int kind) {
    if (report) fprintf(report, "asked\t%s\t%zu\t%d\n", function, size, kind);
}

/* How much the next copy or fill is of: 4 bytes more than the last one. */
static size_t asked(const char *function, int kind) {
    static size_t bytes = 100000;
    pthread_mutex_lock(&reporting);
    size_t size = bytes += 4;
    note(function, size, kind);
    pthread_mutex_unlock(&reporting);
    return size;
}

static void compare(const char *way, int gpu, const void *received, size_t size) {
    printf("%s\t%d\t%s\n", way, gpu, memcmp(sent, received, size) == 0 ? "same" : "differs");
}

/* Copies what the first GPU has by a function with these arguments, and looks at what has come. */
#define FROM_PEER(name, kind, ...)                                                           \
    do {                                                                                     \
        HIP(MemsetAsync, memory[gpu], 0, asked("hipMemsetAsync", FILL), stream);             \
        HIP(StreamSynchronize, stream);                                                      \
        size_t size = asked("hip" #name, kind);                                              \
        HIP(name, __VA_ARGS__);                                                              \
        HIP(DeviceSynchronize);                                                              \
        HIP(Memcpy, received, memory[gpu], asked("hipMemcpy", DEVICE_TO_HOST), DEVICE_TO_HOST); \
        compare(#name, gpu, received, size);                                                 \
    } while (0)

static void peers(void) {
    static unsigned char received[MOST_BYTES];
    void *memory[MOST_GPUS];
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        HIP(SetDevice, gpu);
        HIP(Malloc, &memory[gpu], MOST_BYTES);
        for (int peer = 0; peer < gpu_count; peer++) {
            int reachable = 0;
            if (peer != gpu) HIP(DeviceCanAccessPeer, &reachable, gpu, peer);
            if (reachable) HIP(DeviceEnablePeerAccess, peer, 0);
        }
    }
    void *from = memory[0];
    note("hipMemcpy", MOST_BYTES, HOST_TO_DEVICE);
    HIP(Memcpy, from, sent, MOST_BYTES, HOST_TO_DEVICE);
    for (int gpu = 1; gpu < gpu_count; gpu++) {
        void *to = memory[gpu];
        hip_stream stream;
        HIP(SetDevice, gpu);
        HIP(StreamCreateWithFlags, &stream, NON_BLOCKING);
        FROM_PEER(MemcpyPeer, DEVICE_TO_DEVICE, to, gpu, from, 0, size);
        FROM_PEER(MemcpyPeerAsync, DEVICE_TO_DEVICE, to, gpu, from, 0, size, stream);
        FROM_PEER(MemcpyDtoD, DEVICE_TO_DEVICE, to, from, size);
        FROM_PEER(MemcpyDtoDAsync, DEVICE_TO_DEVICE, to, from, size, stream);
        FROM_PEER(Memcpy, DEFAULT, to, from, size, DEFAULT);
        FROM_PEER(MemcpyAsync, DEVICE_TO_DEVICE, to, from, size, DEVICE_TO_DEVICE, stream);
        FROM_PEER(MemcpyWithStream, DEVICE_TO_DEVICE, to, from, size, DEVICE_TO_DEVICE, stream);
        HIP(StreamDestroy, stream);
    }
    for (int gpu = 0; gpu < gpu_count; gpu++) HIP(Free, memory[gpu]);
}

static void pools(void) {
    struct pool properties = {.allocation = PINNED, .location = ON_DEVICE, .device = 0};
    void *pool, *of_device, *from;
    hip_stream stream;
    HIP(SetDevice, 0);
    HIP(Malloc, &from, MOST_BYTES);
    HIP(Memcpy, from, sent, asked("hipMemcpy", HOST_TO_DEVICE), HOST_TO_DEVICE);
    HIP(StreamCreateWithFlags, &stream, NON_BLOCKING);
    HIP(DeviceGetDefaultMemPool, &of_device, 0);
    HIP(MemPoolCreate, &pool, &properties);
    for (int round = 0; round < ROUNDS; round++) {
        void *memory;
        hip_called("hipMallocAsync");
        hip_error status = hip.MallocAsync(&memory, MOST_BYTES, stream);
        if (status != 0) {
            /* HIP 7 maps memory in a way that the simulated driver does not know. */
            printf("hipMallocAsync\t%d\n", status);
            break;
        }
        HIP(MemsetAsync, memory, round, asked("hipMemsetAsync", FILL), stream);
        hip_launch(0, round, stream, memory, from, ELEMENTS);
        HIP(FreeAsync, memory, stream);
        HIP(MallocFromPoolAsync, &memory, MOST_BYTES, pool, stream);
        hip_launch(0, round, stream, memory, from, ELEMENTS);
        HIP(MemcpyAsync, memory, sent, asked("hipMemcpyAsync", HOST_TO_DEVICE), HOST_TO_DEVICE, stream);
        HIP(FreeAsync, memory, stream);
    }
    HIP(StreamSynchronize, stream);
    HIP(MemPoolTrimTo, pool, 0);
    HIP(MemPoolDestroy, pool);
    HIP(StreamDestroy, stream);
    HIP(Free, from);
}

static void *on_own_default_stream(void *gpu) {
    int number = (int)(size_t)gpu;
    unsigned char *received = calloc(1, MOST_BYTES);
    void *memory;
    HIP(SetDevice, number);
    HIP(Malloc, &memory, MOST_BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        HIP(Memset_spt, memory, 0, asked("hipMemset_spt", FILL));
        HIP(Memcpy_spt, memory, sent, asked("hipMemcpy_spt", HOST_TO_DEVICE), HOST_TO_DEVICE);
        size_t size = asked("hipMemcpyAsync_spt", DEVICE_TO_HOST);
        HIP(MemcpyAsync_spt, received, memory, size, DEVICE_TO_HOST, NULL);
        HIP(StreamSynchronize_spt, NULL);
    }
    HIP(Free, memory);
    free(received);
    return NULL;
}

static void threads(void) {
    pthread_t all[2];
    for (size_t at = 0; at < 2; at++)
        if (pthread_create(&all[at], NULL, on_own_default_stream, (void *)(at % (size_t)gpu_count))) exit(1);
    for (int at = 0; at < 2; at++) pthread_join(all[at], NULL);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    report = getenv("REPORT") ? fopen(getenv("REPORT"), "w") : NULL;
    for (size_t at = 0; at < MOST_BYTES; at++) sent[at] = (unsigned char)(at * 13 + at / 251);
    hip_begin(argv[1]);
    if (strcmp(argv[2], "peers") == 0) peers();
    if (strcmp(argv[2], "pools") == 0) pools();
    if (strcmp(argv[2], "threads") == 0) threads();
    hip_end();
    if (report) fclose(report);
    return 0;
}
