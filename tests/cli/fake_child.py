#!/usr/bin/env python3
"""Stands for the child process of a GPU: answers `child info` and `child measure` as the real one does, with figures that
the simulator made, unless MISBEHAVE says `HOW:ALLOCATOR` (or `HOW` for the question about the device).

The command to make figures with is in VRAMBENCH; process ids of children go to the file that CHILDREN names."""

import json
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import time

PROTOCOL = "vrambench.child/1"


def answer(document):
    os.write(3, json.dumps(document).encode())


def info(request):
    answer({"protocol": PROTOCOL, "kind": "cuda", "name": "A Card That Is Not There", "spec": request["device"],
            "total_bytes": 1 << 34, "vmm_granularity": 2 << 20, "physical_block": 2 << 20, "has_pools": True,
            "flops_per_second": 10**14, "bytes_per_second": 10**12, "facts": {"driver_version": "0"}})


def measure(request):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run.json")
        options = {"--inject": request.get("inject"), "--neighbour": request.get("neighbour"), "--resident": request.get("resident_bytes"),
                   "--vram-limit": request["vram_limit_bytes"]}
        subprocess.run([os.environ["VRAMBENCH"], "run", "--device", "sim:h200", "--no-reference", "--allocator",
                        request["allocator"], "--workload", request["workload"], "--out", out] +
                       [f"{name}={value}" for name, value in options.items() if value is not None], check=False, capture_output=True)
        with open(out, encoding="utf-8") as f:
            entries = json.load(f)["cells"][0]["repetitions"]
    for entry in entries:
        entry["role"] = request["role"]
    answer({"protocol": PROTOCOL, "entries": entries})


def say_call(number):
    """Names the driver call as the real child does: one byte of the page behind descriptor 4."""
    with mmap.mmap(4, 4096) as page:
        page[0] = number


def misbehave(how):
    if how == "crash":
        say_call(2)    # free
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "hang":
        say_call(1)    # malloc
        time.sleep(1000)
    if how == "garbage":
        os.write(3, b"\x00\xffnot json")
    if how == "lie":
        answer({"protocol": PROTOCOL, "entries": [{"pass": "cold", "role": "timed"}]})
    if how == "other":
        answer({"protocol": "something.else/9", "entries": []})
    if how == "silent":
        pass
    if how == "flood":    # never a pause, never an end
        while True:
            os.write(3, b"x" * 65536)
    if how == "children":    # leaves a process of its own behind that holds the answer open
        subprocess.Popen(["sleep", "1000"], pass_fds=(3,))
        time.sleep(1000)
    if how == "exit":
        print("the card fell off the bus", file=sys.stderr)
        sys.exit(3)
    sys.exit(0)


def main():
    with open(os.environ["CHILDREN"], "a", encoding="utf-8") as f:
        print(os.getpid(), file=f)
    request = json.load(sys.stdin)
    how, _, where = os.environ.get("MISBEHAVE", "").partition(":")
    if sys.argv[1:] == ["child", "info"]:
        if how and not where:
            misbehave(how)
        info(request)
    else:
        mine = where and request["allocator"].startswith(where)
        if mine and how not in ("linger", "role"):
            misbehave(how)
        if mine and how == "role":
            request["role"] = "memory"
        measure(request)
        if mine and how == "linger":    # closes its answer, and takes its time to end, as a driver that gives much memory back
            os.close(3)
            time.sleep(1.5)


main()
