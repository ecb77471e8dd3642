#!/usr/bin/env python3
"""`vrambench probe`: its report on the simulator, what becomes of probes whose processes crash, hang or lie, what is refused.
What each probe sees in a defective driver is tested in tests/bench/probe_test.cpp."""

import json
import os
import signal

import cli

QUICK = ["pools", "vmm", "waits", "granularity", "release", "exit", "failure", "integrity"]
ALL = QUICK + ["reuse", "capture", "peers"]


class ProbeTest(cli.CommandTest):
    def probe(self, *more, code=0):
        """The answer, and the report."""
        answer = self.succeed("probe", "--device", "sim:h200", "--out", "probe.json", *more, code=code)
        return answer, cli.read_json(self.folder / "probe.json")

    def findings(self, report):
        return {f["id"]: f for p in report["probes"] for f in p["findings"]}


class Report(ProbeTest):
    def test_all(self):
        answer, report = self.probe()
        self.assertEqual((report["schema"], report["kind"], report["finished"], report["quick"]), ("vrambench.probe/1", "probe", True, False))
        self.assertEqual([p["name"] for p in report["probes"]], ALL)
        self.assertTrue(report["device"]["simulated"])
        self.assertEqual(report["device"]["claims"]["virtual memory"], "yes")
        self.assertIn("SIMULATED", answer.out)
        for finding in self.findings(report).values():
            self.assertIn(finding["question"], answer.out)
            self.assertIn(finding["evidence"], answer.out)
            self.assertNotEqual(finding["level"], "broken", finding)
        self.assertEqual(set(report["conclusions"]), {"direct, legacy", "async", "vmm"})
        self.assertEqual(report["conclusions"]["vmm"], "stated: yes; found: works")

    def test_quick_leaves_out_what_decides_nothing(self):
        _, report = self.probe("--quick")
        self.assertEqual([p["name"] for p in report["probes"]], QUICK)
        self.assertTrue(report["quick"])

    def test_only_some_of_them_several_times(self):
        answer, report = self.probe("--only", "vmm,release", "--processes", "3")
        self.assertEqual([(p["name"], p["processes"]) for p in report["probes"]], [("vmm", 3), ("release", 3)])
        self.assertEqual({f["processes"] for f in self.findings(report).values()}, {3})
        self.assertIn("(3 processes)", answer.out)
        self.assertRegex(answer.out, r"async +stated: yes; found: works")

    def test_the_same_every_time(self):
        (first, one), (second, two) = self.probe(), self.probe()
        self.assertEqual(first.out, second.out)
        self.assertEqual(one["probes"], two["probes"])

    def test_a_card_without_virtual_memory(self):
        profile = cli.read_json(cli.PLAIN)
        profile.update(vmm_granularity=0, name="no-vmm")
        (self.folder / "no-vmm.json").write_text(json.dumps(profile))
        self.succeed("probe", "--device", "sim:@no-vmm.json", "--out", "probe.json")
        report = cli.read_json(self.folder / "probe.json")
        self.assertEqual(report["device"]["claims"]["virtual memory"], "no")
        self.assertEqual({f["level"] for f in self.findings(report).values() if f["id"].startswith("vmm.")}, {"open"})
        self.assertEqual(report["conclusions"]["vmm"], "stated: no; found: not asked")

    def test_a_card_whose_times_nobody_knows(self):
        answer = self.succeed("probe", "--device", "sim:rx-7900-xtx,pool=rocm-7.2", "--only", "pools,waits,reuse", "--timeout", "20s", "--out", "p.json")
        self.assertNotRegex(answer.out, r"\d (ns|us|ms)\b")
        self.assertNotIn("hangs", answer.out)
        found = {f["id"]: f["verdict"] for p in cli.read_json(self.folder / "p.json")["probes"] for f in p["findings"]}
        self.assertEqual(found["wait.malloc.small"], "not supported")
        self.assertEqual(found["reuse.completed"], "not supported")
        self.assertEqual(found["reuse.freed-elsewhere"], "unsafe")    # as HIP's source reads, and no time is needed to see it
        self.assertEqual(found["reuse.same-stream"], "at once")

    def test_out_spares_what_is_no_report(self):
        (self.folder / "run.json").write_text('{"schema": "vrambench.result/1"}', encoding="utf-8")
        answer = self.call("probe", "--device", "sim:h200", "--only", "pools", "--out", "run.json")
        self.assertEqual((answer.code, len(answer.err.splitlines())), (2, 1), answer)
        self.assertIn("would be lost", answer.err)

    def test_costs_are_a_probe_too(self):
        answer = self.succeed("probe", "--device", "sim:h200", "--only", "costs", "--quick", "--out", "found.json")
        self.assertEqual(cli.read_json(self.folder / "found.json")["schema"], "vrambench.profile/1")
        self.assertIn("driver calls, us", answer.out)


class Processes(ProbeTest):
    def setUp(self):
        super().setUp()
        self.stand_in_children()

    def ends(self, how, *more):
        """The finding about a probe whose only process ended badly; the other probe goes on, and so does the exit code."""
        os.environ["MISBEHAVE"] = how + ":probe-vmm"
        answer, report = self.probe("--only", "vmm,pools", *more)
        self.assertEqual([p["name"] for p in report["probes"]], ["pools", "vmm"])
        self.assertTrue(report["finished"])
        found = self.findings(report)
        self.assertEqual(found["pools.first-call"]["verdict"], "works")
        bad = [f for f in found.values() if f["level"] == "broken"]
        self.assertEqual(len(bad), 1, found)
        self.assertIn("[BROKEN]", answer.out)
        return bad[0]

    def test_a_crash_names_question_signal_and_call(self):
        found = self.ends("crash")
        self.assertEqual((found["id"], found["verdict"]), ("some.question", "crashes"))
        self.assertEqual(found["evidence"], "SIGSEGV in free")

    def test_one_that_hangs(self):
        found = self.ends("hang", "--timeout", "4s")
        self.assertEqual((found["id"], found["verdict"]), ("some.question", "hangs"))
        self.assertIn("no answer after 4000 ms in malloc", found["evidence"])

    def test_one_that_says_nothing_or_nonsense(self):
        for how in ("garbage", "silent", "lie", "exit"):
            with self.subTest(how=how):
                found = self.ends(how)
                self.assertEqual((found["id"], found["verdict"]), ("vmm.process", "crashes"))

    def test_what_was_answered_before_counts(self):
        os.environ["MISBEHAVE"] = "crash:probe-vmm"
        _, report = self.probe("--only", "vmm", "--processes", "2")
        self.assertEqual([f["processes"] for f in self.findings(report).values()], [2])

    def test_interrupted(self):
        os.environ["MISBEHAVE"] = "hang:probe-vmm"
        process = self.start("probe", "--device", "sim:h200", "--only", "pools,vmm", "--out", "probe.json")
        self.wait_for(lambda: len(self.children.read_text().split()) >= 2, process)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(cli.PATIENCE), 130)
        report = cli.read_json(self.folder / "probe.json")
        self.assertFalse(report["finished"])
        self.assertEqual(list(self.findings(report)), ["pools.first-call"])


class BadInput(ProbeTest):
    def test_refused(self):
        sim = ["probe", "--device", "sim:h200"]
        self.refused([*sim, "--only", "vmn"], "vmn", "vmm")
        self.refused([*sim, "--only", "vmm,costs"], "costs")
        self.refused([*sim, "--only", "vmm", "--costs"], "--only", "--costs")
        self.refused([*sim, "--name", "mine"], "--name", "--costs")
        self.refused([*sim, "--processes", "0"], "--processes")
        self.refused([*sim, "--timeout", "0"], "--timeout")
        self.refused([*sim, "--out", "no/such/folder/x.json"], "no/such/folder")
        self.refused(["probe", "--device", "sim:h201"], "h201", "h200")
        self.refused(["probe", "--device", "hip:x"], "hip")


if __name__ == "__main__":
    cli.main()
