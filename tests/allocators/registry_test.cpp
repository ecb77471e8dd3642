// The names that a user can type for allocators.

#include "allocators/registry.hpp"
#include "spec/errors.hpp"
#include "tests/allocators/scripted_device.hpp"
#include "tests/allocators/specs.hpp"

#include <gtest/gtest.h>

namespace vrambench::test {
namespace {

TEST(allocator_names, the_canonical_spec_has_every_key)
{
    EXPECT_EQ(choose_allocator("direct").spec, "direct");
    EXPECT_EQ(choose_allocator("legacy").spec, "legacy:retry=none");
    EXPECT_EQ(choose_allocator("async").spec, "async:threshold=max,retry=none,pool=own");
    EXPECT_EQ(choose_allocator("async:threshold=64MiB").spec, "async:threshold=64MiB,retry=none,pool=own");
    EXPECT_EQ(choose_allocator("vmm").spec, "vmm:handle=granularity");
}

TEST(allocator_names, a_canonical_spec_chooses_itself)
{
    for (const auto& text : all_specs()) EXPECT_EQ(choose_allocator(choose_allocator(text).spec).spec, choose_allocator(text).spec);
}

TEST(allocator_names, the_alias_and_its_spec_are_one_allocator)
{
    const allocator_choice alias = choose_allocator("legacy-retry"), spelled = choose_allocator("legacy:retry=flush");
    EXPECT_EQ(alias.name, "legacy-retry");
    EXPECT_EQ(spelled.name, "legacy-retry");
    EXPECT_EQ(alias.spec, "legacy:retry=flush");
    EXPECT_EQ(spelled.spec, alias.spec);
    EXPECT_NE(alias.title, choose_allocator("legacy").title);
}

TEST(allocator_names, what_does_not_exist_is_an_input_error_with_a_suggestion)
{
    for (const auto& [text, hint] : {std::pair{"legcy", "legacy"}, {"async:retry=flush", "sync"}, {"legacy:retri=none", "retry"},
                                     {"async:threshold=lots", "threshold"}, {"direct:x=1", "direct"}, {"vmm:handle=0", "handle"}})
        try {
            choose_allocator(text);
            ADD_FAILURE() << text;
        } catch (const input_error& e) {
            EXPECT_NE(std::string(e.what()).find(hint), std::string::npos) << e.what();
            EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
        }
}

TEST(allocator_names, all_of_them_can_be_made)
{
    for (const auto& text : all_specs()) {
        scripted_device dev;
        EXPECT_NE(make(text, dev, 1), nullptr) << text;
        EXPECT_NE(make(text, dev, 3), nullptr) << text;
    }
    for (const auto* e : allocator_entries()) EXPECT_NO_THROW(choose_allocator(e->name));
}

}  // namespace
}  // namespace vrambench::test
