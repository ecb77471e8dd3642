#pragma once
// What one process found out about one question, and its way to the parent.

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace vrambench::probing {

/// How a verdict is to be taken.
enum class level : std::uint8_t {
    fine,       ///< as documented, or as an allocator would want it
    costly,     ///< correct, but an allocator pays for it
    open,       ///< not answered: not supported, not enough memory, no second device
    broken,     ///< wrong: against its documentation, or a call that crashes, hangs or fails
};
inline constexpr int levels = 4;
const char* to_string(level l);

struct answer {
    std::string verdict;                     ///< a few words: "waits for the kernel"
    level how = level::fine;
    std::string evidence;                    ///< one line, with figures
    std::map<std::string, std::uint64_t> numbers = {};   ///< for what is judged over several processes
};

struct finding {
    std::string id;                          ///< "wait.malloc", stable over versions
    std::string question;                    ///< for people: "malloc of 64 MiB behind a kernel"
    answer found;
};

nlohmann::json to_json(const finding& f);
/// Throws input_error or the library's exception on anything that is not a finding.
finding finding_from(const nlohmann::json& j);

}  // namespace vrambench::probing
