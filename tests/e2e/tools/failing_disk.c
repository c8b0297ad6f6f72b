/* Preloaded, it puts files in a folder `traces` on a disk that fails.
 *   DISK_HOLDS     bytes that are written before it fails; without it writing succeeds
 *   DISK_ERROR     number in errno.h of the failure, or 0: the disk does not answer
 *   DISK_CLOSING   number of the failure of closing such a file, as on network file systems that wrote nothing before */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int64_t number(const char *name, int64_t otherwise) {
    const char *value = getenv(name);
    return value ? atoll(value) : otherwise;
}

static int is_trace(int file) {
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/thread-self/fd/%d", file);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, "/traces/") != NULL;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    static ssize_t (*original)(int, const void *, size_t, off64_t);
    static int64_t written;
    if (!original) original = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    int64_t holds = number("DISK_HOLDS", INT64_MAX);
    if (holds < INT64_MAX && is_trace(file)) {
        int error = (int)number("DISK_ERROR", ENOSPC);
        while (written >= holds && error == 0) pause();
        if (written >= holds) {
            errno = error;
            return -1;
        }
        // The last bytes that there is room for are written, as by a file system.
        if ((int64_t)count > holds - written) count = (size_t)(holds - written);
        written += (int64_t)count;
    }
    return original(file, bytes, count, offset);
}

int close(int file) {
    static int (*original)(int);
    if (!original) original = (int (*)(int))dlsym(RTLD_NEXT, "close");
    int error = (int)number("DISK_CLOSING", 0);
    int fails = error != 0 && is_trace(file);
    int closed = original(file);
    if (!fails) return closed;
    errno = error;
    return -1;
}
