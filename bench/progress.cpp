#include "bench/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/ioctl.h>
#include <unistd.h>

namespace vrambench {

namespace {

constexpr double between_lines = 2.0;   // seconds

std::string time_left(double seconds)
{
    char text[40];
    if (seconds < 9.95) std::snprintf(text, sizeof text, "%.1f s left", seconds);
    else if (seconds < 99.5) std::snprintf(text, sizeof text, "%.0f s left", seconds);
    else if (seconds < 5400) std::snprintf(text, sizeof text, "%.0f min left", seconds / 60);
    else std::snprintf(text, sizeof text, "%.1f h left", seconds / 3600);
    return text;
}

}  // namespace

progress::progress(std::ostream& out, bool terminal, std::size_t width, seconds_clock clock)
    : out_(out), terminal_(terminal), width_(std::max<std::size_t>(width, 20)), clock_(std::move(clock))
{
    began_ = last_line_ = clock_();
}

progress::~progress() { finish(); }

void progress::plan(std::vector<double> estimates)
{
    remaining_ = std::move(estimates);
    for (double& e : remaining_) e = std::max(e, 0.0);
    for (std::size_t i = remaining_.size(); i-- > 1;) remaining_[i - 1] += remaining_[i];
    began_ = clock_();
}

void progress::start(std::size_t index, const std::string& what) { start(index, what, seconds_left(index)); }

void progress::start(std::size_t index, const std::string& what, std::optional<double> seconds_left)
{
    if (terminal_) {
        rewrite(status(index, what, seconds_left));
        return;
    }
    const double now = clock_();
    if (now - last_line_ < between_lines) return;
    last_line_ = now;
    out_ << status(index, what, seconds_left) << '\n' << std::flush;
}

void progress::note(const std::string& line)
{
    finish();
    out_ << line << '\n' << std::flush;
}

void progress::finish()
{
    if (on_screen_ == 0) return;
    rewrite("");
    out_ << '\r' << std::flush;
}

/// The plan's own estimate, corrected by how the work so far went once a tenth of a second of it has passed.
double progress::seconds_left(std::size_t index) const
{
    if (index >= remaining_.size()) return 0;
    const double planned_so_far = remaining_.front() - remaining_[index];
    const double passed = clock_() - began_;
    const double factor = planned_so_far > 0 && passed > 0.1 ? passed / planned_so_far : 1;
    return remaining_[index] * factor;
}

std::string progress::status(std::size_t index, const std::string& what, std::optional<double> seconds_left) const
{
    const std::string total = std::to_string(remaining_.size());
    std::string number = std::to_string(index + 1);
    if (number.size() < total.size()) number.insert(0, total.size() - number.size(), ' ');
    return "[" + number + "/" + total + "] " + what + "..." + (seconds_left ? " " + time_left(*seconds_left) : "");
}

/// Overwrites with spaces instead of an escape sequence: that works on every terminal.
void progress::rewrite(const std::string& line)
{
    // One column stays free: a full line would wrap.
    const std::string shown = line.size() < width_ ? line : line.substr(0, width_ - 3) + "..";
    const std::size_t old = on_screen_;
    out_ << '\r' << shown;
    if (old > shown.size()) out_ << std::string(old - shown.size(), ' ');
    out_ << std::flush;
    on_screen_ = shown.size();
}

progress::seconds_clock progress::steady_seconds()
{
    return [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
}

bool is_terminal(int file_descriptor)
{
    const char* const terminal = std::getenv("TERM");
    return ::isatty(file_descriptor) == 1 && terminal && std::strcmp(terminal, "dumb") != 0;
}

std::size_t terminal_width(int file_descriptor)
{
    winsize size{};
    if (::ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

}  // namespace vrambench
