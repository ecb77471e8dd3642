#include "bench/long_calls.hpp"

namespace vrambench {

long_calls::long_calls(device& dev) : device_(dev), knows_at_once_(dev.busy_until_ps() >= 0)
{
    if (knows_at_once_) return;
    kept_.resize(capacity);
    kept_.clear();    // keeps the pages
}

void long_calls::keep(call_parts& to, std::int64_t begin, std::int64_t end)
{
    if (knows_at_once_)
        split({&to, begin, end});
    else if (kept_.size() < capacity)
        kept_.push_back({&to, begin, end});
    else
        ++unsplit_;
}

void long_calls::split(const call& c)
{
    const std::int64_t busy = device_.busy_within_ps(c.begin, c.end);
    if (busy < 0) {
        ++unsplit_;
        return;
    }
    c.to->drain.add(busy);
    c.to->idle.add(c.end - c.begin - busy);
}

void long_calls::resolve()
{
    for (const auto& c : kept_) split(c);
    kept_.clear();
}

}  // namespace vrambench
