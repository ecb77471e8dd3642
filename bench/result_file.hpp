#pragma once
// The result file: one strict JSON document, described by results/schema.json. Raw truth is the repetitions; everything
// else of a cell is derived from them on writing.

#include "bench/run_document.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace vrambench {

inline constexpr const char* result_schema = "vrambench.result/1";

nlohmann::json to_json(const run_document& run);

/// The inverse: to_json(run_from_json(j)) == j for every j that to_json made. The cells' traces are known by their headers
/// only and cannot be opened. Throws input_error for anything else, which says where in it.
run_document run_from_json(const nlohmann::json& document);

/// Histograms are most of a file; who needs no latencies reads it several times faster without them (they are empty then).
enum class result_parts { all, without_histograms };

/// The text of a result file as JSON, of whatever kind and version. Throws input_error with one line for a file that is missing,
/// empty, cut off, nested too deep to be walked or with a number that nothing can hold.
nlohmann::json parse_result(const std::string& path, result_parts parts = result_parts::all);

/// Reads a result file, for --resume and for later comparison. Throws input_error with one line for a file that is
/// missing, empty, cut off, not a result file, or of another version.
run_document read_result(const std::string& path, result_parts parts = result_parts::all);

/// The run in the document of the file `path`, as read_document gave it. Throws input_error as read_result does.
run_document run_in(const nlohmann::json& document, const std::string& path);

/// The document of a file that this program wrote, of any kind with one of these schemas. Throws input_error as read_result does.
nlohmann::json read_document(const std::string& path, result_parts parts = result_parts::all,
                             const std::vector<std::string>& schemas = {result_schema});

/// Writes a run again and again, after every repetition: cells without news keep their text, so that a write costs about
/// as much as writing the bytes.
class result_writer {
public:
    explicit result_writer(std::string path);
    /// Replaces the file atomically. Throws input_error with one line where it cannot be written.
    void write(const run_document& run);

private:
    /// What a cell's text depends on: repetitions are only ever added, or marked as disturbed.
    struct state {
        std::string id, stopped;
        std::uint64_t repetitions = 0, disturbed = 0, reference_repetitions = 0, reference_disturbed = 0;
        bool operator==(const state&) const = default;
    };
    struct kept_text {
        state of;
        std::string text;
    };
    static state state_of(const cell& c, const cell* reference);

    std::string path_;
    std::vector<kept_text> kept_;
};

/// One write.
void write_result(const run_document& run, const std::string& path);

/// The whole document as it is written.
std::string result_text(const run_document& run);

}  // namespace vrambench
