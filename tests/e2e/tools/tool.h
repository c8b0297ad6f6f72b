/* What a tool of the ROCm runtime needs: the functions of its tables, by their places. hsa_api_trace.h is C++ and
 * describes one generation; the extension table of ROCm 6 and 7 has two entries more before these. */
#ifndef TOOL_H
#define TOOL_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdint.h>

typedef void (*packet_writer)(const void *packets, uint64_t count);
typedef void (*packet_handler)(const void *packets, uint64_t count, uint64_t index, void *data,
                               packet_writer writer);
typedef void (*queue_callback)(hsa_status_t status, hsa_queue_t *queue, void *data);
typedef hsa_status_t (*queue_create_function)(hsa_agent_t, uint32_t, hsa_queue_type32_t, queue_callback, void *,
                                              uint32_t, uint32_t, hsa_queue_t **);
typedef hsa_status_t (*intercept_register_function)(hsa_queue_t *, packet_handler, void *);
typedef hsa_status_t (*set_profiler_function)(hsa_queue_t *, int);

typedef struct {
    uint32_t major, minor, step, reserved;
} table_version;

enum { CORE = 16, AMD = 24, QUEUE_CREATE = 72, QUEUE_DESTROY = 88, SET_PROFILER_ENABLED = 32 };

static inline char *table_at(void *tables, int offset) {
    return *(char **)((char *)tables + offset);
}

/* Where the extension table has hsa_amd_queue_intercept_create; the registration is the next entry. */
static inline int intercept_create_offset(const char *amd) {
    return ((const table_version *)amd)->major == 1 ? 296 : 312;
}

#define ENTRY(type, table, offset) (*(type *)((table) + (offset)))

#endif
