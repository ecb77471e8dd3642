#pragma once
// Work on a GPU happens in child processes, started anew: a driver that crashes, hangs or leaves memory behind takes
// one repetition with it, not the run. The parent never touches a GPU runtime.
//
// Protocol: the child is this program with the hidden subcommand `child WHAT`. It reads one JSON request from standard
// input and writes one JSON answer to file descriptor 3. Descriptor 4 is a page of shared memory whose first byte names
// the driver call that is being made. Standard output goes nowhere; the end of standard error explains a crash.

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace vrambench {

inline constexpr int child_answer_fd = 3;
inline constexpr int child_call_fd = 4;

struct child_result {
    enum class end { answered, died, timed_out, interrupted };
    end how = end::died;
    std::string answer;              ///< answered: what it wrote, not yet parsed
    int exit_code = 0;
    int signal = 0;                  ///< that ended it; 0: none
    std::string call;                ///< driver call in which it was when it ended, or empty
    std::string last_words;          ///< last line of its standard error
    std::int64_t process = 0;
    bool left_behind = false;        ///< it could not be killed (stuck in the kernel) and was not waited for
};

/// Runs `program arguments...` with `request` on its standard input. `timeout` 0: none. Never waits without end: a child
/// that does not die within five seconds of SIGKILL is left behind.
child_result run_child(const std::string& program, const std::vector<std::string>& arguments, const std::string& request,
                       std::chrono::milliseconds timeout, const std::atomic<bool>* stop);

/// Path of this program.
std::string own_program();

}  // namespace vrambench
