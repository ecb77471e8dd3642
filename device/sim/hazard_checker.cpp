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
    std::uint32_t id = 0;
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

/// What a replayed graph names: its launches carry addresses, and a block's id only where they still know it.
std::string baked_text(const kernel_access& a)
{
    return a.block == kernel_access::replayed ? span_text(a.pointer, a.bytes) : block_text(a.block, a.pointer, a.bytes);
}

std::string text_of(const block_slot& b) { return block_text(b.id, b.memory.start, b.memory.bytes()); }

}  // namespace

class hazard_checker::state {
public:
    void hand_out(std::uint32_t id, extent memory, std::uint64_t bytes, std::uint32_t alignment);
    void take_back(std::uint32_t id, std::uint64_t pointer, std::uint64_t granted, std::uint32_t stream);
    void access(const kernel_access& a, std::uint32_t stream, mark m);
    void replayed_access(const kernel_access& a, std::uint32_t stream, mark m);
    void obtain(extent memory);
    void give_back(extent memory, driver_call how);
    std::size_t tracked_ranges() const { return obtained_.size() + live_.size() + history_.ranges(); }

    happens_before order;
    hazard_log log;
    std::uint64_t event = 0;

private:
    bool known(std::uint32_t stream, const use& u) const { return order.known(stream, u.stream, u.at); }
    bool host_knows(const use& u) const { return order.host_knows(u.stream, u.at); }

    bool exists(const extent& memory);
    void check_grant(block_slot& b, std::uint64_t bytes, std::uint32_t alignment);
    void use_block(block_slot& b, const use& now, const extent& part);
    void check_against(block_slot& b, const use& now, const extent& part, const use& before);
    void clear_history(block_slot& b, const use& now, const extent& part);
    void check_history(block_slot& b, const use& now, const extent& part);
    void use_ownerless(use now, const extent& part, const kernel_access& named);
    void check_free(block_slot& b, std::uint32_t stream);
    void leave_history(const block_slot& b, std::uint32_t stream);
    void lose(block_slot& b, const extent& memory, driver_call how);
    void report_in_use(const use& u, const past& was, const extent& memory, driver_call how);

    template <class Text>
    void report(block_slot& b, hazard_kind kind, std::uint64_t earlier, Text text)
    {
        if (b.reported.first(kind)) log.add(kind, event, earlier, text);
    }

    range_map obtained_;                     ///< neighbours are one range
    range_map live_;                         ///< values are block ids
    std::vector<block_slot> blocks_;         ///< by id; ids are dense
    memory_history history_;
    extent last_found_;                      ///< the range of obtained_ that answered last
};

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

void hazard_checker::state::give_back(extent memory, driver_call how)
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
    obtained_.cut(memory.start, memory.end, [](std::uint32_t, int) {});
    last_found_ = {};
}

/// Memory goes back to the driver under a live block.
void hazard_checker::state::lose(block_slot& b, const extent& memory, driver_call how)
{
    b.lost = true;
    report(b, hazard_kind::released_live, b.allocated_at, [&] {
        return words(to_string(how), " returns ", span_text(memory.start, memory.bytes()), " to the driver under live ",
                     text_of(b), ", handed out at event ", b.allocated_at);
    });
    if (!b.touched || common(b.used, memory).empty()) return;
    const use* busy = b.wrote && b.reads.empty() && !host_knows(b.last_write) ? &b.last_write : nullptr;
    for (const use& u : b.reads)
        if (!host_knows(u)) busy = &u;
    if (busy && b.reported.first(hazard_kind::released_in_use)) report_in_use(*busy, {}, memory, how);
    b.touched = b.wrote = false;                             // judged now; what is there later is other memory
    b.reads.clear();
}

void hazard_checker::state::report_in_use(const use& u, const past& was, const extent& memory, driver_call how)
{
    log.add(hazard_kind::released_in_use, event, u.event, [&] {
        return words(to_string(how), " returns ", span_text(memory.start, memory.bytes()), " to the driver, still used by ",
                     kernel_text(u), owner_text(u, was), "; the host does not know stream ", u.stream,
                     " to be past it: no synchronisation since");
    });
}

// Blocks.

void hazard_checker::state::hand_out(std::uint32_t id, extent memory, std::uint64_t bytes, std::uint32_t alignment)
{
    if (blocks_.size() <= id) blocks_.resize(id + std::size_t{1});
    block_slot& b = blocks_[id];
    if (b.live) {
        log.add(hazard_kind::overlap, event, b.allocated_at, [&] {
            return words("block ", id, " is handed out at ", span_text(memory.start, memory.bytes()), " while ", text_of(b),
                         " of event ", b.allocated_at, " is still live");
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
    check_grant(b, bytes, alignment);
    if (memory.empty()) return;
    const auto p = live_.find(memory.start);
    if (live_.at_end(p) || live_.at(p).start >= memory.end) {
        live_.insert(p, {memory.start, memory.end, id});
        return;
    }
    const block_slot& other = blocks_[live_.at(p).value];
    report(b, hazard_kind::overlap, other.allocated_at, [&] {
        return words(text_of(b), " is handed out over live ", text_of(other), ", handed out at event ", other.allocated_at);
    });
    live_.assign(memory.start, memory.end, id, [](std::uint32_t, int) {});
}

void hazard_checker::state::check_grant(block_slot& b, std::uint64_t bytes, std::uint32_t alignment)
{
    if (alignment > 1 && b.memory.start % alignment != 0)
        report(b, hazard_kind::misaligned, hazard_log::no_event,
               [&] { return words(text_of(b), " is not aligned to ", alignment); });
    if (b.memory.bytes() < bytes)
        report(b, hazard_kind::too_small, hazard_log::no_event,
               [&] { return words(text_of(b), " is smaller than the ", bytes, " bytes requested"); });
    if (!exists(b.memory))
        report(b, hazard_kind::outside_block, hazard_log::no_event,
               [&] { return words(text_of(b), " is not wholly inside memory that was obtained from the driver"); });
}

void hazard_checker::state::take_back(std::uint32_t id, std::uint64_t pointer, std::uint64_t granted, std::uint32_t stream)
{
    if (id >= blocks_.size() || !blocks_[id].live) {
        const std::uint64_t before = id < blocks_.size() ? blocks_[id].freed_at : hazard_log::no_event;
        log.add(hazard_kind::double_free, event, before, [&] {
            return words(block_text(id, pointer, granted), " is freed on stream ", stream, " but is not live",
                         before == hazard_log::no_event ? "" : words(": it was freed at event ", before));
        });
        return;
    }
    block_slot& b = blocks_[id];
    if (pointer != b.memory.start)
        report(b, hazard_kind::double_free, b.allocated_at, [&] {
            return words(block_text(id, pointer, granted), " is freed on stream ", stream, " but event ", b.allocated_at,
                         " handed out ", text_of(b));
        });
    if (granted != b.memory.bytes())
        report(b, hazard_kind::wrong_size, b.allocated_at, [&] {
            return words(text_of(b), " is freed on stream ", stream, " as ", granted, " bytes; event ", b.allocated_at,
                         " granted ", b.memory.bytes());
        });
    check_free(b, stream);
    leave_history(b, stream);
    for (auto p = live_.find(b.memory.start); !live_.at_end(p) && live_.at(p).start < b.memory.end;)
        p = live_.at(p).value == id ? live_.erase(p) : live_.next(p);   // an overlapping block keeps its part
    b.live = false;
    b.freed_at = event;
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
        const bool had = a.block < blocks_.size();
        const std::uint64_t freed_at = had ? blocks_[a.block].freed_at : hazard_log::no_event;
        if (had ? !blocks_[a.block].reported.first(hazard_kind::use_after_free)
                : !log.first(hazard_kind::use_after_free, a.block))
            return;
        log.add(hazard_kind::use_after_free, event, freed_at, [&] {
            return words("kernel on stream ", stream, ' ', verb(a.write), ' ', block_text(a.block, a.pointer, a.bytes),
                         freed_at == hazard_log::no_event ? ", which is not live" : words(", freed at event ", freed_at));
        });
        return;
    }
    block_slot& b = blocks_[a.block];
    if (!b.memory.holds(part))
        report(b, hazard_kind::outside_block, b.allocated_at, [&] {
            return words("kernel on stream ", stream, ' ', verb(a.write), ' ', span_text(a.pointer, a.bytes), ", beyond ",
                         text_of(b), " of event ", b.allocated_at);
        });
    const extent inside = common(part, b.memory);
    if (inside.empty()) return;
    if (b.lost && !exists(inside)) {
        report(b, hazard_kind::use_after_free, b.allocated_at, [&] {
            return words("kernel on stream ", stream, ' ', verb(a.write), ' ', span_text(a.pointer, a.bytes), " of ",
                         text_of(b), ", whose memory went back to the driver");
        });
        return;
    }
    use_block(b, {m, event, stream, a.block, a.write, false}, inside);
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
        return words("kernel on stream ", now.stream, ' ', verb(now.write), ' ', block_text(b.id, part.start, part.bytes()),
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
                return words("kernel on stream ", now.stream, ' ', verb(now.write), ' ',
                             block_text(b.id, part.start, part.bytes()), ", still used by ", kernel_text(u),
                             owner_text(u, was), missing_edge(u.stream, now.stream));
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
        if (log.first(hazard_kind::use_after_free, a.pointer))
            log.add(hazard_kind::use_after_free, event, hazard_log::no_event, [&] {
                return words("kernel of a replayed graph on stream ", stream, ' ', verb(a.write), ' ', baked_text(a),
                             ", where there is no memory now");
            });
        return;
    }
    std::uint64_t at = part.start;
    for (auto p = live_.find(at); !live_.at_end(p) && live_.at(p).start < part.end; p = live_.next(p)) {
        const extent owned = common(part, {live_.at(p).start, live_.at(p).end});
        if (at < owned.start) use_ownerless(now, {at, owned.start}, a);
        use_block(blocks_[live_.at(p).value], {m, event, stream, live_.at(p).value, a.write, false}, owned);
        at = owned.end;
    }
    if (at < part.end) use_ownerless(now, {at, part.end}, a);
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
                return words("kernel of a replayed graph on stream ", now.stream, ' ', verb(now.write), ' ',
                             baked_text(named), ", still used by ", kernel_text(u),
                             owner_text(u, was), missing_edge(u.stream, now.stream));
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

hazard_checker::hazard_checker(std::uint32_t streams) : state_(std::make_unique<state>())
{
    state_->order.set_streams(streams);
}
hazard_checker::~hazard_checker() = default;

void hazard_checker::at_event(std::uint64_t index) { state_->event = index; }

void hazard_checker::allocated(std::uint32_t block, std::uint64_t pointer, std::uint64_t bytes, std::uint64_t granted,
                               std::uint32_t alignment, std::uint32_t)
{
    state_->hand_out(block, extent_of(pointer, granted), bytes, alignment);
}

void hazard_checker::freed(std::uint32_t block, std::uint64_t pointer, std::uint64_t granted, std::uint32_t stream)
{
    state_->take_back(block, pointer, granted, stream);
}

const std::vector<hazard>& hazard_checker::hazards() const { return state_->log.kept_hazards(); }
std::uint64_t hazard_checker::hazard_count() const { return state_->log.count(); }
std::size_t hazard_checker::tracked_ranges() const { return state_->tracked_ranges(); }

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
void hazard_checker::waited(event_id event, std::uint32_t stream, mark m) { state_->order.waited(event, stream, m); }
void hazard_checker::synced_stream(std::uint32_t stream, mark m) { state_->order.synced_stream(stream, m); }
void hazard_checker::synced_device() { state_->order.synced_device(); }
void hazard_checker::observed(std::uint32_t stream, mark m) { state_->order.observed(stream, m); }
void hazard_checker::depends(std::uint32_t stream, std::uint32_t on, mark m) { state_->order.depends(stream, on, m); }

void hazard_checker::memory_obtained(device_ptr pointer, std::uint64_t bytes) { state_->obtain(extent_of(pointer, bytes)); }

void hazard_checker::memory_returned(device_ptr pointer, std::uint64_t bytes, driver_call how)
{
    state_->give_back(extent_of(pointer, bytes), how);
}

}  // namespace vrambench::sim
