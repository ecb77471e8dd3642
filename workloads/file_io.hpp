#pragma once
// Files read front to back with their position known for error messages, and files that appear whole or not at all.

#include "spec/errors.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace vrambench {

/// Reads a file once. Throws input_error that names the file.
class input_file {
public:
    explicit input_file(std::string path);

    std::string shown_path() const { return printable(path_); }     ///< for messages
    std::uint64_t offset() const { return offset_; }        ///< bytes read so far
    /// The next byte without taking it, or -1 at the end.
    int peek();
    /// Reads up to `size` bytes; fewer only at the end.
    std::size_t read(void* data, std::size_t size);
    /// Reads a line without its end. False at the end of the file. Throws for a line longer than `longest`: a file that is
    /// no text at all is not read into memory.
    bool read_line(std::string& line, std::size_t longest);
    bool last_line_was_ended() const { return line_ended_; }

private:
    struct closer {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    [[noreturn]] void fail() const;

    std::string path_;
    std::unique_ptr<std::FILE, closer> file_;
    std::uint64_t offset_ = 0;
    bool line_ended_ = true;
};

/// Writes beside the target under another name; commit() puts it in place. Without commit() nothing stays. Throws
/// input_error that names the file.
class output_file {
public:
    explicit output_file(std::string path);
    ~output_file();
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    void write(std::string_view data);
    void commit();

private:
    [[noreturn]] void fail(int error) const;

    std::string path_, temporary_;
    std::FILE* file_ = nullptr;
};

}  // namespace vrambench
