#pragma once
// What `vrambench fit` found, as a file and as a table.

#include "bench/fit/fit.hpp"
#include "bench/run_document.hpp"
#include "bench/table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace vrambench::fit {

struct fitted {
    cell what;                               ///< where a key is varied: with its smallest value
    std::string workload;                    ///< as typed
    std::optional<variation> vary;           ///< with its step
    std::optional<result> found;             ///< none: not searched yet
};

struct document {
    run_document head;                       ///< command, environment, seed; its cells are not used
    device_info device;                      ///< as it answered
    std::string target;                      ///< what target=auto of a workload stands for
    std::vector<fitted> cells;
};

/// "kind": "fit", described by results/schema.json; cells that were not searched yet are left out.
std::string file_text(const document& d);

/// One group a workload and limit, one row an allocator. Ends in a newline.
std::string table(const document& d, const table_style& style);
std::string markdown(const document& d);

}  // namespace vrambench::fit
