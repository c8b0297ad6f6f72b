/* A tool above the tracer that hands packets down in batches: HSA_TOOLS_LIB="librtl.so coalesce.so" makes it wrap
 * the tracer's queues and see packets first. COALESCE packets (4 unless set) go down in one call; a barrier packet
 * closes the batch, so that nobody waits for packets that lie here. */
#include "tool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096
#define PACKET 64

typedef struct {
    pthread_mutex_t lock;
    uint64_t count;
    char packets[MOST * PACKET];
} batch;

static queue_create_function next_queue_create;
static intercept_register_function intercept_register;
static uint64_t size = 4;

static void gather(const void *packets, uint64_t count, uint64_t index, void *data, packet_writer writer) {
    (void)index;
    batch *open = data;
    pthread_mutex_lock(&open->lock);
    for (uint64_t at = 0; at < count; at++) {
        const char *packet = (const char *)packets + at * PACKET;
        memcpy(open->packets + open->count++ * PACKET, packet, PACKET);
        uint8_t type = (uint8_t)packet[0];
        if (open->count >= size || type != HSA_PACKET_TYPE_KERNEL_DISPATCH) {
            writer(open->packets, open->count);
            open->count = 0;
        }
    }
    pthread_mutex_unlock(&open->lock);
}

static hsa_status_t queue_create(hsa_agent_t agent, uint32_t packets, hsa_queue_type32_t type, queue_callback callback,
                                 void *data, uint32_t scratch, uint32_t lds, hsa_queue_t **queue) {
    hsa_status_t status = next_queue_create(agent, packets, type, callback, data, scratch, lds, queue);
    if (status != HSA_STATUS_SUCCESS) return status;
    batch *open = calloc(1, sizeof *open);
    pthread_mutex_init(&open->lock, 0);
    return intercept_register(*queue, gather, open);
}

bool OnLoad(void *tables, uint64_t version, uint64_t failed, const char *const *names) {
    (void)version, (void)failed, (void)names;
    const char *asked = getenv("COALESCE");
    if (asked) size = strtoull(asked, 0, 10);
    if (size < 1 || size > MOST) return false;
    char *amd = table_at(tables, AMD), *core = table_at(tables, CORE);
    intercept_register = ENTRY(intercept_register_function, amd, intercept_create_offset(amd) + 8);
    next_queue_create = ENTRY(queue_create_function, core, QUEUE_CREATE);
    ENTRY(queue_create_function, core, QUEUE_CREATE) = queue_create;
    return true;
}

void OnUnload(void) {}
