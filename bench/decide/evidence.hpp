#pragma once
// What result files say about a decision: per platform (vendor, card class, driver) every situation that was measured,
// and what each allocator did in it. Times and bytes come from bench/derive.hpp, one process at a time, so that
// processes can be resampled.

#include "bench/derive.hpp"
#include "bench/probe/report.hpp"
#include "bench/run_document.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace vrambench::decide {

/// A file of kind "run" as it was read.
struct run_file {
    std::string path;
    run_document run;
};

/// One cell of a file of kind "fit": the smallest limit, or the largest value of a workload's key at a limit.
struct fit_answer {
    device_choice on;
    std::string allocator, title, workload;      ///< specs; the workload with the smallest value of the key
    std::string key;                             ///< that was varied; empty: the limit was searched
    std::optional<std::uint64_t> limit_bytes;
    std::uint64_t resident_bytes = 0;
    std::optional<std::uint64_t> best;           ///< none: nothing that was tried completes
    std::string beyond;                          ///< how the next value fails; empty where there is none
};

struct fit_file {
    std::string path;
    std::vector<environment_fact> environment;
    std::vector<fit_answer> answers;
};

/// A report of `vrambench probe`.
struct probe_file {
    std::string path;
    probing::probe_report report;
};

struct inputs {
    std::vector<run_file> runs;
    std::vector<fit_file> fits;
    std::vector<probe_file> probes = {};
};

/// Reads files of all kinds, several at a time. Throws input_error with one line for what is no result file of this
/// version, for a file that is given twice, and where there is nothing in them or nothing but reports.
inputs read_inputs(const std::vector<std::string>& paths);

inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// One process's time in one phase: over the reference's (a ratio) and beyond it (ns per token, per step where there are
/// none). A `round` is what ran side by side: one repetition index of one file, numbered within the situation.
struct timed_value {
    double slowdown = not_known, added_ns = not_known;
    std::uint64_t round = 0;
};

/// What one allocator did in one situation, of all files together.
/// What a repetition is known by in any file that holds it: files may be of one run at two moments, or a merged one and its part.
using measurement_id = std::tuple<std::int64_t, role, std::int64_t, std::uint64_t>;    // process, role, time, what was free

struct evidence {
    std::vector<std::string> cells;              ///< ids; empty: not measured
    std::optional<outcome> failure;              ///< of the worst pass that did not complete; cold before steady
    bool steady_failure = false;                 ///< `failure` is the steady pass's
    std::set<measurement_id> known;              ///< what has been counted
    std::uint64_t attempted = 0, cold_completed = 0;    ///< cold passes of any role
    /// Every kernel's memory was checked (or the simulator's order) and the pass completed.
    bool verified = false;
    std::uint64_t hazards = 0;
    std::size_t processes = 0;                   ///< timed and used
    /// One list a phase of the situation, ascending in slowdown; empty: no times.
    std::vector<std::vector<timed_value>> times;
    std::optional<double> bloat;                 ///< device_bloat of the cold pass
    std::uint64_t peak_bytes = 0;                ///< of the device; of the reserved where the device's is not known
    /// Idle part of a recovery, the mean of a pass, of the worst pass; 0 where there was none.
    double idle_ns = 0;
    double recoveries = 0;
    double memory_calls = 0;                     ///< driver calls that take memory or give it back, cold pass
    call_numbers cold_calls{}, steady_calls{};
    bool has_steady = false;                     ///< the steady pass was measured and completed

    bool measured() const { return !cells.empty(); }
    bool completed() const { return measured() && !failure; }
};

/// A phase of a pass: "decode@4096, steady". Shares of a situation's phases sum to 1: passes, then kinds of phases, then
/// depths count the same.
struct phase_key {
    std::string phase;
    bool steady = false;
    bool per_token = true;
    double share = 0;

    std::string name() const { return phase + (steady ? ", steady" : ", cold"); }
    bool operator==(const phase_key& other) const { return phase == other.phase && steady == other.steady; }
};

/// Everything of a cell but the allocator.
struct situation {
    std::string key;                             ///< workload, limit, mode, kernels, ... as benchmark names have them
    std::string workload;                        ///< canonical spec
    std::vector<std::pair<std::string, std::string>> params;    ///< of the workload, and "limit"
    std::optional<std::uint64_t> limit_bytes;
    std::string kernels = "1";                   ///< their scale, or "traffic": only as long as touching memory takes
    std::uint64_t max_live_bytes = 0, alloc_calls = 0;
    double weight = 1;
    std::vector<phase_key> phases;
    std::size_t rounds = 0;
    std::vector<evidence> by_allocator;          ///< in the platform's order
};

struct candidate {
    std::string name, title, spec;
    config settings = {};                        ///< as in the spec
};

struct platform {
    std::string kind;                            ///< cuda, hip, musa, sim
    std::string card, driver;                    ///< "NVIDIA H200 (9.0)", "580.159.04"; empty where the files do not tell
    std::string driver_version;                  ///< "13000": of the newest interface that the driver knows
    bool real = false;                           ///< a real card answered: neither the simulator nor a stand-in
    std::vector<std::string> files;
    std::vector<std::string> notes;              ///< what differs between its files
    std::vector<candidate> allocators;           ///< `ideal` is not one
    std::vector<situation> situations;
    std::vector<fit_answer> fits;
    std::vector<probe_file> probes;              ///< of its card and driver; empty until they are given to it

    bool timed() const;                          ///< real, and some phase of some situation has times
};

/// Platforms in the order of their files. A cell that is in several files is one, with the processes of all. A file that
/// does not tell its driver is taken with the one that the others name for its card and driver_version, and a note says so.
std::vector<platform> gather(const inputs& files);

/// The platform of a device, without its contents.
platform platform_of(const std::vector<environment_fact>& facts, const device_choice& on);
platform platform_of(const probing::probe_report& r);

/// Whether vendor, card and driver are the same.
bool same_platform(const platform& a, const platform& b);

/// Gives `p` the driver that `others` name for such a platform, where it has none and they name exactly one. Returns whether.
bool take_driver(platform& p, const std::vector<platform>& others);

/// The note that goes with it.
std::string driver_taken(const std::string& path, const platform& p);

/// "cuda NVIDIA H200 (9.0), driver 580.159.04 (13000)", "simulated h200 (sim:h200,...)".
std::string platform_name(const platform& p);

/// "vmm", "async:retry=sync": a spec without what the files' other allocators of that name do not differ in.
std::string short_spec(const platform& p, std::size_t allocator);

}  // namespace vrambench::decide
