#include "bench/environment.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include <sys/utsname.h>
#include <unistd.h>

namespace vrambench {

namespace {

/// The value behind `key` in a file of "key SEPARATOR value" lines, or empty.
std::string value_in(const char* file, const std::string& key, char separator)
{
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const std::size_t at = line.find(separator);
        if (at == std::string::npos) continue;
        std::string name = line.substr(0, at), value = line.substr(at + 1);
        name.erase(name.find_last_not_of(" \t") + 1);
        if (name != key) continue;
        value.erase(0, value.find_first_not_of(" \t\""));
        value.erase(value.find_last_not_of(" \t\"") + 1);
        return value;
    }
    return {};
}

std::string or_unknown(std::string s) { return s.empty() ? "unknown" : s; }

std::string operating_system() { return or_unknown(value_in("/etc/os-release", "PRETTY_NAME", '=')); }

/// Empty words where the system does not tell.
utsname system_names()
{
    utsname names{};
    if (::uname(&names) != 0) names = {};
    return names;
}

std::string host() { return or_unknown(system_names().nodename); }

std::string kernel()
{
    const utsname u = system_names();
    return or_unknown(u.sysname) + " " + u.release + " " + u.machine;
}

/// x86 names its model in /proc/cpuinfo; ARM only gives numbers there.
std::string cpu_model()
{
    std::string model = value_in("/proc/cpuinfo", "model name", ':');
    if (model.empty()) {
        const std::string maker = value_in("/proc/cpuinfo", "CPU implementer", ':');
        if (!maker.empty()) model = "implementer " + maker + " part " + value_in("/proc/cpuinfo", "CPU part", ':');
    }
    return or_unknown(model);
}

std::uint64_t memory_bytes()
{
    const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : 0;
}

std::string compiler()
{
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

environment_fact text(std::string key, std::string value) { return {std::move(key), std::move(value), 0, false}; }
environment_fact whole(std::string key, std::uint64_t value) { return {std::move(key), {}, value, true}; }

}  // namespace

const char* const program_commit = VRAMBENCH_COMMIT;

std::vector<environment_fact> host_environment()
{
    const host_clock clock = host_clock::counter();    // what times calls on a card
    const timer_figures timer = measure_timer(clock);
    return {text("program", "vrambench"),
            text("version", VRAMBENCH_VERSION),
            text("commit", program_commit),
            text("compiler", compiler()),
            text("build_type", or_unknown(VRAMBENCH_BUILD_TYPE)),
            text("google_benchmark", VRAMBENCH_BENCHMARK_LIBRARY),
            text("host", host()),
            text("os", operating_system()),
            text("kernel", kernel()),
            text("cpu", cpu_model()),
            whole("cpu_cores", std::thread::hardware_concurrency()),
            whole("memory_bytes", memory_bytes()),
            text("timer", clock.is_counter() ? "time-stamp counter" : "std::chrono::steady_clock"),
            whole("timer_hz", clock.is_counter() ? static_cast<std::uint64_t>(1e12 / clock.ps_per_tick()) : 1'000'000'000),
            whole("timer_cost_ps", timer.cost_ps),
            whole("timer_step_ps", timer.step_ps)};
}

std::vector<environment_fact> device_environment(const device_info& info)
{
    const std::string prefix = "device." + info.spec + ".";
    std::vector<environment_fact> facts{
            text(prefix + "kind", info.kind),
            text(prefix + "name", info.name),
            text(prefix + "simulated", info.simulated ? "yes" : "no"),
            whole(prefix + "total_bytes", info.total_bytes),
            whole(prefix + "vmm_granularity", info.vmm_granularity),
            whole(prefix + "physical_block", info.physical_block),
            text(prefix + "pools", info.has_pools ? "yes" : "no"),
            whole(prefix + "flops_per_second", info.flops_per_second),
            whole(prefix + "bytes_per_second", info.bytes_per_second)};
    for (const auto& [key, value] : info.facts) facts.push_back(text(prefix + key, value));
    return facts;
}

std::string today()
{
    const std::time_t now = std::time(nullptr);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now));
    return text;
}

timer_figures measure_timer(const host_clock& clock)
{
    constexpr int rounds = 20, readings = 2000;
    std::int64_t least = INT64_MAX, step = INT64_MAX;
    // The fastest round: the others were interrupted.
    for (int r = 0; r < rounds; ++r) {
        const std::int64_t begin = clock.now_ps();
        std::int64_t last = begin;
        for (int i = 0; i < readings; ++i) {
            const std::int64_t now = clock.now_ps();
            if (now > last) step = std::min(step, now - last);
            last = now;
        }
        least = std::min(least, last - begin);
    }
    return {static_cast<std::uint64_t>(least / readings), step == INT64_MAX ? 0 : static_cast<std::uint64_t>(step)};
}

}  // namespace vrambench
