#!/usr/bin/env python3
"""Recorded runs of the real engine against the generator: scripts/compare-recording finds no difference in any of the ten,
and finds each kind of difference where there is one."""

import gzip
import json
import re
import subprocess
import sys

import cli

RECORDED = cli.SOURCE / "tests" / "workloads" / "recorded"
SCRIPT = cli.SOURCE / "scripts" / "compare-recording"
WALKS = {"a_l32_q8_0_goff": 332, "a_l32_q8_0_goff_leg": 332, "a_l4_q8_0_leg131k": 768, "a_l4_q8_0_leg131k_hog1024": 272,
         "a_m4_q8_0_goff": 332, "b_l32_f16_goff": 332, "b_l32_q8_0_gon": 332, "b_l4_faoff_goff": 308, "b_l4_q8_0_vmm131k": 768,
         "b_m4_q8_0_gon": 332}


def compare(*files):
    command = [sys.executable, "-B", SCRIPT, "--vrambench", cli._binary, *files]
    return subprocess.run(command, capture_output=True, text=True, timeout=cli.PATIENCE, check=False)


class AsRecorded(cli.CommandTest):
    def test_every_walk(self):
        done = compare(*sorted(RECORDED.glob("*.jsonl.gz")))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = dict(re.findall(r"^(\w+): (\d+) walks, .*: no differences$", done.stdout, re.MULTILINE))
        self.assertEqual({k: int(v) for k, v in found.items()}, WALKS)


class Changed(cli.CommandTest):
    """A recording that says something else must be told apart: here the engine is right and the generator would be wrong."""

    def changed(self, recording, change):
        """Compares a copy in which `change` has edited one line; `change` returns true where it did."""
        path = self.folder / f"{recording}.jsonl.gz"
        with gzip.open(RECORDED / path.name, "rt") as lines:
            entries = [json.loads(line) for line in lines]
        self.assertTrue(any(change(entry) for entry in entries))
        with gzip.open(path, "wt") as out:
            out.writelines(json.dumps(entry) + "\n" for entry in entries)
        done = compare(path)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return done.stdout

    def edit_event(self, index, old, new):
        """In pattern 1, a prompt's."""
        def change(entry):
            if entry.get("pattern") != 1 or "events" not in entry:
                return False
            fields = entry["events"][index].split(" ", 5)
            self.assertEqual(fields[:2] + fields[4:5], old)
            fields[0], fields[1], fields[4] = new
            entry["events"][index] = " ".join(fields)
            return True
        return change

    def test_a_size(self):
        out = self.changed("a_l32_q8_0_goff", self.edit_event(1, ["A", "8650752", "1"], ("A", "8650753", "1")))
        self.assertIn("prefill step 0, walk 1: event 1: (1, 'A', 8650752), recorded (1, 'A', 8650753)", out)

    def test_a_launch(self):
        out = self.changed("a_l32_q8_0_goff", self.edit_event(4, ["A", "2377728", "2"], ("A", "2377728", "3")))
        self.assertIn("event 4: (2, 'A', 2377728), recorded (3, 'A', 2377728)", out)

    def test_synchronisations(self):
        def change(entry):
            if entry.get("phase") != "decode":
                return False
            entry["api_outside_walks"]["cudaStreamSynchronize_v3020"] += 1
            return True
        self.assertIn("decode step 8: 18 synchronisations, recorded 19", self.changed("b_l32_q8_0_gon", change))

    def test_a_walk_where_a_graph_is_replayed(self):
        def change(entry):
            if entry.get("kind") != "replay":
                return False
            entry["kind"] = "direct"
            return True
        self.assertIn("is replay, recorded direct", self.changed("b_m4_q8_0_gon", change))

    def test_a_synchronisation_inside_a_walk(self):
        def change(entry):
            if "walk" not in entry:
                return False
            entry["api"]["cudaStreamSynchronize_v3020"] = 1
            return True
        self.assertIn("calls cudaStreamSynchronize, which the trace does not have", self.changed("b_m4_q8_0_gon", change))


if __name__ == "__main__":
    cli.main()
