#!/usr/bin/env python3
"""Simulated AMD cards from outside: what a cell without times holds, and the unsafe reuse that HIP's rules allow."""

import json
import unittest

import cli

try:
    import jsonschema
except ImportError:
    jsonschema = None

PAIR = "kv-pair:heads=8,head-dim=128,step=16384,to=1146880"    # K and V of k x 32 MiB, 70 steps
TIMES = {"added_ns_per_token", "slowdown", "step_ns", "pp_tokens_per_s", "tg_tokens_per_s", "alloc_ns", "free_ns", "device_idle_ns",
         "stall_ns", "host_bound", "byte_seconds_ratio"}


def keys_of(value):
    """Every key of a document, however deep."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


class AmdCards(cli.CommandTest):
    def run_on(self, device, *words):
        answer = self.call("run", "--device", device, "--no-reference", "--out", "run.json", *words)
        return answer, cli.read_json(self.folder / "run.json")

    def failing_steps(self, device, allocators, workload=PAIR):
        """Step of each allocator's failure on a card with 4,080 MiB free, which is what the reference model's table has."""
        _, document = self.run_on(device, "--allocator", allocators, "--workload", workload, "--vram-limit", "4080MiB")
        return [c["outcome"].get("step") for c in document["cells"]]

    def test_growing_pair_fails_where_the_reference_model_says(self):
        allocators = "async,async:retry=sync,async:retry=trim"
        for rules, steps in (("5.7", [11, 11, 64]), ("6.1", [11, 11, 64]), ("6.3", [33, 33, 64]), ("7.2", [32, 33, 33])):
            with self.subTest(rules=rules):
                self.assertEqual(self.failing_steps(f"sim:rx-7800-xt,pool=rocm-{rules}", allocators), steps)
        self.assertEqual(self.failing_steps("sim:mi300x", "async,async:retry=sync"), [43, 43])

    def test_growing_pair_with_a_synchronise_each_step(self):
        allocators = "async:threshold=0,async:threshold=max"
        for rules, steps in (("5.7", [11, 11]), ("6.1", [64, 11]), ("6.3", [64, 43]), ("7.2", [64, 63])):
            with self.subTest(rules=rules):
                self.assertEqual(self.failing_steps(f"sim:rx-7800-xt,pool=rocm-{rules}", allocators, PAIR + ",sync=step"), steps)

    def test_no_time_is_anywhere(self):
        answer, document = self.run_on("sim:rx-7800-xt", "--allocator", "direct,legacy,async", "--workload",
                                       "kv-pair:heads=8,head-dim=128,step=512,to=4096")
        self.assertEqual(answer.code, 0, answer)
        for cell in document["cells"]:
            self.assertEqual(cell["device"], {"kind": "sim", "name": "rx-7800-xt", "spec": "sim:rx-7800-xt,vram=16GiB,block=2MiB,pool=rocm-7.2",
                                              "simulated": True, "times_known": False, "confidence": "medium"})
            self.assertEqual(cell["outcome"], {"status": "completed"})
            self.assertFalse(TIMES & set(cell["metrics"]))
            self.assertGreater(cell["metrics"]["peak_reserved_bytes"]["median"], 0)
            self.assertGreater(sum(v for k, v in cell["metrics"]["driver_calls"].items() if k in ("malloc", "malloc_async")), 0)
            self.assertFalse({k for k in keys_of(cell["repetitions"]) if k.endswith("_ps") or "_ns" in k})
        self.assertIn("there are no times.", " ".join(answer.out.split()))
        self.assertIn("confidence medium", answer.out)

    @unittest.skipUnless(jsonschema, "python3-jsonschema is not installed")
    def test_the_file_is_of_the_schema(self):
        _, document = self.run_on("sim:rx-7800-xt", "--allocator", "legacy-retry,async,vmm", "--workload", PAIR, "--vram-limit", "none,4080MiB")
        self.assertEqual([c["outcome"]["status"] for c in document["cells"]][-1], "unsupported")
        jsonschema.validate(document, cli.read_json(cli.SOURCE / "results" / "schema.json"))

    def test_show_says_what_run_said(self):
        answer, _ = self.run_on("sim:rx-7800-xt", "--allocator", "legacy,async", "--workload", PAIR, "--vram-limit", "none,4080MiB")
        shown = self.call("show", "run.json")
        self.assertEqual(shown.code, 0, shown)
        self.assertIn(shown.out, answer.out)
        for words in (["--markdown"], ["--failures"], ["--calls"]):
            self.assertEqual(self.call("show", "run.json", *words).code, 0, words)

    def test_marker_belongs_to_hips_rules(self):
        answer = self.call("run", "--device", "sim:h200,marker=late")
        self.assertEqual(answer.code, 2, answer)
        self.assertIn("marker=late", answer.err)
        self.assertEqual(len(answer.err.strip().splitlines()), 1)

    def test_costs_that_nobody_knows_are_not_calibrated(self):
        answer = self.call("probe", "--costs", "--device", "sim:rx-7800-xt", "--out", "profile.json")
        self.assertEqual(answer.code, 2, answer)
        self.assertIn("not known", answer.err)
        self.assertFalse((self.folder / "profile.json").exists())

    def test_devices_are_listed(self):
        answer = self.call("list", "devices")
        for word in ("rx-7900-xtx", "rx-7800-xt", "mi300x", "rocm-7.2", "marker="):
            self.assertIn(word, answer.out)

    def freed_elsewhere(self, device):
        """Stream 0 allocates a block, stream 1 uses and frees it, stream 0 asks for as much."""
        block = {"op": "alloc", "bytes": 64 * cli.MIB, "tag": "block", "stream": 0}
        events = [{"op": "step", "label": "step", "phase": "prefill", "tokens": 1}, block | {"block": 0},
                  {"op": "record", "event": 0, "stream": 0}, {"op": "wait", "event": 0, "stream": 1},
                  {"op": "kernel", "stream": 1, "writes": [0], "ns": 1000000, "tag": "kernel"}, {"op": "free", "block": 0, "stream": 1},
                  block | {"block": 1}, {"op": "kernel", "stream": 0, "writes": [1], "ns": 1000, "tag": "kernel"},
                  {"op": "free", "block": 1, "stream": 0}]
        header = {"vrambench_trace": 1, "name": "story", "spec": "story", "params": {}, "seed": 0, "streams": 2,
                  "tags": ["step", "block", "kernel"], "phases": ["prefill"]}
        lines = [header, *events, {"op": "end", "events": len(events)}]
        (self.folder / "story.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        answer, document = self.run_on(device, "--allocator", "async", "--workload", "file:story.jsonl")
        return answer, document["cells"][0]["outcome"]

    def test_a_block_freed_on_another_stream_is_a_hazard(self):
        for rules in ("5.7", "6.1", "6.3", "7.2"):
            answer, outcome = self.freed_elsewhere(f"sim:rx-7800-xt,pool=rocm-{rules}")
            self.assertEqual(answer.code, 1, answer)
            self.assertEqual(outcome["status"], "corrupted")
            self.assertIn("reuse-before-ordered", json.dumps(outcome) + answer.out)
        answer, outcome = self.freed_elsewhere("sim:rx-7800-xt,pool=cuda")
        self.assertEqual(outcome["status"], "completed", answer)


if __name__ == "__main__":
    cli.main()
