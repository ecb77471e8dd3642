#include "bench/atomic_file.hpp"

#include "golden.hpp"
#include "spec/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <functional>

namespace vrambench {
namespace {

using ::testing::HasSubstr;
using testing::read_file;
namespace fs = std::filesystem;

class atomic_file : public ::testing::Test {
protected:
    atomic_file() { fs::create_directories(folder_); }
    ~atomic_file() override { fs::remove_all(folder_); }
    long files() const { return std::distance(fs::directory_iterator(folder_), {}); }

    fs::path folder_ = fs::path(::testing::TempDir()) /
                       ("vrambench_atomic_" + std::to_string(::getpid()) + "_" +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::string error_of(const std::function<void()>& f)
{
    try {
        f();
    } catch (const input_error& e) {
        EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
        return e.what();
    }
    ADD_FAILURE() << "no input_error";
    return {};
}

TEST_F(atomic_file, replaces_what_was_there)
{
    replace_file(folder_ / "a", "one");
    replace_file(folder_ / "a", "two");
    EXPECT_EQ(read_file(folder_ / "a"), "two");
    EXPECT_EQ(files(), 1);
}

TEST_F(atomic_file, writes_through_a_link)
{
    replace_file(folder_ / "a", "one");
    fs::create_symlink(folder_ / "a", folder_ / "link");
    replace_file(folder_ / "link", "two");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read_file(folder_ / "a"), "two");
}

TEST_F(atomic_file, checks_without_a_trace)
{
    replace_file(folder_ / "a", "one");
    check_writable(folder_ / "a");
    check_writable(folder_ / "new");
    EXPECT_EQ(read_file(folder_ / "a"), "one");
    EXPECT_EQ(files(), 1);
}

TEST_F(atomic_file, spares_what_is_not_ours)
{
    replace_file(folder_ / "notes.txt", "bought milk");
    EXPECT_THAT(error_of([&] { check_replaceable(folder_ / "notes.txt", "vrambench.result"); }), HasSubstr("would be lost"));
    EXPECT_EQ(read_file(folder_ / "notes.txt"), "bought milk");
    replace_file(folder_ / "result.json", R"({"cells": [], "schema": "vrambench.result/1"})");
    replace_file(folder_ / "trace.jsonl", R"({"vrambench_trace":1})");
    replace_file(folder_ / "empty", "");
    for (const char* ours : {"result.json", "empty", "new"}) check_replaceable(folder_ / ours, "vrambench.result");
    check_replaceable(folder_ / "trace.jsonl", "vrambench_trace");
    EXPECT_THAT(error_of([&] { check_replaceable(folder_ / "trace.jsonl", "vrambench.result"); }), HasSubstr("would be lost"));
    EXPECT_THAT(error_of([&] { check_not_read(folder_ / "result.json", {folder_ / "empty", folder_ / "." / "result.json"}); }),
                HasSubstr("one of the files that are read"));
    check_not_read(folder_ / "new", {folder_ / "result.json"});
    EXPECT_EQ(files(), 4);
}

TEST_F(atomic_file, refuses_what_it_cannot_replace)
{
    for (const auto& call : {std::function<void(const std::string&)>([](const std::string& p) { check_replaceable(p, "vrambench.result"); }),
                             std::function<void(const std::string&)>([](const std::string& p) { replace_file(p, "x"); })}) {
        EXPECT_THAT(error_of([&] { call(folder_ / "no" / "such" / "folder.json"); }), HasSubstr("No such file or directory"));
        EXPECT_THAT(error_of([&] { call(folder_); }), HasSubstr("it is a folder"));
        EXPECT_THAT(error_of([&] { call("/dev/null"); }), HasSubstr("not a regular file"));
        EXPECT_THAT(error_of([&] { call(""); }), HasSubstr("empty"));
    }
    EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace vrambench
