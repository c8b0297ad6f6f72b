/* Copies that the program asks the runtime for itself:
 *   copies WAY
 *
 * WAY is one of
 *   ways          host, GPU, its neighbour, host; within a GPU; on a chosen engine; rows
 *   host          between places of the host
 *   reuse         one signal for one copy after another, set to 1 again as soon as it was seen
 *   destroy       a signal for each copy, destroyed as soon as it was seen
 *   count         signals that count several copies down
 *   dependencies  copies that wait for one another, for a kernel, and for the host
 *   threads       threads that copy at the same time
 *   refused       calls that the runtime refuses, and copies of nothing
 *   untimed       copies without having asked for times
 *   kernels       signals that go from kernels to copies and back
 *   unfinished    a copy that never begins
 *   forked        a child that ends at once, between copies
 *   batches       several copies in one call (ROCm 10)
 *   lists         copies that are one operation: three from the host, and one to two places of a GPU
 *   killed        ten copies, one that never begins, ten kernels; killed when its standard input ends
 *
 * Each copy has a size of its own. The report has a line for each, between tabs:
 *   copy  0  FROM  TO  BYTES  START  END
 * FROM and TO are GPUs, -1 is the host. START and END are what the runtime reports, 0 where it was not asked. */
#include "hsa.h"
#include "copy_operation.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#define HOST (-1)
#define ROOM 65536

typedef hsa_status_t (*on_engine)(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t,
                                  const hsa_signal_t *, hsa_signal_t, uint32_t, bool);

static char *on_host, *on_gpu[MOST_GPUS];
static uint32_t copy_count;

typedef struct {
    int from, to;
    size_t bytes;
} copy_t;

static hsa_agent_t agent_of(int place) {
    return place == HOST ? cpu : gpus[place];
}

static char *memory_of(int place) {
    return place == HOST ? on_host : on_gpu[place];
}

/* A size that no other copy has. */
static copy_t copy_of(int from, int to) {
    return (copy_t){from, to, 4096 + 4 * (size_t)__atomic_add_fetch(&copy_count, 1, __ATOMIC_RELAXED)};
}

static void start(copy_t copy, hsa_signal_t dependency, hsa_signal_t done) {
    uint32_t dependencies = dependency.handle != 0;
    CHECK(hsa_amd_memory_async_copy(memory_of(copy.to) + ROOM / 2, agent_of(copy.to), memory_of(copy.from),
                                    agent_of(copy.from), copy.bytes, dependencies, dependencies ? &dependency : NULL,
                                    done));
}

static void report_copy(copy_t copy, uint64_t from, uint64_t to) {
    fprintf(report, "copy\t0\t%d\t%d\t%zu\t%lu\t%lu\n", copy.from, copy.to, copy.bytes, from, to);
}

static void report_untimed_copy(copy_t copy) {
    report_copy(copy, 0, 0);
}

static void report_timed_copy(copy_t copy, hsa_signal_t done) {
    hsa_amd_profiling_async_copy_time_t time;
    CHECK(hsa_amd_profiling_get_async_copy_time(done, &time));
    REQUIRE(time.start > 0 && time.start <= time.end);
    report_copy(copy, time.start, time.end);
}

static void finish(copy_t copy, hsa_signal_t done) {
    REQUIRE(wait_for(done) == 0);
    report_timed_copy(copy, done);
    REQUIRE(hsa_signal_load_scacquire(done) == 0);
    CHECK(hsa_signal_destroy(done));
}

static void copy_once(int from, int to) {
    copy_t copy = copy_of(from, to);
    hsa_signal_t done = signal_of(1);
    start(copy, NONE, done);
    finish(copy, done);
}

static void copy_on_engine(int from, int to, uint32_t engine) {
    on_engine call = (on_engine)dlsym(RTLD_DEFAULT, "hsa_amd_memory_async_copy_on_engine");
    if (!call) return;
    copy_t copy = copy_of(from, to);
    hsa_signal_t done = signal_of(1);
    CHECK(call(memory_of(to), agent_of(to), memory_of(from), agent_of(from), copy.bytes, 0, NULL, done, engine, true));
    finish(copy, done);
}

#define PITCH 256

/* Rows of 64 bytes, which lie apart. */
static void copy_rows(int from, int to) {
    copy_t copy = {from, to, 64 * (20 + __atomic_add_fetch(&copy_count, 1, __ATOMIC_RELAXED))};
    hsa_pitched_ptr_t target = {memory_of(to), PITCH, ROOM}, source = {memory_of(from), PITCH, ROOM};
    hsa_dim3_t first = {0, 0, 0}, range = {64, (uint32_t)copy.bytes / 64, 1};
    hsa_signal_t done = signal_of(1);
    CHECK(hsa_amd_memory_async_copy_rect(&target, &first, &source, &first, &range, gpus[from == HOST ? to : from],
                                         from == HOST ? hsaHostToDevice : hsaDeviceToHost, 0, NULL, done));
    finish(copy, done);
}

static void ways(void) {
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        copy_once(HOST, gpu);
        copy_once(gpu, gpu);
        if (gpu_count > 1) copy_once(gpu, (gpu + 1) % gpu_count);
        copy_once(gpu, HOST);
        copy_on_engine(HOST, gpu, 1);
        copy_on_engine(gpu, HOST, 2);
        copy_rows(HOST, gpu);
        copy_rows(gpu, HOST);
    }
}

static void host(void) {
    /* ROCr 5.2.3 tells no times of such a copy. */
    copy_t copy = copy_of(HOST, HOST);
    hsa_signal_t done = signal_of(1);
    start(copy, NONE, done);
    REQUIRE(wait_for(done) == 0);
    report_untimed_copy(copy);
    CHECK(hsa_signal_destroy(done));
}

static void reuse(void) {
    hsa_signal_t done = signal_of(1);
    for (int round = 0; round < 60; round++) {
        copy_t copy = round % 3 == 2 ? copy_of(0, 0) : round % 3 ? copy_of(0, HOST) : copy_of(HOST, 0);
        start(copy, NONE, done);
        REQUIRE(wait_for(done) == 0);
        if (round % 2) report_timed_copy(copy, done);
        else report_untimed_copy(copy);
        hsa_signal_store_relaxed(done, 1);
    }
    CHECK(hsa_signal_destroy(done));
}

static void destroy(void) {
    for (int round = 0; round < 60; round++) {
        copy_t copy = round % 2 ? copy_of(0, HOST) : copy_of(HOST, 0);
        hsa_signal_t done = signal_of(1);
        start(copy, NONE, done);
        REQUIRE(wait_for(done) == 0);
        CHECK(hsa_signal_destroy(done));
        report_untimed_copy(copy);
    }
}

static void count(void) {
    for (int round = 0; round < 5; round++) {
        hsa_signal_t done = signal_of(7);
        for (int at = 0; at < 7; at++) {
            copy_t copy = at % 2 ? copy_of(0, HOST) : copy_of(HOST, 0);
            start(copy, NONE, done);
            report_untimed_copy(copy);
        }
        REQUIRE(wait_for(done) == 0);
        /* Its times are those of one of them. */
        hsa_amd_profiling_async_copy_time_t time;
        CHECK(hsa_amd_profiling_get_async_copy_time(done, &time));
        REQUIRE(time.start > 0 && time.start <= time.end);
        /* The same signal for one copy, which the runtime knows by itself. */
        hsa_signal_store_relaxed(done, 1);
        copy_t copy = copy_of(HOST, 0);
        start(copy, NONE, done);
        finish(copy, done);
    }
}

static void dependencies(void) {
    hsa_executable_t executable = load(0);
    kernel_t alpha = kernel_of(executable, 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    for (int round = 0; round < 10; round++) {
        hsa_signal_t go = signal_of(1), there = signal_of(1), computed = signal_of(1), back = signal_of(1);
        copy_t in = copy_of(HOST, 0), out = copy_of(0, HOST);
        start(in, go, there);
        hsa_barrier_and_packet_t barrier = barrier_packet(there, NONE);
        submit(queue, &barrier);
        launch_t kernel = launch(queue, alpha, computed);
        start(out, computed, back);
        hsa_signal_store_screlease(go, 0);
        REQUIRE(wait_for(back) == 0);
        REQUIRE(hsa_signal_load_relaxed(there) == 0 && hsa_signal_load_relaxed(computed) == 0);
        report_timed(kernel);
        CHECK(hsa_signal_destroy(computed));
        finish(in, there);
        finish(out, back);
        CHECK(hsa_signal_destroy(go));
    }
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_executable_destroy(executable));
}

static void *copy_in_thread(void *number) {
    int gpu = (int)(intptr_t)number % gpu_count;
    for (int round = 0; round < 25; round++) copy_once(round % 2 ? gpu : HOST, round % 2 ? HOST : gpu);
    return NULL;
}

static void threads(void) {
    pthread_t all[4];
    for (int at = 0; at < 4; at++) REQUIRE(pthread_create(&all[at], NULL, copy_in_thread, (void *)(intptr_t)at) == 0);
    for (int at = 0; at < 4; at++) REQUIRE(pthread_join(all[at], NULL) == 0);
}

static void refused(void) {
    hsa_signal_t done = signal_of(1);
    copy_t copy = copy_of(HOST, 0);
    start(copy, NONE, done);
    REQUIRE(wait_for(done) == 0);
    hsa_amd_profiling_async_copy_time_t before, after;
    CHECK(hsa_amd_profiling_get_async_copy_time(done, &before));
    hsa_signal_store_relaxed(done, 1);
    char *gpu = on_gpu[0];
    printf("no destination: %#x\n", hsa_amd_memory_async_copy(NULL, gpus[0], on_host, cpu, 64, 0, NULL, done));
    printf("no agent: %#x\n", hsa_amd_memory_async_copy(gpu, (hsa_agent_t){0}, on_host, cpu, 64, 0, NULL, done));
    printf("no dependencies: %#x\n", hsa_amd_memory_async_copy(gpu, gpus[0], on_host, cpu, 64, 1, NULL, done));
    printf("nothing: %#x\n", hsa_amd_memory_async_copy(gpu, gpus[0], on_host, cpu, 0, 0, NULL, done));
    printf("the signal is still %ld\n", hsa_signal_load_scacquire(done));
    CHECK(hsa_amd_profiling_get_async_copy_time(done, &after));
    REQUIRE(before.start - after.start + 20 <= 40 && before.end - after.end + 20 <= 40);
    hsa_signal_store_relaxed(done, 2);
    printf("no source: %#x\n", hsa_amd_memory_async_copy(gpu, gpus[0], NULL, cpu, 64, 0, NULL, done));
    printf("the signal is still %ld\n", hsa_signal_load_scacquire(done));
    report_copy(copy, before.start, before.end);
    CHECK(hsa_signal_destroy(done));
}

static void untimed(void) {
    copy_t copy = copy_of(HOST, 0);
    hsa_signal_t done = signal_of(1);
    start(copy, NONE, done);
    REQUIRE(wait_for(done) == 0);
    hsa_amd_profiling_async_copy_time_t time = {7, 7};
    hsa_status_t status = hsa_amd_profiling_get_async_copy_time(done, &time);
    printf("times: %#x %lu %lu\n", status, time.start, time.end);
    CHECK(hsa_signal_destroy(done));
    report_untimed_copy(copy);
}

static void kernels(void) {
    hsa_executable_t executable = load(0);
    kernel_t alpha = kernel_of(executable, 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    hsa_signal_t done = signal_of(1);
    for (int round = 0; round < 30; round++) {
        launch_t kernel = launch(queue, alpha, done);
        REQUIRE(wait_for(done) == 0);
        report_timed(kernel);
        hsa_signal_store_relaxed(done, 1);
        copy_t copy = round % 2 ? copy_of(0, 0) : copy_of(HOST, 0);
        start(copy, NONE, done);
        REQUIRE(wait_for(done) == 0);
        report_timed_copy(copy, done);
        hsa_signal_store_relaxed(done, 1);
    }
    CHECK(hsa_signal_destroy(done));
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_executable_destroy(executable));
}

static void unfinished(void) {
    copy_once(HOST, 0);
    start(copy_of(HOST, 0), signal_of(1), signal_of(1));
    fflush(NULL);
    exit(0);
}

static void forked(void) {
    copy_once(HOST, 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) exit(3);
    int status;
    REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    copy_once(0, HOST);
}

extern hsa_status_t hsa_amd_memory_async_batch_copy(const copy_operation *, uint32_t, uint32_t, const hsa_signal_t *)
    __attribute__((weak));

static copy_operation operation_of(copy_t copy, hsa_signal_t done) {
    return (copy_operation){.version = 1, .type = LINEAR, .completion = done, .source = memory_of(copy.from),
                            .source_agent = agent_of(copy.from), .destination_agent = agent_of(copy.to),
                            .destination = memory_of(copy.to) + ROOM / 2, .size = copy.bytes};
}

static void batches(void) {
    REQUIRE(hsa_amd_memory_async_batch_copy);
    for (int round = 0; round < 5; round++) {
        enum { COUNT = 4 };
        hsa_signal_t go = signal_of(1), done = signal_of(COUNT);
        copy_operation asked[COUNT];
        for (int at = 0; at < COUNT; at++) {
            copy_t copy = at % 2 ? copy_of(0, HOST) : copy_of(HOST, 0);
            asked[at] = operation_of(copy, done);
            report_untimed_copy(copy);
        }
        CHECK(hsa_amd_memory_async_batch_copy(asked, COUNT, 1, &go));
        REQUIRE(hsa_signal_load_relaxed(done) == COUNT);
        hsa_signal_store_screlease(go, 0);
        REQUIRE(wait_for(done) == 0);
        /* The same signal for one copy, whose times the runtime knows. */
        hsa_signal_store_relaxed(done, 1);
        copy_t copy = copy_of(HOST, 0);
        copy_operation one = operation_of(copy, done);
        CHECK(hsa_amd_memory_async_batch_copy(&one, 1, 0, NULL));
        finish(copy, done);
        CHECK(hsa_signal_destroy(go));
    }
    /* What the runtime refuses. */
    hsa_signal_t done = signal_of(1);
    copy_operation wrong = operation_of(copy_of(HOST, 0), done);
    printf("nothing: %#x\n", hsa_amd_memory_async_batch_copy(NULL, 1, 0, NULL));
    printf("none: %#x\n", hsa_amd_memory_async_batch_copy(&wrong, 0, 0, NULL));
    wrong.type = SWAP;
    wrong.other_size = wrong.size;
    printf("swap: %#x\n", hsa_amd_memory_async_batch_copy(&wrong, 1, 0, NULL));
    wrong.version = 2;
    printf("version 2: %#x\n", hsa_amd_memory_async_batch_copy(&wrong, 1, 0, NULL));
    printf("the signal is still %ld\n", hsa_signal_load_scacquire(done));
    CHECK(hsa_signal_destroy(done));
}

static void lists(void) {
    REQUIRE(hsa_amd_memory_async_batch_copy);
    hsa_signal_t done = signal_of(2);
    char *from = on_host, *to = on_gpu[0];
    void *sources[] = {from, from + 8192, from + 16384}, *targets[] = {to, to + 8192, to + 16384};
    size_t sizes[] = {1000, 2000, 4000};
    hsa_agent_t agents[] = {gpus[0], gpus[0], gpus[0]};
    copy_operation asked[] = {
        {.version = 1, .type = LINEAR, .entries = 3, .completion = done, .sources = sources, .source_agent = cpu,
         .destination_agents = agents, .destinations = targets, .sizes = sizes},
        {.version = 1, .type = BROADCAST, .entries = 2, .completion = done, .source = to + ROOM / 2,
         .source_agent = gpus[0], .destination_agents = agents, .destinations = targets, .size = 500},
    };
    CHECK(hsa_amd_memory_async_batch_copy(asked, 2, 0, NULL));
    REQUIRE(wait_for(done) == 0);
    CHECK(hsa_signal_destroy(done));
}

static void killed(void) {
    for (int at = 0; at < 10; at++) copy_once(at % 2 ? 0 : HOST, at % 2 ? HOST : 0);
    start(copy_of(HOST, 0), signal_of(1), signal_of(1));
    kernel_t alpha = kernel_of(load(0), 0, "alpha");
    hsa_queue_t *queue = timed_queue(0);
    for (int at = 0; at < 10; at++) report_untimed(launch(queue, alpha, NONE));
    drain(queue);
    fflush(NULL);
    while (getchar() != EOF) {}
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"ways", ways},       {"reuse", reuse},     {"destroy", destroy}, {"count", count},
               {"threads", threads}, {"refused", refused}, {"untimed", untimed}, {"dependencies", dependencies},
               {"kernels", kernels}, {"unfinished", unfinished}, {"host", host},
               {"forked", forked}, {"batches", batches}, {"lists", lists}, {"killed", killed}};
    if (argc < 2) return 2;
    begin();
    on_host = allocate(cpu, ROOM);
    memset(on_host, 1, ROOM);
    for (int gpu = 0; gpu < gpu_count; gpu++) on_gpu[gpu] = allocate(gpus[gpu], ROOM);
    if (strcmp(argv[1], "untimed")) CHECK(hsa_amd_profiling_async_copy_enable(true));
    for (size_t at = 0; at < sizeof all / sizeof *all; at++) {
        if (strcmp(argv[1], all[at].name) == 0) all[at].run();
    }
    for (int gpu = 0; gpu < gpu_count; gpu++) CHECK(hsa_amd_memory_pool_free(on_gpu[gpu]));
    CHECK(hsa_amd_memory_pool_free(on_host));
    end();
    return 0;
}
