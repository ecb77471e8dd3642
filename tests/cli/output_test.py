#!/usr/bin/env python3
"""What the command prints, writes and returns: table, progress, help, list, result file, exit codes, and what is left of a
run that was interrupted, killed or ended by its budget."""

import os
import pty
import re
import shlex
import signal
import threading
import unittest

import cli

try:
    import jsonschema
except ImportError:
    jsonschema = None

PAIR = "kv-pair:heads=8,head-dim=128,step=512,to=8192"
LIVE = 32 * cli.MIB    # of PAIR
SHUFFLED = "random:events=2000,order=shuffled"
TITLES = ["direct", "legacy (before #22155)", "legacy-retry (after it)", "async", "vmm", "ideal"]
SCHEMA = cli.SOURCE / "results" / "schema.json"


class Table(cli.CommandTest):
    def rows(self, out):
        """The lines of each block of the table: from its header to the next empty line."""
        return [block.splitlines() for block in re.findall(r"^allocator .*(?:\n.+)*", out, re.MULTILINE)]

    def test_all_allocators_and_words(self):
        answer = self.succeed("run", *cli.on_simulator(["--workload", PAIR, "--workload", SHUFFLED, "--vram-limit", "none,40MiB",
                                                        "--out", "run.json"]))
        document = cli.read_json(self.folder / "run.json")
        blocks = self.rows(answer.out)
        self.assertEqual(len(blocks), 4, answer.out)
        groups = [(name, limit) for name in ("kv-pair", "random") for limit in (None, 40 * cli.MIB)]
        seen = set()
        for block, (workload, limit) in zip(blocks, groups):
            for name, title in zip(cli.SIX, TITLES):
                row = [line for line in block if re.match(re.escape(title) + r"\s{2,}\S", line)]
                self.assertEqual(len(row), 1, f"{title} in\n" + "\n".join(block))
                cell = next(c for c in document["cells"] if c["allocator"]["name"] == name and c["vram_limit_bytes"] == limit and
                            c["workload"]["name"] == workload and not c["reference"])
                status = cell["outcome"]["status"]
                seen.add(status)
                words = row[0][len(title):].split()
                self.assertEqual(words[0].rstrip(":,"), status, row[0])
                if status == "completed":
                    self.assertGreater(len(words), 6)
                else:
                    # A did-not-finish is never a number: it says why instead.
                    self.assertEqual(cell["metrics"], {})
                    self.assertNotRegex(row[0], r"\d+\.\d\dx")
                if status == "oom":
                    self.assertIn(cell["outcome"]["cause"], row[0])
        self.assertEqual(seen, {"completed", "oom", "unsupported"})
        self.assertIn("run.json", answer.out)
        self.assertIn("simulated", answer.out)
        self.assertIn("limit 40MiB", answer.out)
        self.assertIn("no limit", answer.out)

    def test_the_settings_of_every_allocator_are_told(self):
        answer = self.succeed("run", *cli.on_simulator(["--allocator", "async,async:retry=sync", "--allocator", "async:threshold=0",
                                                        "--workload", PAIR, "--out", "run.json"]))
        for title in ("async ", "async (retry=sync)", "async (threshold=0)"):
            self.assertIn("\n" + title, answer.out)
        specs = {c["allocator"]["spec"] for c in cli.read_json(self.folder / "run.json")["cells"] if not c["reference"]}
        self.assertEqual(specs, {"async:threshold=max,retry=none,pool=own", "async:threshold=max,retry=sync,pool=own",
                                 "async:threshold=0,retry=none,pool=own"})

    def test_timeout_is_a_word(self):
        answer = self.succeed("run", *cli.on_simulator(["--allocator", "legacy", "--workload", "random:events=1000000", "--timeout",
                                                        "1ms", "--no-reference", "--out", "run.json"]), code=1)
        self.assertRegex(answer.out, r"(?m)^legacy \(before #22155\)\s+timeout\b")
        cell = cli.read_json(self.folder / "run.json")["cells"][0]
        self.assertEqual((cell["outcome"]["status"], cell["metrics"], cell["completed"]), ("timeout", {}, 0))


class Streams(cli.CommandTest):
    """Who reads what: results on stdout, the rest on stderr; nothing for terminals into files."""

    ARGUMENTS = ["run", "--device", "sim:h200", "--workload", "random:events=20000", "--repetitions", "4", "--out", "run.json"]

    def test_plain_in_pipes(self):
        for arguments in (self.ARGUMENTS, ["list"], ["trace", "stats", PAIR], ["--help"]):
            answer = self.succeed(*arguments, env=cli.environment(TERM="xterm-256color", COLORTERM="truecolor"))
            for text in (answer.out, answer.err):
                self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f]")
            self.assertTrue(answer.out.endswith("\n"))
            self.assertFalse([line for line in answer.out.splitlines() if line != line.rstrip()], "blanks at the ends of lines")

    def on_terminal(self, *names):
        """Runs ARGUMENTS with the named streams on a pseudo-terminal; (exit code, what the terminal saw)."""
        master, slave = pty.openpty()
        seen = []

        def read():
            while True:
                try:
                    piece = os.read(master, 65536)
                except OSError:    # Linux's end of file once the last writer is gone
                    return
                if not piece:
                    return
                seen.append(piece)

        process = self.start(*self.ARGUMENTS, **{name: slave for name in names})
        os.close(slave)
        reader = threading.Thread(target=read)
        reader.start()
        out, err = process.communicate(timeout=cli.PATIENCE)
        reader.join()
        os.close(master)
        return process.returncode, b"".join(seen).decode(), (out or b"").decode(), (err or b"").decode()

    def test_progress_is_for_the_terminal_on_stderr(self):
        code, shown, out, _ = self.on_terminal("stderr")
        self.assertEqual(code, 0)
        self.assertRegex(shown, r"\[ ?\d+/24\] \S.* left")    # ideal, asked for, is the reference too
        self.assertIn("\r", shown)
        self.assertNotIn(" left", out)
        self.assertNotIn("\r", out)
        self.assertIn("legacy", out)

    def test_stdout_on_a_terminal_has_the_same_text(self):
        piped = self.succeed(*self.ARGUMENTS).out
        code, shown, _, err = self.on_terminal("stdout")
        self.assertEqual(code, 0)
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shown).replace("\r\n", "\n"), piped)
        self.assertNotIn("\r", err)


class Help(cli.CommandTest):
    PAGES = [[], ["run"], ["fit"], ["frontier"], ["list"], ["trace"], ["trace", "export"], ["trace", "stats"], ["trace", "run"]]

    def test_every_page_has_examples(self):
        for page in self.PAGES:
            for flag in ("--help", "-h"):
                with self.subTest(page=page, flag=flag):
                    answer = self.succeed(*page, flag)
                    self.assertEqual(answer.err, "")
                    self.assertRegex(answer.out, r"(?m)(Examples?:|Start with:)\s+vrambench ")
        self.assertRegex(self.succeed("--version").out, r"\A\d+\.\d+\S*\n\Z")

    def examples(self):
        for page in self.PAGES[1:]:
            text = re.sub(r"\\\n\s+", "", self.succeed(*page, "--help").out)
            for line in re.findall(r"(?m)^  (vrambench .*)$", text):
                yield shlex.split(line)[1:]

    def test_the_examples_are_right(self):
        """Each is run, measurements only to their plan."""
        plans = 0
        self.succeed("trace", "export", PAIR, "--out", "kv.jsonl")
        for example in self.examples():
            with self.subTest(example=example):
                if "run" in example[:2] or example[0] == "frontier":
                    plans += 1
                    self.assertIn("run/", self.succeed(*example, "--benchmark_list_tests").out)
                else:
                    self.succeed(*example)
        self.assertGreaterEqual(plans, 3)

    def test_exit_codes_are_explained(self):
        text = self.succeed("--help").out
        for code in ("0", "1", "2", "3", "130"):
            self.assertRegex(text, rf"\b{code}\b")
        self.assertRegex(text, r"`compare` ends with 1\s.*`results check`")
        for command in ("run", "fit", "frontier", "list", "show", "compare", "probe", "recommend"):
            self.assertRegex(self.succeed(command, "--help").out, r"(?m)^Exit codes: 0 ", command)
        for command in ("run", "fit", "frontier"):
            self.assertRegex(self.succeed(command, "--help").out, r"(?s)Exit codes: 0 .*; 1 .*; 2 .*; 3 .*; 130 ", command)


class List(cli.CommandTest):
    # name: its keys with their defaults, and the unit where there is one
    DEVICES = {"auto": {}, "sim": {"vram": ("profile", "bytes"), "block": ("profile", "bytes"), "pool": ("profile", None),
                                      "marker": ("early", None)},
               "cuda": {}, "hip": {}, "musa": {}}
    ALLOCATORS = {"direct": {}, "legacy": {"retry": ("none", None)}, "legacy-retry": {},
                  "async": {"threshold": ("max", "bytes"), "retry": ("none", None), "pool": ("own", None)},
                  "vmm": {"handle": ("granularity", "bytes")}, "ideal": {}}
    ENGINE = {"model": ("llama-3.1-8b", None), "kv": ("q8_0", None), "era": ("pool-fa-early", None), "fa": ("on", None),
              "target": ("auto", None), "ubatch": ("512", "tokens"), "batch": ("2048", "tokens"), "layers": ("model", "layers"),
              "graphs": ("on", None), "weights": ("off", None)}
    FATTN = {**ENGINE, "sequences": ("1", "sequences"), "sync": ("engine", None), "ops": ("all", None),
             "last-layer-cut": ("on", None)}
    SEEDED = {"seed": ("run", None), "answer-max": ("1024", "tokens")}
    PROMPT = {"to": ("auto", "tokens"), "prompt": ("auto", "tokens"), "depth": ("0", "tokens")}
    WORKLOADS = {"fattn-prefill": {**FATTN, **PROMPT}, "fattn-session": {**FATTN, **PROMPT, "tokens": ("512", "tokens")},
                 "fattn-decode": {**FATTN, "depth": ("32768", "tokens"), "tokens": ("512", "tokens")},
                 "server": {**ENGINE, **SEEDED, "sequences": ("16", "sequences"), "context": ("32768", "cells"),
                            "requests": ("100", "requests"), "gap-ms": ("200", "ms"), "prompt-min": ("32", "tokens"),
                            "prompt-max": ("4096", "tokens"), "answer-min": ("16", "tokens")},
                 "turns": {**ENGINE, **SEEDED, "turns": ("8", "turns"), "cache": ("grow", None),
                           "prompt-min": ("256", "tokens"), "prompt-max": ("8192", "tokens"), "answer-min": ("64", "tokens")},
                 "speculative": {**ENGINE, "model": ("llama-3.1-70b", None), "draft": ("llama-3.1-8b", None), "seed": ("run", None),
                                 "prompt": ("4096", "tokens"), "proposals": ("4", "tokens"), "acceptance": ("0.7", "probability"),
                                 "depth": ("0", "tokens"), "tokens": ("512", "tokens")},
                 "kv-pair": {"heads": (None, "heads"), "head-dim": (None, "values"), "step": (None, "tokens"),
                             "to": (None, "tokens"), "layers": ("1", "layers"), "warm": ("none", "bytes"),
                             "kernel-ns": ("roofline", "ns"), "sync": ("none", None)},
                 "random": {"events": ("100000", "events"), "min": ("256", "bytes"), "max": ("64MiB", "bytes"),
                            "sizes": ("log-uniform", None), "alloc": ("0.5", "probability"), "live": ("1GiB", "bytes"),
                            "order": ("lifo", None), "streams": ("1", "streams"), "seed": ("run", None)},
                 "file": {}}

    def entries(self, text):
        """name: its paragraph, unwrapped."""
        found = {}
        for name, body in re.findall(r"(?m)^  (\S+?)(?::\.\.\.)?(?:  +|\n)((?:.*\n)(?:    .*\n)*)", text):
            found[name] = body
        return found

    def check(self, topic, expected):
        text = self.succeed("list", topic).out
        self.assertIn(text.strip(), self.succeed("list").out, "`list` is all of them")
        entries = self.entries(text)
        for name, keys in expected.items():
            self.assertIn(name, entries, text)
            self.assertRegex(entries[name], r"\w+ \w+", f"{name} is explained")
            described = dict(re.findall(r"(?m)^    (\S+)= +(.*(?:\n {10,}.*)*)", entries[name]))
            for key, (default, unit) in keys.items():
                self.assertIn(key, described, f"{name}: {described}")
                line = " ".join(described[key].split())
                self.assertIn(f"default {default})" if default else "must be given", line)
                if unit is not None:
                    self.assertIn(unit, line)
                self.assertRegex(line, r"\) \w+", "a default is not an explanation")
        # The other way round: what is listed is known to the test, so that it stays complete.
        extra = set(entries) - set(expected)
        self.assertFalse(extra - {"profiles", "h200"}, extra)

    def test_devices(self):
        self.check("devices", self.DEVICES)
        free = re.escape(f"{cli.shipped_free_bytes() / 2**30:.2f}")
        self.assertRegex(self.succeed("list", "devices").out, rf"h200\s+{free} GiB free")

    def test_allocators(self):
        self.check("allocators", self.ALLOCATORS)
        text = self.succeed("list", "allocators").out
        for choices in ("none|flush", "none|sync|trim", "own|default", "SIZE|max"):
            self.assertIn(choices, text)

    def test_workloads(self):
        self.check("workloads", self.WORKLOADS)

    def test_models_and_targets(self):
        for folder in ("models", "targets"):
            text = self.succeed("list", folder).out
            self.assertIn(text.strip(), self.succeed("list").out)
            for file in (cli.SOURCE / "workloads" / folder).glob("*.json"):
                self.assertRegex(text, rf"(?m)^  {re.escape(file.stem)}  +\S+ \S+")

    def test_metrics(self):
        text = self.succeed("list", "metrics").out
        for name, metric in cli.read_json(SCHEMA)["x-metrics"].items():
            self.assertRegex(text, rf"(?m)^  {name}\s+\({re.escape(metric['unit'])}, better: {metric['better']}\) \w+")

    def test_keys_that_are_listed_are_accepted_with_their_defaults(self):
        """Specs made of the listed defaults give the same cell as the bare name."""
        for name, keys in self.ALLOCATORS.items():
            if not keys:
                continue
            full = name + ":" + ",".join(f"{k}={default}" for k, (default, _) in keys.items())
            document = self.measure("--allocator", name, "--allocator", full, "--workload", PAIR, "--no-reference")
            self.assertEqual([c["allocator"]["spec"] for c in document["cells"]], [full])


class ResultFile(cli.CommandTest):
    def varied(self):
        """A run with most of what a file can hold."""
        return self.measure("--allocator", ",".join(cli.SIX), "--allocator", "async:retry=trim", "--workload", PAIR,
                            "--workload", SHUFFLED, "--vram-limit", "none,40MiB", "--repetitions", "2", "--kernel-scale", "1,2",
                            "--mode", "graph")

    @unittest.skipIf(jsonschema is None, "python3-jsonschema is not installed")
    def test_schema(self):
        validator = jsonschema.Draft7Validator(cli.read_json(SCHEMA))
        documents = [self.varied(),
                     self.measure("--workload", "random:events=1000000", "--allocator", "legacy", "--timeout", "1ms", code=1),
                     self.measure("--quick", "--no-reference", "--verify", "off")]
        self.succeed("trace", "export", PAIR, "--out", "t.jsonl")
        documents.append(self.measure("--workload", "file:t.jsonl"))
        for document in documents:
            for error in validator.iter_errors(document):
                self.fail(f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")

    def test_head(self):
        document = self.varied()
        self.assertEqual((document["schema"], document["kind"], document["finished"]), ("vrambench.result/1", "run", True))
        self.assertEqual(document["command"][1], "run")
        self.assertIn("--kernel-scale", document["command"])
        for key in ("program", "version", "commit", "host", "os", "cpu", "timer", "timer_cost_ps"):
            self.assertIn(key, document["environment"])
        self.assertEqual(document["environment"]["host"], os.uname().nodename)
        for cell in document["cells"]:
            self.assertIs(cell["device"]["simulated"], True)
            self.assertEqual((cell["device"]["kind"], cell["device"]["name"]), ("sim", "h200"))

    def test_free_bytes_are_those_of_the_limit(self):
        for cell in self.varied()["cells"]:
            for r in cell["repetitions"]:
                begun = r["outcome"]["status"] != "unsupported"
                free = cell["vram_limit_bytes"] or cli.shipped_free_bytes()
                self.assertEqual((r["metrics"] or r["reached"])["free_bytes_at_start"], free if begun else 0)

    def test_nothing_is_measured_twice(self):
        document = self.measure("--allocator", "vmm,vmm", "--workload", f"{PAIR},{PAIR}", "--kernels", "hold,traffic,hold",
                                "--kernel-scale", "1,1.0", "--vram-limit", "none,1GiB,1024MiB")
        found = {(c["allocator"]["name"], c["kernels"], c["kernel_scale"], c["vram_limit_bytes"]) for c in document["cells"]}
        kernels = ("hold", "traffic")
        self.assertEqual(found, {(name, k, "1", limit) for k in kernels for name, limit in (("vmm", None), ("vmm", 1 << 30), ("ideal", None))})
        self.assertEqual(len(document["cells"]), len(found))

    def test_ids(self):
        document = self.varied()
        ids = [c["id"] for c in document["cells"]]
        self.assertEqual(len(set(ids)), len(ids))
        again = {c["id"] for c in self.varied()["cells"]}
        self.assertEqual(set(ids), again)
        # Repetitions are not of the identity, all else is.
        base = ["--allocator", "legacy", "--workload", PAIR, "--no-reference"]
        own = self.measure(*base)["cells"][0]["id"]
        self.assertEqual(self.measure(*base, "--repetitions", "2")["cells"][0]["id"], own)
        self.assertEqual(self.measure(*base[:3], PAIR + ",layers=1", "--no-reference")["cells"][0]["id"], own, "a default, typed")
        others = {self.measure(*base, *more)["cells"][0]["id"] for more in (
            ["--vram-limit", "1GiB"], ["--mode", "graph"], ["--kernels", "traffic"], ["--kernel-scale", "2"], ["--verify", "off"],
            ["--device", "sim:h200,block=256"], ["--device", "sim:h200,vram=1GiB"])}
        self.assertEqual(len(others | {own}), 8)

    def test_cells_are_made_of_repetitions(self):
        document = self.measure("--allocator", "legacy,vmm", "--workload", PAIR, "--workload", SHUFFLED, "--repetitions", "3")
        orders = []
        for cell in document["cells"]:
            statuses = {r["outcome"]["status"] for r in cell["repetitions"]}
            shuffled_stack = (cell["allocator"]["name"], cell["workload"]["name"]) == ("vmm", "random")
            self.assertEqual(statuses, {"unsupported"} if shuffled_stack else {"completed"})
            times = 1 if shuffled_stack else 3    # what cannot run is not tried again
            self.assertEqual(cell["attempted"], times)
            self.assertEqual(cell["completed"], 3 if statuses == {"completed"} else 0)
            cold = [r for r in cell["repetitions"] if r["pass"] == "cold"]
            self.assertEqual(sorted(r["index"] for r in cold), list(range(times)))
            orders += [r["order"] for r in cold]
            if statuses == {"completed"}:
                self.assertEqual(sum(r["pass"] == "steady" for r in cell["repetitions"]), 3)
                for r in cold:
                    self.assertEqual(r["metrics"]["peak_reserved_bytes"], cell["metrics"]["peak_reserved_bytes"]["median"])
        self.assertEqual(sorted(orders), list(range(len(orders))), "every repetition has its place in the run")
        # Allocators are interleaved round by round, not one after the other.
        first = sorted(min(r["order"] for r in c["repetitions"]) for c in document["cells"])
        self.assertEqual(first, list(range(len(document["cells"]))))

    def test_default_name(self):
        answer = self.succeed("run", "--device", "sim:h200", "--allocator", "vmm", "--workload", PAIR)
        files = [p.name for p in self.folder.iterdir()]
        self.assertEqual(len(files), 1)
        self.assertRegex(files[0], r"\Avrambench-sim-h200-\d{8}-\d{6}\.json\Z")
        self.assertIn(files[0], answer.out)

    def test_a_file_is_replaced_whole(self):
        self.measure("--allocator", "vmm", "--workload", PAIR, "--repetitions", "3")
        one = self.measure("--allocator", "vmm", "--workload", PAIR)
        self.assertEqual(one["cells"][0]["attempted"], 1)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["run.json"])

    def test_default_set(self):
        document = self.measure("--quick")
        self.assertEqual({c["allocator"]["name"] for c in document["cells"]}, set(cli.SIX))
        self.assertEqual({c["workload"]["name"] for c in document["cells"]}, {"fattn-session", "server"})
        specs = {c["workload"]["spec"] for c in document["cells"]}
        for key, values in (("era", ("pool-fa-early", "reserved-fa")), ("kv", ("q8_0", "f16")), ("graphs", ("on", "off"))):
            for value in values:
                self.assertTrue(any(f"{key}={value}" in s for s in specs), f"{key}={value} in {specs}")
        limits = {c["vram_limit_bytes"] for c in document["cells"]}
        self.assertEqual((len(limits), None in limits), (2, True))
        self.assertEqual({c["kernels"] for c in document["cells"]}, {"hold", "traffic"})
        # The limit tells the allocators apart: without one nobody runs out of memory.
        for limit in limits:
            failed = {c["allocator"]["name"] for c in document["cells"] if c["vram_limit_bytes"] == limit and c["outcome"]["status"] == "oom"}
            self.assertEqual(failed, {"legacy", "async"} if limit else set())


class Reference(cli.CommandTest):
    DEPENDENT = {"added_ns_per_token", "slowdown", "stall_ns"}

    def test_without_it(self):
        with_it = self.measure("--allocator", "legacy", "--workload", PAIR)
        without = self.measure("--allocator", "legacy", "--workload", PAIR, "--no-reference")
        self.assertEqual([c["reference"] for c in without["cells"]], [False])
        self.assertEqual(sorted(c["reference"] for c in with_it["cells"]), [False, True])
        one, other = self.cell(with_it, "legacy"), self.cell(without, "legacy")
        for pass_one, pass_other in ((one, other), (one["steady"], other["steady"])):
            self.assertLessEqual(self.DEPENDENT, set(pass_one["metrics"]))
            kept = {k: v for k, v in pass_one["metrics"].items() if k not in self.DEPENDENT}
            self.assertEqual(pass_other["metrics"], kept)
        self.assertEqual(one["id"], other["id"])

    def test_it_has_no_limit(self):
        document = self.measure("--allocator", "legacy", "--workload", PAIR, "--vram-limit", f"{LIVE}")
        self.cell(document, "ideal", reference=True)
        self.assertEqual(self.cell(document, "legacy", LIVE)["outcome"]["status"], "oom")

    def measure(self, *arguments, **options):
        if "--vram-limit" in arguments:
            options["code"] = 1    # the only allocator runs out of memory
        return super().measure(*arguments, **options)

    def test_asked_for_by_name_it_counts(self):
        document = self.measure("--allocator", "ideal", "--workload", PAIR)
        self.assertEqual([c["reference"] for c in document["cells"]], [False])


class ExitCodes(cli.CommandTest):
    def test_0_out_of_memory_and_unsupported_are_results(self):
        document = self.measure("--allocator", "legacy,legacy-retry", "--workload", PAIR, "--vram-limit", "40MiB")
        self.assertEqual(self.cell(document, "legacy", 40 * cli.MIB)["outcome"]["status"], "oom")
        document = self.measure("--allocator", "legacy,vmm", "--workload", SHUFFLED)
        outcome = self.cell(document, "vmm")["outcome"]
        self.assertEqual(outcome["status"], "unsupported")
        self.assertRegex(outcome["message"], r"(?i)lifo|last in")

    def test_1_where_nothing_completed_and_the_reference_does_not_count(self):
        document = self.measure("--allocator", "vmm", "--workload", SHUFFLED, code=1)
        self.assertEqual(self.cell(document, "ideal", reference=True)["outcome"]["status"], "completed")
        self.measure("--allocator", "legacy", "--workload", PAIR, "--vram-limit", "40MiB", code=1)

    def test_1_where_something_timed_out(self):
        """Though others completed."""
        document = self.measure("--allocator", "legacy", "--workload", PAIR, "--workload", "random:events=8000000",
                                "--timeout", "300ms", "--no-reference", code=1)
        self.assertEqual([c["outcome"]["status"] for c in document["cells"]], ["completed", "timeout"])

    def test_2_bad_usage(self):
        self.succeed("run", "--frobnicate", code=2)


class Budget(cli.CommandTest):
    ARGUMENTS = ["--allocator", "legacy,vmm", "--workload", "random:events=5000,max=1MiB", "--repetitions", "100000"]

    def test_it_ends_the_run(self):
        answer = self.succeed("run", *cli.on_simulator([*self.ARGUMENTS, "--budget", "1s", "--out", "run.json"]))
        document = cli.read_json(self.folder / "run.json")
        counts = [c["attempted"] for c in document["cells"]]
        self.assertGreaterEqual(min(counts), 1, "each cell is measured before any has many")
        self.assertLess(max(counts), 100000)
        self.assertLessEqual(max(counts) - min(counts), 1, "round by round")
        self.assertIn("budget", answer.err)
        self.assertNotIn("budget", answer.out)
        self.assertIs(document["finished"], False)
        self.assertIn("not finished", answer.out)

    def test_even_the_smallest_gives_a_repetition(self):
        document = self.measure(*self.ARGUMENTS, "--budget", "1ms")
        self.assertGreaterEqual(sum(c["attempted"] for c in document["cells"]), 1)


class Interruption(cli.CommandTest):
    RUN = ["run", "--device", "sim:h200", "--allocator", "legacy,async", "--no-reference", "--workload",
           "random:events=60000,max=1MiB", "--repetitions", "25", "--out", "run.json"]
    ALL = 2 * 25

    @property
    def file(self):
        return self.folder / "run.json"

    def interrupted(self, how):
        """Starts RUN, disturbs it once something is in its file, waits for its end."""
        process = self.start(*self.RUN)
        self.wait_for(self.file.exists, process)
        how(process)
        out, err = process.communicate(timeout=cli.PATIENCE)
        document = cli.read_json(self.file)
        count = sum(c["attempted"] for c in document["cells"])
        self.assertGreaterEqual(count, 1)
        self.assertLess(count, self.ALL, "it was not disturbed in time")
        self.assertIs(document["finished"], False)
        for cell in document["cells"]:
            for repetition in cell["repetitions"]:
                self.assertEqual(repetition["outcome"], {"status": "completed"}, "an interrupted repetition is no result")
        return process.returncode, out.decode(), err.decode(), count

    def test_sigint_keeps_what_is_measured_and_resume_completes_it(self):
        code, out, err, count = self.interrupted(lambda p: p.send_signal(signal.SIGINT))
        self.assertEqual(code, 130)
        self.assertIn("interrupted", err)
        self.assertIn("legacy", out)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["run.json"])

        answer = self.succeed(*self.RUN, "--resume")
        self.assertRegex(answer.err, rf"\b{count}\b")
        resumed = cli.read_json(self.file)
        self.assertIs(resumed["finished"], True)
        self.assertEqual([c["attempted"] for c in resumed["cells"]], [25, 25])
        orders = sorted(r["order"] for c in resumed["cells"] for r in c["repetitions"] if r["pass"] == "cold")
        self.assertEqual(orders, list(range(self.ALL)))

        # Nothing is left to do: the same file again.
        before = resumed
        self.succeed(*self.RUN, "--resume")
        self.assertEqual(cli.read_json(self.file)["cells"], before["cells"])

        self.succeed(*self.RUN)
        undisturbed = cli.read_json(self.file)
        for one, other in zip(resumed["cells"], undisturbed["cells"]):
            self.assertEqual(one["id"], other["id"])
            self.assertEqual(cli.results_of(one), cli.results_of(other))

    def test_resume_keeps_repetitions_beyond_those_asked_for(self):
        run = ["--allocator", "legacy,vmm", "--workload", PAIR, "--no-reference"]
        self.measure(*run, "--repetitions", "3")
        self.assertEqual([c["attempted"] for c in self.measure(*run, "--resume")["cells"]], [3, 3])

    def test_resume_does_not_throw_away_another_run(self):
        """A file of other cells is refused."""
        self.measure("--allocator", "legacy", "--workload", PAIR, "--no-reference", "--repetitions", "3")
        before = self.file.read_bytes()
        answer = self.succeed("run", "--device", "sim:h200", "--allocator", "async", "--workload", PAIR, "--no-reference", "--resume",
                              "--out", "run.json", code=2)
        self.assertIn("legacy", answer.err)
        self.assertEqual(len(answer.err.splitlines()), 1)
        self.assertEqual(self.file.read_bytes(), before)
        # Going on with more cells loses nothing.
        document = self.measure("--allocator", "async,legacy", "--workload", PAIR, "--resume")
        self.assertEqual([(c["allocator"]["name"], c["attempted"]) for c in document["cells"]], [("async", 1), ("legacy", 3), ("ideal", 1)])

    def test_resume_refuses_other_contents_under_the_same_name(self):
        work = ["run", "--device", "sim:h200", "--allocator", "vmm", "--workload", "file:t.jsonl", "--out", "run.json"]
        self.succeed("trace", "export", "kv-pair:heads=1,head-dim=64,step=256,to=512", "--out", "t.jsonl")
        self.succeed(*work)
        before = (self.folder / "run.json").read_bytes()
        self.succeed("trace", "export", "kv-pair:heads=1,head-dim=64,step=256,to=1024", "--out", "t.jsonl")
        answer = self.succeed(*work, "--repetitions", "2", "--resume", code=2)
        self.assertIn("other contents", answer.err)
        self.assertEqual((self.folder / "run.json").read_bytes(), before)

    def test_runs_within_a_second_have_files_of_their_own(self):
        for _ in range(3):
            self.succeed("run", "--device", "sim:h200", "--allocator", "vmm", "--workload", "kv-pair:heads=1,head-dim=64,step=256,to=512")
        self.assertEqual(len(list(self.folder.glob("vrambench-*.json"))), 3)

    def test_resume_starts_where_there_is_no_file(self):
        document = self.measure("--allocator", "vmm", "--workload", PAIR, "--resume")
        self.assertEqual(document["cells"][0]["attempted"], 1)

    def test_sigkill_leaves_a_whole_file(self):
        code, _, _, _ = self.interrupted(lambda p: p.send_signal(signal.SIGKILL))
        self.assertEqual(code, -signal.SIGKILL)
        self.succeed(*self.RUN[:-4], "--repetitions", "1", "--out", "run.json", "--resume")

    def test_two_sigints_end_at_once(self):
        """A repetition of hours: nobody waits for it."""
        process = self.start("run", "--device", "sim:h200", "--allocator", "vmm", "--workload", PAIR + ",layers=10000", "--repetitions",
                             "100000", "--out", "run.json")
        self.wait_for(self.file.exists, process)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=cli.PATIENCE)
        self.assertIn(process.returncode, (130, -signal.SIGINT))    # shells show both as 130
        cli.read_json(self.file)

    def test_sigint_within_the_first_repetition(self):
        """Nothing is measured yet, so nothing is written."""
        process = self.start("run", "--device", "sim:h200", "--allocator", "direct", "--no-reference", "--verify", "off", "--workload",
                             "random:events=10000000", "--repetitions", "1", "--out", "run.json", stderr=None)
        # The first repetition is under way or about to be.
        threading.Event().wait(0.3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=cli.PATIENCE)
        self.assertIn(process.returncode, (130, -signal.SIGINT))
        self.assertEqual(list(self.folder.iterdir()), [])


class GoogleBenchmark(cli.CommandTest):
    BASE = ["run", "--device", "sim:h200", "--workload", PAIR, "--out", "run.json"]

    def listed(self, *arguments):
        return self.succeed(*self.BASE, *arguments, "--benchmark_list_tests").out.splitlines()

    def test_list_tests(self):
        names = self.listed()
        self.assertEqual(len(names), 6)
        self.assertEqual(len(set(names)), 6)
        self.assertTrue(all(n.startswith("run/sim:h200") for n in names), names)
        self.assertEqual(list(self.folder.iterdir()), [], "nothing is measured")

    def test_filter(self):
        self.assertEqual([n.split("/")[2].partition(":")[0] for n in self.listed("--benchmark_filter=/legacy")][:2],
                         ["legacy", "legacy-retry"])
        self.assertEqual(len(self.listed("--benchmark_filter=legacy-retry", "--no-reference")), 1)
        self.assertEqual(len(self.listed("--benchmark_filter=-legacy", "--no-reference")), 4)
        self.assertEqual(len(self.listed("--benchmark_filter=(vmm|direct)", "--no-reference")), 2)
        self.succeed(*self.BASE, "--benchmark_filter=vmm")
        document = cli.read_json(self.folder / "run.json")
        self.assertEqual({(c["allocator"]["name"], c["reference"]) for c in document["cells"]}, {("vmm", False), ("ideal", True)})
        self.assertIn("added_ns_per_token", self.cell(document, "vmm")["metrics"])
        # The reference of what is left out is left out too.
        self.succeed(*self.BASE, "--workload", SHUFFLED, "--allocator", "direct", "--benchmark_filter=kv-pair")
        self.assertEqual({c["workload"]["name"] for c in cli.read_json(self.folder / "run.json")["cells"]}, {"kv-pair"})

    def test_repetitions(self):
        self.succeed(*self.BASE, "--allocator", "vmm", "--benchmark_repetitions=3")
        for cell in cli.read_json(self.folder / "run.json")["cells"]:
            self.assertEqual(cell["attempted"], 3)

    def test_out(self):
        """Its JSON is strict, and shows the result file's own times."""
        for repetitions in ("1", "3"):
            answer = self.succeed(*self.BASE, "--vram-limit", "40MiB", "--benchmark_out=gb.json", "--repetitions", repetitions)
            self.assertIn("manual_time", answer.out)
            document, report = cli.read_json(self.folder / "run.json"), cli.read_json(self.folder / "gb.json")
            names = self.listed("--vram-limit", "40MiB")
            runs = [b for b in report["benchmarks"] if b.get("run_type", "iteration") == "iteration"]
            self.assertEqual(len(document["cells"]), len(names))
            for cell, name in zip(document["cells"], names):
                mine = [b for b in runs if b["name"].startswith(name + "/iterations:1")]
                if cell["outcome"]["status"] != "completed":
                    self.assertTrue(mine and all(b["error_occurred"] for b in mine), name)
                    self.assertIn(cell["outcome"]["status"], mine[0]["error_message"])
                    continue
                times = [r["metrics"]["time_ps"] for r in cell["repetitions"] if r["pass"] == "cold"]
                self.assertEqual(len(mine), len(times), name)
                for b, ps in zip(mine, times):
                    self.assertEqual(b["time_unit"], "ms")
                    self.assertAlmostEqual(b["real_time"] / (ps * 1e-9), 1, places=6)
                    self.assertEqual(b["iterations"], 1)

    def test_other_formats(self):
        answer = self.succeed(*self.BASE, "--benchmark_format=csv")
        self.assertTrue(answer.out.startswith("name,iterations,"), answer.out[:200])
        self.assertIn("ns/token", answer.err)
        answer = self.succeed(*self.BASE, "--benchmark_format=json")
        self.assertEqual(len(cli.strict_json(answer.out)["benchmarks"]), 6)
        self.assertIn("ns/token", answer.err)
        answer = self.succeed(*self.BASE, "--benchmark_format=console", "--benchmark_color=false", "--benchmark_counters_tabular=true")
        self.assertNotIn("\x1b", answer.out)
        self.succeed(*self.BASE, "--benchmark_out=gb.csv", "--benchmark_out_format=csv")
        self.assertIn("real_time", (self.folder / "gb.csv").read_text())

    def test_exit_code_is_the_run_s_own(self):
        self.succeed(*self.BASE[:3], "--workload", SHUFFLED, "--out", "run.json", "--allocator", "vmm", "--benchmark_out=gb.json", code=1)


class Traces(cli.CommandTest):
    WORKLOADS = [PAIR + ",warm=1MiB/4MiB+2MiB,sync=step,kernel-ns=20000",
                 "random:events=4000,order=lifo,max=8MiB",
                 "random:events=4000,order=shuffled,streams=3,share=0.5,max=8MiB,sync=step"]

    def test_a_trace_that_was_written_gives_the_same(self):
        for workload in self.WORKLOADS:
            direct = self.measure("--workload", workload, "--vram-limit", "none,64MiB", "--seed", "5")
            stats = self.succeed("trace", "stats", workload, "--seed", "5").out.splitlines()[1:]
            for form in ("jsonl", "packed"):
                with self.subTest(workload=workload, form=form):
                    told = self.succeed("trace", "export", workload, "--out", f"trace.{form}", "--format", form, "--seed", "5").out
                    self.assertIn(f"{direct['cells'][0]['workload']['events']} events", told)
                    seen = self.succeed("trace", "stats", f"trace.{form}").out.splitlines()[1:]
                    self.assertEqual(self.facts(seen), self.facts(stats))
                    self.succeed("trace", "run", f"trace.{form}", "--device", "sim:h200", "--vram-limit", "none,64MiB", "--out",
                                 "trace.json")
                    written = cli.read_json(self.folder / "trace.json")
                    self.assertEqual(len(written["cells"]), len(direct["cells"]))
                    for one, other in zip(direct["cells"], written["cells"]):
                        self.assertEqual(one["allocator"], other["allocator"])
                        self.assertEqual(cli.results_of(one), cli.results_of(other))
                        facts = [{k: v for k, v in c["workload"].items() if k not in ("spec", "id")} for c in (one, other)]
                        self.assertEqual(*facts)
                        self.assertNotEqual(one["workload"]["spec"], other["workload"]["spec"])

    @staticmethod
    def facts(lines):
        """What the header alone says (parameters, seed) may differ in a file; what follows from the events may not."""
        return [line for line in lines if re.match(r"(events|calls|launches|kernel time|steps|max live|depth|largest|free order)", line)]

    def test_forms_are_turned_into_each_other(self):
        self.succeed("trace", "export", self.WORKLOADS[2], "--out", "a.jsonl")
        self.succeed("trace", "export", "a.jsonl", "--out", "b.packed", "--format", "packed")
        self.succeed("trace", "export", "b.packed", "--out", "c.jsonl")
        events = [(self.folder / name).read_text().splitlines()[1:] for name in ("a.jsonl", "c.jsonl")]
        self.assertEqual(*events)
        for line in events[0]:
            cli.strict_json(line)
        self.assertLess((self.folder / "b.packed").stat().st_size, (self.folder / "a.jsonl").stat().st_size / 2)

    def test_export_into_itself(self):
        """The file is read while it is written: it must be whole afterwards."""
        self.succeed("trace", "export", self.WORKLOADS[1], "--out", "a.jsonl")
        before = self.succeed("trace", "stats", "a.jsonl").out
        self.succeed("trace", "export", "a.jsonl", "--out", "a.jsonl", "--format", "packed")
        self.assertEqual(self.succeed("trace", "stats", "a.jsonl").out, before)

    def test_stats_against_the_definition(self):
        out = self.succeed("trace", "stats", "kv-pair:heads=8,head-dim=128,step=512,to=40000").out
        steps = -(-40000 // 512)
        for fact in (f"{6 * steps + steps} events", "last in, first out"):
            self.assertIn(fact.split()[0], out)
        self.assertRegex(out, rf"steps\s+{steps} with 40,000 tokens")
        self.assertRegex(out, rf"calls\s+{2 * steps} allocations, {2 * steps} frees")
        self.assertRegex(out, rf"launches\s+{2 * steps} kernels")
        self.assertIn(f"({2 * 2 * 8 * 128 * 40192:,} bytes)", out)
        self.assertRegex(out, r"depth\s+2 blocks")

    def test_names_that_are_hard(self):
        """A path may hold what separates specs."""
        for name in ("with space.jsonl", "a=b.jsonl", "a,b.jsonl", "a,b=c.jsonl", "a:b.jsonl", "\u00e4.jsonl"):
            self.succeed("trace", "export", PAIR, "--out", name)
            for command in (["stats", name], ["run", name, "--device", "sim:h200", "--allocator", "vmm", "--out", "run.json"]):
                with self.subTest(command=command):
                    self.succeed("trace", *command)
            self.assertEqual(cli.read_json(self.folder / "run.json")["cells"][0]["workload"]["spec"], f"file:{name}")


if __name__ == "__main__":
    cli.main()
