// Prints a table of its own kernels by range, with their times.
//
//     cc -c work.c
//     c++ -std=c++11 kernels.cpp work.o -I PREFIX/include -L PREFIX/lib -Wl,-rpath,PREFIX/lib -lrtl -lhsa-runtime64
#include <rtl.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include "work.h"

namespace {

void check(rtl_status status) {
    if (status != RTL_OK) throw std::runtime_error(rtl_status_text(status));
}

// Records as long as it lives. A range is delivered when it has ended, often after its kernels, so `totals` joins them.
class Recorder {
public:
    struct Total {
        std::uint64_t kernels = 0;
        std::int64_t nanoseconds = 0;
    };

    Recorder() {
        rtl_callbacks callbacks = {};
        callbacks.size = sizeof callbacks;
        callbacks.data = this;
        callbacks.mode = "standard";
        callbacks.kernels = [](const rtl_kernel *kernels, std::size_t count, void *recorder) {
            static_cast<Recorder *>(recorder)->add(kernels, count);
        };
        callbacks.ranges = [](const rtl_range *ranges, std::size_t count, void *recorder) {
            static_cast<Recorder *>(recorder)->add(ranges, count);
        };
        check(rtl_set_callbacks(&callbacks));
    }

    ~Recorder() {
        // No callback is called any more when this returns RTL_OK, so it is called until it does.
        while (rtl_stop(1000) == RTL_ERROR_TIMEOUT) {}
    }

    Recorder(const Recorder &) = delete;
    Recorder &operator=(const Recorder &) = delete;

    // Kernels that have completed by now, by the text of their range.
    std::map<std::string, Total> totals() const {
        check(rtl_flush(60000));
        std::map<std::string, Total> totals;
        for (const auto &range : kernels_) {
            const auto text = texts_.find(range.first);
            Total &total = totals[text == texts_.end() ? "(no range)" : text->second];
            total.kernels += range.second.kernels;
            total.nanoseconds += range.second.nanoseconds;
        }
        return totals;
    }

private:
    // An exception must not leave a callback.
    void add(const rtl_kernel *kernels, std::size_t count) noexcept {
        for (std::size_t at = 0; at < count; at++) {
            Total &total = kernels_[kernels[at].range_id];
            total.kernels++;
            total.nanoseconds += kernels[at].end - kernels[at].start;
        }
    }

    void add(const rtl_range *ranges, std::size_t count) noexcept {
        for (std::size_t at = 0; at < count; at++)
            texts_[ranges[at].range_id] = std::string(ranges[at].text, ranges[at].text_length);
    }

    std::map<std::uint64_t, Total> kernels_;
    std::map<std::uint64_t, std::string> texts_;
};

}  // namespace

int main() {
    try {
        Recorder recorder;
        work();
        for (const auto &range : recorder.totals())
            std::cout << range.first << '\t' << range.second.kernels << "\t" << range.second.nanoseconds << " ns\n";
    } catch (const std::exception &failure) {
        std::cerr << "rtl: " << failure.what() << '\n';
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
