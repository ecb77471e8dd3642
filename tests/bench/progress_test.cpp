#include "bench/progress.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace vrambench {
namespace {

class progress_line : public ::testing::Test {
protected:
    progress::seconds_clock clock()
    {
        return [this] { return now_; };
    }
    std::string taken()
    {
        std::string text = out_.str();
        out_.str("");
        return text;
    }

    double now_ = 1000;
    std::ostringstream out_;
};

TEST_F(progress_line, rewrites_one_line_on_a_terminal)
{
    progress p(out_, true, 80, clock());
    p.plan({2, 1, 1});
    p.start(0, "legacy on kv-pair");
    EXPECT_EQ(taken(), "\r[1/3] legacy on kv-pair... 4.0 s left");
    now_ += 4;   // twice as long as planned: the rest will be too
    p.start(1, "vmm on x");
    EXPECT_EQ(taken(), "\r[2/3] vmm on x... 4.0 s left" + std::string(9, ' '));
    p.finish();
    EXPECT_EQ(taken(), "\r" + std::string(29 - 1, ' ') + "\r");
    p.finish();
    EXPECT_EQ(taken(), "");
}

TEST_F(progress_line, keeps_notes_above_it)
{
    progress p(out_, true, 80, clock());
    p.plan({1});
    p.start(0, "a");
    taken();
    p.note("something");
    EXPECT_EQ(taken(), "\r" + std::string(21, ' ') + "\rsomething\n");
}

TEST_F(progress_line, never_wraps)
{
    progress p(out_, true, 30, clock());
    p.plan({1});
    p.start(0, std::string(100, 'x'));
    EXPECT_EQ(taken().size(), 30u);   // the carriage return and 29 columns
}

TEST_F(progress_line, is_a_plain_line_every_two_seconds_elsewhere)
{
    progress p(out_, false, 80, clock());
    p.plan(std::vector<double>(100, 0.5));
    for (std::size_t i = 0; i < 10; ++i, now_ += 0.5) p.start(i, "w");
    EXPECT_EQ(taken(), "[  5/100] w... 48 s left\n[  9/100] w... 46 s left\n");
}

TEST_F(progress_line, is_silent_for_short_work)
{
    {
        progress p(out_, false, 80, clock());
        p.plan({1, 1});
        p.start(0, "a");
        now_ += 1.9;
        p.start(1, "b");
    }
    EXPECT_EQ(taken(), "");
}

TEST_F(progress_line, names_long_times_in_larger_units)
{
    progress p(out_, true, 80, clock());
    p.plan({600});
    p.start(0, "a");
    EXPECT_EQ(taken(), "\r[1/1] a... 10 min left");
    p.plan({7200});
    p.start(0, "a");
    EXPECT_NE(taken().find("2.0 h left"), std::string::npos);
}

TEST_F(progress_line, shows_what_the_caller_knows_better)
{
    progress p(out_, true, 80, clock());
    p.plan(std::vector<double>(2));
    p.start(0, "a", std::nullopt);
    EXPECT_EQ(taken(), "\r[1/2] a...") << "nobody knows";
    p.start(0, "a", 7);
    EXPECT_EQ(taken(), "\r[1/2] a... 7.0 s left");
}

TEST_F(progress_line, works_without_a_plan)
{
    progress p(out_, true, 80, clock());
    p.start(0, "a");
    EXPECT_EQ(taken(), "\r[1/0] a... 0.0 s left");
}

}  // namespace
}  // namespace vrambench
