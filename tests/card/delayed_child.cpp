// Answers for `vrambench child ...` (VRAMBENCH_CHILD_PROGRAM) with every allocate call of the measured allocator, but not of
// `ideal`, longer by VRAMBENCH_TEST_DELAY_NS on the mean: a difference of known size, to see whether `compare` finds it.

#include "bench/remote.hpp"

#include <chrono>
#include <cstdlib>
#include <string>

namespace vrambench::test {

namespace {

/// Forwards everything; each 16th allocate call waits for 16 delays, since reading a clock takes about as long as one.
class delayed final : public allocator {
public:
    delayed(std::unique_ptr<allocator> inner, std::chrono::nanoseconds delay) : inner_(std::move(inner)), wait_(every * delay) { follow(); }

    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override
    {
        if (++calls_ % every == 0) wait();
        const allocation a = inner_->allocate(bytes, alignment, stream);
        follow();
        return a;
    }
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override
    {
        const deallocation d = inner_->deallocate(pointer, granted_bytes, stream);
        follow();
        return d;
    }
    std::uint64_t trim(std::uint64_t keep_bytes) override
    {
        const std::uint64_t given_back = inner_->trim(keep_bytes);
        follow();
        return given_back;
    }
    void prepare(const trace& t, const trace_summary& summary) override { inner_->prepare(t, summary), follow(); }
    void notify(notification what) override { inner_->notify(what), follow(); }
    std::uint64_t address_epoch() const override { return inner_->address_epoch(); }
    void after_call(allocation* a) override { inner_->after_call(a), follow(); }
    allocator_stats stats() const override { return inner_->stats(); }
    recovery_times take_recovery() override { return inner_->take_recovery(); }
    const recovery_trace* last_recovery(stream_id stream) const override { return inner_->last_recovery(stream); }
    allocator_traits traits() const override { return inner_->traits(); }
    std::vector<std::uint64_t> cached_blocks() const override { return inner_->cached_blocks(); }
    std::uint64_t largest_unused_block(stream_id stream) override { return inner_->largest_unused_block(stream); }

private:
    static constexpr std::uint64_t every = 16;

    void wait() const
    {
        const auto end = std::chrono::steady_clock::now() + wait_;
        while (std::chrono::steady_clock::now() < end) {}
    }
    void follow()
    {
        reserved_ = inner_->reserved_bytes();
        asks_after_calls_ = inner_->asks_after_calls();
    }

    std::unique_ptr<allocator> inner_;
    std::chrono::nanoseconds wait_;
    std::uint64_t calls_ = 0;
};

std::unique_ptr<allocator> with_delay(std::unique_ptr<allocator> inner, const cell& c)
{
    const char* nanoseconds = std::getenv("VRAMBENCH_TEST_DELAY_NS");
    if (!nanoseconds || c.allocator.name == "ideal") return inner;
    return std::make_unique<delayed>(std::move(inner), std::chrono::nanoseconds(std::stoll(nanoseconds)));
}

}  // namespace

}  // namespace vrambench::test

int main(int argc, char** argv)
{
    return argc == 3 && std::string(argv[1]) == "child" ? vrambench::child_main(argv[2], vrambench::test::with_delay) : 2;
}
