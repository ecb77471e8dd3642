#include "bench/reading_progress.hpp"

#include "spec/errors.hpp"

#include <filesystem>
#include <iostream>
#include <utility>

#include <unistd.h>

namespace vrambench {

namespace {

constexpr double worth_showing = 2.0;   // seconds

std::vector<double> estimates_of(const std::vector<reading_step>& steps)
{
    std::vector<double> estimates;
    for (const reading_step& s : steps) estimates.push_back(s.seconds);
    return estimates;
}

}  // namespace

reading_step reading_of(const std::string& path, double bytes_per_second)
{
    std::error_code unknown;
    const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
    return {path, unknown ? 0 : static_cast<double>(bytes) / bytes_per_second};
}

reading_progress::reading_progress(std::ostream& out, bool terminal, std::size_t width, std::vector<reading_step> steps,
                                   progress::seconds_clock clock)
    : terminal_(terminal), clock_(clock), line_(out, terminal, width, clock), steps_(std::move(steps)), began_(clock_())
{
    line_.plan(estimates_of(steps_));
}

reading_progress::reading_progress(std::vector<reading_step> steps)
    : reading_progress(std::cerr, is_terminal(STDERR_FILENO), terminal_width(STDERR_FILENO), std::move(steps))
{
}

void reading_progress::next()
{
    const std::size_t i = begun_++;
    if (!terminal_ || clock_() - began_ + steps_[i].seconds < worth_showing) return;
    line_.start(i, printable(steps_[i].what));
}

}  // namespace vrambench
