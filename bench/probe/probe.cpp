#include "bench/probe/probe.hpp"

#include "spec/units.hpp"

namespace vrambench::probing {

void session::ask(const std::string& id, const std::string& question, const std::function<answer()>& f)
{
    finding now{id, question, {}};
    asking_(now);
    bool failed = false;
    try {
        now.found = f();
    } catch (const unsupported_error& e) {
        now.found = {not_supported, level::open, e.what()};
    } catch (const too_little_memory& e) {
        now.found = {"not asked", level::open, e.what()};
    } catch (const device_error& e) {
        now.found = {"fails", level::broken, e.what()};
        failed = true;
    }
    answered_(now);
    if (!failed) return;
    try {
        dev.sync_device();
    } catch (const device_error& e) {
        throw device_lost(e.what());
    }
}

void session::need(std::uint64_t bytes)
{
    const std::uint64_t free_bytes = dev.query_memory().free_bytes;
    if (free_bytes < bytes) throw too_little_memory("needs " + human_size(bytes) + ", " + human_size(free_bytes) + " are free");
}

void run_probe(const probe_entry& probe, session& s)
{
    s.dev.set_streams(4);
    probe.run(s);
}

process_report run_probe(const probe_entry& probe, device& dev, bool quick)
{
    process_report r;
    session s(dev, quick, [](const finding&) {}, [&](const finding& f) { r.findings.push_back(f); });
    try {
        run_probe(probe, s);
    } catch (const device_lost&) {
        r.ended = false;
    }
    return r;
}

}  // namespace vrambench::probing
