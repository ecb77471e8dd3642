#include "bench/child_process.hpp"

#include "device/device.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace vrambench {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds patience{100};           // between looks at the stop flag and the deadline
constexpr milliseconds dying_time{5000};
constexpr std::size_t most_words = 4096;        // of standard error that are kept
constexpr std::size_t most_answer = 256u << 20;

class descriptor {
public:
    explicit descriptor(int fd = -1) : fd_(fd) {}
    ~descriptor() { reset(); }
    descriptor(descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
    descriptor& operator=(descriptor&& o) noexcept
    {
        reset();
        fd_ = std::exchange(o.fd_, -1);
        return *this;
    }
    int get() const { return fd_; }
    void reset()
    {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

private:
    int fd_;
};

struct pipe_ends {
    descriptor read, write;
};

pipe_ends make_pipe()
{
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    return {descriptor(fds[0]), descriptor(fds[1])};
}

/// One shared byte: driver_call + 1, or 0.
class call_page {
public:
    call_page() : fd_(::memfd_create("vrambench-call", MFD_CLOEXEC))
    {
        if (fd_.get() < 0 || ::ftruncate(fd_.get(), 4096) != 0) return;
        void* p = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd_.get(), 0);
        if (p != MAP_FAILED) byte_ = static_cast<const volatile std::uint8_t*>(p);
    }
    ~call_page()
    {
        if (byte_) ::munmap(const_cast<std::uint8_t*>(byte_), 4096);
    }
    call_page(const call_page&) = delete;
    int fd() const { return fd_.get(); }
    std::string name() const
    {
        const unsigned n = byte_ ? *byte_ : 0u;
        return n == 0 || n > driver_call_kinds ? "" : to_string(static_cast<driver_call>(n - 1));
    }

private:
    descriptor fd_;
    const volatile std::uint8_t* byte_ = nullptr;
};

/// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(const char* program, char* const* argv, int in, int answer, int err, int call, int parent)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);    // a parent that is killed leaves no child behind
    if (::getppid() != parent) ::_exit(127);
    ::setpgid(0, 0);                       // the terminal's interrupt is the parent's business
    const int nowhere = ::open("/dev/null", O_WRONLY);
    // Out of the way of 0 to 4 first, so that none overwrites another.
    const int sources[5] = {::fcntl(in, F_DUPFD, 16), ::fcntl(nowhere, F_DUPFD, 16), ::fcntl(err, F_DUPFD, 16),
                            ::fcntl(answer, F_DUPFD, 16), ::fcntl(call, F_DUPFD, 16)};
    for (int target = 0; target < 5; ++target)
        if (sources[target] >= 0) {
            ::dup2(sources[target], target);
            ::close(sources[target]);
        }
    ::execv(program, argv);
    ::_exit(127);
}

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

/// Reads some of what is there; false at the end. A child that writes without pause must not keep us from the clock.
bool drain(int fd, std::string& into)
{
    std::array<char, 65536> buffer;
    for (int i = 0; i < 64; ++i) {
        const ssize_t n = ::read(fd, buffer.data(), buffer.size());
        if (n == 0) return false;
        if (n < 0) return errno == EAGAIN || errno == EINTR;
        into.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return true;
}

bool drain_words(int fd, std::string& words)
{
    const bool open = drain(fd, words);
    if (words.size() > most_words) words.erase(0, words.size() - most_words);
    return open;
}

void send(int fd, const std::string& text)
{
    std::size_t at = 0;
    while (at < text.size()) {
        const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;    // the child is gone: its end says more
        at += static_cast<std::size_t>(n);
    }
}

std::string last_line(const std::string& text)
{
    const auto end = text.find_last_not_of("\n\r ");
    if (end == std::string::npos) return "";
    const auto begin = text.find_last_of('\n', end);
    return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// Whether the child has ended; notes how.
bool ended(pid_t child, child_result& result)
{
    int state = 0;
    const pid_t got = ::waitpid(child, &state, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return false;
    if (got == child && WIFEXITED(state)) result.exit_code = WEXITSTATUS(state);
    if (got == child && WIFSIGNALED(state)) result.signal = WTERMSIG(state);
    return true;
}

/// Ends the child and what it started, and waits for it, but not without end.
void end(pid_t child, child_result& result)
{
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);
    const auto deadline = steady_clock::now() + dying_time;
    while (!ended(child, result)) {
        if (steady_clock::now() > deadline) {
            result.left_behind = true;
            return;
        }
        std::this_thread::sleep_for(milliseconds(2));
    }
}

/// Listens until the child has ended (or closed its answer and ended), the deadline passes or somebody interrupts.
void listen(pid_t child, int answer, int err, milliseconds timeout, const std::atomic<bool>* stop, const call_page& call,
            std::string& words, child_result& result)
{
    const auto deadline = steady_clock::now() + timeout;
    bool answer_open = true, err_open = true;
    for (;;) {
        pollfd fds[2] = {{answer_open ? answer : -1, POLLIN, 0}, {err_open ? err : -1, POLLIN, 0}};    // a closed one would never let us sleep
        ::poll(fds, 2, answer_open ? static_cast<int>(patience.count()) : 2);
        answer_open = answer_open && drain(answer, result.answer);
        err_open = err_open && drain_words(err, words);
        if (ended(child, result)) {
            result.call = call.name();
            while (answer_open && result.answer.size() <= most_answer && drain(answer, result.answer) &&
                   ::poll(fds, 1, 0) > 0) {
            }
            ::kill(-child, SIGKILL);    // what it started does not outlive it
            return;
        }
        if (stop && stop->load()) result.how = child_result::end::interrupted;
        else if (timeout.count() > 0 && steady_clock::now() > deadline) result.how = child_result::end::timed_out;
        else if (result.answer.size() <= most_answer) continue;
        result.call = call.name();
        return end(child, result);
    }
}

}  // namespace

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

child_result run_child(const std::string& program, const std::vector<std::string>& arguments, const std::string& request,
                       milliseconds timeout, const std::atomic<bool>* stop)
{
    pipe_ends in = make_pipe(), answer = make_pipe(), err = make_pipe();
    call_page call;
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);

    const auto old_pipe = std::signal(SIGPIPE, SIG_IGN);
    const int parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    if (child == 0) become(program.c_str(), argv.data(), in.read.get(), answer.write.get(), err.write.get(), call.fd(), parent);
    in.read.reset(), answer.write.reset(), err.write.reset();
    send(in.write.get(), request);
    in.write.reset();
    set_nonblocking(answer.read.get());
    set_nonblocking(err.read.get());

    child_result result;
    result.process = child;
    std::string words;
    listen(child, answer.read.get(), err.read.get(), timeout, stop, call, words, result);
    drain_words(err.read.get(), words);
    std::signal(SIGPIPE, old_pipe);
    result.last_words = last_line(words);
    const bool died = result.how == child_result::end::died;
    if (died && result.signal == 0 && result.exit_code == 0 && !result.left_behind) result.how = child_result::end::answered;
    if (died && result.signal == 0) result.call.clear();
    return result;
}

}  // namespace vrambench
