/* The least that an intercepting tool can do: queues are interceptible and profiled, packets go through as they
 * are. What this costs is the runtime's price of interception, the floor of every figure of the tracer. */
#include "tool.h"

static queue_create_function intercept_create;
static intercept_register_function intercept_register;
static set_profiler_function set_profiler_enabled;

static void pass(const void *packets, uint64_t count, uint64_t index, void *data, packet_writer writer) {
    (void)index, (void)data;
    writer(packets, count);
}

/* The simulated GPU has no scratch to reserve, and ROCr 5 takes UINT32_MAX for a size here. */
static uint32_t known(uint32_t size) {
    return size == UINT32_MAX ? 0 : size;
}

static hsa_status_t queue_create(hsa_agent_t agent, uint32_t packets, hsa_queue_type32_t type, queue_callback callback,
                                 void *data, uint32_t scratch, uint32_t lds, hsa_queue_t **queue) {
    hsa_status_t status = intercept_create(agent, packets, type, callback, data, known(scratch), known(lds), queue);
    if (status != HSA_STATUS_SUCCESS) return status;
    set_profiler_enabled(*queue, 1);
    return intercept_register(*queue, pass, 0);
}

bool OnLoad(void *tables, uint64_t version, uint64_t failed, const char *const *names) {
    (void)version, (void)failed, (void)names;
    char *amd = table_at(tables, AMD);
    int offset = intercept_create_offset(amd);
    intercept_create = ENTRY(queue_create_function, amd, offset);
    intercept_register = ENTRY(intercept_register_function, amd, offset + 8);
    set_profiler_enabled = ENTRY(set_profiler_function, amd, SET_PROFILER_ENABLED);
    ENTRY(queue_create_function, table_at(tables, CORE), QUEUE_CREATE) = queue_create;
    return true;
}

void OnUnload(void) {}
