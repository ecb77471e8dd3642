#include "allocators/direct.hpp"

namespace vrambench {

allocation direct::allocate(std::uint64_t bytes, std::uint64_t, stream_id)
{
    const device_ptr p = device_.malloc(bytes);
    if (!p) {
        counter_.failed();
        return {.why = failure::memory, .asked_bytes = bytes, .beside_bytes = device_.info().raw_margin};
    }
    reserved_ += bytes;
    counter_.handed_out(bytes);
    counter_.reserved_is(reserved_);
    return {.pointer = p, .granted_bytes = bytes, .how = path::driver};
}

deallocation direct::deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id)
{
    device_.free(pointer);
    reserved_ -= granted_bytes;
    counter_.taken_back(granted_bytes, reserved_);
    ++epoch_;
    return {.how = path::driver};
}

}  // namespace vrambench
