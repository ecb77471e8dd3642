#include "tests/workloads/trace_tools.hpp"

#include "spec/units.hpp"
#include "workloads/random_numbers.hpp"
#include "workloads/registry.hpp"

#include <map>
#include <set>

namespace vrambench::test {
namespace {

std::unique_ptr<trace> random_of(const std::string& keys,
        std::uint64_t seed = 1) { return make_trace("random:" + keys, seed); }

/// Happens-before over streams, events and host synchronisations. Each use of a block must be ordered behind the uses
/// that it conflicts with, a free behind all of them.
class race_checker {
public:
    explicit race_checker(std::uint32_t streams) : clocks_(streams, clock(streams)) {}

    void add(const full_event& f)
    {
        const event& e = f.e;
        clock& now = clocks_[e.stream];
        switch (e.kind) {
        case event_kind::alloc: blocks_[e.id] = {e.stream, false, clock(clocks_.size()), clock(clocks_.size())}; break;
        case event_kind::free:
            EXPECT_EQ(e.stream, blocks_[e.id].stream);
            EXPECT_TRUE(covers(now, blocks_[e.id].written) && covers(now, blocks_[e.id].read));
            blocks_.erase(e.id);
            break;
        case event_kind::kernel: kernel(f); break;
        case event_kind::record: events_[e.id] = now; break;
        case event_kind::wait: join(now, events_.at(e.id)); break;
        case event_kind::sync_device:
            for (const auto& c : std::vector<clock>(clocks_))
                for (auto& other : clocks_) join(other, c);
            break;
        default: break;
        }
    }

private:
    using clock = std::vector<std::uint64_t>;
    struct block {
        std::uint16_t stream;
        bool initialised;
        clock written, read;   // of each stream, its last operation that did
    };

    static bool covers(const clock& now, const clock& then)
    {
        return std::equal(now.begin(), now.end(), then.begin(), [](auto a, auto b) { return a >= b; });
    }
    static void join(clock& a, const clock& b)
    {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
    }

    void kernel(const full_event& f)
    {
        const std::uint16_t s = f.e.stream;
        clock& now = clocks_[s];
        ++now[s];
        std::set<std::uint32_t> named;
        for (const auto id : f.reads) {
            EXPECT_TRUE(named.insert(id).second);
            EXPECT_TRUE(blocks_.at(id).initialised) << "read before it was written";
            EXPECT_TRUE(covers(now, blocks_.at(id).written));
            blocks_.at(id).read[s] = now[s];
        }
        for (const auto id : f.writes) {
            EXPECT_TRUE(named.insert(id).second);
            EXPECT_TRUE(covers(now, blocks_.at(id).written) && covers(now, blocks_.at(id).read));
            blocks_.at(id).initialised = true;
            blocks_.at(id).written[s] = now[s];
        }
    }

    std::vector<clock> clocks_;
    std::map<std::uint32_t, clock> events_;
    std::map<std::uint32_t, block> blocks_;
};

TEST(Random, SameEventsForASeedAndForEver)
{
    const auto t = random_of("events=20000,streams=3,share=0.2,order=shuffled,sync=step,seed=42");
    EXPECT_EQ(events_of(*t), events_of(*t));
    EXPECT_EQ(hash_of(events_of(*t)), 11503447952367210827u);
    EXPECT_EQ(hash_of(events_of(*random_of("seed=7"), 10'000)), 14918010287477248439u);
    EXPECT_NE(hash_of(events_of(*random_of("seed=7"))), hash_of(events_of(*random_of("seed=8"))));
}

TEST(Random, SeedOfTheRunBecomesPartOfTheSpec)
{
    const auto t = random_of("events=1000", 99);
    EXPECT_EQ(t->header().seed, 99u);
    EXPECT_NE(t->header().spec.find(",seed=99"), std::string::npos);
    EXPECT_EQ(events_of(*make_trace(t->header().spec, 5)), events_of(*t));
    EXPECT_EQ(random_of("seed=18446744073709551615")->header().seed, ~std::uint64_t{0});
    EXPECT_EQ(make_trace("random", 3)->header().seed, 3u);
}

TEST(Random, PropertiesOverTheWholeSpace)
{
    random_numbers r(2024);
    const auto pick = [&](std::vector<std::string> words) { return words[r.below(words.size())]; };
    for (int i = 0; i < 60; ++i) {
        const std::string order = pick({"lifo", "fifo", "shuffled"});
        const std::string keys = "events=" + std::to_string(1 + r.below(9000)) + ",min=" + std::to_string(1 + r.below(4096)) +
                                 ",max=" + pick({"4KiB", "1MiB", "64MiB"}) + ",live=" + pick({"64MiB", "1GiB", "64GiB"}) +
                                 ",sizes=" + pick({"uniform", "log-uniform"}) + ",alloc=" + pick({"0", "0.1", "0.5",
                                         "0.9", "1"}) +
                                 ",kernels=" + pick({"0", "0.5", "0.9", "1"}) + ",blocks=" + pick({"1", "7", "4096"}) +
                                 ",streams=" + pick({"1", "2", "5", "64"}) + ",share=" + pick({"0", "0.3",
                                         "1"}) + ",order=" + order +
                                 ",step=" + pick({"1", "10", "1000"}) + ",sync=" + pick({"none", "step"});
        const auto t = random_of(keys, r.next());
        SCOPED_TRACE(t->header().spec);
        const trace_summary s = summarise(*t);   // checks that the trace is sound
        const auto p = [&](const char* key) {
            for (const auto& kv : t->header().params)
                if (kv.first == key) return kv.second;
            return std::string();
        };
        EXPECT_EQ(s.end_live_blocks, 0u);
        EXPECT_EQ(s.alloc_calls, s.free_calls);
        EXPECT_LE(s.max_live_bytes, parse_size(p("live"), "live"));
        EXPECT_LE(s.max_live_blocks, parse_integer(p("blocks"), "blocks", 0, 1 << 24));
        EXPECT_LE(s.block_ids, s.max_live_blocks) << "ids are dense";
        EXPECT_GE(s.events, parse_integer(p("events"), "events", 0, 10'000));
        EXPECT_LE(s.events, parse_integer(p("events"), "events", 0, 10'000) + s.max_live_blocks + 8);
        EXPECT_TRUE(s.lifo || order != "lifo");
        race_checker races(t->header().streams);
        for (const auto& f : events_of(*t)) {
            races.add(f);
            if (f.e.kind == event_kind::alloc) {
                EXPECT_GE(f.e.bytes, parse_size(p("min"), "min"));
                EXPECT_LE(f.e.bytes, parse_size(p("max"), "max"));
            }
        }
        if (HasFailure()) break;
    }
}

TEST(Random, OrdersOfFrees)
{
    std::map<std::uint16_t, std::vector<std::uint32_t>> alive;
    for (const auto& f : events_of(*random_of("events=20000,order=fifo,streams=2,kernels=0"))) {
        auto& list = alive[f.e.stream];
        if (f.e.kind == event_kind::alloc) list.push_back(f.e.id);
        if (f.e.kind != event_kind::free) continue;
        ASSERT_EQ(list.front(), f.e.id);
        list.erase(list.begin());
    }
    EXPECT_TRUE(summarise(*random_of("order=lifo,streams=3")).lifo);
    EXPECT_FALSE(summarise(*random_of("order=fifo")).lifo);
    EXPECT_FALSE(summarise(*random_of("order=shuffled")).lifo);
}

TEST(Random, SharingIsOrderedByEventsBothWays)
{
    const trace_summary s = summarise(*random_of("events=50000,streams=4,share=0.5"));
    EXPECT_EQ(s.event_ids, 4u);
    std::uint64_t waits = 0;
    for (const auto& f : events_of(*random_of("events=50000,streams=4,share=0.5"))) waits += f.e.kind == event_kind::wait;
    EXPECT_GT(waits, s.launches / 2);
    EXPECT_EQ(summarise(*random_of("events=5000,streams=4,share=0")).event_ids, 0u);
    EXPECT_EQ(summarise(*random_of("events=5000,streams=1,share=1")).event_ids, 0u);
}

TEST(Random, KernelTimes)
{
    for (const auto& f : events_of(*random_of("events=2000,kernel-ns=250")))
        EXPECT_TRUE(f.e.kind != event_kind::kernel || f.e.nanoseconds == 250);
    for (const auto& f : events_of(*random_of("events=2000")))
        EXPECT_TRUE(f.e.kind != event_kind::kernel || (f.e.nanoseconds == -1 && f.e.bytes > 0));
    EXPECT_EQ(summarise(*random_of("events=2000,kernels=0")).launches, 0u);
}

TEST(Random, IsProducedLazily)
{
    const auto source = random_of("events=1000000000000,alloc=0.6,streams=8,share=0.1")->open();
    event_batch batch;
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(source->fill(batch));
        ASSERT_LE(batch.events.size(), batch_events);
        ASSERT_GT(batch.events.size(), batch_events / 2);
    }
}

TEST(Random, Refuses)
{
    const auto error = [](const std::string& keys) { return error_of([&] { random_of(keys); }); };
    EXPECT_EQ(error("min=2MiB,max=1MiB"), "random: min (2MiB) exceeds max (1MiB)");
    EXPECT_EQ(error("live=1MiB,max=2MiB"), "random: max (2MiB) exceeds live (1MiB)");
    for (const char* keys : {"events=0", "min=0", "alloc=1.5", "alloc=-1", "share=2", "streams=0", "streams=65",
            "order=lilo", "blocks=0",
                             "step=0", "seed=-1", "seed=runn", "seed=18446744073709551616", "sizes=normal", "word"})
        EXPECT_EQ(error(keys).rfind("random: ", 0), 0u) << keys;
}

}  // namespace
}  // namespace vrambench::test
