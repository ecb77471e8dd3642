#include "bench/remote.hpp"

#include "bench/child_process.hpp"
#include "bench/costs/cost_probe.hpp"
#include "bench/json_text.hpp"
#include "bench/neighbour_process.hpp"
#include "bench/repetition_json.hpp"
#include "spec/errors.hpp"

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>

#include <sys/mman.h>
#include <unistd.h>

namespace vrambench {

namespace {

using json = nlohmann::json;

constexpr const char* protocol = "vrambench.child/1";

/// The program that answers: this one, or a stand-in.
std::string answering_program() { return stand_in_program().value_or(own_program()); }

json rates_json(const card_rates& r)
{
    return {{"flops_per_second", r.flops_per_second}, {"bytes_per_second", r.bytes_per_second},
            {"flops_source", r.flops_source}, {"bytes_source", r.bytes_source}};
}

card_rates rates_from(const json& j)
{
    card_rates r;
    j.at("flops_per_second").get_to(r.flops_per_second), j.at("bytes_per_second").get_to(r.bytes_per_second);
    j.at("flops_source").get_to(r.flops_source), j.at("bytes_source").get_to(r.bytes_source);
    return r;
}

json cell_request(const cell& c, role what)
{
    const auto& header = c.workload->recipe->header();
    json j{{"protocol", protocol}, {"device", c.on.spec}, {"allocator", c.allocator.spec}, {"workload", header.spec},
           {"seed", header.seed}, {"mode", to_string(c.mode)}, {"kernels", to_string(c.kernels)},
           {"kernel_scale", c.kernel_scale}, {"verify", to_string(c.verify)}, {"role", to_string(what)}};
    if (c.resident_bytes) j["resident_bytes"] = c.resident_bytes;
    if (!c.neighbour.empty()) j["neighbour"] = c.neighbour;
    if (!c.inject.empty()) j["inject"] = c.inject;
    j["vram_limit_bytes"] = c.vram_limit_bytes ? json(*c.vram_limit_bytes) : json(nullptr);
    j["rates"] = c.on.rates ? rates_json(*c.on.rates) : json(nullptr);
    if (!c.on.failed.pools.empty()) j["failed_pools"] = json_text(c.on.failed.pools);
    if (!c.on.failed.virtual_memory.empty()) j["failed_virtual_memory"] = json_text(c.on.failed.virtual_memory);
    return j;
}

cell cell_from(const json& j)
{
    if (j.at("protocol") != protocol) throw input_error("child: another protocol");
    cell c;
    c.on = choose_device(j.at("device").get<std::string>());
    if (!j.at("rates").is_null()) c.on.rates = rates_from(j.at("rates"));
    c.on.failed = {j.value("failed_pools", ""), j.value("failed_virtual_memory", "")};
    c.allocator = choose_allocator(j.at("allocator").get<std::string>());
    c.neighbour = j.value("neighbour", "");
    c.resident_bytes = j.value("resident_bytes", std::uint64_t{0});
    c.workload = plan_workload(j.at("workload").get<std::string>(), j.at("seed").get<std::uint64_t>(), c.resident_bytes, c.neighbour);
    if (!j.at("vram_limit_bytes").is_null()) c.vram_limit_bytes = j.at("vram_limit_bytes").get<std::uint64_t>();
    c.mode = from_word<run_mode>(j.at("mode").get<std::string>(), 2, "mode");
    c.kernels = from_word<kernel_model>(j.at("kernels").get<std::string>(), 2, "kernels");
    c.kernel_scale = j.at("kernel_scale").get<std::string>();
    c.verify = from_word<verify_level>(j.at("verify").get<std::string>(), 3, "verify");
    c.inject = j.value("inject", "");
    return c;
}

json info_json(const device_info& i)
{
    return {{"protocol", protocol}, {"kind", i.kind}, {"name", i.name}, {"spec", i.spec}, {"total_bytes", i.total_bytes},
            {"vmm_granularity", i.vmm_granularity}, {"physical_block", i.physical_block}, {"has_pools", i.has_pools},
            {"flops_per_second", i.flops_per_second}, {"bytes_per_second", i.bytes_per_second}, {"facts", i.facts},
            {"claims", i.claims}};
}

device_info info_from(const json& j)
{
    if (j.at("protocol") != protocol) throw input_error("child: another protocol");
    device_info i;
    j.at("kind").get_to(i.kind), j.at("name").get_to(i.name), j.at("spec").get_to(i.spec);
    j.at("total_bytes").get_to(i.total_bytes), j.at("vmm_granularity").get_to(i.vmm_granularity);
    j.at("physical_block").get_to(i.physical_block), j.at("has_pools").get_to(i.has_pools);
    j.at("flops_per_second").get_to(i.flops_per_second), j.at("bytes_per_second").get_to(i.bytes_per_second);
    j.at("facts").get_to(i.facts);
    if (j.contains("claims")) j.at("claims").get_to(i.claims);
    return i;
}

/// The repetition that stands for a child which did not answer.
repetition without_answer(const child_result& r, role what, std::chrono::milliseconds timeout)
{
    repetition rep;
    rep.process = r.process;
    rep.what = what;
    auto& o = rep.cold.result;
    const std::string in_call = r.call.empty() ? "" : " in " + r.call;
    if (r.how == child_result::end::timed_out) {
        o.what = status::timeout;
        o.message = "no answer after " + std::to_string(timeout.count()) + " ms" + in_call;
    } else {
        o.what = status::crashed;
        if (r.signal != 0) {
            const char* name = sigabbrev_np(r.signal);
            o.message = "SIG" + (name ? std::string(name) : std::to_string(r.signal)) + in_call;
        } else {
            o.message = "exit code " + std::to_string(r.exit_code);
        }
        if (!r.last_words.empty()) o.message += ": " + r.last_words;
    }
    if (r.left_behind) o.message += " (process " + std::to_string(r.process) + " could not be ended)";
    return rep;
}

void answer(const json& j)
{
    const std::string text = j.dump() + "\n";
    std::size_t at = 0;
    while (at < text.size()) {
        const ssize_t n = ::write(child_answer_fd, text.data() + at, text.size() - at);
        if (n <= 0) throw std::runtime_error("the parent does not listen");
        at += static_cast<std::size_t>(n);
    }
}

/// The answer of `child info`, with the rates where they are asked for. Throws input_error.
std::pair<device_info, std::optional<card_rates>> ask(const device_choice& choice, bool measure)
{
    const json request{{"protocol", protocol}, {"device", choice.spec}, {"measure", measure}};
    const child_result r = run_child(answering_program(), {"child", "info"}, request.dump(), std::chrono::seconds(60), nullptr);
    if (r.how != child_result::end::answered)
        throw input_error(r.last_words.empty() ? choice.spec + ": the process that asks it ended without an answer: " +
                                                     without_answer(r, role::timed, std::chrono::seconds(60)).cold.result.message
                                               : r.last_words);
    try {
        const json j = json::parse(r.answer);
        std::optional<card_rates> rates;
        if (const auto found = j.find("rates"); found != j.end()) rates = rates_from(*found);
        return {info_from(j), rates};
    } catch (const json::exception&) {
        throw input_error(choice.spec + ": its child process gave an answer that makes no sense");
    }
}

volatile std::uint8_t* shared_call()
{
    void* p = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, child_call_fd, 0);
    return p == MAP_FAILED ? nullptr : static_cast<volatile std::uint8_t*>(p);
}

void child_measure(const json& request, const allocator_adaptor& adapt)
{
    const cell c = cell_from(request);
    const role what = from_word<role>(request.at("role").get<std::string>(), 3, "role");
    run_controls controls;
    controls.current_call = shared_call();
    controls.cold_only = request.value("cold_only", false);
    controls.reference = request.value("reference", false);
    const auto make = [&](device& dev, std::uint32_t streams) {
        auto alloc = make_allocator(c.allocator, dev, streams);
        return adapt ? adapt(std::move(alloc), c) : std::move(alloc);
    };
    const repetition r = run_repetition(c, make, controls, what);
    answer({{"protocol", protocol}, {"entries", repetition_json(r)}});
}

/// A card that cannot be measured can still be measured on: the roofline falls back, and says why.
card_rates measured_rates(device& dev)
{
    try {
        return dev.measure_rates().value_or(card_rates{});
    } catch (const device_error& e) {
        const std::string why = std::string("not measured: ") + e.what();
        return {0, 0, why, why};
    }
}

void child_info(const json& request)
{
    device_options options;
    options.current_call = shared_call();
    options.warm_up = false;    // a feature that hangs or crashes must not keep the device from saying what it is
    const auto dev = open_device(choose_device(request.at("device").get<std::string>()), options);
    json j = info_json(dev->info());
    if (request.at("measure").get<bool>()) j["rates"] = rates_json(measured_rates(*dev));
    answer(j);
}

void child_costs(const json& request)
{
    if (request.at("protocol") != protocol) throw input_error("child: another protocol");
    device_options options;
    options.check = integrity_check::off;    // costs are the driver's, not the checks'
    options.current_call = shared_call();
    const auto dev = open_device(choose_device(request.at("device").get<std::string>()), options);
    answer({{"protocol", protocol}, {"costs", costs::to_json(costs::measure_costs(*dev, request.at("quick").get<bool>()))}});
}

/// Answers line by line, so that a process that dies has told what it knew: {"asking": FINDING}, {"found": FINDING}, {"ended": ...}.
void child_probe(const json& request)
{
    if (request.at("protocol") != protocol) throw input_error("child: another protocol");
    device_options options;
    options.current_call = shared_call();
    options.warm_up = false;    // what is asked may not work
    options.stamps = false;
    const auto& probe = probing::find_probe(request.at("probe").get<std::string>());
    const auto dev = open_device(choose_device(request.at("device").get<std::string>()), options);
    probing::session s(*dev, request.at("quick").get<bool>(), [](const probing::finding& f) { answer({{"asking", probing::to_json(f)}}); },
                       [](const probing::finding& f) { answer({{"found", probing::to_json(f)}}); });
    bool lost = false;
    try {
        probing::run_probe(probe, s);
    } catch (const probing::device_lost&) {
        lost = true;
    }
    answer({{"ended", lost ? "the device answers no more" : ""}});
    if (lost || probe.leaves_memory) ::_exit(0);    // nothing is given back
}

/// What a process of a probe wrote, whole lines only: it may have died in the middle of one.
probing::process_report report_from(const child_result& r)
{
    probing::process_report report;
    report.ended = false;
    std::optional<probing::finding> asking;
    std::size_t begin = 0;
    for (std::size_t end = r.answer.find('\n'); end != std::string::npos; begin = end + 1, end = r.answer.find('\n', begin)) {
        const json j = json::parse(r.answer.substr(begin, end - begin));
        if (j.contains("asking")) asking = probing::finding_from(j.at("asking"));
        else if (j.contains("found")) report.findings.push_back(probing::finding_from(j.at("found"))), asking.reset();
        else if (j.contains("ended")) report.ended = true;
        else throw input_error("a line that is no finding");
    }
    if (asking) report.findings.push_back(*asking);    // unanswered: the caller knows why
    return report;
}

}  // namespace

std::optional<std::string> stand_in_program()
{
    const char* name = std::getenv("VRAMBENCH_CHILD_PROGRAM");
    return name && *name ? std::optional<std::string>(name) : std::nullopt;
}

std::pair<device_info, std::optional<card_rates>> ask_device_and_rates(const device_choice& choice) { return ask(choice, true); }

device_info ask_device(const device_choice& choice) { return ask(choice, false).first; }

std::optional<device_info> try_device(const device_choice& choice)
{
    try {
        return ask_device(choice);
    } catch (const input_error&) {
        return std::nullopt;
    }
}

namespace {

std::optional<device_choice> answering_gpu(const std::string& kind, std::uint64_t number)
{
    device_choice c = choose_device(kind + ":" + std::to_string(number));
    const auto info = try_device(c);
    if (!info) return std::nullopt;
    c.name = info->name;
    return c;
}

std::optional<device_choice> gpu_of(const std::string& kind, std::uint64_t local_rank)
{
    if (auto c = answering_gpu(kind, local_rank)) return c;
    std::uint64_t count = 0;
    while (count < local_rank && answering_gpu(kind, count)) ++count;
    return count == 0 ? std::nullopt : answering_gpu(kind, local_rank % count);
}

}  // namespace

device_choice answering_device(const std::string& typed, std::uint64_t local_rank)
{
    if (typed == "auto")
        for (const auto& kind : gpu_kinds())
            if (auto c = gpu_of(kind, local_rank)) return *c;
    device_choice c = choose_device(typed);
    if (!c.simulated) c.name = ask_device(c).name;
    return c;
}

repetition run_in_child(const cell& c, role what, const run_controls& controls)
{
    json request = cell_request(c, what);
    if (controls.cold_only) request["cold_only"] = true;
    if (controls.reference) request["reference"] = true;
    const child_result r = run_child(answering_program(), {"child", "measure"}, request.dump(), controls.timeout, controls.stop);
    if (r.how == child_result::end::interrupted) throw run_interrupted();
    if (r.how != child_result::end::answered) return without_answer(r, what, controls.timeout);
    try {
        const json j = json::parse(r.answer);
        if (j.at("protocol") != protocol) throw input_error("another protocol");
        auto found = repetitions_from(j.at("entries"));
        if (found.size() != 1 || found.front().what != what) throw input_error("not the repetition that was asked for");
        found.front().process = r.process;
        return std::move(found.front());
    } catch (const std::exception& e) {
        repetition rep = without_answer(r, what, controls.timeout);
        rep.cold.result.message = std::string("the child's answer makes no sense: ") + e.what();
        return rep;
    }
}

cost_answer measure_costs_in_child(const device_choice& choice, bool quick, std::chrono::milliseconds timeout,
                                   const std::atomic<bool>* stop)
{
    const json request{{"protocol", protocol}, {"device", choice.spec}, {"quick", quick}};
    const child_result r = run_child(answering_program(), {"child", "costs"}, request.dump(), timeout, stop);
    if (r.how == child_result::end::interrupted) throw run_interrupted();
    if (r.how != child_result::end::answered) {
        const outcome o = without_answer(r, role::timed, timeout).cold.result;
        return {std::nullopt, std::string(to_string(o.what)) + ": " + o.message};
    }
    try {
        const json j = json::parse(r.answer);
        if (j.at("protocol") != protocol) throw input_error("another protocol");
        return {costs::report_from(j.at("costs")), ""};
    } catch (const std::exception& e) {
        return {std::nullopt, std::string("the child's answer makes no sense: ") + e.what()};
    }
}

probing::process_report probe_in_child(const device_choice& choice, const probing::probe_entry& probe, bool quick,
                                       std::chrono::milliseconds timeout, const std::atomic<bool>* stop)
{
    const json request{{"protocol", protocol}, {"device", choice.spec}, {"probe", probe.name}, {"quick", quick}};
    const child_result r = run_child(answering_program(), {"child", "probe"}, request.dump(), timeout, stop);
    if (r.how == child_result::end::interrupted) throw run_interrupted();
    probing::process_report report;
    try {
        report = report_from(r);
    } catch (const std::exception& e) {
        const std::string why = std::string("the child's answer makes no sense: ") + e.what();
        return {{{std::string(probe.name) + ".process", probe.what, {"crashed", probing::level::broken, why}}}, false};
    }
    if (report.ended && r.how == child_result::end::answered) return report;
    const outcome o = without_answer(r, role::timed, timeout).cold.result;
    const probing::answer died{o.what == status::timeout ? "hangs" : "crashes", probing::level::broken, o.message};
    const bool unanswered = !report.findings.empty() && report.findings.back().found.verdict.empty();
    if (unanswered) report.findings.back().found = died;
    else report.findings.push_back({std::string(probe.name) + ".process", std::string("the process of ") + probe.name, died});
    report.ended = false;
    return report;
}

int child_main(const std::string& what, const allocator_adaptor& adapt)
{
    if (what == "neighbour") return neighbour_main();
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    const json request = json::parse(text);
    if (what == "info")
        child_info(request);
    else if (what == "costs")
        child_costs(request);
    else if (what == "probe")
        child_probe(request);
    else
        child_measure(request, adapt);
    return 0;
}

}  // namespace vrambench
