#!/usr/bin/env python3
"""The command over the fake runtimes: what it measures there is simulated and says so; and the command as it was built, which
finds no card and says that in one line.

    command_test.py PATH-OF-VRAMBENCH-OVER-FAKES PATH-OF-VRAMBENCH KIND,KIND... [unittest arguments]"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import cli  # noqa: E402: found by the line above

PAIR = "kv-pair:heads=8,head-dim=128,step=512,to=2048"


class OverFakes(cli.CommandTest):
    def on(self, kind, *arguments, fake="", code=0):
        os.environ["VRAMBENCH_FAKE_RUNTIME"] = "pace=0;" + fake
        self.addCleanup(os.environ.pop, "VRAMBENCH_FAKE_RUNTIME", None)
        return self.call("run", "--device", kind + ":0", "--workload", PAIR, "--repetitions", "1", "--out", "run.json", *arguments)

    def test_results_say_that_they_are_simulated(self):
        for kind in KINDS:
            answer = self.on(kind, "--allocator", ",".join(cli.SIX))
            self.assertEqual(answer.code, 0, answer)
            self.assertIn("simulated h200", answer.out)
            for cell in cli.read_json(self.folder / "run.json")["cells"]:
                self.assertEqual(cell["device"]["kind"], kind)
                self.assertIs(cell["device"]["simulated"], True)
                self.completed(cell)
            (self.folder / "run.json").unlink()

    def test_no_device_is_one_line(self):
        for kind in KINDS:
            answer = self.on(kind, fake="devices=0")
            self.assertEqual(answer.code, 2, answer)
            self.assertEqual(len(answer.err.splitlines()), 1, answer)
            self.assertIn(f"no device '{kind}:0'", answer.err)

    def test_a_driver_call_that_fails_is_an_outcome(self):
        """The first of the trace's own; the device's first calls, which are the same in every process, come before it."""
        for kind in KINDS:
            answer = self.on(kind, "--allocator", "async", "--no-reference", fake="fail=MallocFromPoolAsync:2:999")
            self.assertEqual(answer.code, 1, answer)
            outcome = cli.read_json(self.folder / "run.json")["cells"][0]["outcome"]
            self.assertIn(outcome["status"], ("crashed", "unsupported"))    # the latter where the driver was probed first
            self.assertIn("(999)", outcome["message"])
            (self.folder / "run.json").unlink()


class AsBuilt(cli.CommandTest):
    def test_the_vendors_own_runtimes_answer(self):
        """Where there is no card: one line and exit code 2, never a crash."""
        for kind in KINDS:
            ended = subprocess.run([AS_BUILT, "run", "--device", kind + ":0", "--workload", PAIR, "--benchmark_list_tests=true"],
                                   capture_output=True, text=True, check=False, timeout=cli.PATIENCE)
            if ended.returncode == 0:
                self.skipTest(f"{kind}:0 is there")
            self.assertEqual(ended.returncode, 2, ended)
            self.assertEqual(len(ended.stderr.splitlines()), 1, ended)
            self.assertIn(f"no device '{kind}:0': ", ended.stderr)


if __name__ == "__main__":
    AS_BUILT, KINDS = os.path.abspath(sys.argv.pop(2)), sys.argv.pop(2).split(",")
    cli.main()
