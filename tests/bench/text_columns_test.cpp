#include "bench/text_columns.hpp"

#include <gtest/gtest.h>

namespace vrambench {
namespace {

TEST(text_columns, are_code_points)
{
    EXPECT_EQ(columns("na\u00efve"), 5u);
    EXPECT_EQ(left("\u00ef", 3), "\u00ef  ");
    EXPECT_EQ(right("\u00ef", 3), "  \u00ef");
}

TEST(text_columns, longer_texts_stay_whole)
{
    EXPECT_EQ(left("abcd", 3), "abcd");
    EXPECT_EQ(right("abcd", 3), "abcd");
    EXPECT_EQ(column("abc", 3), "abc ") << "the next column does not touch it";
    EXPECT_EQ(column("ab", 3), "ab ");
}

TEST(text_columns, lines_lose_the_spaces_at_their_end)
{
    EXPECT_EQ(without_end_spaces(" a b  "), " a b");
    EXPECT_EQ(without_end_spaces("   "), "");
}

}  // namespace
}  // namespace vrambench
