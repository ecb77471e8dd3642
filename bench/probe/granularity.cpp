// Sizes: what requests take of the device, and which sizes virtual memory really can be mapped in.

#include "bench/costs/held_memory.hpp"
#include "bench/probe/probes.hpp"
#include "bench/probe/scene.hpp"

namespace vrambench::probing {

namespace {

struct request_series {
    std::uint64_t bytes;
    std::uint64_t requests;
};

/// What the requests take beside one before them, which may find room in a block that the process has already.
std::uint64_t taken_by_malloc(session& s, const request_series& r)
{
    costs::held_memory held(s.dev);
    if (!held.take(r.bytes)) throw too_little_memory("the device is full");
    const std::uint64_t before = settled_free(s.dev);
    for (std::uint64_t i = 0; i < r.requests; ++i)
        if (!held.take(r.bytes)) throw too_little_memory("the device was full after " + std::to_string(i) + " requests");
    const std::uint64_t now = settled_free(s.dev);
    return before > now ? before - now : 0;
}

/// What one more request takes shows the block that they are rounded to.
answer ask_malloc_rounding(session& s)
{
    s.need(GiB);
    constexpr request_series small{4 * KiB, 1000}, medium{MiB + 1, 100}, large{2 * MiB + 1, 100};
    const std::uint64_t of_small = taken_by_malloc(s, small), of_medium = taken_by_malloc(s, medium),
                        of_large = taken_by_malloc(s, large);
    const std::uint64_t block = of_large / large.requests - of_medium / medium.requests;
    const std::string evidence = "1000 of 4 KiB take " + human_size(of_small) + ", 100 of 1 MiB + 1 " + human_size(of_medium) +
                                 ", 100 of 2 MiB + 1 " + human_size(of_large);
    const bool shared = of_small < small.requests * MiB;
    if (block == 0) return {"by bytes", level::fine, evidence, {{"block", of_medium / medium.requests}}};
    return {exact_size(block) + (shared ? ", small ones share" : ", small ones too"),
            shared ? level::fine : level::costly,
            evidence,
            {{"block", block}}};
}

/// What the device lost is the truth; the pool's attribute should say the same.
answer ask_pool_step(session& s)
{
    s.need(GiB);
    const std::uint64_t before = settled_free(s.dev);
    own_pool pool(s.dev, {});
    pool.take(4 * KiB);
    const std::uint64_t first = before - settled_free(s.dev);
    for (int i = 1; i < 1000; ++i) pool.take(4 * KiB);
    const std::uint64_t all = before - settled_free(s.dev), stated = pool.reserved();
    const std::string evidence = "one of 4 KiB takes " + human_size(first) + ", 1000 take " + human_size(all) +
                                 "; reserved, by its attribute: " + human_size(stated);
    const std::uint64_t off = stated > all ? stated - all : all - stated;
    if (off > slack) return {"attribute is wrong", level::broken, evidence};
    return {exact_size(first), level::fine, evidence, {{"step", first}}};
}

/// Whether memory can be mapped in pieces of `bytes`, side by side, and be written.
bool is_usable(device& dev, std::uint64_t bytes, std::string& why_not)
{
    try {
        mapped_range range(dev, std::max(2 * MiB, 4 * bytes));
        watched_blocks blocks(dev);
        std::vector<std::uint32_t> written;
        for (int i = 0; i < 3; ++i) {
            range.grow(bytes);
            written.push_back(blocks.add(range.end() - bytes, bytes));
            blocks.write(written.back());
        }
        for (const auto b : written) blocks.verify(b);
        const std::uint64_t wrong = blocks.wrong();
        for (const auto b : written) blocks.drop(b);
        if (wrong) why_not = "corrupted: " + blocks.first_wrong();
        return wrong == 0;
    } catch (const device_error& e) {
        why_not = e.what();
        return false;
    }
}

/// From the largest down: what fails may leave a device that answers nothing any more.
answer ask_virtual_granularity(session& s)
{
    const device_info& info = s.dev.info();
    if (!info.vmm_granularity) throw unsupported_error("no virtual memory management");
    const std::uint64_t stated = info.vmm_smallest ? info.vmm_smallest : info.vmm_granularity;
    s.need(256 * MiB);
    std::uint64_t usable = 0;
    std::string why_not;
    for (std::uint64_t bytes = std::max(2 * MiB, info.vmm_granularity);; bytes /= 4) {
        bytes = std::max(bytes, stated);
        if (!is_usable(s.dev, bytes, why_not)) break;
        usable = bytes;
        if (bytes == stated) break;
    }
    const std::string evidence = "stated " + exact_size(stated) + " at least, " + exact_size(info.vmm_granularity) + " recommended";
    if (usable == 0) return {"not usable", level::broken, evidence + "; " + why_not};
    if (usable > stated) return {"only " + exact_size(usable) + " is usable", level::broken, evidence + "; below that: " + why_not};
    return {exact_size(usable), level::fine, evidence + ", both mapped and written", {{"usable", usable}}};
}

/// The largest power of two that can be reserved at once.
answer ask_address_space(session& s)
{
    const std::uint64_t granularity = s.dev.info().vmm_granularity;
    if (!granularity) throw unsupported_error("no virtual memory management");
    for (std::uint64_t bytes = std::uint64_t{1} << 47; bytes >= granularity; bytes /= 2) {
        try {
            const device_ptr at = s.dev.reserve(bytes);
            if (!at) continue;
            s.dev.unreserve(at, bytes);
            // An engine's pool reserves 32 GiB, and one a device and stream.
            return {exact_size(bytes), bytes >= 256 * GiB ? level::fine : level::costly, "in one piece", {{"bytes", bytes}}};
        } catch (const device_error&) {
            continue;    // a driver may call it an invalid value
        }
    }
    return {"none", level::broken, "not even " + exact_size(granularity) + " could be reserved"};
}

}  // namespace

void probe_granularity(session& s)
{
    s.ask("granularity.malloc", "malloc is rounded to", [&] { return ask_malloc_rounding(s); });
    s.ask("granularity.pool", "a pool takes memory in steps of", [&] { return ask_pool_step(s); });
    s.ask("granularity.addresses", "addresses that can be reserved", [&] { return ask_address_space(s); });
    s.ask("granularity.vmm", "handles can be mapped from", [&] { return ask_virtual_granularity(s); });
}

}  // namespace vrambench::probing
