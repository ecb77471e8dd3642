#include "bench/neighbour_process.hpp"

#include "device/registry.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace vrambench {

namespace {

constexpr int patience_ms = 60'000;          // a context may take seconds
constexpr std::chrono::milliseconds dying_time{2000};

[[noreturn]] void give_up(const std::string& why) { throw unsupported_error("the neighbour process " + why); }

/// In the child, between fork and exec: only calls that are safe there. It stays in its parent's process group, so that
/// whoever ends that ends it too.
[[noreturn]] void become(const char* program, char* const* argv, int socket, int parent)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(socket, 0);
    ::dup2(socket, 1);
    ::execv(program, argv);
    ::_exit(127);
}

bool wait_for_end(pid_t child)
{
    const auto deadline = std::chrono::steady_clock::now() + dying_time;
    while (::waitpid(child, nullptr, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

}  // namespace

neighbour_process::neighbour_process(const std::string& program, const std::string& device_spec)
{
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        give_up(std::string("could not be made: ") + std::strerror(errno));
    std::string words[3] = {program, "child", "neighbour"};
    char* const argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ == 0) become(program.c_str(), argv, ends[1], parent);
    ::close(ends[1]);
    socket_ = ends[0];
    if (child_ < 0) {
        ::close(socket_);
        give_up(std::string("could not be made: ") + std::strerror(errno));
    }
    try {
        if (const std::string said = ask("open " + device_spec); said != "ready") give_up("could not start: " + printable(said, 200));
    } catch (...) {
        end();
        throw;
    }
}

neighbour_process::~neighbour_process() { end(); }

void neighbour_process::end()
{
    if (socket_ >= 0) ::close(socket_);      // its input ends
    socket_ = -1;
    if (child_ > 0 && !wait_for_end(child_)) {
        ::kill(child_, SIGKILL);
        wait_for_end(child_);
    }
    child_ = -1;
}

bool neighbour_process::take(std::uint64_t bytes)
{
    const std::string said = ask("take " + std::to_string(bytes));
    if (said == "took") return true;
    if (said == "refused") return false;
    give_up("failed: " + printable(said, 200));
}

void neighbour_process::give_back()
{
    if (const std::string said = ask("give"); said != "gave") give_up("failed: " + printable(said, 200));
}

std::string neighbour_process::ask(const std::string& line)
{
    const std::string text = line + "\n";
    if (::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) give_up("is gone");
    return answer();
}

std::string neighbour_process::answer()
{
    for (;;) {
        if (const auto end = unread_.find('\n'); end != std::string::npos) {
            const std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        pollfd waiting{socket_, POLLIN, 0};
        const int ready = ::poll(&waiting, 1, patience_ms);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) give_up("did not answer within a minute");
        char buffer[4096];
        const ssize_t n = ::read(socket_, buffer, sizeof buffer);
        if (n <= 0) give_up("is gone");
        unread_.append(buffer, static_cast<std::size_t>(n));
    }
}

int neighbour_main()
{
    std::unique_ptr<device> dev;
    device_ptr held = 0;
    const auto obey = [&](const std::string& line) -> std::string {
        if (line.starts_with("open ")) {
            dev = open_device(choose_device(line.substr(5)), {});
            return "ready";
        }
        if (!dev) return "no device yet";
        if (line.starts_with("take ")) return !held && (held = dev->malloc(parse_size(line.substr(5), "take"))) ? "took" : "refused";
        if (line == "give" && held) return dev->free(std::exchange(held, 0)), "gave";
        return "what is " + in_quotes(line) + "?";
    };
    for (std::string line; std::getline(std::cin, line);) {
        try {
            std::cout << obey(line) << std::endl;
        } catch (const std::exception& e) {
            std::cout << printable(e.what()) << std::endl;
        }
    }
    return 0;
}

}  // namespace vrambench
