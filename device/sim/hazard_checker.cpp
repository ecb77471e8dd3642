// Every use of memory is checked twice: against the other uses of the same block, and, the first time that a block
// touches a range, against what former owners left there (hazard_history.hpp). Order is in hazard_order.hpp.
//
// Of a live block only the uses that a later one may still have to wait for are kept: the last write, or the reads since
// then that are not ordered among themselves. Freed, they become the range's history.

#include "device/sim/hazard_checker.hpp"

#include "device/sim/hazard_history.hpp"
#include "device/sim/hazard_log.hpp"
#include "device/sim/hazard_order.hpp"
#include "device/sim/hazard_ranges.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace vrambench::sim {

namespace {

struct extent {
    std::uint64_t start = 0;
    std::uint64_t end = 0;

    bool empty() const { return start >= end; }
    std::uint64_t bytes() const { return end - start; }
    bool holds(const extent& inner) const { return inner.start >= start && inner.end <= end; }
};

/// Ends at the top of the address space where the length is absurd.
extent extent_of(std::uint64_t pointer, std::uint64_t bytes)
{
    return {pointer, bytes > UINT64_MAX - pointer ? UINT64_MAX : pointer + bytes};
}

extent common(const extent& a, const extent& b)
{
    const std::uint64_t start = std::max(a.start, b.start);
    return {start, std::max(start, std::min(a.end, b.end))};
}

/// A block's id and what happened to it last. The slot stays when the block is freed.
struct block_slot {
    extent memory;                           ///< as granted
    bool live = false;
    bool lost = false;                       ///< memory was returned under it: look at every access
    bool wrote = false;                      ///< last_write is set
    bool touched = false;                    ///< `used` is set
    bool behind_one = false;                 ///< whoever is behind `cleared` is behind all history under `used`
    bool gaps = false;                       ///< `used` has parts that no kernel named
    reported_kinds reported;
    extent used;                             ///< all that kernels named, and what lies between
    use cleared;
    use last_write;
    std::vector<use> reads;                  ///< since last_write; none is ordered before another
    std::uint64_t allocated_at = hazard_log::no_event;
    std::uint64_t freed_at = hazard_log::no_event;
    std::uint32_t allocated_on = 0;          ///< stream
    std::uint32_t freed_on = 0;
    std::uint32_t id = 0;
};

/// Memory that went away.
struct lost_memory {
    extent memory;
    std::uint64_t event = 0;
    memory_loss how = memory_loss::free;
};

const char* verb(bool write) { return write ? "writes" : "reads"; }

std::string kernel_text(const use& u) { return words("the kernel of event ", u.event, " on stream ", u.stream); }

/// " (block 3, freed at event 9 on stream 0)"
std::string owner_text(const use& u, const past& was)
{
    if (u.ownerless) return " (a replayed graph)";
    if (was.freed_at == hazard_log::no_event) return words(" (block ", u.block, ")");
    return words(" (block ", u.block, ", freed at event ", was.freed_at, " on stream ", was.freed_on, ")");
}

std::string text_of(const block_slot& b) { return block_text(b.id, b.memory.start, b.memory.bytes()); }

/// "event 7 on stream 1"
std::string birth_text(const block_slot& b) { return place_text(b.allocated_at, b.allocated_on); }

std::string on_stream(const block_slot& b) { return words(", handed out on stream ", b.allocated_on, ','); }

/// "kernel on stream 1 writes"
std::string doing_text(std::uint32_t stream, bool write) { return words("kernel on stream ", stream, ' ', verb(write)); }

/// "kernel of a replayed graph on stream 1 writes block 3 at 0x1000+4096, captured up to event 7".
std::string baked_text(const kernel_access& a, std::uint32_t stream)
{
    return words("kernel of a replayed graph on stream ", stream, ' ', verb(a.write), ' ', block_text(a.block, a.pointer, a.bytes),
                 " as captured up to event ", a.captured);
}

}  // namespace

class hazard_checker::state {
public:
    explicit state(std::size_t sift_above) : least_lessons_(sift_above), sift_above_(sift_above) {}

    void hand_out(std::uint32_t id, extent memory, std::uint64_t bytes, std::uint32_t alignment, std::uint32_t stream);
    void take_back(std::uint32_t id, std::uint64_t pointer, std::uint64_t granted, std::uint32_t stream);
    void access(const kernel_access& a, std::uint32_t stream, mark m);
    void replayed_access(const kernel_access& a, std::uint32_t stream, mark m);
    void obtain(extent memory);
    void give_back(extent memory, memory_loss how);
    /// After a stream learned something.
    void sift_lessons()
    {
        if (order.lessons() > sift_above_) sift();
    }
    std::size_t tracked_ranges() const { return obtained_.size() + live_.size() + history_.ranges(); }

    happens_before order;
    hazard_log log;
    std::uint64_t event = 0;

private:
    bool known(std::uint32_t stream, const use& u) const { return order.known(stream, u.stream, u.at); }
    bool host_knows(const use& u) const { return order.host_knows(u.stream, u.at); }

    bool exists(const extent& memory);
    void sift();
    void check_grant(block_slot& b, std::uint64_t bytes, std::uint32_t alignment);
    void report_dead(const kernel_access& a, std::uint32_t stream);
    void use_block(block_slot& b, const use& now, const extent& part);
    void check_against(block_slot& b, const use& now, const extent& part, const use& before);
    void clear_history(block_slot& b, const use& now, const extent& part);
    void check_history(block_slot& b, const use& now, const extent& part);
    void check_stale(block_slot& b, const kernel_access& a, std::uint32_t stream);
    void report_gone(const kernel_access& a, const extent& part, std::uint32_t stream);
    void use_ownerless(use now, const extent& part, const kernel_access& named);
    void check_free(block_slot& b, std::uint32_t stream);
    void leave_history(const block_slot& b, std::uint32_t stream);
    const lost_memory* latest_loss(const extent& memory) const;
    std::string lost_text(const extent& memory) const;
    void lose(block_slot& b, const extent& memory, memory_loss how);
    void report_in_use(const use& u, const past& was, const extent& memory, memory_loss how);

    template <class Text>
    void report(block_slot& b, hazard_kind kind, std::uint64_t earlier, Text text)
    {
        if (b.reported.first(kind)) log.add(kind, event, earlier, text);
    }

    static constexpr std::size_t losses_kept = 256;          // for words only
    std::vector<lost_memory> losses_;        ///< ring
    std::size_t next_loss_ = 0;
    std::size_t least_lessons_;
    std::size_t sift_above_;
    range_map obtained_;                     ///< neighbours are one range
    range_map live_;                         ///< values are block ids
    std::vector<block_slot> blocks_;         ///< by id; ids are dense
    memory_history history_;
    extent last_found_;                      ///< the range of obtained_ that answered last
};

/// Its cost follows the blocks and the records, and so does the number of lessons before it runs again.
void hazard_checker::state::sift()
{
    std::vector<knowledge> uses(order.streams());
    const auto remember = [&](const use& u) {
        if (!host_knows(u)) uses[u.stream].push_back(u.at);
    };
    for (const block_slot& b : blocks_) {
        if (!b.live) continue;
        if (b.touched) remember(b.cleared);
        if (b.wrote) remember(b.last_write);
        for (const use& u : b.reads) remember(u);
    }
    history_.visit_uses(remember);
    for (knowledge& marks : uses) std::sort(marks.begin(), marks.end());
    order.sift(uses);
    sift_above_ = order.lessons();
    if (least_lessons_ > 0) sift_above_ += std::max(least_lessons_, 4 * (blocks_.size() + history_.records()));
}

// Memory.

bool hazard_checker::state::exists(const extent& memory)
{
    if (last_found_.holds(memory)) return true;
    const auto p = obtained_.find(memory.start);
    if (obtained_.at_end(p)) return false;
    const extent range{obtained_.at(p).start, obtained_.at(p).end};
    if (!range.holds(memory)) return false;
    last_found_ = range;
    return true;
}

void hazard_checker::state::obtain(extent memory)
{
    if (memory.empty()) return;
    const auto uncounted = [](std::uint32_t, int) {};
    const std::uint64_t before = memory.start > 0 ? memory.start - 1 : 0;
    if (const auto p = obtained_.find(before); !obtained_.at_end(p))
        memory.start = std::min(memory.start, obtained_.at(p).start);
    if (const auto p = obtained_.find(memory.end); !obtained_.at_end(p) && obtained_.at(p).start <= memory.end)
        memory.end = obtained_.at(p).end;
    obtained_.assign(memory.start, memory.end, 0, uncounted);
}

void hazard_checker::state::give_back(extent memory, memory_loss how)
{
    if (memory.empty()) return;
    for (auto p = live_.find(memory.start); !live_.at_end(p) && live_.at(p).start < memory.end; p = live_.next(p))
        lose(blocks_[live_.at(p).value], memory, how);
    history_.visit(memory.start, memory.end, [&](const address_range& r) {
        past& was = history_.record(r.value);
        const auto busy = std::find_if(was.uses.begin(), was.uses.end(), [&](const use& u) { return !host_knows(u); });
        if (busy != was.uses.end() && was.reported.first(hazard_kind::released_in_use))
            report_in_use(*busy, was, memory, how);
        return true;
    });
    history_.forget(memory.start, memory.end);
    if (losses_.size() < losses_kept) losses_.emplace_back();
    losses_[next_loss_] = {memory, event, how};
    next_loss_ = (next_loss_ + 1) % losses_kept;
    obtained_.cut(memory.start, memory.end, [](std::uint32_t, int) {});
    last_found_ = {};
}

const lost_memory* hazard_checker::state::latest_loss(const extent& memory) const
{
    const lost_memory* latest = nullptr;
    for (std::size_t i = 0; i < losses_.size(); ++i) {
        const lost_memory& l = losses_[(next_loss_ + i) % losses_.size()];   // oldest first
        if (!common(l.memory, memory).empty()) latest = &l;
    }
    return latest;
}

/// ": free returns 0x1000+4096 to the driver at event 7", where that is still known.
std::string hazard_checker::state::lost_text(const extent& memory) const
{
    const lost_memory* l = latest_loss(memory);
    return l ? words(": ", loss_text(l->how, l->memory.start, l->memory.bytes()), " at event ", l->event) : "";
}

/// Memory goes back to the driver under a live block.
void hazard_checker::state::lose(block_slot& b, const extent& memory, memory_loss how)
{
    b.lost = true;
    report(b, hazard_kind::released_live, b.allocated_at, [&] {
        return words(loss_text(how, memory.start, memory.bytes()), " under live ", text_of(b), ", handed out at ",
                     birth_text(b), " and not freed since");
    });
    if (!b.touched || common(b.used, memory).empty()) return;
    const use* busy = b.wrote && b.reads.empty() && !host_knows(b.last_write) ? &b.last_write : nullptr;
    for (const use& u : b.reads)
        if (!host_knows(u)) busy = &u;
    if (busy && b.reported.first(hazard_kind::released_in_use)) report_in_use(*busy, {}, memory, how);
    b.touched = b.wrote = false;                             // judged now; what is there later is other memory
    b.reads.clear();
}

void hazard_checker::state::report_in_use(const use& u, const past& was, const extent& memory, memory_loss how)
{
    log.add(hazard_kind::released_in_use, event, u.event, [&] {
        return words(loss_text(how, memory.start, memory.bytes()), ", still used by ", kernel_text(u), owner_text(u, was),
                     "; the host does not know stream ", u.stream, " to be past it: no synchronisation since");
    });
}

// Blocks.

void hazard_checker::state::hand_out(std::uint32_t id, extent memory, std::uint64_t bytes, std::uint32_t alignment,
                                     std::uint32_t stream)
{
    if (blocks_.size() <= id) blocks_.resize(id + std::size_t{1});
    block_slot& b = blocks_[id];
    if (b.live) {
        log.add(hazard_kind::overlap, event, b.allocated_at, [&] {
            return words(block_text(id, memory.start, memory.bytes()), " is handed out on stream ", stream, " while ",
                         text_of(b), ", handed out at ", birth_text(b), ", is still live: no free since");
        });
        live_.cut(b.memory.start, b.memory.end, [](std::uint32_t, int) {});
    }
    b.id = id;
    b.memory = memory;
    b.live = true;
    b.lost = b.wrote = b.touched = b.gaps = false;
    b.reported = {};
    b.reads.clear();
    b.allocated_at = event;
    b.allocated_on = stream;
    check_grant(b, bytes, alignment);
    if (memory.empty()) return;
    const auto p = live_.find(memory.start);
    if (live_.at_end(p) || live_.at(p).start >= memory.end) {
        live_.insert(p, {memory.start, memory.end, id});
        return;
    }
    const block_slot& other = blocks_[live_.at(p).value];
    report(b, hazard_kind::overlap, other.allocated_at, [&] {
        return words(text_of(b), " is handed out on stream ", stream, " over live ", text_of(other), ", handed out at ",
                     birth_text(other), " and not freed since");
    });
    live_.assign(memory.start, memory.end, id, [](std::uint32_t, int) {});
}

void hazard_checker::state::check_grant(block_slot& b, std::uint64_t bytes, std::uint32_t alignment)
{
    if (alignment > 1 && b.memory.start % alignment != 0)
        report(b, hazard_kind::misaligned, hazard_log::no_event,
               [&] { return words(text_of(b), on_stream(b), " is not aligned to ", alignment); });
    if (b.memory.bytes() < bytes)
        report(b, hazard_kind::too_small, hazard_log::no_event,
               [&] { return words(text_of(b), on_stream(b), " is smaller than the ", bytes, " bytes requested"); });
    if (!exists(b.memory))
        report(b, hazard_kind::outside_block, hazard_log::no_event,
               [&] { return words(text_of(b), on_stream(b), " is not wholly inside memory obtained from the driver"); });
}

void hazard_checker::state::take_back(std::uint32_t id, std::uint64_t pointer, std::uint64_t granted, std::uint32_t stream)
{
    if (id >= blocks_.size() || !blocks_[id].live) {
        const bool was = id < blocks_.size() && blocks_[id].freed_at != hazard_log::no_event;
        log.add(hazard_kind::double_free, event, was ? blocks_[id].freed_at : hazard_log::no_event, [&] {
            return words(block_text(id, pointer, granted), " is freed on stream ", stream, " but is not live",
                         was ? words(": it was freed at ", place_text(blocks_[id].freed_at, blocks_[id].freed_on)) : "");
        });
        return;
    }
    block_slot& b = blocks_[id];
    if (pointer != b.memory.start)
        report(b, hazard_kind::double_free, b.allocated_at, [&] {
            return words(block_text(id, pointer, granted), " is freed on stream ", stream, " but ", birth_text(b),
                         " handed out ", text_of(b));
        });
    if (granted != b.memory.bytes())
        report(b, hazard_kind::wrong_size, b.allocated_at, [&] {
            return words(text_of(b), " is freed on stream ", stream, " as ", granted, " bytes; ", birth_text(b),
                         " granted ", b.memory.bytes());
        });
    check_free(b, stream);
    leave_history(b, stream);
    for (auto p = live_.find(b.memory.start); !live_.at_end(p) && live_.at(p).start < b.memory.end;)
        p = live_.at(p).value == id ? live_.erase(p) : live_.next(p);   // an overlapping block keeps its part
    b.live = false;
    b.freed_at = event;
    b.freed_on = stream;
}

/// A later owner is ordered behind the free, at best: so the free has to be behind every use.
void hazard_checker::state::check_free(block_slot& b, std::uint32_t stream)
{
    const auto check = [&](const use& u) {
        if (known(stream, u)) return;
        report(b, hazard_kind::free_before_ordered, u.event, [&] {
            return words(text_of(b), " is freed on stream ", stream, ", still used by ", kernel_text(u),
                         missing_edge(u.stream, stream));
        });
    };
    for (const use& u : b.reads) check(u);
    if (b.wrote && b.reads.empty()) check(b.last_write);     // reads came after it
}

void hazard_checker::state::leave_history(const block_slot& b, std::uint32_t stream)
{
    if (!b.touched) return;
    const auto done = [&](const use& u) { return host_knows(u); };
    if (b.reads.empty() ? done(b.last_write) : std::all_of(b.reads.begin(), b.reads.end(), done)) {
        if (!b.gaps) history_.forget(b.used.start, b.used.end);
        return;
    }
    const std::uint32_t id = history_.create(stream, event);
    past& record = history_.record(id);
    if (b.reads.empty()) record.uses.push_back(b.last_write);
    else record.uses.assign(b.reads.begin(), b.reads.end());
    if (b.gaps) history_.join(b.used.start, b.used.end, id, order);
    else history_.replace(b.used.start, b.used.end, id, order);
}

// Kernels.

void hazard_checker::state::access(const kernel_access& a, std::uint32_t stream, mark m)
{
    const extent part = extent_of(a.pointer, a.bytes);
    if (a.block >= blocks_.size() || !blocks_[a.block].live) {
        report_dead(a, stream);
        return;
    }
    block_slot& b = blocks_[a.block];
    if (!b.memory.holds(part))
        report(b, hazard_kind::outside_block, b.allocated_at, [&] {
            return words(doing_text(stream, a.write), ' ', span_text(a.pointer, a.bytes), ", beyond ", text_of(b),
                         ", handed out at ", birth_text(b));
        });
    const extent inside = common(part, b.memory);
    if (inside.empty()) return;
    if (b.lost && !exists(inside)) {
        report(b, hazard_kind::use_after_free, b.allocated_at, [&] {
            return words(doing_text(stream, a.write), ' ', span_text(a.pointer, a.bytes), " of ", text_of(b),
                         ", handed out at ", birth_text(b), ", whose memory is gone", lost_text(inside));
        });
        return;
    }
    use_block(b, {m, event, stream, a.block, a.write, false}, inside);
}

/// A trace's access to a block that was freed names no address: the report takes the one that it had.
void hazard_checker::state::report_dead(const kernel_access& a, std::uint32_t stream)
{
    if (a.block >= blocks_.size() || blocks_[a.block].freed_at == hazard_log::no_event) {
        if (!log.first(hazard_kind::use_after_free, a.block)) return;
        log.add(hazard_kind::use_after_free, event, hazard_log::no_event, [&] {
            return words(doing_text(stream, a.write), " block ", a.block,
                         a.pointer ? words(" at ", span_text(a.pointer, a.bytes)) : "", ", which was never handed out");
        });
        return;
    }
    block_slot& b = blocks_[a.block];
    report(b, hazard_kind::use_after_free, b.freed_at, [&] {
        return words(doing_text(stream, a.write), ' ', text_of(b), ", freed at ", place_text(b.freed_at, b.freed_on),
                     " and not handed out since");
    });
}

void hazard_checker::state::use_block(block_slot& b, const use& now, const extent& part)
{
    if (b.wrote) check_against(b, now, part, b.last_write);
    if (now.write)
        for (const use& u : b.reads) check_against(b, now, part, u);
    clear_history(b, now, part);
    if (now.write) {
        b.last_write = now;
        b.wrote = true;
        b.reads.clear();
        return;
    }
    std::erase_if(b.reads, [&](const use& u) { return known(now.stream, u); });   // whoever is behind `now` is behind them
    b.reads.push_back(now);
}

void hazard_checker::state::check_against(block_slot& b, const use& now, const extent& part, const use& before)
{
    if (known(now.stream, before)) return;
    report(b, hazard_kind::unordered_use, before.event, [&] {
        return words(doing_text(now.stream, now.write), ' ', block_text(b.id, part.start, part.bytes()),
                     ", which ", kernel_text(before), ' ', verb(before.write), missing_edge(before.stream, now.stream));
    });
}

/// Checks the history under `part`, unless an earlier use that `now` is behind already stands behind it.
void hazard_checker::state::clear_history(block_slot& b, const use& now, const extent& part)
{
    if (!b.touched) {
        check_history(b, now, part);
        b.used = part;
        b.cleared = now;
        b.touched = b.behind_one = true;
        b.gaps = false;
        return;
    }
    const bool inside = b.used.holds(part);
    const bool behind = b.behind_one && known(now.stream, b.cleared);
    if (inside && behind) return;
    check_history(b, now, part);
    if (inside) return;
    if (part.start > b.used.end || part.end < b.used.start) b.gaps = true;
    b.behind_one = behind && !b.gaps;
    if (b.behind_one) b.cleared = now;
    b.used = {std::min(b.used.start, part.start), std::max(b.used.end, part.end)};
}

void hazard_checker::state::check_history(block_slot& b, const use& now, const extent& part)
{
    history_.visit(part.start, part.end, [&](const address_range& r) {
        const past& was = history_.record(r.value);
        for (const use& u : was.uses) {
            if (known(now.stream, u)) continue;
            report(b, hazard_kind::reuse_before_ordered, u.event, [&] {
                return words(doing_text(now.stream, now.write), ' ', block_text(b.id, part.start, part.bytes()),
                             ", still used by ", kernel_text(u), owner_text(u, was), missing_edge(u.stream, now.stream));
            });
            return false;
        }
        return true;
    });
}

// Replayed graphs: addresses count, not blocks.

void hazard_checker::state::replayed_access(const kernel_access& a, std::uint32_t stream, mark m)
{
    const extent part = extent_of(a.pointer, a.bytes);
    if (part.empty()) return;
    const use now{m, event, stream, a.block, a.write, false};
    if (!exists(part)) {
        report_gone(a, part, stream);
        return;
    }
    std::uint64_t at = part.start;
    for (auto p = live_.find(at); !live_.at_end(p) && live_.at(p).start < part.end; p = live_.next(p)) {
        const extent owned = common(part, {live_.at(p).start, live_.at(p).end});
        if (at < owned.start) use_ownerless(now, {at, owned.start}, a);
        block_slot& owner = blocks_[live_.at(p).value];
        check_stale(owner, a, stream);
        use_block(owner, {m, event, stream, owner.id, a.write, false}, owned);
        at = owned.end;
    }
    if (at < part.end) use_ownerless(now, {at, part.end}, a);
}

/// An owner that was handed out before the capture ended is the graph's own: its block, or one that the capture itself
/// made out of the same memory, whose contents each replay makes anew. A later one does not expect the graph.
void hazard_checker::state::check_stale(block_slot& b, const kernel_access& a, std::uint32_t stream)
{
    if (a.captured == kernel_access::not_captured || b.allocated_at <= a.captured) return;
    report(b, hazard_kind::stale_replay, b.allocated_at, [&] {
        return words(baked_text(a, stream), ", but it belongs to live ", text_of(b), ", handed out at ", birth_text(b),
                     "; the graph was not captured again since");
    });
}

void hazard_checker::state::report_gone(const kernel_access& a, const extent& part, std::uint32_t stream)
{
    if (!log.first(hazard_kind::use_after_free, a.pointer)) return;
    const lost_memory* l = latest_loss(part);
    log.add(hazard_kind::use_after_free, event, l ? l->event : hazard_log::no_event, [&] {
        return words(baked_text(a, stream), ", where there is no memory now", lost_text(part),
                     "; the graph was not captured again since");
    });
}

/// A replayed graph uses memory that is no block's now.
void hazard_checker::state::use_ownerless(use now, const extent& part, const kernel_access& named)
{
    now.ownerless = true;
    history_.visit(part.start, part.end, [&](const address_range& r) {
        past& was = history_.record(r.value);
        for (const use& u : was.uses) {
            if (known(now.stream, u) || (u.shareable() && now.shareable())) continue;
            if (!was.reported.first(hazard_kind::reuse_before_ordered)) continue;
            log.add(hazard_kind::reuse_before_ordered, event, u.event, [&] {
                return words(baked_text(named, now.stream), ", still used by ", kernel_text(u), owner_text(u, was),
                             missing_edge(u.stream, now.stream));
            });
        }
        return true;
    });
    const std::uint32_t id = history_.create(now.stream, hazard_log::no_event);
    history_.record(id).uses.push_back(now);
    if (now.write) history_.replace(part.start, part.end, id, order);
    else history_.join(part.start, part.end, id, order);     // reads are not ordered among each other
}

// The class: each call goes to the order or to the memory.

hazard_checker::hazard_checker(std::uint32_t streams, std::size_t sift_above)
    : state_(std::make_unique<state>(sift_above))
{
    state_->order.set_streams(streams);
}
hazard_checker::~hazard_checker() = default;

void hazard_checker::at_event(std::uint64_t index) { state_->event = index; }

void hazard_checker::allocated(std::uint32_t block, std::uint64_t pointer, std::uint64_t bytes, std::uint64_t granted,
                               std::uint32_t alignment, std::uint32_t stream)
{
    state_->hand_out(block, extent_of(pointer, granted), bytes, alignment, stream);
}

void hazard_checker::freed(std::uint32_t block, std::uint64_t pointer, std::uint64_t granted, std::uint32_t stream)
{
    state_->take_back(block, pointer, granted, stream);
}

std::uint64_t hazard_checker::current_event() const { return state_->event; }
const std::vector<hazard>& hazard_checker::hazards() const { return state_->log.kept_hazards(); }
std::uint64_t hazard_checker::hazard_count() const { return state_->log.count(); }
std::size_t hazard_checker::tracked_ranges() const { return state_->tracked_ranges(); }
std::size_t hazard_checker::remembered_lessons() const { return state_->order.lessons(); }

void hazard_checker::set_streams(std::uint32_t n) { state_->order.set_streams(n); }

void hazard_checker::launched(std::uint32_t stream, mark m, std::span<const kernel_access> accesses)
{
    state_->order.launched(stream, m);
    for (const kernel_access& a : accesses) state_->access(a, stream, m);
}

void hazard_checker::replayed(std::uint32_t stream, mark m, std::span<const kernel_access> accesses)
{
    state_->order.launched(stream, m);
    for (const kernel_access& a : accesses) state_->replayed_access(a, stream, m);
}

void hazard_checker::recorded(event_id event, std::uint32_t stream, mark m) { state_->order.recorded(event, stream, m); }
void hazard_checker::waited(event_id event, std::uint32_t stream, mark m)
{
    state_->order.waited(event, stream, m);
    state_->sift_lessons();
}
void hazard_checker::synced_stream(std::uint32_t stream, mark m) { state_->order.synced_stream(stream, m); }
void hazard_checker::synced_device() { state_->order.synced_device(); }
void hazard_checker::observed(std::uint32_t stream, mark m) { state_->order.observed(stream, m); }
void hazard_checker::depends(std::uint32_t stream, std::uint32_t on, mark m, mark at)
{
    state_->order.depends(stream, on, m, at);
    state_->sift_lessons();
}

void hazard_checker::memory_obtained(device_ptr pointer, std::uint64_t bytes) { state_->obtain(extent_of(pointer, bytes)); }

void hazard_checker::memory_returned(device_ptr pointer, std::uint64_t bytes, memory_loss how)
{
    state_->give_back(extent_of(pointer, bytes), how);
}

}  // namespace vrambench::sim
