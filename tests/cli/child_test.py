"""Parent and child: what becomes of a run whose GPU children crash, hang, lie or are killed. A stand-in answers instead of
a GPU. Skipped where the build has no GPU back end, since the command then refuses the device."""

import json
import os
import pathlib
import signal
import time
import unittest

import cli

WORK = ["--device", "cuda:0", "--workload", "kv-pair:heads=2,head-dim=64,step=256,to=2048", "--allocator", "legacy,vmm",
        "--no-reference", "--out", "run.json"]


class ChildTest(cli.CommandTest):
    def setUp(self):
        super().setUp()
        self.stand_in_children()
        if "not in this build" in self.call("list", "devices").out.split("cuda:...")[1].split("\n")[0]:
            self.skipTest("this build has no GPU back end")

    def run_with(self, misbehave, *more, code, repetitions="2"):
        os.environ["MISBEHAVE"] = misbehave
        answer = self.call("run", *WORK, "--repetitions", repetitions, *more)
        self.assertEqual(answer.code, code, answer)
        return answer

    def cells(self):
        return {c["allocator"]["name"]: c for c in cli.read_json(self.folder / "run.json")["cells"]}

    def none_left(self):
        """No child of this test is alive."""
        for pid in self.children.read_text().split():
            deadline = time.monotonic() + 10
            while pathlib.Path(f"/proc/{pid}/cmdline").exists() and b"fake_child" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                self.assertLess(time.monotonic(), deadline, f"child {pid} is still there")
                time.sleep(0.01)

    def the_rest_went_on(self):
        vmm = self.cells()["vmm"]
        self.assertEqual(vmm["outcome"], {"status": "completed"})
        self.assertEqual(sorted(r["role"] for r in vmm["repetitions"] if r["pass"] == "cold"), ["memory", "timed", "timed", "verify"])


class GoodChildren(ChildTest):
    def test_every_repetition_is_a_process_of_its_own(self):
        self.run_with("", code=0)
        self.the_rest_went_on()
        processes = [r["process"] for c in self.cells().values() for r in c["repetitions"] if r["pass"] == "cold"]
        self.assertEqual(len(processes), 8)
        self.assertEqual(len(set(processes)), 8)
        document = cli.read_json(self.folder / "run.json")
        self.assertFalse(document["cells"][0]["device"]["simulated"])
        self.assertEqual(document["cells"][0]["device"]["name"], "A Card That Is Not There")

    def test_target_auto_is_the_card(self):
        """114 multiprocessors are no shipped target: the card's own figures are written down, and its children read them."""
        os.environ["MISBEHAVE"] = ""
        self.succeed("run", "--device", "cuda:0", "--workload", "fattn-decode:depth=0,tokens=2,layers=1", "--allocator", "vmm",
                     "--repetitions", "1", "--no-reference", "--out", "run.json")
        cell, = cli.read_json(self.folder / "run.json")["cells"]
        self.assertEqual(cell["outcome"], {"status": "completed"})
        self.assertEqual(cell["workload"]["params"]["target"], "nvidia/9.0/114/100e12/1e12")


    def test_a_child_that_takes_its_time_to_end_is_waited_for(self):
        self.run_with("linger:legacy", code=0)
        self.the_rest_went_on()


class Laboratory(ChildTest):
    """What makes memory run out reaches the children."""

    def outcome(self, *more, code=1):
        self.run_with("", "--allocator", "direct", *more, code=code)
        return self.cells()["direct"]["outcome"]

    def test_faults(self):
        o = self.outcome("--inject", "oom@3", code=0)    # vmm does not ask that often
        self.assertEqual((o["status"], o["cause"], o["step"]), ("oom", "injected", 2))

    def test_limit_and_resident_memory(self):
        o = self.outcome("--resident", "64MiB", "--vram-limit", "60MiB")
        self.assertEqual((o["status"], o["cause"], o["tag"]), ("oom", "external", "resident"))

    def test_a_neighbour(self):
        o = self.outcome("--vram-limit", "16MiB", "--neighbour", "64MiB@step:3")
        self.assertEqual((o["status"], o["cause"], o["tag"], o["step"]), ("oom", "external", "neighbour", 3))

    def test_fit(self):
        os.environ["MISBEHAVE"] = ""
        answer = self.call("fit", "--device", "cuda:0", "--allocator", "legacy", "--workload", WORK[3], "--out", "fit.json")
        self.assertEqual(answer.code, 0, answer)
        cell = cli.read_json(self.folder / "fit.json")["cells"][0]
        self.assertEqual(cell["resolution"], 16 << 20)
        self.assertEqual(cell["smallest_passing_limit_bytes"], 16 << 20)
        self.assertIs(cell["device"]["simulated"], False)


class BadChildren(ChildTest):
    def outcome(self, how, *more):
        self.run_with(how + ":legacy", *more, code=1)
        self.the_rest_went_on()
        self.none_left()
        legacy = self.cells()["legacy"]
        self.assertFalse(legacy["metrics"])
        return legacy["outcome"]

    def test_a_crash_names_signal_and_call(self):
        o = self.outcome("crash")
        self.assertEqual(o["status"], "crashed")
        self.assertIn("SIGSEGV in free", o["message"])

    def test_a_hang_ends_at_the_timeout_and_names_the_call(self):
        o = self.outcome("hang", "--timeout", "4s")
        self.assertEqual(o["status"], "timeout")
        self.assertIn("in malloc", o["message"])

    def test_a_flood_does_not_hold_up_the_timeout(self):
        self.assertIn(self.outcome("flood", "--timeout", "4s")["status"], ("timeout", "crashed"))

    def test_what_a_child_started_does_not_outlive_it(self):
        self.assertEqual(self.outcome("children", "--timeout", "4s")["status"], "timeout")
        left = [p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline") if self.command_line(p) == b"sleep\0001000\0"]
        self.assertEqual(left, [])

    @staticmethod
    def command_line(path):
        try:
            return path.read_bytes()
        except OSError:
            return b""

    def test_another_role_than_was_asked_for(self):
        self.assertIn("makes no sense", self.outcome("role")["message"])

    def test_garbage(self):
        self.assertIn("makes no sense", self.outcome("garbage")["message"])

    def test_a_lie(self):
        self.assertIn("makes no sense", self.outcome("lie")["message"])

    def test_another_protocol(self):
        self.assertIn("makes no sense", self.outcome("other")["message"])

    def test_no_answer(self):
        self.assertIn("makes no sense", self.outcome("silent")["message"])

    def test_last_words(self):
        o = self.outcome("exit")
        self.assertEqual(o["status"], "crashed")
        self.assertIn("the card fell off the bus", o["message"])


class Requests(ChildTest):
    def requests(self, what):
        found = pathlib.Path(str(self.children) + ".requests").read_text().splitlines()
        return [r for r in map(json.loads, found) if r["what"] == what]

    def tries(self, allocator):
        return [(r["role"], r["index"], r["disturbed"]) for r in self.cells()[allocator]["repetitions"] if r["pass"] == "cold"]


class Rates(Requests):
    RATES = {"flops_per_second": 611 * 10**12, "bytes_per_second": 4321 * 10**9, "flops_source": "made up", "bytes_source": "too"}

    def setUp(self):
        super().setUp()
        os.environ["RATES"] = f"{self.RATES['flops_per_second']},{self.RATES['bytes_per_second']}"
        self.addCleanup(lambda: os.environ.pop("RATES", None))

    def test_are_measured_once_and_are_the_same_for_every_child(self):
        self.run_with("", code=0)
        self.assertEqual([r["measure"] for r in self.requests("info")], [False, True])
        self.assertEqual([r["rates"] for r in self.requests("measure")], [self.RATES] * 8)
        environment = cli.read_json(self.folder / "run.json")["environment"]
        for key, value in self.RATES.items():
            self.assertEqual(environment["device.cuda:0." + key], value)

    def test_stay_what_they_were_when_a_run_goes_on(self):
        self.run_with("", code=0)
        os.environ["RATES"] = "1000000,1000000"
        self.run_with("", "--resume", repetitions="3", code=0)
        self.assertEqual([r["rates"] for r in self.requests("measure")], [self.RATES] * 10)
        self.assertEqual([r["measure"] for r in self.requests("info")], [False, True, False, True])   # asked again, not used


class Probed(Requests):
    """Whether pools and virtual memory work is asked once, when the run is planned."""

    def fact(self, name):
        return cli.read_json(self.folder / "run.json")["environment"]["device.cuda:0.probe_" + name]

    def test_what_works_is_written_down(self):
        self.run_with("", code=0)
        self.assertEqual([(r["probe"], r["quick"]) for r in self.requests("probe")], [("pools", True), ("vmm", True)])
        self.assertEqual((self.fact("pools"), self.fact("virtual_memory")), ("works", "works"))
        for request in self.requests("measure"):
            self.assertNotIn("failed_pools", request)
            self.assertNotIn("failed_virtual_memory", request)

    def test_what_fails_is_not_used(self):
        for name, key in (("pools", "failed_pools"), ("vmm", "failed_virtual_memory")):
            with self.subTest(probe=name):
                pathlib.Path(str(self.children) + ".requests").write_text("")
                self.run_with(f"crash:probe-{name}", code=0)
                evidence = self.fact(key[7:])
                self.assertIn("fails its probe: some question: crashes: SIGSEGV in free (--force runs it)", evidence)
                self.assertEqual([r.get(key) for r in self.requests("measure")], [evidence] * 8)

    def test_force_uses_it_and_says_so(self):
        self.run_with("crash:probe-vmm", "--force", code=0)
        self.assertIn("fails its probe", self.fact("virtual_memory"))
        self.assertEqual([r.get("failed_virtual_memory") for r in self.requests("measure")], [None] * 8)


class Disturbed(Requests):
    def test_one_that_was_disturbed_is_marked_and_measured_again_at_once(self):
        answer = self.run_with("disturb-once:legacy", code=0)
        self.assertIn("measured again", answer.err)
        tries = self.tries("legacy")
        self.assertEqual(tries[0][:2], tries[1][:2])
        self.assertEqual([bool(d) for _, _, d in tries], [True, False, False, False, False])
        orders = [r["order"] for r in self.cells()["legacy"]["repetitions"] if r["pass"] == "cold"]
        self.assertEqual(orders[1], orders[0] + 1)
        self.assertEqual(self.cells()["legacy"]["attempted"], 4)
        self.assertTrue(cli.read_json(self.folder / "run.json")["finished"])

    def test_one_that_always_is_ends_after_three_tries(self):
        answer = self.run_with("disturb:legacy", code=0)
        self.assertIn("not used", answer.err)
        self.the_rest_went_on()
        self.assertEqual([(r, i) for r, i, _ in self.tries("legacy")],
                         [p for p in [("timed", 0), ("memory", 0), ("verify", 0), ("timed", 1)] for _ in range(3)])
        self.assertEqual(self.cells()["legacy"]["attempted"], 0)
        self.assertIsNone(self.cells()["legacy"]["outcome"])

    def test_no_try_beyond_the_budget(self):
        self.run_with("disturb:legacy", "--budget", "1ms", code=1)
        self.assertEqual(len(self.tries("legacy")) + len(self.tries("vmm")), 1)


class AFallenCard(Requests):
    def test_what_was_measured_stays_and_the_plan_goes_on(self):
        self.run_with("fall:3", code=1)
        self.none_left()
        entries = [r for c in self.cells().values() for r in c["repetitions"] if r["pass"] == "cold"]
        outcomes = [r["outcome"] for r in sorted(entries, key=lambda r: r["order"])]
        self.assertEqual([o["status"] for o in outcomes], ["completed"] * 3 + ["crashed"] * 5)
        for o in outcomes[3:]:
            self.assertIn("it cannot be used: the card fell off the bus", o["message"])
        self.assertTrue(cli.read_json(self.folder / "run.json")["finished"])


class NoDevice(ChildTest):
    def test_the_question_about_the_device_fails(self):
        for how in ("exit", "crash", "garbage", "silent", "other"):
            with self.subTest(how=how):
                answer = self.run_with(how, code=2)
                self.assertEqual(len(answer.err.splitlines()), 1, answer)
                self.assertFalse((self.folder / "run.json").exists())


class EndsOfTheParent(ChildTest):
    def start_hanging(self):
        os.environ["MISBEHAVE"] = "hang:legacy"
        process = self.start("run", *WORK, "--repetitions", "2")
        # one for the device's facts, one for its rates, two that probe it, one that hangs
        self.wait_for(lambda: len(self.children.read_text().split()) >= 5, process)
        time.sleep(0.5)
        return process

    def test_killed(self):
        process = self.start_hanging()
        process.kill()
        process.wait()
        self.none_left()

    def test_interrupted(self):
        process = self.start_hanging()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(cli.PATIENCE), 130)
        self.none_left()


if __name__ == "__main__":
    cli.main()
