/* The driver in a process and in the child of a fork:
 *
 *   hsa_fork
 *
 * Prints four lines, each `WHO <TAB> WHAT <TAB> result`: a child forked before anything else and its parent count the
 * GPUs by the HSA runtime; a child forked after that calls the driver by the descriptor that it inherited and by one
 * of its own. The results are a number of GPUs, `ok`, or the name of an error. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <hsa/hsa.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* AMDKFD_IOC_GET_VERSION */
#define GET_VERSION _IOR('K', 1, uint64_t)

static hsa_status_t count_gpu(hsa_agent_t agent, void *count) {
    hsa_device_type_t type;
    if (hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS) return HSA_STATUS_ERROR;
    if (type == HSA_DEVICE_TYPE_GPU) ++*(int *)count;
    return HSA_STATUS_SUCCESS;
}

/* Uses a queue of the first GPU, so that the simulator's thread runs. */
static hsa_status_t use_gpu(hsa_agent_t agent, void *unused) {
    (void)unused;
    hsa_device_type_t type;
    hsa_queue_t *queue;
    if (hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS) return HSA_STATUS_ERROR;
    if (type != HSA_DEVICE_TYPE_GPU) return HSA_STATUS_SUCCESS;
    if (hsa_queue_create(agent, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &queue) != HSA_STATUS_SUCCESS) exit(1);
    return HSA_STATUS_INFO_BREAK;
}

static void print_gpus(const char *who) {
    int count = 0;
    if (hsa_init() != HSA_STATUS_SUCCESS || hsa_iterate_agents(count_gpu, &count) != HSA_STATUS_SUCCESS) exit(1);
    printf("%s\tgpus\t%d\n", who, count);
    fflush(stdout);
}

static void print_call(const char *which, int driver) {
    uint64_t version = 0;
    int result = ioctl(driver, GET_VERSION, &version);
    printf("second\t%s\t%s\n", which, result == 0 ? "ok" : strerrorname_np(errno));
    fflush(stdout);
}

static void wait_for(pid_t child) {
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) exit(1);
}

int main(void) {
    pid_t child = fork();
    if (child == 0) {
        print_gpus("first");
        _exit(hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 1);
    }
    wait_for(child);
    print_gpus("parent");
    hsa_iterate_agents(use_gpu, NULL);

    int driver = open("/dev/kfd", O_RDWR);
    child = fork();
    if (child == 0) {
        print_call("inherited", driver);
        print_call("own", open("/dev/kfd", O_RDWR));
        _exit(0);
    }
    wait_for(child);
    return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 1;
}
