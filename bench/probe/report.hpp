#pragma once
// A whole probe of a driver: for people, and as a file.

#include "bench/probe/summary.hpp"
#include "bench/run_document.hpp"
#include "device/device.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace vrambench::probing {

inline constexpr const char* report_schema = "vrambench.probe/1";

struct probe_report {
    std::vector<std::string> command;
    std::vector<environment_fact> environment;
    device_info device;                      ///< as it describes itself, its claims among that
    std::string date;                        ///< ISO 8601, local; empty in reports of earlier versions
    bool quick = false;
    bool finished = false;                   ///< false until the last process has ended
    std::vector<probe_summary> probes;
};

/// Question, verdict and evidence of each finding, the driver's own claims above it, and what follows for allocators below.
std::string probe_table(const probe_report& r);

/// One JSON document, "kind": "probe". Ends in a newline.
std::string probe_text(const probe_report& r);

/// The inverse, of what follows from findings: of the device its name, spec and claims. Throws input_error or a json exception.
probe_report report_from(const nlohmann::json& j);

}  // namespace vrambench::probing
