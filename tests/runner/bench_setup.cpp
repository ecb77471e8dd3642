#include "tests/runner/bench_setup.hpp"

#include "allocators/registry.hpp"
#include "device/registry.hpp"
#include "workloads/trace.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace vrambench::test {

namespace {

using nlohmann::json;

json calls(std::uint64_t first, std::uint64_t slope_to = 0)
{
    const json points = slope_to ? json{{1024, first}, {2048, slope_to}} : json{{1024, first}};
    return {{"idle", points}};
}

/// Files of this process, gone with it.
class temporary_files {
public:
    ~temporary_files()
    {
        for (const auto& f : files_) std::remove(f.c_str());
    }
    std::string write(const std::string& text)
    {
        const std::string path = ::testing::TempDir() + "vrambench_runner_" + std::to_string(::getpid()) + "_" +
                                 std::to_string(files_.size()) + ".json";
        std::ofstream(path) << text;
        files_.push_back(path);
        return path;
    }

private:
    std::vector<std::string> files_;
};

}  // namespace

json round_profile()
{
    json p = {{"schema", "vrambench.profile/1"}, {"name", "round"}, {"source", "made up"},
              {"total_bytes", 64 * MiB}, {"free_bytes", 64 * MiB}, {"physical_block", 256}, {"shared_up_to", 0},
              {"vmm_granularity", 64 * KiB}, {"address_space", std::uint64_t{1} << 46}, {"pool_rules", "cuda"},
              {"free_waits", true}, {"launch_queue", 2}, {"flops_per_second", 1'000'000'000'000},
              {"bytes_per_second", 1'000'000'000}, {"work_unit_ps", 1000}};
    p["times_ns"] = {{"launch", 10}, {"launch_latency", 5}, {"kernel_overhead", 0}, {"graph_launch", 20}, {"sync", 7},
                     {"record", 1}, {"wait", 2}, {"memory_info", 3}, {"reserve", 100}, {"unreserve", 100},
                     {"release_mapped", 4}};
    p["calls_ns"] = {{"malloc", calls(100, 101)}, {"free", calls(30, 31)}, {"create", calls(40)}, {"map", calls(8)},
                     {"set_access", calls(9)}, {"unmap", calls(11)}, {"release", calls(12)}};
    p["calls_ns"]["malloc"]["growing"] = json{{1024, 150}, {2048, 151}};
    p["calls_ns"]["malloc"]["loaded"] = json{{1024, 1100}, {2048, 1101}};
    p["calls_ns"]["create"]["growing"] = json{{1024, 60}};
    for (const char* key : {"hit_own", "hit_completed", "hit_other_stream", "hit_merged", "internal_dependency", "fail", "free",
                            "trim", "map_call", "per_new_chunk", "per_remapped_chunk", "per_mapped_chunk",
                            "per_released_chunk", "per_polled_block"})
        p["pool_ns"][key] = 1;
    return p;
}

json card_profile(bool free_waits)
{
    json p = round_profile();
    p["name"] = free_waits ? "patient" : "impatient";
    p["free_waits"] = free_waits;
    p["total_bytes"] = p["free_bytes"] = 4 * GiB;
    p["physical_block"] = p["vmm_granularity"] = 2 * MiB;
    p["shared_up_to"] = MiB;
    p["launch_queue"] = 1000;
    return p;
}

std::string device_of(const json& profile, const std::string& keys)
{
    static temporary_files files;
    return "sim:@" + files.write(profile.dump()) + (keys.empty() ? "" : "," + keys);
}

const std::string& impatient_device()
{
    static const std::string spec = device_of(card_profile(false));
    return spec;
}

const std::string& patient_device()
{
    static const std::string spec = device_of(card_profile(true));
    return spec;
}

cell cell_of(std::shared_ptr<const trace> t, const std::string& allocator, const std::string& device, std::uint64_t limit)
{
    cell c;
    c.on = choose_device(device);
    c.allocator = choose_allocator(allocator);
    auto workload = std::make_shared<planned_workload>();
    workload->summary = summarise(*t);
    workload->recipe = std::move(t);
    c.workload = std::move(workload);
    if (limit) c.vram_limit_bytes = limit;
    return c;
}

allocator_maker maker_of(const std::string& spec)
{
    return [choice = choose_allocator(spec)](device& dev, std::uint32_t streams) { return make_allocator(choice, dev, streams); };
}

workbench::workbench(const trace& t, const std::string& device, const allocator_maker& make, std::uint64_t limit)
    : trace_(t), summary_(summarise(t))
{
    device_options options;
    if (limit) options.vram_limit_bytes = limit;
    device_ = open_device(choose_device(device), options);
    device_->set_streams(summary_.streams);
    start_free_ = device_->query_memory().free_bytes;
    allocator_ = make(*device_, summary_.streams);
    allocator_->prepare(t, summary_);
}

pass_measurement workbench::run(run_mode mode, const kernel_settings& kernels, const run_controls& controls)
{
    return run_pass(trace_, summary_, *device_, *allocator_, mode, kernels, start_free_, controls);
}

}  // namespace vrambench::test
