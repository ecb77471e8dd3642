#!/usr/bin/env python3
"""The out-of-memory laboratory from outside: limits, injected faults, and the words for what happens."""

import cli

PAIR = "kv-pair:heads=8,head-dim=128,step=512,to=8192"    # 32 MiB live at the end, 16 steps
ALL = "direct,legacy,legacy-retry,async,async:retry=sync,async:retry=trim,vmm"


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


if __name__ == "__main__":
    cli.main()
