// A run that goes on with a file: nothing that was measured is lost, nothing is measured twice.

#include "bench/measure.hpp"

#include "bench/result_file.hpp"
#include "samples.hpp"
#include "spec/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace vrambench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using key = std::pair<role, std::uint64_t>;

class resumed : public ::testing::Test {
protected:
    ~resumed() override { std::filesystem::remove(path_); }

    static run_plan plan(const std::string& allocator, std::uint64_t repetitions)
    {
        run_request r;
        r.device = "sim:h200";
        r.allocators = {allocator};
        r.workloads = {"kv-pair:heads=1,head-dim=64,step=512,to=2048"};
        r.reference = false;
        r.repetitions = repetitions;
        return make_plan(r);
    }

    ending run(run_plan& p)
    {
        progress shown(said_, false);
        return measure(p, {.out = path_}, shown);
    }

    /// A file in which one vmm cell has these repetitions.
    void write(const std::vector<key>& keys)
    {
        run_plan p = plan("vmm", 1);
        cell& c = p.document.cells[0];
        for (const auto& [what, index] : keys) {
            c.repetitions.push_back(testing::sample_repetition(index, testing::sample_pass(*c.workload, 1000)));
            c.repetitions.back().what = what;
            c.repetitions.back().order = c.repetitions.size() - 1;
        }
        write_result(p.document, path_);
    }

    std::vector<key> in_file() const
    {
        std::vector<key> keys;
        for (const auto& c : read_result(path_).cells)
            for (const auto& r : c.repetitions) keys.emplace_back(r.what, r.index);
        return keys;
    }

    std::string path_ = ::testing::TempDir() + "vrambench_resumed_" + std::to_string(::getpid()) + ".json";
    std::ostringstream said_;
};

TEST_F(resumed, keeps_repetitions_beyond_those_asked_for)
{
    write({{role::timed, 0}, {role::timed, 1}, {role::timed, 2}});
    run_plan p = plan("vmm", 1);
    EXPECT_EQ(resume_from(path_, p), 3u);
    EXPECT_EQ(run(p), ending::finished);
    EXPECT_THAT(in_file(), ElementsAre(key{role::timed, 0}, key{role::timed, 1}, key{role::timed, 2}));
}

TEST_F(resumed, takes_an_index_of_another_role_for_another_repetition)
{
    write({{role::timed, 0}, {role::memory, 0}, {role::memory, 1}, {role::verify, 2}});
    run_plan p = plan("vmm", 3);
    EXPECT_EQ(resume_from(path_, p), 4u);
    EXPECT_EQ(run(p), ending::finished);
    EXPECT_THAT(in_file(), ElementsAre(key{role::timed, 0}, key{role::memory, 0}, key{role::memory, 1}, key{role::verify, 2},
                                       key{role::timed, 1}, key{role::timed, 2}));
    std::vector<std::uint64_t> orders;
    for (const auto& r : p.document.cells[0].repetitions) orders.push_back(r.order);
    EXPECT_THAT(orders, ElementsAre(0u, 1u, 2u, 3u, 4u, 5u));
}

TEST_F(resumed, runs_disturbed_repetitions_again_and_keeps_them)
{
    write({{role::timed, 0}});
    run_document document = read_result(path_);
    document.cells[0].repetitions[0].disturbed = "another process took 2.0 GiB";
    write_result(document, path_);
    run_plan p = plan("vmm", 1);
    EXPECT_EQ(resume_from(path_, p), 1u);
    run(p);
    EXPECT_THAT(in_file(), ElementsAre(key{role::timed, 0}, key{role::timed, 0}));
}

TEST_F(resumed, refuses_a_file_of_other_cells)
{
    write({{role::timed, 0}});
    run_plan p = plan("legacy", 1);
    try {
        resume_from(path_, p);
        ADD_FAILURE() << "accepted";
    } catch (const input_error& e) {
        EXPECT_THAT(e.what(), HasSubstr("does not measure (vmm on kv-pair"));
    }
    EXPECT_TRUE(p.document.cells[0].repetitions.empty());
    // Where nothing was measured nothing can be lost.
    write({});
    EXPECT_EQ(resume_from(path_, p), 0u);
}

TEST_F(resumed, goes_on_where_a_budget_ended_it)
{
    run_plan p = plan("vmm", 3);
    p.budget_ms = 1;
    EXPECT_EQ(run(p), ending::out_of_budget);
    EXPECT_THAT(in_file(), ElementsAre(key{role::timed, 0}));
    EXPECT_FALSE(read_result(path_).finished);
    EXPECT_THAT(said_.str(), HasSubstr("budget: 1 of 3 repetitions fit"));

    run_plan again = plan("vmm", 3);
    again.budget_ms = 1;
    resume_from(path_, again);
    run(again);
    EXPECT_EQ(in_file().size(), 2u);
    run_plan whole = plan("vmm", 3);
    resume_from(path_, whole);
    EXPECT_EQ(run(whole), ending::finished);
    EXPECT_TRUE(read_result(path_).finished);
    EXPECT_EQ(in_file().size(), 3u);
}

}  // namespace
}  // namespace vrambench
