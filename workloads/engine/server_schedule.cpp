#include "workloads/engine/server_schedule.hpp"

#include "spec/units.hpp"

#include <algorithm>
#include <utility>

namespace vrambench::engine {

server_schedule::server_schedule(const server_settings& s)
    : s_(s), numbers_(s.seed), gap_(s.gap_ns), cells_(s.cells), slots_(s.slots)
{
    draw();
}

std::optional<step_plan> server_schedule::next(std::uint64_t elapsed_ns)
{
    now_ns_ += elapsed_ns;
    if (at_part_ == batch_.size() && !form_batch()) return std::nullopt;
    return micro_batch();
}

/// Who waits is one request at any length of the queue: the next one is drawn when it leaves.
void server_schedule::draw()
{
    waiting_.reset();
    if (drawn_ == s_.requests) return;
    ++drawn_;
    last_arrival_ns_ += gap_(numbers_);
    const std::uint64_t prompt = s_.prompt(numbers_);
    waiting_ = request{last_arrival_ns_, prompt, s_.answer(numbers_)};
}

void server_schedule::admit()
{
    for (slot& free : slots_) {
        if (free.cells_wanted != 0) continue;
        if (!waiting_ || waiting_->arrival_ns > now_ns_ || cells_promised_ + waiting_->cells() > s_.cells) return;
        free.prompt_left = waiting_->prompt;
        free.answer_left = waiting_->answer;
        free.cells_wanted = waiting_->cells();
        cells_promised_ += free.cells_wanted;
        draw();
    }
}

void server_schedule::finish()
{
    for (slot& done : slots_) {
        if (done.cells_wanted == 0 || done.prompt_left + done.answer_left > 0) continue;
        for (const std::uint32_t cell : done.cells) cells_.give_back(cell);
        done.cells.clear();
        cells_promised_ -= std::exchange(done.cells_wanted, 0);
    }
}

bool server_schedule::form_batch()
{
    finish();
    if (cells_promised_ == 0 && waiting_) now_ns_ = std::max(now_ns_, waiting_->arrival_ns);
    admit();
    batch_.clear();
    at_part_ = 0;
    batch_has_rows_ = false;
    std::uint64_t room = s_.batch;
    for (std::size_t i = 0; i < slots_.size(); ++i)
        if (slots_[i].prompt_left == 0 && slots_[i].answer_left > 0) batch_.push_back({i, 1, false}), --room;
    for (std::size_t i = 0; i < slots_.size() && room > 0; ++i) {
        const std::uint64_t n = std::min(room, slots_[i].prompt_left);
        if (n > 0) batch_.push_back({i, n, true});
        room -= n;
    }
    return !batch_.empty();
}

/// Output rows that these tokens ask for.
std::uint64_t server_schedule::process(part& p, std::uint64_t tokens)
{
    slot& s = slots_[p.slot];
    for (std::uint64_t i = 0; i < tokens; ++i) s.cells.push_back(cells_.take());
    p.tokens_left -= tokens;
    (p.prompt ? s.prompt_left : s.answer_left) -= tokens;
    return s.prompt_left == 0 ? 1 : 0;
}

step_plan server_schedule::micro_batch()
{
    step_plan p;
    p.decode = true;
    while (at_part_ < batch_.size() && p.tokens < s_.ubatch) {
        part& now = batch_[at_part_];
        const std::uint64_t n = std::min(now.tokens_left, s_.ubatch - p.tokens);
        p.tokens += n;
        p.shape.rows += process(now, n);
        if (now.prompt) p.decode = false;
        if (now.tokens_left == 0) ++at_part_;
    }
    p.shape.tokens = p.tokens;
    p.shape.n_kv = std::min(s_.cells, round_up(cells_.end(), cell_padding));
    p.mode = graphs_.next(p.shape, s_.graphs);
    p.syncs_before = static_cast<std::uint32_t>(2 * s_.inputs + (p.shape.rows > 0 ? 1 : 0));
    batch_has_rows_ = batch_has_rows_ || p.shape.rows > 0;
    p.syncs_after = at_part_ == batch_.size() && batch_has_rows_ ? 1 : 0;    // the outputs are read
    return p;
}

}  // namespace vrambench::engine
