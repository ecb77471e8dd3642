#!/usr/bin/env python3
"""How long `vrambench compare` takes over two files of many cells, and `recommend` over 100 files. No test: a time is no verdict.

    python3 tests/cli/large_results.py build/vrambench [CELLS, 10000 where left out]

Makes the two files from a small run on the simulator, each cell with another workload, and the hundred from a card's default set,
each with other processes. Prints sizes and times."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

WORKLOAD = "kv-pair:heads=8,head-dim=128,step=512,to=16384"
CARD_RESULT = pathlib.Path(__file__).resolve().parents[2] / "results" / "h200" / "2026-11-30-default.json"


def write_many(cells, small, path, count):
    with open(path, "w", encoding="utf-8") as out:
        out.write(json.dumps({**small, "cells": []})[:-2])    # without "]}", which end the cells
        for n in range(count):
            text = json.dumps({**cells[n % len(cells)], "id": f"{n:016x}"})
            changed = 16384 + n // len(cells)
            text = text.replace("to=16384", f"to={changed}").replace('"to": "16384"', f'"to": "{changed}"')
            out.write(("," if n else "") + text)
        out.write("]}")


def write_copies(text, folder, count):
    """The same times in other processes: nothing else tells processes of a copied file from those of another run."""
    for n in range(count):
        other = re.sub(r'"process": (\d+)', lambda m: f'"process": {int(m[1]) + 100000 * n}', text)
        (folder / f"run{n}.json").write_text(other, encoding="utf-8")
    return [f"run{n}.json" for n in range(count)]


def measure(command, folder):
    for _ in range(3):
        began = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        last = process.stdout.read().rstrip().splitlines()[-1]
        _, status, used = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) == 2:
            sys.exit(last)
        print(f"{time.monotonic() - began:.2f} s, of the processor {used.ru_utime + used.ru_stime:.2f} s, at most {used.ru_maxrss / 1024:.0f} MiB; "
              f"exit {os.waitstatus_to_exitcode(status)}; {last}")


def main():
    vrambench, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    with tempfile.TemporaryDirectory(prefix="vrambench-large-") as name:
        folder = pathlib.Path(name)
        subprocess.run([vrambench, "run", "--device", "sim:h200", "--allocator", "direct,legacy,legacy-retry,async,vmm", "--workload",
                        WORKLOAD, "--out", "small.json"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        small = json.loads((folder / "small.json").read_text(encoding="utf-8"))
        small = {"cells": small.pop("cells"), **small}
        cells = small.pop("cells")
        for path in ("a.json", "b.json"):
            write_many(cells, {**small, "cells": []}, folder / path, count)
        print(f"compare: two files of {count} cells, {(folder / 'a.json').stat().st_size / 1e6:.0f} MB each")
        measure([vrambench, "compare", "a.json", "b.json", "--changes"], folder)
        text = CARD_RESULT.read_text(encoding="utf-8")
        print(f"recommend: 100 files as {CARD_RESULT.name}, {len(text) / 1e6:.0f} MB each")
        measure([vrambench, "recommend", *write_copies(text, folder, 100)], folder)


if __name__ == "__main__":
    main()
