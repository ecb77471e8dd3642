#include "bench/commands.hpp"
#include "bench/remote.hpp"

namespace vrambench {

void add_child(CLI::App& app, command& chosen)
{
    auto* sub = app.add_subcommand("child", "answers the parent process")->group("");    // not shown
    auto what = std::make_shared<std::string>();
    sub->add_option("what", *what)->required()->check(CLI::IsMember({"info", "measure", "costs", "probe", "neighbour"}));
    sub->callback([what, &chosen] { chosen = [what] { return child_main(*what); }; });
}

}  // namespace vrambench
