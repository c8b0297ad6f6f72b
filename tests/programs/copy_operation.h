/* ROCm 10's operation of a batch of copies, which the headers of Debian 12 lack (hsa_amd_memory_copy_op_t). */
#ifndef COPY_OPERATION_H
#define COPY_OPERATION_H

#include <hsa/hsa.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint16_t version, type, entries, traffic_class;
    hsa_signal_t completion;
    union { void *source; void **sources; };
    hsa_agent_t source_agent;
    union { hsa_agent_t destination_agent; hsa_agent_t *destination_agents; };
    union { void *destination; void **destinations; };
    union { size_t size; size_t *sizes; };
    size_t other_size;
    uint64_t wait[4], signal[3], reserved;
} copy_operation;

_Static_assert(sizeof(copy_operation) == 128, "hsa_amd_memory_copy_op_t");

/* Types. */
enum { LINEAR, BROADCAST, SWAP };

#endif
