// ggml's stack on virtual memory, rule by rule: which driver calls in which order, how much it maps, where it ends.

#include "allocators/vmm_stack.hpp"
#include "spec/units.hpp"
#include "tests/allocators/scripted_device.hpp"
#include "tests/allocators/specs.hpp"

#include <gtest/gtest.h>

namespace vrambench::test {
namespace {

constexpr std::uint64_t granule = scripted_device::granularity;

TEST(vmm, takes_nothing_before_the_first_request)
{
    scripted_device dev;
    {
        vmm_stack pool(dev, 0);
    }
    EXPECT_EQ(dev.log_since(0), "");
}

TEST(vmm, the_first_growth_reserves_32_gib_between_create_and_map)
{
    scripted_device dev;
    vmm_stack pool(dev, 0);
    const allocation a = pool.allocate(100, 128, 0);
    EXPECT_EQ(dev.log_since(0), "create 2097152, reserve 34359738368, map +0 2097152, release, set_access +0 2097152");
    EXPECT_EQ(a.how, path::grow);
    EXPECT_EQ(a.granted_bytes, 128u);
    EXPECT_EQ(pool.reserved_bytes(), granule);
}

TEST(vmm, later_growth_maps_the_deficit_behind_what_is_there)
{
    scripted_device dev;
    vmm_stack pool(dev, 0);
    pool.allocate(3 * MiB, 128, 0);    // 4 MiB mapped, 1 MiB left
    auto lines = dev.log.size();
    EXPECT_EQ(pool.allocate(MiB, 128, 0).how, path::hit);
    EXPECT_EQ(dev.log.size(), lines);
    EXPECT_EQ(pool.allocate(1, 128, 0).how, path::grow);
    EXPECT_EQ(dev.log_since(lines), "create 2097152, map +4194304 2097152, release, set_access +4194304 2097152");
    lines = dev.log.size();
    // 2 MiB - 128 B are left; 6 MiB want 4 MiB + 128 B more, which is 3 granules and not 6 MiB.
    EXPECT_EQ(pool.allocate(6 * MiB, 128, 0).how, path::grow);
    EXPECT_EQ(dev.log_since(lines), "create 6291456, map +6291456 6291456, release, set_access +6291456 6291456");
    EXPECT_EQ(pool.reserved_bytes(), 12 * MiB);
}

TEST(vmm, rounds_requests_up_to_128_bytes)
{
    scripted_device dev;
    vmm_stack pool(dev, 0);
    struct pair { std::uint64_t asked, granted; };
    device_ptr top = 0;
    for (const auto& [asked, granted] : {pair{1, 128}, {127, 128}, {128, 128}, {129, 256}, {1000, 1024}, {MiB - 1, MiB}}) {
        const allocation a = pool.allocate(asked, 128, 0);
        EXPECT_EQ(a.granted_bytes, granted);
        if (top) { EXPECT_EQ(a.pointer, top) << "right behind the block before"; }
        top = a.pointer + granted;
    }
}

TEST(vmm, never_shrinks)
{
    scripted_device dev;
    vmm_stack pool(dev, 0);
    const allocation a = pool.allocate(100 * MiB, 128, 0);
    const auto lines = dev.log.size();
    pool.deallocate(a.pointer, a.granted_bytes, 0);
    EXPECT_EQ(pool.trim(0), 0u);
    EXPECT_EQ(pool.reserved_bytes(), 100 * MiB);
    const allocation b = pool.allocate(100 * MiB, 128, 0);
    EXPECT_EQ(b.pointer, a.pointer);
    EXPECT_EQ(dev.log.size(), lines);
    EXPECT_EQ(pool.address_epoch(), 0u);
}

TEST(vmm, destruction_unmaps_the_range_and_frees_the_reservation)
{
    scripted_device dev;
    std::size_t lines;
    {
        vmm_stack pool(dev, 0);
        const allocation a = pool.allocate(3 * MiB, 128, 0), b = pool.allocate(3 * MiB, 128, 0);
        pool.deallocate(b.pointer, b.granted_bytes, 0);
        pool.deallocate(a.pointer, a.granted_bytes, 0);
        lines = dev.log.size();
    }
    EXPECT_EQ(dev.log_since(lines), "unmap +0 6291456, unreserve 34359738368");
    EXPECT_EQ(dev.lent_bytes(), 0u);
    EXPECT_EQ(dev.reservations(), 0u);
}

TEST(vmm, grows_in_multiples_of_its_handle)
{
    scripted_device dev;
    const auto pool = make("vmm:handle=64MiB", dev);
    pool->allocate(1, 128, 0);
    EXPECT_EQ(pool->reserved_bytes(), 64 * MiB);
    pool->allocate(64 * MiB, 128, 0);
    EXPECT_EQ(pool->reserved_bytes(), 128 * MiB);
    pool->allocate(129 * MiB, 128, 0);
    EXPECT_EQ(pool->reserved_bytes(), 256 * MiB);
}

/// A handle that the device's granularity does not divide is rounded up to it.
TEST(vmm, a_handle_is_a_multiple_of_the_granularity)
{
    scripted_device dev;
    const auto pool = make("vmm:handle=3MiB", dev);
    pool->allocate(1, 128, 0);
    EXPECT_EQ(pool->reserved_bytes(), 4 * MiB);
}

// -- last in, first out

TEST(vmm, a_free_out_of_order_is_a_policy_error_and_changes_nothing)
{
    scripted_device dev;
    vmm_stack pool(dev, 0);
    const allocation a = pool.allocate(MiB, 128, 0), b = pool.allocate(2 * MiB, 128, 0);
    EXPECT_THROW(pool.deallocate(a.pointer, a.granted_bytes, 0), policy_error);
    EXPECT_THROW(pool.deallocate(b.pointer, b.granted_bytes - 128, 0), policy_error) << "with another size";
    EXPECT_THROW(pool.deallocate(b.pointer + 128, b.granted_bytes, 0), policy_error);
    EXPECT_EQ(pool.stats().live, 3 * MiB);
    pool.deallocate(b.pointer, b.granted_bytes, 0);
    EXPECT_THROW(pool.deallocate(b.pointer, b.granted_bytes, 0), policy_error) << "twice";
    pool.deallocate(a.pointer, a.granted_bytes, 0);
    EXPECT_THROW(pool.deallocate(a.pointer, a.granted_bytes, 0), policy_error) << "of an empty stack";
    EXPECT_EQ(pool.stats().live, 0u);
}

// -- ends

TEST(vmm, ends_at_32_gib_of_addresses_whatever_the_card_has)
{
    scripted_device dev;
    vmm_stack pool(dev, 0);
    const allocation a = pool.allocate(20 * GiB, 128, 0);
    const auto lines = dev.log.size();
    const allocation b = pool.allocate(12 * GiB + 1, 128, 0);
    EXPECT_EQ(b.pointer, 0u);
    EXPECT_EQ(b.why, failure::address_space);
    EXPECT_EQ(dev.log.size(), lines) << "no physical memory was asked for";
    EXPECT_EQ(pool.stats().failures, 1u);
    const allocation c = pool.allocate(12 * GiB, 128, 0);
    EXPECT_NE(c.pointer, 0u) << "what fits exactly fits";
    EXPECT_EQ(pool.reserved_bytes(), 32 * GiB);
    EXPECT_EQ(pool.allocate(1, 128, 0).why, failure::address_space);
    pool.deallocate(c.pointer, c.granted_bytes, 0);
    EXPECT_EQ(pool.allocate(12 * GiB, 128, 0).how, path::hit);
    (void)a;
}

TEST(vmm, out_of_memory_asks_once_and_leaves_no_trace)
{
    scripted_device dev(10 * MiB);
    vmm_stack pool(dev, 0);
    const allocation a = pool.allocate(6 * MiB, 128, 0);
    const auto lines = dev.log.size();
    const allocation b = pool.allocate(5 * MiB, 128, 0);
    EXPECT_EQ(b.why, failure::memory);
    EXPECT_EQ(b.asked_bytes, 6 * MiB) << "the deficit in granules";
    EXPECT_EQ(dev.log_since(lines), "create 6291456 -> oom");
    EXPECT_NE(pool.allocate(4 * MiB, 128, 0).pointer, 0u);
    (void)a;
}

TEST(vmm, a_device_without_32_gib_of_addresses_is_out_of_address_space)
{
    scripted_device dev(std::uint64_t{1} << 40, 16 * GiB);
    vmm_stack pool(dev, 0);
    const allocation a = pool.allocate(MiB, 128, 0);
    EXPECT_EQ(a.pointer, 0u);
    EXPECT_EQ(a.why, failure::address_space);
    EXPECT_EQ(dev.lent_bytes(), 0u) << "the physical memory was created first and must go back";
}

TEST(vmm, is_unsupported_where_virtual_memory_fails_its_probe_and_says_why)
{
    scripted_device dev;
    dev.set_failed({.pools = "pools hang", .virtual_memory = "growth fails at step 3"});
    for (const auto& [spec, why] : {std::pair{"vmm", "growth fails at step 3"}, std::pair{"async", "pools hang"}}) {
        try {
            make(spec, dev);
            ADD_FAILURE() << spec;
        } catch (const unsupported_error& e) {
            EXPECT_STREQ(e.what(), why);
        }
    }
    EXPECT_NO_THROW(make("legacy", dev));
}

TEST(vmm, is_unsupported_on_a_device_without_virtual_memory)
{
    scripted_device dev;
    dev.set_granularity(0);
    EXPECT_THROW(make("vmm", dev), unsupported_error);
}

}  // namespace
}  // namespace vrambench::test
