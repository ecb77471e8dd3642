#pragma once
// The workloads that a result file names, made again from what it says of them, each once however many cells and files name it.

#include "bench/check/trace_position.hpp"
#include "bench/plan.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace vrambench::checking {

/// A workload made again.
class recipe {
public:
    explicit recipe(std::shared_ptr<const planned_workload> made) : made_(std::move(made)) {}

    const planned_workload& workload() const { return *made_; }
    /// That this position will be asked for; all that were wanted are read in one go.
    void want(std::uint64_t event);
    /// Before the event with this index.
    const trace_position& at(std::uint64_t event);

private:
    std::shared_ptr<const planned_workload> made_;
    std::set<std::uint64_t> wanted_;
    std::map<std::uint64_t, trace_position> known_;
};

class recipe_shelf {
public:
    struct slot {
        std::shared_ptr<recipe> found;   ///< null: it cannot be made again
        std::string why_not;
    };
    /// As the cell's spec, seed, resident memory and neighbour have it; never throws for what they say. A spec that gives more
    /// events than the cell says cannot be made again: only so many are read.
    const slot& get(const cell& c);

private:
    std::map<std::string, slot> slots_;
};

/// Whether the workload's spec names a file (`file:PATH`, `model=@PATH`): what is there now, or here, need not be what was
/// measured. A spec that no workload understands names none.
bool names_a_file(const cell& c);

}  // namespace vrambench::checking
