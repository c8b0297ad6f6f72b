/* Kernels that are compiled while the program runs:
 *
 *   hip_compiles CODE_OBJECT
 *
 * A text with a mistake, then one with a kernel and an instance of a template, whose code is loaded and launched: 64
 * work-items by the first, 128 by the second. Prints what the compiler says:  mistake <TAB> status <TAB> whether the log
 * tells of it;  lowered <TAB> the name of the instance. Then what hip.h says: no kernel of kernels.cl is launched. */
#define HIP_MORE(F) F(ModuleLoadData, (hip_module *, const void *))
#include "hip.h"

/* The functions are HIP's own up to HIP 6, later those of a library beside it. */
#define HIPRTC_FUNCTIONS(F)                                                                          \
    F(CreateProgram, (struct program **, const char *, const char *, int, const char **, const char **)) \
    F(AddNameExpression, (struct program *, const char *))                                           \
    F(CompileProgram, (struct program *, int, const char **))                                        \
    F(GetProgramLogSize, (struct program *, size_t *))                                               \
    F(GetProgramLog, (struct program *, char *))                                                     \
    F(GetLoweredName, (struct program *, const char *, const char **))                               \
    F(GetCodeSize, (struct program *, size_t *))                                                     \
    F(GetCode, (struct program *, char *))                                                           \
    F(DestroyProgram, (struct program **))

struct program;
#define HIPRTC_FIELD(name, arguments) int(*name) arguments;
static struct {
    HIPRTC_FUNCTIONS(HIPRTC_FIELD)
} compiler;
#ifdef HIP_LINKED
#define HIPRTC_DECLARED(name, arguments) int hiprtc##name arguments;
HIPRTC_FUNCTIONS(HIPRTC_DECLARED)
#define HIPRTC_LOAD(name, arguments) compiler.name = hiprtc##name;
#else
#define HIPRTC_LOAD(name, arguments) *(void **)&compiler.name = hip_symbol(library, "hiprtc" #name);
#endif

#define CALL(name, ...) (hip_called("hiprtc" #name), compiler.name(__VA_ARGS__))
#define HIPRTC(name, ...) check(CALL(name, __VA_ARGS__), #name)

static void check(int status, const char *call) {
    if (status == 0) return;
    fprintf(stderr, "hiprtc%s: %d\n", call, status);
    exit(1);
}

static void open_compiler(void) {
#ifndef HIP_LINKED
    const char *hip = getenv("HIP_LIBRARY");
    void *library = dlopen(hip, RTLD_NOW | RTLD_LOCAL);
    if (library && !dlsym(library, "hiprtcCreateProgram")) {
        char name[64];
        snprintf(name, sizeof name, "libhiprtc%s", hip + strlen("libamdhip64"));
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#endif
    HIPRTC_FUNCTIONS(HIPRTC_LOAD)
}

static const char wrong[] = "extern \"C\" __global__ void wrong(float *to) { to[0] = nothing; }";
static const char right[] = "extern \"C\" __global__ void first(float *to) { to[threadIdx.x] = 1; }\n"
                            "template <typename T> __global__ void second(T *to) { to[threadIdx.x] = 2; }\n";
static const char *options[] = {"--offload-arch=gfx90a"};

static void make_a_mistake(void) {
    struct program *program;
    size_t bytes;
    HIPRTC(CreateProgram, &program, wrong, "wrong.hip", 0, NULL, NULL);
    int status = CALL(CompileProgram, program, 1, options);
    HIPRTC(GetProgramLogSize, program, &bytes);
    char *log = calloc(1, bytes + 1);
    HIPRTC(GetProgramLog, program, log);
    printf("mistake\t%d\t%d\n", status, strstr(log, "nothing") != NULL);
    free(log);
    HIPRTC(DestroyProgram, &program);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    hip_begin(argv[1]);
    open_compiler();
    make_a_mistake();

    struct program *program;
    const char *instance;
    size_t bytes;
    HIPRTC(CreateProgram, &program, right, "right.hip", 0, NULL, NULL);
    HIPRTC(AddNameExpression, program, "second<double>");
    HIPRTC(CompileProgram, program, 1, options);
    HIPRTC(GetLoweredName, program, "second<double>", &instance);
    printf("lowered\t%s\n", instance);
    HIPRTC(GetCodeSize, program, &bytes);
    char *code = malloc(bytes);
    HIPRTC(GetCode, program, code);

    hip_module module;
    hip_function first, second;
    void *to, *arguments[] = {&to};
    HIP(SetDevice, 0);
    HIP(ModuleLoadData, &module, code);
    HIP(ModuleGetFunction, &first, module, "first");
    HIP(ModuleGetFunction, &second, module, instance);
    HIPRTC(DestroyProgram, &program);
    HIP(Malloc, &to, 1024);
    HIP(ModuleLaunchKernel, first, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL);
    HIP(ModuleLaunchKernel, second, 2, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL);
    HIP(DeviceSynchronize);
    HIP(Free, to);
    HIP(ModuleUnload, module);
    free(code);
    hip_end();
    return 0;
}
