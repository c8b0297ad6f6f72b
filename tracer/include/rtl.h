/* rtl.h - the tracer as a library: GPU activity as records for callbacks instead of a file.
 *
 *     struct rtl_callbacks callbacks = {sizeof callbacks};
 *     callbacks.kernels = on_kernels;
 *     if (rtl_set_callbacks(&callbacks) != RTL_OK) ...
 *     ... the program ...
 *     rtl_flush(1000);    everything that has completed has been delivered
 *     rtl_stop(1000);     nothing more is delivered
 *
 * Link with -lrtl, or load librtl.so in any other way before the ROCm runtime starts; HSA_TOOLS_LIB need not be set
 * (docs/guide/embedding.md; there also: the static library). While callbacks are registered no file is written.
 *
 * Threads. One thread of the library calls the callbacks, one at a time, with batches. It blocks all signals. No thread
 * of the program waits for a callback: while one runs, records queue up, as many kernels as RTL_BUFFER holds. The
 * library drops and counts records beyond that (lost_behind).
 *
 * Within a callback. It may use the GPU, HIP and roctx, and wait for them. Work launched from a callback is recorded
 * too, so a callback that always launches never stops being called. It may read counters. rtl_flush and rtl_stop would
 * wait for themselves and return RTL_ERROR_CALLBACK. A callback may end the process by exit; records that are not
 * delivered by then are dropped. Otherwise it must return: not by longjmp, not by pthread_exit, and a C++ exception
 * that leaves it ends the process (SIGABRT). The child of a fork in a callback has this thread alone, and exits with 0
 * when the callback returns.
 *
 * Memory. The library owns records and what they point to until the callback returns. What `data` points to must
 * outlive rtl_stop, or the process: the last batches come at its end (objects with static storage that were constructed
 * before the ROCm runtime started outlive that).
 *
 * Time is in nanoseconds of CLOCK_BOOTTIME, the clock of the ROCm runtime.
 *
 * Environment variables (docs/reference/env.md) apply where rtl_callbacks does not override them: RTL_COPY, RTL_START,
 * the filters of calls. setenv before rtl_set_callbacks is early enough.
 *
 * Versions. A struct with a `size` may grow at its end; sizeof states the version that the program knows. A library that
 * is older than the program returns RTL_ERROR_UNSUPPORTED for options that it does not know. A record never changes: a
 * new one gets a new callback. Kinds and statuses may be added.
 */
#ifndef RTL_H
#define RTL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result of a function of this header. */
typedef enum rtl_status {
    RTL_OK = 0,
    /* A pointer is NULL, `size` is not that of the struct, `mode` is none, or no callback for records is set. */
    RTL_ERROR_ARGUMENT = 1,
    /* Too late: the ROCm runtime runs already, or something has been recorded. */
    RTL_ERROR_LATE = 2,
    /* The process has registered callbacks before. One registration per process; later callers must share it. */
    RTL_ERROR_REGISTERED = 3,
    /* The ROCm runtime could not load this library: it is linked statically into an executable, or does not export
     * OnLoad and OnUnload. */
    RTL_ERROR_UNREACHABLE = 4,
    /* Not finished in time; the library continues. */
    RTL_ERROR_TIMEOUT = 5,
    /* Called from a callback. */
    RTL_ERROR_CALLBACK = 6,
    /* The library itself failed. */
    RTL_ERROR_FAILURE = 7,
    /* The library is older than the program and does not know an option. */
    RTL_ERROR_UNSUPPORTED = 8
} rtl_status;

/* A kernel that ran. */
struct rtl_kernel {
    int64_t start;
    int64_t end;
    /* When it was enqueued; 0 without RTL_ENQUEUED. */
    int64_t enqueued;
    /* With calls: that of the call that it was enqueued in, 0 for none. Without: unique among all kernels and copies of the
     * process, rising in the order of submission within a queue. */
    uint64_t correlation_id;
    /* The innermost range that was open in the thread that submitted it: its range_id; 0 for none. */
    uint64_t range_id;
    /* Demangled, and as in the code object. Both end with a 0. */
    const char *name;
    const char *mangled;
    /* The hsa_queue_t, which may be gone by now. */
    const void *queue;
    /* In bytes, without the 0. */
    uint32_t name_length;
    uint32_t mangled_length;
    /* The same for every launch of a kernel, as long as its code object stays loaded. Below the number of kernels so
     * far, so that it can be an index. */
    uint32_t kernel_id;
    /* In the order in which the ROCm runtime lists GPUs, from 0. */
    uint32_t gpu;
    /* Queues are numbered as they are created, from 0, and no number is used again. */
    uint32_t queue_id;
    /* The thread that submitted it. */
    uint32_t tid;
    /* In work-items. */
    uint32_t grid[3];
    uint32_t workgroup[3];
    /* Bytes of a work-group, static and dynamic. */
    uint32_t lds;
    /* Bytes of a work-item. */
    uint32_t scratch;
    /* Vector, accumulation and scalar registers, as the code object says; 0 where it does not. */
    uint32_t vgprs;
    uint32_t agprs;
    uint32_t sgprs;
    uint32_t reserved;
};

/* In place of the number of a GPU. */
#define RTL_HOST (-1)

/* A copy by the ROCm runtime (docs/guide/copies.md says which ones those are). */
struct rtl_copy {
    int64_t start;
    int64_t end;
    /* As of a kernel. */
    int64_t enqueued;
    uint64_t correlation_id;
    uint64_t range_id;
    uint64_t bytes;
    /* The GPU that is read from, or RTL_HOST. */
    int32_t source;
    /* The GPU that is written to, or RTL_HOST. */
    int32_t destination;
    /* The thread that submitted it. */
    uint32_t tid;
    uint32_t reserved;
};

/* A barrier packet: it runs from when the queue came to it until what it waited for had ended. */
struct rtl_barrier {
    int64_t start;
    int64_t end;
    /* As of a kernel. */
    int64_t enqueued;
    uint64_t correlation_id;
    uint64_t range_id;
    const void *queue;
    uint32_t gpu;
    uint32_t queue_id;
    uint32_t tid;
    uint32_t reserved;
};

/* Kinds of ranges. */
enum {
    /* roctxRangePush and roctxRangePop: it lies within those of its thread that were open. */
    RTL_RANGE_PUSHED = 0,
    /* roctxRangeStart and roctxRangeStop. */
    RTL_RANGE_STARTED = 1,
    /* roctxMark: it ends when it starts. */
    RTL_RANGE_MARKER = 2
};

/* A range or a marker, when it has ended. */
struct rtl_range {
    int64_t start;
    /* 0: it was still open when its thread or the recording ended. */
    int64_t end;
    /* Its own number, from 1. */
    uint64_t range_id;
    /* Ends with a 0. */
    const char *text;
    /* In bytes, without the 0. */
    uint32_t text_length;
    /* The thread that began it. */
    uint32_t tid;
    uint32_t kind;
    uint32_t reserved;
};

/* Parameters of a call that launches a kernel. */
struct rtl_launch_params {
    /* Work-groups, and work-items of each. */
    uint32_t groups[3];
    uint32_t workgroup[3];
    /* Dynamic LDS of a work-group in bytes. */
    uint64_t lds;
};

/* Parameters of a call that copies or fills. */
struct rtl_copy_params {
    uint64_t bytes;
    /* Addresses; a fill has no source: 0. */
    uint64_t destination;
    uint64_t source;
    /* Bytes of a row, and how many rows; 0 where it is not in rows. */
    uint64_t width;
    uint64_t height;
    /* hipMemcpyKind, also where the function's name says it; -1 where nothing does. */
    int32_t kind;
    /* 1 for a fill. */
    uint32_t is_fill;
};

/* A call that has returned (docs/guide/embedding.md lists the sources of calls). */
struct rtl_call {
    int64_t start;
    int64_t end;
    /* From 1; kernels and copies that it has enqueued carry it. */
    uint64_t correlation_id;
    /* Of the call that it was made in; 0 for none. */
    uint64_t parent_id;
    /* The hipStream_t that it was given; 0 for none, or the default one. */
    uint64_t stream;
    /* "HIP", or "HSA" where RTL_HSA_API_FILTER asks for such. Ends with a 0, as the others. */
    const char *domain;
    const char *function;
    /* NULL without RTL_ARGUMENTS, and for a call without any. */
    const char *arguments;
    /* With or without RTL_ARGUMENTS; NULL for anything but HIP calls that launch or copy. */
    const struct rtl_launch_params *launch;
    const struct rtl_copy_params *copy;
    /* In bytes, without the 0. */
    uint32_t function_length;
    uint32_t arguments_length;
    /* What it returned, where that is a status; 0 is success. */
    int32_t status;
    /* The thread that made it. */
    uint32_t tid;
};

/* Kinds of names. */
enum {
    /* The product name of a GPU: `AMD Instinct MI300X`. `number` is that of the GPU in records, as of the next two. */
    RTL_NAME_GPU = 0,
    /* `gfx942` */
    RTL_NAME_GPU_TARGET = 1,
    /* Its PCI address: `0000:83:00.0`. */
    RTL_NAME_GPU_PCI = 2,
    /* A thread, as the kernel or roctxNameOsThread says; `number` is its tid. */
    RTL_NAME_THREAD = 3,
    /* roctxNameHsaAgent; `number` is the handle. */
    RTL_NAME_AGENT = 4,
    /* roctxNameHipDevice; `number` is HIP's. */
    RTL_NAME_DEVICE = 5,
    /* roctxNameHipStream; `number` is the hipStream_t, as in rtl_call. */
    RTL_NAME_STREAM = 6
};

/* A name. A later name for the same number replaces an earlier one. */
struct rtl_name {
    uint64_t number;
    /* Ends with a 0. */
    const char *text;
    /* In bytes, without the 0. */
    uint32_t text_length;
    uint32_t kind;
};

/* Counters of one kind of record: seen = delivered + lost + skipped + not yet delivered. A range counts as seen when it is
 * delivered, lost or skipped. */
struct rtl_counts {
    uint64_t seen;
    uint64_t delivered;
    uint64_t lost;
    /* Of those lost: while the callbacks could not keep up. */
    uint64_t lost_behind;
    /* Left out on purpose: by the mode, while recording was paused, or because there is no callback for it. */
    uint64_t skipped;
};

/* Since the ROCm runtime was started last. */
struct rtl_counters {
    /* sizeof(struct rtl_counters) */
    size_t size;
    struct rtl_counts kernels;
    struct rtl_counts copies;
    struct rtl_counts ranges;
    struct rtl_counts calls;
    struct rtl_counts barriers;
};

/* Optional fields of records, which cost time; the bits of rtl_callbacks.options. */
enum {
    /* When kernels, copies and barriers were enqueued; as RTL_HSA_HOST_DISPATCH=1. */
    RTL_ENQUEUED = 1,
    /* The arguments of calls as text; as RTL_HIP_ARGS=1 and RTL_HSA_ARGS=1. */
    RTL_ARGUMENTS = 2
};

/* The callbacks of a program. Set `size`, and everything else to 0 or a value. */
struct rtl_callbacks {
    /* sizeof(struct rtl_callbacks) */
    size_t size;
    /* Passed on to each callback. */
    void *data;
    /* "lite", "standard" or "full" (docs/guide/modes.md); NULL: what RTL_MODE says, else "standard". */
    const char *mode;
    /* `count` is never 0. NULL: they are not recorded. */
    void (*kernels)(const struct rtl_kernel *kernels, size_t count, void *data);
    void (*copies)(const struct rtl_copy *copies, size_t count, void *data);
    void (*ranges)(const struct rtl_range *ranges, size_t count, void *data);
    /* With this, kernels are recorded as in mode "standard". Calls that have not returned are not delivered. */
    void (*calls)(const struct rtl_call *calls, size_t count, void *data);
    /* With this, queues are recorded as for kernels. */
    void (*barriers)(const struct rtl_barrier *barriers, size_t count, void *data);
    /* A name comes before the first record that refers to it; a name from roctx comes when the program gives it. */
    void (*names)(const struct rtl_name *names, size_t count, void *data);
    /* The last callback: the recording has ended, by rtl_stop, with the runtime or with the process. */
    void (*ended)(const struct rtl_counters *counters, void *data);
    /* RTL_ENQUEUED | RTL_ARGUMENTS. */
    uint32_t options;
    uint32_t reserved;
};

/* Registers callbacks. Call it once, before the ROCm runtime starts (hsa_init, which HIP calls at its first use) and
 * before the first range, best at the beginning of main: it sets environment variables, which is only safe while no
 * other thread reads them. The struct is copied.
 *
 * In the child of a fork nothing is registered, delivered or written; the child may register again. Programs that this
 * one starts are not recorded. */
rtl_status rtl_set_callbacks(const struct rtl_callbacks *callbacks);

/* Delivers everything that has completed by now, and waits for it for at most `milliseconds`. Work that the calling thread
 * has waited for is delivered when this returns RTL_OK. */
rtl_status rtl_flush(uint32_t milliseconds);

/* Ends the recording for good: delivers what has completed, and waits for at most `milliseconds`. After RTL_OK no callback
 * is called any more; after RTL_ERROR_TIMEOUT one may still be running, and calling again waits for it. Use
 * roctxProfilerPause and roctxProfilerResume to pause. Without rtl_stop the recording ends with the process, which waits
 * half a second at most. */
rtl_status rtl_stop(uint32_t milliseconds);

/* Fills in as many counters as `size` covers and the library knows. May be called at any time. */
rtl_status rtl_get_counters(struct rtl_counters *counters);

/* Description of a status, in English. */
const char *rtl_status_text(rtl_status status);

#ifdef __cplusplus
}
#endif

#endif
