#include "tests/fake_runtime/backing.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace vrambench::fake {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t store_bytes = std::uint64_t{1} << 42;    // sparse

std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + page - 1) / page * page; }
void* at_address(std::uint64_t p) { return reinterpret_cast<void*>(p); }

void must(bool worked, const char* what)
{
    if (worked) return;
    std::perror(what);
    std::abort();
}

}  // namespace

host_range::host_range(std::uint64_t bytes, bool accessible) : bytes_(whole_pages(bytes))
{
    void* p = mmap(nullptr, bytes_, accessible ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) base_ = reinterpret_cast<std::uint64_t>(p);
}

host_range::~host_range()
{
    if (base_) munmap(at_address(base_), bytes_);
}

host_range::host_range(host_range&& other) noexcept : base_(std::exchange(other.base_, 0)), bytes_(other.bytes_) {}

host_range& host_range::operator=(host_range&& other) noexcept
{
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

handle_store::handle_store() : file_(memfd_create("vrambench-fake-handles", 0))
{
    must(file_ >= 0 && ftruncate(file_, static_cast<off_t>(store_bytes)) == 0, "fake runtime: memory for handles");
}

handle_store::~handle_store() { close(file_); }

std::uint64_t handle_store::place(std::uint64_t bytes) { return std::exchange(next_, next_ + whole_pages(bytes)); }

void handle_store::forget(std::uint64_t offset, std::uint64_t bytes)
{
    must(fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(whole_pages(bytes))) == 0,
         "fake runtime: giving a handle's memory back");
}

void handle_store::map(std::uint64_t at, std::uint64_t bytes, std::uint64_t offset)
{
    must(mmap(at_address(at), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, file_, static_cast<off_t>(offset)) != MAP_FAILED, "fake runtime: map");
}

void handle_store::open(std::uint64_t at, std::uint64_t bytes)
{
    must(mprotect(at_address(at), bytes, PROT_READ | PROT_WRITE) == 0, "fake runtime: set_access");
}

void handle_store::unmap(std::uint64_t at, std::uint64_t bytes)
{
    must(mmap(at_address(at), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED,
         "fake runtime: unmap");
}

void accessible_ranges::add(std::uint64_t begin, std::uint64_t bytes) { ends_[begin] = begin + bytes; }

void accessible_ranges::remove(std::uint64_t begin, std::uint64_t bytes)
{
    ends_.erase(ends_.lower_bound(begin), ends_.lower_bound(begin + bytes));
}

bool accessible_ranges::covers(std::uint64_t begin, std::uint64_t bytes) const
{
    std::uint64_t at = begin;
    while (at < begin + bytes) {
        auto it = ends_.upper_bound(at);
        if (it == ends_.begin()) return false;
        --it;
        if (it->second <= at) return false;
        at = it->second;
    }
    return true;
}

}  // namespace vrambench::fake
