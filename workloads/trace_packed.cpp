#include "workloads/trace_packed.hpp"

#include "spec/errors.hpp"
#include "workloads/event_fields.hpp"
#include "workloads/trace_json.hpp"

#include <array>
#include <limits>
#include <string>
#include <utility>

namespace vrambench {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{256} << 10;   // a chunk ends with the event that exceeds this
constexpr std::size_t longest_chunk = longest_header;         // above the largest event and the largest header

std::uint64_t checksum(std::string_view data)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : data) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

// ---- writing ----

template <class T>
void put_fixed(std::string& out, T value)
{
    for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

void put_number(std::string& out, std::uint64_t value)
{
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

void put_event(std::string& out, const event& e, const event_batch& batch)
{
    const unsigned fields = fields_of(e.kind);
    out += static_cast<char>(e.kind);
    if (fields & field_id) put_number(out, e.id);
    if (fields & field_stream) put_number(out, e.stream);
    if (fields & field_tag) put_number(out, e.tag);
    if (fields & field_bytes) put_number(out, e.bytes);
    if (fields & field_alignment) put_number(out, e.alignment);
    if (fields & field_operands) {
        put_number(out, e.n_reads);
        put_number(out, e.n_writes);
        for (const std::uint32_t id : batch.reads(e)) put_number(out, id);
        for (const std::uint32_t id : batch.writes(e)) put_number(out, id);
    }
    if (fields & field_nanoseconds) put_number(out, e.nanoseconds < 0 ? 0 : static_cast<std::uint64_t>(e.nanoseconds) + 1);
    if (fields & field_flops) put_number(out, e.flops);
    if (fields & field_phase) put_number(out, e.phase);
    if (fields & field_tokens) put_number(out, e.tokens);
}

class chunk_writer {
public:
    explicit chunk_writer(output_file& out) : out_(out) {}

    void add(const event& e, const event_batch& batch)
    {
        put_event(payload_, e, batch);
        if (++events_ == batch_events || payload_.size() > chunk_bytes) flush();
    }
    void flush()
    {
        if (payload_.empty()) return;
        write(payload_, events_);
        written_ += events_;
        payload_.clear();
        events_ = 0;
    }
    void write(std::string_view payload, std::uint32_t events)
    {
        std::string head;
        put_fixed(head, static_cast<std::uint32_t>(payload.size()));
        put_fixed(head, events);
        put_fixed(head, checksum(payload));
        out_.write(head);
        out_.write(payload);
    }
    void end()
    {
        flush();
        std::string tail;
        put_fixed(tail, std::uint64_t{0});
        put_fixed(tail, written_);
        out_.write(tail);
    }

private:
    output_file& out_;
    std::string payload_;
    std::uint32_t events_ = 0;
    std::uint64_t written_ = 0;
};

// ---- reading ----

struct chunk {
    std::uint64_t offset = 0;   // of the payload in the file
    std::uint32_t events = 0;
    std::string payload;        // empty: this is the end, and `total` holds the number of events
    std::uint64_t total = 0;
};

[[noreturn]] void fail(const input_file& in, std::uint64_t offset, const std::string& problem)
{
    throw input_error(in.shown_path() + ": offset " + std::to_string(offset) + ": " + problem);
}

void read_all(input_file& in, void* data, std::size_t size)
{
    if (in.read(data, size) != size) fail(in, in.offset(), "the file is cut off here");
}

template <class T>
T get_fixed(input_file& in)
{
    std::array<unsigned char, sizeof(T)> bytes{};
    read_all(in, bytes.data(), bytes.size());
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(T{bytes[i]} << (8 * i));
    return value;
}

void read_chunk(input_file& in, chunk& c)
{
    const std::uint64_t start = in.offset();
    const auto size = get_fixed<std::uint32_t>(in);
    c.events = get_fixed<std::uint32_t>(in);
    const auto last = get_fixed<std::uint64_t>(in);
    c.offset = in.offset();
    if (size > longest_chunk || c.events > batch_events || (size == 0 && c.events != 0))
        fail(in, start, "damaged: a chunk of " + std::to_string(size) + " bytes, " + std::to_string(c.events) + " events");
    c.payload.resize(size);
    c.total = last;
    read_all(in, c.payload.data(), size);
    if (size != 0 && checksum(c.payload) != last) fail(in, start, "damaged: the checksum of this chunk is wrong");
}

/// Takes numbers from a payload. The checksum was right, so what does not fit was written wrong.
class number_reader {
public:
    number_reader(const input_file& in, const chunk& c) : in_(in), chunk_(c) {}

    template <class T>
    T get(std::uint64_t most = std::numeric_limits<T>::max())
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            if (at_ == chunk_.payload.size()) wrong("an event is longer than its chunk");
            const auto byte = static_cast<unsigned char>(chunk_.payload[at_++]);
            const std::uint64_t group = byte & 0x7fu;
            if (shift > 63 || (shift == 63 && group > 1)) wrong("a number exceeds 64 bits");
            value |= group << shift;
            if (byte < 0x80) break;
        }
        if (value > most) wrong(std::to_string(value) + " where at most " + std::to_string(most) + " is possible");
        return static_cast<T>(value);
    }
    bool at_end() const { return at_ == chunk_.payload.size(); }
    [[noreturn]] void wrong(const std::string& problem) const { fail(in_, chunk_.offset + at_, "malformed: " + problem); }

private:
    const input_file& in_;
    const chunk& chunk_;
    std::size_t at_ = 0;
};

event get_event(number_reader& numbers, event_batch& batch)
{
    event e{.kind = static_cast<event_kind>(numbers.get<std::uint8_t>(event_kinds - 1))};
    const unsigned fields = fields_of(e.kind);
    if (fields & field_id) e.id = numbers.get<std::uint32_t>();
    if (fields & field_stream) e.stream = numbers.get<std::uint16_t>();
    if (fields & field_tag) e.tag = numbers.get<std::uint16_t>();
    if (fields & field_bytes) e.bytes = numbers.get<std::uint64_t>();
    if (fields & field_alignment) e.alignment = numbers.get<std::uint32_t>();
    if (fields & field_operands) {
        e.n_reads = numbers.get<std::uint16_t>();
        e.n_writes = numbers.get<std::uint16_t>();
        e.first_operand = static_cast<std::uint32_t>(batch.operands.size());
        for (unsigned i = 0; i < unsigned{e.n_reads} + e.n_writes; ++i)
            batch.operands.push_back(numbers.get<std::uint32_t>());
    }
    if (fields & field_nanoseconds) {
        const auto above = numbers.get<std::uint64_t>(std::uint64_t{1} << 63);
        e.nanoseconds = above == 0 ? -1 : static_cast<std::int64_t>(above - 1);
    }
    if (fields & field_flops) e.flops = numbers.get<std::uint64_t>();
    if (fields & field_phase) e.phase = numbers.get<std::uint8_t>();
    if (fields & field_tokens) e.tokens = numbers.get<std::uint64_t>();
    return e;
}

class packed_source final : public trace_source {
public:
    explicit packed_source(input_file in) : in_(std::move(in)) {}

    bool fill(event_batch& batch) override
    {
        batch.clear();
        if (ended_) return false;
        read_chunk(in_, chunk_);
        if (chunk_.payload.empty()) {
            end();
            return false;
        }
        batch.events.reserve(batch_events);
        number_reader numbers(in_, chunk_);
        for (std::uint32_t i = 0; i < chunk_.events; ++i) batch.events.push_back(get_event(numbers, batch));
        if (!numbers.at_end() || chunk_.events == 0) numbers.wrong("a chunk is longer than its events");
        events_ += chunk_.events;
        return true;
    }

private:
    void end()
    {
        ended_ = true;
        if (chunk_.total != events_)
            fail(in_, chunk_.offset, std::to_string(events_) + " events, but the end says " + std::to_string(chunk_.total));
        if (in_.peek() != -1) fail(in_, in_.offset(), "data behind the end");
    }

    input_file in_;
    chunk chunk_;
    std::uint64_t events_ = 0;
    bool ended_ = false;
};

}  // namespace

void write_packed(const trace& t, output_file& out)
{
    std::string start(packed_magic);
    put_fixed(start, static_cast<std::uint32_t>(trace_version));
    out.write(start);
    chunk_writer writer(out);
    writer.write(header_to_json(t.header()), 0);
    const auto source = t.open();
    event_batch batch;
    while (source->fill(batch))
        for (const event& e : batch.events) writer.add(e, batch);
    writer.end();
}

trace_header read_packed_header(input_file& in)
{
    std::string magic(packed_magic.size(), '\0');
    read_all(in, magic.data(), magic.size());
    if (magic != packed_magic) fail(in, 0, "not a packed trace");
    const auto version = get_fixed<std::uint32_t>(in);
    if (version != trace_version)
        fail(in, packed_magic.size(), "trace version " + std::to_string(version) + ", but this program reads version " +
                                          std::to_string(trace_version));
    chunk c;
    read_chunk(in, c);
    if (c.events != 0) fail(in, c.offset, "damaged: the header is no header");
    return header_from_json(c.payload, in.shown_path() + ": offset " + std::to_string(c.offset));
}

std::unique_ptr<trace_source> read_packed_events(input_file in)
{
    return std::make_unique<packed_source>(std::move(in));
}

}  // namespace vrambench
