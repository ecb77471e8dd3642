#include "workloads/neighbour.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <utility>

namespace vrambench {

namespace {

/// Cuts inner's batches behind the two steps; a batch of one event goes in between.
class neighbour_source final : public trace_source {
public:
    neighbour_source(std::unique_ptr<trace_source> inner, const neighbour_plan& plan, const event& take, const event& give)
        : inner_(std::move(inner)), plan_(plan), take_(take), give_(give)
    {
    }

    bool fill(event_batch& batch) override
    {
        batch.clear();
        if (const event* due = std::exchange(due_, nullptr)) {
            batch.events.push_back(*due);
            return true;
        }
        if (at_ == read_.events.size()) {
            at_ = 0;
            if (!inner_->fill(read_)) return false;
        }
        const std::size_t end = next_cut();
        if (at_ == 0 && end == read_.events.size()) {
            std::swap(batch, read_);
            read_.clear();
            return true;
        }
        const auto begin = read_.events.begin();
        batch.events.assign(begin + static_cast<std::ptrdiff_t>(at_), begin + static_cast<std::ptrdiff_t>(end));
        batch.operands = read_.operands;    // events know theirs by position
        at_ = end;
        return true;
    }

private:
    /// Index behind the next step at which something happens, which is then due; else the end of what was read.
    std::size_t next_cut()
    {
        for (std::size_t i = at_; i < read_.events.size(); ++i) {
            if (read_.events[i].kind != event_kind::step) continue;
            ++steps_;
            if (steps_ == plan_.from_step) due_ = &take_;
            if (steps_ == plan_.to_step) due_ = &give_;
            if (due_) return i + 1;
        }
        return read_.events.size();
    }

    std::unique_ptr<trace_source> inner_;
    neighbour_plan plan_;
    event take_, give_;
    event_batch read_;
    std::size_t at_ = 0;                 ///< of read_, the next to hand out
    std::uint64_t steps_ = 0;
    const event* due_ = nullptr;
};

class neighbour_trace final : public trace {
public:
    neighbour_trace(std::shared_ptr<const trace> inner, std::uint32_t id, const neighbour_plan& plan)
        : inner_(std::move(inner)), header_(inner_->header()), plan_(plan)
    {
        const auto tag = static_cast<std::uint16_t>(header_.tags.size());
        take_ = {.kind = event_kind::external_alloc, .tag = tag, .id = id, .bytes = plan.bytes};
        give_ = {.kind = event_kind::external_free, .id = id};
        header_.tags.emplace_back("neighbour");
    }
    const trace_header& header() const override { return header_; }
    std::unique_ptr<trace_source> open() const override
    {
        return std::make_unique<neighbour_source>(inner_->open(), plan_, take_, give_);
    }

private:
    std::shared_ptr<const trace> inner_;
    trace_header header_;
    neighbour_plan plan_;
    event take_, give_;
};

}  // namespace

neighbour_plan parse_neighbour(std::string_view text)
{
    constexpr std::string_view marker = "@step:";
    const auto refuse = [&](const std::string& problem) { throw input_error("--neighbour: " + in_quotes(text) + " " + problem); };
    const auto at = text.find(marker);
    if (at == std::string_view::npos) refuse("is no neighbour (write 2GiB@step:40 or 2GiB@step:40..60)");
    neighbour_plan plan;
    plan.bytes = parse_size(text.substr(0, at), "--neighbour");
    if (plan.bytes == 0) refuse("takes no memory");
    const std::string_view steps = text.substr(at + marker.size());
    const auto dots = steps.find("..");
    plan.from_step = parse_integer(steps.substr(0, dots), "--neighbour: the first step", 1, UINT64_MAX);
    if (dots == std::string_view::npos) return plan;
    plan.to_step = parse_integer(steps.substr(dots + 2), "--neighbour: the last step", 1, UINT64_MAX);
    if (plan.to_step <= plan.from_step) refuse("gives its memory back before it takes it");
    return plan;
}

std::string to_text(const neighbour_plan& plan)
{
    std::string text = exact_size(plan.bytes) + "@step:" + std::to_string(plan.from_step);
    if (plan.to_step) text += ".." + std::to_string(plan.to_step);
    return text;
}

std::shared_ptr<const trace> with_neighbour(std::shared_ptr<const trace> inner, std::uint32_t external_ids, const neighbour_plan& plan)
{
    return std::make_shared<neighbour_trace>(std::move(inner), external_ids, plan);
}

}  // namespace vrambench
