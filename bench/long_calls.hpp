#pragma once
// Splits what long allocator calls lasted into drain (the device was busy with work that had to run anyway) and idle (the
// rest, which is what the call cost). A call that is shorter than `threshold_ps` says nothing: the kernels' timer is matched
// to the host's to some microseconds only. The simulator follows the same rule, so that the two can be compared.

#include "bench/measurement.hpp"
#include "device/device.hpp"

#include <cstdint>
#include <vector>

namespace vrambench {

class long_calls {
public:
    static constexpr std::int64_t threshold_ps = 5'000'000;
    static constexpr std::size_t capacity = std::size_t{1} << 17;

    /// A device that only tells after a synchronisation (a GPU) gets a buffer, which is made and touched here, before the
    /// clock starts.
    explicit long_calls(device& dev);

    /// After the call, outside its time. `to` lives until resolve().
    void add(call_parts& to, std::int64_t begin, std::int64_t end)
    {
        if (end - begin >= threshold_ps) keep(to, begin, end);
    }
    /// When the device is idle: splits what was kept.
    void resolve();
    /// Long calls without parts: the buffer was full, or the device does not know what ran.
    std::uint64_t unsplit() const { return unsplit_; }

private:
    struct call {
        call_parts* to;
        std::int64_t begin, end;
    };
    void keep(call_parts& to, std::int64_t begin, std::int64_t end);
    void split(const call& c);

    device& device_;
    bool knows_at_once_;
    std::vector<call> kept_;
    std::uint64_t unsplit_ = 0;
};

}  // namespace vrambench
