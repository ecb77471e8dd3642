#!/usr/bin/env python3
"""Stands for the child process of a GPU: answers `child info`, `child measure`, `child costs` and `child probe` as the real one
does, with figures that the simulator made, unless MISBEHAVE says `HOW:ALLOCATOR` (`HOW:N` for the Nth process that measures
costs, `HOW:probe-NAME` for those of a probe, `HOW` for the question about the device).

The command to make figures with is in VRAMBENCH; process ids of children go to the file that CHILDREN names, and what each
was asked to the file beside it (CHILDREN.requests)."""

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


def answer_line(document):
    os.write(3, json.dumps(document).encode() + b"\n")


def info(request):
    rates = {}
    if request["measure"] and "RATES" in os.environ:
        flops, copied = map(int, os.environ["RATES"].split(","))
        rates = {"rates": {"flops_per_second": flops, "bytes_per_second": copied, "flops_source": "made up", "bytes_source": "too"}}
    answer({**rates, "protocol": PROTOCOL, "kind": "cuda", "name": "A Card That Is Not There", "spec": request["device"],
            "total_bytes": 1 << 34, "vmm_granularity": 2 << 20, "physical_block": 2 << 20, "has_pools": True,
            "flops_per_second": 10**14, "bytes_per_second": 10**12,
            "facts": {"driver_version": "0", "architecture": "9.0", "multiprocessors": "114"}})


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
    disturbed = request.get("disturbed")
    for entry in entries:
        entry["role"] = request["role"]
        if request["role"] != "memory":    # a card is not asked while calls are timed
            (entry["reached"] or entry["metrics"])["peak_device_bytes"] = 0
        entry["disturbed"] = disturbed
    answer({"protocol": PROTOCOL, "entries": entries})


def costs(request):
    request["device"] = "sim:h200"
    subprocess.run([os.environ["VRAMBENCH"], "child", "costs"], input=json.dumps(request).encode(), check=True, pass_fds=(3, 4))


def probe(request):
    request["device"] = "sim:h200"
    subprocess.run([os.environ["VRAMBENCH"], "child", "probe"], input=json.dumps(request).encode(), check=True, pass_fds=(3, 4))


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
        answer({"protocol": PROTOCOL, "entries": [{"pass": "cold", "role": "timed"}],
                "costs": {"points": [["malloc", "idle", 256, -5]], "facts": {}, "words": {}, "notes": []}})
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
    with open(os.environ["CHILDREN"] + ".requests", "a+", encoding="utf-8") as f:
        f.seek(0)
        before = [json.loads(line) for line in f]
        print(json.dumps({"what": sys.argv[2], **request}), file=f)
    how, _, where = os.environ.get("MISBEHAVE", "").partition(":")
    if sys.argv[1:] == ["child", "info"]:
        if how and not where:
            misbehave(how)
        info(request)
    elif sys.argv[1:] == ["child", "costs"]:
        with open(os.environ["CHILDREN"], encoding="utf-8") as f:
            number = sum(1 for _ in f)
        if where == str(number):
            misbehave(how)
        costs(request)
    elif sys.argv[1:] == ["child", "probe"]:
        if where == "probe-" + request["probe"]:
            if how in ("crash", "hang"):
                answer_line({"asking": {"id": "some.question", "question": "some question", "verdict": "", "level": "fine", "evidence": ""}})
            misbehave(how)
        probe(request)
    else:
        mine = where and request["allocator"].startswith(where)
        measured = [r for r in before if r["what"] == "measure"]
        if how == "fall" and len(measured) >= int(where):    # the card is gone: whatever comes now cannot open it
            print("no device 'cuda:0': it cannot be used: the card fell off the bus", file=sys.stderr)
            sys.exit(2)
        if mine and (how == "disturb" or how == "disturb-once" and not any(r["allocator"].startswith(where) for r in measured)):
            request["disturbed"] = "memory outside this process changed by 2.00 GiB"
        if mine and how not in ("linger", "role", "disturb", "disturb-once"):
            misbehave(how)
        if mine and how == "role":
            request["role"] = "memory"
        measure(request)
        if mine and how == "linger":    # closes its answer, and takes its time to end, as a driver that gives much memory back
            os.close(3)
            time.sleep(1.5)


main()
