#include "golden.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

namespace vrambench::testing {

void expect_golden(const std::string& name, const std::string& text)
{
    const std::string path = std::string(VRAMBENCH_GOLDEN) + "/" + name;
    const char* const update = std::getenv("VRAMBENCH_UPDATE_GOLDEN");
    if (update && std::string_view(update) == "1") {
        std::ofstream(path, std::ios::binary) << text;
        return;
    }
    EXPECT_EQ(text, read_file(path)) << "golden file " << path << " (VRAMBENCH_UPDATE_GOLDEN=1 rewrites it)";
}

std::string read_file(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << "cannot read " << path;
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace vrambench::testing
