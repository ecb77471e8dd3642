#include "bench/interrupt.hpp"

#include <csignal>

namespace vrambench {

namespace {

std::atomic<bool> interrupted{false};

extern "C" void on_interrupt(int)
{
    interrupted.store(true);
    std::signal(SIGINT, SIG_DFL);
}

}  // namespace

interrupt_guard::interrupt_guard()
{
    interrupted.store(false);
    std::signal(SIGINT, on_interrupt);
}
interrupt_guard::~interrupt_guard() { std::signal(SIGINT, SIG_DFL); }

bool interrupt_requested() { return interrupted.load(std::memory_order_relaxed); }

const std::atomic<bool>* interrupt_guard::flag() const { return &interrupted; }

}  // namespace vrambench
