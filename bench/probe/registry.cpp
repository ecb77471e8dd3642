#include "bench/probe/probes.hpp"

#include "spec/errors.hpp"
#include "spec/spec.hpp"

namespace vrambench::probing {

const std::vector<probe_entry>& probe_entries()
{
    static const std::vector<probe_entry> all = {
        {"pools", "the first use of a pool in a process", true, 2, 5, probe_pools},
        {"vmm", "reservations that grow in turn, unmap beside a kernel, a kept handle mapped again", true, 3, 30, probe_vmm},
        {"waits", "which calls wait for a running kernel", true, 1, 3, probe_waits},
        {"granularity", "what sizes are rounded to, which handles can be mapped, how many addresses there are", true, 1, 3,
         probe_granularity},
        {"release", "thresholds, trims, and memory after frees", true, 1, 3, probe_release},
        {"exit", "memory after a process ends", true, 2, 4, probe_exit, true, judge_exit},
        {"failure", "what a failed request keeps, and whether the next one works", true, 1, 3, probe_failure},
        {"integrity", "patterns in fresh, reused and remapped memory on 1, 2 and 4 streams", true, 1, 3, probe_integrity},
        {"reuse", "when a pool hands a freed block out again", false, 1, 3, probe_reuse},
        {"capture", "which calls are legal in stream capture", false, 1, 2, probe_capture},
        {"peers", "memory of another device", false, 1, 1, probe_peers},
    };
    return all;
}

const probe_entry& find_probe(std::string_view name)
{
    std::vector<std::string> names;
    for (const auto& p : probe_entries()) {
        if (p.name == name) return p;
        names.emplace_back(p.name);
    }
    throw input_error("no probe " + in_quotes(name) + ": one of " + joined(names) + did_you_mean(name, names));
}

}  // namespace vrambench::probing
