#include "workloads/resident.hpp"

#include <utility>

namespace vrambench {

namespace {

class resident_source final : public trace_source {
public:
    resident_source(std::unique_ptr<trace_source> inner, const event& first) : inner_(std::move(inner)), first_(first) {}

    bool fill(event_batch& batch) override
    {
        if (!std::exchange(begun_, true)) {
            batch.clear();
            batch.events.push_back(first_);
            return true;
        }
        return inner_->fill(batch);
    }

private:
    std::unique_ptr<trace_source> inner_;
    event first_;
    bool begun_ = false;
};

class resident_trace final : public trace {
public:
    resident_trace(std::shared_ptr<const trace> inner, std::uint32_t id, std::uint64_t bytes)
        : inner_(std::move(inner)), header_(inner_->header())
    {
        const auto tag = static_cast<std::uint16_t>(header_.tags.size());
        first_ = {.kind = event_kind::external_alloc, .tag = tag, .id = id, .bytes = bytes};
        header_.tags.emplace_back("resident");
    }
    const trace_header& header() const override { return header_; }
    std::unique_ptr<trace_source> open() const override { return std::make_unique<resident_source>(inner_->open(), first_); }

private:
    std::shared_ptr<const trace> inner_;
    trace_header header_;
    event first_;
};

}  // namespace

std::shared_ptr<const trace> with_resident(std::shared_ptr<const trace> inner, std::uint32_t external_ids, std::uint64_t bytes)
{
    return std::make_shared<resident_trace>(std::move(inner), external_ids, bytes);
}

trace_summary with_resident(trace_summary s, std::uint64_t bytes)
{
    ++s.events;
    ++s.events_before_work;
    ++s.events_of_work;
    ++s.external_ids;
    if (!s.lifo) ++s.first_non_lifo_event;
    s.max_external_bytes += bytes;
    return s;
}

}  // namespace vrambench
