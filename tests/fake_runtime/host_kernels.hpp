#pragma once
// The project's kernels as host functions, found by the name that the compiler gave them. They do what device/kernels.cu does,
// on some words of each block instead of all: both ends, and one of every page in between.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace vrambench::fake {

/// A launch, with its arguments copied. What it touches can be asked before it runs.
class host_kernel {
public:
    virtual ~host_kernel() = default;
    virtual std::vector<std::pair<std::uint64_t, std::uint64_t>> touches() const = 0;    ///< address and bytes
    virtual std::int64_t picoseconds() const = 0;                                         ///< that it takes
    /// Runs it; it began and ended at these times of the device's own timer.
    virtual void run(std::uint64_t began_ns, std::uint64_t ended_ns) const = 0;
};

/// Makes the launch of a kernel from the compiler's name and the launch's argument pointers.
using kernel_maker = std::function<std::unique_ptr<host_kernel>(void** arguments)>;

/// Null where there is no kernel of that (mangled) name.
kernel_maker find_kernel(const char* mangled_name);

}  // namespace vrambench::fake
