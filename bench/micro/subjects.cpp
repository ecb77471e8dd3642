#include "bench/micro/subjects.hpp"

#include "allocators/registry.hpp"
#include "device/injected_faults.hpp"

#include <algorithm>
#include <random>

namespace vrambench::micro {

namespace {

/// One block, allocated and freed.
class one_pair final : public trace {
public:
    explicit one_pair(std::uint64_t bytes) : bytes_(bytes)
    {
        header_.name = header_.spec = "pair";
        header_.tags = {"block"};
        header_.phases = {"all"};
    }
    const trace_header& header() const override { return header_; }
    std::unique_ptr<trace_source> open() const override
    {
        class reader final : public trace_source {
        public:
            explicit reader(std::uint64_t bytes) : bytes_(bytes) {}
            bool fill(event_batch& batch) override
            {
                batch.clear();
                if (done_) return false;
                batch.events.push_back({.kind = event_kind::alloc, .bytes = bytes_});
                batch.events.push_back({.kind = event_kind::free});
                return done_ = true;
            }

        private:
            std::uint64_t bytes_;
            bool done_ = false;
        };
        return std::make_unique<reader>(bytes_);
    }

private:
    trace_header header_;
    std::uint64_t bytes_;
};

}  // namespace

warm_list_pool::warm_list_pool(int blocks) : pool_(make_allocator(choose_allocator("legacy"), device_, 1))
{
    std::vector<std::uint64_t> sizes;
    for (int i = 0; i < blocks; ++i) sizes.push_back((std::uint64_t{1} << 20) + static_cast<std::uint64_t>(i) * 65536);
    request_ = sizes[static_cast<std::size_t>(blocks) / 2];
    too_large_ = 2 * sizes.back();
    std::shuffle(sizes.begin(), sizes.end(), std::mt19937(1));
    std::vector<allocation> held;
    for (const auto bytes : sizes) held.push_back(pool_->allocate(bytes, 128, 0));
    for (std::size_t i = 0; i < held.size(); ++i) {
        pool_->deallocate(held[i].pointer, held[i].granted_bytes, 0);
        table_[i] = {held[i].pointer, held[i].granted_bytes};
    }
}

warm_allocator::warm_allocator(const char* spec, std::uint64_t bytes, bool faults)
    : device_(std::make_unique<null_device>()), bytes_(bytes)
{
    if (faults) device_ = inject_faults(std::move(device_), parse_fault_rule("oom@1000000000000", 1));
    subject_ = make_allocator(choose_allocator(spec), *device_, 1);
    const one_pair t(bytes);
    subject_->prepare(t, summarise(t));
    pair();
}

}  // namespace vrambench::micro
