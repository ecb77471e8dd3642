#include "bench/commands.hpp"
#include "bench/frontier_table.hpp"
#include "bench/run_options.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

namespace vrambench {

namespace {

constexpr std::uint64_t most_limits = 200;

/// "50..100:5" as the limits "50%", "55%", ..., "100%".
std::vector<std::string> limits_of(const std::string& typed)
{
    const auto refuse = [&](const std::string& problem) { throw input_error("--pressure: " + in_quotes(typed) + " " + problem); };
    const auto dots = typed.find(".."), colon = typed.find(':');
    if (dots == std::string::npos || (colon != std::string::npos && colon < dots)) refuse("is no range (write 50..100 or 50..100:5)");
    const std::string end = colon == std::string::npos ? typed.substr(dots + 2) : typed.substr(dots + 2, colon - dots - 2);
    const std::uint64_t from = parse_integer(typed.substr(0, dots), "--pressure: the lowest", 1, 1000);
    const std::uint64_t to = parse_integer(end, "--pressure: the highest", 1, 1000);
    const std::uint64_t step =
        colon == std::string::npos ? 5 : parse_integer(typed.substr(colon + 1), "--pressure: the step", 1, 1000);
    if (from > to) refuse("ends before it begins");
    if ((to - from) / step >= most_limits) refuse("has more than 200 limits");
    std::vector<std::string> limits;
    for (std::uint64_t p = from; p <= to; p += step) limits.push_back(std::to_string(p) + "%");
    return limits;
}

}  // namespace

void add_frontier(CLI::App& app, const command_line& line, command& chosen)
{
    auto* sub = app.add_subcommand("frontier", "time and completion of each allocator as memory gets tight");
    auto o = std::make_shared<run_options>();
    auto pressure = std::make_shared<std::string>("50..100:5");
    add_run_options(*sub, *o, true);
    for (const char* other : {"--quick", "--full"}) sub->remove_option(sub->get_option(other));
    sub->add_option("--pressure", *pressure, "max live as a share of the limit, per cent: FROM..TO[:STEP]")
        ->capture_default_str()
        ->excludes(sub->get_option("--vram-limit"));
    sub->footer("It is a run at many limits: the file is one of `vrambench run`, `vrambench show` prints its full table, and --resume goes\n"
                "on with it. A plot has x = max_live_bytes / (vram_limit_bytes - max_external_bytes) and y = added_ns_per_token of each cell.\n"
                "A size as limit stands for a card of that size, from which what is resident is taken; none is a column without a pressure.\n\n" +
                std::string(run_exit_codes) +
                "Examples:\n"
                "  vrambench frontier --device sim:h200\n"
                "  vrambench frontier --device sim:h200 --allocator legacy-retry,async:retry=sync,vmm --pressure 80..100:2 \\\n"
                "      --workload kv-pair:heads=8,head-dim=128,step=512,to=16384\n"
                "  vrambench frontier --device sim:h200 --resident model --vram-limit 8GiB,16GiB,24GiB\n"
                "  vrambench frontier --device sim:h200 --resident model --vram-limit 8GiB,16GiB,24GiB \\\n"
                "      --workload fattn-session:model=llama-3.1-8b,kv=q8_0,era=pool-fa-early,graphs=off,depth=32768,prompt=512,tokens=4");
    sub->callback([o, pressure, &line, &chosen] {
        chosen = [o, pressure, &line] {
            if (o->request.vram_limits.empty()) o->request.vram_limits = limits_of(*pressure);
            return run(*o, line, frontier_table);
        };
    });
}

}  // namespace vrambench
