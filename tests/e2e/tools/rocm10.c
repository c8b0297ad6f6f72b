/* Makes the ROCm runtime of this machine one like ROCm 10's, as far as a tool can tell: an extension table of 744 bytes
 * (ROCM10_SIZE) and step 0x12 (ROCM10_STEP), and hsa_amd_queue_create, by which every queue of the program is made.
 *
 * Preloaded behind the simulator, it turns hsa_queue_create into a call with one descriptor. HSA_TOOLS_LIB names it before the
 * tracer, which finds the new table, and behind it, when what has been replaced there goes into the runtime's own. */
#define _GNU_SOURCE
#include "../../programs/queue_descriptor.h"
#include "tool.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 744, STEP = 0x12, CREATE = 704 };
enum { VERSION = 1, PACKET = 64, NORMAL = 1 };

typedef hsa_status_t (*create_function)(hsa_agent_t, descriptor *, uint32_t);
typedef hsa_status_t (*set_priority_function)(hsa_queue_t *, hsa_amd_queue_priority_t);
typedef hsa_status_t (*set_mask_function)(const hsa_queue_t *, uint32_t, const uint32_t *);
typedef hsa_status_t (*destroy_function)(hsa_queue_t *);

static char new_table[SIZE], *runtimes_table;
static struct { queue_create_function create; destroy_function destroy; } plain;
static bool is_loaded;

/* Where the table of this size has what the new one has at `offset`; 0 for nowhere. */
static size_t runtimes_offset(size_t offset, uint32_t size) {
    if (size >= 440) return offset + sizeof(void *) <= size ? offset : 0;
    if (offset < 144) return offset;
    if (offset >= 160 && offset < 408) return offset - 16;
    return offset == 432 ? 392 : 0;
}

/* Functions of the runtime's table into the new one, or back. */
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

static hsa_status_t create_one(hsa_agent_t agent, descriptor *asked) {
    asked->queue = 0;
    bool is_whole = asked->size && !(asked->size & (asked->size - 1)) && asked->size % PACKET == 0;
    if (asked->version != VERSION || !is_whole || asked->type > HSA_QUEUE_TYPE_COOPERATIVE) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (asked->engine > SDMA) return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
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

/* As the runtime exports it: through the table. */
hsa_status_t hsa_amd_queue_create(hsa_agent_t agent, descriptor *asked, uint32_t count) {
    if (is_loaded) return ENTRY(create_function, new_table, CREATE)(agent, asked, count);
    if (!plain.create) {
        plain.create = (queue_create_function)of_runtime("hsa_queue_create");
        plain.destroy = (destroy_function)of_runtime("hsa_queue_destroy");
    }
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

static uint32_t number(const char *name, uint32_t otherwise) {
    const char *asked = getenv(name);
    return asked ? strtoul(asked, 0, 0) : otherwise;
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
    ENTRY(create_function, new_table, CREATE) = create_all;
    *place = new_table;
    is_loaded = true;
    return true;
}

void OnUnload(void) {}
