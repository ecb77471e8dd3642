#pragma once
// What a GPU runtime offers, as one interface: raw, stream-ordered and virtual memory; streams, events, graphs; kernels;
// a clock. Allocators are written once against it. No GPU call outside this folder.
//
// Threads: one host thread drives a device object. Out of memory is a value (a null address or handle); every other
// failure throws device_error with the vendor's code and name.

#include "device/host_clock.hpp"
#include "device/observer.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace vrambench {

using device_ptr = std::uint64_t;    ///< an address in device memory; 0 is null
using stream_id = std::uint32_t;     ///< 0 ... streams() - 1
using event_id = std::uint32_t;      ///< chosen by the caller, dense
using pool_id = std::uint32_t;
using graph_id = std::uint32_t;      ///< chosen by the caller, dense
using vmm_handle = std::uint64_t;    ///< physical memory without an address; 0 is null

/// Kinds of driver calls, as counted in `driver_calls`.
enum class driver_call : std::uint8_t {
    malloc, free, malloc_async, free_async, pool_create, pool_destroy, pool_trim,
    reserve, unreserve, create, map, set_access, unmap, release,
    sync, record, wait, launch, graph_launch, memory_info,
};
inline constexpr std::size_t driver_call_kinds = 20;
const char* to_string(driver_call call);

using driver_call_counts = std::array<std::uint64_t, driver_call_kinds>;

/// A driver error other than out of memory. `what()` is "CALL: NAME (CODE): context".
class device_error : public std::runtime_error {
public:
    device_error(driver_call call, int code, std::string name, const std::string& context);
    driver_call call() const { return call_; }
    int code() const { return code_; }
    const std::string& name() const { return name_; }

private:
    driver_call call_;
    int code_;
    std::string name_;
};

/// The device cannot do this at all (no virtual memory, graph memory not modelled): the cell is `unsupported`.
class unsupported_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct device_info {
    std::string kind;                        ///< "sim", "cuda", ...
    std::string name;                        ///< "h200"
    std::string spec;                        ///< canonical
    bool simulated = false;
    bool times_known = true;                 ///< false: a simulated card whose calls nobody timed; its clock means nothing
    std::uint64_t total_bytes = 0;
    std::uint64_t vmm_granularity = 0;       ///< recommended, bytes; 0: no virtual memory management
    std::uint64_t vmm_smallest = 0;          ///< the least granularity that the driver states, bytes; 0: not known
    std::uint64_t physical_block = 0;        ///< raw allocations occupy multiples of this, bytes
    std::uint64_t shared_up_to = 0;          ///< raw requests up to this may share one block, bytes
    std::uint64_t raw_margin = 0;            ///< a raw allocation is had only while this much stays free beside it, bytes,
    std::uint64_t handle_margin = 0;         ///< and a handle of virtual memory
    bool has_pools = true;                   ///< stream-ordered memory pools
    std::uint64_t pool_step = 1;             ///< they take memory of the device in multiples of this, bytes,
    std::uint64_t pool_margin = 0;           ///< and only while this much stays free beside it
    std::uint64_t flops_per_second = 0;      ///< f16 matrix rate: of the roofline that kernel times follow
    std::uint64_t bytes_per_second = 0;      ///< read plus written: the same
    std::map<std::string, std::string> facts = {};   ///< what else is worth knowing: driver, architecture, ECC, ...
    std::map<std::string, std::string> claims = {};  ///< capability bits as the driver states them, whatever is true
    std::string why_no_pools = {};           ///< of pools that the driver states and that failed their probe: what was seen
    std::string why_no_virtual_memory = {};  ///< the same of virtual memory
};

/// What failed its probe when a run was planned, and so is not used. Empty: it works, was not asked, or is forced.
struct failed_features {
    std::string pools;                       ///< what was seen, one line
    std::string virtual_memory;
};

/// What a card reaches, by kernels of ours. The process that plans asks once; every repetition of the run uses the same.
struct card_rates {
    std::uint64_t flops_per_second = 0;      ///< f16 matrix rate; 0: the kernel has no form for this card
    std::uint64_t bytes_per_second = 0;      ///< read plus written
    std::string flops_source;                ///< how each was measured, or why not and what stands in its place
    std::string bytes_source;
};

/// Puts measured rates into the roofline. What was not measured is that of an H200, as in the simulator's profile; the
/// facts say so.
void use_rates(device_info& info, const card_rates& rates);

/// What was found between two devices of one runtime, of which `to` uses memory of `from`.
struct peer_trial {
    bool stated = false;                     ///< the driver says that access is possible
    std::string access_refused = {};         ///< where it is stated: why it could not be enabled, one line; else empty
    std::string copy_refused = {};           ///< why a block could not be copied over, one line; else empty
    std::uint64_t wrong_words = 0;           ///< of 8 bytes each, in the block that was copied over
};

/// How a card's clocks stand, as its vendor's management library says.
struct card_condition {
    std::uint64_t sm_mhz = 0, memory_mhz = 0;
    std::uint64_t temperature_c = 0;
    std::uint64_t power_mw = 0;
    std::vector<std::string> held_by;        ///< what keeps the clocks from being higher: "idle", "power-cap", ...
};

struct memory_info {
    std::uint64_t free_bytes = 0;
    std::uint64_t total_bytes = 0;
};

struct pool_settings {
    std::uint64_t threshold = UINT64_MAX;    ///< bytes that a synchronisation leaves in the pool
    bool follow_events = true;
    bool opportunistic = true;
    bool internal_dependencies = true;
};

struct pool_usage {
    std::uint64_t reserved = 0, reserved_high = 0;   ///< bytes
    std::uint64_t used = 0, used_high = 0;           ///< bytes
    std::uint64_t pending = 0;                       ///< freed bytes the pool does not yet know to be complete; 0 where the driver does not tell
};

/// One block that a kernel touches. In a replayed launch the address was baked in at capture, and the block may have been
/// freed since: `captured` says so.
struct kernel_access {
    static constexpr std::uint64_t not_captured = UINT64_MAX;

    device_ptr pointer = 0;
    std::uint64_t bytes = 0;
    std::uint32_t block = 0;                 ///< the trace's id, for reports and patterns
    bool write = false;
    std::uint64_t captured = not_captured;   ///< in a replayed launch: the trace event that ended the graph's capture

    bool is_replayed() const { return captured != not_captured; }
};

/// What the kernels did, from their own stamps (GPU) or the virtual timeline (sim). Picoseconds since reset_activity();
/// negative: not known.
struct device_activity {
    std::int64_t busy_ps = 0;                ///< time in which at least one kernel ran
    std::int64_t empty_queue_ps = 0;         ///< time in which no launch waited behind a running one
    std::int64_t span_ps = 0;                ///< from the reset to the end of the last kernel or of the host, the later
    std::int64_t stated_kernels = -1;        ///< launches with a stated time and blocks to touch (a GPU)
    std::int64_t overrun_kernels = -1;       ///< of these, those whose writing alone outlasted the stated time
};

class device {
public:
    virtual ~device() = default;

    virtual const device_info& info() const = 0;
    /// The clock that times calls: the host's counter on a GPU, the virtual clock on `sim`. Valid as long as the device.
    const host_clock& clock() const { return clock_; }
    /// Everything that a trace needs beside its memory (context, streams, pools) has been made: from here on the free
    /// memory is what the limit says. A GPU takes its ballast now. Throws unsupported_error where it cannot be reached.
    virtual void settle() {}
    /// Prices `units` of a policy's own work on a virtual clock; nothing on a real one.
    void charge(std::uint64_t units) { clock_.charge(units); }

    // Streams and events. Streams are numbered 0 ... n-1; set_streams makes them before anything runs.
    virtual void set_streams(std::uint32_t n) = 0;
    virtual void record(event_id event, stream_id stream) = 0;
    virtual void wait(event_id event, stream_id stream) = 0;
    virtual void sync_stream(stream_id stream) = 0;
    virtual void sync_device() = 0;

    // Raw memory. free waits for the device where the vendor's does.
    virtual device_ptr malloc(std::uint64_t bytes) = 0;
    virtual void free(device_ptr pointer) = 0;
    virtual memory_info query_memory() = 0;

    // Stream-ordered memory.
    virtual pool_id create_pool(const pool_settings& settings) = 0;
    virtual void destroy_pool(pool_id pool) = 0;
    virtual pool_id default_pool() = 0;
    virtual void set_threshold(pool_id pool, std::uint64_t bytes) = 0;
    virtual void trim_pool(pool_id pool, std::uint64_t keep_bytes) = 0;
    virtual pool_usage usage(pool_id pool) = 0;                 ///< attributes, not free memory: cheap
    virtual device_ptr malloc_async(std::uint64_t bytes, pool_id pool, stream_id stream) = 0;
    virtual void free_async(device_ptr pointer, stream_id stream) = 0;

    // Virtual memory. Sizes are multiples of info().vmm_granularity. create returns 0 when out of memory.
    virtual device_ptr reserve(std::uint64_t bytes) = 0;        ///< 0: no such address range
    virtual void unreserve(device_ptr pointer, std::uint64_t bytes) = 0;
    virtual vmm_handle create(std::uint64_t bytes) = 0;
    virtual void map(device_ptr pointer, std::uint64_t bytes, vmm_handle handle) = 0;
    virtual void set_access(device_ptr pointer, std::uint64_t bytes) = 0;
    virtual void unmap(device_ptr pointer, std::uint64_t bytes) = 0;   ///< whole mappings
    virtual void release(vmm_handle handle) = 0;                ///< the memory lives on while it is mapped

    // Kernels and graphs. A launch takes at least `picoseconds` on the device and touches the blocks named.
    virtual void launch(stream_id stream, std::int64_t picoseconds, std::span<const kernel_access> accesses) = 0;
    /// Copies within the device, by the driver's own means: after all that is queued, done when it returns. Not a trace's call,
    /// and not counted. `to` and `from` are both allocated.
    virtual void copy(device_ptr /*to*/, device_ptr /*from*/, std::uint64_t /*bytes*/)
    {
        throw unsupported_error("the device offers no copies");
    }
    /// Copies a patterned block of `bytes` from device `from` to device `to`, both by their numbers in this device's runtime, with
    /// peer access enabled where the driver states it, and compares. Opens both devices and keeps none of their memory. Throws
    /// unsupported_error where one cannot be used or has not the bytes. Not a trace's call, and not counted.
    virtual peer_trial try_peer(int /*to*/, int /*from*/, std::uint64_t /*bytes*/)
    {
        throw unsupported_error("the device has no peers");
    }
    virtual void capture_begin(stream_id stream) = 0;           ///< launches on the stream are recorded, not executed
    virtual void capture_end(stream_id stream, graph_id graph) = 0;
    virtual void graph_launch(graph_id graph, stream_id stream) = 0;

    // Measurement, outside timed calls.
    virtual device_activity activity() = 0;                     ///< synchronise first
    virtual void reset_activity() = 0;
    /// Host time at which the work queued now will have ended (sim), or negative where it cannot be known in advance (a GPU).
    virtual std::int64_t busy_until_ps() const { return -1; }
    /// Time between two past host times in which a kernel ran. Negative: not known. On a GPU by the kernels' own stamps, once
    /// it has been synchronised (their timer is matched to the host's at reset_activity(), to some microseconds); on `sim`
    /// exact as long as nothing was launched since `begin`.
    virtual std::int64_t busy_within_ps(std::int64_t /*begin*/, std::int64_t /*end*/) { return -1; }
    /// Clocks, temperature and power while a kernel of 20 ms runs; none where no management library tells. Never throws.
    virtual std::optional<card_condition> condition() { return std::nullopt; }
    /// Measures what the card reaches (about two seconds, up to 2 GiB of its memory); none on a simulated device.
    virtual std::optional<card_rates> measure_rates() { return std::nullopt; }
    /// Lowest free bytes since reset_low_water(), where the device knows it without asking (sim); else UINT64_MAX.
    virtual std::uint64_t lowest_free_bytes() const { return UINT64_MAX; }
    virtual void reset_low_water() {}
    /// Checks of what the allocator hands out (sim); null when they are off or the kernels check for themselves (a GPU).
    virtual block_observer* observer() { return nullptr; }

    /// Successful calls since construction, and those that answered out of memory.
    virtual driver_call_counts calls() const { return calls_; }
    virtual driver_call_counts refused_calls() const { return refused_; }
    /// Whether the last call that takes memory was refused by an injected fault, not for want of memory.
    virtual bool refused_on_purpose() const { return false; }
    /// An adaptor that injects faults refuses and counts nothing while they are suspended.
    virtual void suspend_faults(bool) {}

protected:
    void count(driver_call call) { ++calls_[static_cast<std::size_t>(call)]; }
    void count_refused(driver_call call) { ++refused_[static_cast<std::size_t>(call)]; }
    host_clock clock_;

private:
    driver_call_counts calls_{};
    driver_call_counts refused_{};
};

}  // namespace vrambench
