/* A long life: queues, executables and signals come and go while kernels run, again and again.
 *   churn SECONDS
 * The last lines of the report say how much memory the process had: at a third of the time, and at its end, in KiB. */
#include "hsa.h"
#include <time.h>

static long resident(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
    fclose(file);
    return kib;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    begin();
    double begun = now();
    long early = 0;
    while (now() - begun < seconds) {
        hsa_executable_t executable = load(0);
        kernel_t kernel = kernel_of(executable, 0, "alpha");
        hsa_queue_t *queue = timed_queue(0);
        for (int batch = 0; batch < 20; batch++) {
            hsa_signal_t own = signal_of(1), shared = signal_of(10);
            for (int at = 0; at < 100; at++) launch(queue, kernel, at == 50 ? own : at % 10 == 1 ? shared : NONE);
            drain(queue);
            CHECK(hsa_signal_destroy(own));
            CHECK(hsa_signal_destroy(shared));
        }
        CHECK(hsa_queue_destroy(queue));
        CHECK(hsa_executable_destroy(executable));
        if (early == 0 && now() - begun > seconds / 3) early = resident();
    }
    fprintf(report, "%ld\t%ld\t%u\n", early, resident(), dispatch_count);
    end();
    return 0;
}
