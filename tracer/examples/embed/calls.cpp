// Prints a table of its own calls of the ROCm runtime, and of HIP where librtl_hip.so is linked before librtl.so, with their times
// by thread.
//
//     cc -c work.c
//     c++ -std=c++11 calls.cpp work.o -I PREFIX/include -L PREFIX/lib -Wl,-rpath,PREFIX/lib -lrtl -lhsa-runtime64
#include <rtl.h>
#include <stdlib.h>

#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "work.h"

namespace {

struct Total {
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;
    std::int64_t nanoseconds = 0;
};

// Used by the library's thread alone until rtl_stop has returned.
struct Report {
    std::map<std::pair<std::uint32_t, std::string>, Total> totals;
    std::map<std::uint64_t, std::string> threads;
    rtl_counts calls = {};
};

// An exception must not leave a callback.
void on_calls(const rtl_call *calls, std::size_t count, void *data) noexcept {
    auto &report = *static_cast<Report *>(data);
    for (std::size_t at = 0; at < count; at++) {
        const rtl_call &call = calls[at];
        Total &total = report.totals[{call.tid, std::string(call.function, call.function_length)}];
        total.calls++;
        total.errors += call.status != 0;
        total.nanoseconds += call.end - call.start;
    }
}

void on_names(const rtl_name *names, std::size_t count, void *data) noexcept {
    auto &report = *static_cast<Report *>(data);
    for (std::size_t at = 0; at < count; at++)
        if (names[at].kind == RTL_NAME_THREAD)
            report.threads[names[at].number] = std::string(names[at].text, names[at].text_length);
}

// The last callback.
void on_end(const rtl_counters *counters, void *data) noexcept {
    static_cast<Report *>(data)->calls = counters->calls;
}

bool check(rtl_status status) {
    if (status != RTL_OK) std::cerr << "rtl: " << rtl_status_text(status) << '\n';
    return status == RTL_OK;
}

}  // namespace

int main() {
    Report report;
    rtl_callbacks callbacks = {};
    callbacks.size = sizeof callbacks;
    callbacks.data = &report;
    callbacks.calls = on_calls;
    callbacks.names = on_names;
    callbacks.ended = on_end;
    setenv("RTL_HSA_API_FILTER", "core", 0);
    if (!check(rtl_set_callbacks(&callbacks))) return EXIT_FAILURE;

    work();

    if (!check(rtl_stop(60000))) return EXIT_FAILURE;
    for (const auto &row : report.totals)
        std::cout << report.threads[row.first.first] << '\t' << row.first.second << '\t' << row.second.calls << '\t'
                  << row.second.errors << " errors\t" << row.second.nanoseconds << " ns\n";
    std::cout << report.calls.lost << " of " << report.calls.seen << " calls lost\n";
    return EXIT_SUCCESS;
}
