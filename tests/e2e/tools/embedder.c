/* A program's own recorder, preloaded into any program together with librtl.so: every record that it receives is a line of
 * the file RECORDS, in columns with tabs between them:
 *
 *   kernel  GPU  QUEUE  NAME  START  END  GRID  WORKGROUP  CORRELATION  RANGE  TID  MANGLED  ENQUEUED
 *   copy    FROM  TO  BYTES  START  END  CORRELATION  RANGE  TID  ENQUEUED   -1 is the host
 *   barrier GPU  QUEUE  START  END  CORRELATION  RANGE  TID  ENQUEUED
 *   range   KIND  ID  TEXT  START  END  TID
 *   call    DOMAIN  FUNCTION  START  END  CORRELATION  PARENT  STATUS  TID  ARGUMENTS
 *   launch  CORRELATION  GROUPS x3  WORKGROUP x3  LDS                        behind its call
 *   asked   CORRELATION  BYTES  DESTINATION  SOURCE  WIDTH  HEIGHT  KIND  IS_FILL
 *   name    KIND  NUMBER  TEXT
 *   count   KIND  SEEN  DELIVERED  LOST  BEHIND  SKIPPED                     once, when the process exits
 *
 * A wrong call of a callback is a line that begins with `wrong`. EMBED_ONLY=copies registers the callback of copies alone, as do
 * the names of the other kinds; EMBED_ONLY=calls also registers those of kernels and copies. EMBED_OPTIONS is a number. */
#define _GNU_SOURCE
#include "../../../tracer/include/rtl.h"
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *records;
static int is_inside, has_ended;
static pid_t thread;

static void enter(size_t count, void *data) {
    if (__atomic_exchange_n(&is_inside, 1, __ATOMIC_ACQ_REL)) fprintf(records, "wrong\ttwo callbacks at a time\n");
    if (!thread) thread = gettid();
    if (thread != gettid()) fprintf(records, "wrong\ton two threads\n");
    if (thread == getpid()) fprintf(records, "wrong\ton the main thread\n");
    if (has_ended) fprintf(records, "wrong\tcalled after the end\n");
    if (count == 0) fprintf(records, "wrong\tnothing to deliver\n");
    if (data != &records) fprintf(records, "wrong\tnot the data that was registered\n");
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!sigismember(&blocked, SIGUSR1)) fprintf(records, "wrong\tsignals may come\n");
    if (rtl_flush(0) != RTL_ERROR_CALLBACK || rtl_stop(0) != RTL_ERROR_CALLBACK)
        fprintf(records, "wrong\ta callback may wait for itself\n");
}

static void leave(void) {
    __atomic_store_n(&is_inside, 0, __ATOMIC_RELEASE);
}

static void on_kernels(const struct rtl_kernel *kernels, size_t count, void *data) {
    enter(count, data);
    for (size_t at = 0; at < count; at++) {
        const struct rtl_kernel *kernel = &kernels[at];
        if (strlen(kernel->name) != kernel->name_length || strlen(kernel->mangled) != kernel->mangled_length)
            fprintf(records, "wrong\tlength of a name\n");
        if (!kernel->queue) fprintf(records, "wrong\tno queue\n");
        fprintf(records,
                "kernel\t%u\t%u\t%s\t%" PRId64 "\t%" PRId64 "\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%u\t%s\t%" PRId64
                "\n",
                kernel->gpu, kernel->queue_id, kernel->name, kernel->start, kernel->end, kernel->grid[0],
                kernel->workgroup[0], kernel->correlation_id, kernel->range_id, kernel->tid, kernel->mangled,
                kernel->enqueued);
    }
    leave();
}

static void on_copies(const struct rtl_copy *copies, size_t count, void *data) {
    enter(count, data);
    for (size_t at = 0; at < count; at++) {
        const struct rtl_copy *copy = &copies[at];
        fprintf(records,
                "copy\t%d\t%d\t%" PRIu64 "\t%" PRId64 "\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRId64 "\n",
                copy->source, copy->destination, copy->bytes, copy->start, copy->end, copy->correlation_id,
                copy->range_id, copy->tid, copy->enqueued);
    }
    leave();
}

static void on_barriers(const struct rtl_barrier *barriers, size_t count, void *data) {
    enter(count, data);
    for (size_t at = 0; at < count; at++) {
        const struct rtl_barrier *barrier = &barriers[at];
        if (!barrier->queue) fprintf(records, "wrong\ta barrier without a queue\n");
        fprintf(records,
                "barrier\t%u\t%u\t%" PRId64 "\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRId64 "\n",
                barrier->gpu, barrier->queue_id, barrier->start, barrier->end, barrier->correlation_id,
                barrier->range_id, barrier->tid, barrier->enqueued);
    }
    leave();
}

static void on_ranges(const struct rtl_range *ranges, size_t count, void *data) {
    enter(count, data);
    for (size_t at = 0; at < count; at++) {
        const struct rtl_range *range = &ranges[at];
        if (strlen(range->text) != range->text_length) fprintf(records, "wrong\tlength of a text\n");
        fprintf(records, "range\t%u\t%" PRIu64 "\t%s\t%" PRId64 "\t%" PRId64 "\t%u\n", range->kind, range->range_id,
                range->text, range->start, range->end, range->tid);
    }
    leave();
}

static void on_calls(const struct rtl_call *calls, size_t count, void *data) {
    enter(count, data);
    for (size_t at = 0; at < count; at++) {
        const struct rtl_call *call = &calls[at];
        const char *arguments = call->arguments ? call->arguments : "";
        if (strlen(call->function) != call->function_length || strlen(arguments) != call->arguments_length)
            fprintf(records, "wrong\tlength of a text of a call\n");
        fprintf(records,
                "call\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\t%u\t%s\n", call->domain,
                call->function, call->start, call->end, call->correlation_id, call->parent_id, call->status, call->tid,
                arguments);
        const struct rtl_launch_params *launch = call->launch;
        if (launch)
            fprintf(records, "launch\t%" PRIu64 "\t%u\t%u\t%u\t%u\t%u\t%u\t%" PRIu64 "\n", call->correlation_id,
                    launch->groups[0], launch->groups[1], launch->groups[2], launch->workgroup[0],
                    launch->workgroup[1], launch->workgroup[2], launch->lds);
        const struct rtl_copy_params *copy = call->copy;
        if (copy)
            fprintf(records,
                    "asked\t%" PRIu64 "\t%" PRIu64 "\t0x%" PRIx64 "\t0x%" PRIx64 "\t%" PRIu64 "\t%" PRIu64
                    "\t%d\t%u\n",
                    call->correlation_id, copy->bytes, copy->destination, copy->source, copy->width, copy->height,
                    copy->kind, copy->is_fill);
    }
    leave();
}

static void on_names(const struct rtl_name *names, size_t count, void *data) {
    enter(count, data);
    for (size_t at = 0; at < count; at++) {
        const struct rtl_name *name = &names[at];
        if (strlen(name->text) != name->text_length) fprintf(records, "wrong\tlength of a name\n");
        fprintf(records, "name\t%u\t%" PRIu64 "\t%s\n", name->kind, name->number, name->text);
    }
    leave();
}

static void print_counts(const char *kind, const struct rtl_counts *counts) {
    fprintf(records, "count\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", kind, counts->seen,
            counts->delivered, counts->lost, counts->lost_behind, counts->skipped);
}

static void print_all_counts(const struct rtl_counters *counters) {
    print_counts("kernels", &counters->kernels);
    print_counts("copies", &counters->copies);
    print_counts("barriers", &counters->barriers);
    print_counts("ranges", &counters->ranges);
    print_counts("calls", &counters->calls);
}

static void on_end(const struct rtl_counters *counters, void *data) {
    enter(1, data);
    has_ended = 1;
    if (counters->size != sizeof *counters) fprintf(records, "wrong\tsize of the counters\n");
    print_all_counts(counters);
    leave();
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("RECORDS"), *only = getenv("EMBED_ONLY"), *options = getenv("EMBED_OPTIONS");
    struct rtl_callbacks callbacks = {
        .size = sizeof callbacks, .data = &records, .mode = "standard", .names = on_names, .ended = on_end};
    if (options) callbacks.options = (uint32_t)strtoul(options, NULL, 10);
    if (!only || strcmp(only, "kernels") == 0) callbacks.kernels = on_kernels;
    if (!only || strcmp(only, "copies") == 0) callbacks.copies = on_copies;
    if (!only || strcmp(only, "ranges") == 0) callbacks.ranges = on_ranges;
    if (!only || strcmp(only, "barriers") == 0) callbacks.barriers = on_barriers;
    /* These are optional, because with them the numbers of kernels mean something else. */
    if (only && strcmp(only, "calls") == 0) {
        callbacks.kernels = on_kernels;
        callbacks.copies = on_copies;
        callbacks.calls = on_calls;
    }
    records = path ? fopen(path, "w") : NULL;
    if (!records) abort();
    rtl_status status = rtl_set_callbacks(&callbacks);
    if (status != RTL_OK) fprintf(records, "wrong\t%s\n", rtl_status_text(status));
}

__attribute__((destructor)) static void end(void) {
    struct rtl_counters counters = {.size = sizeof counters};
    rtl_status status = rtl_stop(60000);
    if (status != RTL_OK) fprintf(records, "wrong\tstop: %s\n", rtl_status_text(status));
    status = rtl_get_counters(&counters);
    if (status != RTL_OK) fprintf(records, "wrong\tcounters: %s\n", rtl_status_text(status));
    /* The recording ended before with the runtime, or with this, or there was none. */
    uint64_t seen = counters.kernels.seen + counters.copies.seen + counters.ranges.seen + counters.calls.seen;
    if (seen && !has_ended) fprintf(records, "wrong\tthe end was not told\n");
    if (!has_ended) print_all_counts(&counters);
    fclose(records);
}
