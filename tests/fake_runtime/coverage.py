#!/usr/bin/env python3
"""Prints how much of the back end's own source the tests over the fake runtimes executed, and which lines no vendor's did.

    coverage.py VENDOR=FOLDER-OF-OBJECTS ...

Ends with 1 below 90 % of the lines, all vendors together."""

import json
import pathlib
import subprocess
import sys

GOAL = 0.90
SOURCES = ("gpu_device.cpp", "gpu_peers.cpp", "gpu_rates.cpp", "vendors/cuda.hpp", "vendors/hip.hpp")


def executed_lines(notes):
    """{source: {line: was it executed}} of one object file. A line of a template counts once, whoever made it."""
    text = subprocess.run(["gcov", "--json-format", "--stdout", notes], capture_output=True, text=True, check=True).stdout
    found = {}
    for file in json.loads(text)["files"]:
        name = file["file"].rpartition("device/")[2]    # found from the build folder: "../device/..."
        lines = found.setdefault(name, {})
        for line in file["lines"]:
            lines[line["line_number"]] = lines.get(line["line_number"], False) or line["count"] > 0
    return found


def main(folders):
    together = {name: {} for name in SOURCES}
    for vendor, folder in (f.split("=", 1) for f in folders):
        for notes in sorted(pathlib.Path(folder).rglob("*.gcda")):
            for name, lines in executed_lines(notes).items():
                if name not in together:
                    continue
                done = sum(lines.values())
                print(f"{vendor}: {done} of {len(lines)} lines of {name} ({100 * done / len(lines):.1f} %)")
                for number, was in lines.items():
                    together[name][number] = together[name].get(number, False) or was
    total = sum(len(lines) for lines in together.values())
    if not total:
        sys.exit("no test has run yet")
    done = sum(sum(lines.values()) for lines in together.values())
    source = pathlib.Path(__file__).resolve().parents[2] / "device"
    for name, lines in together.items():
        text = (source / name).read_text(encoding="utf-8").splitlines()
        for number in sorted(n for n, was in lines.items() if not was):
            print(f"  not executed: {name}:{number}: {text[number - 1].strip()}")
    print(f"together: {done} of {total} lines ({100 * done / total:.1f} %)")
    return 0 if done >= GOAL * total else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
