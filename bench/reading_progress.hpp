#pragma once
// A status line for commands that read many or large files: none where they are done within two seconds.

#include "bench/progress.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace vrambench {

/// One piece of work: a file to be read, or what is done with all of them.
struct reading_step {
    std::string what;            ///< "results/a.json"
    double seconds = 0;          ///< expected
};

/// Bytes of the file by how many of them a command handles a second; 0 where it cannot be told.
reading_step reading_of(const std::string& path, double bytes_per_second);

class reading_progress {
public:
    /// Silent unless `terminal`. The clock is for tests.
    reading_progress(std::ostream& out, bool terminal, std::size_t width, std::vector<reading_step> steps,
                     progress::seconds_clock clock = progress::steady_seconds());
    /// On standard error.
    explicit reading_progress(std::vector<reading_step> steps);

    /// The next step begins. Shown once two seconds have passed, or will have when it is done.
    void next();
    /// Erases the line, for what is printed in between and at the end.
    void clear() { line_.finish(); }

private:
    bool terminal_;
    progress::seconds_clock clock_;
    progress line_;
    std::vector<reading_step> steps_;
    std::size_t begun_ = 0;
    double began_;
};

}  // namespace vrambench
