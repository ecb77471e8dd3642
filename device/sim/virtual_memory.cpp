#include "device/sim/virtual_memory.hpp"

namespace vrambench::sim {

namespace {

[[noreturn]] void invalid(driver_call call, const std::string& why) { throw device_error(call, 1, "invalid value", why); }

}  // namespace

virtual_memory::virtual_memory(physical_memory& memory, std::uint64_t granularity, std::uint64_t margin,
                               std::uint64_t address_space, device_ptr base)
    : memory_(memory), granularity_(granularity), margin_(margin), space_left_(address_space), next_(base)
{
}

void virtual_memory::check_size(driver_call call, std::uint64_t bytes) const
{
    if (granularity_ == 0) throw unsupported_error("the device has no virtual memory management");
    if (bytes == 0 || bytes % granularity_ != 0)
        invalid(call, std::to_string(bytes) + " bytes is not a multiple of the granularity " + std::to_string(granularity_));
}

device_ptr virtual_memory::reserve(std::uint64_t bytes)
{
    check_size(driver_call::reserve, bytes);
    if (bytes > space_left_) return 0;
    space_left_ -= bytes;
    const device_ptr p = next_;
    next_ += bytes;
    reservations_[p] = bytes;
    return p;
}

void virtual_memory::unreserve(device_ptr pointer, std::uint64_t bytes)
{
    const auto it = reservations_.find(pointer);
    if (it == reservations_.end() || it->second != bytes) invalid(driver_call::unreserve, "no such reservation");
    if (overlaps_mapping(pointer, bytes)) invalid(driver_call::unreserve, "memory is still mapped there");
    reservations_.erase(it);
    space_left_ += bytes;
}

vmm_handle virtual_memory::create(std::uint64_t bytes)
{
    check_size(driver_call::create, bytes);
    if (!memory_.take(bytes, margin_)) return 0;
    handles_[++last_handle_] = {bytes, 0, false};
    return last_handle_;
}

bool virtual_memory::reserved(device_ptr pointer, std::uint64_t bytes) const
{
    auto it = reservations_.upper_bound(pointer);
    if (it == reservations_.begin()) return false;
    --it;
    return pointer + bytes <= it->first + it->second;
}

bool virtual_memory::overlaps_mapping(device_ptr pointer, std::uint64_t bytes) const
{
    const auto next = mappings_.lower_bound(pointer);
    if (next != mappings_.end() && next->first < pointer + bytes) return true;
    if (next == mappings_.begin()) return false;
    const auto before = std::prev(next);
    return before->first + before->second.bytes > pointer;
}

void virtual_memory::map(device_ptr pointer, std::uint64_t bytes, vmm_handle handle)
{
    check_size(driver_call::map, bytes);
    const auto it = handles_.find(handle);
    if (it == handles_.end() || it->second.released) invalid(driver_call::map, "no such handle");
    if (it->second.bytes != bytes) invalid(driver_call::map, "the handle has another size");
    if (!reserved(pointer, bytes)) invalid(driver_call::map, "the address range is not reserved");
    if (overlaps_mapping(pointer, bytes)) invalid(driver_call::map, "the address range is mapped already");
    ++it->second.mappings;
    mappings_[pointer] = {bytes, handle, false};
}

template <class F> void virtual_memory::each_mapping(driver_call call, device_ptr pointer, std::uint64_t bytes, F f)
{
    check_size(call, bytes);
    device_ptr at = pointer;
    for (auto it = mappings_.find(pointer); at < pointer + bytes; it = mappings_.find(at)) {
        if (it == mappings_.end() || at + it->second.bytes > pointer + bytes)
            invalid(call, "the range is not made of whole mappings");
        at += it->second.bytes;
    }
    for (auto it = mappings_.find(pointer); it != mappings_.end() && it->first < pointer + bytes;) it = f(it);
}

void virtual_memory::set_access(device_ptr pointer, std::uint64_t bytes)
{
    each_mapping(driver_call::set_access, pointer, bytes, [](auto it) {
        it->second.accessible = true;
        return std::next(it);
    });
}

std::vector<virtual_memory::unmapped> virtual_memory::unmap(device_ptr pointer, std::uint64_t bytes)
{
    std::vector<unmapped> gone;
    each_mapping(driver_call::unmap, pointer, bytes, [&](auto it) {
        const vmm_handle h = it->second.handle;
        const std::uint64_t size = it->second.bytes;
        const auto next = mappings_.erase(it);
        --handles_[h].mappings;
        gone.push_back({size, drop_if_unused(h) != 0});
        return next;
    });
    return gone;
}

std::uint64_t virtual_memory::release(vmm_handle handle)
{
    const auto it = handles_.find(handle);
    if (it == handles_.end() || it->second.released) invalid(driver_call::release, "no such handle");
    it->second.released = true;
    return drop_if_unused(handle);
}

std::uint64_t virtual_memory::drop_if_unused(vmm_handle handle)
{
    const auto it = handles_.find(handle);
    if (!it->second.released || it->second.mappings != 0) return 0;
    const std::uint64_t bytes = it->second.bytes;
    memory_.give(bytes);
    handles_.erase(it);
    return bytes;
}

}  // namespace vrambench::sim
