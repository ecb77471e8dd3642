#pragma once
// Raw memory that a measurement holds and gives back when it ends, however it ends.

#include "allocators/allocator.hpp"
#include "device/device.hpp"

#include <cstdint>
#include <vector>

namespace vrambench::costs {

class held_memory {
public:
    explicit held_memory(device& dev) : dev_(dev) {}
    ~held_memory()
    {
        for (const auto p : blocks_) quietly([&] { dev_.free(p); });
    }
    held_memory(const held_memory&) = delete;

    /// Takes one block; false when out of memory.
    bool take(std::uint64_t bytes)
    {
        const device_ptr p = dev_.malloc(bytes);
        if (p) blocks_.push_back(p);
        return p != 0;
    }
    /// Takes memory in blocks from the largest that fit down to 2 MiB until less than `bytes` + 2 MiB is free.
    void leave(std::uint64_t bytes)
    {
        std::uint64_t free_bytes = dev_.query_memory().free_bytes;
        for (std::uint64_t block = std::uint64_t{1} << 40; block >= smallest; block /= 2)
            while (free_bytes >= bytes + block && take(block)) free_bytes = dev_.query_memory().free_bytes;
    }
    /// Gives back what was taken last, until at least `bytes` are free.
    void give_back(std::uint64_t bytes)
    {
        while (!blocks_.empty() && dev_.query_memory().free_bytes < bytes) {
            dev_.free(blocks_.back());
            blocks_.pop_back();
        }
    }

    /// Takes small blocks until one takes memory of the device, and gives that one back: the next does not fit into memory
    /// that others hold.
    void fill_shared(std::uint64_t bytes)
    {
        constexpr int most = 20'000;
        const std::uint64_t free_before = dev_.query_memory().free_bytes;
        for (int i = 0; i < most && take(bytes); ++i)
            if (dev_.query_memory().free_bytes < free_before) return give_back(free_before);
    }

    static constexpr std::uint64_t smallest = std::uint64_t{2} << 20;

private:
    device& dev_;
    std::vector<device_ptr> blocks_;
};

}  // namespace vrambench::costs
