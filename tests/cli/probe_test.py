#!/usr/bin/env python3
"""`vrambench probe --costs`: on the simulator it must give back the prices of the profile that it measures; what becomes of
processes that crash, hang or lie; what is refused."""

import json
import os
import pathlib
import signal

import cli

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
    profile = json.loads(cli.SHIPPED.read_text())
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

    def test_a_card_without_what_was_seen_on_an_h200(self):
        """No virtual memory, nothing cleaned, a margin: a profile all the same, and the simulator names what it misses."""
        given = distinct_profile()
        del given["cleaning"]
        given["raw_margin"], given["handle_margin"] = 3 * MIB + 65536, 5 * MIB
        found = self.probe(given)
        self.assertNotIn("cleaning", found)
        for key in ("raw_margin", "handle_margin"):    # known to the block
            self.assertLessEqual(found[key], given[key])
            self.assertGreater(found[key], given[key] - 2 * MIB)
        given["vmm_granularity"] = 0
        found = self.probe(given)
        self.assertNotIn("create", found["calls_ns"])
        self.assertEqual(found["pool_ns"], given["pool_ns"])
        answer = self.call("run", "--device", "sim:@found.json", "--workload", "random:events=100", "--out", "run.json")
        self.assertEqual(answer.code, 2, answer)
        self.assertIn("is missing", answer.err)

    def test_processes_of_the_simulator_are_alike(self):
        one = self.probe(distinct_profile(), "--processes", "1")
        three = self.probe(distinct_profile(), "--processes", "3")
        self.assertEqual(three["measured"]["processes"], 3)
        for document in (one, three):
            del document["measured"], document["source"]
        self.assertEqual(one, three)

    def test_quick_measures_fewer_sizes(self):
        full, quick = self.probe(distinct_profile()), self.probe(distinct_profile(), "--quick")
        self.assertLess(len(quick["calls_ns"]["malloc"]["idle"]), len(full["calls_ns"]["malloc"]["idle"]))
        self.assertEqual(quick["pool_ns"], full["pool_ns"])

    def test_the_table_is_printed_without_a_file(self):
        answer = self.succeed("probe", "--costs", "--device", f"sim:@{cli.PLAIN}", "--quick")
        self.assertRegex(answer.out, r"malloc +2MiB +31\.0 \(31\.0-31\.0\) +70\.0")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_measured_profile_runs(self):
        self.probe(json.loads(cli.SHIPPED.read_text()))
        document = self.measure("--device", "sim:@found.json", "--allocator", "legacy,async,vmm", "--workload", "random:events=1000")
        self.assertTrue(all(c["outcome"]["status"] == "completed" for c in document["cells"]))


class Processes(cli.CommandTest):
    """What becomes of a calibration whose processes end badly: one of three does."""

    def setUp(self):
        super().setUp()
        self.stand_in_children()

    ARGUMENTS = ["probe", "--costs", "--device", "sim:h200", "--quick", "--processes", "3", "--out", "found.json"]

    def fails(self, how, *more):
        """The line about the process that failed; the others count."""
        os.environ["MISBEHAVE"] = how
        answer = self.call(*self.ARGUMENTS, *more)
        self.assertEqual(answer.code, 1, answer)
        found = cli.read_json(self.folder / "found.json")
        self.assertEqual((found["measured"]["processes"], found["measured"]["processes_asked"]), (2, 3))
        self.assertFalse(found["measured"]["interrupted"])
        self.assertEqual(len(found["measured"]["failures"]), 1)
        self.assertIn(found["measured"]["failures"][0], answer.err)
        self.assertEqual(found["times_ns"]["launch"], cli.read_json(cli.SHIPPED)["times_ns"]["launch"])
        return found["measured"]["failures"][0]

    def test_good_ones(self):
        self.succeed(*self.ARGUMENTS)
        self.assertEqual(len(set(self.children.read_text().split())), 3)
        self.assertEqual(cli.read_json(self.folder / "found.json")["measured"]["failures"], [])

    def test_a_crash_names_signal_and_call(self):
        self.assertIn("process 2: crashed: SIGSEGV in free", self.fails("crash:2"))

    def test_a_hang_ends_at_the_timeout_and_names_the_call(self):
        line = self.fails("hang:1", "--timeout", "6s")
        self.assertIn("process 1: timeout", line)
        self.assertIn("in malloc", line)

    def test_nonsense(self):
        for how in ("garbage", "lie", "other", "silent"):
            with self.subTest(how=how):
                self.children.write_text("")
                self.assertIn("makes no sense", self.fails(how + ":3"))

    def test_last_words(self):
        self.assertIn("the card fell off the bus", self.fails("exit:2"))

    def test_none_answers(self):
        os.environ["MISBEHAVE"] = "exit:1"
        answer = self.call("probe", "--costs", "--device", "sim:h200", "--processes", "1", "--out", "found.json")
        self.assertEqual(answer.code, 1, answer)
        self.assertEqual(answer.out, "")
        self.assertFalse((self.folder / "found.json").exists())

    def started_and_hanging(self):
        """The second process hangs; the first is in the file already."""
        os.environ["MISBEHAVE"] = "hang:2"
        process = self.start(*self.ARGUMENTS)
        self.wait_for(lambda: len(self.children.read_text().split()) >= 2, process)
        return process

    def ended(self, pid):
        try:
            return b"fake_child" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return True

    def check_what_is_kept(self):
        found = cli.read_json(self.folder / "found.json")
        self.assertEqual((found["measured"]["processes"], found["measured"]["interrupted"]), (1, True))
        self.wait_for(lambda: all(self.ended(pid) for pid in self.children.read_text().split()))

    def test_interrupted(self):
        process = self.started_and_hanging()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(cli.PATIENCE), 130)
        self.check_what_is_kept()

    def test_killed(self):
        process = self.started_and_hanging()
        process.kill()
        process.wait()
        self.check_what_is_kept()


class BadInput(cli.CommandTest):
    def test_refused(self):
        sim = ["probe", "--costs", "--device", "sim:h200"]
        for value in ("0", "-1", "1001", "1.5", "many", "1e3", ""):
            self.refused([*sim, f"--processes={value}"], "--processes")
        for value in ("0", "0s", "soon", "-5s"):
            self.refused([*sim, f"--timeout={value}"], "--timeout")
        self.refused(["probe", "--costs", "--device", "sim:h201"], "h201", "h200")
        self.refused(["probe", "--costs", "--device", "sim:@nowhere.json"], "nowhere.json")
        self.refused(["probe", "--costs", "--device", "cuda:x"], "cuda")
        self.refused([*sim, "--out", "no/such/folder/x.json"], "no/such/folder")
        self.refused([*sim, "--proceses", "3"], "proceses")


if __name__ == "__main__":
    cli.main()
