/* The roctx that a program finds where no tool is loaded: every function returns what AMD's libraries return, and nothing
 * is recorded. Built as libroctx64.so.4, whose symbols have a version, and as librocprofiler-sdk-roctx.so.1. */
#define _GNU_SOURCE
#include <stdint.h>
#include <unistd.h>

static __thread int level;
static uint64_t started;

uint32_t roctx_version_major(void) { return 4; }
uint32_t roctx_version_minor(void) { return 1; }
void roctxMarkA(const char *message) { (void)message; }
int roctxRangePushA(const char *message) { (void)message; return level++; }
int roctxRangePop(void) { return level > 0 ? --level : -1; }
uint64_t roctxRangeStartA(const char *message) {
    (void)message;
    return __atomic_add_fetch(&started, 1, __ATOMIC_RELAXED);
}
void roctxRangeStop(uint64_t id) { (void)id; }
void roctxRegisterTracerCallback(void *callback) { (void)callback; }

int roctxProfilerPause(uint64_t tid) { (void)tid; return 0; }
int roctxProfilerResume(uint64_t tid) { (void)tid; return 0; }
int roctxNameOsThread(const char *name) { (void)name; return 0; }
int roctxNameHsaAgent(const char *name, const void *agent) { (void)name, (void)agent; return 0; }
int roctxNameHipDevice(const char *name, int device) { (void)name, (void)device; return 0; }
int roctxNameHipStream(const char *name, const void *stream) { (void)name, (void)stream; return 0; }
int roctxGetThreadId(uint64_t *tid) {
    *tid = (uint64_t)gettid();
    return 0;
}
