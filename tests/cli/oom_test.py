#!/usr/bin/env python3
"""The out-of-memory laboratory from outside: limits, injected faults, and the words for what happens."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import unittest

import cli

try:
    import jsonschema
except ImportError:
    jsonschema = None

PAIR = "kv-pair:heads=8,head-dim=128,step=512,to=8192"    # 32 MiB live at the end, 16 steps
ALL = "direct,legacy,legacy-retry,async,async:retry=sync,async:retry=trim,vmm"


def alloc(block, mib):
    return {"op": "alloc", "block": block, "bytes": mib * cli.MIB, "tag": f"block {block}"}


def free(block):
    return {"op": "free", "block": block}


def external(mib):
    return {"op": "external_alloc", "external": 0, "bytes": mib * cli.MIB, "tag": "outside"}


class Causes(cli.CommandTest):
    """Each cause made on purpose, by traces of a few events, and named by the command."""

    def end_of(self, allocator, limit, events, *more):
        tags = sorted({e["tag"] for e in events if "tag" in e})
        header = {"vrambench_trace": 1, "name": "story", "spec": "story", "params": {}, "seed": 0, "streams": 1, "tags": ["step", *tags],
                  "phases": ["prefill"]}
        step = {"op": "step", "label": "step", "phase": "prefill", "tokens": 1}
        lines = [header, step, *events, {"op": "end", "events": len(events) + 1}]
        (self.folder / "story.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        answer = self.call("run", "--device", "sim:h200", "--allocator", allocator, "--workload", "file:story.jsonl", "--no-reference",
                           "--vram-limit", limit, "--out", "run.json", *more)
        cell = cli.read_json(self.folder / "run.json")["cells"][0]
        outcome = cell["outcome"]
        if outcome["status"] == "completed":
            return "completed", "", outcome
        self.assertEqual(answer.code, 1, answer)    # nothing completed
        self.assertIn(f"{outcome['status']}: {outcome['cause']} at step 1", answer.out)
        self.assertEqual(cell["metrics"], {})
        return outcome["status"], outcome["cause"], outcome

    def expect(self, words, allocator, limit, events, *more, tag=None):
        status, cause, outcome = self.end_of(allocator, limit, events, *more)
        self.assertEqual(f"{status} {cause}".strip(), words, outcome)
        if tag is not None:
            self.assertEqual(outcome["tag"], tag)
        return outcome

    def test_live(self):
        o = self.expect("oom live", "legacy-retry", "98MiB", [alloc(0, 40), alloc(1, 60), free(1), free(0)], tag="block 1")
        self.assertGreater(o["live_bytes"] + o["wanted_bytes"], 98 * cli.MIB)

    def test_retained(self):
        events = [alloc(0, 30), free(0), alloc(1, 40), free(1)]
        o = self.expect("oom retained", "legacy", "64MiB", events, tag="block 1")
        self.assertGreater(o["driver_free_bytes"] + o["cached_bytes"], o["wanted_bytes"])
        self.expect("completed", "legacy-retry", "64MiB", events)

    def test_fragmented(self):
        events = [alloc(0, 62), free(0)]    # the list pool asks for 65.1
        self.expect("oom fragmented", "legacy-retry", "64MiB", events)
        self.expect("completed", "direct", "64MiB", events)

    def test_pending(self):
        events = [alloc(0, 30), {"op": "kernel", "writes": [0], "ns": 10**9, "tag": "long"}, free(0), alloc(1, 70), free(1)]
        self.expect("oom pending", "async", "98MiB", events, tag="block 1")
        self.expect("completed", "async:retry=sync", "98MiB", events)

    def test_external(self):
        events = [alloc(0, 30), external(50), {"op": "external_free", "external": 0}, free(0)]
        self.expect("oom external", "legacy", "64MiB", events, tag="outside")

    def test_starved(self):
        events = [alloc(0, 30), free(0), external(50), {"op": "external_free", "external": 0}]
        self.expect("starved external", "legacy-retry", "64MiB", events, tag="outside")
        self.expect("completed", "direct", "64MiB", events)

    def test_address_space(self):
        events = [alloc(0, 20 << 10), alloc(1, 20 << 10), free(1), free(0)]    # the stack reserves 32 GiB
        self.expect("oom address-space", "vmm", "none", events, tag="block 1")
        self.expect("completed", "direct", "none", events)

    def test_injected(self):
        events = [alloc(0, 1), alloc(1, 1), free(1), free(0)]
        self.expect("oom injected", "direct", "none", events, "--inject", "oom@2", tag="block 1")
        self.expect("completed", "direct", "none", events, "--inject", "oom@5")    # both passes make four calls
        self.expect("oom injected", "direct", "none", [external(1), *events], "--inject", "oom@1", tag="outside")

    def test_a_fault_that_the_driver_repeats_is_judged_by_bytes(self):
        events = [alloc(0, 40), free(0), alloc(1, 70), free(1)]
        self.expect("oom live", "legacy-retry", "64MiB", events, "--inject", "oom@2", tag="block 1")


class Report(cli.CommandTest):
    def test_failures(self):
        document = self.measure("--allocator", "legacy,vmm", "--workload", PAIR, "--vram-limit", "40MiB", "--no-reference")
        outcome = self.cell(document, "legacy", 40 * cli.MIB)["outcome"]
        text = self.succeed("show", "run.json", "--failures").out
        self.assertEqual(text.count("which means"), 1, "vmm completed")
        for words in ("legacy (before #22155): oom, retained", f"event {outcome['event']}, step {outcome['step']} of prefill", "limit 40MiB",
                      f"{outcome['wanted_bytes'] / cli.MIB:.2f} MiB for {outcome['tag']}", "simulated", "went back to the driver",
                      f"{outcome['driver_free_bytes'] / cli.MIB:.2f} MiB", f"{outcome['cached_bytes'] / cli.MIB:.2f} MiB in "):
            self.assertIn(words, text)
        self.measure("--allocator", "vmm", "--workload", PAIR, "--no-reference")
        self.assertEqual(self.succeed("show", "run.json", "--failures").out, "Nothing ran out of memory.\n")
        self.assertIn("--markdown", self.succeed("show", "run.json", "--failures", "--markdown", code=2).err)


    def test_recoveries_of_what_completes(self):
        document = self.measure("--allocator", "legacy-retry", "--workload", PAIR, "--vram-limit", "48MiB", "--no-reference")
        cell = self.cell(document, "legacy-retry", 48 * cli.MIB)
        self.assertEqual(cell["outcome"]["status"], "completed")
        raw = cell["repetitions"][0]["metrics"]
        kept = raw["recoveries"]
        self.assertEqual(len(kept), raw["oom"]["recoveries"])
        self.assertEqual(sum(r["bytes_given_back"] for r in kept), raw["oom"]["bytes_given_back"])
        for part in ("sync", "free", "allocate"):
            self.assertEqual(sum(r["recovery_ps"]["idle"][part] for r in kept), raw["oom"]["recovery_ps"]["idle"][part])
        text = self.succeed("show", "run.json", "--failures").out
        self.assertIn("legacy-retry (after it): completed, recovered ", text)
        rows = [line.split() for line in text.splitlines() if " flush " in line]
        self.assertEqual([row[:2] for row in rows], [[str(r["event"]), str(r["step"])] for r in kept])


class Scripts(cli.CommandTest):
    """The scripts that compare a card with the simulator, on the simulator and itself."""

    def script(self, name, *arguments, code=0):
        path = pathlib.Path(__file__).resolve().parents[2] / "scripts" / name
        done = subprocess.run([sys.executable, "-B", str(path), *arguments], cwd=self.folder, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_async_patterns(self):
        program = ("--program", cli._binary)
        self.script("async-patterns", "run", "--device", "sim:h200", "--out", "card.json", *program)
        self.script("async-patterns", "run", "--device", "sim:h200", "--limits-of", "card.json", "--out", "sim.json", *program)
        table = self.script("async-patterns", "compare", "card.json", "sim.json")
        self.assertIn("18 cells, 0 differ.", table)
        self.assertEqual(table.count("| equal |"), 18)
        document = cli.read_json(self.folder / "card.json")
        self.assertGreaterEqual(len({c["workload"]["name"] for c in document["cells"]}), 12)
        self.assertIn("oom", {c["outcome"]["status"] for c in document["cells"]})
        self.assertIn("completed", {c["outcome"]["status"] for c in document["cells"]})
        document["cells"][0]["repetitions"][0]["reached"]["peak_reserved_bytes"] += 32 * cli.MIB
        (self.folder / "other.json").write_text(json.dumps(document))
        self.assertIn("| DIFFERS |", self.script("async-patterns", "compare", "card.json", "other.json", code=1))

    def test_recoveries(self):
        document = self.measure("--allocator", "legacy-retry,async:retry=sync", "--workload", PAIR, "--vram-limit", "40MiB", "--no-reference")
        table = self.script("recoveries", "run.json", "run.json")
        self.assertIn("| 1.00 | ok |", table)
        for cell in document["cells"]:
            for repetition in cell["repetitions"]:
                for r in (repetition["metrics"] or repetition["reached"]).get("recoveries", []):
                    r["recovery_ps"]["idle"]["allocate"] += 10**12
        (self.folder / "slow.json").write_text(json.dumps(document))
        self.assertIn("MISS", self.script("recoveries", "run.json", "slow.json", code=1))


class Killed(cli.CommandTest):
    RUN = ["run", "--device", "sim:h200", "--allocator", "legacy-retry,async:retry=sync,vmm", "--no-reference", "--workload",
           "random:events=30000,max=1MiB,order=lifo", "--vram-limit", "2x,80%", "--inject", "none,oom@p:0.01", "--resident", "100MiB",
           "--neighbour", "20MiB@step:5..9", "--repetitions", "4", "--out", "run.json"]

    def test_resume_gives_the_file_of_an_undisturbed_run(self):
        out = self.folder / "run.json"
        process = self.start(*self.RUN)
        self.wait_for(out.exists, process)
        process.kill()
        process.communicate()
        killed = cli.read_json(out)
        done = sum(c["attempted"] for c in killed["cells"])
        self.assertIs(killed["finished"], False)
        self.assertLess(done, 12 * 4)
        self.assertGreater(done, 0)
        self.succeed(*self.RUN, "--resume")
        resumed = cli.read_json(out)
        self.assertIs(resumed["finished"], True)
        self.succeed(*self.RUN)
        undisturbed = cli.read_json(out)
        self.assertEqual([c["id"] for c in resumed["cells"]], [c["id"] for c in undisturbed["cells"]])
        self.assertEqual([cli.results_of(c) for c in resumed["cells"]], [cli.results_of(c) for c in undisturbed["cells"]])
        self.assertGreater(len({str(c["outcome"]) for c in resumed["cells"]}), 1, "cells that are all alike prove little")

    @unittest.skipUnless(jsonschema, "python3-jsonschema is missing")
    def test_the_file_is_as_its_schema_says(self):
        self.succeed(*self.RUN[:-3], "1", "--out", "run.json")
        document = cli.read_json(self.folder / "run.json")
        jsonschema.validate(document, cli.read_json(cli.SOURCE / "results" / "schema.json"))
        self.assertEqual({(c["resident_bytes"], c["neighbour"], c.get("inject")) for c in document["cells"]},
                         {(100 * cli.MIB, "20MiB@step:5..9", None), (100 * cli.MIB, "20MiB@step:5..9", "oom@p:0.01/seed:1")})
        shown = self.succeed("show", "run.json").out
        for words in ("resident 100MiB", "neighbour 20MiB@step:5..9", "inject oom@p:0.01/seed:1"):
            self.assertIn(words, shown)


class Injection(cli.CommandTest):
    def inject(self, rules, *arguments, allocators=ALL, code=0):
        return self.measure("--allocator", allocators, "--workload", PAIR, "--no-reference", "--inject", rules, *arguments, code=code)

    def by_rule(self, document):
        found = {}
        for cell in document["cells"]:
            found.setdefault(cell.get("inject"), {})[cell["allocator"]["spec"]] = cell
        return found

    def test_a_fault_ends_who_cannot_recover_and_is_named(self):
        cells = self.by_rule(self.inject("none,oom@9"))
        self.assertEqual({c["outcome"]["status"] for c in cells[None].values()}, {"completed"})
        ends = {spec: (c["outcome"]["status"], c["outcome"].get("cause")) for spec, c in cells["oom@9"].items()}
        fatal, cured = ("oom", "injected"), ("completed", None)
        self.assertEqual(ends, {"direct": fatal, "legacy:retry=none": fatal, "legacy:retry=flush": cured,
                                "async:threshold=max,retry=none,pool=own": fatal, "async:threshold=max,retry=sync,pool=own": cured,
                                "async:threshold=max,retry=trim,pool=own": cured, "vmm:handle=granularity": fatal})
        for spec, cell in cells["oom@9"].items():
            if ends[spec] == cured:
                self.assertEqual(cell["metrics"]["oom"]["recoveries"], 1, spec)
            else:    # with all of the card free
                self.assertGreater(cell["outcome"]["driver_free_bytes"], 100 << 30, spec)
                self.assertEqual(sum(cell["reached"]["refused_calls"].values()), 1, spec)

    def test_the_nth_call_is_that_of_the_trace(self):
        # direct asks twice a step: its ninth call is K of the fifth. Each step has 1 MiB more for K and for V, and the
        # stack holds what the step before left it: K still fits, V takes a granule of 2 MiB.
        document = self.inject("oom@9", allocators="direct,vmm", code=1)
        self.assertEqual([(c["outcome"]["step"], c["outcome"]["tag"]) for c in document["cells"]], [(5, "K"), (9, "V")])

    def test_a_kind_of_call(self):
        cells = self.by_rule(self.inject("create:oom@3,malloc_async:oom@3,malloc:oom@3", allocators="direct,async,vmm"))
        for rule, victim in (("create:oom@3", "vmm"), ("malloc_async:oom@3", "async"), ("malloc:oom@3", "direct")):
            hit = [c["allocator"]["name"] for c in cells[rule].values() if c["outcome"]["status"] == "oom"]
            self.assertEqual(hit, [victim], rule)

    def test_chance_follows_the_seed_and_the_seed_is_kept(self):
        def figures(rules, seed, out):
            document = self.measure("--allocator", "legacy-retry,async:retry=sync", "--workload", PAIR, "--no-reference", "--inject", rules,
                                    "--seed", seed, out=out, code=0)
            return [(c["inject"], c["outcome"], c["metrics"]) for c in document["cells"]]

        first = figures("oom@p:0.02", "3", "a.json")
        self.assertEqual(first[0][0], "oom@p:0.02/seed:3")
        self.assertEqual(figures("oom@p:0.02", "3", "b.json"), first)
        self.assertEqual(figures("oom@p:0.02/seed:3", "8", "c.json"), first)
        self.assertNotEqual([f[1:] for f in figures("oom@p:0.3", "4", "d.json")], [f[1:] for f in first])

    def test_faults_are_part_of_the_cell(self):
        document = self.inject("none,oom@1000000,oom@999999", allocators="vmm")
        self.assertEqual(len({c["id"] for c in document["cells"]}), 3)
        self.assertEqual(len({str(c["metrics"]) for c in document["cells"]}), 1, "a fault that is never due changes nothing")

    def test_the_reference_has_none(self):
        document = self.measure("--allocator", "vmm", "--workload", PAIR, "--inject", "oom@1", code=1)
        reference = [c for c in document["cells"] if c["reference"]]
        self.assertEqual([(c.get("inject"), c["outcome"]["status"]) for c in reference], [(None, "completed")])

    def test_resuming_knows_the_faults(self):
        self.inject("none,oom@9")
        answer = self.succeed("run", "--device", "sim:h200", "--allocator", ALL, "--workload", PAIR, "--no-reference", "--inject",
                              "none,oom@9", "--out", "run.json", "--resume")
        self.assertIn("14 repetitions taken", answer.err)
        answer = self.succeed("run", "--device", "sim:h200", "--allocator", ALL, "--workload", PAIR, "--no-reference", "--out",
                              "run.json", "--resume", code=2)
        self.assertIn("does not measure", answer.err)


class Fit(cli.CommandTest):
    SMALL = "kv-pair:heads=8,head-dim=128,step=512,to=2048"    # 8 MiB live

    def fit(self, *arguments, code=0):
        answer = self.succeed("fit", "--device", "sim:h200", *arguments, "--out", "fit.json", code=code)
        return cli.read_json(self.folder / "fit.json"), answer

    def completing(self, allocators, workload, limits):
        """Limits (MiB) at which each allocator completes, from a run at every one of them."""
        document = self.measure("--allocator", allocators, "--workload", workload, "--no-reference", "--verify", "off",
                                "--vram-limit", ",".join(f"{m}MiB" for m in limits))
        found = {}
        for c in document["cells"]:
            if c["outcome"]["status"] == "completed":
                found.setdefault(c["allocator"]["spec"], []).append(c["vram_limit_bytes"] // cli.MIB)
        return found

    def test_it_is_the_smallest_of_all_limits(self):
        shuffled = "random:events=400,max=4MiB,live=16MiB,order=shuffled"
        for workload, allocators in ((self.SMALL, ALL), (shuffled, "direct,legacy-retry,async:retry=trim")):
            document, answer = self.fit("--allocator", allocators, "--workload", workload)
            self.assertEqual(document["kind"], "fit")
            least = document["cells"][0]["workload"]["max_live_bytes"]
            most = max(c["smallest_passing_limit_bytes"] for c in document["cells"])
            scan = self.completing(allocators, workload, range(-(-least // cli.MIB), most * 13 // 10 // cli.MIB + 1))
            self.assertEqual(len(document["cells"]), len(allocators.split(",")))
            for cell in document["cells"]:
                spec = cell["allocator"]["spec"]
                self.assertEqual(cell["smallest_passing_limit_bytes"], scan[spec][0] * cli.MIB, spec)
                self.assertAlmostEqual(cell["over_max_live"],
                                       cell["smallest_passing_limit_bytes"] / cell["workload"]["max_live_bytes"])
                upper = cell["smallest_passing_limit_bytes"] * 13 // 10 // cli.MIB
                whole = [m for m in range(scan[spec][0], upper + 1) if m in scan[spec]]
                self.assertEqual(cell["monotonic"], len(whole) == upper + 1 - scan[spec][0], spec)
            self.assertIn("smallest limit", answer.out)

    def test_islands_are_shown(self):
        """A pool that fails at a limit and completes at a smaller one (docs/out-of-memory.md has this case)."""
        workload = "random:events=3000,max=8MiB,live=64MiB,order=shuffled,seed=4"
        document, answer = self.fit("--allocator", "legacy-retry", "--workload", workload)
        cell = document["cells"][0]
        self.assertIs(cell["monotonic"], False)
        self.assertIn("not monotonic", answer.out)
        scan = self.completing("legacy-retry", workload, range(64, 141))["legacy:retry=flush"]
        self.assertEqual(cell["smallest_passing_limit_bytes"], scan[0] * cli.MIB)
        for limit in range(scan[0], cell["islands"][-1][1] // cli.MIB):
            within = any(low <= limit * cli.MIB <= high for low, high in cell["islands"])
            self.assertEqual(within, limit in scan, f"{limit} MiB")

    def test_vmm_and_direct_need_what_is_live(self):
        document, _ = self.fit("--allocator", "vmm,direct", "--workload", "kv-pair:heads=8,head-dim=128,step=512,to=131072")
        for cell in document["cells"]:
            self.assertLessEqual(cell["smallest_passing_limit_bytes"], (512 + 2) * cli.MIB)

    def test_the_largest_value(self):
        base = "kv-pair:heads=8,head-dim=128,step=512"
        document, _ = self.fit("--allocator", "legacy,legacy-retry,vmm", "--workload", base, "--vary", "to=1024..16384", "--vram-limit",
                               "40MiB", "--resident", "9MiB")
        for cell in document["cells"]:
            best = cell["largest_passing_value"]
            self.assertEqual(cell["vary"], {"key": "to", "from": 1024, "to": 16384, "step": 512})
            for value, completes in ((best, True), (best + 512, False)):
                run = self.measure("--allocator", cell["allocator"]["spec"], "--workload", f"{base},to={value}", "--no-reference",
                                   "--vram-limit", "40MiB", "--resident", "9MiB", code=0 if completes else 1)
                self.assertEqual(run["cells"][0]["outcome"]["status"] == "completed", completes)
        self.assertEqual(document["cells"][-1]["largest_passing_value"], 7168)    # 9 MiB take five blocks of 2, 30 of 40 MiB are left, less the card's margin

    def test_nothing_fits_beside_what_is_resident(self):
        document, answer = self.fit("--allocator", "legacy,vmm", "--workload", "kv-pair:heads=8,head-dim=128,step=512", "--vary",
                                    "to=1024..16384", "--vram-limit", "1GiB", "--resident", "1GiB", code=1)
        self.assertEqual([c["beyond"]["cause"] for c in document["cells"]], ["live", "live"])
        self.assertIn("none", answer.out)

    def test_what_cannot_run_says_why(self):
        _, answer = self.fit("--allocator", "vmm", "--workload", "random:events=2000,order=shuffled", code=1)
        self.assertIn("unsupported", answer.out)

    def test_cells_in_parallel_give_the_same(self):
        arguments = ("--allocator", ALL, "--workload", self.SMALL, "--workload", PAIR)
        first, _ = self.fit(*arguments)
        again, _ = self.fit(*arguments)
        self.assertEqual(first["cells"], again["cells"])

    def test_interrupted(self):
        process = self.start("fit", "--device", "sim:h200", "--allocator", "vmm,async", "--workload", self.SMALL, "--workload",
                             "random:events=3000000", "--out", "fit.json")
        self.wait_for(lambda: (self.folder / "fit.json").exists(), process)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(cli.PATIENCE), 130)
        document = cli.read_json(self.folder / "fit.json")
        self.assertIs(document["finished"], False)
        self.assertGreaterEqual(len(document["cells"]), 1)
        self.assertIn("results: fit.json", process.stdout.read().decode())

    def test_interrupted_before_anything_was_found(self):
        process = self.start("fit", "--device", "sim:h200", "--allocator", "vmm", "--workload", "random:events=3000000", "--out", "fit.json")

        def listens():
            caught = re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())
            return int(caught[1], 16) >> (signal.SIGINT - 1) & 1

        self.wait_for(listens, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=cli.PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.assertFalse((self.folder / "fit.json").exists())
        self.assertNotIn("results:", out.decode())
        self.assertIn("interrupted before anything was found: no result file\n", err.decode())

    @unittest.skipUnless(jsonschema, "python3-jsonschema is missing")
    def test_schema(self):
        schema = cli.read_json(cli.SOURCE / "results" / "schema.json")
        varied = ("--vary", "to=1024..4096", "--vram-limit", "12MiB")
        for arguments in (("--workload", self.SMALL), ("--workload", "random:events=500,order=shuffled"), ("--workload", self.SMALL, *varied)):
            document, _ = self.fit(*arguments)
            jsonschema.validate(document, schema)
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate({**document, "kind": "run"}, schema)
            for cell in document["cells"]:
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.validate({**document, "cells": [{k: v for k, v in cell.items() if k != "islands"}]}, schema)


class Failures(cli.CommandTest):
    def test_only_those_that_a_filter_matches(self):
        self.measure("--no-reference", "--allocator", "legacy,vmm", "--workload", PAIR, "--vram-limit", "0.9x", code=1)
        both = self.succeed("show", "run.json", "--failures").out
        self.assertEqual([line.partition(":")[0] for line in both.splitlines() if ": oom" in line], ["legacy (before #22155)", "vmm"])
        one = self.succeed("show", "run.json", "--failures", "--filter", "/vmm:").out
        self.assertTrue(both.endswith("\n" + one) and one.startswith("vmm: oom"), one)
        self.assertEqual(self.succeed("show", "run.json", "--failures", "--filter", "/direct:").out,
                         "Nothing that the filter matches ran out of memory.\n")


class Frontier(cli.CommandTest):
    ARGUMENTS = ("frontier", "--device", "sim:h200,block=256", "--allocator", "legacy-retry,async,vmm", "--workload", PAIR)

    def test_a_limit_stands_for_a_card_where_models_are_resident(self):
        def cells(limit, *more):
            listed = self.succeed("frontier", "--device", "sim:h200", "--allocator", "vmm", "--vram-limit", limit, "--no-reference",
                                  "--benchmark_list_tests", *more).out.splitlines()
            return sorted(name.rpartition("/limit:")[0] for name in listed)

        small, large, typed = (cells(limit, "--resident", "model") for limit in ("8GiB", "24GiB", "110%"))
        self.assertTrue(all("weights=on" in name for name in small + large + typed))
        self.assertEqual(len(small), len(large))
        self.assertTrue(any("depth=4096+32768+44032," in name for name in small), small)
        self.assertFalse(any("130048" in name for name in small))
        self.assertEqual([name for name in typed if "130048" in name], [name for name in large if "130048" in name])
        self.assertFalse(any("weights=on" in name for name in cells("8GiB")))

    def test_table_and_file(self):
        answer = self.succeed(*self.ARGUMENTS, "--pressure", "70..100:10", "--out", "run.json")
        document = cli.read_json(self.folder / "run.json")
        limits = {p: -(-32 * cli.MIB * 100 // p) for p in (70, 80, 90, 100)}    # 32 MiB live
        heading = next(line for line in answer.out.splitlines() if line.startswith("pressure "))
        self.assertEqual(heading.split()[1:], ["70%", "80%", "90%", "100%"])
        below = next(line for line in answer.out.splitlines() if line.startswith("limit "))
        self.assertEqual(below.split()[1:], ["45.71", "MiB", "40MiB", "35.56", "MiB", "32MiB"])
        for title, name in (("legacy-retry (after it)", "legacy-retry"), ("async", "async"), ("vmm", "vmm")):
            row = next(line for line in answer.out.splitlines() if line.startswith(title + " "))
            words = row[len(title):].split()
            self.assertEqual(len(words), 4, row)
            for word, limit in zip(words, limits.values()):
                outcome = self.cell(document, name, limit)["outcome"]["status"]
                self.assertEqual(word, outcome) if outcome != "completed" else self.assertRegex(word, r"^(< )?[\d,.]+$")
        self.assertEqual(self.cell(document, "vmm", limits[100])["outcome"]["status"], "completed")
        self.assertEqual(self.cell(document, "legacy-retry", limits[100])["outcome"]["status"], "oom")

    def test_it_is_a_run(self):
        self.succeed(*self.ARGUMENTS, "--pressure", "80..80", "--out", "a.json")
        self.succeed("run", *self.ARGUMENTS[1:], "--vram-limit", "40MiB", "--out", "b.json")
        one, other = cli.read_json(self.folder / "a.json"), cli.read_json(self.folder / "b.json")
        self.assertEqual([cli.results_of(c) for c in one["cells"]], [cli.results_of(c) for c in other["cells"]])
        self.assertEqual([c["id"] for c in one["cells"]], [c["id"] for c in other["cells"]])
        self.assertIn("limit 40MiB", self.succeed("show", "a.json").out)
        self.assertIn("taken from", self.succeed(*self.ARGUMENTS, "--pressure", "80..80", "--out", "b.json", "--resume").err)

    def test_at_given_limits(self):
        answer = self.succeed(*self.ARGUMENTS, "--vram-limit", "64MiB,40MiB", "--resident", "24MiB", "--out", "run.json")
        heading = next(line for line in answer.out.splitlines() if line.startswith("pressure "))
        self.assertEqual(heading.split()[1:], ["80%", "200%"])

    def test_no_limit_is_a_column_too(self):
        for limits, headings in (("none", ["none"]), ("64MiB,none", ["none", "64MiB"])):
            answer = self.succeed(*self.ARGUMENTS, "--vram-limit", limits, "--out", f"{limits}.json")
            lines = answer.out.splitlines()
            self.assertEqual(next(line for line in lines if line.startswith("limit ")).split()[1:], headings)
            self.assertEqual(next(line for line in lines if line.startswith("pressure ")).split()[1:], ["-", "50%"][:len(headings)])
            row = next(line for line in lines if line.startswith("vmm "))
            self.assertEqual(len(row.split()), 1 + len(headings), row)
            self.assertNotIn("ideal", answer.out, "the reference has no row where nobody asked for it")
        asked = self.succeed(*self.ARGUMENTS, "--allocator", "ideal", "--vram-limit", "none", "--out", "asked.json")
        self.assertRegex(asked.out, r"(?m)^ideal +\S+$")

    def test_the_caption_says_what_pressure_and_limit_mean(self):
        out = self.succeed(*self.ARGUMENTS, "--vram-limit", "64MiB", "--resident", "24MiB", "--out", "run.json").out
        self.assertIn("less the memory outside the allocator (resident, and the trace's own)", out)
        self.assertIn("a size stands for a card of that size", out)

    def test_completed_of_several(self):
        answer = self.succeed(*self.ARGUMENTS, "--pressure", "100..100", "--repetitions", "3", "--out", "run.json")
        self.assertIn("oom 0/3", answer.out)


class Page(cli.CommandTest):
    def test_its_commands_end_as_it_says(self):
        page = (cli.SOURCE / "docs" / "out-of-memory.md").read_text().replace("\\\n", " ")
        commands = re.findall(r"(?m)^    vrambench (.*)$", page)
        self.assertGreaterEqual(len(commands), 10)
        self.assertTrue(any("--inject" in c and "--workload" in c for c in commands))
        for command in commands:
            said, _, comment = command.partition("#")
            code = int(re.search(r"exit code (\d+)", comment)[1]) if comment else 0
            with self.subTest(command):
                self.succeed(*said.split(), code=code)


class Neighbour(cli.CommandTest):
    GROWING = "kv-pair:heads=8,head-dim=128,step=512,to=32768"    # 128 MiB live at the end of 64 steps

    def run_beside(self, neighbour, allocators, limit, *more, code=0):
        return self.measure("--allocator", allocators, "--workload", self.GROWING, "--no-reference", "--neighbour", neighbour, "--vram-limit",
                            limit, *more, code=code)

    def test_a_neighbour_that_gives_back_in_time_harms_nobody_who_grows_as_needed(self):
        document = self.run_beside("60MiB@step:20..30", "direct,vmm", "1.25x")    # 160 MiB, 60 of them live at step 30
        for cell in document["cells"]:
            self.assertEqual(cell["outcome"]["status"], "completed", cell["allocator"]["spec"])
            self.assertEqual(cell["neighbour"], "60MiB@step:20..30")
            self.assertEqual(cell["vram_limit_bytes"], 160 * cli.MIB, "the neighbour's memory is no part of what the trace needs")

    def test_one_that_stays_makes_the_limit_smaller(self):
        """100 MiB are left of 160, K and V of step n are n MiB each: 50 and 50 fit, 51 and 51 do not."""
        document = self.run_beside("60MiB@step:20", "direct,vmm", "1.25x", "--device", "sim:h200,block=256", code=1)
        for cell in document["cells"]:
            self.assertEqual((cell["outcome"]["status"], cell["outcome"]["cause"], cell["outcome"]["step"]), ("oom", "live", 51))

    def test_beside_it_the_cards_margin_counts(self):
        """The shipped card keeps a margin of less than 2 MiB, so that 98 of the 100 MiB are to be had in its blocks of 2 MiB."""
        document = self.run_beside("60MiB@step:20", "direct,vmm", "1.25x", code=1)
        direct, vmm = (self.cell(document, name, 160 * cli.MIB)["outcome"] for name in ("direct", "vmm"))
        # V of 49 MiB beside K of 49 are 25 blocks each. The stack maps both in one: 98 MiB will do, 100 will not.
        self.assertEqual((direct["status"], direct["cause"], direct["step"]), ("oom", "fragmented", 49))
        self.assertEqual((vmm["status"], vmm["step"], vmm["driver_free_bytes"]), ("oom", 50, 2 * cli.MIB))

    def test_a_cache_that_holds_the_memory_starves_it(self):
        # flush-and-retry does not cure this: it is not the allocator that asks
        end = self.run_beside("60MiB@step:20..30", "legacy-retry", "1.25x", code=1)["cells"][0]["outcome"]
        self.assertEqual((end["status"], end["cause"], end["tag"], end["step"]), ("starved", "external", "neighbour", 20), end)
        self.assertLess(end["driver_free_bytes"], 60 * cli.MIB)
        self.assertGreater(end["driver_free_bytes"] + end["cached_bytes"], 60 * cli.MIB)

    def test_one_that_never_fits_is_an_outcome(self):
        document = self.run_beside("1GiB@step:20", "direct,vmm,legacy-retry", "1.25x", code=1)
        for cell in document["cells"]:
            self.assertEqual((cell["outcome"]["status"], cell["outcome"]["cause"], cell["outcome"]["step"]), ("oom", "external", 20))

    def test_it_is_part_of_the_cell_and_of_the_reference(self):
        document = self.measure("--allocator", "vmm", "--workload", self.GROWING, "--neighbour", "1GiB@step:20..30", out="a.json")
        plain = self.measure("--allocator", "vmm", "--workload", self.GROWING, out="b.json")
        self.assertNotEqual(document["cells"][0]["id"], plain["cells"][0]["id"])
        self.assertEqual([c["neighbour"] for c in document["cells"]], ["1GiB@step:20..30"] * 2)
        self.assertIsNotNone(document["cells"][0]["metrics"]["added_ns_per_token"])


class NeighbourProcess(cli.CommandTest):
    """The process that takes memory on a card, here on a simulated one."""

    def open(self):
        process = subprocess.Popen([cli._binary, "child", "neighbour"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(self.ask(process, "open sim:h200,block=256,vram=64MiB"), "ready")
        return process

    def ask(self, process, line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().rstrip("\n")

    def test_it_obeys(self):
        process = self.open()
        for line, answer in ((f"take {65 * cli.MIB}", "refused"), (f"take {40 * cli.MIB}", "took"), ("give", "gave"),
                             (f"take {64 * cli.MIB}", "took"), ("give", "gave")):
            self.assertEqual(self.ask(process, line), answer, line)
        self.assertIn("what is", self.ask(process, "give"))
        self.assertIn("unknown device", self.ask(process, "open smi"))
        process.stdin.close()
        self.assertEqual(process.wait(cli.PATIENCE), 0, "it ends with its input")



class Turns(cli.CommandTest):
    def kept(self, turns):
        document = self.measure("--allocator", "legacy,async,vmm", "--workload", f"turns:turns={turns}", "--no-reference")
        return {c["allocator"]["name"]: c["metrics"] for c in document["cells"]}

    def test_the_floor_after_each_turn_is_what_a_session_that_ends_there_keeps(self):
        whole = self.kept(4)
        for turn in range(1, 5):
            for name, metrics in self.kept(turn).items():
                self.assertEqual(metrics["end_reserved_bytes"]["median"], whole[name]["idle_reserved_bytes"]["values"][turn - 1], name)
        for name, metrics in whole.items():
            self.assertEqual(len(metrics["idle_reserved_bytes"]["values"]), 4, name)

    def test_traffic_without_pauses_has_none(self):
        cell = self.measure("--allocator", "vmm", "--workload", PAIR, "--no-reference")["cells"][0]
        self.assertNotIn("idle_reserved_bytes", cell["metrics"])


if __name__ == "__main__":
    cli.main()
