#pragma once
// What is measured: allocators on the null device, brought into the state in which a call takes the path in question.

#include "allocators/allocator.hpp"
#include "bench/micro/bare_scan.hpp"
#include "bench/micro/null_device.hpp"
#include "workloads/trace.hpp"

#include <memory>
#include <vector>

namespace vrambench::micro {

/// A list pool that keeps `blocks` blocks of different sizes in a random order, and a request that the one of middle size
/// serves, so that the whole table is searched.
class warm_list_pool {
public:
    explicit warm_list_pool(int blocks);

    allocator& pool() { return *pool_; }
    std::uint64_t request() const { return request_; }
    /// Larger than every block: a miss.
    std::uint64_t too_large() const { return too_large_; }
    /// The same table for the bare scan.
    const scan_table& table() const { return table_; }

    /// One allocate that hits and the free that puts the block back.
    void pair()
    {
        const allocation a = pool_->allocate(request_, 128, 0);
        pool_->deallocate(a.pointer, a.granted_bytes, 0);
    }

private:
    null_device device_;
    std::unique_ptr<allocator> pool_;
    scan_table table_{};
    std::uint64_t request_ = 0, too_large_ = 0;
};

/// An allocator by its spec, warmed with one pair of `bytes`; `ideal` is prepared for just this pair. `faults`: on a device
/// with injected faults that are never due.
class warm_allocator {
public:
    warm_allocator(const char* spec, std::uint64_t bytes, bool faults = false);

    allocator& subject() { return *subject_; }
    void pair()
    {
        const allocation a = subject_->allocate(bytes_, 128, 0);
        subject_->deallocate(a.pointer, a.granted_bytes, 0);
    }

private:
    std::unique_ptr<device> device_;
    std::unique_ptr<allocator> subject_;
    std::uint64_t bytes_;
};

}  // namespace vrambench::micro
