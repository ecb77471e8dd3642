#!/usr/bin/env python3
"""The simulator is deterministic: the same command gives the same metrics, on any machine and with any compiler.

`golden_metrics.json` holds what a grid of cells gave. It is compared exactly, so that a compiler that rounds, contracts or
orders differently is caught. A change that is meant: `python3 determinism_test.py PATH-OF-VRAMBENCH --update`, and read the
difference: every cell shows its main figures beside the digest of all of them."""

import hashlib
import json
import pathlib
import sys

import cli

GOLDEN = pathlib.Path(__file__).with_name("golden_metrics.json")

RANDOM = "random:events=20000,max=4MiB,live=256MiB"
GRID = {
    "kv-pair:heads=8,head-dim=128,step=512,to=16384": "80MiB",    # 1.25 times what is live at its end
    f"{RANDOM},order=lifo": "112MiB",
    f"{RANDOM},order=shuffled": "96MiB",
    f"{RANDOM},order=lifo,streams=3,share=0.3,sync=step": "96MiB",
    f"{RANDOM},order=shuffled,streams=3,share=0.3": "96MiB",
    "fattn-session:to=8192,tokens=4,layers=2,graphs=off": "56MiB",    # without graphs: `direct` frees what they captured
    "server:requests=8,gap-ms=5,prompt-max=2048,answer-max=64,layers=1,graphs=off": "28MiB",
    "turns:turns=4,answer-max=64,layers=1,graphs=off": "72MiB",
    "speculative:prompt=1024,tokens=30,layers=1,graphs=off": "28MiB",
}
ALLOCATORS = "direct,legacy,legacy-retry,async,async:threshold=0,retry=trim,vmm,ideal"


def canonical(value):
    """One line for one value, without the wording of messages."""

    def plain(v):
        if isinstance(v, dict):
            return {k: plain(x) for k, x in v.items() if k != "message"}
        return [plain(x) for x in v] if isinstance(v, list) else v

    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"))


def main_figures(results):
    """One pass, in short: what a reader of a changed golden file wants to see."""
    outcome, metrics, reached = results["outcome"], results["metrics"], results["reached"]
    if outcome["status"] != "completed":
        return {**{k: outcome[k] for k in ("status", "cause", "event", "tag") if k in outcome},
                "peak_reserved_bytes": reached["peak_reserved_bytes"]}
    return {"added_ns": metrics["added_ns_per_token"]["median"], "peak_reserved_bytes": metrics["peak_reserved_bytes"]["median"],
            "peak_device_bytes": metrics["peak_device_bytes"]["median"],
            "end_reserved_bytes": metrics["end_reserved_bytes"]["median"],
            "alloc_p99_ns": metrics["alloc_ns"]["any"]["p99"], "flushes": metrics["oom"]["flushes"],
            "recoveries": metrics["oom"]["recoveries"],
            "driver_calls": sum(n for kind, n in metrics["driver_calls"].items() if kind != "launch")}


def summary(document):
    cells = {}
    for cell in document["cells"]:
        results = cli.results_of(cell)
        name = " | ".join([cell["allocator"]["spec"], cell["workload"]["spec"], str(cell["vram_limit_bytes"])] +
                          ["reference"] * cell["reference"])
        cells[name] = {"cold": main_figures(results),
                       "steady": results["steady"] and main_figures(results["steady"]),
                       "sha256": hashlib.sha256(canonical(results).encode()).hexdigest()}
    return cells


class Golden(cli.CommandTest):
    def test_grid(self):
        cells = {}
        for workload, limit in GRID.items():
            cells.update(summary(self.measure("--allocator", ALLOCATORS, "--workload", workload, "--vram-limit", f"none,{limit}",
                                              "--seed", "7")))
        self.assertGreater(len({c["sha256"] for c in cells.values()}), 40, "cells that are all alike prove nothing")
        if UPDATE:
            lines = [f"  {json.dumps(name)}: {json.dumps(cell)}" for name, cell in cells.items()]
            GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
            print(f"{len(cells)} cells written to {GOLDEN}")
            return
        golden = cli.read_json(GOLDEN)
        self.assertEqual(list(cells), list(golden))
        for name, cell in cells.items():
            with self.subTest(cell=name):
                self.assertEqual(cell, golden[name])


class SameCommand(cli.CommandTest):
    ARGUMENTS = ["--allocator", ALLOCATORS, "--workload", "kv-pair:heads=8,head-dim=128,step=512,to=8192", "--workload",
                 f"{RANDOM},order=shuffled,streams=3,share=0.3", "--vram-limit", "none,96MiB", "--kernels", "hold,traffic",
                 "--kernel-scale", "0.5,1", "--seed", "3"]

    def everything(self, document):
        """The whole document but for environment, command and process ids."""
        for key in ("environment", "command"):
            del document[key]
        for cell in document["cells"]:
            for repetition in cell["repetitions"]:
                del repetition["process"]
        return document

    def test_twice(self):
        first = self.succeed("run", *cli.on_simulator(self.ARGUMENTS), "--out", "run.json")
        one = cli.read_json(self.folder / "run.json")
        # Elsewhere, with another zone, language and size of environment.
        (self.folder / "other").mkdir()
        second = self.succeed("run", *cli.on_simulator(self.ARGUMENTS), "--out", "run.json", cwd=self.folder / "other",
                              env=cli.environment(TZ="Asia/Tokyo", LC_ALL="C", PADDING="x" * 5000))
        two = cli.read_json(self.folder / "other" / "run.json")
        self.assertEqual(self.everything(one), self.everything(two))
        self.assertEqual(first.out, second.out)
        self.assertGreater(len(one["cells"]), 40)

    def test_repetitions_are_alike(self):
        document = self.measure("--allocator", "legacy,async,vmm", "--workload", "random:events=5000", "--repetitions", "3")
        for cell in document["cells"]:
            passes = [[{k: v for k, v in r.items() if k not in ("index", "order", "process")} for r in cell["repetitions"]
                       if r["index"] == index] for index in range(3)]
            self.assertEqual(passes[0], passes[1])
            self.assertEqual(passes[0], passes[2])

    def test_company_does_not_matter(self):
        """A cell gives the same alone as among others, and whatever the order."""
        workload = f"{RANDOM},order=shuffled,streams=2"
        together = self.measure("--allocator", "vmm,async,legacy,direct", "--workload", workload)
        for name in ("async", "legacy", "direct"):
            alone = self.measure("--allocator", name, "--workload", workload)
            self.assertEqual(cli.results_of(self.cell(alone, name)), cli.results_of(self.cell(together, name)))
            self.assertEqual(self.cell(alone, name)["id"], self.cell(together, name)["id"])

    def test_verification_costs_no_virtual_time(self):
        arguments = ["--allocator", "legacy,async", "--workload", "random:events=5000,streams=2,order=shuffled"]
        levels = {level: self.measure(*arguments, "--verify", level) for level in ("full", "sample", "off")}
        for name in ("legacy", "async"):
            results = [cli.results_of(self.cell(document, name)) for document in levels.values()]
            self.assertEqual(results[0], results[1])
            self.assertEqual(results[0], results[2])

    def test_a_seed_matters_where_numbers_are_drawn(self):
        documents = {seed: self.measure("--allocator", "legacy", "--workload", "random:events=5000", "--workload",
                                        "kv-pair:heads=1,head-dim=64,step=512,to=4096", "--seed", seed) for seed in ("1", "2")}
        drawn = [cli.results_of(self.cell(d, "legacy", name="random")) for d in documents.values()]
        self.assertNotEqual(drawn[0], drawn[1])
        ids = [self.cell(d, "legacy", name="random")["id"] for d in documents.values()]
        self.assertNotEqual(ids[0], ids[1], "other traffic is another cell")
        fixed = [cli.results_of(self.cell(d, "legacy", name="kv-pair")) for d in documents.values()]
        self.assertEqual(fixed[0], fixed[1])
        self.assertEqual(*[self.cell(d, "legacy", name="kv-pair")["id"] for d in documents.values()])


UPDATE = "--update" in sys.argv
if UPDATE:
    sys.argv.remove("--update")
    sys.argv.append("Golden")

if __name__ == "__main__":
    cli.main()
