#include "device/registry.hpp"

#include "device/gpu_device.hpp"
#include "device/sim/hip_rules.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/sim_device.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <utility>

#include <unistd.h>

namespace vrambench {

namespace {

std::vector<std::string> pool_choices()
{
    std::vector<std::string> names{"profile"};
    for (const auto& n : sim::pool_rule_names()) names.push_back(n);
    return names;
}

const entry& sim_entry()
{
    static const entry e{
        "sim",
        "a deterministic simulated GPU: same calls, same answers and same virtual times on any machine",
        "costs and behaviour measured on one card, written down in its profile; results are simulated, never a GPU's",
        {
            {"vram", key_type::size, "profile", "bytes", "memory that is free before anything is allocated", {"profile"}, MiB},
            {"block", key_type::size, "profile", "bytes",
             "physical block of raw allocations; 256 is the byte-exact device that calculated tables assume", {"profile"}, 256, GiB},
            {"pool", key_type::choice, "profile", "",
             "how stream-ordered pools decide; rocm-*: as a HIP release's source reads (docs/hip-pool.md), hipMalloc and hipFree too",
             pool_choices()},
            {"marker", key_type::choice, "early", "",
             "rocm-*: when a pool sees that a completed free is done, by its next call or by the one after; not known, so ask both",
             {"early", "late"}},
        },
        "PROFILE (h200, rx-7900-xtx, rx-7800-xt, mi300x) or @FILE.json, as `vrambench probe --costs --out FILE.json` writes it for a card",
    };
    return e;
}

const entry& auto_entry()
{
    static const entry e{"auto", "the best device that answers: a GPU, else sim:h200", "", {}};
    return e;
}

/// A vendor's back end: `open` is null where it is not compiled in. Where its driver is loaded, one of `driver_files` is there; none:
/// that is not known.
struct back_end {
    gpu::opener* open;
    entry about;
    std::vector<const char*> driver_files;
};

back_end make_back_end(const std::string& kind, const std::string& card, gpu::opener* open, std::vector<const char*> driver_files = {})
{
    return {open, {kind, card + (open ? "" : " (not in this build)"), "", {}, "N, the device's number, from 0"}, std::move(driver_files)};
}

/// Whether asking is worth its time, which is up to some tenths of a second where the vendor's runtime is loaded for it.
bool may_answer(const back_end& b)
{
    return b.open && (b.driver_files.empty() || std::any_of(b.driver_files.begin(), b.driver_files.end(), [](const char* file) {
                          return ::access(file, F_OK) == 0;
                      }));
}

/// In the order in which `auto` asks them.
const std::vector<back_end>& back_ends()
{
    gpu::opener *cuda = nullptr, *hip = nullptr, *musa = nullptr;
#if defined(VRAMBENCH_HAVE_CUDA)
    cuda = gpu::cuda::open;
#endif
#if defined(VRAMBENCH_HAVE_HIP)
    hip = gpu::hip::open;
#endif
#if defined(VRAMBENCH_HAVE_MUSA)
    musa = gpu::musa::open;
#endif
    // AMD's driver; in WSL, Windows'.
    static const std::vector<back_end> all = {make_back_end("cuda", "an NVIDIA GPU", cuda),
                                              make_back_end("hip", "an AMD GPU", hip, {"/dev/kfd", "/dev/dxg"}),
                                              make_back_end("musa", "a Moore Threads GPU", musa)};
    return all;
}

gpu::opener* find_opener(std::string_view kind)
{
    for (const auto& b : back_ends())
        if (b.about.name == kind) return b.open;
    return nullptr;
}

sim::profile find_profile(const std::string& name)
{
    if (!name.empty() && name[0] == '@') return sim::load_profile(name.substr(1));
    std::vector<std::string> names;
    for (const auto& [known, text] : sim::built_in_profiles()) {
        if (known == name) return sim::parse_profile(text, "profile " + known);
        names.push_back(known);
    }
    throw input_error("unknown device profile " + in_quotes(name) + did_you_mean(name, names) +
                      " (vrambench list devices; a file is sim:@FILE.json)");
}

void choose_pool_rules(device_choice& c, const sim::profile& p)
{
    if (c.settings.is("pool", "profile")) c.settings.set("pool", p.pool_rules);
    const std::string rules = c.settings.text("pool");
    const sim::hip_rules* const hip = sim::find_hip_rules(rules);
    if (!hip && c.settings.is("marker", "late"))
        throw input_error("marker=late means nothing with pool=" + rules + ": leave it out, or choose one of HIP's rules (pool=rocm-7.2)");
    // Costs were measured with the profile's own rules; CUDA's rules were measured, but never on a card that has others.
    c.times_known = p.costs_known && rules == p.pool_rules;
    c.confidence = hip ? hip->confidence : rules == p.pool_rules ? "" : "none";
}

device_choice choose_sim(const spec& s)
{
    device_choice c;
    c.kind = "sim";
    c.simulated = true;
    const std::string positional = s.positional.empty() ? "h200" : s.positional;
    c.settings = resolve(sim_entry(), s);
    c.settings.set("profile", positional);
    const sim::profile p = find_profile(positional);
    c.name = p.name;
    if (positional[0] == '@') c.content = sim::profile_hash(positional.substr(1));
    if (c.settings.is("vram", "profile")) c.settings.set("vram", exact_size(p.free_bytes));
    if (c.settings.is("block", "profile")) c.settings.set("block", exact_size(p.physical_block));
    choose_pool_rules(c, p);
    const std::uint64_t vram = c.settings.size("vram");
    const std::uint64_t block = c.settings.size("block");
    if (vram > p.total_bytes)
        throw input_error("vram=" + exact_size(vram) + " is more than the profile " + in_quotes(p.name) + " has (" +
                          human_size(p.total_bytes) + ")");
    if ((block & (block - 1)) != 0) throw input_error("block=" + exact_size(block) + " must be a power of two");
    c.spec = "sim:" + positional + ",vram=" + c.settings.text("vram") + ",block=" + c.settings.text("block") +
             ",pool=" + c.settings.text("pool");
    if (c.settings.is("marker", "late")) c.spec += ",marker=late";
    return c;
}

device_choice choose_gpu(const entry& e, const spec& s, std::string_view text)
{
    if (!find_opener(s.name))
        throw input_error("no device " + in_quotes(text) + ": this build has no " + s.name +
                          " support (use --device sim:h200, or see vrambench list devices)");
    resolve(e, s);
    device_choice c;
    c.kind = s.name;
    c.name = std::to_string(parse_integer(s.positional.empty() ? "0" : s.positional, "--device " + s.name, 0, 1023));
    c.spec = s.name + ":" + c.name;
    c.settings.set("ordinal", c.name);
    return c;
}

std::unique_ptr<device> open_sim(const device_choice& choice, const device_options& options)
{
    sim::profile p = find_profile(choice.settings.text("profile"));
    const std::uint64_t block = choice.settings.size("block");
    if (block == 256) p.shared_up_to = p.raw_margin = p.handle_margin = 0;    // the byte-exact device: what is free can be had
    // Only whole 2 MiB blocks were seen to be shared; a device with another block size gives every request its own.
    if (p.shared_up_to > block) p.shared_up_to = 0;
    p.physical_block = block;
    p.pool_rules = choice.settings.text("pool");
    p.late_markers = choice.settings.is("marker", "late");
    p.costs_known = choice.times_known;
    std::uint64_t free_bytes = choice.settings.size("vram");
    if (options.vram_limit_bytes) {
        if (*options.vram_limit_bytes > free_bytes)
            throw input_error("--vram-limit " + exact_size(*options.vram_limit_bytes) + " is above the " +
                              human_size(free_bytes) + " that " + printable(choice.spec) + " has free");
        free_bytes = *options.vram_limit_bytes;
    }
    return std::make_unique<sim::sim_device>(std::move(p), choice.spec, free_bytes, options.check != integrity_check::off);
}

}  // namespace

std::vector<std::string> gpu_kinds()
{
    std::vector<std::string> kinds;
    for (const auto& b : back_ends())
        if (may_answer(b)) kinds.push_back(b.about.name);
    return kinds;
}

bool gives_simulated_results(const device_choice& choice) { return choice.simulated || choice.name.starts_with("simulated "); }

const std::vector<const entry*>& device_entries()
{
    static const std::vector<const entry*> all = [] {
        std::vector<const entry*> entries = {&auto_entry(), &sim_entry()};
        for (const auto& b : back_ends()) entries.push_back(&b.about);
        return entries;
    }();
    return all;
}

device_choice choose_device(std::string_view text)
{
    const spec s = parse_spec(text);
    const entry& e = find_entry(device_entries(), s.name, "device");
    if (&e == &sim_entry()) return choose_sim(s);
    if (&e != &auto_entry()) return choose_gpu(e, s, text);
    resolve(e, s);
    return choose_sim(parse_spec("sim:h200"));
}

namespace {

std::unique_ptr<device> open_plain(const device_choice& choice, const device_options& options)
{
    if (choice.kind == "sim") return open_sim(choice, options);
    gpu::opener* open = find_opener(choice.kind);
    if (!open) throw input_error("no device " + in_quotes(choice.spec) + " in this build");
    device_options with_findings = options;
    with_findings.rates = choice.rates;
    with_findings.failed = choice.failed;
    return open(static_cast<int>(choice.settings.integer("ordinal")), choice.spec, with_findings, options.current_call);
}

}  // namespace

std::unique_ptr<device> open_device(const device_choice& choice, const device_options& options)
{
    auto opened = open_plain(choice, options);
    return options.inject ? inject_faults(std::move(opened), *options.inject) : std::move(opened);
}

}  // namespace vrambench
