#!/usr/bin/env python3
"""The exact figures that the core must reach, as the command shows them. Each stands here as published, and is calculated a
second time in reference.py, so that a typing error in one of the three is seen."""

import cli
import reference

MIB = cli.MIB

PAIR = "kv-pair:heads=8,head-dim=128,step=512,to=131072"
PAIR_SIZES = reference.kv_pair(heads=8, head_dim=128, step=512, to=131072)
LIVE = 512 * MIB    # of PAIR at its end: 2 buffers x 2 B x 8 x 128 x 131,072

# llama.cpp PR 22732, the SYCL list pool at teardown after a long prompt (run `large_prompt` of
# llama.cpp-22732-sycl-pool-slots.csv), MiB as printed there. Three more slots are below 0.02 MiB: not of this traffic.
FC07_SLOTS = [1.05, 4.20, 50.40, 85.05, 8.40, 50.40, 53.02, 56.17, 59.32, 62.47, 65.62, 67.20, 69.30, 70.88, 72.97, 74.55,
              76.65, 78.75, 80.85, 82.95]
FC07 = "kv-pair:heads=2,head-dim=256,step=512,to=82944,warm=1MiB/4MiB/8MiB/48MiB+48MiB/64MiB"
FC07_WARM = [[1 * MIB], [4 * MIB], [8 * MIB], [48 * MIB, 48 * MIB], [64 * MIB]]

# factor of the live need: flushes on the byte-exact device, flushes with 2 MiB blocks
FLUSHES = {"1.06": (21, 22), "1.25": (18, 18), "1.5": (15, 16), "2": (10, 10), "3": (6, 6)}

GROWING = "kv-pair:heads=8,head-dim=128,step=16384,to=1146880,kernel-ns=1000000000"
GROWING_SIZES = reference.kv_pair(heads=8, head_dim=128, step=16384, to=1146880)
GROWING_LIMIT = 4080 * MIB


def median(metric):
    return metric["median"]


class Reference(cli.unittest.TestCase):
    """The calculation must give the published figures by itself, or it proves nothing about the program."""

    def test_list_pool_without_a_limit(self):
        pool = reference.ListPool()
        self.assertIsNone(reference.play_pair(pool, PAIR_SIZES))
        self.assertEqual((pool.peak, pool.mallocs), (9_851_803_136, 126))
        pool = reference.ListPool()
        self.assertIsNone(reference.play_pair(pool, reference.kv_pair(heads=32, head_dim=96, step=512, to=40000)))
        self.assertEqual(pool.mallocs, 82)
        self.assertEqual(reference.over_allocated(1_048_576), 1_101_056)

    def test_stack(self):
        self.assertEqual(reference.stack_peak(PAIR_SIZES), LIVE)

    def test_flushes(self):
        for factor, published in FLUSHES.items():
            for block, flushes in zip((256, 2 * MIB), published):
                pool = reference.ListPool(budget_of(factor), block, flush=True)
                self.assertIsNone(reference.play_pair(pool, PAIR_SIZES))
                self.assertEqual((pool.flushes, pool.mallocs), (flushes, 126), (factor, block))

    def test_published_slots(self):
        cached = fc07_pool().cached()
        self.assertEqual(len(cached), 20)
        self.assertEqual(f"{sum(cached) / MIB:.2f}", "1170.23")
        for ours, published in zip(sorted(cached), sorted(FC07_SLOTS)):
            self.assertLessEqual(abs(ours / MIB - published), 0.02)

    def test_growing_pair(self):
        pool = reference.GrowingPool(GROWING_LIMIT)
        self.assertEqual((pool.play(GROWING_SIZES), pool.reserved_high, pool.used_high), (47, 4064 * MIB, 2944 * MIB))
        pool = reference.GrowingPool(GROWING_LIMIT, retry=True)
        self.assertEqual((pool.play(GROWING_SIZES), pool.rescues), (64, 17))
        pool = reference.GrowingPool(GROWING_LIMIT, sync=True)
        self.assertEqual((pool.play(GROWING_SIZES), pool.rescues), (64, 0))
        for block in (256, 2 * MIB):
            self.assertEqual(reference.play_pair(reference.ListPool(GROWING_LIMIT, block), GROWING_SIZES), 11)
            self.assertEqual(reference.play_pair(reference.ListPool(GROWING_LIMIT, block, flush=True), GROWING_SIZES), 61)
        self.assertEqual(reference.stack_fails_at(GROWING_SIZES, GROWING_LIMIT), 64)


def budget_of(factor):
    """As a limit of `factor` times 512MiB is read: to the nearest byte."""
    return int(float(factor) * LIVE + 0.5)


def fc07_pool():
    pool = reference.ListPool()
    reference.warm(pool, FC07_WARM)
    reference.play_pair(pool, reference.kv_pair(heads=2, head_dim=256, step=512, to=82944))
    return pool


class PublishedSlots(cli.CommandTest):
    def test_fc07(self):
        document = self.measure("--device", "sim:h200", "--allocator", "legacy", "--workload", FC07)
        cell = self.cell(document, "legacy")
        metrics = self.completed(cell)
        cached = cell["cached_blocks_bytes"]
        self.assertEqual(len(cached), 20)
        self.assertEqual(f"{sum(cached) / MIB:.2f}", "1170.23")
        for ours, published in zip(sorted(cached), sorted(FC07_SLOTS)):
            self.assertLessEqual(abs(ours / MIB - published), 0.02, f"{ours} B against {published} MiB")

        again = fc07_pool()
        self.assertEqual(sorted(cached), sorted(again.cached()))
        self.assertEqual(median(metrics["end_reserved_bytes"]), again.reserved)
        self.assertEqual(median(metrics["peak_reserved_bytes"]), again.peak)
        self.assertEqual(metrics["driver_calls"]["malloc"], again.mallocs)
        self.assertEqual(metrics["driver_calls"]["free"], 0)
        self.assertEqual(median(metrics["max_live_bytes"]), 162 * MIB)    # 81 MiB each

        # The steady pass finds all it needs in the cache.
        steady = cell["steady"]
        self.assertEqual(steady["metrics"]["driver_calls"]["malloc"], 0)
        self.assertEqual(sorted(steady["cached_blocks_bytes"]), sorted(cached))

    def test_step_and_first_content_decide(self):
        """field-cases.md: with a 2048-token step 18 slots of 1046.9 MiB, from an empty pool 110 slots of 2961 MiB."""
        wide, empty = FC07.replace("step=512", "step=2048"), FC07.partition(",warm=")[0]
        document = self.measure("--allocator", "legacy", "--workload", wide, "--workload", empty)
        cached = {c["workload"]["params"]["step"]: c["cached_blocks_bytes"] for c in document["cells"] if not c["reference"]}
        self.assertEqual((len(cached["2048"]), f"{sum(cached['2048']) / MIB:.1f}"), (18, "1046.9"))
        self.assertEqual((len(cached["512"]), f"{sum(cached['512']) / MIB:.0f}"), (110, "2961"))


class PairWithoutLimit(cli.CommandTest):
    def test_8x128(self):
        document = self.measure("--allocator", ",".join(cli.SIX), "--workload", PAIR)
        metrics = {name: self.completed(self.cell(document, name)) for name in cli.SIX}
        for name in ("legacy", "legacy-retry"):
            self.assertEqual(median(metrics[name]["peak_reserved_bytes"]), 9_851_803_136)
            self.assertEqual(metrics[name]["driver_calls"]["malloc"], 126)
            self.assertEqual(metrics[name]["driver_calls"]["free"], 0)
            self.assertEqual(metrics[name]["oom"]["flushes"], 0)
        self.assertEqual(median(metrics["vmm"]["peak_reserved_bytes"]), 536_870_912)
        self.assertEqual(median(metrics["ideal"]["peak_reserved_bytes"]), LIVE)
        # Two requests a step go to the driver, and nothing is kept.
        self.assertEqual(median(metrics["direct"]["peak_reserved_bytes"]), LIVE)
        self.assertEqual(metrics["direct"]["driver_calls"]["malloc"], 2 * len(PAIR_SIZES))
        self.assertEqual(metrics["direct"]["driver_calls"]["free"], 2 * len(PAIR_SIZES))
        self.assertEqual(median(metrics["direct"]["end_reserved_bytes"]), 0)
        for name in cli.SIX:
            self.assertEqual(median(metrics[name]["max_live_bytes"]), LIVE)
            self.assertEqual(median(metrics[name]["peak_live_bytes"]), LIVE)
            self.assertEqual(metrics[name]["driver_calls"]["launch"], 2 * len(PAIR_SIZES))

    def test_legacy_blocks_against_the_calculation(self):
        document = self.measure("--allocator", "legacy", "--workload", PAIR)
        pool = reference.ListPool()
        reference.play_pair(pool, PAIR_SIZES)
        cell = self.cell(document, "legacy")
        self.assertEqual(sorted(cell["cached_blocks_bytes"]), sorted(pool.cached()))

    def test_32x96(self):
        document = self.measure("--allocator", "legacy,vmm", "--workload", "kv-pair:heads=32,head-dim=96,step=512,to=40000")
        legacy = self.completed(self.cell(document, "legacy"))
        self.assertEqual(legacy["driver_calls"]["malloc"], 82)
        sizes = reference.kv_pair(heads=32, head_dim=96, step=512, to=40000)
        pool = reference.ListPool()
        reference.play_pair(pool, sizes)
        self.assertEqual(median(legacy["peak_reserved_bytes"]), pool.peak)
        vmm = self.completed(self.cell(document, "vmm"))
        self.assertEqual(median(vmm["peak_reserved_bytes"]), reference.stack_peak(sizes))
        self.assertEqual(median(vmm["max_live_bytes"]), 2 * 2 * 32 * 96 * 40192)    # 40,000 cells padded to 256


class PairUnderLimits(cli.CommandTest):
    def check(self, device, block, column):
        limits = {factor: budget_of(factor) for factor in FLUSHES}
        document = self.measure("--device", device, "--allocator", "legacy,legacy-retry", "--no-reference", "--workload", PAIR,
                                *[f"--vram-limit={limit}" for limit in limits.values()])
        for factor, limit in limits.items():
            with self.subTest(device=device, factor=factor):
                pool = reference.ListPool(limit, block, flush=True)
                reference.play_pair(pool, PAIR_SIZES)
                metrics = self.completed(self.cell(document, "legacy-retry", limit))
                self.assertEqual(metrics["oom"]["flushes"], FLUSHES[factor][column])
                self.assertEqual(metrics["driver_calls"]["malloc"], 126)
                self.assertEqual(metrics["driver_calls"]["free"], pool.frees)
                self.assertEqual(median(metrics["peak_reserved_bytes"]), pool.peak)
                self.assertEqual(median(metrics["end_reserved_bytes"]), pool.reserved)
                self.assertLessEqual(median(metrics["peak_device_bytes"]), limit)

                failed = self.cell(document, "legacy", limit)
                self.assertEqual((failed["outcome"]["status"], failed["outcome"]["cause"]), ("oom", "retained"))
                before = reference.ListPool(limit, block)
                self.assertEqual(failed["outcome"]["step"], reference.play_pair(before, PAIR_SIZES))
                self.assertEqual(failed["reached"]["peak_reserved_bytes"], before.peak)
                self.assertEqual(failed["metrics"], {})

    def test_byte_exact_device(self):
        self.check("sim:h200,block=256", 256, 0)

    def test_blocks_of_2_mib(self):
        self.check("sim:h200", 2 * MIB, 1)

    def test_a_limit_may_be_typed_in_mib(self):
        document = self.measure("--device", "sim:h200,block=256", "--allocator", "legacy-retry", "--workload", PAIR,
                                "--vram-limit", "542.72MiB")    # 1.06 x 512 MiB
        metrics = self.completed(self.cell(document, "legacy-retry", budget_of("1.06")))
        self.assertEqual(metrics["oom"]["flushes"], 21)


class GrowingPair(cli.CommandTest):
    ALLOCATORS = "async,async:retry=sync,async:retry=trim,legacy,legacy-retry,vmm"

    def grow(self, sync):
        document = self.measure("--allocator", self.ALLOCATORS, "--vram-limit", "4080MiB", "--no-reference",
                                "--workload", f"{GROWING},sync={sync}", code=1)    # nothing completes
        return {c["allocator"]["title"]: c for c in document["cells"]}

    def fails(self, cell, step, cause=None):
        outcome = cell["outcome"]
        self.assertEqual((outcome["status"], outcome["step"]), ("oom", step), cell["allocator"]["title"])
        if cause is not None:
            self.assertEqual(outcome["cause"], cause)
        return cell["reached"]

    def test_without_a_sync(self):
        cells = self.grow("none")
        plain = self.fails(cells["async"], 47, "pending")
        self.assertEqual(plain["peak_reserved_bytes"], 4064 * MIB)
        self.assertEqual(plain["peak_live_bytes"], 2944 * MIB)
        self.assertEqual(cells["async"]["outcome"]["tag"], "V")
        for retry in ("sync", "trim"):
            rescued = self.fails(cells[f"async (retry={retry})"], 64, "live")
            self.assertEqual(rescued["oom"]["recoveries"], 17)
            self.assertEqual(rescued["peak_reserved_bytes"], 4064 * MIB)
            self.assertEqual(rescued["peak_live_bytes"], 63 * 64 * MIB)
        self.fails(cells["legacy (before #22155)"], 11, "retained")
        self.fails(cells["legacy-retry (after it)"], 61)
        self.fails(cells["vmm"], 64, "live")

    def test_with_a_sync_each_step(self):
        cells = self.grow("step")
        idle = self.fails(cells["async"], 64, "live")
        self.assertEqual(idle["oom"]["recoveries"], 0)
        self.assertEqual(idle["peak_reserved_bytes"], 4064 * MIB)
        for retry in ("sync", "trim"):
            self.assertEqual(self.fails(cells[f"async (retry={retry})"], 64)["oom"]["recoveries"], 0)
        # The list pool and the stack do not look at streams.
        self.fails(cells["legacy (before #22155)"], 11, "retained")
        self.fails(cells["legacy-retry (after it)"], 61)
        self.fails(cells["vmm"], 64, "live")

    def test_one_step_less_completes(self):
        """63 steps need 4,032 MiB: whoever fails at 64 completes, and the exit code says that something did."""
        document = self.measure("--allocator", self.ALLOCATORS, "--vram-limit", "4080MiB", "--no-reference",
                                "--workload", GROWING.replace("to=1146880", f"to={63 * 16384}"))
        for title, status in {"async": "oom", "async (retry=sync)": "completed", "async (retry=trim)": "completed",
                              "legacy (before #22155)": "oom", "legacy-retry (after it)": "oom", "vmm": "completed"}.items():
            cell = next(c for c in document["cells"] if c["allocator"]["title"] == title)
            self.assertEqual(cell["outcome"]["status"], status, title)


if __name__ == "__main__":
    cli.main()
