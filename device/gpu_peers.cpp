#include "device/gpu_peers.hpp"

#include VRAMBENCH_VENDOR_NAMES
#include "spec/units.hpp"

#include <vector>

namespace vrambench::gpu::inline VRAMBENCH_VENDOR {

namespace {

/// A line for a refused call; empty for one that was served.
std::string refusal(const char* what, int code)
{
    if (!code) return "";
    take_last_error();
    return std::string(what) + ": " + error_name(code) + " (" + std::to_string(code) + ")";
}

void check(driver_call call, int code)
{
    if (!code) return;
    take_last_error();
    throw device_error(call, code, error_name(code), "between two devices");
}

void select(int ordinal)
{
    if (const int e = select_device(ordinal))
        throw unsupported_error(refusal(("device " + std::to_string(ordinal) + " cannot be used").c_str(), e));
}

/// Memory of one device, given back at the end of the scope.
class block_on {
public:
    block_on(int ordinal, std::uint64_t bytes) : ordinal_(ordinal)
    {
        select(ordinal);
        const int e = VRAMBENCH_VENDOR::malloc(&pointer_, bytes);
        if (!e) return;
        take_last_error();
        if (e != out_of_memory) throw device_error(driver_call::malloc, e, error_name(e), error_text(e));
        throw unsupported_error("device " + std::to_string(ordinal) + " has no " + human_size(bytes) + " free");
    }
    ~block_on()
    {
        select_device(ordinal_);
        VRAMBENCH_VENDOR::free(pointer_);
        take_last_error();
    }
    block_on(const block_on&) = delete;
    void* get() const { return pointer_; }

private:
    int ordinal_;
    void* pointer_ = nullptr;
};

/// Access of the selected device to memory of `from`, where the driver grants it, until the end of the scope.
class access_to {
public:
    access_to(int to, int from) : to_(to), from_(from), refusal_(refusal("enabling access", enable_peer(from))) {}
    ~access_to()
    {
        if (!refusal_.empty()) return;
        select_device(to_);
        disable_peer(from_);
        take_last_error();
    }
    access_to(const access_to&) = delete;
    const std::string& refused() const { return refusal_; }

private:
    int to_, from_;
    std::string refusal_;
};

/// Every word differs from its neighbours, so that what is moved shows as well as what is missing.
std::vector<std::uint64_t> pattern(int from, std::uint64_t bytes)
{
    std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = (i + 1) * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(from);
    return words;
}

void copy_over(peer_trial& t, int to, int from, std::uint64_t bytes)
{
    const block_on source(from, bytes);
    const std::vector<std::uint64_t> sent = pattern(from, bytes);
    check(driver_call::launch, copy_in(source.get(), sent.data(), bytes));
    check(driver_call::sync, device_sync());
    const block_on target(to, bytes);
    check(driver_call::launch, fill(target.get(), 0xff, bytes));    // so that an older copy is not taken for this one
    check(driver_call::sync, device_sync());
    t.copy_refused = refusal("the copy", copy_peer(target.get(), to, source.get(), from, bytes));
    if (!t.copy_refused.empty()) return;
    check(driver_call::sync, device_sync());
    std::vector<std::uint64_t> arrived(sent.size());
    check(driver_call::launch, copy_out(arrived.data(), target.get(), bytes));
    for (std::size_t i = 0; i < sent.size(); ++i) t.wrong_words += arrived[i] != sent[i];
}

}  // namespace

peer_trial try_peer(int to, int from, std::uint64_t bytes)
{
    peer_trial t;
    int stated = 0;
    check(driver_call::memory_info, can_access_peer(&stated, to, from));
    t.stated = stated != 0;
    if (!t.stated) {
        copy_over(t, to, from, bytes);
        return t;
    }
    select(from);    // its context has to be there before access to it is enabled
    select(to);
    const access_to access(to, from);
    t.access_refused = access.refused();
    copy_over(t, to, from, bytes);
    return t;
}

}  // namespace vrambench::gpu
