#include "bench/atomic_file.hpp"

#include "spec/errors.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

namespace vrambench {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& path, const std::string& why)
{
    throw input_error("cannot write " + in_quotes(path) + ": " + why);
}

std::string reason(int error) { return std::strerror(error); }

/// Where the bytes really go. A link stays a link; a device or a folder is not for renaming over.
fs::path target_of(const std::string& path)
{
    if (path.empty()) throw input_error("the result file's name is empty");
    std::error_code error;
    fs::path target = fs::weakly_canonical(path, error);
    if (error) cannot_write(path, error.message());
    const fs::file_status s = fs::status(target, error);
    if (fs::is_directory(s)) cannot_write(path, "it is a folder");
    if (fs::exists(s) && !fs::is_regular_file(s)) cannot_write(path, "it is not a regular file");
    return target;
}

/// A file of its own beside the target, gone unless it was renamed.
class temporary_file {
public:
    temporary_file(fs::path target, std::string shown) : target_(std::move(target)), shown_(std::move(shown))
    {
        name_ = target_.parent_path() / ("." + target_.filename().string() + "." + std::to_string(::getpid()) + ".tmp");
        ::unlink(name_.c_str());   // left by a killed process that had our id
        file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file_ < 0) cannot_write(shown_, reason(errno));
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file()
    {
        if (file_ >= 0) ::close(file_);
        if (!renamed_) ::unlink(name_.c_str());
    }

    void write(std::string_view contents)
    {
        while (!contents.empty()) {
            const ssize_t n = ::write(file_, contents.data(), contents.size());
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) cannot_write(shown_, reason(errno));
            contents.remove_prefix(static_cast<std::size_t>(n));
        }
    }

    void rename()
    {
        if (::fsync(file_) != 0 && errno != EINVAL) cannot_write(shown_, reason(errno));
        const int file = file_;
        file_ = -1;
        if (::close(file) != 0) cannot_write(shown_, reason(errno));
        if (::rename(name_.c_str(), target_.c_str()) != 0) cannot_write(shown_, reason(errno));
        renamed_ = true;
    }

private:
    fs::path target_;
    std::string shown_;
    fs::path name_;
    int file_ = -1;
    bool renamed_ = false;
};

}  // namespace

void check_writable(const std::string& path) { temporary_file(target_of(path), path); }

void check_replaceable(const std::string& path, const char* what)
{
    check_writable(path);
    std::ifstream file(path, std::ios::binary);
    const std::string held{std::istreambuf_iterator<char>(file), {}};
    // Every file of ours names itself: results their schema "vrambench.result/1", traces begin with "vrambench_trace".
    if (!held.empty() && held.find(std::string("\"") + what) == std::string::npos)
        cannot_write(path, "it holds something else, which would be lost; name another file, or remove it");
}

void check_not_read(const std::string& path, const std::vector<std::string>& read)
{
    for (const std::string& r : read) {
        std::error_code error;
        if (fs::equivalent(path, r, error)) cannot_write(path, "it is one of the files that are read; name another");
    }
}

void replace_file(const std::string& path, std::string_view contents)
{
    temporary_file file(target_of(path), path);
    file.write(contents);
    file.rename();
}

}  // namespace vrambench
