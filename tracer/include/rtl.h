/* rtl.h - the tracer within a program of your own: what the GPU did, as records instead of a file.
 *
 *     struct rtl_callbacks callbacks = {sizeof callbacks};
 *     callbacks.kernels = on_kernels;
 *     if (rtl_set_callbacks(&callbacks) != RTL_OK) ...
 *     ... the program ...
 *     rtl_flush(1000);    everything that has completed has been delivered
 *     rtl_stop(1000);     nothing is delivered any more
 *
 * Link with -lrtl, or load librtl.so in any other way before the ROCm runtime starts; HSA_TOOLS_LIB need not be set
 * (docs/guide/embedding.md; there also: the static library). While callbacks are registered no file is written.
 *
 * Threads. Callbacks are called on one thread of the library's own, one at a time, with batches. All signals are
 * blocked on it. No thread of the program waits for a callback: while one takes long, records queue up, as many
 * kernels as RTL_BUFFER holds, and what does not find room is left out and counted (lost_behind).
 *
 * Within a callback. It may use the GPU, HIP and roctx, and wait for what it asks of them: that is recorded like
 * anything else, so a callback that always launches something is always called again. It may ask for counters.
 * rtl_flush and rtl_stop would wait for themselves: RTL_ERROR_CALLBACK. It may end the process by exit; what has not been
 * delivered by then is not. It must return otherwise: not by longjmp, not by pthread_exit, and an exception of C++ that
 * leaves it ends the process (SIGABRT). The child of a fork in it has this thread alone, and ends with 0 when the
 * callback returns.
 *
 * Memory. Records, and what they point to, are the library's and stay until the callback returns. What
 * `data` points to must outlive rtl_stop, or the process: the last batches come at its end (objects with static storage
 * that were made before the ROCm runtime was started outlive that).
 *
 * Time is in nanoseconds of CLOCK_BOOTTIME, the clock of the ROCm runtime.
 *
 * Settings of the environment (docs/reference/env.md) hold where rtl_callbacks does not say otherwise: RTL_COPY, RTL_START, the filters
 * of calls... setenv before rtl_set_callbacks is early enough.
 *
 * Versions. A struct with a `size` may grow at its end; sizeof says which one the program knows. A program may be older
 * than the library, or newer: then it must do without what the library does not know (RTL_ERROR_UNSUPPORTED). A record
 * never changes: another one gets another callback. Kinds and statuses may be added.
 */
#ifndef RTL_H
#define RTL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a call. */
typedef enum rtl_status {
    RTL_OK = 0,
    /* A pointer is NULL, `size` is not that of the struct, `mode` is none, or no callback for records is set. */
    RTL_ERROR_ARGUMENT = 1,
    /* Too late: the ROCm runtime runs already, or something has been recorded. */
    RTL_ERROR_LATE = 2,
    /* Someone in this process has registered before. There is room for one: who comes second does without, or has the
     * first one pass records on. */
    RTL_ERROR_REGISTERED = 3,
    /* The ROCm runtime could not load this library: it is linked statically into an executable, or does not export
     * OnLoad and OnUnload. */
    RTL_ERROR_UNREACHABLE = 4,
    /* It is not done yet; it goes on. */
    RTL_ERROR_TIMEOUT = 5,
    /* Called by a callback. */
    RTL_ERROR_CALLBACK = 6,
    /* The library itself failed. */
    RTL_ERROR_FAILURE = 7,
    /* The library is older than the program, which asks for something that it does not know. */
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
    /* As a person reads it, and as the code object has it. Both end with a 0. */
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

/* What a call that launches a kernel asks for. */
struct rtl_launch_params {
    /* Work-groups, and work-items of each. */
    uint32_t groups[3];
    uint32_t workgroup[3];
    /* Dynamic LDS of a work-group in bytes. */
    uint64_t lds;
};

/* What a call that copies or fills asks for. */
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

/* A call of an interface, when it has returned (docs/guide/embedding.md says what makes calls known). */
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
    /* What it asked for, with or without RTL_ARGUMENTS; NULL where it is no call of HIP that launches, or copies. */
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

/* What has a name. */
enum {
    /* What a GPU is: `AMD Instinct MI300X`. `number` is that of the GPU in records, as of the next two. */
    RTL_NAME_GPU = 0,
    /* `gfx942` */
    RTL_NAME_GPU_TARGET = 1,
    /* Where it is on the bus: `0000:83:00.0`, by which other tools know it. */
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

/* What something is called. Of several names the last one holds. */
struct rtl_name {
    uint64_t number;
    /* Ends with a 0. */
    const char *text;
    /* In bytes, without the 0. */
    uint32_t text_length;
    uint32_t kind;
};

/* What became of everything of one kind: seen = delivered + lost + skipped, and what is on its way. Of ranges only
 * those are seen of which one of the others is known. */
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

/* More that can be known of each record, and costs something: together in rtl_callbacks.options. */
enum {
    /* When kernels, copies and barriers were enqueued; as RTL_HSA_HOST_DISPATCH=1. */
    RTL_ENQUEUED = 1,
    /* The arguments of calls as text; as RTL_HIP_ARGS=1 and RTL_HSA_ARGS=1. */
    RTL_ARGUMENTS = 2
};

/* Who is told what. Set `size`, and everything that is not wanted to 0. */
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
    /* With this, kernels are recorded as in mode "standard". Calls that have not returned are not told. */
    void (*calls)(const struct rtl_call *calls, size_t count, void *data);
    /* With this, queues are recorded as for kernels. */
    void (*barriers)(const struct rtl_barrier *barriers, size_t count, void *data);
    /* Names come before the first record that they are needed for, but those of roctx, which come when they are given. */
    void (*names)(const struct rtl_name *names, size_t count, void *data);
    /* The recording has ended, by rtl_stop, with the runtime or with the process: the last callback, with what was lost. */
    void (*ended)(const struct rtl_counters *counters, void *data);
    /* RTL_ENQUEUED and the like, added up. */
    uint32_t options;
    uint32_t reserved;
};


/* Registers callbacks. To be called once, before the ROCm runtime starts (hsa_init, which HIP calls when it is used
 * first) and before the first range, best at the beginning of main: it sets environment variables, which is only
 * safe while no other thread reads them. The struct is copied.
 *
 * In the child of a fork nothing is registered, delivered or written; it may register again for itself. Programs that
 * are started by this one are not recorded. */
rtl_status rtl_set_callbacks(const struct rtl_callbacks *callbacks);

/* Has everything delivered that has completed by now, and waits for it; at most so many milliseconds. What a thread
 * knows to be complete (it has waited for it) is delivered when this returns RTL_OK. */
rtl_status rtl_flush(uint32_t milliseconds);

/* Ends the recording: delivers what has completed, and waits at most so many milliseconds. After RTL_OK no callback is
 * called any more; after RTL_ERROR_TIMEOUT one may still be running, and calling again waits for it. For good: nothing
 * is recorded afterwards (roctxProfilerPause and roctxProfilerResume are for a while). Without it the recording ends with
 * the process, which waits half a second at most. */
rtl_status rtl_stop(uint32_t milliseconds);

/* Fills in what became of everything: as much of it as `size` says and the library knows. May be called at any time. */
rtl_status rtl_get_counters(struct rtl_counters *counters);

/* What a status means, in English. */
const char *rtl_status_text(rtl_status status);

#ifdef __cplusplus
}
#endif

#endif
