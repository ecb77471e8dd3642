#include "bench/atomic_file.hpp"
#include "bench/commands.hpp"
#include "bench/decide/probes.hpp"
#include "bench/decide/report.hpp"
#include "bench/decide/weights.hpp"
#include "bench/json_text.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <iostream>
#include <memory>
#include <thread>

namespace vrambench {

namespace decide {

namespace {

struct options {
    std::vector<std::string> files, weights, require;
    std::string filter, costs, format = "text", out;
};

void check_format(const std::string& format)
{
    const std::vector<std::string> known{"text", "markdown", "json"};
    if (std::find(known.begin(), known.end(), format) == known.end())
        throw input_error("--format " + in_quotes(format) + ": one of " + joined(known) + did_you_mean(format, known));
}

/// Of all platforms in their order, as many at once as there are cores.
std::vector<recommendation> recommend_all(const std::vector<platform>& platforms, const question& q)
{
    std::vector<recommendation> all(platforms.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i; (i = next++) < platforms.size();) all[i] = recommend(platforms[i], q);
    };
    std::vector<std::future<void>> workers;
    for (unsigned n = 0; n < std::max(1u, std::thread::hardware_concurrency()); ++n)
        workers.push_back(std::async(std::launch::async, work));
    for (auto& w : workers) w.get();
    return all;
}

std::string in_format(const std::string& format, const std::vector<platform>& platforms,
                      const std::vector<recommendation>& all, const std::vector<std::string>& notes, const question& q)
{
    if (format == "json") {
        nlohmann::json j{{"schema", "vrambench.recommendation/1"},
                         {"platforms", nlohmann::json::array()},
                         {"notes", nlohmann::json::array()}};
        for (const std::string& n : notes) j["notes"].push_back(json_text(n));
        for (std::size_t i = 0; i < platforms.size(); ++i) j["platforms"].push_back(report_json(platforms[i], all[i], q));
        return j.dump(1) + "\n";
    }
    page to(format == "text" ? page_style::text : page_style::markdown);
    for (std::size_t i = 0; i < platforms.size(); ++i) write_report(to, platforms[i], all[i], q);
    for (const std::string& n : notes) to.item("note: " + n);
    return to.text();
}

int run(const options& o)
{
    check_format(o.format);
    question q;
    q.require = parse_requirements(split_words(o.require));
    if (!o.costs.empty()) q.costs = driver_costs{o.costs, sim::load_profile(o.costs)};
    if (!o.out.empty()) {
        check_not_read(o.out, o.files);
        check_writable(o.out);
    }
    inputs files = read_inputs(o.files);
    std::vector<platform> platforms = gather(files);
    const std::vector<std::string> notes = give_reports(platforms, std::move(files.probes));
    if (!o.filter.empty()) keep_only(platforms, o.filter);
    weigh(platforms, o.weights);
    const std::string text = in_format(o.format, platforms, recommend_all(platforms, q), notes, q);
    if (o.out.empty()) std::cout << text;
    else replace_file(o.out, text);
    return 0;
}

}  // namespace

}  // namespace decide

void add_recommend(CLI::App& app, command& chosen)
{
    auto* sub = app.add_subcommand(
        "recommend", "say from result files which allocator should be the default, how sure that is, and why");
    auto o = std::make_shared<decide::options>();
    sub->add_option("files", o->files, "files of `run` and `fit`, and reports of `probe`, of any number of cards")->required();
    sub->add_option("--weights", o->weights,
                    "PATTERN=NUMBER, repeated: how much situations count whose name matches (default: all 1)")
        ->allow_extra_args(false);
    sub->add_option("--require", o->require,
                    "completes (wherever another does), safe (checked in full), limit=SIZE; repeated or comma-separated")
        ->allow_extra_args(false);
    sub->add_option("--costs", o->costs,
                    "what `probe --costs --out FILE` measured on the card in question: settles break-evens");
    sub->add_option("--filter", o->filter, "only situations whose name matches, as 'era=pool-fa-early.*limit:none'");
    sub->add_option("--format", o->format, "text, markdown or json")->capture_default_str();
    sub->add_option("--out", o->out, "write it to a file instead");
    sub->footer("One answer for each vendor, card class and driver. Where no real card was measured (sim counts as none) "
                "no time is ranked: bytes,\n"
                "calls, limits, and the break-even that a probe settles. A report of `probe` filters on its own card and driver: what\n"
                "stands on something broken or missing is out. docs/deciding.md is the method.\n\n"
                "Exit codes: 0 said, whatever the verdict; 2 bad usage or input.\n\n"
                "Examples:\n"
                "  vrambench recommend results/h200/2026-11-30-default.json\n"
                "  vrambench recommend results/h200/*decide*.json --require completes --weights 'kv=q8_0=3' --format markdown\n"
                "  vrambench recommend mycard.json probe.json           the report from: vrambench probe --out probe.json\n"
                "  vrambench recommend mycard.json --require limit=1GiB,safe");
    sub->callback([o, &chosen] { chosen = [o] { return decide::run(*o); }; });
}

}  // namespace vrambench
