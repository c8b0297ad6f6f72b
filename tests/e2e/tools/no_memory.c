/* Preloaded, it refuses memory to the tracer alone, which gets small pieces only.
 *   MEMORY_GRANTS  number of larger pieces that librtl.so gets before it gets none any more */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

enum { SMALL = 64 };

static uintptr_t start, end;
static long granted, grants = LONG_MAX;

static int find(struct dl_phdr_info *library, size_t size, void *unused) {
    (void)size, (void)unused;
    const char *name = strrchr(library->dlpi_name, '/');
    if (!name || strcmp(name, "/librtl.so")) return 0;
    for (int at = 0; at < library->dlpi_phnum; at++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[at];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        start = library->dlpi_addr + segment->p_vaddr;
        __atomic_store_n(&end, start + segment->p_memsz, __ATOMIC_RELEASE);
    }
    return 1;
}

/* The tracer is preloaded, so it is there by now. */
__attribute__((constructor)) static void begin(void) {
    const char *value = getenv("MEMORY_GRANTS");
    if (value) grants = atol(value);
    dl_iterate_phdr(find, NULL);
}

static int is_refused(const void *caller, size_t size) {
    if (size <= SMALL) return 0;
    if ((uintptr_t)caller >= __atomic_load_n(&end, __ATOMIC_ACQUIRE) || (uintptr_t)caller < start) return 0;
    if (__atomic_add_fetch(&granted, 1, __ATOMIC_RELAXED) <= grants) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    return is_refused(__builtin_return_address(0), size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return is_refused(__builtin_return_address(0), count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    return is_refused(__builtin_return_address(0), size) ? NULL : __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t align, size_t size) {
    if (is_refused(__builtin_return_address(0), size)) return ENOMEM;
    *memory = __libc_memalign(align, size);
    return *memory ? 0 : ENOMEM;
}
