#!/usr/bin/env python3
"""The probe over a fake runtime with one defect at a time: it finds each, and none where there is none.

    probe_test.py PATH-OF-VRAMBENCH-OVER-FAKES KIND [unittest arguments]"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import cli  # noqa: E402: found by the line above

# What the fake is set to: the probe that asks, and the finding that must be bad. The first seven are those that were reported of
# HIP (switches.hpp says where); the window is that of a rule set, not a switch.
REPORTED = {
    "defects=threshold-ignored": ("release", "release.threshold.max"),
    "defects=tail-access-refused": ("vmm", "vmm.three-reservations"),
    "defects=granularity-4k": ("granularity", "granularity.vmm"),
    "defects=zeros": ("integrity", "integrity.pool.2.0"),
    "defects=pool-hangs": ("pools", "pools.first-call"),
    "defects=pool-crashes": ("pools", "pools.first-call"),
    "defects=failure-keeps-memory": ("failure", "failure.malloc_async.max"),
    "defects=trim-ignored": ("release", "release.trim"),
    "defects=failure-sticks": ("failure", "failure.malloc"),
    "defects=free-keeps-memory": ("release", "release.free"),
    "defects=release-leaks": ("release", "release.vmm"),
    "defects=unmap-hits-neighbour": ("vmm", "vmm.unmap-neighbour"),
    "defects=handle-forgets": ("vmm", "vmm.kept-handle"),
    "devices=2;defects=peer-copy-wrong": ("peers", "peers.1-to-0"),
}


class Probe(cli.CommandTest):
    def findings(self, setting, *arguments):
        os.environ["VRAMBENCH_FAKE_RUNTIME"] = setting
        self.addCleanup(os.environ.pop, "VRAMBENCH_FAKE_RUNTIME", None)
        answer = self.call("probe", "--device", KIND + ":0", "--processes", "1", "--out", "probe.json", *arguments)
        self.assertEqual(answer.code, 0, answer)
        document = cli.read_json(self.folder / "probe.json")
        self.assertIs(document["device"]["simulated"], True)
        return {f["id"]: f for p in document["probes"] for f in p["findings"]}

    def test_each_defect_is_found(self):
        for setting, (probe, finding) in REPORTED.items():
            with self.subTest(setting):
                # What hangs is given up after a while; nothing else comes near it.
                patience = ["--timeout", "5s"] if "hangs" in setting else []
                self.assertEqual(self.findings(setting, "--only", probe, *patience)[finding]["level"], "broken")

    def test_the_window_of_a_release_is_found(self):
        found = self.findings("device=sim:rx-7900-xtx,pool=rocm-6.1", "--only", "reuse")
        self.assertTrue(any("1.12 times" in f["verdict"] for f in found.values()), found)

    def test_none_is_found_without_one(self):
        asked = sorted({probe for probe, _ in REPORTED.values()})
        broken = {i: f["verdict"] for i, f in self.findings("devices=2", "--only", ",".join(asked)).items() if f["level"] == "broken"}
        self.assertEqual(broken, {})

    def test_peers_are_every_ordered_pair_of_the_first_four_devices(self):
        def peers(devices, more=""):
            return {i: f["verdict"] for i, f in self.findings(f"devices={devices}{more}", "--only", "peers").items()}

        self.assertEqual(peers(1), {"peers.access": "not supported"})
        self.assertEqual(len(peers(5)), 12)
        for setting, verdict in {"": "works", ";defects=peer-copy-wrong": "stated, but the copy arrives wrong",
                                 ";fail=DeviceEnablePeerAccess:1+:801": "stated, but cannot be enabled",
                                 ";fail=MemcpyPeer:1+:801": "stated, but a copy fails"}.items():
            with self.subTest(setting):
                self.assertEqual(peers(2, setting), {"peers.0-to-1": verdict, "peers.1-to-0": verdict})


if __name__ == "__main__":
    KIND = sys.argv.pop(2)
    cli.main()
