#include "bench/long_calls.hpp"

#include "bench/micro/null_device.hpp"

#include <gtest/gtest.h>

namespace vrambench {
namespace {

constexpr std::int64_t us = 1'000'000;    // picoseconds

/// Tells what ran only when it is asked afterwards, like a GPU; a quarter of any stretch, or nothing at all.
class late_device : public micro::null_device {
public:
    explicit late_device(bool knows) : knows_(knows) {}
    std::int64_t busy_within_ps(std::int64_t begin, std::int64_t end) override
    {
        ++asked;
        return knows_ ? (end - begin) / 4 : -1;
    }
    int asked = 0;

private:
    bool knows_;
};

TEST(long_calls, are_split_when_the_device_is_idle)
{
    late_device dev(true);
    long_calls calls(dev);
    call_parts parts;
    calls.add(parts, 100 * us, 108 * us);
    calls.add(parts, 200 * us, 200 * us + long_calls::threshold_ps - 1);    // short: not split
    calls.add(parts, 300 * us, 300 * us + long_calls::threshold_ps);
    EXPECT_EQ(dev.asked, 0);                                                // nothing is asked while the pass runs
    calls.resolve();
    EXPECT_EQ(parts.drain.count(), 2u);
    EXPECT_EQ(parts.drain.sum(), (8 + 5) * us / 4);
    EXPECT_EQ(parts.idle.sum(), (8 + 5) * us * 3 / 4);
    EXPECT_EQ(calls.unsplit(), 0u);
}

TEST(long_calls, beyond_the_buffer_are_counted)
{
    late_device dev(true);
    long_calls calls(dev);
    call_parts parts;
    for (std::size_t i = 0; i < long_calls::capacity + 3; ++i) calls.add(parts, 0, 10 * us);
    calls.resolve();
    EXPECT_EQ(parts.idle.count(), long_calls::capacity);
    EXPECT_EQ(calls.unsplit(), 3u);
}

TEST(long_calls, that_the_device_knows_nothing_of_are_counted)
{
    late_device dev(false);
    long_calls calls(dev);
    call_parts parts;
    calls.add(parts, 0, 10 * us);
    calls.resolve();
    EXPECT_EQ(parts.idle.count(), 0u);
    EXPECT_EQ(calls.unsplit(), 1u);
}

}  // namespace
}  // namespace vrambench
