#pragma once
// Which of many processes this one is, as a launcher (Open MPI, MPICH's and Intel's hydra, Slurm) says in variables.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace vrambench {

struct launcher_rank {
    std::string launcher;                    ///< "open-mpi", "hydra", "slurm"
    std::uint64_t rank = 0, ranks = 1;
    std::uint64_t local_rank = 0;            ///< among those of its node
};

/// The value of a variable; null where it is not set.
using variables = std::function<const char*(const char* name)>;

/// The innermost launcher's word: mpirun within a Slurm job is Open MPI's. None where no launcher speaks. Throws input_error
/// where what it says makes no sense.
std::optional<launcher_rank> find_rank(const variables& get);

/// Of this process.
std::optional<launcher_rank> find_rank();

/// "x.rank3.json" of "x.json".
std::string ranked_name(const std::string& path, std::uint64_t rank);

}  // namespace vrambench
