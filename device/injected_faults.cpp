#include "device/injected_faults.hpp"

#include "device/forwarding_device.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <array>
#include <utility>

namespace vrambench {

namespace {

constexpr std::array memory_calls{driver_call::malloc, driver_call::malloc_async, driver_call::create};

/// splitmix64: the same numbers on any machine.
class draws {
public:
    explicit draws(std::uint64_t seed) : state_(seed) {}
    /// In [0, 1), a multiple of 2^-53.
    double next()
    {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }

private:
    std::uint64_t state_;
};

class injected_faults final : public forwarding_device {
public:
    injected_faults(std::unique_ptr<device> below, const fault_rule& rule)
        : forwarding_device(std::move(below)), rule_(rule), draws_(rule.seed)
    {
    }

    device_ptr malloc(std::uint64_t bytes) override { return refuses(driver_call::malloc) ? 0 : inner().malloc(bytes); }
    device_ptr malloc_async(std::uint64_t bytes, pool_id pool, stream_id stream) override
    {
        return refuses(driver_call::malloc_async) ? 0 : inner().malloc_async(bytes, pool, stream);
    }
    vmm_handle create(std::uint64_t bytes) override { return refuses(driver_call::create) ? 0 : inner().create(bytes); }

    driver_call_counts refused_calls() const override
    {
        driver_call_counts all = inner().refused_calls();
        const driver_call_counts own = device::refused_calls();
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += own[i];
        return all;
    }
    bool refused_on_purpose() const override { return refused_last_; }
    void suspend_faults(bool suspended) override { suspended_ = suspended; }

private:
    bool is_chosen()
    {
        ++number_;
        switch (rule_.when) {
        case fault_rule::kind::once: return number_ == rule_.n;
        case fault_rule::kind::every: return number_ % rule_.n == 0;
        case fault_rule::kind::chance: return draws_.next() < rule_.share;
        }
        return false;
    }

    bool refuses(driver_call call)
    {
        if (suspended_) return false;
        refused_last_ = (!rule_.call || *rule_.call == call) && is_chosen();
        if (refused_last_) count_refused(call);
        return refused_last_;
    }

    fault_rule rule_;
    draws draws_;
    std::uint64_t number_ = 0;           ///< of the last call that counts
    bool refused_last_ = false;
    bool suspended_ = false;
};

[[noreturn]] void refuse(std::string_view text, const std::string& problem)
{
    throw input_error("--inject: " + in_quotes(text) + " " + problem);
}

driver_call call_named(std::string_view text, std::string_view name)
{
    std::vector<std::string> names;
    for (const auto call : memory_calls) {
        if (name == to_string(call)) return call;
        names.emplace_back(to_string(call));
    }
    refuse(text, "names a call that takes no memory: one of " + joined(names) + did_you_mean(name, names));
}

void parse_chance(std::string_view text, std::string_view value, fault_rule& rule)
{
    rule.when = fault_rule::kind::chance;
    if (const auto slash = value.find("/seed:"); slash != std::string_view::npos) {
        rule.seed = parse_integer(value.substr(slash + 6), "--inject: seed", 0, UINT64_MAX);
        value = value.substr(0, slash);
    }
    rule.share = parse_number(value, "--inject: p", 0.0, 1.0);
    if (rule.share <= 0.0) refuse(text, "refuses nothing: p must be above 0");
}

}  // namespace

fault_rule parse_fault_rule(std::string_view text, std::uint64_t default_seed)
{
    fault_rule rule;
    rule.seed = default_seed;
    const auto at = text.find("oom@");
    const bool has_call = at != std::string_view::npos && at > 1 && text[at - 1] == ':';
    if (at == std::string_view::npos || (at != 0 && !has_call))
        refuse(text, "is no fault (write oom@3, oom@every:10, oom@p:0.01, or with a call before it create:oom@3)");
    if (has_call) rule.call = call_named(text, text.substr(0, at - 1));
    std::string_view value = text.substr(at + 4);
    if (value.starts_with("p:")) {
        parse_chance(text, value.substr(2), rule);
        return rule;
    }
    if (value.starts_with("every:")) {
        rule.when = fault_rule::kind::every;
        value.remove_prefix(6);
    }
    rule.n = parse_integer(value, "--inject: " + in_quotes(text) + ": the call's number", 1, UINT64_MAX);
    return rule;
}

std::string to_text(const fault_rule& rule)
{
    const std::string what = (rule.call ? std::string(to_string(*rule.call)) + ":" : std::string()) + "oom@";
    switch (rule.when) {
    case fault_rule::kind::once: return what + std::to_string(rule.n);
    case fault_rule::kind::every: return what + "every:" + std::to_string(rule.n);
    case fault_rule::kind::chance: return what + "p:" + exact_number(rule.share) + "/seed:" + std::to_string(rule.seed);
    }
    return what;
}

std::unique_ptr<device> inject_faults(std::unique_ptr<device> inner, const fault_rule& rule)
{
    return std::make_unique<injected_faults>(std::move(inner), rule);
}

}  // namespace vrambench
