#pragma once
// A second process on a card that takes memory and gives it back when told: another application, as the allocator under
// test meets it. It dies with the process that started it, and holds no memory that this one did not tell it to take.

#include "bench/runner.hpp"

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace vrambench {

/// `program child neighbour` on a device of its own opening. Throws unsupported_error, with one line, where
/// it does not start, dies, or does not answer within a minute.
class neighbour_process final : public outside_memory {
public:
    neighbour_process(const std::string& program, const std::string& device_spec);
    ~neighbour_process() override;       ///< ends it and waits, two seconds at most before it is killed
    neighbour_process(const neighbour_process&) = delete;
    neighbour_process& operator=(const neighbour_process&) = delete;

    bool take(std::uint64_t bytes) override;
    void give_back() override;
    pid_t process() const { return child_; }

private:
    void end();
    std::string ask(const std::string& line);
    std::string answer();

    pid_t child_ = -1;
    int socket_ = -1;
    std::string unread_;
};

/// The other side: obeys the lines of standard input until it ends. Returns the exit code.
int neighbour_main();

}  // namespace vrambench
