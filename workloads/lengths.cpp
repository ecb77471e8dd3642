#include "workloads/lengths.hpp"

#include "spec/errors.hpp"

namespace vrambench {
namespace {

constexpr std::uint64_t most_tokens = std::uint64_t{1} << 24;

length_range parse_range(const std::string& name, const config& c, const std::string& what)
{
    const length_range r{c.integer(what + "-min"), c.integer(what + "-max")};
    if (r.least > r.most)
        throw input_error(name + ": " + what + "-min=" + std::to_string(r.least) + " exceeds " + what + "-max=" +
                          std::to_string(r.most));
    return r;
}

key_info length_key(const std::string& name, std::uint64_t value, const std::string& help)
{
    return {.name = name, .type = key_type::integer, .default_value = std::to_string(value), .unit = "tokens",
            .help = help, .least = 1, .most = most_tokens};
}

}  // namespace

std::vector<key_info> length_keys(const length_ranges& defaults)
{
    return {length_key("prompt-min", defaults.prompt.least, "of the shortest prompt"),
            length_key("prompt-max", defaults.prompt.most, "of the longest prompt; every octave between them is equally likely"),
            length_key("answer-min", defaults.answer.least, "decoded in the shortest answer"),
            length_key("answer-max", defaults.answer.most, "decoded in the longest answer, as with prompts")};
}

length_ranges parse_lengths(const std::string& name, const config& c)
{
    return {parse_range(name, c, "prompt"), parse_range(name, c, "answer")};
}

key_info seed_key()
{
    return {.name = "seed", .type = key_type::integer, .default_value = "run", .unit = "",
            .help = "of the random numbers (splitmix64); run: that of the whole run", .choices = {"run"},
            .most = ~std::uint64_t{0}};
}

std::uint64_t parse_seed(config& c, std::uint64_t default_seed)
{
    if (c.is("seed", "run")) c.set("seed", std::to_string(default_seed));
    return c.integer("seed");
}

}  // namespace vrambench
