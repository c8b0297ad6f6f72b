/* Makes the ROCm runtime of this machine one like ROCm 10's, as far as a tool can tell: an extension table of 744 bytes
 * (ROCM10_SIZE) and step 0x12 (ROCM10_STEP), hsa_amd_queue_create, by which every queue of the program is made, counted
 * queues, of which each acquisition has one of its own, and copies in batches.
 *
 * A queue of ROCM10_NO_BYTES cannot be created.
 *
 * Preloaded behind the simulator, it turns hsa_queue_create into a call with one descriptor. HSA_TOOLS_LIB names it before the
 * tracer, which finds the new table, and behind it, when what has been replaced there goes into the runtime's own. */
#define _GNU_SOURCE
#include "../../programs/copy_operation.h"
#include "../../programs/queue_descriptor.h"
#include "tool.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 744, STEP = 0x12, COPY = 136, ACQUIRE = 624, RELEASE = 632, BATCH_COPY = 640, CREATE = 704 };
enum { COUNTED_PACKETS = 1024 };
enum { VERSION = 1, PACKET = 64, NORMAL = 1 };

typedef hsa_status_t (*create_function)(hsa_agent_t, descriptor *, uint32_t);
typedef hsa_status_t (*set_priority_function)(hsa_queue_t *, hsa_amd_queue_priority_t);
typedef hsa_status_t (*set_mask_function)(const hsa_queue_t *, uint32_t, const uint32_t *);
typedef hsa_status_t (*destroy_function)(hsa_queue_t *);
typedef hsa_status_t (*acquire_function)(hsa_agent_t, hsa_queue_type32_t, uint32_t, queue_callback, void *, uint64_t,
                                         hsa_queue_t **);
typedef hsa_status_t (*copy_function)(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t,
                                      const hsa_signal_t *, hsa_signal_t);
typedef hsa_status_t (*batch_copy_function)(const copy_operation *, uint32_t, uint32_t, const hsa_signal_t *);

static char new_table[SIZE], *runtimes_table;
static struct { queue_create_function create; destroy_function destroy; copy_function copy; } plain;
static bool is_loaded;

/* The offset in a table of this size of the function that the new one has at `offset`; 0 where it is absent. */
static size_t runtimes_offset(size_t offset, uint32_t size) {
    if (size >= 440) return offset + sizeof(void *) <= size ? offset : 0;
    if (offset < 144) return offset;
    if (offset >= 160 && offset < 408) return offset - 16;
    return offset == 432 ? 392 : 0;
}

/* Copies functions of the runtime's table into the new one, or back. */
static void copy(bool is_back) {
    uint32_t size = ((const table_version *)runtimes_table)->minor;
    for (size_t offset = sizeof(table_version); offset < SIZE; offset += sizeof(void *)) {
        size_t theirs = runtimes_offset(offset, size);
        if (!theirs) continue;
        if (is_back) memcpy(runtimes_table + theirs, new_table + offset, sizeof(void *));
        else memcpy(new_table + offset, runtimes_table + theirs, sizeof(void *));
    }
}

static void *of_runtime(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function) return function;
    void *runtime = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return runtime ? dlsym(runtime, name) : 0;
}

static uint32_t number(const char *name, uint32_t otherwise) {
    const char *asked = getenv(name);
    return asked ? strtoul(asked, 0, 0) : otherwise;
}

static hsa_status_t create_one(hsa_agent_t agent, descriptor *asked) {
    asked->queue = 0;
    bool is_whole = asked->size && !(asked->size & (asked->size - 1)) && asked->size % PACKET == 0;
    if (asked->version != VERSION || !is_whole || asked->type > HSA_QUEUE_TYPE_COOPERATIVE) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (asked->engine > SDMA) return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
    if (asked->size == number("ROCM10_NO_BYTES", 0)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    hsa_queue_t *queue;
    hsa_status_t status = plain.create(agent, asked->size / PACKET, asked->type, asked->callback, asked->data,
                                       asked->private_segment_size, UINT32_MAX, &queue);
    if (status != HSA_STATUS_SUCCESS) return status;
    if (asked->priority != NORMAL)
        status = ((set_priority_function)of_runtime("hsa_amd_queue_set_priority"))(queue, asked->priority);
    // Any other status, HSA_STATUS_CU_MASK_REDUCED among them, destroys the queue.
    if (status == HSA_STATUS_SUCCESS && asked->cu_mask_count)
        status = ((set_mask_function)of_runtime("hsa_amd_queue_cu_set_mask"))(queue, asked->cu_mask_count, asked->cu_mask);
    if (status == HSA_STATUS_SUCCESS) asked->queue = queue;
    else plain.destroy(queue);
    return status;
}

static hsa_status_t create_all(hsa_agent_t agent, descriptor *asked, uint32_t count) {
    if (!asked || !count) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t first = HSA_STATUS_SUCCESS;
    for (uint32_t at = 0; at < count; at++) {
        hsa_status_t status = create_one(agent, asked + at);
        if (first == HSA_STATUS_SUCCESS) first = status;
    }
    return first;
}

static hsa_status_t acquire(hsa_agent_t agent, hsa_queue_type32_t type, uint32_t priority, queue_callback callback, void *data,
                            uint64_t flags, hsa_queue_t **queue) {
    (void)flags;
    if (type != HSA_QUEUE_TYPE_MULTI) return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
    if (priority > NORMAL + 1 || !queue) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return plain.create(agent, COUNTED_PACKETS, type, callback, data, UINT32_MAX, UINT32_MAX, queue);
}

static hsa_status_t release(hsa_queue_t *queue) {
    return plain.destroy(queue);
}

/* Does what the runtime does without SDMA, where it exchanges nothing. Entries decrement the signal together, once. */
static hsa_status_t copy_one(const copy_operation *asked, uint32_t count, const hsa_signal_t *signals) {
    bool is_known = asked->version == 1 && asked->type <= BROADCAST && asked->completion.handle;
    if (!is_known || (asked->type == BROADCAST && !asked->entries)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!asked->source || !asked->destination) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!asked->entries)
        return plain.copy(asked->destination, asked->destination_agent, asked->source, asked->source_agent, asked->size,
                          count, signals, asked->completion);
    hsa_signal_add_relaxed(asked->completion, asked->entries - 1);
    for (uint16_t at = 0; at < asked->entries; at++) {
        bool is_one = asked->type == BROADCAST;
        hsa_status_t status = plain.copy(asked->destinations[at], asked->destination_agents[at],
                                         is_one ? asked->source : asked->sources[at], asked->source_agent,
                                         is_one ? asked->size : asked->sizes[at], count, signals, asked->completion);
        if (status != HSA_STATUS_SUCCESS) return status;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t batch_copy(const copy_operation *asked, uint32_t count, uint32_t dependencies,
                               const hsa_signal_t *signals) {
    if (!asked || !count) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint32_t at = 0; at < count; at++) {
        hsa_status_t status = copy_one(asked + at, dependencies, signals);
        if (status != HSA_STATUS_SUCCESS) return status;
    }
    return HSA_STATUS_SUCCESS;
}

static void find_plain(void) {
    if (plain.create) return;
    plain.destroy = (destroy_function)of_runtime("hsa_queue_destroy");
    plain.copy = (copy_function)of_runtime("hsa_amd_memory_async_copy");
    plain.create = (queue_create_function)of_runtime("hsa_queue_create");
}

hsa_status_t hsa_amd_counted_queue_acquire(hsa_agent_t agent, hsa_queue_type32_t type, uint32_t priority,
                                           queue_callback callback, void *data, uint64_t flags, hsa_queue_t **queue) {
    find_plain();
    acquire_function call = is_loaded ? ENTRY(acquire_function, new_table, ACQUIRE) : acquire;
    return call(agent, type, priority, callback, data, flags, queue);
}

hsa_status_t hsa_amd_counted_queue_release(hsa_queue_t *queue) {
    return (is_loaded ? ENTRY(destroy_function, new_table, RELEASE) : release)(queue);
}

hsa_status_t hsa_amd_memory_async_batch_copy(const copy_operation *asked, uint32_t count, uint32_t dependencies,
                                             const hsa_signal_t *signals) {
    find_plain();
    batch_copy_function call = is_loaded ? ENTRY(batch_copy_function, new_table, BATCH_COPY) : batch_copy;
    return call(asked, count, dependencies, signals);
}

/* The runtime exports this function, too, and calls it through the table. */
hsa_status_t hsa_amd_queue_create(hsa_agent_t agent, descriptor *asked, uint32_t count) {
    if (is_loaded) return ENTRY(create_function, new_table, CREATE)(agent, asked, count);
    find_plain();
    return plain.create ? create_all(agent, asked, count) : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t packets, hsa_queue_type32_t type, queue_callback callback,
                              void *data, uint32_t scratch, uint32_t lds, hsa_queue_t **queue) {
    (void)lds;
    descriptor asked = {.version = VERSION, .size = packets * PACKET, .priority = NORMAL, .callback = callback,
                        .data = data, .type = type, .private_segment_size = scratch};
    hsa_status_t status = hsa_amd_queue_create(agent, &asked, 1);
    if (status == HSA_STATUS_SUCCESS) *queue = asked.queue;
    return status;
}

bool OnLoad(void *tables, uint64_t version, uint64_t failed, const char *const *names) {
    (void)version, (void)failed, (void)names;
    char **place = (char **)((char *)tables + AMD), *core = table_at(tables, CORE);
    if (*place == new_table) {
        copy(true);
        *place = runtimes_table;
        return true;
    }
    runtimes_table = *place;
    plain.create = ENTRY(queue_create_function, core, QUEUE_CREATE);
    plain.destroy = ENTRY(destroy_function, core, QUEUE_DESTROY);
    copy(false);
    *(table_version *)new_table = (table_version){2, number("ROCM10_SIZE", SIZE), number("ROCM10_STEP", STEP), 0};
    plain.copy = ENTRY(copy_function, new_table, COPY);
    ENTRY(acquire_function, new_table, ACQUIRE) = acquire;
    ENTRY(destroy_function, new_table, RELEASE) = release;
    ENTRY(batch_copy_function, new_table, BATCH_COPY) = batch_copy;
    ENTRY(create_function, new_table, CREATE) = create_all;
    *place = new_table;
    is_loaded = true;
    return true;
}

void OnUnload(void) {}
