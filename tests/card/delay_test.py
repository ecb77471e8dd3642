#!/usr/bin/env python3
"""A delay of known size in each allocate call, on a card: `compare` finds it, or says that it is below its resolution.

    delay_test.py [PATH-OF-VRAMBENCH] [PATH-OF-VRAMBENCH_DELAYED_CHILD] [unittest arguments]

The paths may stand in VRAMBENCH and VRAMBENCH_DELAYED_CHILD instead, the card in VRAMBENCH_CARD (cuda:0). Two delays are planted
in `async`: one that adds 1 % of what `async` adds, and one that adds three times what the resolution was said to be. Kernels last as
long as their traffic, so that decoding waits for the host and nothing hides a delay. Prints what was planted and what was said of it.
Exit code 77 where there is no card."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import cli  # noqa: E402: found by the line above
from command_test import CARD, why_no_card

SESSION = "fattn-session:model=llama-3.1-8b,era=pool-fa-early,kv=q8_0,graphs=off,depth=4096,prompt=512,tokens={}"
TOKENS = 32
REPETITIONS = 12
CHILD = ""


class PlantedDelay(cli.CommandTest):
    def calls_per_token(self):
        def calls(tokens):
            document = self.measure("--allocator", "ideal", "--workload", SESSION.format(tokens), out="calls.json")
            return document["cells"][0]["workload"]["alloc_calls"]
        return (calls(2 * TOKENS) - calls(TOKENS)) / TOKENS

    def measured(self, name, **variables):
        self.succeed("run", "--device", CARD, "--allocator", "async", "--workload", SESSION.format(TOKENS), "--kernels", "traffic",
                     "--repetitions", str(REPETITIONS), "--out", name, env=cli.environment(**variables))
        return name

    def with_delay(self, nanoseconds):
        return self.measured(f"delay-{nanoseconds}.json", VRAMBENCH_CHILD_PROGRAM=CHILD, VRAMBENCH_TEST_DELAY_NS=str(nanoseconds))

    def judged(self, base, other):
        """What was said of decoding, per pass. Any difference is asked for: a margin would hide small ones."""
        answer = self.call("compare", base, other, "--margin", "added_ns_per_token=0", "--format", "json")
        self.assertIn(answer.code, (0, 1), answer)
        metrics = cli.strict_json(answer.out)["pairs"][0]["metrics"]
        return {m["pass"]: m for m in metrics if m["metric"] == "added_ns_per_token" and m["phase"] == "decode"}

    def test_found_or_below_the_resolution(self):
        calls = self.calls_per_token()
        base = self.measured("base.json")
        again = self.judged(base, self.measured("again.json"))
        scale = min(m["base"]["mean"] for m in again.values())
        self.assertGreater(scale, 0)
        self.report("nothing", 0, again)
        small = max(1, round(scale / 100 / calls))
        said = self.judged(base, self.with_delay(small))
        self.report("1 %", small * calls, said)
        for m in said.values():
            if m["verdict"] != "worse":
                self.assertGreater(m["resolution"], small * calls)
        large = round(3 * max(m["resolution"] for m in again.values()) / calls)
        said = self.judged(base, self.with_delay(large))
        self.report("3 resolutions", large * calls, said)
        self.assertEqual({m["verdict"] for m in said.values()}, {"worse"})

    @staticmethod
    def report(what, planted, said):
        for name, m in said.items():
            low, high = m["ci95"] or (float("nan"), float("nan"))
            print(f"planted {what} ({planted:,.0f} ns a token), {name}: {m['difference']:,.0f} [{low:,.0f}, {high:,.0f}], "
                  f"resolution {m['resolution']:,.0f}, {m['verdict']}", file=sys.stderr)


def main():
    global CHILD
    programs = []
    for name in ("VRAMBENCH", "VRAMBENCH_DELAYED_CHILD"):
        given = len(sys.argv) > 1 and os.path.isfile(sys.argv[1])
        programs.append(os.path.abspath(sys.argv.pop(1) if given else os.environ[name]))
    program, CHILD = programs
    reason = why_no_card(program)
    if reason:
        print(f"SKIPPED: {reason}")
        sys.exit(77)
    sys.argv.insert(1, program)
    cli.main()


if __name__ == "__main__":
    main()
