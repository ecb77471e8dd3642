#include "tests/fake_runtime/host_kernels.hpp"

#include "device/kernels.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace vrambench::fake {

namespace {

using gpu::launch_arguments;
using gpu::multiply_report;
using gpu::touched_block;

constexpr std::uint64_t near_an_end = 64, step = 512;    // words

template <class F> void each_chosen_word(std::uint64_t count, F f)
{
    for (std::uint64_t i = 0; i < count;) {
        f(i);
        i = i < near_an_end || i + near_an_end >= count ? i + 1 : std::min((i / step + 1) * step, count - near_an_end);
    }
}

std::uint64_t pattern(std::uint64_t key, std::uint64_t seed, std::uint64_t i) { return key | (((i + seed) * 0x9e3779b97f4a7c15u) >> 40); }

class work final : public host_kernel {
public:
    explicit work(void** arguments) { std::memcpy(&a_, arguments[0], sizeof a_); }

    std::vector<std::pair<std::uint64_t, std::uint64_t>> touches() const override
    {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
        for (int n = 0; n < a_.n_blocks; ++n)
            if (a_.blocks[n].write || a_.blocks[n].verify)
                all.emplace_back(reinterpret_cast<std::uint64_t>(a_.blocks[n].words), a_.blocks[n].count * sizeof(std::uint64_t));
        return all;
    }
    std::int64_t picoseconds() const override { return static_cast<std::int64_t>(a_.hold_ns) * 1000; }

    void run(std::uint64_t began_ns, std::uint64_t ended_ns) const override
    {
        for (int n = 0; n < a_.n_blocks; ++n) {
            const touched_block& b = a_.blocks[n];
            if (b.write) each_chosen_word(b.count, [&](std::uint64_t i) { b.words[i] = pattern(b.key, a_.seed, i); });
        }
        for (int n = 0; n < a_.n_blocks; ++n) {
            const touched_block& b = a_.blocks[n];
            if (b.verify) each_chosen_word(b.count, [&](std::uint64_t i) { verify(b, i); });
        }
        if (!a_.stamp) return;
        a_.stamp->start = std::min<unsigned long long>(a_.stamp->start, began_ns);
        a_.stamp->inverted_end = std::min<unsigned long long>(a_.stamp->inverted_end, ~ended_ns);
    }

private:
    void verify(const touched_block& b, std::uint64_t i) const
    {
        const std::uint64_t expected = pattern(b.key, a_.seed, i);
        if (b.words[i] == expected || a_.report->count++ != 0) return;
        a_.report->launch = a_.launch;
        a_.report->expected = expected;
        a_.report->found = b.words[i];
        a_.report->offset = i;
    }

    launch_arguments a_;
};

class copy final : public host_kernel {
public:
    explicit copy(void** arguments)
    {
        std::memcpy(&bytes_, arguments[2], sizeof bytes_);
        std::memcpy(&times_, arguments[3], sizeof times_);
        bytes_ *= 16;
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> touches() const override { return {}; }
    std::int64_t picoseconds() const override { return static_cast<std::int64_t>(bytes_ / 1'000'000 * 2 * times_) * 1'000'000 / 2; }    // 2 TB/s
    void run(std::uint64_t, std::uint64_t) const override {}

private:
    unsigned long long bytes_ = 0;
    unsigned times_ = 0;
};

class multiply final : public host_kernel {
public:
    explicit multiply(void** arguments)
    {
        std::memcpy(&rounds_, arguments[0], sizeof rounds_);
        std::memcpy(&report_, arguments[1], sizeof report_);
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> touches() const override
    {
        return {{reinterpret_cast<std::uint64_t>(report_), sizeof *report_}};
    }
    std::int64_t picoseconds() const override { return static_cast<std::int64_t>(rounds_) * 10'000; }
    void run(std::uint64_t, std::uint64_t) const override
    {
        report_->how = gpu::multiply_how::packed;
        report_->flops_of_a_block = 8192;
    }

private:
    unsigned rounds_ = 0;
    multiply_report* report_ = nullptr;
};

template <class Kernel> std::unique_ptr<host_kernel> make(void** arguments) { return std::make_unique<Kernel>(arguments); }

}  // namespace

kernel_maker find_kernel(const char* mangled_name)
{
    int failed = 0;
    char* text = abi::__cxa_demangle(mangled_name, nullptr, nullptr, &failed);
    const std::string name = text ? text : mangled_name;
    std::free(text);
    if (name.find("::work(") != std::string::npos) return make<work>;
    if (name.find("::copy(") != std::string::npos) return make<copy>;
    if (name.find("::multiply(") != std::string::npos) return make<multiply>;
    return {};
}

}  // namespace vrambench::fake
