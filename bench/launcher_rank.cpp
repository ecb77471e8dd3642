#include "bench/launcher_rank.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <cstdlib>
#include <initializer_list>

namespace vrambench {

namespace {

/// The variables that a launcher sets; of each the first that is there counts.
struct launcher_words {
    const char* name;
    std::initializer_list<const char*> rank, ranks, local_rank;
};

// Open MPI: "Environment variables set for MPI applications" of its manual. Hydra: PMI of MPICH; MPI_LOCALRANKID is its own, and
// srun --mpi=pmi2 has Slurm's instead. Slurm: "OUTPUT ENVIRONMENT VARIABLES" of srun; the step's count, since a job's may differ.
const launcher_words launchers[] = {
    {"open-mpi", {"OMPI_COMM_WORLD_RANK"}, {"OMPI_COMM_WORLD_SIZE"}, {"OMPI_COMM_WORLD_LOCAL_RANK"}},
    {"hydra", {"PMI_RANK"}, {"PMI_SIZE"}, {"MPI_LOCALRANKID", "SLURM_LOCALID"}},
    {"slurm", {"SLURM_PROCID"}, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, {"SLURM_LOCALID"}},
};

std::optional<std::uint64_t> number_in(const variables& get, std::initializer_list<const char*> names)
{
    for (const char* name : names)
        if (const char* text = get(name)) return parse_integer(text, name, 0, 1'000'000);
    return std::nullopt;
}

}  // namespace

std::optional<launcher_rank> find_rank(const variables& get)
{
    for (const launcher_words& l : launchers) {
        const auto rank = number_in(get, l.rank), ranks = number_in(get, l.ranks);
        if (!rank || !ranks) continue;
        if (*rank >= *ranks)
            throw input_error("rank " + std::to_string(*rank) + " of " + std::to_string(*ranks) +
                              " makes no sense: look at the variables of " + l.name);
        return launcher_rank{l.name, *rank, *ranks, number_in(get, l.local_rank).value_or(*rank)};
    }
    return std::nullopt;
}

std::optional<launcher_rank> find_rank()
{
    return find_rank([](const char* name) -> const char* { return std::getenv(name); });
}

std::string ranked_name(const std::string& path, std::uint64_t rank)
{
    const std::string mark = ".rank" + std::to_string(rank);
    return path.ends_with(".json") ? path.substr(0, path.size() - 5) + mark + ".json" : path + mark;
}

}  // namespace vrambench
