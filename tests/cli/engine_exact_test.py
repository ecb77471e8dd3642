#!/usr/bin/env python3
"""The engine's traffic as the command shows it: figures recorded on an H200, and figures of the calculated tables. Each stands
here as published; the program computes them from the formulas of the operations."""

import cli

MIB = cli.MIB
SESSION = "ubatch=512,to=131072,tokens=512,graphs=off"
PLAIN = ("--no-reference", "--verify", "off")


class EngineTest(cli.CommandTest):
    def allocations(self, spec):
        out = self.succeed("trace", "stats", spec).out
        return int(out.split("calls")[1].split("allocations")[0].strip().replace(",", ""))

    def calls(self, cell):
        """The kinds of driver calls that took or gave memory, all of one repetition."""
        return {k: n for k, n in self.completed(cell)["driver_calls"].items() if n and k in ("malloc", "free", "create")}

    def pool(self, spec):
        """What `legacy` and `vmm` took: number of calls and bytes; and the workload as the result file describes it."""
        document = self.measure(*PLAIN, "--allocator", "legacy,vmm", "--workload", spec)
        out = {}
        for name, call in (("legacy", "malloc"), ("vmm", "create")):
            cell = self.cell(document, name)
            out[name] = (self.calls(cell)[call], self.completed(cell)["peak_reserved_bytes"]["median"])
        workload = document["cells"][0]["workload"]
        return out, workload


class Recorded(EngineTest):
    """On an H200: llama.cpp of 2026-04-21 (pool-fa-early) and ggml of 2026-08-21 (reserved-fa); batch 2048, graphs off."""

    def test_allocations_of_a_walk(self):
        for era, (without, with_rows, token) in {"pool-fa-early": (506, 509, 257), "reserved-fa": (347, 350, 257)}.items():
            spec = f"model=llama-3.1-8b,kv=q8_0,era={era},graphs=off"
            last = self.allocations(f"fattn-prefill:{spec},to=512")
            self.assertEqual(last, with_rows)
            self.assertEqual(self.allocations(f"fattn-prefill:{spec},to=1024") - last, without)
            self.assertEqual(self.allocations(f"fattn-decode:{spec},depth=0,tokens=1"), token)

    def test_pools_to_131072(self):
        model = f"fattn-session:model=llama-3.1-8b,kv=q8_0,{SESSION}"
        pools, workload = self.pool(f"{model},era=pool-fa-early")
        self.assertEqual(pools, {"legacy": (113, 9_793_192_704), "vmm": (250, 536_870_912)})
        self.assertEqual(workload["max_live_bytes"], 536_870_912)
        pools, _ = self.pool(f"{model},era=reserved-fa")
        self.assertEqual(pools, {"legacy": (2, 11_580_160), "vmm": (2, 12_582_912)})

    def test_pools_of_qwen3(self):
        model = f"fattn-session:model=qwen3-30b-a3b,{SESSION}"
        self.assertEqual(self.pool(f"{model},kv=q8_0,era=pool-fa-early")[0],
                         {"legacy": (96, 4_785_978_624), "vmm": (123, 268_435_456)})
        self.assertEqual(self.pool(f"{model},kv=f16,era=reserved-fa")[0],
                         {"legacy": (4, 29_334_016), "vmm": (3, 12_582_912)})

    def test_pools_to_16384(self):
        pools, _ = self.pool("fattn-session:kv=q8_0,era=pool-fa-early,to=16384,tokens=300,graphs=off")
        self.assertEqual(pools, {"legacy": (39, 760_542_464), "vmm": (26, 67_108_864)})

    def test_without_flash_attention(self):
        for era in ("reserved-fa", "pool-fa-early"):
            pools, _ = self.pool(f"fattn-session:kv=f16,fa=off,era={era},to=4096,tokens=300,graphs=off")
            self.assertEqual(pools, {"legacy": (11, 645_760_256), "vmm": (26, 140_509_184)})

    def test_four_walks_in_300_tokens(self):
        context = self.allocations("fattn-decode:depth=16384,tokens=1") - 257
        self.assertEqual(self.allocations("fattn-decode:depth=16384,tokens=300,graphs=on") - context, 4 * 257)
        self.assertEqual(self.allocations("fattn-decode:depth=16384,tokens=300,graphs=off") - context, 300 * 257)


class Calculated(EngineTest):
    """Every layer with its whole feed-forward part, lm_head in decode walks only."""

    def test_llama(self):
        model = "model=llama-3.1-8b,kv=q8_0,era=pool-fa-late,target=h200"
        self.assertEqual(self.allocations(f"fattn-prefill:{model},to=512,graphs=off,last-layer-cut=off"), 416)
        self.assertEqual(self.allocations(f"fattn-decode:{model},depth=0,tokens=1,graphs=off,last-layer-cut=off"), 257)
        pools, workload = self.pool(f"fattn-session:{model},{SESSION},last-layer-cut=off")
        self.assertEqual(pools, {"legacy": (118, 9_820_443_136), "vmm": (252, 536_870_912)})
        self.assertEqual((workload["alloc_calls"], workload["max_live_bytes"]), (238_080, 536_870_912))
        pools, workload = self.pool(f"fattn-session:model=llama-3.1-8b,kv=f16,era=reserved-fa,{SESSION},last-layer-cut=off")
        self.assertEqual(pools, {"legacy": (2, 11_580_160), "vmm": (2, 12_582_912)})
        self.assertEqual((workload["alloc_calls"], workload["max_live_bytes"]), (256 * 352 + 512 * 257, 11_028_480))

    def test_qwen3(self):
        model = f"fattn-session:model=qwen3-30b-a3b,target=h200,{SESSION},last-layer-cut=off"
        pools, workload = self.pool(f"{model},kv=q8_0,era=pool-fa-late")
        self.assertEqual(pools, {"legacy": (95, 4_776_876_032), "vmm": (125, 268_435_456)})
        self.assertEqual((workload["alloc_calls"], workload["max_live_bytes"]), (256 * 1008 + 512 * 385, 268_435_456))
        pools, workload = self.pool(f"{model},kv=f16,era=reserved-fa")
        self.assertEqual(pools, {"legacy": (4, 29_334_016), "vmm": (3, 12_582_912)})
        self.assertEqual((workload["alloc_calls"], workload["max_live_bytes"]), (256 * 912 + 512 * 337, 11_028_480))


class LimitedMemory(EngineTest):
    """The list pool of a 48-unit RDNA3 card before and after it learned to flush; byte-exact device."""

    MODEL = "model=llama-3.1-8b,era=pool-fa-late,target=rx-7900-xtx,ubatch=512,to=131072,last-layer-cut=off"

    def run_at(self, kv, *arguments):
        return self.measure("--device", "sim:h200,block=256", *PLAIN, "--workload", f"fattn-prefill:{self.MODEL},kv={kv}", *arguments)

    def test_flushes(self):
        # limit: flushes, mallocs, frees, bytes at the end in MiB; n_kv at which the pool without a flush fails
        table = {1024: ((10, 130, 127, 520), 20_480), 4096: ((2, 122, 115, 1_477), 64_000)}
        document = self.run_at("q8_0", "--allocator", "legacy,legacy-retry", "--vram-limit", "1024MiB,4096MiB")
        for limit, (published, n_kv) in table.items():
            retry = self.cell(document, "legacy-retry", limit * MIB)
            calls, metrics = self.calls(retry), self.completed(retry)
            self.assertEqual((metrics["oom"]["flushes"], calls["malloc"], calls["free"],
                              round(metrics["end_reserved_bytes"]["median"] / MIB)), published)
            outcome = self.cell(document, "legacy", limit * MIB)["outcome"]
            self.assertEqual((outcome["status"], outcome["step"] * 512), ("oom", n_kv))

    def test_without_a_limit(self):
        cell = self.cell(self.run_at("q8_0", "--allocator", "legacy-retry"), "legacy-retry")
        self.assertEqual(self.calls(cell), {"malloc": 120})
        self.assertEqual(round(self.completed(cell)["peak_reserved_bytes"]["median"] / MIB), 9_370)
        cell = self.cell(self.run_at("f16", "--allocator", "legacy"), "legacy")
        self.assertEqual(self.calls(cell), {"malloc": 3})
        self.assertEqual(f"{self.completed(cell)['peak_reserved_bytes']['median'] / MIB:.1f}", "13.9")


class FastForward(EngineTest):
    """A context that is replayed in sizes leaves every pool as the whole prompt does."""

    def test_same_pool(self):
        for model in ("llama-3.1-8b,era=pool-fa-early", "gemma-3-27b,era=pool-fa-late", "deepseek-v3,era=pool-fa-early"):
            spec = f"fattn-session:model={model},kv=q8_0,tokens=32"
            self.assertEqual(self.pool(f"{spec},to=17408")[0], self.pool(f"{spec},depth=16384,prompt=1024")[0])


class Contradictions(EngineTest):
    def test_graph_mode_without_graphs(self):
        answer = self.call("run", "--device", "sim:h200", "--mode", "graph", "--workload", "fattn-decode:depth=0,graphs=off")
        self.assertEqual(answer.code, 2, str(answer))
        self.assertIn("--mode graph contradicts graphs=off of 'fattn-decode:", answer.err)
        self.assertEqual(answer.err.count("\n"), 1)

    def test_a_note_is_shown_once(self):
        answer = self.succeed("run", "--device", "sim:h200", "--allocator", "legacy,vmm", "--workload",
                              "fattn-decode:layers=1,depth=131072,tokens=2", "--out", "run.json")
        self.assertEqual(answer.err.count("note: fattn-decode: 131074 tokens are more than the 131072"), 1, str(answer))


if __name__ == "__main__":
    cli.main()
