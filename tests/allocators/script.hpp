#pragma once
// A trace written out in a test, event by event.

#include "workloads/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace vrambench::test {

class script final : public trace {
public:
    explicit script(std::uint32_t streams = 1)
    {
        header_.name = header_.spec = "script";
        header_.streams = streams;
        header_.tags = {"block"};
        header_.phases = {"all"};
    }

    script& alloc(std::uint32_t id, std::uint64_t bytes, std::uint32_t stream = 0, std::uint32_t alignment = 128)
    {
        return add({.kind = event_kind::alloc, .stream = narrow(stream), .id = id, .alignment = alignment, .bytes = bytes});
    }
    script& free(std::uint32_t id, std::uint32_t stream = 0)
    {
        return add({.kind = event_kind::free, .stream = narrow(stream), .id = id});
    }
    /// A kernel that writes block `id`.
    script& kernel(std::uint32_t id, std::uint32_t stream = 0, std::int64_t nanoseconds = 20'000)
    {
        operands_.push_back(id);
        return add({.kind = event_kind::kernel, .stream = narrow(stream), .n_writes = 1,
                    .first_operand = static_cast<std::uint32_t>(operands_.size() - 1), .nanoseconds = nanoseconds});
    }
    script& record(std::uint32_t event_id, std::uint32_t stream)
    {
        return add({.kind = event_kind::record, .stream = narrow(stream), .id = event_id});
    }
    script& wait(std::uint32_t event_id, std::uint32_t stream)
    {
        return add({.kind = event_kind::wait, .stream = narrow(stream), .id = event_id});
    }
    script& sync() { return add({.kind = event_kind::sync_device}); }

    const std::vector<event>& events() const { return events_; }
    std::uint32_t operand(const event& e) const { return operands_[e.first_operand]; }

    const trace_header& header() const override { return header_; }
    std::unique_ptr<trace_source> open() const override { return std::make_unique<reader>(*this); }

private:
    class reader final : public trace_source {
    public:
        explicit reader(const script& s) : script_(s) {}
        bool fill(event_batch& batch) override
        {
            batch.clear();
            const std::size_t n = std::min(batch_events, script_.events_.size() - next_);
            for (const event* e = script_.events_.data() + next_; batch.events.size() < n; ++e) {
                batch.events.push_back(*e);
                if (e->kind != event_kind::kernel) continue;
                batch.events.back().first_operand = static_cast<std::uint32_t>(batch.operands.size());
                batch.operands.push_back(script_.operand(*e));
            }
            next_ += n;
            return n > 0;
        }

    private:
        const script& script_;
        std::size_t next_ = 0;
    };

    static std::uint16_t narrow(std::uint32_t stream) { return static_cast<std::uint16_t>(stream); }
    script& add(const event& e)
    {
        events_.push_back(e);
        return *this;
    }

    trace_header header_;
    std::vector<event> events_;
    std::vector<std::uint32_t> operands_;
};

}  // namespace vrambench::test
