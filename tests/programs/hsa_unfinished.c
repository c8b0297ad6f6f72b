/* Ends while a thread is in two calls of HSA, one within the other, that do not return. Prints the thread's number.
 *   hsa_unfinished [MILLISECONDS]
 *
 * With exit code 3, or after so many milliseconds by SIGKILL. */
#define _GNU_SOURCE
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "hsa.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sem_t is_within;

static hsa_status_t stay(hsa_isa_t isa, void *unused) {
    (void)isa, (void)unused;
    sem_post(&is_within);
    while (true) pause();
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t ask_for_isas(hsa_agent_t agent, void *unused) {
    (void)agent;
    return hsa_agent_iterate_isas(gpus[0], stay, unused);
}

static void *thread(void *number) {
    *(pid_t *)number = gettid();
    hsa_iterate_agents(ask_for_isas, NULL);
    return NULL;
}

int main(int argc, char **argv) {
    begin();
    sem_init(&is_within, 0, 0);
    pid_t number;
    pthread_t id;
    REQUIRE(pthread_create(&id, NULL, thread, &number) == 0);
    sem_wait(&is_within);
    printf("%d\n", number);
    fflush(stdout);
    if (argc > 1) {
        usleep(1000 * atoi(argv[1]));
        raise(SIGKILL);
    }
    quick_exit(3);
}
