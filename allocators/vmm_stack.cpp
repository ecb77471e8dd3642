#include "allocators/vmm_stack.hpp"

#include "spec/units.hpp"

namespace vrambench {

namespace {

std::uint64_t unit_for(const device& dev, std::uint64_t growth_unit)
{
    const std::uint64_t granularity = dev.info().vmm_granularity;
    if (const std::string& why = dev.info().why_no_virtual_memory; !why.empty()) throw unsupported_error(why);
    if (granularity == 0) throw unsupported_error("the device has no virtual memory management");
    return growth_unit == 0 ? granularity : round_up(growth_unit, granularity);
}

}  // namespace

vmm_stack::vmm_stack(device& dev, std::uint64_t growth_unit) : device_(dev), unit_(unit_for(dev, growth_unit)) {}

vmm_stack::~vmm_stack()
{
    if (!base_) return;
    quietly([&] {
        if (reserved_) device_.unmap(base_, reserved_);
        device_.unreserve(base_, reservation);
    });
}

allocation vmm_stack::allocate(std::uint64_t bytes, std::uint64_t, stream_id)
{
    const std::uint64_t size = round_up(bytes, grain);
    path how = path::hit;
    if (size > reserved_ - used_) {
        const std::uint64_t missing = round_up(size - (reserved_ - used_), unit_);
        const failure why = grow(missing);
        if (why != failure::none) {
            counter_.failed();
            const std::uint64_t kept = round_up(used_, unit_);    // whole units beyond it could go back
            return {.why = why, .work = 1, .asked_bytes = round_up(used_ + size, unit_) - kept,
                    .beside_bytes = device_.info().handle_margin};
        }
        how = path::grow;
    }
    const device_ptr p = base_ + used_;
    used_ += size;
    counter_.handed_out(size);
    return {.pointer = p, .granted_bytes = size, .how = how, .work = 1};
}

/// Maps `bytes` more. The calls and their order are the original's: create, reserve (the first time), map, release (the
/// mapping keeps the memory), set access.
failure vmm_stack::grow(std::uint64_t bytes)
{
    if (bytes > reservation - reserved_) return failure::address_space;
    vmm_handle handle = device_.create(bytes);
    if (!handle) return failure::memory;
    device_ptr mapped = 0;
    try {
        if (!base_ && !(base_ = device_.reserve(reservation))) {
            device_.release(handle);
            return failure::address_space;
        }
        const device_ptr end = base_ + reserved_;
        device_.map(end, bytes, handle);
        mapped = end;
        device_.release(handle);
        handle = 0;
        device_.set_access(end, bytes);
    } catch (...) {    // nothing of a growth that went wrong half-way may stay
        if (mapped) quietly([&] { device_.unmap(mapped, bytes); });
        if (handle) quietly([&] { device_.release(handle); });
        throw;
    }
    reserved_ += bytes;
    counter_.reserved_is(reserved_);
    return failure::none;
}

deallocation vmm_stack::deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id)
{
    if (granted_bytes > used_ || pointer != base_ + used_ - granted_bytes)
        throw policy_error("vmm: a block was freed that is not the last one allocated");
    used_ -= granted_bytes;
    counter_.taken_back(granted_bytes, reserved_);
    return {.how = path::hit, .work = 1};
}

}  // namespace vrambench
