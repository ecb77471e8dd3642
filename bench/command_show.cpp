#include "bench/call_table.hpp"
#include "bench/commands.hpp"
#include "bench/failure_report.hpp"
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
    sub->add_option("file", *file, "result file")->required();
    auto calls = std::make_shared<bool>(false);
    sub->add_flag("--markdown", *markdown, "as Markdown, for documents");
    sub->add_flag("--calls", *calls, "what the allocators' calls took, by path, with their drain and idle parts")->excludes("--markdown");
    sub->add_flag("--failures", *failures, "a report of each cell that ran out of memory instead (docs/out-of-memory.md)")
        ->excludes("--markdown")
        ->excludes("--calls");
    sub->footer("Examples:\n  vrambench show run.json --markdown\n  vrambench show run.json --failures");
    sub->callback([file, markdown, calls, failures, &chosen] {
        chosen = [file, markdown, calls, failures] {
            const run_document document = read_result(*file);
            std::cout << (*failures   ? failure_report(document)
                          : *calls    ? call_table(document)
                          : *markdown ? markdown_table(document)
                                      : comparison_table(document, style_for(STDOUT_FILENO)));
            return 0;
        };
    });
}

}  // namespace vrambench
