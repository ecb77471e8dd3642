#include "bench/default_set.hpp"

#include "workloads/engine/model.hpp"

namespace vrambench {

namespace {

constexpr const char* model_name = "llama-3.1-8b";

/// One slice: what is processed and decoded at each depth.
struct slice_size {
    std::uint64_t prompt, tokens;
};

slice_size slice_of(run_size size)
{
    switch (size) {
    case run_size::quick: return {512, 4};
    case run_size::normal: return {512, 4};    // two walks and two replays
    case run_size::full: return {2048, 264};    // a whole round of captured graphs
    }
    return {512, 4};
}

/// The largest context, in steps of 4,096 tokens, whose weights, cache and one layer's f16 copies fit into 15/16 of the card:
/// the rest is the engine's compute buffer and the driver's.
std::uint64_t longest_context(const engine::model& m, engine::tensor_type cache, std::uint64_t total_bytes)
{
    constexpr std::uint64_t step = 4096;
    const std::uint64_t room = total_bytes / 16 * 15, weights = engine::weight_bytes(m);
    std::uint64_t longest = step;
    for (std::uint64_t c = step; c <= m.trained_context; c += step) {
        const std::uint64_t copies = engine::cache_bytes(m, engine::tensor_type::f16, c, c) / m.layers;
        if (weights + engine::cache_bytes(m, cache, c, c) + copies > room) break;
        longest = c;
    }
    return longest;
}

/// "4096+32768+130048": the last one ends where the card's longest context does.
std::string depths_of(run_size size, engine::tensor_type cache, const device_info& info)
{
    if (size == run_size::quick) return "4096";
    const slice_size s = slice_of(size);
    const std::uint64_t longest = longest_context(engine::find_model(model_name), cache, info.total_bytes);
    std::string depths = "4096";
    std::uint64_t end = 4096 + s.prompt + s.tokens;
    for (const std::uint64_t d : {std::uint64_t{32768}, (longest - s.prompt - s.tokens) / 512 * 512}) {
        if (d < end || d + s.prompt + s.tokens > longest) continue;
        depths += "+" + std::to_string(d);
        end = d + s.prompt + s.tokens;
    }
    return depths;
}

std::string session(run_size size, const char* era, const char* kv, const char* graphs, const std::string& depths)
{
    const slice_size s = slice_of(size);
    return std::string("fattn-session:model=") + model_name + ",era=" + era + ",kv=" + kv + ",graphs=" + graphs + ",depth=" + depths +
           ",prompt=" + std::to_string(s.prompt) + ",tokens=" + std::to_string(s.tokens);
}

std::string server(run_size size)
{
    const std::string name = std::string("server:model=") + model_name;
    switch (size) {
    case run_size::quick: return name + ",requests=4,prompt-max=512,answer-max=16,gap-ms=20";
    case run_size::normal: return name + ",requests=16,prompt-max=1024,answer-max=32,gap-ms=20";
    case run_size::full: return name + ",requests=64,prompt-max=4096,answer-max=128,gap-ms=50";
    }
    return name;
}

}  // namespace

std::vector<default_group> default_set(run_size size, const device_info& info)
{
    const std::string q8 = depths_of(size, engine::tensor_type::q8_0, info), f16 = depths_of(size, engine::tensor_type::f16, info);
    std::vector<default_group> groups;
    for (const char* era : {"pool-fa-early", "reserved-fa"}) {
        groups.push_back({session(size, era, "q8_0", "on", q8), "none"});
        groups.push_back({session(size, era, "f16", "on", f16), "none"});
    }
    const std::string walked = session(size, "pool-fa-early", "q8_0", "off", q8);
    groups.push_back({walked, "none"});
    groups.push_back({walked, "1.25x"});
    groups.push_back({session(size, "pool-fa-early", "q8_0", "off", "4096"), "none", kernel_model::traffic});
    groups.push_back({server(size), "none"});
    return groups;
}

std::string default_tight_workload() { return session(run_size::normal, "pool-fa-early", "q8_0", "off", "32768"); }

std::vector<std::string> default_allocators() { return {"direct", "legacy", "legacy-retry", "async", "vmm", "ideal"}; }

}  // namespace vrambench
