#pragma once
// Replaces a file in one step: readers see the old contents or the new ones, never a part.

#include <string>
#include <string_view>
#include <vector>

namespace vrambench {

/// To be called before hours of measuring: throws input_error with one line where `path` could not be written.
/// Leaves nothing behind.
void check_writable(const std::string& path);

/// The same for a file of ours: throws input_error also where `path` holds anything but what says that it is `what`
/// ("vrambench.result", "vrambench.probe", "vrambench.profile", "vrambench_trace"), so that a mistyped --out costs nobody a file.
void check_replaceable(const std::string& path, const char* what);

/// Throws input_error where `path` is one of the files that are read, by whatever name.
void check_not_read(const std::string& path, const std::vector<std::string>& read);

/// Temporary file in the same folder, flushed to disk, renamed. Throws input_error; the temporary file is then removed
/// and the old file is untouched.
void replace_file(const std::string& path, std::string_view contents);

}  // namespace vrambench
