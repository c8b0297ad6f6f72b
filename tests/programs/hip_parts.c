/* Copies and memsets of parts: odd lengths at odd places, and rows out of wider ones. What a GPU has then is compared
 * with what the host did to memory of its own:
 *
 *   hip_parts CODE_OBJECT
 *
 * Prints, per way and GPU:  way <TAB> GPU <TAB> same or differs. Then what hip.h says: no kernel of its own is
 * launched. */
#include "hip.h"

#include <string.h>

#define BYTES 70001
#define PITCH 96
#define ROWS 50

static unsigned char expected[BYTES], found[BYTES];
/* At the beginning of a page: HIP 7.2.4 pins what it copies rows from, and aborts where the same first page was pinned for
 * a copy that ends in it and for one that goes beyond. */
static _Alignas(4096) unsigned char other[BYTES];

static void compare(const char *way, int gpu, const void *memory) {
    HIP(Memcpy, found, memory, BYTES, DEVICE_TO_HOST);
    printf("%s\t%d\t%s\n", way, gpu, memcmp(found, expected, BYTES) == 0 ? "same" : "differs");
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    hip_begin(argv[1]);
    for (int at = 0; at < BYTES; at++) other[at] = (unsigned char)(at * 7 + at / 256);
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        char *memory, *source;
        HIP(SetDevice, gpu);
        HIP(Malloc, (void **)&memory, BYTES);
        HIP(Malloc, (void **)&source, BYTES);
        HIP(Memcpy, source, other, BYTES, HOST_TO_DEVICE);

        memset(expected, 0x11, BYTES);
        HIP(MemsetAsync, memory, 0x11, BYTES, NULL);
        compare("fill", gpu, memory);
        /* Not shorter: the oldest runtime counts below 0 where no whole word of 8 bytes is inside. */
        for (int length = 17; length <= 53; length += 4) {
            memset(expected + 3 * length, length, (size_t)length);
            HIP(MemsetAsync, memory + 3 * length, length, (size_t)length, NULL);
        }
        compare("fill-part", gpu, memory);
        for (int length = 1; length <= 37; length += 4) {
            memcpy(expected + 1000 * length, other + 900 * length + 1, (size_t)length * 21);
            HIP(MemcpyAsync, memory + 1000 * length, source + 900 * length + 1, (size_t)length * 21,
                DEVICE_TO_DEVICE, NULL);
        }
        compare("device-part", gpu, memory);
        /* Widths that are whole units of 16, of 4 and of 1 byte. */
        for (int width = 32; width <= 41; width += width == 32 ? 4 : 5) {
            for (int row = 0; row < ROWS; row++) memcpy(expected + row * PITCH, other + row * 2 * PITCH, (size_t)width);
            HIP(Memcpy2D, memory, PITCH, source, 2 * PITCH, (size_t)width, ROWS, DEVICE_TO_DEVICE);
            compare("device-rows", gpu, memory);
            for (int row = 0; row < ROWS; row++) memset(expected + row * PITCH, width, (size_t)width);
            HIP(Memset2D, memory, PITCH, width, (size_t)width, ROWS);
            compare("fill-rows", gpu, memory);
            for (int row = 0; row < ROWS; row++) memcpy(expected + row * PITCH, other + row * width, (size_t)width);
            HIP(Memcpy2D, memory, PITCH, other, (size_t)width, (size_t)width, ROWS, HOST_TO_DEVICE);
            compare("host-rows", gpu, memory);
        }
        HIP(Free, memory);
        HIP(Free, source);
    }
    hip_end();
    return 0;
}
