#pragma once
// The card that these tests run on, and what is the same in all of them.

#include "device/registry.hpp"
#include "spec/errors.hpp"
#include "tests/runner/bench_setup.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace vrambench::test {

inline std::string card_spec()
{
    const char* chosen = std::getenv("VRAMBENCH_CARD");
    return chosen && *chosen ? chosen : "cuda:0";
}

/// Why there is no card to test on; empty where there is one.
inline const std::string& no_card()
{
    static const std::string why = []() -> std::string {
        try {
            open_device(choose_device(card_spec()), {});
            return "";
        } catch (const input_error& e) {
            return e.what();
        }
    }();
    return why;
}

/// Skips its tests, by name, where there is no card.
class on_card : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (!no_card().empty()) GTEST_SKIP() << no_card();
    }

    static cell card_cell(std::shared_ptr<const trace> t, const std::string& allocator, std::uint64_t limit = 0)
    {
        return cell_of(std::move(t), allocator, card_spec(), limit);
    }
};

}  // namespace vrambench::test
