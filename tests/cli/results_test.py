#!/usr/bin/env python3
"""Result files as a collection: `vrambench results check` and `merge`, ranks of a launcher, and the adaptive stop."""

import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import cli

TRAFFIC = ["--workload", "kv-pair:heads=8,head-dim=128,step=512,to=4096"]
LAUNCHERS = ("OMPI_", "PMI_", "PMIX_", "MPI_LOCAL", "SLURM_")


def without_launcher(**variables):
    """The tests may run under a launcher themselves."""
    return {**{k: v for k, v in cli.environment().items() if not k.startswith(LAUNCHERS)}, **variables}


def as_built_from_a_commit(path):
    """A test's build may have uncommitted changes, which `check` reports."""
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'"commit": "[^"]*"', '"commit": "0123456789ab"', text), encoding="utf-8")


class ResultsTest(cli.CommandTest):
    def made(self, name, *arguments, **options):
        """A result file of the simulator below the test's folder; its document."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.succeed("run", *cli.on_simulator(arguments or ("--allocator", "legacy,vmm", *TRAFFIC)), "--out", path, **options)
        as_built_from_a_commit(path)
        return cli.read_json(path)


class Check(ResultsTest):
    def finds(self, document, expected):
        """`check` says this one thing about the document."""
        path = self.folder / "spoilt.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        answer = self.succeed("results", "check", path, code=1)
        lines = answer.out.splitlines()
        self.assertEqual(lines[-1], "1 file, 1 with findings", answer)
        self.assertTrue(any(expected in line for line in lines[:-1]), f"{expected!r} is not said: {answer}")

    def test_what_was_just_measured_is_fine(self):
        self.made("a.json")
        self.assertEqual(self.succeed("results", "check", "a.json").out, "1 file, 0 with findings\n")

    def test_what_does_not_follow_from_the_repetitions(self):
        good = self.made("a.json")

        def spoilt(change):
            document = copy.deepcopy(good)
            change(document["cells"][0])
            return document

        def better(cell):
            cell["metrics"]["added_ns_per_token"]["median"] /= 2

        def worse_truth(cell):
            cell["repetitions"][0]["metrics"]["peak_reserved_bytes"] += 1

        def without_a_metric(cell):
            del cell["metrics"]["device_bloat"]

        def invented(cell):
            cell["metrics"]["fragmentation"] = {"median": 0}

        self.finds(spoilt(better), "metrics/added_ns_per_token/median is ")
        self.finds(spoilt(worse_truth), "metrics/peak_reserved_bytes/median is ")
        self.finds(spoilt(without_a_metric), "metrics/device_bloat is missing")
        self.finds(spoilt(invented), "metrics/fragmentation is not part of the format")

    def test_figures_that_cannot_be(self):
        good = self.made("a.json")

        def spoilt(key, value):
            document = copy.deepcopy(good)
            for entry in document["cells"][0]["repetitions"]:
                entry["metrics"][key] = value
            return document

        live = good["cells"][0]["workload"]["max_live_bytes"]
        self.finds(spoilt("peak_device_bytes", live - 1), f"peak_device_bytes {live - 1} is below max_live_bytes {live}")
        self.finds(spoilt("peak_reserved_bytes", 1), f"peak_reserved_bytes 1 is below max_live_bytes {live}")
        self.finds(spoilt("peak_live_bytes", live + 1), "is not the trace's max_live_bytes")
        self.finds(spoilt("time_ps", 0), "takes an impossible time")    # its phases took some
        self.finds(spoilt("events", 3), "it executed 3 of")

    def test_a_limit_that_was_not_there(self):
        good = self.made("a.json", "--allocator", "vmm", "--vram-limit", "64MiB", *TRAFFIC)
        cell = next(c for c in good["cells"] if not c["reference"])
        for entry in cell["repetitions"]:
            entry["metrics"]["free_bytes_at_start"] += 2 * cli.MIB
        self.finds(good, "free bytes, not with its limit of 67108864")

    def test_another_command_than_the_id_says(self):
        good = self.made("a.json")
        good["cells"][0]["kernel_scale"] = "2"
        self.finds(good, "its id is not that of what it says was run")

    def test_where_it_comes_from(self):
        good = self.made("a.json")
        for key in ("commit", "host", "cpu"):
            document = copy.deepcopy(good)
            del document["environment"][key]
            self.finds(document, f"the environment does not say {key}")
        self.finds({**good, "environment": {**good["environment"], "commit": "0123-dirty"}}, "nobody can build this program again")
        self.finds({**good, "environment": {**good["environment"], "answered_by_stand_in": "x"}}, "its figures are no card's")
        self.finds({**good, "command": []}, "the command is missing")
        nameless = {k: v for k, v in good["environment"].items() if not k.endswith(".name")}
        self.finds({**good, "environment": nameless}, "does not describe device")

    def test_a_workload_that_its_spec_does_not_give(self):
        good = self.made("a.json")
        for key, words in (("alloc_calls", "workload/alloc_calls is "), ("tokens", "workload/tokens is "), ("max_block_bytes", "follows from its spec")):
            document = copy.deepcopy(good)
            document["cells"][0]["workload"][key] += 1
            self.finds(document, words)

    def test_repetitions_that_do_not_fit_their_trace(self):
        good = self.made("a.json", "--allocator", "legacy-retry", "--vram-limit", "24MiB", *TRAFFIC)
        cell = next(c for c in good["cells"] if not c["reference"])
        self.assertGreater(cell["metrics"]["oom"]["recoveries"], 0)

        def spoilt(change):
            document = copy.deepcopy(good)
            change(next(c for c in document["cells"] if not c["reference"])["repetitions"][0]["metrics"])
            return document

        def another_event(metrics):
            metrics["recoveries"][0]["event"] += 1

        def more_steps(metrics):
            metrics["phases"][0]["steps"] += 1

        self.finds(spoilt(another_event), "recoveries/0/")
        self.finds(spoilt(more_steps), "steps is ")

    def test_a_trace_that_is_not_here_is_a_note(self):
        self.succeed("trace", "export", TRAFFIC[1], "--out", "kv.jsonl")
        self.made("a.json", "--allocator", "vmm", "--workload", "file:kv.jsonl")
        self.assertEqual(self.succeed("results", "check", "a.json").out, "1 file, 0 with findings\n")
        (self.folder / "kv.jsonl").unlink()
        answer = self.succeed("results", "check", "a.json")
        self.assertIn("a.json: note: 1 trace is of a file that is not here as it was (file:kv.jsonl)", answer.out)
        self.assertIn("1 file, 0 with findings", answer.out)

    def with_spec(self, good, spec):
        """The file as if its cells had been run with another workload: ids and all that is said of it stay those of a whole file."""
        document = copy.deepcopy(good)
        for cell in document["cells"]:
            cell["workload"]["spec"] = spec
        for _ in document["cells"]:    # each says what its id would be
            (self.folder / "spec.json").write_text(json.dumps(document), encoding="utf-8")
            for told, right in re.findall(r"cell (\w+): its id is not that of what it says was run \((\w+)\)", self.call("results", "check", "spec.json").out):
                next(c for c in document["cells"] if c["id"] == told)["id"] = right
        return document

    def test_a_workload_larger_than_the_file_says_is_not_read_to_its_end(self):
        good = self.made("a.json", "--allocator", "vmm", *TRAFFIC)
        events = good["cells"][0]["workload"]["events"]
        endless = "random:events=4000000000"    # takes hours
        self.finds(self.with_spec(good, endless), f"its workload cannot be made again: random has more than {events} events")

    def test_unknown_workloads_are_no_files_that_are_not_here(self):
        good = self.made("a.json", "--allocator", "vmm", *TRAFFIC)
        for spec in ("@/etc/passwd", "story:model=@a.json", "kv-pair:heads=8,head-dim=128,step=512,model=@a.json", "kv-pair:heads=@a.json"):
            self.finds(self.with_spec(good, spec), "its workload cannot be made again: ")
        (self.folder / "spec.json").write_text(json.dumps(self.with_spec(good, "fattn-decode:model=@nowhere.json,depth=16")), encoding="utf-8")
        self.assertIn("note: 1 trace is of a file that is not here as it was", self.call("results", "check", "spec.json").out)

    def test_damage_is_told_with_its_place(self):
        good = self.made("a.json")
        del good["cells"][1]["repetitions"][0]["order"]
        self.finds(good, "it is damaged: cells/1: repetitions/0: 'order' is missing")

    def test_help_tells_its_own_exit_codes(self):
        for words in (("results",), ("results", "check"), ("results", "merge"), ("trace",), ("trace", "export"), ("trace", "stats")):
            shown = self.succeed(*words, "--help").out
            self.assertIn("Exit codes: 0", shown, words)
            self.assertNotIn("running out of memory is a result", shown, words)

    def test_files_that_are_none(self):
        good = self.made("a.json")
        self.finds([], "it is not a vrambench result file")
        self.finds({**good, "schema": "vrambench.result/9"}, "it has version 'vrambench.result/9'")
        self.finds({**good, "kind": "story"}, "it holds a 'story'")
        self.finds({**good, "cells": [1]}, "it is damaged")
        self.finds({**good, "cells": []}, "it holds no cells")
        text = (self.folder / "a.json").read_text()
        (self.folder / "cut.json").write_text(text[:len(text) // 2])
        (self.folder / "empty.json").write_text("")
        answer = self.succeed("results", "check", "cut.json", "empty.json", code=1)
        self.assertIn("cut off", answer.out)
        self.assertIn("is empty", answer.out)
        self.assertIn("2 files, 2 with findings", answer.out)

    def test_what_no_reader_can_hold(self):
        text = json.dumps(self.made("a.json"))
        for spoilt, words in ((text.replace('"finished": true', '"finished": true, "x": ' + "[" * 300000 + "]" * 300000), "nested deeper than 64 levels"),
                              ("[" * 300000, "nested deeper than 64 levels"),
                              (text.replace('"seed": 1', '"seed": 1e999', 1), "a number is too large to be read: '1e999'")):
            self.assertNotEqual(spoilt, text)
            (self.folder / "spoilt.json").write_text(spoilt, encoding="utf-8")
            answer = self.succeed("results", "check", "spoilt.json", code=1)
            self.assertIn("is no result file: " + words, answer.out)
            for command in (["show", "spoilt.json"], ["compare", "spoilt.json", "a.json"], ["recommend", "spoilt.json"],
                            ["results", "merge", "a.json", "spoilt.json", "--out", "merged.json"]):
                self.refused(command, "'spoilt.json' is no result file: " + words)

    def test_nothing_to_check_is_bad_usage(self):
        (self.folder / "bare").mkdir()
        for path, words in (("nowhere.json", "no such file or folder"), ("bare", "holds no result files")):
            answer = self.succeed("results", "check", path, code=2)
            self.assertIn(words, answer.err)
        self.assertIn("no such file", self.succeed("results", "check", code=2).err)    # no folder `results` here

    def test_each_file_has_its_place(self):
        self.made("results/simulated/a.json")
        self.assertIn("1 file, 0", self.succeed("results", "check").out)
        shutil.copytree(self.folder / "results" / "simulated", self.folder / "results" / "h200")
        shutil.copytree(self.folder / "results" / "simulated", self.folder / "results" / "local")
        answer = self.succeed("results", "check", "results", code=1)
        self.assertIn("results/h200/a.json: it holds simulated results, which belong into simulated/", answer.out)
        self.assertIn("2 files, 1 with findings", answer.out)    # local/ is one's own

    def test_a_card_s_results_lie_under_its_name(self):
        shipped = cli.SOURCE / "results" / "h200" / "2026-11-30-edge.json"
        for folder, code in (("h200", 0), ("nvidia-h200", 0), ("a100", 1), ("simulated", 1)):
            (self.folder / folder / folder).mkdir(parents=True)
            shutil.copy(shipped, self.folder / folder / folder)
            self.succeed("results", "check", folder, code=code)

    def test_the_project_s_own_collection(self):
        self.succeed("results", "check", cli.SOURCE / "results")


class Merge(ResultsTest):
    def merged(self, *files, code=0):
        answer = self.succeed("results", "merge", *files, "--out", "merged.json", code=code)
        return answer, cli.read_json(self.folder / "merged.json") if code == 0 else None

    def test_one_machine_s_repetitions_are_joined(self):
        a, b = self.made("a.json"), self.made("b.json", "--allocator", "vmm,direct", *TRAFFIC)
        answer, both = self.merged("a.json", "b.json")
        self.assertIn("4 cells of 2 files, 1 environment", answer.out)
        self.assertEqual(answer.err, "")
        self.assertTrue(both["finished"])
        vmm, ideal = self.cell(both, "vmm"), self.cell(both, "ideal", reference=True)
        for cell in (vmm, ideal):
            self.assertEqual([(r["index"], r["pass"]) for r in cell["repetitions"]],
                             [(0, "cold"), (0, "steady"), (1, "cold"), (1, "steady")])
        # Numbered on as a whole, so that what ran beside a reference is paired with that one.
        self.assertEqual({r["index"] for r in self.cell(both, "direct")["repetitions"]}, {1})
        self.assertEqual(self.cell(both, "direct")["metrics"]["added_ns_per_token"]["median"],
                         self.cell(b, "direct")["metrics"]["added_ns_per_token"]["median"])
        orders = [r["order"] for c in both["cells"] for r in c["repetitions"] if r["pass"] == "cold"]
        self.assertEqual(sorted(orders), list(range(6)))
        self.assertEqual([r["command"] for r in both["environments"][0]["runs"]], [a["command"], b["command"]])
        as_built_from_a_commit(self.folder / "merged.json")
        self.succeed("results", "check", "merged.json")

    def test_machines_stay_apart(self):
        self.made("a.json")
        path = self.folder / "b.json"
        document = self.made("b.json")
        document["environment"].update(host="elsewhere", cpu="another")
        path.write_text(json.dumps(document), encoding="utf-8")
        answer, both = self.merged("a.json", "b.json")
        self.assertIn("6 cells of 2 files, 2 environments", answer.out)
        self.assertIn("b.json: another environment (cpu, host), its cells stay apart", answer.err)
        self.assertEqual(sorted(c["environment"] for c in both["cells"]), [0, 0, 0, 1, 1, 1])
        self.assertEqual([e["facts"]["host"] for e in both["environments"]], [document_host(self.folder / "a.json"), "elsewhere"])
        self.assertNotIn("host", both["environment"])
        self.assertEqual(both["environment"]["program"], "vrambench")
        self.succeed("results", "check", "merged.json")
        shown = self.succeed("show", "merged.json").out
        self.assertEqual(len(re.findall(r"^vmm ", shown, re.M)), 2)
        self.assertIn("host elsewhere", shown)

    def test_nothing_counts_twice(self):
        self.made("a.json")
        answer, _ = self.merged("a.json", "a.json", code=2)
        self.assertIn("'a.json' holds repetitions that another of the files holds too", answer.err)
        self.assertFalse((self.folder / "merged.json").exists())

    def test_what_check_refuses_is_not_laundered(self):
        good = self.made("a.json")
        self.made("b.json")

        def spoilt(change):
            document = copy.deepcopy(good)
            change(document)
            (self.folder / "spoilt.json").write_text(json.dumps(document), encoding="utf-8")
            self.succeed("results", "check", "spoilt.json", code=1)

        def faster(document):
            for entry in document["cells"][0]["repetitions"]:
                for phase in entry["metrics"]["phases"]:
                    phase["time_ps"] //= 2

        def another_outcome(document):
            document["cells"][0]["outcome"]["status"] = "oom"

        def another_order(document):
            for entry in document["cells"][0]["repetitions"]:
                entry["order"] += 7

        def another_index(document):
            for entry in document["cells"][0]["repetitions"]:
                entry["index"] += 1

        def another_seed(document):
            document["seed"] = 7

        def no_reference(document):
            for cell in document["cells"]:
                cell["reference"] = False

        for change, words in ((faster, "follows from its repetitions"), (another_outcome, "outcome/"),
                              (another_order, "the orders of its"), (another_index, ""), (another_seed, "seed is 7, but 1 follows"),
                              (no_reference, "nobody asked for `ideal`")):
            with self.subTest(change.__name__):
                spoilt(change)
                for files in (("spoilt.json", "b.json"), ("b.json", "spoilt.json")):
                    self.refused(["results", "merge", *files, "--out", "merged.json"], "'spoilt.json' is not merged: ", words,
                                 "`vrambench results check`")

    def test_what_cannot_be_merged(self):
        self.made("a.json"), self.made("b.json")
        self.merged("a.json", "b.json")
        again = self.succeed("results", "merge", "merged.json", "a.json", "--out", "more.json", code=2)
        self.assertIn("is a merged file: name the files that it was made of", again.err)
        card = cli.SOURCE / "results" / "h200" / "2026-11-30-edge.json"
        mixed = self.succeed("results", "merge", "a.json", card, "--out", "more.json", code=2)
        self.assertIn("simulated and measured results are not merged", mixed.err)
        self.succeed("results", "merge", "a.json", "--out", "more.json", code=2)
        resumed = self.succeed("run", *cli.on_simulator(("--allocator", "vmm", *TRAFFIC)), "--resume", "--out", "merged.json", code=2)
        self.assertIn("is a merged file", resumed.err)


def document_host(path):
    return cli.read_json(path)["environment"]["host"]


class Ranks(ResultsTest):
    TWO = ["--allocator", "legacy,vmm", *TRAFFIC, "--vram-limit", "none,64MiB,1GiB"]

    def shares(self, *variables):
        """Two ranks' documents, and what one process measures alone."""
        for rank, extra in enumerate(variables):
            self.succeed("run", *cli.on_simulator(self.TWO), "--by-rank", "--out", "fleet.json", env=without_launcher(**extra))
            as_built_from_a_commit(self.folder / f"fleet.rank{rank}.json")
        self.succeed("run", *cli.on_simulator(self.TWO), "--out", "alone.json", env=without_launcher())
        return [cli.read_json(self.folder / f"fleet.rank{r}.json") for r in (0, 1)], cli.read_json(self.folder / "alone.json")

    def check_shares(self, ranks, alone, launcher):
        self.assertFalse((self.folder / "fleet.json").exists())
        ids = [{c["id"] for c in d["cells"] if not c["reference"]} for d in ranks]
        self.assertEqual([len(i) for i in ids], [4, 2])
        self.assertEqual(ids[0] | ids[1], {c["id"] for c in alone["cells"] if not c["reference"]})
        for rank, document in enumerate(ranks):
            self.assertEqual([document["environment"][k] for k in ("launcher", "rank", "ranks", "local_rank")], [launcher, rank, 2, rank])
            # A comparison is never torn apart, and has its reference.
            by_limit = {}
            for c in document["cells"]:
                by_limit.setdefault(c["vram_limit_bytes"] if not c["reference"] else "reference", set()).add(c["allocator"]["name"])
            self.assertEqual(by_limit.pop("reference"), {"ideal"})
            self.assertTrue(all(names == {"legacy", "vmm"} for names in by_limit.values()), by_limit)
        self.succeed("results", "merge", "fleet.rank0.json", "fleet.rank1.json", "--out", "fleet.json")
        whole = {c["id"]: c for c in cli.read_json(self.folder / "fleet.json")["cells"]}
        for c in alone["cells"]:
            self.assertEqual(whole[c["id"]]["metrics"].keys(), c["metrics"].keys())
            self.assertEqual(whole[c["id"]]["metrics"].get("added_ns_per_token", {}).get("median"),
                             c["metrics"].get("added_ns_per_token", {}).get("median"))

    def test_two_ranks_of_each_launcher(self):
        for launcher, rank, ranks, local in (("open-mpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
                                             ("hydra", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
                                             ("slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID")):
            with self.subTest(launcher):
                (self.folder / "fleet.json").unlink(missing_ok=True)
                self.check_shares(*self.shares(*({rank: str(r), ranks: "2", local: str(r)} for r in (0, 1))), launcher)

    def test_an_ideal_that_was_asked_for_serves_every_rank(self):
        for rank in ("0", "1"):
            self.succeed("run", *cli.on_simulator(["--allocator", "vmm,ideal", *TRAFFIC, "--vram-limit", "none,64MiB"]), "--by-rank",
                         "--out", "x.json", env=without_launcher(PMI_RANK=rank, PMI_SIZE="2", MPI_LOCALRANKID=rank))
        first, second = (cli.read_json(self.folder / f"x.rank{r}.json") for r in (0, 1))
        self.assertEqual([(c["allocator"]["name"], c["vram_limit_bytes"], c["reference"]) for c in first["cells"]],
                         [("vmm", None, False), ("ideal", None, False)])
        limit = 64 * cli.MIB
        self.assertEqual(sorted((c["allocator"]["name"], c["vram_limit_bytes"] or 0, c["reference"]) for c in second["cells"]),
                         [("ideal", 0, True), ("ideal", limit, False), ("vmm", limit, False)])
        self.assertIn("added_ns_per_token", self.cell(second, "vmm", limit)["metrics"])

    def test_the_library_s_file_is_split_like_ours(self):
        for rank in ("0", "1"):
            self.succeed("run", *cli.on_simulator(self.TWO), "--by-rank", "--out", "x.json", "--benchmark_out=gb.json", "--benchmark_out_format=json",
                         env=without_launcher(PMI_RANK=rank, PMI_SIZE="2", MPI_LOCALRANKID=rank))
        self.assertFalse((self.folder / "gb.json").exists())
        for rank, own in (("0", {"none", "1GiB"}), ("1", {"64MiB"})):
            names = [b["name"] for b in cli.read_json(self.folder / f"gb.rank{rank}.json")["benchmarks"] if "/reference" not in b["name"]]
            self.assertEqual({limit for limit in ("none", "1GiB", "64MiB") if any(f"/limit:{limit}/" in n for n in names)}, own, names)
        (self.folder / "taken.rank0.json").mkdir()
        refused = self.succeed("run", *cli.on_simulator(self.TWO), "--by-rank", "--out", "x.json", "--benchmark_out=taken.json", code=2,
                               env=without_launcher(PMI_RANK="0", PMI_SIZE="2", MPI_LOCALRANKID="0"))
        self.assertIn("taken.rank0.json", refused.err)

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
    def test_two_ranks_of_mpirun(self):
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        flags = ["--oversubscribe"] if "Open MPI" in subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout else []
        subprocess.run(["mpirun", *flags, "-n", "2", cli.binary(), "run", *cli.on_simulator(self.TWO), "--by-rank", "--out", "fleet.json"],
                       cwd=self.folder, env=without_launcher(**as_root), check=True, timeout=cli.PATIENCE, capture_output=True)
        found = [{c["id"] for c in cli.read_json(self.folder / f"fleet.rank{r}.json")["cells"] if not c["reference"]} for r in (0, 1)]
        self.assertEqual([len(f) for f in found], [4, 2])
        self.assertFalse(found[0] & found[1])

    def test_without_the_flag_nothing_changes(self):
        variables = without_launcher(SLURM_PROCID="1", SLURM_NTASKS="4", SLURM_LOCALID="1")    # as in a batch script
        self.succeed("run", *cli.on_simulator(self.TWO), "--out", "a.json", env=variables)
        document = cli.read_json(self.folder / "a.json")
        self.assertEqual(len(document["cells"]), 7)
        self.assertNotIn("rank", document["environment"])

    def test_one_rank_is_an_ordinary_run(self):
        variables = without_launcher(SLURM_PROCID="0", SLURM_NTASKS="1", SLURM_LOCALID="0")
        self.succeed("run", *cli.on_simulator(self.TWO), "--by-rank", "--out", "a.json", env=variables)
        document = cli.read_json(self.folder / "a.json")
        self.assertEqual(len(document["cells"]), 7)
        self.assertNotIn("rank", document["environment"])

    def test_a_rank_without_work_does_not_fail(self):
        variables = without_launcher(SLURM_PROCID="3", SLURM_NTASKS="4", SLURM_LOCALID="3")
        answer = self.succeed("run", *cli.on_simulator(self.TWO), "--by-rank", "--out", "a.json", env=variables)
        self.assertIn("rank 3: nothing to measure", answer.err)
        self.assertEqual(list(self.folder.glob("a*.json")), [])

    def test_bad_words_of_a_launcher(self):
        for variables, words in (({}, "no launcher says which rank this is"),
                                 ({"PMI_RANK": "2", "PMI_SIZE": "2"}, "rank 2 of 2 makes no sense"),
                                 ({"PMI_RANK": "x", "PMI_SIZE": "2"}, "PMI_RANK")):
            answer = self.succeed("run", *cli.on_simulator(self.TWO), "--by-rank", "--out", "a.json", code=2, env=without_launcher(**variables))
            self.assertIn(words, answer.err)


class Precision(ResultsTest):
    def test_the_simulator_needs_one_repetition(self):
        document = self.made("a.json", "--allocator", "legacy,vmm", "--precision", "0.1%", "--repetitions", "50", *TRAFFIC)
        self.assertTrue(document["finished"])
        for c in document["cells"]:
            self.assertEqual((c["attempted"], c["stopped"]), (1, "precision"))
        self.succeed("results", "check", "a.json")

    def test_what_makes_no_sense(self):
        for arguments, words in ((["--precision", "5"], "a percentage, as 0.5%"), (["--precision", "0%"], "must be above 0"),
                                 (["--precision", "1%", "--no-reference"], "drop --no-reference"),
                                 (["--drop-losers"], "--drop-losers goes with --precision")):
            self.assertIn(words, self.succeed("run", *cli.on_simulator(arguments), code=2).err)


class OnACard(ResultsTest):
    """A stand-in answers instead of a card, with the simulator's figures: each repetition of a cell is the same."""

    WORK = ["--workload", "kv-pair:heads=2,head-dim=64,step=256,to=2048", "--allocator", "legacy,vmm"]

    def setUp(self):
        super().setUp()
        self.stand_in_children()
        os.environ["MISBEHAVE"] = ""
        if "not in this build" in self.call("list", "devices").out.split("cuda:...")[1].split("\n")[0]:
            self.skipTest("this build has no GPU back end")

    def rounds(self, *arguments, code=0):
        self.succeed("run", "--device", "cuda:0", *self.WORK, *arguments, "--out", "run.json", code=code)
        document = cli.read_json(self.folder / "run.json")
        return document["finished"], {
            c["allocator"]["name"]: (sum(r["role"] == "timed" and r["pass"] == "cold" for r in c["repetitions"]), c.get("stopped"))
            for c in document["cells"]}

    def test_cells_stop_when_their_intervals_are_narrow(self):
        finished, cells = self.rounds("--precision", "1%")
        self.assertTrue(finished)
        self.assertEqual(cells, {"legacy": (6, "precision"), "vmm": (6, "precision"), "ideal": (6, "precision")})
        as_built_from_a_commit(self.folder / "run.json")
        self.assertEqual(self.succeed("results", "check", "run.json", code=1).out.count("\n"), 2)    # the stand-in, and the sum

    def test_or_at_the_number_of_repetitions(self):
        finished, cells = self.rounds("--precision", "1%", "--repetitions", "3")
        self.assertTrue(finished)
        self.assertEqual(set(cells.values()), {(3, "repetitions")})

    def test_or_at_the_budget_and_go_on_later(self):
        finished, cells = self.rounds("--precision", "1%", "--budget", "1ms")
        self.assertFalse(finished)
        self.assertEqual({stopped for _, stopped in cells.values()}, {"budget"})
        finished, cells = self.rounds("--precision", "1%", "--resume")
        self.assertTrue(finished)
        self.assertEqual(set(cells.values()), {(6, "precision")})

    def test_what_does_not_finish_is_known_after_six_too(self):
        self.rounds("--precision", "1%", "--vram-limit", "1MiB", code=1)
        document = cli.read_json(self.folder / "run.json")
        legacy = self.cell(document, "legacy", cli.MIB)
        self.assertEqual((legacy["outcome"]["status"], legacy["stopped"]), ("oom", "precision"))
        self.assertEqual(sum(r["role"] == "timed" for r in legacy["repetitions"]), 6)

    def test_without_it_nothing_is_said(self):
        _, cells = self.rounds("--repetitions", "2")
        self.assertEqual(set(cells.values()), {(2, None)})

    def test_each_rank_has_the_card_of_its_local_rank(self):
        for rank in (2, 3):    # of two nodes with two ranks each
            variables = without_launcher(OMPI_COMM_WORLD_RANK=str(rank), OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_LOCAL_RANK=str(rank - 2))
            self.succeed("run", *self.WORK, "--repetitions", "1", "--vram-limit", "none,64MiB,96MiB,128MiB", "--by-rank", "--out", "x.json",
                         env=variables)
            document = cli.read_json(self.folder / f"x.rank{rank}.json")
            self.assertEqual({c["device"]["spec"] for c in document["cells"]}, {f"cuda:{rank - 2}"})
            self.assertEqual(len(document["cells"]), 3)


if __name__ == "__main__":
    cli.main()
