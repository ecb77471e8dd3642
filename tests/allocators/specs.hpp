#pragma once
// Every allocator that a user can choose, for suites that hold for all of them.

#include "allocators/registry.hpp"

#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vrambench::test {

inline const std::vector<std::string>& all_specs()
{
    static const std::vector<std::string> specs = {
        "direct", "legacy", "legacy-retry", "async", "async:retry=sync", "async:retry=trim", "async:threshold=0",
        "async:pool=default", "vmm", "vmm:handle=64MiB", "ideal",
    };
    return specs;
}

inline std::unique_ptr<allocator> make(std::string_view spec, device& dev, std::uint32_t streams = 1)
{
    return make_allocator(choose_allocator(spec), dev, streams);
}

/// "async:retry=sync" as a test name: "async_retry_sync".
inline std::string test_name(std::string text)
{
    for (auto& c : text)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return text;
}

}  // namespace vrambench::test
