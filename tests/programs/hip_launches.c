/* Every function of HIP that launches a kernel, on a stream of its own, on the thread's and on the default one, of every
 * GPU:
 *
 *   hip_launches CODE_OBJECT
 *
 * Each launch has a size of its own. Into REPORT goes, for each:  launch <TAB> function <TAB> work-items <TAB> stream.
 * Prints functions that this HIP has not, or that fail:  function <TAB> status. Then what hip.h says.
 *
 * Kernels are registered as a program of hipcc has it done before main, with the same bundle of code objects. */
#define _GNU_SOURCE
#define HIP_MORE(F)                                                                                             \
    F(LaunchKernel, (const void *, hip_dim3, hip_dim3, void **, size_t, hip_stream))                            \
    F(LaunchKernel_spt, (const void *, hip_dim3, hip_dim3, void **, size_t, hip_stream))                        \
    F(ExtLaunchKernel, (const void *, hip_dim3, hip_dim3, void **, size_t, hip_stream, hip_event, hip_event, int)) \
    F(LaunchCooperativeKernel, (const void *, hip_dim3, hip_dim3, void **, unsigned, hip_stream))               \
    F(LaunchCooperativeKernel_spt, (const void *, hip_dim3, hip_dim3, void **, unsigned, hip_stream))           \
    F(ConfigureCall, (hip_dim3, hip_dim3, size_t, hip_stream))                                                  \
    F(SetupArgument, (const void *, size_t, size_t))                                                            \
    F(LaunchByPtr, (const void *))                                                                              \
    F(ExtLaunchMultiKernelMultiDevice, (struct launch *, int, unsigned))
#define HIP_SINCE_6(F)                                                                                          \
    F(ExtModuleLaunchKernel, (hip_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, size_t, \
                              hip_stream, void **, void **, hip_event, hip_event, unsigned))                    \
    F(ModuleLaunchCooperativeKernel, (hip_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                                      unsigned, hip_stream, void **))
#define HIP_SINCE_7(F)                                                                                          \
    F(LaunchKernelExC, (const struct configuration *, const void *, void **))                                   \
    F(DrvLaunchKernelEx, (const struct module_configuration *, hip_function, void **, void **))

struct launch;
struct configuration;
struct module_configuration;
#include "hip.h"

#include <stdint.h>

#define MOST_ITEMS 16384
#define GROUP 64
/* The default stream of the thread. */
#define PER_THREAD ((hip_stream)2)

struct launch {
    const void *kernel;
    hip_dim3 grid, group;
    void **arguments;
    size_t lds;
    hip_stream stream;
};
struct configuration {
    hip_dim3 grid, group;
    size_t lds;
    hip_stream stream;
    void *attributes;
    unsigned attribute_count;
};
struct module_configuration {
    unsigned grid[3], group[3], lds;
    hip_stream stream;
    void *attributes;
    unsigned attribute_count;
};

/* What the compiler calls: no header declares the registration. */
#define HIP_REGISTRATION(F)                                                                                     \
    F(__hipRegisterFatBinary, void **, (const void *))                                                          \
    F(__hipRegisterFunction, void, (void **, const void *, const char *, const char *, unsigned, void *, void *, \
                                    void *, void *, int *))                                                     \
    F(__hipPushCallConfiguration, hip_error, (hip_dim3, hip_dim3, size_t, hip_stream))                          \
    F(__hipPopCallConfiguration, hip_error, (hip_dim3 *, hip_dim3 *, size_t *, hip_stream *))
#define REGISTRATION_FIELD(name, result, arguments) result(*name) arguments;
static struct {
    HIP_REGISTRATION(REGISTRATION_FIELD)
} by_compiler;
#ifdef HIP_LINKED
#define REGISTRATION_DECLARED(name, result, arguments) result name arguments;
HIP_REGISTRATION(REGISTRATION_DECLARED)
#define REGISTRATION_LOAD(name, result, arguments) by_compiler.name = name;
#else
#define REGISTRATION_LOAD(name, result, arguments) *(void **)&by_compiler.name = hip_symbol(library, #name);
#endif

/* What a kernel is called on the host is the address of a function; nothing calls these. */
static const char stubs[KERNELS];

static void *read_bundle(const char *path) {
    enum { AT = 4096 };
    static const char target[] = "hipv4-amdgcn-amd-amdhsa--gfx90a", host[] = "host-x86_64-unknown-linux--";
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(1);
    uint64_t size = (uint64_t)ftell(file);
    rewind(file);
    char *bundle = aligned_alloc(AT, AT + (size + AT - 1) / AT * AT), *to = bundle;
    uint64_t entries = 2, of_host[] = {AT, 0, sizeof host - 1}, of_gpu[] = {AT, size, sizeof target - 1};
    if (!bundle || fread(bundle + AT, 1, size, file) != size) exit(1);
    fclose(file);
    to = mempcpy(to, "__CLANG_OFFLOAD_BUNDLE__", 24);
    to = mempcpy(to, &entries, sizeof entries);
    to = mempcpy(mempcpy(to, of_host, sizeof of_host), host, sizeof host - 1);
    mempcpy(mempcpy(to, of_gpu, sizeof of_gpu), target, sizeof target - 1);
    return bundle;
}

static void register_kernels(const char *path) {
#ifndef HIP_LINKED
    void *library = dlopen(getenv("HIP_LIBRARY"), RTLD_NOW | RTLD_GLOBAL);
#endif
    HIP_REGISTRATION(REGISTRATION_LOAD)
    static struct {
        uint32_t magic, version;
        void *bundle, *unused;
    } wrapper = {0x48495046, 1, NULL, NULL};
    wrapper.bundle = read_bundle(path);
    void **all = by_compiler.__hipRegisterFatBinary(&wrapper);
    for (int at = 0; at < KERNELS; at++)
        by_compiler.__hipRegisterFunction(all, &stubs[at], kernel_names[at], kernel_names[at], -1u, NULL, NULL, NULL,
                                          NULL, NULL);
}

static FILE *report;
static void *to, *from;
static int count;
static void *arguments[] = {&to, &from, &count};
static const hip_dim3 group = {GROUP, 1, 1};
static int kernel;

/* The next launch has one work-group more than the last one, of another kernel. */
static hip_dim3 next(void) {
    count += GROUP;
    kernel = (kernel + 1) % KERNELS;
    if (count > MOST_ITEMS) exit(1);
    return (hip_dim3){(unsigned)count / GROUP, 1, 1};
}

static void note(const char *function, hip_stream stream, hip_error status) {
    if (status != 0) {
        printf("%s\t%d\n", function, status);
        return;
    }
    launched[kernel]++;
    if (report) fprintf(report, "launch\t%s\t%d\t%ld\n", function, count, (long)stream);
}

/* Launches by a function, if this HIP has it. */
#define LAUNCH(name, stream, ...)                                                       \
    do {                                                                                \
        grid = next();                                                                  \
        if (!hip.name) {                                                                \
            printf("hip" #name "\t-1\n");                                            \
            break;                                                                      \
        }                                                                               \
        atomic_fetch_add(&hip_calls[HIP_NUMBER_##name], 1);                             \
        note("hip" #name, stream, hip.name(__VA_ARGS__));                               \
    } while (0)

static void launch_on(int gpu, hip_stream stream) {
    hip_dim3 grid;
    LAUNCH(LaunchKernel, stream, &stubs[kernel], grid, group, arguments, 0, stream);
    /* As in kernel<<<grid, group, 0, stream>>>(...), whose three calls are made by what the compiler writes. */
    grid = next();
    hip_dim3 popped_grid, popped_group;
    size_t lds;
    hip_stream popped;
    hip_called("__hipPushCallConfiguration");
    hip_check(by_compiler.__hipPushCallConfiguration(grid, group, 0, stream), "push");
    hip_called("__hipPopCallConfiguration");
    hip_check(by_compiler.__hipPopCallConfiguration(&popped_grid, &popped_group, &lds, &popped), "pop");
    HIP(LaunchKernel, &stubs[kernel], popped_grid, popped_group, arguments, lds, popped);
    note("hipLaunchKernel", stream, 0);

    /* HIP 5.2.3 knows the thread's stream in no other function. */
    if (stream == PER_THREAD) return;

    LAUNCH(ModuleLaunchKernel, stream, kernels[gpu][kernel], grid.x, 1, 1, GROUP, 1, 1, 0, stream, arguments, NULL);
    LAUNCH(LaunchKernel_spt, stream, &stubs[kernel], grid, group, arguments, 0, stream);
    LAUNCH(ExtLaunchKernel, stream, &stubs[kernel], grid, group, arguments, 0, stream, NULL, NULL, 0);
    LAUNCH(LaunchCooperativeKernel, stream, &stubs[kernel], grid, group, arguments, 0, stream);
    LAUNCH(LaunchCooperativeKernel_spt, stream, &stubs[kernel], grid, group, arguments, 0, stream);
    LAUNCH(ExtModuleLaunchKernel, stream, kernels[gpu][kernel], grid.x * GROUP, 1, 1, GROUP, 1, 1, 0, stream, arguments,
           NULL, NULL, NULL, 0);
    LAUNCH(ModuleLaunchCooperativeKernel, stream, kernels[gpu][kernel], grid.x, 1, 1, GROUP, 1, 1, 0, stream, arguments);
    struct configuration configuration = {{(unsigned)count / GROUP + 1, 1, 1}, group, 0, stream, NULL, 0};
    LAUNCH(LaunchKernelExC, stream, &configuration, &stubs[kernel], arguments);
    struct module_configuration of_module = {{(unsigned)count / GROUP + 1, 1, 1}, {GROUP, 1, 1}, 0, stream, NULL, 0};
    LAUNCH(DrvLaunchKernelEx, stream, &of_module, kernels[gpu][kernel], arguments, NULL);

    HIP(ConfigureCall, (hip_dim3){(unsigned)count / GROUP + 1, 1, 1}, group, 0, stream);
    HIP(SetupArgument, &to, sizeof to, 0);
    HIP(SetupArgument, &from, sizeof from, sizeof to);
    HIP(SetupArgument, &count, sizeof count, sizeof to + sizeof from);
    /* It is not told the stream. */
    LAUNCH(LaunchByPtr, NULL, &stubs[kernel]);
}

/* One call with the same kernel for each GPU. */
static void launch_on_all(hip_stream *streams) {
    struct launch launches[MOST_GPUS];
    hip_dim3 grid = next();
    for (int gpu = 0; gpu < gpu_count; gpu++)
        launches[gpu] = (struct launch){&stubs[kernel], grid, group, arguments, 0, streams[gpu]};
    HIP(ExtLaunchMultiKernelMultiDevice, launches, gpu_count, 0);
    for (int gpu = 0; gpu < gpu_count; gpu++) note("hipExtLaunchMultiKernelMultiDevice", NULL, 0);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    report = getenv("REPORT") ? fopen(getenv("REPORT"), "w") : NULL;
    register_kernels(argv[1]);
    hip_begin(argv[1]);
    hip_stream streams[MOST_GPUS];
    HIP(Malloc, &to, MOST_ITEMS * sizeof(double));
    HIP(Malloc, &from, MOST_ITEMS * sizeof(double));
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        HIP(SetDevice, gpu);
        HIP(StreamCreateWithFlags, &streams[gpu], NON_BLOCKING);
        launch_on(gpu, streams[gpu]);
        launch_on(gpu, PER_THREAD);
        launch_on(gpu, NULL);
        HIP(DeviceSynchronize);
    }
    launch_on_all(streams);
    for (int gpu = 0; gpu < gpu_count; gpu++) {
        HIP(SetDevice, gpu);
        HIP(StreamSynchronize, streams[gpu]);
        HIP(StreamDestroy, streams[gpu]);
    }
    HIP(Free, to);
    HIP(Free, from);
    hip_end();
    if (report) fclose(report);
    return 0;
}
