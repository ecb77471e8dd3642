#pragma once
// SIGINT, for commands that keep what they have measured.

#include <atomic>

namespace vrambench {

/// While it lives, a first SIGINT sets `flag()`; a second one ends the program at once. One at a time.
class interrupt_guard {
public:
    interrupt_guard();
    ~interrupt_guard();
    interrupt_guard(const interrupt_guard&) = delete;
    interrupt_guard& operator=(const interrupt_guard&) = delete;

    const std::atomic<bool>* flag() const;
};

/// Whether a SIGINT came while such a guard lived; from any thread.
bool interrupt_requested();

}  // namespace vrambench
