/* ROCm 10's descriptor of a queue, which the headers of Debian 12 lack (hsa_amd_queue_create_desc_t). */
#ifndef QUEUE_DESCRIPTOR_H
#define QUEUE_DESCRIPTOR_H

#include <hsa/hsa.h>
#include <stdint.h>

typedef struct {
    uint16_t version, flags;
    uint8_t engine, reserved_header[3];
    uint32_t size, priority;
    void (*callback)(hsa_status_t, hsa_queue_t *, void *);
    void *data;
    hsa_queue_t *queue;
    const uint32_t *cu_mask;
    uint32_t type, private_segment_size, cu_mask_count, reserved_compute[3];
    uint32_t traffic_class;
    uint8_t reserved[20];
} descriptor;

_Static_assert(sizeof(descriptor) == 96, "hsa_amd_queue_create_desc_t");

/* Engines. */
enum { COMPUTE, SDMA, AIE };

#endif
