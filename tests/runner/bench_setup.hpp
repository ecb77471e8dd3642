#pragma once
// Cells, devices and profiles for tests of the runner.

#include "bench/runner.hpp"
#include "device/sim/profile.hpp"
#include "spec/units.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace vrambench::test {

/// A card whose prices are round numbers, so that virtual times can be worked out by hand. All times in nanoseconds:
///   launch 10, latency 5, graph launch 20, sync 7, record 1, wait 2, memory query 3, reserve 100
///   malloc 100 + 1 per KiB beyond one idle, 50 more growing, 1000 more loaded; free 30 + 1 per KiB beyond one
///   create 40 (growing 60), map 8, set_access 9, unmap 11, release 12, release of a mapped handle 4; a unit of work 1
/// 64 MiB of memory, blocks of 256 bytes that nothing shares, 64 KiB granules, a launch queue of 2.
nlohmann::json round_profile();

/// The same with memory and times like a card's: 2 MiB blocks, a deep launch queue; `free_waits` as stated.
nlohmann::json card_profile(bool free_waits);

/// Writes the profile to a file of its own and returns the device spec for it.
std::string device_of(const nlohmann::json& profile, const std::string& keys = "");

/// A device whose raw free does not wait for kernels, and one whose free does.
const std::string& impatient_device();
const std::string& patient_device();

cell cell_of(std::shared_ptr<const trace> t, const std::string& allocator, const std::string& device = "sim:h200",
             std::uint64_t limit = 0);

/// An allocator maker for a user's spec.
allocator_maker maker_of(const std::string& spec);

/// A device, an allocator and a trace for which run_pass can be called again and again.
class workbench {
public:
    workbench(const trace& t, const std::string& device, const allocator_maker& make, std::uint64_t limit = 0);

    pass_measurement run(run_mode mode = run_mode::eager, const kernel_settings& kernels = {}, const run_controls& controls = {});
    void drop_allocator() { allocator_.reset(); }
    device& dev() { return *device_; }
    allocator& alloc() { return *allocator_; }
    std::uint64_t start_free() const { return start_free_; }
    const trace_summary& summary() const { return summary_; }

private:
    const trace& trace_;
    trace_summary summary_;
    std::unique_ptr<device> device_;
    std::uint64_t start_free_ = 0;
    std::unique_ptr<allocator> allocator_;
};

}  // namespace vrambench::test
