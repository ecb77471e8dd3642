#pragma once
// What must hold of something that was read, and the first of it that does not: one finding is enough to look at a cell.

#include "spec/errors.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vrambench::checking {

class expectations {
public:
    /// `from` says what the value follows from: "its trace".
    void same(std::string_view what, std::uint64_t stored, std::uint64_t follows, std::string_view from)
    {
        if (stored != follows && !broken_) differs(what, std::to_string(stored), std::to_string(follows), from);
    }
    void same(std::string_view what, const std::string& stored, const std::string& follows, std::string_view from)
    {
        if (stored != follows && !broken_) differs(what, in_quotes(stored), in_quotes(follows), from);
    }
    void at_least(std::string_view what, std::uint64_t stored, std::uint64_t least, std::string_view from)
    {
        if (stored < least && !broken_)
            broken_ = std::string(what) + " is " + std::to_string(stored) + ", but at least " + std::to_string(least) +
                      " follows from " + std::string(from);
    }
    /// `otherwise` is the finding.
    void holds(bool condition, std::string_view otherwise)
    {
        if (!condition && !broken_) broken_ = std::string(otherwise);
    }

    const std::optional<std::string>& broken() const { return broken_; }

private:
    void differs(std::string_view what, const std::string& stored, const std::string& follows, std::string_view from)
    {
        broken_ = std::string(what) + " is " + stored + ", but " + follows + " follows from " + std::string(from);
    }

    std::optional<std::string> broken_;
};

}  // namespace vrambench::checking
