#include "workloads/file_io.hpp"

#include "spec/errors.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace vrambench {

input_file::input_file(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "rb"))
{
    if (!file_) fail();
}

void input_file::fail() const
{
    throw input_error("cannot read " + in_quotes(path_) + ": " + std::strerror(errno));
}

int input_file::peek()
{
    const int c = std::getc(file_.get());
    if (c != EOF) {
        std::ungetc(c, file_.get());
        return c;
    }
    if (std::ferror(file_.get())) fail();
    return -1;
}

std::size_t input_file::read(void* data, std::size_t size)
{
    const std::size_t n = std::fread(data, 1, size, file_.get());
    if (n < size && std::ferror(file_.get())) fail();
    offset_ += n;
    return n;
}

bool input_file::read_line(std::string& line, std::size_t longest)
{
    line.clear();
    line_ended_ = false;
    int c = 0;
    while ((c = getc_unlocked(file_.get())) != EOF) {
        ++offset_;
        line_ended_ = c == '\n';
        if (line_ended_) return true;
        if (line.size() == longest)
            throw input_error(shown_path() + ": a line is longer than " + std::to_string(longest) + " bytes");
        line += static_cast<char>(c);
    }
    if (std::ferror(file_.get())) fail();
    return !line.empty();
}

output_file::output_file(std::string path) : path_(std::move(path))
{
    std::error_code ignored;
    const auto status = std::filesystem::status(path_, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw input_error("cannot write " + in_quotes(path_) + ": not a regular file");
    static std::atomic<unsigned> files{0};
    temporary_ = path_ + ".partial-" + std::to_string(getpid()) + "-" + std::to_string(files++);
    const int descriptor = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) fail(errno);
    file_ = fdopen(descriptor, "wb");
    if (file_ == nullptr) {
        const int error = errno;
        close(descriptor);
        unlink(temporary_.c_str());
        fail(error);
    }
}

output_file::~output_file()
{
    if (file_ == nullptr) return;
    std::fclose(file_);
    unlink(temporary_.c_str());
}

void output_file::fail(int error) const
{
    throw input_error("cannot write " + in_quotes(path_) + ": " + std::strerror(error));
}

void output_file::write(std::string_view data)
{
    if (std::fwrite(data.data(), 1, data.size(), file_) != data.size()) fail(errno);
}

void output_file::commit()
{
    // On disk before it has its name: a crash leaves the old file or the new one.
    if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0) fail(errno);
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
    std::fclose(std::exchange(file_, nullptr));
}

}  // namespace vrambench
