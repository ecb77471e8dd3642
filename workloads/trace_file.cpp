#include "workloads/trace_file.hpp"

#include "spec/errors.hpp"
#include "workloads/file_io.hpp"
#include "workloads/trace_json.hpp"
#include "workloads/trace_packed.hpp"

#include <utility>

namespace vrambench {
namespace {

trace_format format_of(input_file& in)
{
    switch (in.peek()) {
    case '{': return trace_format::json_lines;
    case 'V': return trace_format::packed;
    case -1: throw input_error(in.shown_path() + ": the file is empty");
    default: throw input_error(in.shown_path() + ": not a trace of vrambench (neither JSON lines nor packed)");
    }
}

trace_header read_header(input_file& in, trace_format format)
{
    return format == trace_format::packed ? read_packed_header(in) : read_json_header(in);
}

class file_trace final : public trace {
public:
    explicit file_trace(const std::string& path) : path_(path)
    {
        input_file in(path_);
        format_ = format_of(in);
        header_ = read_header(in, format_);
        written_ = header_to_json(header_);
        header_.spec = canonical(trace_file_entry(), {}, path_);
    }

    const trace_header& header() const override { return header_; }

    std::unique_ptr<trace_source> open() const override
    {
        input_file in(path_);
        if (format_of(in) != format_ || header_to_json(read_header(in, format_)) != written_)
            throw input_error(printable(path_) + ": the file was changed while it was in use");
        if (format_ == trace_format::packed) return read_packed_events(std::move(in));
        return read_json_events(std::move(in), header_);
    }

private:
    std::string path_;
    trace_format format_ = trace_format::json_lines;
    trace_header header_;
    std::string written_;   // the header as it is in the file
};

}  // namespace

const entry& trace_file_entry()
{
    static const entry e{.name = "file",
                         .help = "a trace from a file, as written by vrambench trace export",
                         .origin = "",
                         .keys = {},
                         .positional_help = "path of the file, JSON lines or packed"};
    return e;
}

std::unique_ptr<trace> open_trace_file(const std::string& path)
{
    return std::make_unique<file_trace>(path);
}

void write_trace(const trace& t, const std::string& path, trace_format format)
{
    output_file out(path);
    if (format == trace_format::packed)
        write_packed(t, out);
    else
        write_json_lines(t, out);
    out.commit();
}

}  // namespace vrambench
