/* Preloaded, it counts the allocations of a thread that has switched counting on. */
#include <stddef.h>
#include <stdint.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread int counting __attribute__((tls_model("initial-exec")));
static __thread uint64_t count __attribute__((tls_model("initial-exec")));

/* Returns the number since the last call with a true argument. */
uint64_t allocations(int count_from_here) {
    uint64_t counted = count;
    counting = count_from_here;
    count = 0;
    return counted;
}

void *malloc(size_t size) {
    count += counting != 0;
    return __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
    count += counting != 0;
    return __libc_calloc(items, size);
}

void *realloc(void *memory, size_t size) {
    count += counting != 0;
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count += counting != 0;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count += counting != 0;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : 12;
}
