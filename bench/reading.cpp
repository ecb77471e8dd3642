#include "bench/reading.hpp"

#include "bench/interrupt.hpp"
#include "bench/runner.hpp"
#include "bench/table.hpp"
#include "spec/errors.hpp"
#include "workloads/watched_summary.hpp"

#include <chrono>
#include <iostream>

namespace vrambench {

trace_summary summarise_telling(const trace& t, std::uint64_t most)
{
    using clock = std::chrono::steady_clock;
    auto next = clock::now() + std::chrono::seconds(2);
    return summarise(t, [&](std::uint64_t events) {
        if (interrupt_requested()) throw run_interrupted();
        if (events > most) throw input_error(printable(t.header().name) + " has more than " + std::to_string(most) + " events");
        if (clock::now() < next) return;
        next = clock::now() + std::chrono::seconds(10);
        std::cerr << "reading " + printable(t.header().name) + ": " + short_count(static_cast<double>(events)) + " events so far\n" << std::flush;
    });
}

}  // namespace vrambench
