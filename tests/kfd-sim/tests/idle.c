/* Measures the cost of unused queues: makes some on every GPU and sleeps.
 *
 *   idle QUEUES_PER_GPU SECONDS
 *
 * Prints:  queues <TAB> ns of CPU of the process per second. */
#include <hsa/hsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int queues_per_gpu, queues;

static hsa_status_t make_queues(hsa_agent_t agent, void *unused) {
    (void)unused;
    hsa_device_type_t type;
    hsa_status_t status = hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (status != HSA_STATUS_SUCCESS || type != HSA_DEVICE_TYPE_GPU) return status;
    for (int at = 0; at < queues_per_gpu && status == HSA_STATUS_SUCCESS; at++, queues++) {
        hsa_queue_t *queue;
        status = hsa_queue_create(agent, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, ~0u, ~0u, &queue);
    }
    return status;
}

static double cpu(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    queues_per_gpu = argc > 1 ? atoi(argv[1]) : 4;
    int seconds = argc > 2 ? atoi(argv[2]) : 5;
    if (hsa_init() != HSA_STATUS_SUCCESS || hsa_iterate_agents(make_queues, NULL) != HSA_STATUS_SUCCESS) return 1;
    /* The cost of the start is over then. */
    sleep(1);
    double before = cpu();
    sleep((unsigned)seconds);
    printf("%d\t%.0f\n", queues, (cpu() - before) / seconds);
    return 0;
}
