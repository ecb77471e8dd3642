#include "allocators/registry.hpp"

#include "allocators/direct.hpp"
#include "allocators/ideal.hpp"
#include "allocators/list_pool.hpp"
#include "allocators/per_stream.hpp"
#include "allocators/retry.hpp"
#include "allocators/stream_ordered.hpp"
#include "allocators/vmm_stack.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

namespace vrambench {

namespace {

std::unique_ptr<allocator> with_retry(std::unique_ptr<allocator> inner, device& dev, const std::string& action)
{
    if (action == "sync") return std::make_unique<retry>(std::move(inner), dev, recovery_action::sync);
    if (action == "trim") return std::make_unique<retry>(std::move(inner), dev, recovery_action::trim);
    if (action == "flush") return std::make_unique<retry>(std::move(inner), dev, recovery_action::flush);
    return inner;
}

/// One pool a stream; a trace with one stream needs no adaptor around it.
std::unique_ptr<allocator> for_each_stream(std::uint32_t streams, const std::function<std::unique_ptr<allocator>()>& make)
{
    if (streams == 1) return make();
    return std::make_unique<per_stream>(streams, make);
}

std::unique_ptr<allocator> make_direct(const config&, device& dev, std::uint32_t) { return std::make_unique<direct>(dev); }

std::unique_ptr<allocator> make_legacy(const config& c, device& dev, std::uint32_t streams)
{
    return for_each_stream(streams, [&] { return with_retry(std::make_unique<list_pool>(dev), dev, c.text("retry")); });
}

std::unique_ptr<allocator> make_async(const config& c, device& dev, std::uint32_t)
{
    const std::uint64_t threshold = c.is("threshold", "max") ? UINT64_MAX : c.size("threshold");
    return with_retry(std::make_unique<stream_ordered>(dev, threshold, c.is("pool", "own")), dev, c.text("retry"));
}

std::unique_ptr<allocator> make_vmm(const config& c, device& dev, std::uint32_t streams)
{
    const std::uint64_t unit = c.is("handle", "granularity") ? 0 : c.size("handle");
    return for_each_stream(streams, [&] { return std::make_unique<vmm_stack>(dev, unit); });
}

std::unique_ptr<allocator> make_ideal(const config&, device& dev, std::uint32_t) { return std::make_unique<ideal>(dev); }

using maker = std::unique_ptr<allocator> (*)(const config&, device&, std::uint32_t streams);

/// A registered policy, or with `alias_spec` a second name for one with certain settings.
struct registered {
    entry what;
    std::string title;
    maker make = nullptr;
    std::string alias_spec = {};
};

const std::vector<registered>& registry()
{
    static const std::vector<registered> all = {
        {{"direct", "one driver allocation per request, given back at once",
          "llama.cpp #22094, #22185: proposed for the flash-attention buffers on HIP", {}},
         "direct", make_direct},
        {{"legacy", "ggml's list pool: 256 cached blocks, best fit, 1.05 x on a miss, one pool a stream",
          "ggml_cuda_pool_leg; best fit llama.cpp #2295; per context #6170; flush and retry #22155",
          {{"retry", key_type::choice, "none", "", "after a failed request: nothing, or synchronise the device, free every "
            "cached block and try once more", {"none", "flush"}}}},
         "legacy (before #22155)", make_legacy},
        {{"legacy-retry", "legacy:retry=flush", "llama.cpp #22155, merged 2026-04-21", {}},
         "legacy-retry (after it)", make_legacy, "legacy:retry=flush"},
        {{"async", "the driver's stream-ordered pool", "cudaMallocAsync, hipMallocAsync; llama.cpp #3903, asked for in #22155",
          {{"threshold", key_type::size, "max", "bytes", "what a synchronisation leaves in the pool", {"max"}},
           {"retry", key_type::choice, "none", "", "after a failed request: nothing, synchronise the stream, or synchronise and "
            "trim to nothing, then try once more", {"none", "sync", "trim"}},
           {"pool", key_type::choice, "own", "", "a pool of its own for each repetition, or the process's default pool",
            {"own", "default"}}}},
         "async", make_async},
        {{"vmm", "ggml's stack on virtual memory: 32 GiB reserved, grown by what is missing, frees last in first out",
          "ggml_cuda_pool_vmm; llama.cpp #4606, #4620, #4687",
          {{"handle", key_type::size, "granularity", "bytes", "memory is mapped in multiples of this, rounded up to the device's granularity",
            {"granularity"}, 64 * KiB, GiB, 64 * KiB}}},
         "vmm", make_vmm},
        {{"ideal", "the reference line: planned before the clock starts, never asks the driver after that", "", {}},
         "ideal", make_ideal},
    };
    return all;
}

const registered& find_registered(std::string_view name)
{
    find_entry(allocator_entries(), name, "allocator");
    for (const auto& r : registry())
        if (r.what.name == name) return r;
    throw std::logic_error("find_entry knows an allocator that the registry does not");
}

/// The title names settings that differ from the defaults: "async (retry=sync)".
std::string title_for(const registered& r, const config& c)
{
    std::string differing;
    for (const auto& k : r.what.keys)
        if (c.text(k.name) != k.default_value) differing += (differing.empty() ? "" : ", ") + k.name + "=" + c.text(k.name);
    if (differing.empty()) return r.title;
    return r.what.name + " (" + differing + ")";
}

}  // namespace

const std::vector<const entry*>& allocator_entries()
{
    static const std::vector<const entry*> all = [] {
        std::vector<const entry*> v;
        for (const auto& r : registry()) v.push_back(&r.what);
        return v;
    }();
    return all;
}

allocator_choice choose_allocator(std::string_view text)
{
    const spec s = parse_spec(text);
    const registered& r = find_registered(s.name);
    if (!r.alias_spec.empty()) {
        resolve(r.what, s);    // an alias takes no keys
        return choose_allocator(r.alias_spec);
    }
    const config settings = resolve(r.what, s);
    allocator_choice c{r.what.name, title_for(r, settings), canonical(r.what, settings), settings};
    for (const auto& other : registry())    // the same policy has one name, however it was typed
        if (other.alias_spec == c.spec) c.name = other.what.name, c.title = other.title;
    return c;
}

std::unique_ptr<allocator> make_allocator(const allocator_choice& choice, device& dev, std::uint32_t streams)
{
    return find_registered(choice.name).make(choice.settings, dev, streams);
}

}  // namespace vrambench
