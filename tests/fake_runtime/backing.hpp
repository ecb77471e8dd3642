#pragma once
// Host memory behind simulated addresses, so that kernels really write and read. A program sees host addresses; the simulated
// device decides where they would be. Nothing is committed before it is touched.

#include "device/device.hpp"

#include <cstdint>
#include <map>

namespace vrambench::fake {

/// Host memory, given back at the end; null where the host has none.
class host_range {
public:
    host_range() = default;
    host_range(std::uint64_t bytes, bool accessible);
    ~host_range();
    host_range(host_range&& other) noexcept;
    host_range& operator=(host_range&& other) noexcept;

    std::uint64_t base() const { return base_; }
    std::uint64_t bytes() const { return bytes_; }

private:
    std::uint64_t base_ = 0, bytes_ = 0;
};

/// What handles hold: one sparse file, so that the same memory can be mapped anywhere, and again.
class handle_store {
public:
    handle_store();
    ~handle_store();
    handle_store(const handle_store&) = delete;

    std::uint64_t place(std::uint64_t bytes);                       ///< an offset in the file that nobody has
    void forget(std::uint64_t offset, std::uint64_t bytes);         ///< its contents read as zero from now on
    void map(std::uint64_t at, std::uint64_t bytes, std::uint64_t offset);    ///< not yet accessible
    static void open(std::uint64_t at, std::uint64_t bytes);        ///< for reading and writing
    static void unmap(std::uint64_t at, std::uint64_t bytes);

private:
    int file_;
    std::uint64_t next_ = 0;
};

/// Addresses that kernels may touch.
class accessible_ranges {
public:
    void add(std::uint64_t begin, std::uint64_t bytes);
    void remove(std::uint64_t begin, std::uint64_t bytes);          ///< ranges that begin within it
    bool covers(std::uint64_t begin, std::uint64_t bytes) const;

private:
    std::map<std::uint64_t, std::uint64_t> ends_;                   ///< by begin
};

}  // namespace vrambench::fake
