#!/usr/bin/env python3
"""How long `vrambench compare` takes over two files of many cells. No test: a time is no verdict.

    python3 tests/cli/large_results.py build/vrambench [CELLS, 10000 where left out]

Makes the files from a small run on the simulator, each cell with another workload, and prints sizes and times."""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

WORKLOAD = "kv-pair:heads=8,head-dim=128,step=512,to=16384"


def write_many(cells, small, path, count):
    with open(path, "w", encoding="utf-8") as out:
        out.write(json.dumps({**small, "cells": []})[:-2])    # without "]}", which end the cells
        for n in range(count):
            text = json.dumps({**cells[n % len(cells)], "id": f"{n:016x}"})
            changed = 16384 + n // len(cells)
            text = text.replace("to=16384", f"to={changed}").replace('"to": "16384"', f'"to": "{changed}"')
            out.write(("," if n else "") + text)
        out.write("]}")


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
        print(f"two files of {count} cells, {(folder / 'a.json').stat().st_size / 1e6:.0f} MB each")
        for _ in range(3):
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            done = subprocess.run([vrambench, "compare", "a.json", "b.json", "--changes"], cwd=folder, check=False, capture_output=True, text=True)
            if done.returncode == 2:
                sys.exit(done.stderr)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(f"{time.monotonic() - began:.2f} s, of the processor {after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime:.2f} s, "
                  f"at most {after.ru_maxrss / 1024:.0f} MiB; exit {done.returncode}; {done.stdout.splitlines()[-1]}")


if __name__ == "__main__":
    main()
