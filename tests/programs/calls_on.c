/* Ends while a thread goes on to call the runtime. */
#include "hsa.h"
#include <pthread.h>
#include <stdatomic.h>

static atomic_bool has_begun;

static void *thread(void *unused) {
    uint64_t ticks;
    while (true) {
        CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks));
        has_begun = true;
    }
    return unused;
}

int main(void) {
    begin();
    pthread_t id;
    REQUIRE(pthread_create(&id, NULL, thread, NULL) == 0);
    while (!has_begun) {}
    exit(0);
}
