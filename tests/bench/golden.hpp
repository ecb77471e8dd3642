#pragma once
// Golden files: what the program prints is a contract. VRAMBENCH_UPDATE_GOLDEN=1 rewrites them; look at the difference
// before committing it.

#include <string>

namespace vrambench::testing {

/// Fails where `text` is not the contents of tests/bench/golden/NAME.
void expect_golden(const std::string& name, const std::string& text);

std::string read_file(const std::string& path);

}  // namespace vrambench::testing
