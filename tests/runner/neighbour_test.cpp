// Memory that somebody else takes: what the runner makes of it, and the process that does it on a card (here with a simulated
// device of its own).

#include "bench/neighbour_process.hpp"
#include "tests/runner/bench_setup.hpp"
#include "tests/runner/story.hpp"
#include "workloads/neighbour.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace vrambench::test {
namespace {

/// Notes what it is told.
class noted_neighbour final : public outside_memory {
public:
    explicit noted_neighbour(bool has_room) : has_room_(has_room) {}
    bool take(std::uint64_t bytes) override { return log += "take " + std::to_string(bytes / MiB) + ", ", has_room_; }
    void give_back() override { log += "give, "; }
    std::string log;

private:
    bool has_room_;
};

pass_measurement run_beside(outside_memory& neighbour, const neighbour_plan& plan)
{
    const story s = story().external_alloc(0, MiB).step().alloc(0, MiB).free(0).step().alloc(1, MiB).free(1).step().alloc(2, MiB).free(2);
    const auto t = with_neighbour(std::make_shared<story>(s), 1, plan);
    workbench bench(*t, patient_device(), maker_of("direct"), 64 * MiB);
    run_controls controls;
    controls.neighbour = &neighbour;
    return bench.run(run_mode::eager, {}, controls);
}

TEST(neighbour, takes_and_gives_back_beside_the_device)
{
    noted_neighbour n(true);
    const pass_measurement m = run_beside(n, {40 * MiB, 1, 3});
    EXPECT_EQ(n.log, "take 40, give, ");
    EXPECT_EQ(m.result.what, status::completed);
    EXPECT_EQ(m.calls[static_cast<std::size_t>(driver_call::malloc)], 3u) << "the neighbour's calls are not the allocator's";
    EXPECT_EQ(m.calls[static_cast<std::size_t>(driver_call::free)], 3u);
}

TEST(neighbour, what_it_holds_at_the_end_goes_back)
{
    noted_neighbour n(true);
    run_beside(n, {40 * MiB, 2, 0});
    EXPECT_EQ(n.log, "take 40, give, ");
}

TEST(neighbour, one_that_gets_nothing_is_an_outcome)
{
    noted_neighbour n(false);
    const outcome o = run_beside(n, {100 * MiB, 2, 3}).result;
    EXPECT_EQ(o.what, status::oom);
    EXPECT_EQ(o.cause, "external");
    EXPECT_EQ(o.tag, "neighbour");
    EXPECT_EQ(o.step, 2u);
    EXPECT_EQ(n.log, "take 100, ");
}

const std::string command = VRAMBENCH_COMMAND;

TEST(neighbour_process, takes_gives_back_and_ends)
{
    pid_t child = 0;
    {
        neighbour_process n(command, "sim:h200,vram=64MiB,block=256");    // where the last byte can be had
        child = n.process();
        EXPECT_FALSE(n.take(65 * MiB));
        EXPECT_TRUE(n.take(64 * MiB));
        n.give_back();
        EXPECT_TRUE(n.take(40 * MiB));
    }
    EXPECT_EQ(::kill(child, 0), -1) << "it is gone, and waited for";
}

TEST(neighbour_process, that_cannot_start_or_dies_is_one_line)
{
    const auto words = [](const auto& f) -> std::string {
        try {
            f();
        } catch (const unsupported_error& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_NE(words([] { neighbour_process("/nowhere/at/all", "sim:h200"); }).find("is gone"), std::string::npos);
    EXPECT_NE(words([] { neighbour_process(command, "smi:h200"); }).find("could not start: unknown device"), std::string::npos);
    neighbour_process n(command, "sim:h200,vram=64MiB");
    ::kill(n.process(), SIGKILL);
    EXPECT_NE(words([&] { n.take(MiB); }).find("is gone"), std::string::npos);
}

/// A process starts a neighbour and is killed: the neighbour ends too, by the signal or because nobody talks to it any more.
TEST(neighbour_process, dies_with_its_parent)
{
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);    // orphans come to us, so that their end can be waited for
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    const pid_t middle = ::fork();
    if (middle == 0) {
        neighbour_process n(command, "sim:h200,vram=64MiB");
        n.take(MiB);
        const pid_t child = n.process();
        if (::write(told[1], &child, sizeof child) != sizeof child) ::_exit(1);
        for (;;) ::pause();
    }
    pid_t child = 0;
    ASSERT_EQ(::read(told[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
    ::kill(middle, SIGKILL);
    ::waitpid(middle, nullptr, 0);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);    // without an end, if it does not
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    ::close(told[0]);
    ::close(told[1]);
}

}  // namespace
}  // namespace vrambench::test
