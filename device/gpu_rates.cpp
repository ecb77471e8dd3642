#include "device/gpu_rates.hpp"

#include "spec/units.hpp"

#include <algorithm>
#include <vector>

namespace vrambench::gpu::inline VRAMBENCH_VENDOR {

namespace {

constexpr std::int64_t second = 1'000'000'000'000;    // picoseconds
constexpr std::int64_t warming = second / 5, measuring = second / 2;

[[noreturn]] void fail(driver_call call, int code)
{
    take_last_error();
    throw device_error(call, code, error_name(code), "while measuring the card's rates");
}

void check(driver_call call, int code)
{
    if (code) fail(call, code);
}

/// Memory of the card, given back at the end of the scope. Null where there is none.
class scratch {
public:
    explicit scratch(std::uint64_t bytes)
    {
        if (VRAMBENCH_VENDOR::malloc(&pointer_, bytes) == 0) return;
        take_last_error();
        pointer_ = nullptr;
    }
    ~scratch() { VRAMBENCH_VENDOR::free(pointer_); }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    void* get() const { return pointer_; }

private:
    void* pointer_ = nullptr;
};

/// Picoseconds that one call of `work` takes, launch and synchronisation included: the median of those within a stated
/// time, after others that bring the clocks up and are not counted.
template <class Work> std::int64_t median_time(stream_t stream, const host_clock& clock, Work work)
{
    const auto run = [&] {
        const std::int64_t begin = clock.now_ps();
        check(driver_call::launch, work());
        check(driver_call::sync, stream_sync(stream));
        return clock.now_ps() - begin;
    };
    for (std::int64_t spent = 0; spent < warming;) spent += run();
    std::vector<std::int64_t> times;
    for (std::int64_t spent = 0; spent < measuring; spent += times.back()) times.push_back(run());
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return std::max<std::int64_t>(times[times.size() / 2], 1);
}

std::uint64_t rate(double amount, std::int64_t picoseconds)
{
    return static_cast<std::uint64_t>(amount * static_cast<double>(second) / static_cast<double>(picoseconds));
}

/// Far above any cache, and long enough that a launch does not count.
void measure_copy(stream_t stream, int multiprocessors, const host_clock& clock, card_rates& rates)
{
    std::size_t free_bytes = 0, total = 0;
    check(driver_call::memory_info, free_memory(&free_bytes, &total));
    const std::uint64_t bytes = std::min<std::uint64_t>(GiB, free_bytes / 4) / MiB * MiB;
    const scratch from(bytes), to(bytes);
    if (bytes < 64 * MiB || !from.get() || !to.get()) {
        rates.bytes_source = "not measured: too little memory is free";
        return;
    }
    check(driver_call::malloc, fill(from.get(), 1, bytes));
    constexpr unsigned times = 8;
    const std::int64_t t = median_time(stream, clock, [&] {
        return launch_copy(stream, multiprocessors, from.get(), to.get(), bytes, times);
    });
    rates.bytes_per_second = rate(2.0 * static_cast<double>(bytes) * times, t);
    rates.bytes_source = "a copy of " + human_size(bytes) + ", read plus written, by a kernel";
}

void measure_multiply(stream_t stream, int multiprocessors, const host_clock& clock, card_rates& rates)
{
    const scratch memory(sizeof(multiply_report));
    if (!memory.get()) {
        rates.flops_source = "not measured: no memory is free";
        return;
    }
    auto* on_device = static_cast<multiply_report*>(memory.get());
    check(driver_call::malloc, fill(on_device, 0, sizeof(multiply_report)));
    const auto multiply = [&](unsigned rounds) { return launch_multiply(stream, multiprocessors, rounds, on_device); };
    check(driver_call::launch, multiply(1));
    check(driver_call::sync, stream_sync(stream));
    multiply_report report{};
    check(driver_call::memory_info, copy_out(&report, on_device, sizeof report));
    if (report.how == multiply_how::none) {
        rates.flops_source = "not measured: the kernel has no form for this architecture";
        return;
    }
    constexpr unsigned rounds = 20'000;
    const std::int64_t t = median_time(stream, clock, [&] { return multiply(rounds); });
    const double blocks = static_cast<double>(multiply_blocks(multiprocessors));
    rates.flops_per_second = rate(static_cast<double>(report.flops_of_a_block) * rounds * blocks, t);
    rates.flops_source = report.how == multiply_how::tensor
                             ? "f16 matrices on tensor cores with f32 sums, a warp at a time, from registers"
                             : "pairs of f16 multiplied and added without tensor cores, from registers";
}

}  // namespace

card_rates measure_rates(stream_t stream, int multiprocessors, const host_clock& clock)
{
    card_rates rates;
    measure_copy(stream, multiprocessors, clock, rates);
    measure_multiply(stream, multiprocessors, clock, rates);
    return rates;
}

}  // namespace vrambench::gpu
