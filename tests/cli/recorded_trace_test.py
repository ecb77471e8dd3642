#!/usr/bin/env python3
"""scripts/recorded-trace: a recorded run as a trace file, beside the generated run."""

import gzip
import json
import subprocess
import sys

import cli

RECORDED = cli.SOURCE / "tests" / "workloads" / "recorded"
SCRIPT = cli.SOURCE / "scripts" / "recorded-trace"


class RecordedTrace(cli.CommandTest):
    def make(self, recording, *arguments):
        """The script's answer; `recording` is a name or a path."""
        path = recording if hasattr(recording, "exists") else RECORDED / f"{recording}.jsonl.gz"
        command = [sys.executable, "-B", SCRIPT, "--vrambench", cli._binary, path, *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=cli.PATIENCE, check=False)
        return cli.Answer(done.returncode, done.stdout, done.stderr)

    def traces(self, recording, *arguments):
        answer = self.make(recording, "--out", "recorded.jsonl", "--spec", *arguments)
        self.assertEqual(answer.code, 0, str(answer))
        return "file:recorded.jsonl", answer.out.strip()

    def measured(self, workload):
        """What the pools took and what they added, by allocator; None where one cannot serve the trace."""
        out = {}
        for cell in self.measure("--workload", workload)["cells"]:
            if cell["reference"]:
                continue
            metrics = cell["metrics"] if cell["outcome"]["status"] == "completed" else None
            out[cell["allocator"]["name"]] = metrics and {
                "reserved": metrics["peak_reserved_bytes"]["median"], "device": metrics["peak_device_bytes"]["median"],
                "calls": metrics["driver_calls"], "added": metrics["added_ns_per_token"]["median"]}
        self.assertEqual(sorted(out), sorted(cli.SIX))
        return out

    def test_same_as_generated(self):
        """Launches and graphs included: the very same figures."""
        for recording in ("a_m4_q8_0_goff", "b_m4_q8_0_gon", "a_l4_q8_0_leg131k_hog1024"):
            with self.subTest(recording=recording):
                recorded, generated = map(self.measured, self.traces(recording))
                self.assertEqual(recorded, generated)

    def test_recorded_times(self):
        recorded, generated = self.traces("a_l4_q8_0_leg131k_hog1024", "--times", "recorded")
        recorded, generated = self.measured(recorded), self.measured(generated)
        for name in cli.SIX:
            self.assertEqual({k: v for k, v in recorded[name].items() if k != "added"},
                             {k: v for k, v in generated[name].items() if k != "added"})
        self.assertNotEqual(recorded["legacy"]["added"], generated["legacy"]["added"])
        # 64 calls for the prompt and 16 tokens; a token lasts as long as the median of the recorded ones, 3.78 ms
        tokens, lasts = 0, 0
        for line in (self.folder / "recorded.jsonl").read_text().splitlines():
            entry = json.loads(line)
            if entry.get("op") == "step":
                tokens += entry["phase"] == "decode"
            elif entry.get("op") == "kernel" and tokens == 1:
                lasts += entry["ns"]
        self.assertEqual(tokens, 16)
        with gzip.open(RECORDED / "a_l4_q8_0_leg131k_hog1024.jsonl.gz", "rt") as lines:
            entries = [json.loads(line) for line in lines]
        times = sorted(e["us"] for e in entries if e.get("phase") == "decode")
        self.assertAlmostEqual(lasts / 1000, (times[7] + times[8]) / 2, delta=0.1)

    def test_another_run(self):
        """A recording that the generator does not match is refused: its launches would lie at the wrong places."""
        path = self.folder / "changed.jsonl.gz"
        with gzip.open(RECORDED / "b_m4_q8_0_gon.jsonl.gz", "rt") as lines:
            text = lines.read()
        changed = text.replace(' 0 2 MUL_MAT:Vcur-0"', ' 0 3 MUL_MAT:Vcur-0"', 1)
        self.assertNotEqual(text, changed)
        with gzip.open(path, "wt") as out:
            out.write(changed)
        answer = self.make(path, "--out", "recorded.jsonl")
        self.assertEqual(answer.code, 1)
        self.assertIn("the generated run has other walks; scripts/compare-recording says which", answer.err)
        self.assertFalse((self.folder / "recorded.jsonl").exists())

    def test_not_a_recording(self):
        path = self.folder / "cut.jsonl.gz"
        path.write_bytes((RECORDED / "b_m4_q8_0_gon.jsonl.gz").read_bytes()[:3000])
        for file in (path, self.folder / "missing.gz"):
            answer = self.make(file, "--out", "recorded.jsonl")
            self.assertEqual((answer.code, answer.err.count("\n")), (1, 1), str(answer))
            self.assertIn("cannot be read as a recording", answer.err)
            self.assertNotIn("Traceback", answer.err)


if __name__ == "__main__":
    cli.main()
