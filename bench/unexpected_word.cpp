#include "bench/unexpected_word.hpp"

#include "spec/errors.hpp"
#include "spec/spec.hpp"

#include <cstdint>

namespace vrambench {

namespace {

std::string unknown(const std::string& kind, const std::string& word, const std::vector<std::string>& names)
{
    return "unknown " + kind + " " + in_quotes(word) + did_you_mean(word, names);
}

/// Takes the words one by one and knows which command they are for.
class word_walk {
public:
    explicit word_walk(const CLI::App& app) : command_(&app) {}

    /// What is wrong with the next word, or empty.
    std::string take(const std::string& word)
    {
        if (value_follows_) {
            value_follows_ = false;
            return {};
        }
        if (word == "--") return {};
        if (word.size() > 1 && word[0] == '-') return take_option(word);
        return has_commands() ? take_command(word) : take_plain(word);
    }

private:
    static bool any(const CLI::App*) { return true; }
    bool has_commands() const { return !command_->get_subcommands(any).empty(); }

    std::string take_option(const std::string& word)
    {
        const std::string name = word.substr(0, word.find('='));
        std::vector<std::string> names;
        for (const CLI::Option* o : command_->get_options()) {
            if (o->check_name(name)) {
                value_follows_ = o->get_items_expected_max() > 0 && name.size() == word.size();
                return {};
            }
            for (const auto& long_name : o->get_lnames()) names.push_back("--" + long_name);
        }
        return unknown("option", name, names);
    }

    std::string take_command(const std::string& word)
    {
        std::vector<std::string> names;
        for (const CLI::App* c : command_->get_subcommands(any)) {
            if (c->get_name() == word) {
                command_ = c;
                return {};
            }
            if (!c->get_group().empty()) names.push_back(c->get_name());    // others are not shown
        }
        return unknown("command", word, names);
    }

    std::string take_plain(const std::string& word)
    {
        std::int64_t places = 0;             // a list of files has room for any number
        for (const CLI::Option* o : command_->get_options())
            if (o->get_positional()) places += o->get_items_expected_max();
        return ++plain_words_ <= places ? "" : "unexpected " + in_quotes(word);
    }

    const CLI::App* command_;
    std::int64_t plain_words_ = 0;
    bool value_follows_ = false;
};

}  // namespace

std::string unexpected_word(const CLI::App& app, const std::vector<std::string>& words)
{
    word_walk walk(app);
    for (const auto& word : words)
        if (std::string wrong = walk.take(word); !wrong.empty()) return wrong;
    return {};
}

}  // namespace vrambench
