#!/usr/bin/env python3
"""`vrambench probe --costs`: on the simulator it must give back the prices of the profile that it measures; what becomes of
processes that crash, hang or lie; what is refused."""

import json
import os
import pathlib
import signal
import time

import cli

FAKE = pathlib.Path(__file__).with_name("fake_child.py")
PROFILE = cli.SOURCE / "device" / "sim" / "profiles" / "h200.json"
MIB, GIB = 1 << 20, 1 << 30
CURVES = ("malloc", "free", "create", "map", "set_access", "unmap", "release")


def at(curve, size):
    """Cost at a size, nanoseconds: the simulator's rule, in exact arithmetic."""
    if size <= curve[0][0] or len(curve) == 1:
        return curve[0][1]
    i = next((i for i in range(1, len(curve)) if curve[i][0] >= size), len(curve) - 1)
    (x0, y0), (x1, y1) = curve[i - 1:i + 1]
    return y0 + (y1 - y0) * (size - x0) / (x1 - x0)


def distinct_profile():
    """Every price another one, so that a price that comes back shows which route was taken."""
    profile = json.loads(PROFILE.read_text())
    profile.update(name="distinct", raw_margin=0, handle_margin=0, work_unit_ps=377,
                   cleaning={"wait_ns": 7_531_000, "bytes_per_second": 560_000_000_000})
    profile["times_ns"] = {"launch": 4611, "launch_latency": 5003, "kernel_overhead": 1307, "graph_launch": 8117, "sync": 743,
                           "record": 1013, "wait": 1109, "memory_info": 6521, "reserve": 136_111, "unreserve": 91_009,
                           "release_mapped": 1201}
    profile["pool_ns"] = {"hit_own": 907, "hit_completed": 1511, "hit_other_stream": 2003, "hit_merged": 4409,
                          "internal_dependency": 62_003, "fail": 46_021, "free": 503, "trim": 1019, "map_call": 4013,
                          "per_new_chunk": 20_011, "per_remapped_chunk": 18_013, "per_mapped_chunk": 16_007,
                          "per_released_chunk": 35_023, "per_trimmed_chunk": 34_019, "per_polled_block": 151, "stream_gap": 1291}
    for i, call in enumerate(CURVES):
        sizes = [4096, 2 * MIB, 64 * MIB, GIB, 16 * GIB] if call in ("malloc", "free") else [2 * MIB, 64 * MIB, GIB, 16 * GIB]
        base = 10_000 + 1777 * i
        columns = {"idle": 1, "growing": 3, "loaded": 5} if call in ("malloc", "create") else {"idle": 1, "loaded": 5}
        profile["calls_ns"][call] = {name: [[s, base * factor + k * 5003] for k, s in enumerate(sizes)]
                                     for name, factor in columns.items()}
    profile["calls_ns"]["malloc"].update(shared=[[256, 811], [MIB, 1811]], refused=[[64 * MIB, 161_003], [128 * GIB, 4_400_003]])
    profile["calls_ns"]["free"]["shared"] = [[256, 613], [MIB, 1613]]
    profile["calls_ns"]["create"]["refused"] = [[64 * MIB, 151_007]]
    return profile


class RoundTrip(cli.CommandTest):
    def probe(self, profile, *more):
        (self.folder / "given.json").write_text(json.dumps(profile))
        self.succeed("probe", "--costs", "--device", "sim:@given.json", "--out", "found.json", *more)
        return cli.read_json(self.folder / "found.json")

    def curves_agree(self, given, found, used):
        for call, column in used:
            curve = given["calls_ns"][call].get(column, given["calls_ns"][call]["idle"])
            self.assertGreaterEqual(len(found["calls_ns"][call][column]), 3, (call, column))
            for size, ns in found["calls_ns"][call][column]:
                # a block of the raw heap is freed by the size that it was rounded to
                size = max(size, 512) if call == "free" else size
                self.assertAlmostEqual(ns, at(curve, size), delta=1, msg=(call, column, size))

    def test_every_price_comes_back(self):
        """Fixed prices exactly; curves at the measured sizes to the nanosecond."""
        given = distinct_profile()
        found = self.probe(given)
        self.assertEqual(found["times_ns"], given["times_ns"])
        self.assertEqual(found["pool_ns"], given["pool_ns"])
        for key in ("total_bytes", "free_bytes", "physical_block", "shared_up_to", "vmm_granularity", "address_space", "free_waits",
                    "launch_queue", "flops_per_second", "bytes_per_second", "work_unit_ps", "raw_margin", "handle_margin"):
            self.assertEqual(found[key], given[key], key)
        used = [(c, s) for c in CURVES for s in ("idle", "loaded")]
        used += [("malloc", "growing"), ("create", "growing"), ("malloc", "shared"), ("free", "shared")]
        self.curves_agree(given, found, used)
        self.assertEqual(found["cleaning"]["wait_ns"], 7_531_000)
        self.assertAlmostEqual(found["cleaning"]["bytes_per_second"] / 560e9, 1, delta=1e-5)
        self.assertEqual({ns for _, ns in found["calls_ns"]["create"]["refused"]}, {151_007})
        for size, ns in found["calls_ns"]["malloc"]["refused"]:    # what is free is within 2 MiB (1 GiB where all is) of the size
            self.assertAlmostEqual(ns, at(given["calls_ns"]["malloc"]["refused"], size), delta=0.01 * ns)
        self.assertEqual(found["measured"]["notes"], [])

    def test_what_is_measured_of_the_found_profile_is_the_found_profile(self):
        found = self.probe(distinct_profile())
        again = self.probe(found)
        for key in ("times_ns", "pool_ns"):
            self.assertEqual(again[key], found[key])
        self.curves_agree(found, again, [(c, s) for c in CURVES for s in ("idle", "loaded")])


if __name__ == "__main__":
    cli.main()
