#include "bench/call_table.hpp"
#include "bench/commands.hpp"
#include "bench/failure_report.hpp"
#include "bench/noise_table.hpp"
#include "bench/reading_progress.hpp"
#include "bench/result_file.hpp"
#include "bench/table.hpp"

#include <iostream>
#include <unistd.h>

namespace vrambench {

void add_show(CLI::App& app, command& chosen)
{
    auto* sub = app.add_subcommand("show", "print the comparison table of a result file");
    auto file = std::make_shared<std::string>();
    auto markdown = std::make_shared<bool>(false);
    auto failures = std::make_shared<bool>(false);
    auto filter = std::make_shared<std::string>();
    sub->add_option("file", *file, "result file")->required();
    auto calls = std::make_shared<bool>(false);
    sub->add_flag("--markdown", *markdown, "as Markdown, for documents");
    sub->add_flag("--calls", *calls, "what the allocators' calls took, by path, with their drain and idle parts")->excludes("--markdown");
    sub->add_flag("--failures", *failures, "a report of each cell that ran out of memory instead, and of each recovery (docs/out-of-memory.md)")
        ->excludes("--markdown")
        ->excludes("--calls");
    auto noise = std::make_shared<bool>(false);
    sub->add_flag("--noise", *noise, "how much of a card's noise lies between processes, and how much within one")
        ->excludes("--markdown")
        ->excludes("--calls")
        ->excludes("--failures");
    sub->add_option("--filter", *filter, "only tables with a cell (with --failures: cells) whose benchmark name matches, as of --benchmark_filter")
        ->excludes("--calls")
        ->excludes("--noise");
    sub->footer("Exit codes: 0 shown, whatever the outcomes; 2 bad usage or input.\n\n"
                "Examples:\n  vrambench show run.json --markdown\n  vrambench show run.json --failures\n"
                "  vrambench show run.json --filter 'era=pool-fa-early.*limit:none'    (names as --benchmark_list_tests shows them)");
    sub->callback([file, markdown, calls, failures, noise, filter, &chosen] {
        chosen = [file, markdown, calls, failures, noise, filter] {
            constexpr double shown_a_second = 20e6;    // bytes
            reading_progress shown({reading_of(*file, shown_a_second)});
            shown.next();
            const run_document document = read_result(*file);
            table_style style = style_for(STDOUT_FILENO);
            style.filter = *filter;
            const std::string text = *failures   ? failure_report(document, *filter)
                                     : *calls    ? call_table(document)
                                     : *noise    ? noise_table(document)
                                     : *markdown ? markdown_table(document, *filter)
                                                 : comparison_table(document, style);
            shown.clear();
            std::cout << text;
            return 0;
        };
    });
}

}  // namespace vrambench
