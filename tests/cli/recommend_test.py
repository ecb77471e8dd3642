"""`vrambench recommend` from outside: formats, filters, bad input. What it decides is in tests/decide."""

import json
import unittest

import cli

PAIR = "kv-pair:heads=8,head-dim=128,step=512,to=8192"


class RecommendTest(cli.CommandTest):
    def run_file(self, name="run.json", *more):
        self.measure("--allocator", "legacy,legacy-retry,async,vmm", "--workload", PAIR, "--vram-limit", "none,1.25x", *more, out=name)
        return name

    def test_simulated_files_rank_no_time_and_give_the_break_even(self):
        out = self.succeed("recommend", self.run_file()).out
        self.assertIn("SIMULATED", out)
        self.assertIn("Not decided: no real card of this vendor was measured", out)
        self.assertIn("Break-even: legacy-retry against async", out)
        self.assertIn("vrambench probe --costs --device cuda:0 --out costs.json", out)
        self.assertNotIn("regret", out)
        document = cli.read_json(self.folder / "run.json")
        for c in document["cells"]:
            if not c["reference"]:
                self.assertIn(c["id"], out)

    def test_a_probe_settles_the_break_even(self):
        out = self.succeed("recommend", self.run_file(), "--costs", cli.SHIPPED, "--format", "markdown").out
        self.assertRegex(out, r"a driver call takes \d+ us, so a warm pair may cost [\d.]+ us more")
        self.assertNotIn("assumed", out)

    def test_the_same_twice_and_in_all_formats(self):
        name = self.run_file()
        first = self.succeed("recommend", name, "--format", "json").out
        self.assertEqual(first, self.succeed("recommend", name, "--format", "json").out)
        j = cli.strict_json(first)
        self.assertEqual(j["schema"], "vrambench.recommendation/1")
        self.assertEqual(j["platforms"][0]["verdict"], "without times")
        self.assertTrue(all(c["cells"] for c in j["platforms"][0]["candidates"]))
        markdown = self.succeed("recommend", name, "--format", "markdown").out
        self.assertIn("| allocator |", markdown)
        self.succeed("recommend", name, "--format", "markdown", "--out", "why.md")
        self.assertEqual((self.folder / "why.md").read_text(), markdown)

    def test_fit_files_tell_what_fits(self):
        self.succeed("fit", "--device", "sim:h200", "--allocator", "vmm,legacy-retry", "--workload", PAIR, "--out", "fit.json")
        out = self.succeed("recommend", "fit.json").out
        self.assertIn("1 file, 2 searches of what fits. SIMULATED", out)
        self.assertIn("Not decided: the files hold searches of `fit` and no run, so there is nothing to compare.", out)
        self.assertNotIn("pass", out)
        self.assertIn("What fits", out)
        self.assertIn("smallest limit", out)
        both = self.succeed("recommend", "fit.json", self.run_file()).out
        self.assertIn("What fits", both)
        self.assertIn("Break-even", both)

    def probe_file(self, name, break_it=None, **changed):
        """A report of the simulator's vmm probe; with `break_it` that finding is broken."""
        self.succeed("probe", "--device", "sim:h200", "--only", "vmm", "--out", name)
        report = cli.read_json(self.folder / name) | changed
        for finding in report["probes"][0]["findings"]:
            if finding["id"] == break_it:
                finding.update(level="broken", verdict="growth fails", evidence="step 3 of 24")
        (self.folder / name).write_text(json.dumps(report))
        return name

    def test_a_probes_report_filters_and_answers(self):
        run = self.run_file()
        out = self.succeed("recommend", run, self.probe_file("good.json")).out
        self.assertIn("good.json", out)
        self.assertIn("virtual memory: usable", out)
        self.assertIn("vmm", {c["allocator"].split(":")[0] for c in self.platform(run, "good.json")["candidates"]})
        out = self.succeed("recommend", self.probe_file("bad.json", break_it="vmm.three-reservations"), run).out
        self.assertRegex(" ".join(out.split()), r"vmm is out: the simulator's probe of \d{4}-\d\d-\d\d finds virtual memory unusable: three "
                         r"reservations grown in turn: growth fails: step 3 of 24 \(vmm.three-reservations in bad.json\)")
        rejected = self.platform(run, "bad.json")["rejected"]
        self.assertEqual([(r["allocator"], r["probe"]["file"]) for r in rejected], [("vmm:handle=granularity", "bad.json")])

    def platform(self, *files):
        return cli.strict_json(self.succeed("recommend", *files, "--format", "json").out)["platforms"][0]

    def test_a_cards_runs_and_its_probe(self):
        card = [str(cli.SOURCE / "results" / "h200" / f"2026-11-30-{what}.json") for what in ("default", "probe")]
        platform = self.platform(*card)
        self.assertEqual(platform["rules"], [f"vmm where a probe finds virtual memory usable (this card's probe in {card[1]} finds it usable), "
                                             "else legacy-retry"])
        self.assertEqual(platform["probes"][0]["features"]["virtual memory"],
                         {"verdict": "usable", "broken": [], "costly": [], "not_asked": []})
        self.assertEqual({s["part"] for s in platform["situations"]}, {"compared", "check"})

    def test_a_probes_report_of_another_device_is_a_note(self):
        run = self.run_file()
        self.succeed("probe", "--device", "sim:h200,vram=8GiB", "--only", "vmm", "--out", "other.json")
        out = " ".join(self.succeed("recommend", run, "other.json").out.split())
        self.assertRegex(out, r"note: other.json is a probe of simulated h200 \(sim:h200,vram=8GiB,[^)]*\), of which the files hold no cell")
        self.assertNotIn("by a probe", out)
        notes = cli.strict_json(self.succeed("recommend", run, "other.json", "--format", "json").out)["notes"]
        self.assertEqual(len(notes), 1)

    def test_a_probes_report_that_cannot_be_used_is_one_line(self):
        self.refused(["recommend", self.probe_file("alone.json")], "name files of `vrambench run` or `fit` beside it")
        run = self.run_file()
        self.refused(["recommend", run, self.probe_file("later.json", schema="vrambench.probe/2")], "has version 'vrambench.probe/2'")
        self.refused(["recommend", run, self.probe_file("damaged.json", device={})], "is damaged")

    def test_requirements_and_weights_are_told(self):
        out = self.succeed("recommend", self.run_file(), "--require", "completes,limit=64MiB", "--weights", "limit:none=3",
                           "--format", "markdown").out
        self.assertIn("completes wherever another does; fits into 64MiB", out)
        self.assertIn("`legacy` is out:", out)
        self.assertIn("weight 3:", out)

    def test_a_run_of_one_allocator_and_one_that_ran_out_of_memory(self):
        self.measure("--allocator", "vmm", "--workload", PAIR, out="one.json")
        self.succeed("recommend", "one.json")
        self.measure("--allocator", "vmm,direct", "--workload", PAIR, "--vram-limit", "1MiB", out="oom.json", code=1)
        out = self.succeed("recommend", "oom.json").out
        self.assertIn("No clear winner: no candidate finished anything", out)
        self.assertNotIn("nan", out)

    def test_a_process_counts_once_in_however_many_files_it_is(self):
        whole = cli.SOURCE / "results" / "h200" / "2026-11-30-decide-traffic.json"
        document = cli.read_json(whole)
        for cell in document["cells"]:
            cell["repetitions"] = [r for r in cell["repetitions"] if r["index"] < 3]
        (self.folder / "before.json").write_text(json.dumps(document))
        for files in ([whole], ["before.json", whole], [whole, "before.json"]):
            with self.subTest(files=files):
                self.assertIn("at least 6 processes a cell", self.succeed("recommend", *files).out)

    def test_bad_files_are_one_line(self):
        name = self.run_file()
        text = (self.folder / name).read_text()
        document = json.loads(text)
        bad = {"empty.json": ("", "is empty"), "cut.json": (text[: len(text) // 2], "cut off"), "foreign.json": ("{}", "is not a vrambench result file"),
               "older.json": (text.replace("vrambench.result/1", "vrambench.result/0"), "has version"),
               "kind.json": (json.dumps(document | {"kind": "poem"}), "neither a run nor a fit"),
               "nothing.json": (json.dumps(document | {"cells": []}), "nothing to decide from"),
               "damaged.json": (json.dumps(document | {"cells": [{"id": 7}]}), "is damaged")}
        for file, (content, words) in bad.items():
            with self.subTest(file):
                (self.folder / file).write_text(content)
                self.refused(["recommend", file], words)
                self.refused(["recommend", name, file]) if file != "nothing.json" else None
        self.refused(["recommend", "missing.json"], "no such file")
        self.refused(["recommend", name, "./" + name], "given twice")

    def test_bad_options_are_one_line(self):
        name = self.run_file()
        for arguments, words in ((("--weights", "limit:none=0"), "a weight is above 0"), (("--weights", "limit:none=-1"), "--weights"),
                                 (("--weights", "3"), "write PATTERN=NUMBER"), (("--weights", "poem=1"), "matches no situation"),
                                 (("--weights", "(=1"), "regular expression"), (("--require", "saef"), "did you mean"),
                                 (("--require", "limit=much"), "--require limit"), (("--require", "limit=0"), "0 bytes"),
                                 (("--require", "limit=0GiB,safe"), "0 bytes"), (("--require", "limit=1GiB,limit=2GiB"), "1GiB was given before"),
                                 (("--require", "limit=1GiB", "--require", "limit=1GiB"), "one limit can be required"),
                                 (("--require", "limt=8GiB"), "did you mean 'limit=8GiB'?"), (("--require", "limit"), "did you mean 'limit=SIZE'?"),
                                 (("--require", "limit:8GiB"), "did you mean 'limit=8GiB'?"), (("--require", "8GiB"), "one of completes, safe, limit=SIZE"),
                                 (("--require", "complete"), "did you mean 'completes'?"), (("--require", "safe,"), "''"), (("--filter", "poem"), "matches no situation"),
                                 (("--format", "xml"), "one of text, markdown, json"), (("--costs", "missing.json"), "missing.json")):
            self.refused(["recommend", name, *arguments], words)
        self.refused(["recommend"], "files is required")


if __name__ == "__main__":
    cli.main()
