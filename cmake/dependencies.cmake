# Debian's and Ubuntu's packages first; without them the sources are fetched at the same versions.
include(FetchContent)
set(FETCHCONTENT_QUIET OFF)
FetchContent_Declare(nlohmann_json URL https://github.com/nlohmann/json/releases/download/v3.11.2/json.tar.xz
  FIND_PACKAGE_ARGS 3.10)
FetchContent_Declare(CLI11 URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.1.2.tar.gz
  FIND_PACKAGE_ARGS)
FetchContent_Declare(benchmark URL https://github.com/google/benchmark/archive/refs/tags/v1.7.1.tar.gz
  FIND_PACKAGE_ARGS)
set(BENCHMARK_ENABLE_TESTING OFF CACHE BOOL "" FORCE)
set(BENCHMARK_ENABLE_INSTALL OFF CACHE BOOL "" FORCE)
FetchContent_MakeAvailable(nlohmann_json CLI11 benchmark)
if(VRAMBENCH_TESTS)
  FetchContent_Declare(GTest URL https://github.com/google/googletest/archive/refs/tags/release-1.12.1.tar.gz
    FIND_PACKAGE_ARGS)
  set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
  FetchContent_MakeAvailable(GTest)
endif()
