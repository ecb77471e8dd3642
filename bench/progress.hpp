#pragma once
// What a long run tells its user while it measures: one status line that is rewritten on a terminal, a plain line now and
// then otherwise. Goes to stderr, so that tables can be piped.

#include <cstddef>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace vrambench {

class progress {
public:
    using seconds_clock = std::function<double()>;

    /// `terminal`: rewrite one line of at most `width` columns. Otherwise a line at most every two seconds, so that short
    /// work stays silent. The clock is for tests.
    progress(std::ostream& out, bool terminal, std::size_t width = 80, seconds_clock clock = steady_seconds());
    ~progress();   ///< erases the status line
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    /// Seconds that the planner expects of each piece of work, in the order in which they will be started. Only their
    /// relations must be right: they are corrected by what has passed.
    void plan(std::vector<double> estimates);
    /// Piece `index` (from 0) starts: "legacy on kv-pair".
    void start(std::size_t index, const std::string& what);
    /// The same where the caller knows better what is left, or that nobody knows: then no time is shown.
    void start(std::size_t index, const std::string& what, std::optional<double> seconds_left);
    /// A line that stays, above the status line.
    void note(const std::string& line);
    /// Erases the status line. More work may follow.
    void finish();

    static seconds_clock steady_seconds();

private:
    double seconds_left(std::size_t index) const;
    std::string status(std::size_t index, const std::string& what, std::optional<double> seconds_left) const;
    void rewrite(const std::string& line);

    std::ostream& out_;
    bool terminal_;
    std::size_t width_;
    seconds_clock clock_;
    std::vector<double> remaining_;   ///< estimate of the pieces from each index on
    double began_ = 0;
    double last_line_ = 0;
    std::size_t on_screen_ = 0;       ///< columns that the status line covers
};

/// Whether `file_descriptor` is a terminal that can rewrite a line, and its width (80 where unknown).
bool is_terminal(int file_descriptor);
std::size_t terminal_width(int file_descriptor);

}  // namespace vrambench
