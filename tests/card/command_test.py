#!/usr/bin/env python3
"""The command on a real card: children that are killed or hang, limits that cannot be, and what a card's result holds.

    command_test.py [PATH-OF-VRAMBENCH] [unittest arguments]

The path may stand in VRAMBENCH instead, the card in VRAMBENCH_CARD (cuda:0). Needs this folder and the one beside it, `cli`.
Exit code 77 where there is no card."""

import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import cli  # noqa: E402: found by the line above

CARD = os.environ.get("VRAMBENCH_CARD") or "cuda:0"
PAIR = "kv-pair:heads=8,head-dim=128,step=512,to=8192"
SLOW = "kv-pair:heads=8,head-dim=128,step=512,to=2048,kernel-ns=500000000"    # four seconds a pass


class CardTest(cli.CommandTest):
    def on_card(self, *arguments, code=0):
        return self.measure("--device", CARD, "--no-reference", *arguments, code=code)

    def timed(self, cell):
        return [r for r in cell["repetitions"] if r["pass"] == "cold" and r["role"] == "timed"]


class Results(CardTest):
    def test_all_six_complete_and_verify(self):
        document = self.measure("--device", CARD, "--allocator", ",".join(cli.SIX), "--workload", PAIR, "--repetitions", "1",
                                "--verify", "full")
        for name in cli.SIX:
            self.completed(self.cell(document, name))
            self.assertEqual(self.cell(document, name)["hazard_count"], 0)

    def test_what_a_card_adds(self):
        document = self.on_card("--allocator", "direct", "--workload", PAIR, "--repetitions", "1")
        metrics = self.completed(self.cell(document, "direct"))
        self.assertTrue(0 <= metrics["host_bound"]["median"] <= 1)
        self.assertTrue(0 <= metrics["overrun_share"]["median"] <= 1)
        self.assertGreater(metrics["free_ns"]["split"]["paths"]["driver"]["drain"]["total"], 0)
        self.assertNotIn("unsplit_calls", metrics)
        facts = document["environment"]
        self.assertGreater(facts[f"device.{CARD}.flops_per_second"], 0)
        self.assertGreater(facts[f"device.{CARD}.bytes_per_second"], 0)
        for repetition in self.timed(document["cells"][0]):
            self.assertEqual("clocks" in repetition, facts[f"device.{CARD}.clocks"].startswith("read with"))
        print({k: v for k, v in facts.items() if "_per_second" in k or "_source" in k or k.endswith("clocks")}, file=sys.stderr)
        shown = self.succeed("show", "--calls", "run.json").out
        self.assertRegex(shown, r"direct +cold +free +driver")


class Limits(CardTest):
    def test_above_the_card(self):
        document = self.on_card("--allocator", "vmm", "--workload", PAIR, "--vram-limit", "4TiB", "--repetitions", "1", code=1)
        outcome = document["cells"][0]["outcome"]
        self.assertEqual(outcome["status"], "unsupported")
        self.assertIn("are free on the card, the limit is", outcome["message"])

    def test_is_within_one_block(self):
        document = self.on_card("--allocator", "vmm", "--workload", PAIR, "--vram-limit", "512MiB", "--repetitions", "1")
        cell = document["cells"][0]
        self.completed(cell)
        for repetition in cell["repetitions"]:
            free = repetition["metrics"]["free_bytes_at_start"]
            self.assertTrue(512 * cli.MIB <= free < 514 * cli.MIB, free)


class Causes(CardTest):
    """Every cause that a card can show, made on purpose. `pending` it does not tell, and its addresses do not run out."""

    def cause(self, allocator, *arguments, workload=PAIR):
        document = self.on_card("--allocator", allocator, "--workload", workload, "--repetitions", "1", *arguments, code=1)
        cell = document["cells"][0]
        self.assertEqual({r["outcome"].get("cause") for r in cell["repetitions"]}, {cell["outcome"]["cause"]})
        return cell["outcome"]["status"], cell["outcome"]["cause"], cell["outcome"]["step"]

    def test_live(self):
        # Two blocks of 8n MiB at step n. A limit is kept to 2 MiB, and a driver keeps up to 3.1 MiB for itself: neither moves the
        # limit from between the 16 MiB of the first step and the 32 of the second.
        for allocator in ("direct", "vmm"):
            self.assertEqual(self.cause(allocator, "--vram-limit", "24MiB", workload=PAIR.replace("step=512", "step=4096")),
                             ("oom", "live", 2), allocator)

    def test_retained(self):
        status, cause, step = self.cause("legacy", "--vram-limit", "1.25x")
        self.assertEqual((status, cause), ("oom", "retained"))
        self.assertLess(step, 16)

    def test_fragmented(self):
        # All bytes are there, and what the driver keeps for itself is too little to tell.
        status, cause, _ = self.cause("direct", "--vram-limit", "1x")
        self.assertEqual((status, cause), ("oom", "fragmented"))

    def test_external(self):
        self.assertEqual(self.cause("vmm", "--vram-limit", "1.25x", "--neighbour", "60MiB@step:8"), ("oom", "external", 8))

    def test_starved(self):
        self.assertEqual(self.cause("legacy-retry", "--vram-limit", "1.25x", "--neighbour", "20MiB@step:12")[:2],
                         ("starved", "external"))

    def test_injected(self):
        self.assertEqual(self.cause("legacy", "--inject", "oom@3"), ("oom", "injected", 2))


class Children(CardTest):
    @staticmethod
    def measuring_children(parent):
        """Process ids of `child measure` of this parent."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if words[1:3] == [b"child", b"measure"] and int(fields[1]) == parent:
                found.append(int(entry.name))
        return found

    def test_one_that_is_killed(self):
        process = self.start("run", "--device", CARD, "--no-reference", "--allocator", "vmm", "--workload", SLOW, "--workload", PAIR,
                             "--repetitions", "1", "--out", "run.json", "--seed", "1")
        killed = False
        while process.poll() is None and not killed:
            for child in self.measuring_children(process.pid):
                os.kill(child, signal.SIGKILL)
                killed = True
        self.assertTrue(killed)
        self.assertEqual(process.wait(cli.PATIENCE), 1, process.communicate())
        document = cli.read_json(self.folder / "run.json")
        outcomes = [r["outcome"] for c in document["cells"] for r in c["repetitions"] if r["pass"] == "cold"]
        self.assertEqual(sorted(o["status"] for o in outcomes), ["completed"] * (len(outcomes) - 1) + ["crashed"])
        self.assertIn("SIGKILL", next(o["message"] for o in outcomes if o["status"] == "crashed"))
        self.assertTrue(document["finished"])

    def test_one_that_hangs(self):
        hanging = SLOW.replace("500000000", "600000000000")
        document = self.on_card("--allocator", "vmm", "--workload", hanging, "--repetitions", "1", "--timeout", "15s", code=1)
        outcome = document["cells"][0]["outcome"]
        self.assertEqual(outcome["status"], "timeout")
        self.assertRegex(outcome["message"], r"no answer after 15000 ms in [a-z_]+")
        again = self.on_card("--allocator", "vmm", "--workload", PAIR, "--repetitions", "1")    # and the card is free again
        self.completed(self.cell(again, "vmm"))

    def test_memory_of_a_killed_one_comes_back(self):
        arguments = ["--allocator", "vmm", "--workload", PAIR, "--repetitions", "1"]
        free = []
        for _ in range(2):
            document = self.on_card(*arguments)
            free.append(max(r["metrics"]["free_bytes_at_start"] for r in document["cells"][0]["repetitions"]))
            if len(free) == 1:
                self.on_card("--allocator", "vmm", "--workload", SLOW.replace("500000000", "600000000000"), "--repetitions", "1",
                             "--vram-limit", "512MiB", "--timeout", "10s", code=1)    # holds the whole card as ballast
        self.assertLess(abs(free[1] - free[0]), 64 * cli.MIB)


class Devices(CardTest):
    def test_a_number_that_is_not_there(self):
        answer = self.call("run", "--device", CARD.split(":")[0] + ":1000", "--workload", PAIR)
        self.assertEqual(answer.code, 2, answer)
        self.assertEqual(len(answer.err.splitlines()), 1, answer)
        self.assertIn("numbered from 0", answer.err)


def why_no_card(binary):
    """The command's own line, or nothing where the card answers."""
    asked = subprocess.run([binary, "run", "--device", CARD, "--workload", PAIR, "--benchmark_list_tests=true"], capture_output=True,
                           check=False, timeout=cli.PATIENCE)
    return asked.stderr.decode().strip() if asked.returncode == 2 else ""


if __name__ == "__main__":
    if (len(sys.argv) < 2 or not os.path.isfile(sys.argv[1])) and "VRAMBENCH" in os.environ:
        sys.argv.insert(1, os.environ["VRAMBENCH"])
    reason = why_no_card(os.path.abspath(sys.argv[1])) if len(sys.argv) > 1 else ""
    if reason:
        print(f"SKIPPED, every test of a card: {reason}")
        sys.exit(77)
    cli.main()
