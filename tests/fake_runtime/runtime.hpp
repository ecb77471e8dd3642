#pragma once
// What is behind all calls of a fake runtime: the cards, the current one, the last error, faults.

#include "tests/fake_runtime/fake_gpu.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace vrambench::fake {

class runtime {
public:
    /// Made at the first call, from VRAMBENCH_FAKE_RUNTIME; never destroyed, since programs call until their very end.
    static runtime& the();

    /// Runs `body` as the call `name` ("Malloc"): faults and a broken card first, what it throws becomes a status.
    int call(const char* name, const std::function<void()>& body);
    /// The same for a call of CUDA's driver, which leaves the runtime's last error as it is.
    int driver_call(const char* name, const std::function<void()>& body);
    /// The same for a call that concerns no card.
    int question(const char* name, const std::function<void()>& body);
    int take_last_error();

    card& current();
    void select(int ordinal);
    card& at(int ordinal);
    int selected() const { return static_cast<int>(selected_); }
    const switches& how() const { return how_; }

    /// Sets switches and forgets calls, log and cards, as a new process would. What still lives on the cards is lost.
    void control(const char* settings);
    /// Sets switches in the middle of things.
    void arm(const char* settings) { how_.apply(settings); }
    /// "log": one line a driver call, as to_string(driver_call) and its bytes. "alive": what was not given back. "calls": names of
    /// the calls made, one a line. Valid until the next question.
    const char* report(const std::string& what);

    // Kernels, as compilers register and launch them.
    void register_kernel(const void* host, const char* mangled_name);
    void push_stream(std::uint64_t stream) { pushed_stream_ = stream; }
    std::uint64_t pushed_stream() const { return pushed_stream_; }
    int launch(const void* host, void** arguments, std::uint64_t stream);

private:
    runtime();
    int finish(int code);
    bool is_to_fail(const std::string& name);

    switches how_;
    std::vector<std::string> log_, calls_;
    std::vector<std::unique_ptr<card>> cards_;
    std::size_t selected_ = 0;
    int last_error_ = 0;
    std::string answer_;
    std::map<const void*, kernel_maker> kernels_;
    std::uint64_t pushed_stream_ = 0;
};

}  // namespace vrambench::fake
