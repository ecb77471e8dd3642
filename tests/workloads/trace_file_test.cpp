#include "tests/workloads/trace_tools.hpp"

#include "spec/units.hpp"
#include "workloads/random_numbers.hpp"
#include "workloads/registry.hpp"
#include "workloads/trace_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <unistd.h>

namespace vrambench::test {
namespace {

namespace fs = std::filesystem;

class TraceFile : public ::testing::TestWithParam<trace_format> {
protected:
    void SetUp() override
    {
        const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
        std::string name = std::string(test->test_suite_name()) + test->name() + std::to_string(getpid());
        std::replace(name.begin(), name.end(), '/', '-');
        folder_ = fs::temp_directory_path() / name;
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string path(const std::string& name = "trace") const { return (folder_ / name).string(); }
    std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {})); }

    static std::string read(const std::string& file)
    {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string write(const std::string& bytes, const std::string& name = "trace") const
    {
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }
    /// The error of opening and reading to the end.
    static std::string error_in(const std::string& file)
    {
        return error_of([&] { events_of(*open_trace_file(file)); });
    }

    fs::path folder_;
};

INSTANTIATE_TEST_SUITE_P(Formats, TraceFile, ::testing::Values(trace_format::json_lines, trace_format::packed),
                         [](const auto& p) { return p.param == trace_format::packed ? "Packed" : "JsonLines"; });

/// Events of all kinds with any values in their fields: a file keeps what it is given, sound or not.
memory_trace arbitrary_trace(std::uint64_t seed, std::size_t events)
{
    random_numbers r(seed);
    memory_trace t;
    t.head.name = "any\"thing\\";
    t.head.spec = "any:thing";
    t.head.params = {{"zeta", "1"}, {"alpha", "\xc3\xa9 \n\t\x01"}};
    t.head.seed = r.next();
    t.head.streams = 64;
    t.head.tags = {"a", "\"quoted\"", "line\nbreak", "", "\xe2\x82\xac"};
    t.head.phases = {"p", "q\\"};
    const auto wide = [&] { return r.next() >> r.below(64); };
    for (std::size_t i = 0; i < events; ++i) {
        event e{.kind = static_cast<event_kind>(r.below(event_kinds))};
        const unsigned fields = fields_of(e.kind);
        ids reads, writes;
        if (fields & field_id) e.id = static_cast<std::uint32_t>(wide());
        if (fields & field_stream) e.stream = static_cast<std::uint16_t>(wide());
        if (fields & field_tag) e.tag = static_cast<std::uint16_t>(r.below(t.head.tags.size()));
        if (fields & field_phase) e.phase = static_cast<std::uint8_t>(r.below(t.head.phases.size()));
        if (fields & field_bytes) e.bytes = wide();
        if (fields & field_alignment) e.alignment = std::uint32_t{1} << r.below(32);
        if (fields & field_nanoseconds) e.nanoseconds = static_cast<std::int64_t>(wide() >> 1) - 1;
        if (fields & field_flops) e.flops = wide();
        if (fields & field_tokens) e.tokens = wide();
        if (fields & field_operands) {
            reads.resize(r.below(4));
            writes.resize(r.below(4));
            for (auto* list : {&reads, &writes})
                for (auto& id : *list) id = static_cast<std::uint32_t>(wide());
        }
        t.add(e, reads, writes);
    }
    return t;
}

void expect_equal(const trace& read, const trace& written, const std::string& file)
{
    const trace_header &a = read.header(), &b = written.header();
    EXPECT_EQ(a.spec, "file:" + file);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.params, b.params);
    EXPECT_EQ(a.seed, b.seed);
    EXPECT_EQ(a.streams, b.streams);
    EXPECT_EQ(a.tags, b.tags);
    EXPECT_EQ(a.phases, b.phases);
    EXPECT_TRUE(events_of(read) == events_of(written));
    EXPECT_TRUE(events_of(read) == events_of(written)) << "a second time";
}

TEST_P(TraceFile, ReadsBackArbitraryEvents)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        memory_trace t = arbitrary_trace(seed, seed * seed * 30);
        t.cut = 1 + seed * 37;
        write_trace(t, path(), GetParam());
        expect_equal(*open_trace_file(path()), t, path());
    }
}

TEST_P(TraceFile, ReadsBackWorkloads)
{
    for (const char* spec : {"kv-pair:heads=2,head-dim=256,step=512,to=82944,warm=1MiB/48MiB+48MiB,sync=step",
                             "random:events=30000,streams=4,share=0.3,order=shuffled,sync=step", "random:events=1"}) {
        const auto t = make_trace(spec, 11);
        write_trace(*t, path(), GetParam());
        const auto read = make_trace("file:" + path(), 5);
        expect_equal(*read, *t, path());
        EXPECT_EQ(summarise(*read).max_live_bytes, summarise(*t).max_live_bytes);
        EXPECT_EQ(make_trace(read->header().spec, 5)->header().spec, read->header().spec);
    }
}

TEST_P(TraceFile, KernelsWithManyOperands)
{
    memory_trace t;
    for (std::uint32_t i = 0; i < 65'535; ++i) t.alloc(i, 1);
    ids all(65'535);
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    for (int i = 0; i < 5; ++i) t.kernel(all, all);
    write_trace(t, path(), GetParam());
    expect_equal(*open_trace_file(path()), t, path());
}

TEST_P(TraceFile, CutOffAnywhereIsAnError)
{
    write_trace(arbitrary_trace(3, 12), path("whole"), GetParam());
    const std::string bytes = read(path("whole"));
    const std::size_t needed = bytes.size() - (GetParam() == trace_format::json_lines ? 1 : 0);   // a line end may be missing
    for (std::size_t n = 0; n < needed; ++n) {
        const std::string file = write(bytes.substr(0, n));
        EXPECT_EQ(error_in(file).rfind(file, 0), 0u) << n;
    }
}

TEST_P(TraceFile, DamageNeverCrashes)
{
    write_trace(arbitrary_trace(4, 12), path("whole"), GetParam());
    const std::string bytes = read(path("whole"));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (const int flip : {1, 0x80, 0xff}) {
            std::string damaged = bytes;
            damaged[i] = static_cast<char>(damaged[i] ^ flip);
            const std::string file = write(damaged);
            if (GetParam() == trace_format::packed) {
                EXPECT_EQ(error_in(file).rfind(file, 0), 0u) << i;
                continue;
            }
            try {   // text has no checksum: some damage is a different trace
                events_of(*open_trace_file(file));
            } catch (const input_error&) {
            }
        }
}

TEST_P(TraceFile, DataBehindTheEnd)
{
    write_trace(arbitrary_trace(5, 3), path("whole"), GetParam());
    EXPECT_NE(error_in(write(read(path("whole")) + "x")).find("behind the end"), std::string::npos);
}

TEST_P(TraceFile, ForeignFiles)
{
    EXPECT_EQ(error_in(write("")), path() + ": the file is empty");
    EXPECT_EQ(error_in(write("hello\n")), path() + ": not a trace of vrambench (neither JSON lines nor packed)");
    EXPECT_EQ(error_in(write("VRAM is memory")), path() + ": offset 0: not a packed trace");
    EXPECT_EQ(error_in(write("{\"event\":\"allocate\"}\n")),
            path() + ":1: not a trace of vrambench ('vrambench_trace' is missing)");
    EXPECT_EQ(error_in(write("{nonsense\n")), path() + ":1: not valid JSON");
    EXPECT_EQ(error_in(write("{\"vrambench_trace\":2}\n")),
            path() + ":1: trace version 2, but this program reads version 1");
    EXPECT_EQ(error_in(write(std::string("VRTP\2\0\0\0", 8))),
            path() + ": offset 4: trace version 2, but this program reads version 1");
    EXPECT_NE(error_in(path("missing")).find("No such file"), std::string::npos);
    EXPECT_NE(error_in(folder_.string()).find("Is a directory"), std::string::npos);
    EXPECT_NE(error_in(write("{" + std::string(20'000'000, 'x'))).find("longer than"), std::string::npos);
}

TEST_P(TraceFile, ChangedWhileInUse)
{
    write_trace(*make_trace("random:events=100", 1), path(), GetParam());
    const auto t = open_trace_file(path());
    write_trace(*make_trace("random:events=100", 2), path(), GetParam());
    EXPECT_EQ(error_of([&] { t->open(); }), path() + ": the file was changed while it was in use");
}

class failing_trace final : public trace {
public:
    explicit failing_trace(const trace& good) : good_(good) {}
    const trace_header& header() const override { return good_.header(); }
    std::unique_ptr<trace_source> open() const override { return std::make_unique<source>(good_.open()); }

private:
    class source final : public trace_source {
    public:
        explicit source(std::unique_ptr<trace_source> good) : good_(std::move(good)) {}
        bool fill(event_batch& b) override
        {
            if (++fills_ > 3) throw std::runtime_error("broken");
            return good_->fill(b);
        }

    private:
        std::unique_ptr<trace_source> good_;
        int fills_ = 0;
    };
    const trace& good_;
};

TEST_P(TraceFile, AppearsWholeOrNotAtAll)
{
    const auto good = make_trace("random:events=100000", 1);
    EXPECT_THROW(write_trace(failing_trace(*good), path(), GetParam()), std::runtime_error);
    EXPECT_EQ(files(), 0u);
    write("old");
    EXPECT_THROW(write_trace(failing_trace(*good), path(), GetParam()), std::runtime_error);
    EXPECT_EQ(read(path()), "old");
    EXPECT_EQ(files(), 1u);
    write_trace(*good, path(), GetParam());
    EXPECT_EQ(files(), 1u);
    EXPECT_NE(read(path()), "old");
}

TEST_P(TraceFile, CannotBeWritten)
{
    const auto t = make_trace("random:events=100", 1);
    EXPECT_NE(error_of([&] { write_trace(*t, path("no/such/folder"), GetParam()); }).find("No such file"),
            std::string::npos);
    EXPECT_NE(error_of([&] { write_trace(*t, folder_.string(), GetParam()); }).find("not a regular file"),
            std::string::npos);
    EXPECT_NE(error_of([&] { write_trace(*t, "/dev/null", GetParam()); }).find("not a regular file"), std::string::npos);
}

// ---- the two forms apart ----

/// A file with this header and these lines.
class JsonText : public TraceFile {
protected:
    std::string file(const std::string& lines) const
    {
        return write("{\"vrambench_trace\":1,\"name\":\"n\",\"spec\":\"s\",\"params\":{},\"seed\":0,\"streams\":1,"
                     "\"tags\":[\"t\"],\"phases\":[\"p\"]}\n" + lines);
    }
    std::string error(const std::string& line) const
    {
        const std::string message = error_in(file(line + "\n{\"op\":\"end\",\"events\":1}\n"));
        EXPECT_EQ(message.rfind(path() + ":2: ", 0), 0u) << message;
        return message.substr(std::min(message.size(), path().size() + 4));
    }
};
INSTANTIATE_TEST_SUITE_P(Text, JsonText, ::testing::Values(trace_format::json_lines));

TEST_P(JsonText, IsAsDocumented)
{
    memory_trace t;
    t.head.params = {{"b", "1"}, {"a", "2"}};
    t.add({.kind = event_kind::step, .tag = 0, .tokens = 512});
    t.add({.kind = event_kind::alloc, .tag = 1, .id = 3, .alignment = 128, .bytes = 1000});
    t.add({.kind = event_kind::alloc, .tag = 1, .stream = 1, .id = 4, .alignment = 256, .bytes = 7});
    t.add({.kind = event_kind::kernel, .tag = 1, .bytes = 10, .flops = 20}, {3}, {4, 5});
    t.kernel({}, {}, 0);
    t.free(3);
    t.add({.kind = event_kind::sync_device});
    write_trace(t, path(), trace_format::json_lines);
    EXPECT_EQ(read(path()),
              "{\"vrambench_trace\":1,\"name\":\"test\",\"spec\":\"test\",\"params\":{\"b\":\"1\",\"a\":\"2\"},\"seed\":0,"
              "\"streams\":1,\"tags\":[\"step\",\"tag\"],\"phases\":[\"phase\"]}\n"
              "{\"op\":\"step\",\"label\":\"step\",\"phase\":\"phase\",\"tokens\":512}\n"
              "{\"op\":\"alloc\",\"block\":3,\"bytes\":1000,\"tag\":\"tag\"}\n"
              "{\"op\":\"alloc\",\"block\":4,\"bytes\":7,\"align\":256,\"stream\":1,\"tag\":\"tag\"}\n"
              "{\"op\":\"kernel\",\"reads\":[3],\"writes\":[4,5],\"flops\":20,\"bytes\":10,\"tag\":\"tag\"}\n"
              "{\"op\":\"kernel\",\"ns\":0,\"tag\":\"tag\"}\n"
              "{\"op\":\"free\",\"block\":3}\n"
              "{\"op\":\"sync_device\"}\n"
              "{\"op\":\"end\",\"events\":7}\n");
}

TEST_P(JsonText, EditedByHand)
{
    const auto t = open_trace_file(file("\r\n\n  {\"tag\": \"t\", \"bytes\": 5, \"block\": 0, \"op\": \"alloc\"}\r\n{\"op\":\"end\",\"events\":1}"));
    const auto e = events_of(*t);
    ASSERT_EQ(e.size(), 1u);
    EXPECT_EQ(e[0].e.bytes, 5u);
    EXPECT_EQ(e[0].e.alignment, 128u);
}

TEST_P(JsonText, BadLines)
{
    EXPECT_EQ(error("{\"op\":"), "not valid JSON");
    EXPECT_EQ(error("[1]"), "not a JSON object");
    EXPECT_EQ(error("{}"), "'op' is missing");
    EXPECT_EQ(error("{\"op\":3}"), "'op' is not a text");
    EXPECT_EQ(error("{\"op\":\"malloc\"}"), "unknown op 'malloc'");
    EXPECT_EQ(error("{\"op\":\"free\"}"), "'block' is missing");
    EXPECT_EQ(error("{\"op\":\"alloc\",\"block\":0,\"tag\":\"t\"}"), "'bytes' is missing");
    EXPECT_EQ(error("{\"op\":\"alloc\",\"block\":0,\"bytes\":1}"), "'tag' is missing");
    EXPECT_EQ(error("{\"op\":\"step\",\"label\":\"t\"}"), "'phase' is missing");
    EXPECT_EQ(error("{\"op\":\"free\",\"block\":0,\"size\":1}"), "unknown key 'size' of free");
    EXPECT_EQ(error("{\"op\":\"free\",\"block\":-1}"), "'block' is not a whole number from 0");
    EXPECT_EQ(error("{\"op\":\"free\",\"block\":1.5}"), "'block' is not a whole number from 0");
    EXPECT_EQ(error("{\"op\":\"free\",\"block\":\"1\"}"), "'block' is not a whole number from 0");
    EXPECT_EQ(error("{\"op\":\"free\",\"block\":4294967296}"), "'block' is too large (at most 4294967295)");
    EXPECT_EQ(error("{\"op\":\"free\",\"block\":0,\"stream\":65536}"), "'stream' is too large (at most 65535)");
    EXPECT_EQ(error("{\"op\":\"kernel\",\"tag\":\"u\"}"), "the header does not list the tag 'u'");
    EXPECT_EQ(error("{\"op\":\"step\",\"label\":\"t\",\"phase\":\"q\"}"), "the header does not list the phase 'q'");
    EXPECT_EQ(error("{\"op\":\"kernel\",\"tag\":\"t\",\"reads\":3}"), "'reads' is not a list of at most 65535 blocks");
    EXPECT_EQ(error("{\"op\":\"kernel\",\"tag\":\"t\",\"reads\":[null]}"), "'reads' is not a whole number from 0");
    EXPECT_EQ(error("{\"op\":\"end\",\"events\":5}"), "0 events, but the end line says 5");
}

TEST_P(JsonText, BadHeaders)
{
    const auto header = [&](const std::string& from, const std::string& to) {
        std::string text = "{\"vrambench_trace\":1,\"name\":\"n\",\"spec\":\"s\",\"params\":{},\"seed\":0,\"streams\":1,\"tags\":[\"t\"],"
                           "\"phases\":[\"p\"]}\n{\"op\":\"end\",\"events\":0}\n";
        text.replace(text.find(from), from.size(), to);
        return error_in(write(text)).substr(path().size() + 4);
    };
    EXPECT_EQ(header("\"streams\":1,", "\"streams\":0,"), "a trace has at least one stream");
    EXPECT_EQ(header("\"streams\":1,", "\"streams\":65,"), "'streams' is too large (at most 64)");
    EXPECT_EQ(header("\"seed\":0,", ""), "'seed' is missing");
    EXPECT_EQ(header("\"t\"", "\"t\",\"t\""), "'tags' holds 't' twice");
    EXPECT_EQ(header("\"t\"", "1"), "'tags' is not a text");
    EXPECT_EQ(header("{}", "[]"), "'params' is not an object");
    EXPECT_EQ(header("{}", "{\"k\":1}"), "'k' is not a text");
}

TEST_P(JsonText, CutOff)
{
    EXPECT_EQ(error_in(file("{\"op\":\"sync_device\"}\n")), path() + ": cut off: it has no end line");
    EXPECT_EQ(error_in(file("{\"op\":\"sync_dev")), path() + ":2: cut off inside this line");
}

class PackedSize : public TraceFile {};
INSTANTIATE_TEST_SUITE_P(Binary, PackedSize, ::testing::Values(trace_format::packed));

TEST_P(PackedSize, IsSmall)
{
    const auto t = make_trace("kv-pair:heads=8,head-dim=128,step=512,to=131072,layers=40", 1);
    write_trace(*t, path(), trace_format::packed);
    EXPECT_LT(fs::file_size(path()), 11 * summarise(*t).events);
}

TEST_P(PackedSize, NamesTheOffset)
{
    write_trace(arbitrary_trace(3, 12), path("whole"), trace_format::packed);
    std::string bytes = read(path("whole"));
    EXPECT_EQ(error_in(write(bytes.substr(0, bytes.size() - 3))),
              path() + ": offset " + std::to_string(bytes.size() - 3) + ": the file is cut off here");
    bytes[bytes.size() - 20] ^= 1;
    EXPECT_NE(error_in(write(bytes)).find("the checksum of this chunk is wrong"), std::string::npos);
}

}  // namespace
}  // namespace vrambench::test
