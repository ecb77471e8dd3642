# Sourced by scripts/bench and scripts/test: finds what is missing, installs it where it may, else says in one line what to
# install. Debian 12 and Ubuntu 24.04 have every package. The other shell scripts take their --help from here.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# show_help "$@": where --help is asked for, prints the comment at the head of the script and ends it.
show_help() {
    case " $* " in
        *" --help "* | *" -h "*)
            sed -n '1d; /^#/!q; s/^# \{0,1\}//p' "$0"
            exit 0
            ;;
    esac
}

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

seconds_between_lines=30

# follow PID STAGE: tells how far the stage is until it ends: on a terminal in one line that is rewritten, elsewhere in a line now and then.
follow() {
    local pid=$1 stage=$2 step shown="" began=$SECONDS told=$SECONDS
    while kill -0 "$pid" 2>/dev/null; do
        sleep 1
        step=$(sed -n 's|^\[\([0-9]*\)/\([0-9]*\)\].*|\1 of \2|p' "$log" | tail -n 1)
        if [ -t 2 ]; then
            [ "$step" = "$shown" ] || printf '\r%s ' "$step" >&2
            shown=$step
        elif [ $((SECONDS - told)) -ge "$seconds_between_lines" ]; then
            told=$SECONDS
            say "$stage${step:+ $step}, for $((SECONDS - began)) s"
        fi
    done
    if [ -t 2 ] && [ -n "$shown" ]; then printf '\r              \r' >&2; fi
}

# stage NAME COMMAND...: runs it with its words in the log; ends the script with 3 where it fails.
stage() {
    local name=$1 pid
    shift
    "$@" >>"$log" 2>&1 &
    pid=$!
    trap 'kill $pid 2>/dev/null; exit 130' INT
    follow $pid "$name"
    trap - INT
    wait $pid && return
    tail -n 40 "$log" >&2
    say "$name failed; the whole log is $log"
    exit 3
}

# configure_and_build TESTS(ON|OFF) TARGET...: says what it does; the compilers' words go to a log.
configure_and_build() {
    local tests=$1 log=$root/build/setup.log what="build/vrambench"
    shift
    cd "$root" || exit 3
    if ! mkdir -p build || ! : >"$log"; then
        say "cannot write $log: is this tree somebody else's?"
        exit 2
    fi
    [ "$tests" = OFF ] || what="build/vrambench and the tests"
    say "configuring (log: build/setup.log)"
    stage configuring cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DVRAMBENCH_TESTS="$tests" \
        ${configure_options[@]+"${configure_options[@]}"}
    say "building $what, some minutes the first time"
    stage building cmake --build build --target "$@"
}
