#pragma once
// The fake runtimes that a test is linked with, and how it sets them.

#include "device/registry.hpp"
#include "tests/fake_runtime/switches.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
void cudaFakeControl(const char* settings);
void cudaFakeArm(const char* settings);
const char* cudaFakeReport(const char* what);
void hipFakeControl(const char* settings);
void hipFakeArm(const char* settings);
const char* hipFakeReport(const char* what);
}

namespace vrambench::test {

struct fake_vendor {
    const char* kind;                ///< "cuda": the device is "cuda:0"
    void (*control)(const char* settings);      ///< as if the process began anew
    void (*arm)(const char* settings);
    const char* (*report)(const char* what);

    std::string device() const { return std::string(kind) + ":0"; }
    std::vector<std::string> lines(const char* what) const
    {
        std::istringstream text(report(what));
        std::vector<std::string> all;
        for (std::string line; std::getline(text, line);) all.push_back(line);
        return all;
    }
};

inline void PrintTo(const fake_vendor& v, std::ostream* to) { *to << v.kind; }

inline const std::vector<fake_vendor>& fake_vendors()
{
    static const std::vector<fake_vendor> all = {
#if defined(VRAMBENCH_FAKE_CUDA)
        {"cuda", cudaFakeControl, cudaFakeArm, cudaFakeReport},
#endif
#if defined(VRAMBENCH_FAKE_HIP)
        {"hip", hipFakeControl, hipFakeArm, hipFakeReport},
#endif
    };
    return all;
}

/// A test on each fake runtime: a fresh card that answers at once.
class on_fakes : public ::testing::TestWithParam<fake_vendor> {
protected:
    void SetUp() override { set(""); }
    void TearDown() override { set(""); }

    const fake_vendor& vendor() const { return GetParam(); }
    void set(const std::string& settings) const { vendor().control(("pace=0;" + settings).c_str()); }
    std::unique_ptr<device> open(const device_options& options = {}) const { return open_device(choose_device(vendor().device()), options); }
    std::string alive() const { return vendor().report("alive"); }
};

inline std::string vendor_name(const ::testing::TestParamInfo<fake_vendor>& info) { return info.param.kind; }

}  // namespace vrambench::test

#define ON_EVERY_FAKE(suite) INSTANTIATE_TEST_SUITE_P(over, suite, ::testing::ValuesIn(fake_vendors()), vendor_name)
