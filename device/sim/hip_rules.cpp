#include "device/sim/hip_rules.hpp"

#include <algorithm>

namespace vrambench::sim {

namespace {

constexpr const char* always_doubtful =
    "how soon a free is seen to be done is not known (marker=early|late), nor the order among blocks of equal size";

hip_rules rocm_6_3()
{
    hip_rules r;
    r.name = "rocm-6.3";
    r.releases = "6.2 to 6.4 (6.4 was not read as a release)";
    r.confidence = "high";
    r.doubt = always_doubtful;
    return r;
}

hip_rules rocm_6_1()
{
    hip_rules r = rocm_6_3();
    r.name = "rocm-6.1";
    r.releases = "6.1";
    r.reuse = hip_rules::window::strict;
    r.pressure = r.event_dependencies = r.keeps_event = false;
    return r;
}

hip_rules rocm_5_7()
{
    hip_rules r = rocm_6_1();
    r.name = "rocm-5.7";
    r.releases = "5.7 and 6.0";
    r.reuse = hip_rules::window::whole_eighths;
    r.sync_releases = false;
    return r;
}

hip_rules rocm_7_2()
{
    hip_rules r = rocm_6_3();
    r.name = "rocm-7.2";
    r.releases = "7.0 to 7.10 (which file version each shipped is inferred)";
    r.confidence = "medium";
    r.doubt = std::string(always_doubtful) + "; what follows a failed call is less sure still";
    r.reuse = hip_rules::window::strict;
    r.vm_heap = r.map_waits = true;
    r.free_waits_first = false;
    r.largest_percent = 100;
    return r;
}

hip_rules rocm_7_2_without_vm_heap()
{
    hip_rules r = rocm_7_2();
    r.name = "rocm-7.2-vmheap0";
    r.releases += ", with DEBUG_HIP_MEM_POOL_VMHEAP=0";
    r.doubt = always_doubtful;
    r.vm_heap = false;
    return r;
}

}  // namespace

const std::vector<hip_rules>& all_hip_rules()
{
    static const std::vector<hip_rules> all{rocm_5_7(), rocm_6_1(), rocm_6_3(), rocm_7_2(), rocm_7_2_without_vm_heap()};
    return all;
}

const hip_rules* find_hip_rules(std::string_view name)
{
    const auto& all = all_hip_rules();
    const auto found = std::find_if(all.begin(), all.end(), [&](const hip_rules& r) { return r.name == name; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace vrambench::sim
