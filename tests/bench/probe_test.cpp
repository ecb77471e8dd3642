// What the probe of a driver says: of the simulated H200, of devices with one defect each, of several processes together.

#include "bench/probe/probe.hpp"
#include "bench/probe/probes.hpp"
#include "bench/probe/summary.hpp"
#include "device/forwarding_device.hpp"
#include "device/registry.hpp"
#include "spec/errors.hpp"
#include "tests/defects/defective_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>

#include <unistd.h>

using namespace vrambench;
using namespace vrambench::probing;
using test::defect;
using testing::HasSubstr;

namespace {

using findings = std::map<std::string, answer>;

std::unique_ptr<device> simulated(const std::string& spec = "sim:h200") { return open_device(choose_device(spec), {}); }

/// All probes, each on a device of its own, as in processes of their own.
findings ask_all(defect d, bool quick, const std::string& spec = "sim:h200")
{
    findings all;
    for (const auto& p : probe_entries()) {
        const auto dev = test::with_defect(simulated(spec), d);
        for (const auto& f : run_probe(p, *dev, quick).findings) all[f.id] = f.found;
    }
    return all;
}

std::vector<std::string> broken_in(const findings& all)
{
    std::vector<std::string> ids;
    for (const auto& [id, a] : all)
        if (a.how == level::broken) ids.push_back(id + ": " + a.verdict + ": " + a.evidence);
    return ids;
}

/// What one H200 with CUDA 13.0 does, as it was measured apart from this program: by calls that were timed beside a kernel of 20
/// ms and by scripts played on fresh pools (docs/probe.md names each source).
const std::map<std::string, std::string> h200 = {
    {"pools.first-call", "works"},
    {"vmm.one-reservation", "works"},
    {"vmm.three-reservations", "works"},
    {"vmm.granularity", "works"},
    {"wait.malloc.small", "does not wait"},
    {"wait.free.small", "waits for the kernel"},
    {"wait.free.large", "waits for the kernel"},
    {"wait.malloc_async.same", "does not wait"},
    {"wait.malloc_async.other", "does not wait"},
    {"wait.malloc_async.growing", "does not wait"},
    {"wait.free_async.same", "does not wait"},
    {"wait.free_async.other", "does not wait"},
    {"wait.create", "does not wait"},
    {"wait.map", "does not wait"},
    {"wait.set_access", "does not wait"},
    {"granularity.malloc", "2MiB, small ones share"},
    {"granularity.pool", "32MiB"},
    {"granularity.vmm", "2MiB"},
    {"release.threshold.0", "honoured"},
    {"release.threshold.size", "honoured"},
    {"release.threshold.max", "honoured"},
    {"release.trim", "honoured"},
    {"release.trim.pending", "gives nothing back"},
    {"failure.malloc_async.0", "keeps nothing"},
    {"failure.malloc_async.max", "kept until a trim"},
    {"reuse.same-stream", "at once"},
    {"reuse.other-stream", "not while it is used"},
    {"reuse.freed-elsewhere", "not while it is used"},
    {"reuse.event", "follows events"},
    {"reuse.earlier-event", "not while it is used"},
    {"reuse.completed", "reused"},
    {"reuse.completed.off", "not reused"},
    {"reuse.window", "any larger block"},
    {"reuse.remap", "maps the holes together"},
};

struct symptom {
    defect what;
    const char* id;
    const char* verdict;
    level how = level::broken;
};

const symptom symptoms[] = {
    {defect::pools_refuse, "pools.first-call", "is refused"},
    {defect::threshold_ignored, "release.threshold.max", "keeps less"},
    {defect::threshold_ignored, "release.threshold.size", "keeps less"},
    {defect::never_releases, "release.threshold.0", "keeps more"},
    {defect::never_releases, "release.threshold.size", "keeps more"},
    {defect::trim_ignored, "release.trim", "ignored"},
    {defect::trim_takes_pending, "release.trim.pending", "gives back what is in use"},
    {defect::growth_waits, "wait.malloc_async.growing", "waits for the kernel", level::costly},
    {defect::free_async_waits, "wait.free_async.same", "waits for the kernel", level::costly},
    {defect::free_async_waits, "wait.free_async.other", "waits for the kernel", level::costly},
    {defect::narrow_window, "reuse.window", "at most 1.12 times", level::costly},
    {defect::reuse_without_order, "reuse.other-stream", "unsafe"},
    {defect::reuse_by_allocating_stream, "reuse.freed-elsewhere", "unsafe"},
    {defect::reuse_after_earlier_event, "reuse.earlier-event", "unsafe"},
    {defect::pool_memory_zeroed, "integrity.pool.2.0", "corrupted"},
    {defect::copies_lost, "integrity.copy.0", "corrupted"},
    {defect::copies_lost, "integrity.copy.max", "corrupted"},
    {defect::fresh_memory_zeroed, "integrity.malloc", "corrupted"},
    {defect::pool_destroy_keeps, "release.pool", "stays away"},
    {defect::free_keeps, "release.free", "stays away"},
    {defect::failed_request_keeps, "failure.malloc_async.max", "memory is lost"},
    {defect::error_sticks, "failure.malloc", "fails"},
    {defect::granularity_lies, "granularity.vmm", "only 2MiB is usable"},
    {defect::granularity_lies, "vmm.granularity", "growth fails"},
    {defect::tail_access_refused, "vmm.three-reservations", "growth fails"},
    {defect::tail_access_missing, "vmm.one-reservation", "fails"},
    {defect::reservations_clash, "vmm.three-reservations", "growth fails"},
    {defect::handles_refused, "vmm.three-reservations", "growth fails"},
    {defect::unmap_breaks_neighbours, "vmm.unmap-neighbour", "breaks its neighbours"},
    {defect::kept_handle_is_stale, "vmm.kept-handle", "holds other data"},
    {defect::unmap_keeps, "release.vmm", "stays away"},
    {defect::step_attribute_wrong, "granularity.pool", "attribute is wrong"},
};

finding answered(const std::string& id, const std::string& verdict, level how = level::fine, const std::string& evidence = "")
{
    return {id, "q", {verdict, how, evidence}};
}

}  // namespace

// -- the simulated H200

TEST(probe, the_simulated_h200_answers_as_the_card_that_was_measured)
{
    const findings all = ask_all(defect::none, false);
    for (const auto& [id, verdict] : h200) {
        ASSERT_TRUE(all.count(id)) << id;
        EXPECT_EQ(all.at(id).verdict, verdict) << id << ": " << all.at(id).evidence;
    }
}

TEST(probe, nothing_is_broken_without_a_defect)
{
    for (const bool quick : {true, false}) EXPECT_EQ(broken_in(ask_all(defect::none, quick)), std::vector<std::string>{}) << quick;
}

TEST(probe, a_small_card_leaves_questions_open)
{
    const findings all = ask_all(defect::none, true, "sim:h200,vram=64MiB");
    EXPECT_EQ(broken_in(all), std::vector<std::string>{});
    EXPECT_EQ(all.at("failure.malloc").verdict, "not asked");
    EXPECT_THAT(all.at("failure.malloc").evidence, HasSubstr("64.00 MiB"));
    EXPECT_EQ(all.at("pools.first-call").verdict, "works");
}

TEST(probe, want_of_memory_is_no_defect)
{
    for (const char* size : {"2MiB", "8MiB", "32MiB", "66MiB", "100MiB", "190MiB"}) {
        const findings all = ask_all(defect::none, false, std::string("sim:h200,vram=") + size);
        EXPECT_EQ(broken_in(all), std::vector<std::string>{}) << size;
        EXPECT_EQ(all.at("reuse.other-stream").verdict, "not asked") << size;
    }
    const answer first = ask_all(defect::none, true, "sim:h200,vram=8MiB").at("pools.first-call");
    EXPECT_EQ(first.verdict, "not asked");
    EXPECT_EQ(first.how, level::open);
    EXPECT_EQ(first.evidence, "1.00 MiB asked for, 8.00 MiB free: refused, which tells nothing with less than 64.00 MiB");
}

// -- defects

class each_symptom : public testing::TestWithParam<symptom> {};

TEST_P(each_symptom, is_seen)
{
    const symptom& s = GetParam();
    for (const bool quick : {true, false}) {
        const findings all = ask_all(s.what, quick);
        const bool in_quick = find_probe(std::string(s.id).starts_with("reuse.") ? "reuse" : "waits").in_quick;
        if (quick && !in_quick) continue;
        ASSERT_TRUE(all.count(s.id)) << test::to_string(s.what);
        EXPECT_EQ(all.at(s.id).verdict, s.verdict) << test::to_string(s.what) << ": " << all.at(s.id).evidence;
        EXPECT_EQ(all.at(s.id).how, s.how) << test::to_string(s.what);
    }
}
INSTANTIATE_TEST_SUITE_P(defects, each_symptom, testing::ValuesIn(symptoms), [](const auto& each) {
    std::string name = std::string(test::to_string(each.param.what)) + "_in_" + each.param.id;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

TEST(probe, every_defect_has_a_symptom)
{
    for (const defect d : test::all_defects()) {
        if (d == defect::first_pool_call_hangs || d == defect::first_pool_call_crashes) continue;    // these end the process
        EXPECT_TRUE(std::any_of(std::begin(symptoms), std::end(symptoms), [&](const symptom& s) { return s.what == d; }))
            << test::to_string(d);
        EXPECT_EQ(test::defect_named(test::to_string(d)), d);
    }
}

TEST(probe, pool_memory_is_lost_only_with_two_streams_at_threshold_0)
{
    const findings all = ask_all(defect::pool_memory_zeroed, true);
    for (const char* streams : {"1.0", "1.max", "2.max", "4.max"})
        EXPECT_EQ(all.at(std::string("integrity.pool.") + streams).verdict, "intact") << streams;
    EXPECT_EQ(all.at("integrity.pool.4.0").verdict, "corrupted");
}

TEST(probe_death, the_first_pool_call_may_end_the_process)
{
    const auto ask = [](defect d) {
        const auto dev = test::with_defect(simulated(), d);
        ::alarm(2);
        run_probe(find_probe("pools"), *dev, true);
    };
    EXPECT_EXIT(ask(defect::first_pool_call_crashes), testing::KilledBySignal(SIGSEGV), "");
    EXPECT_EXIT(ask(defect::first_pool_call_hangs), testing::KilledBySignal(SIGALRM), "");
}

TEST(probe, a_lost_device_ends_the_probe_and_keeps_what_was_found)
{
    const auto dev = test::with_defect(simulated(), defect::error_sticks);
    const process_report r = run_probe(find_probe("failure"), *dev, true);
    ASSERT_EQ(r.findings.size(), 1u) << "nothing is asked of a device that answers nothing";
    EXPECT_FALSE(r.ended);
    EXPECT_THAT(first_defect(r.findings), HasSubstr("malloc that fails: fails: "));
}

// -- peers

/// A simulated device that says that it has a neighbour, and of it what a test wants.
class device_with_neighbour final : public forwarding_device {
public:
    explicit device_with_neighbour(const peer_trial& found) : forwarding_device(simulated()), info_(inner().info()), found_(found)
    {
        info_.facts["devices"] = "2";
    }
    const device_info& info() const override { return info_; }
    peer_trial try_peer(int, int, std::uint64_t) override { return found_; }

private:
    device_info info_;
    peer_trial found_;
};

answer of_a_neighbour(const peer_trial& found)
{
    device_with_neighbour dev(found);
    const process_report r = run_probe(find_probe("peers"), dev, false);
    EXPECT_EQ(r.findings.size(), 2u);    // each from the other
    return r.findings.front().found;
}

TEST(probe_peers, what_was_found_is_held_against_what_is_stated)
{
    const auto verdict = [](const peer_trial& found) {
        const answer a = of_a_neighbour(found);
        return std::pair{a.verdict, a.how};
    };
    EXPECT_EQ(verdict({.stated = true}), std::pair(std::string("works"), level::fine));
    EXPECT_EQ(verdict({.stated = false}), std::pair(std::string("not stated"), level::open));
    EXPECT_EQ(verdict({.stated = true, .access_refused = "why"}), std::pair(std::string("stated, but cannot be enabled"), level::broken));
    EXPECT_EQ(verdict({.stated = true, .copy_refused = "why"}), std::pair(std::string("stated, but a copy fails"), level::broken));
    EXPECT_EQ(verdict({.stated = true, .wrong_words = 3}), std::pair(std::string("stated, but the copy arrives wrong"), level::broken));
    EXPECT_EQ(verdict({.stated = false, .wrong_words = 3}), std::pair(std::string("not stated, and the copy arrives wrong"), level::broken));
    EXPECT_THAT(of_a_neighbour({.stated = true, .wrong_words = 3}).evidence, HasSubstr("3 of 4194304 words"));
    EXPECT_EQ(of_a_neighbour({.stated = true, .access_refused = "why"}).evidence, "why");
}

TEST(probe_peers, one_device_has_none)
{
    const auto dev = simulated();
    const process_report r = run_probe(find_probe("peers"), *dev, false);
    ASSERT_EQ(r.findings.size(), 1u);
    EXPECT_EQ(r.findings[0].found.evidence, "there is one device");
    EXPECT_EQ(r.findings[0].found.how, level::open);
}

// -- several processes together

TEST(probe_summary, a_defect_in_some_processes_is_the_verdict)
{
    std::vector<process_report> reports(30, process_report{{answered("vmm.x", "works")}});
    for (int i = 5; i < 26; ++i) reports[i].findings = {answered("vmm.x", "growth fails", level::broken, "step 3")};
    const probe_summary s = summarise(find_probe("vmm"), reports);
    ASSERT_EQ(s.findings.size(), 1u);
    EXPECT_EQ(s.findings[0].best.found.verdict, "growth fails");
    EXPECT_EQ(evidence_of(s.findings[0]), "step 3 (21 of 30 processes)");
}

TEST(probe_summary, else_what_most_processes_said)
{
    const process_report waits{{answered("wait.x", "waits", level::costly, "20 ms")}},
        not_so{{answered("wait.x", "does not", level::fine, "1 us")}};
    const probe_summary s = summarise(find_probe("waits"), {waits, not_so, not_so});
    EXPECT_EQ(evidence_of(s.findings.at(0)), "1 us (2 of 3 processes)");
    EXPECT_EQ(s.findings[0].verdicts, (std::map<std::string, unsigned>{{"does not", 2}, {"waits", 1}}));
}

TEST(probe_summary, memory_that_processes_leave_behind)
{
    const auto started_with = [](std::uint64_t mib) {
        finding f = answered("release.exit", "asked", level::open);
        f.found.numbers["free_at_start"] = mib << 20;
        return process_report{{f}};
    };
    const auto verdict = [&](std::initializer_list<std::uint64_t> starts) {
        std::vector<process_report> reports;
        for (const auto s : starts) reports.push_back(started_with(s));
        return summarise(find_probe("exit"), reports).findings.at(0).best.found.verdict;
    };
    EXPECT_EQ(verdict({9000, 9000, 8990}), "comes back");
    EXPECT_EQ(verdict({9000, 8200}), "stays away");
    EXPECT_EQ(verdict({9000, 9000, 8200}), "stays away");
    EXPECT_EQ(verdict({9000}), "not asked");
}

TEST(probe_finding, survives_the_way_to_the_parent)
{
    finding f = answered("a.b", "works", level::costly, "with \xff figures");
    f.found.numbers["n"] = 7;
    const finding back = finding_from(nlohmann::json::parse(to_json(f).dump()));
    EXPECT_EQ(back.id, "a.b");
    EXPECT_EQ(back.found.how, level::costly);
    EXPECT_EQ(back.found.evidence, "with \xef\xbf\xbd figures");
    EXPECT_EQ(back.found.numbers, f.found.numbers);
    nlohmann::json bad = to_json(f);
    bad["level"] = "dreadful";
    EXPECT_THROW(finding_from(bad), input_error);
    bad = to_json(f);
    bad["numbers"] = {{"n", -1}};
    EXPECT_THROW(finding_from(bad), input_error);
}

TEST(probe_registry, names)
{
    EXPECT_STREQ(find_probe("reuse").name, "reuse");
    try {
        find_probe("reus");
        FAIL() << "an unknown probe";
    } catch (const input_error& e) {
        EXPECT_THAT(e.what(), HasSubstr("'reuse'"));
    }
}
