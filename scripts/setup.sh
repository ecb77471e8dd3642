# Sourced by scripts/bench and scripts/test: finds what is missing, installs it where it may, else says in one line what to
# install. Debian 12 and Ubuntu 24.04 have every package.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }

# Prints the packages of the list "package:file-or-command" whose file or command is not there.
missing_packages() {
    local entry package thing
    for entry in "$@"; do
        package=${entry%%:*} thing=${entry#*:}
        case $thing in
            /*) [ -e "$thing" ] || printf '%s ' "$package" ;;
            *) command -v "$thing" >/dev/null 2>&1 || printf '%s ' "$package" ;;
        esac
    done
}

# Installs what is missing of the list, where it may. Prints what is missing still.
install_packages() {
    local packages as_root=""
    packages=$(missing_packages "$@")
    if [ -n "$packages" ] && command -v apt-get >/dev/null 2>&1; then
        if [ "$(id -u)" != 0 ]; then
            if sudo -n true 2>/dev/null; then as_root="sudo -n"; else as_root=none; fi
        fi
        if [ "$as_root" != none ]; then
            say "installing: $packages"
            # shellcheck disable=SC2086
            { $as_root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $packages; } >/dev/null 2>&1
            packages=$(missing_packages "$@")
        fi
    fi
    printf '%s' "${packages% }"
}

# Makes sure that the packages of the list are there; ends the script with 2 where they cannot be installed.
require_packages() {
    local packages
    packages=$(install_packages "$@")
    [ -n "$packages" ] || return 0
    say "missing packages; please run: sudo apt-get install $packages"
    exit 2
}

build_packages=(
    cmake:cmake
    g++:c++
    ninja-build:ninja
    nlohmann-json3-dev:/usr/include/nlohmann/json.hpp
    libcli11-dev:/usr/include/CLI/CLI.hpp
    libbenchmark-dev:/usr/include/benchmark/benchmark.h
)
test_packages=(
    libgtest-dev:/usr/include/gtest/gtest.h
    libgmock-dev:/usr/include/gmock/gmock.h
    python3:python3
    python3-jsonschema:/usr/lib/python3/dist-packages/jsonschema/__init__.py
)

# AMD's compiler, for the tests of the HIP back end: 66 MB. ROCm's own, where it is there, is as good.
hip_packages=(hipcc:hipcc)

# configure_and_build TESTS(ON|OFF) TARGET...: shows how far it is; the compilers' words go to a log.
configure_and_build() {
    local tests=$1 log step shown="" pid failed=0
    shift
    cd "$root" || exit 3
    log=$root/build/setup.log
    if ! mkdir -p build || ! : >"$log"; then
        say "cannot write $log: is this tree somebody else's?"
        exit 2
    fi
    local what="build/vrambench" told=$SECONDS
    [ "$tests" = OFF ] || what="build/vrambench and the tests"
    say "building $what, some minutes the first time (log: build/setup.log)"
    { cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DVRAMBENCH_TESTS="$tests" ${configure_options[@]+"${configure_options[@]}"} &&
        cmake --build build --target "$@"; } >"$log" 2>&1 &
    pid=$!
    trap 'kill $pid 2>/dev/null; exit 130' INT
    while kill -0 $pid 2>/dev/null; do
        sleep 1
        step=$(grep -o '^\[[0-9]*/[0-9]*\]' "$log" | tail -n 1)
        [ "$step" != "$shown" ] || continue
        shown=$step
        if [ -t 2 ]; then
            printf '\r%s ' "$step" >&2
        elif [ $((SECONDS - told)) -ge 30 ]; then
            told=$SECONDS
            say "$step"
        fi
    done
    wait $pid || failed=1
    trap - INT
    if [ -t 2 ] && [ -n "$shown" ]; then printf '\r            \r' >&2; fi
    if [ $failed = 1 ]; then
        tail -n 40 "$log" >&2
        say "the build failed; the whole log is $log"
        exit 3
    fi
}
