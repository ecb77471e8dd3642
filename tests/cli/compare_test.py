#!/usr/bin/env python3
"""`vrambench compare` from outside: planted facts are found, exit codes, formats, thresholds, and bad input in one line."""

import json

import cli

PAIR = "kv-pair:heads=8,head-dim=128,step=512,to=16384"
DECODE = "fattn-session:model=llama-3.1-8b,to=1024,prompt=512,depth=512,tokens=4,graphs=off"


class CompareTest(cli.CommandTest):
    def compare(self, *arguments, code=0):
        answer = self.call("compare", *arguments)
        self.assertEqual(answer.code, code, str(answer))
        return answer

    def compare_json(self, *arguments, code=0):
        return cli.strict_json(self.compare(*arguments, "--format", "json", code=code).out)

    def refused(self, arguments, *words, **options):
        return super().refused(["compare", *arguments], *words, **options)

    def verdicts(self, document, metric, phase=None):
        return [m["verdict"] for p in document["pairs"] for m in p["metrics"] if m["metric"] == metric and (phase in (None, m["phase"]))]

    def test_a_file_against_itself_is_the_same_everywhere(self):
        self.measure("--allocator", "direct,legacy,legacy-retry,async,vmm", "--workload", PAIR, "--vram-limit", "none,64MiB")
        found = self.compare_json("run.json", "run.json")
        counts = found["verdicts"]
        self.assertGreater(counts.pop("same"), 20)
        self.assertEqual(set(counts.values()), {0}, counts)
        self.assertIn("every pair is the same", self.compare("run.json", "run.json", "--changes").out)

    def test_direct_against_legacy_on_decode_is_a_difference(self):
        self.measure("--allocator", "legacy,direct", "--workload", DECODE)
        found = self.compare_json("run.json", "--allocators", "legacy,direct", code=1)
        self.assertEqual(self.verdicts(found, "added_ns_per_token", "decode"), ["worse", "worse"])   # cold and steady
        found = self.compare_json("run.json", "--allocators", "direct,legacy", code=1)               # the bloat is worse
        self.assertEqual(self.verdicts(found, "added_ns_per_token", "decode"), ["better", "better"])

    def test_completed_to_oom_is_a_regression(self):
        # A flush saves the list pool at this limit.
        self.measure("--allocator", "legacy,legacy-retry", "--workload", PAIR, "--vram-limit", "100MiB")
        found = self.compare_json("run.json", "--allocators", "legacy-retry,legacy", code=1)
        (pair,) = found["pairs"]
        self.assertEqual((pair["verdict"], pair["metrics"]), ("worse", []))
        self.assertEqual(pair["outcomes"][0]["base"], "completed")
        self.assertTrue(pair["outcomes"][0]["other"].startswith("oom: retained"), pair["outcomes"])
        self.compare("run.json", "--allocators", "legacy,legacy-retry")    # the other way round nothing is worse

    def test_two_profiles_are_not_one_device_and_a_simulated_file_is_no_card(self):
        self.measure("--allocator", "vmm", "--workload", PAIR, out="a.json")
        self.measure("--device", f"sim:@{cli.PLAIN}", "--allocator", "vmm", "--workload", PAIR, out="b.json")
        self.refused(["a.json", "b.json"], "a.json is of simulated", "only runs of the same device")
        card = next((cli.SOURCE / "results" / "h200").glob("*.json"))
        self.refused(["a.json", card], "cuda NVIDIA H200")

    def test_three_files_and_what_only_one_has(self):
        self.measure("--allocator", "vmm,direct", "--workload", PAIR, out="a.json")
        self.measure("--allocator", "vmm", "--workload", PAIR, out="b.json")
        out = self.compare("a.json", "b.json", "a.json").out
        self.assertIn("1 cell is in a.json only, not in b.json", out)
        self.assertIn("base: a.json, other: b.json", out)

    def test_a_cards_file(self):
        card = cli.SOURCE / "results" / "h200" / "2026-11-30-default.json"
        found = self.compare_json(card, card)
        self.assertEqual({k: v for k, v in found["verdicts"].items() if v}, {"same": found["verdicts"]["same"]})
        found = self.compare_json(card, "--allocators", "legacy,direct", "--filter", "to=4608,.*graphs=off", code=1)
        self.assertEqual(self.verdicts(found, "added_ns_per_token", "decode"), ["worse", "worse"])
        (pair,) = found["pairs"]
        added = pair["metrics"][0]
        self.assertTrue(added["paired"])
        self.assertGreater(added["resolution"], added["margin"])
        self.assertLessEqual(added["ci95"][0], added["difference"])
        self.assertEqual(found["judged_together"], sum(m["p"] is not None for p in found["pairs"] for m in p["metrics"]))
        self.assertGreater(found["judged_together"], 1)
        self.assertLess(0, added["p"])
        self.assertLessEqual(added["p"], added["p_adjusted"])
        self.assertLessEqual(added["p_adjusted"], 0.05)

    def test_one_allocator_split_in_two(self):
        card = cli.SOURCE / "results" / "h200" / "2026-11-30-same-allocator.json"
        answer = self.compare(card, "--splits", "100")
        self.assertIn("100 random splits", answer.out)
        (self.folder / "ci.json").write_text('{"schema":"vrambench.thresholds/1","where":[{"filter":"kv-pear","margins":{}}]}')
        self.assertIn("note: --thresholds: the filter 'kv-pear' matches no cell",
                      self.compare(card, "--splits", "100", "--thresholds", "ci.json").err)
        self.assertIn("of 400; splits with one: ", answer.out)

    def test_the_columns_are_explained(self):
        self.assertIn("Column n: 6r:", self.compare("--help").out)

    def test_thresholds(self):
        self.measure("--allocator", "legacy,vmm", "--workload", PAIR)
        swapped = ["run.json", "--allocators", "vmm,legacy"]
        self.compare(*swapped, code=1)
        limits = self.folder / "ci.json"
        limits.write_text(json.dumps({"schema": "vrambench.thresholds/1", "margins": {"added_ns_per_token": "1000000"},
                                      "where": [{"filter": "kv-pair", "margins": {"device_bloat": "100"}}]}))
        self.compare(*swapped, "--thresholds", "ci.json")
        self.compare(*swapped, "--thresholds", "ci.json", "--margin", "device_bloat=1%", code=1)
        self.assertNotIn("--thresholds", self.compare(*swapped, "--thresholds", "ci.json").out)
        limits.write_text(limits.read_text().replace("kv-pair", "kv-pear"))
        self.assertIn("note: --thresholds: the filter 'kv-pear' matches no cell of the base: its margins count nowhere\n",
                      self.compare(*swapped, "--thresholds", "ci.json", code=1).out)
        for text, word in [("", "not valid JSON"), ("{}", "no threshold file"),
                           ('{"schema":"vrambench.thresholds/1","margin":{}}', "unknown key 'margin'"),
                           ('{"schema":"vrambench.thresholds/1","margins":{"added":"1%"}}', "cannot be judged"),
                           ('{"schema":"vrambench.thresholds/1","margins":{"device_bloat":1}}', "no text like"),
                           ('{"schema":"vrambench.thresholds/1","where":[{"margins":{}}]}', "without a \"filter\"")]:
            limits.write_text(text)
            self.refused([*swapped, "--thresholds", "ci.json"], "--thresholds", word)
        self.refused([*swapped, "--thresholds", self.folder], "--thresholds", "is a folder: name a file")

    def test_markdown(self):
        self.measure("--allocator", "legacy,vmm", "--workload", PAIR)
        out = self.compare("run.json", "--format", "markdown").out
        self.assertIn("| vmm | added ns/token, prefill, cold |", out)
        self.assertIn("| better |", out)

    def test_bad_input(self):
        run = self.measure("--allocator", "legacy,vmm", "--workload", PAIR)
        (self.folder / "empty.json").write_text("")
        (self.folder / "foreign.json").write_text('{"benchmarks": []}')
        text = (self.folder / "run.json").read_text()
        (self.folder / "cut.json").write_text(text[: len(text) // 2])
        (self.folder / "old.json").write_text(text.replace("vrambench.result/1", "vrambench.result/0"))
        (self.folder / "none.json").write_text(json.dumps({**run, "cells": []}))
        self.refused(["run.json", "empty.json"], "'empty.json' is empty")
        self.refused(["run.json", "foreign.json"], "not a vrambench result file")
        self.refused(["run.json", "cut.json"], "not valid JSON at byte")
        self.refused(["run.json", "old.json"], "has version 'vrambench.result/0'")
        self.refused(["run.json", "missing.json"], "no such file")
        self.refused(["run.json", "none.json"], "nothing to compare")
        self.refused(["none.json"], "compare needs a second file, or two allocators")
        self.refused([], "files is required")
        for seed in ("-1", "1.5", "0x10", "18446744073709551616"):
            self.refused(["run.json", "--seed", seed], "--seed", f"'{seed}'")
            self.refused(["run.json", "--splits", "2", "--seed", seed], "--seed", f"'{seed}'")
        self.refused(["run.json", "--allocators", "legacy"], "two allocators")
        self.refused(["run.json", "--allocators", "legacy,vm"], "the run has no 'vm'")
        self.refused(["run.json", "--margin", "device_bloat"], "METRIC=MARGIN")
        self.refused(["run.json", "run.json", "--margin", ""], "--margin: a value is missing")
        self.refused(["--margin", "", "run.json", "run.json"], "--margin: a value is missing")
        self.refused(["run.json", "run.json", "run.json", "--seed", "x"], "--seed")
        self.refused(["run.json", "run.json", "--margni", "x"], "'--margni'", "'--margin'")
        self.refused(["run.json", "--margin", "device_bloat=1%,device_bloat=2%"], "given twice")
        self.refused(["run.json", "--filter", "nothing-like-this"], "no pair of cells matches")
        self.refused(["run.json", "--filter", "("], "not a regular expression")
        self.refused(["run.json", "--splits", "10"], "--splits: no cell of a card has 8")
        self.refused(["run.json", "run.json", "--splits", "10"], "--splits: takes one file")
        for ignored in (["--format", "json"], ["--allocators", "vmm"], ["--changes"]):
            self.refused(["run.json", "--splits", "10", *ignored], "--splits", ignored[0])

    def test_times_that_cannot_be_and_doubled_cells(self):
        good = self.measure("--allocator", "legacy,vmm", "--workload", PAIR)

        def spoilt(name, change):
            document = json.loads(json.dumps(good))
            change(document["cells"])
            (self.folder / name).write_text(json.dumps(document), encoding="utf-8")
            return name

        def first_pass(cells):
            return cells[0]["repetitions"][0]["metrics"]

        self.refused([spoilt("below.json", lambda c: first_pass(c)["phases"][0].update(time_ps=-1)), "run.json"], "impossible time")
        self.refused([spoilt("long.json", lambda c: first_pass(c)["phases"][0].update(time_ps=first_pass(c)["time_ps"] + 1)), "run.json"],
                     "impossible time")
        self.refused([spoilt("twice.json", lambda c: c.append(c[0])), "run.json"], "there twice")

    def test_nothing_completed_is_a_verdict_without_numbers(self):
        self.measure("--allocator", "legacy,vmm", "--workload", PAIR, "--vram-limit", "8MiB", code=1)
        found = self.compare_json("run.json", "run.json")
        self.assertEqual([p["metrics"] for p in found["pairs"]], [[], []])
        self.assertEqual(found["verdicts"]["same"], 2)


class Merged(cli.CommandTest):
    """Files of several machines: none of them may be dropped or compared with another's."""

    def write(self, name, host):
        document = self.measure("--allocator", "legacy,vmm", "--workload", "kv-pair:heads=8,head-dim=128,step=512,to=4096", out=name)
        document["environment"]["host"] = host
        (self.folder / name).write_text(json.dumps(document))

    def setUp(self):
        super().setUp()
        for name, host in (("a.json", "one"), ("b.json", "two")):
            self.write(name, host)
        self.succeed("results", "merge", "a.json", "b.json", "--out", "ab.json")
        self.succeed("results", "merge", "b.json", "a.json", "--out", "ba.json")

    def test_machine_by_machine_in_any_order(self):
        answer = self.succeed("compare", "ab.json", "ba.json", "--format", "json")
        self.assertEqual(len(cli.strict_json(answer.out)["pairs"]), 4)

    def test_one_machine_against_several_is_refused(self):
        for pair in (("a.json", "ab.json"), ("ab.json", "a.json")):
            with self.subTest(pair=pair):
                self.refused(["compare", *pair], "merged of several machines", "parts")


if __name__ == "__main__":
    cli.main()
