#!/usr/bin/env python3
"""`vrambench results check` against single values that were changed in committed result files: all that can be derived is found.

Prints what slips through, by key: python3 results_fuzz_test.py PATH-OF-VRAMBENCH -v
"""

import collections
import json
import math
import random
import re
import unittest

import cli

PER_KEY = 2     # values that are changed for each key (with list indices left out)

# What nothing else in a file repeats: a regular expression of the key, and why a changed value cannot be found. A key that is not
# here must be found whenever it is changed.
ENTRY = r"cells/\*/repetitions/\*/"
RAW = ENTRY + r"(metrics|reached)/"
FREE = [
    (r"environment/(?!program$|version$|commit$|device\..*\.(kind|name|simulated|pool_rules\.confidence)$).*",
     "describes the machine, its device and the build"),
    (r"command/\*", "what was typed; another command may give the same cells"),
    (r"finished", "whether the plan had more to do stands nowhere else"),
    (ENTRY + r"process", "a card's repetitions each have a process of their own, whose number says nothing"),
    (ENTRY + r"clocks/(before|after)/\w+", "read from the card, once each"),
    (ENTRY + r"histograms/[^/]+/(sum_ps|max_ps)", "measured times; the bins tell them to 0.8 %"),
    (RAW + r"(time|busy|empty_queue|span|live_byte|reserved_byte)_ps", "measured; derived from in timed repetitions only, by medians"),
    (RAW + r"overrun_kernels", "counted by a card"),
    (RAW + r"free_bytes_at_start", "what a card had free; under a limit more by up to a physical block"),
    (ENTRY + r"outcome/driver_free_bytes", "measured; its message has it to a hundredth of a unit"),
    (RAW + r"peak_device_bytes", "a card's, from its one memory repetition"),
    (RAW + r"teardown_calls/free", "where a request failed: what the look for memory afterwards left to the allocator"),
    (RAW + r"recoveries/\*/misses_after", "where no times are known: which calls went to the driver is known to the allocator alone"),
]


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from leaves(below, (*path, index))
    else:
        yield path


def key_of(path):
    return "/".join("*" if isinstance(step, int) else step for step in path)


def changed(value, rng):
    """Another value of the same kind: one more or less, twice, the other truth, a letter more or less."""
    if isinstance(value, bool):
        return not value
    if value is None:
        return "altered"
    if isinstance(value, str):
        return value + "x" if rng.random() < 0.5 or not value else value[:-1]
    others = [other for other in (value + 1, value - 1, value * 2) if other != value]
    return rng.choice(others)


def at(document, path):
    for step in path:
        document = document[step]
    return document


class Changed(cli.CommandTest):
    def changes(self, source, folder, rng):
        """Writes one file a change; (path, old, new) of each."""
        document = cli.read_json(source)
        by_key = collections.defaultdict(list)
        for path in leaves(document):
            by_key[key_of(path)].append(path)
        made = []
        texts = [json.dumps(cell) for cell in document["cells"]]
        for paths in by_key.values():
            for path in paths if len(paths) <= PER_KEY else rng.sample(paths, PER_KEY):
                owner, old = at(document, path[:-1]), at(document, path)
                owner[path[-1]] = changed(old, rng)
                head = json.dumps({k: v for k, v in document.items() if k != "cells"})
                cells = [json.dumps(document["cells"][i]) if path[:2] == ("cells", i) else text for i, text in enumerate(texts)]
                (folder / f"{len(made):05}.json").write_text(f'{head[:-1]}, "cells": [{", ".join(cells)}]}}', encoding="utf-8")
                made.append((path, old, owner[path[-1]]))
                owner[path[-1]] = old
        return made

    def check(self, name):
        """Of a committed file: what slips through though it is not free, as lines; and how many changes were made and found."""
        return self.check_file(cli.SOURCE / "results" / name, name)

    def check_file(self, source, name):
        folder = self.folder / "results" / source.parent.name
        folder.mkdir(parents=True)
        made = self.changes(source, folder, random.Random(name))
        answer = self.succeed("results", "check", "results", code=1)
        found = {int(n) for n in re.findall(r"^results/[^/]+/(\d+)\.json: (?!note: )", answer.out, re.M)}
        slipped = collections.Counter(key_of(path) for n, (path, _, _) in enumerate(made) if n not in found)
        print(f"\n{name}: {len(found)} of {len(made)} changes found; free:",
              ", ".join(f"{key} {count}" for key, count in sorted(slipped.items())))
        return [f"{'/'.join(map(str, path))}: {old!r} -> {new!r}" for n, (path, old, new) in enumerate(made)
                if n not in found and not any(re.fullmatch(free, key_of(path)) for free, _ in FREE)]

    def test_a_card_s_file_that_completed(self):
        self.assertEqual(self.check("h200/2026-11-30-slots.json"), [])

    def test_a_card_s_file_that_ran_out_of_memory(self):
        self.assertEqual(self.check("h200/2026-11-30-edge.json"), [])

    def test_a_simulated_file_that_ran_out_of_memory(self):
        self.assertEqual(self.check("simulated/rx-7900-xtx-rocm-7.2-late-pair.json"), [])

    def test_one_with_the_simulator_s_times(self):
        """Steady passes, references and recoveries, all with their times."""
        source = self.folder / "simulated" / "made.json"
        source.parent.mkdir()
        self.measure("--workload", "kv-pair:heads=8,head-dim=128,step=1024,to=8192", "--vram-limit", "44MiB",
                     "--allocator", "legacy-retry,async:retry=trim,vmm", "--repetitions", "2", out=source)
        text = source.read_text(encoding="utf-8")
        source.write_text(re.sub(r'"commit": "[^"]*"', '"commit": "0123456789ab"', text), encoding="utf-8")
        self.assertTrue(any(c["metrics"]["oom"]["recoveries"] for c in cli.read_json(source)["cells"] if c["metrics"]))
        self.assertEqual(self.check_file(source, "a run of sim:h200"), [])

    def test_a_simulated_file_that_completed(self):
        self.assertEqual(self.check("simulated/rx-7900-xtx-rocm-5.7-early-prefill.json"), [])


if __name__ == "__main__":
    cli.main()
