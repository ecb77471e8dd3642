// What launchers say in variables.

#include "bench/launcher_rank.hpp"

#include "spec/errors.hpp"

#include <gtest/gtest.h>

#include <map>

namespace vrambench {
namespace {

std::optional<launcher_rank> with(const std::map<std::string, std::string>& set)
{
    return find_rank([&](const char* name) -> const char* {
        const auto found = set.find(name);
        return found == set.end() ? nullptr : found->second.c_str();
    });
}

TEST(launcher_rank, no_launcher)
{
    EXPECT_FALSE(with({}));
    EXPECT_FALSE(with({{"SLURM_PROCID", "3"}}));    // of how many?
}

TEST(launcher_rank, the_innermost_launcher_speaks)
{
    const auto r = with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "0"}, {"OMPI_COMM_WORLD_RANK", "5"},
                         {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}});
    ASSERT_TRUE(r);
    EXPECT_EQ(r->launcher, "open-mpi");
    EXPECT_EQ(r->rank, 5u);
    EXPECT_EQ(r->ranks, 8u);
    EXPECT_EQ(r->local_rank, 1u);
}

TEST(launcher_rank, a_step_has_its_own_number_of_tasks)
{
    const auto r = with({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "16"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_LOCALID", "1"}});
    ASSERT_TRUE(r);
    EXPECT_EQ(r->ranks, 4u);
}

TEST(launcher_rank, srun_with_pmi2_has_slurms_local_rank)
{
    const auto r = with({{"PMI_RANK", "6"}, {"PMI_SIZE", "8"}, {"SLURM_LOCALID", "2"}, {"SLURM_PROCID", "6"}, {"SLURM_NTASKS", "8"}});
    ASSERT_TRUE(r);
    EXPECT_EQ(r->local_rank, 2u);
}

TEST(launcher_rank, nonsense_is_an_error)
{
    EXPECT_THROW(with({{"PMI_RANK", "8"}, {"PMI_SIZE", "8"}}), input_error);
    EXPECT_THROW(with({{"PMI_RANK", "-1"}, {"PMI_SIZE", "8"}}), input_error);
}

TEST(launcher_rank, names_files)
{
    EXPECT_EQ(ranked_name("out/x.json", 3), "out/x.rank3.json");
    EXPECT_EQ(ranked_name("x", 0), "x.rank0");
}

}  // namespace
}  // namespace vrambench
