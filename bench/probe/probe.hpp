#pragma once
// A probe asks a driver one kind of question, through the device interface alone, so that it runs on a card, on the simulator
// and on stand-ins alike. Each runs in a process of its own, several times over.

#include "bench/probe/finding.hpp"
#include "device/device.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vrambench::probing {

/// The question needs more memory than is free: it stays open.
class too_little_memory : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The device answers no more: the questions that were left cannot be asked in this process.
class device_lost : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The verdict where the device lacks what is asked about.
inline constexpr const char* not_supported = "not supported";

/// One probe in one process.
class session {
public:
    /// `asking` hears of each question before it is asked, `answered` of each finding at once: a process that dies has told
    /// what it knew, and what it was about.
    session(device& d, bool be_quick, std::function<void(const finding&)> asking, std::function<void(const finding&)> answered)
        : dev(d), quick(be_quick), asking_(std::move(asking)), answered_(std::move(answered))
    {
    }

    device& dev;
    bool quick;                              ///< fewer repetitions

    /// Asks, and reports what `f` answers. A driver error is an answer (broken), want of memory or of a feature leaves the
    /// question open. Throws device_lost where the device answers nothing after that.
    void ask(const std::string& id, const std::string& question, const std::function<answer()>& f);

    /// Throws too_little_memory where less than `bytes` are free.
    void need(std::uint64_t bytes);

private:
    std::function<void(const finding&)> asking_;
    std::function<void(const finding&)> answered_;
};

/// What one process of a probe answered.
struct process_report {
    std::vector<finding> findings;           ///< a question that it died with is the last, with the verdict crashed or hung
    bool ended = true;                       ///< false: it died before it had asked everything
};

struct probe_entry {
    const char* name;
    const char* what;                        ///< one line for `vrambench probe --help` and lists
    bool in_quick;                           ///< part of --quick
    unsigned quick_processes, processes;     ///< on a card
    void (*run)(session&);
    /// Leaves its memory to the driver: its process ends at once, without giving anything back.
    bool leaves_memory = false;
    /// A finding that follows from all processes together; none where null.
    finding (*over_processes)(const std::vector<process_report>&) = nullptr;
};

/// In the order in which they are shown.
const std::vector<probe_entry>& probe_entries();
/// Throws input_error.
const probe_entry& find_probe(std::string_view name);

/// Runs a probe on `dev` in this process.
process_report run_probe(const probe_entry& probe, device& dev, bool quick);
/// The same, with the findings told one by one as session() does.
void run_probe(const probe_entry& probe, session& s);

}  // namespace vrambench::probing
