/* Loaded before the tracer, it makes the runtime refuse interceptible queues, or those of REFUSED_PACKETS packets. */
#include "tool.h"

#include <stdlib.h>

static queue_create_function create;

static hsa_status_t intercept_create(hsa_agent_t agent, uint32_t packets, hsa_queue_type32_t type, queue_callback callback,
                                     void *data, uint32_t scratch, uint32_t lds, hsa_queue_t **queue) {
    const char *refused = getenv("REFUSED_PACKETS");
    if (!refused || strtoul(refused, 0, 0) == packets) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    return create(agent, packets, type, callback, data, scratch, lds, queue);
}

bool OnLoad(void *tables, uint64_t version, uint64_t failed, const char *const *names) {
    (void)version, (void)failed, (void)names;
    char *amd = table_at(tables, AMD);
    create = ENTRY(queue_create_function, amd, intercept_create_offset(amd));
    ENTRY(queue_create_function, amd, intercept_create_offset(amd)) = intercept_create;
    return true;
}

void OnUnload(void) {}
