// Callbacks that throw, through functions of the runtime and of roctx, and what the program catches.
#include <hsa/hsa.h>

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

static int list_agents(bool throws) {
    return hsa_iterate_agents(
        [](hsa_agent_t, void *data) -> hsa_status_t {
            if (*static_cast<bool *>(data)) throw 7;
            return HSA_STATUS_SUCCESS;
        },
        &throws);
}

template <typename Call> static void attempt(const char *what, Call call) {
    try {
        std::printf("%s: %#x\n", what, static_cast<unsigned>(call()));
    } catch (int thrown) {
        std::printf("%s: caught %d\n", what, thrown);
    }
}

static int on_roctx(uint32_t, uint32_t, void *) { throw 8; }

int main(int argc, char **) {
    if (hsa_init() != HSA_STATUS_SUCCESS) return 1;
    attempt("quiet", [] { return list_agents(false); });
    for (int round = 0; round < 3; round++) attempt("throwing", [] { return list_agents(true); });
    attempt("quiet again", [] { return list_agents(false); });
    auto listen = reinterpret_cast<void (*)(decltype(&on_roctx))>(dlsym(RTLD_DEFAULT, "roctxRegisterTracerCallback"));
    auto push = reinterpret_cast<int (*)(const char *)>(dlsym(RTLD_DEFAULT, "roctxRangePushA"));
    auto pop = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "roctxRangePop"));
    if (argc > 1 && listen && push && pop) {
        attempt("pushed", [&] { return push("outer"); });
        listen(on_roctx);
        attempt("not pushed", [&] { return push("never"); });
        attempt("not popped", [&] { return pop(); });
        listen(nullptr);
        attempt("popped", [&] { return pop(); });
    }
    return hsa_shut_down() != HSA_STATUS_SUCCESS;
}
