/* Preloaded, it makes a list of the runtime grow slowly, so that a thread which adds to it without a lock meets
 * another one that does. */
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

enum { LONGEST = 128, MICROSECONDS = 300 };

/* This is operator new(size_t). Sizes that double from 8 bytes on are those of a list of pointers. */
void *_Znwm(size_t size) {
    void *memory = malloc(size);
    if (memory == NULL) abort();
    if (size >= 8 && size <= LONGEST && (size & (size - 1)) == 0) usleep(MICROSECONDS);
    return memory;
}

void _ZdlPv(void *memory) {
    free(memory);
}

void _ZdlPvm(void *memory, size_t size) {
    (void)size;
    free(memory);
}
