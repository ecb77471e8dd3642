#!/usr/bin/env python3
"""Bad input ends with exit code 2 and one clear line on stderr, prints nothing else, and leaves every file as it was.

A case is the arguments and the words that its line must hold: what is wrong, and what to do instead where that is known."""

import json
import os
import re
import subprocess

import cli

PAIR = "kv-pair:heads=1,head-dim=64,step=512,to=2048"
RUN = ["run", "--workload", PAIR, "--out", "run.json"]
SIM = ["--device", "sim:h200"]    # where the device matters: `auto` is a GPU where there is one


def pair(**changes):
    keys = {"heads": "1", "head-dim": "64", "step": "512", "to": "2048"}
    keys.update({k.replace("_", "-"): v for k, v in changes.items()})
    return "kv-pair:" + ",".join(f"{k}={v}" for k, v in keys.items())


class BadInputTest(cli.CommandTest):
    def refused_each(self, *cases):
        for arguments, *words in cases:
            self.refused(arguments, *words)

    def refused_run(self, option, *cases):
        """Cases of `run` with one option: its value, and words."""
        for value, *words in cases:
            self.refused([*RUN, option, value], *words)


class UnknownNames(BadInputTest):
    def test_commands(self):
        self.refused_each(
            ([], "command"),
            (["rn"], "'rn'", "'run'"),
            (["lst"], "'lst'", "'list'"),
            (["trace"], "command"),
            (["trace", "exprt", PAIR], "'exprt'", "'export'"),
            (["completelyelse"], "'completelyelse'"),
            (["run", "extra"], "extra"),
            (["list", "allocatrs"], "allocatrs", "allocators"),
            (["list", "devices", "allocators"], "'allocators'"),
            (["run", "first", "second"], "'first'"),
            (["chld"], "'chld'"))

    def test_options(self):
        self.refused_each(
            ([*RUN, "--alocator", "legacy"], "'--alocator'", "'--allocator'"),
            ([*RUN, "--vram-limt=1GiB"], "--vram-limt", "'--vram-limit'"),
            ([*RUN, "--frobnicate"], "--frobnicate"),
            ([*RUN, "-x"], "-x"),
            (["list", "--alocator", "legacy"], "--alocator"),
            (["trace", "stats", PAIR, "--sed", "1"], "--sed", "'--seed'"),
            (["--verson"], "--verson"),
            ([*RUN, "--no-reference=perhaps"], "--no-reference"))

    def test_devices(self):
        self.refused_run("--device",
                         ("sm:h200", "'sm'", "'sim'"), ("cudda:0", "'cudda'", "'cuda'"), ("sim:h20", "'h20'", "'h200'"),
                         ("sim:zzzzzz", "'zzzzzz'", "vrambench list devices"), ("zzzzzz", "'zzzzzz'", "vrambench list devices"),
                         ("sim:h200,vrm=1GiB", "'vrm'", "'vram'"), ("sim:h200,pool=cdua", "'cdua'", "'cuda'"),
                         ("auto:3", "auto"), ("", "--device"))

    def test_devices_that_are_not_there(self):
        devices = self.succeed("list", "devices").out
        absent = [kind for kind in ("cuda", "hip") if re.search(rf"(?m)^  {kind}\S*.*not in this build", devices)]
        for device in ["cuda:99", "hip:99"] + [f"{kind}:0" for kind in absent]:
            self.refused([*RUN, "--device", device], f"'{device}'", "sim:h200")
        for device in ("cuda:x", "cuda:-1", "hip:1.5", "cuda:99999999999999999999"):
            self.refused([*RUN, "--device", device], device.partition(":")[0])

    def test_allocators(self):
        self.refused_run("--allocator",
                         ("legcy", "'legcy'", "'legacy'"), ("LEGACY", "'LEGACY'", "'legacy'"),
                         ("legacy,vm", "'vm'", "'vmm'"), ("legacy_retry", "'legacy_retry'", "'legacy-retry'"),
                         ("zzzzzz", "'zzzzzz'", "vrambench list allocators"),
                         ("legacy:retri=flush", "'retri'", "'retry'"), ("legacy:retry=flsh", "'flsh'", "'flush'"),
                         ("legacy:flush", "'flush'", "retry=flush"), ("async:retry=synk", "'synk'", "'sync'"),
                         ("async:retry=flush", "'flush'", "none, sync, trim"), ("async:pool=onw", "'onw'", "'own'"),
                         ("legacy-retry:retry=none", "legacy-retry", "'retry'"), ("direct:size=1", "direct", "'size'"))

    def test_workloads(self):
        self.refused_run("--workload",
                         ("kvpair", "'kvpair'", "'kv-pair'"), ("randm:events=10", "'randm'", "'random'"),
                         ("zzzzzz", "'zzzzzz'", "vrambench list workloads"),
                         (pair() + ",layer=2", "'layer'", "'layers'"), (pair(sync="stp"), "'stp'", "'step'"),
                         ("random:order=lfo", "'lfo'", "'lifo'"), ("random:sizes=unifrom", "'unifrom'", "'uniform'"))
        self.refused(["trace", "stats", "kvpair"], "'kvpair'", "'kv-pair'")
        self.refused(["trace", "export", "kvpair", "--out", "t.jsonl"], "'kvpair'", "'kv-pair'")

    def test_choices_of_options(self):
        self.refused_run("--mode", ("eagr", "--mode", "'eagr'", "'eager'"), ("zzz", "eager, graph"))
        self.refused_run("--verify", ("ful", "--verify", "'ful'", "'full'"), ("zzz", "off, sample, full"))
        self.refused_run("--kernels", ("hld", "--kernels", "'hld'", "'hold'"), ("hold,zzz", "'zzz'", "hold, traffic"))
        self.refused(["trace", "export", PAIR, "--out", "t.jsonl", "--format", "jsonll"], "--format", "jsonll", "jsonl")

    def test_control_characters_stay_out_of_the_terminal(self):
        self.refused_each(
            ([*RUN, "--allocator", "leg\nacy"], "acy"),
            ([*RUN, "--allocator", "\x1b[31mred"], "red"),
            ([*RUN, "--device", "sim:h2\n00"], "h2"),
            ([*RUN, "--mode", "eager\n"], "eager"),
            ([*RUN, "two\nlines"], "two"),
            ([*RUN, "--allocator", "leg\nacy:x=1,y"], "acy"),
            ([*RUN, "--device", "two\nlines:x=1,y"], "two"),
            ([*RUN, "--device", "cu\nda:0"], "cu"),
            ([*RUN, "--device", "sim:@two\nlines.json"], "two"),
            (["run", "--workload", "file:two\nlines"], "two"),
            (["trace", "run", "two\nlines"], "two"),
            ([*RUN, "--two\nlines"], "two"),
            ([*RUN, "--benchmark_two\nlines"], "two"),
            (["trace", "export", PAIR, "--out", "t", "--format", "two\nlines"], "two"),
            ([*RUN, "--kernel-scale", "1\n"], "1"),
            (["two\nlines"], "two"),
            (["list", "two\nlines"], "two"),
            (["run", "--out", "missing\nfolder/x.json"], "missing"),
            (["trace", "stats", "two\nlines"], "two"),
            ([*RUN, "--allocator", "x" * 5000], "xxx"),
            ([*RUN, "y" * 5000], "yyy"))


class Missing(BadInputTest):
    def test_values_of_options(self):
        for option in ("--device", "--allocator", "--workload", "--vram-limit", "--inject", "--neighbour", "--resident", "--mode", "--repetitions", "--budget", "--seed",
                       "--verify", "--kernels", "--kernel-scale", "--timeout", "--out"):
            self.refused(["run", option], option)
            # An empty value is a script's unset variable, not a default.
            self.refused([*RUN[:3], option, ""] if option != "--workload" else ["run", option, ""], option)
            self.refused([*RUN[:3], option + "="] if option != "--workload" else ["run", option + "="], option)

    def test_keys_and_values_of_specs(self):
        self.refused_each(
            (["run", "--workload", "kv-pair"], "heads="),
            (["run", "--workload", "kv-pair:heads=8"], "head-dim="),
            (["run", "--workload", "kv-pair:heads=8,head-dim=64,to=512"], "step="),
            (["run", "--workload", "kv-pair:"], "kv-pair"),
            (["run", "--workload", "kv-pair:heads"], "heads"),
            (["run", "--workload", "kv-pair:heads="], "heads"),
            (["run", "--workload", pair() + ",step=1"], "step", "twice"),
            (["run", "--workload", pair() + ","], "empty"),
            (["run", "--workload", PAIR + ",,sync=step"], "empty"),
            (["run", "--workload", "file"], "file:PATH"),
            ([*RUN, "--allocator", "legacy,"], "empty"),
            ([*RUN, "--allocator", ":"], "':'"),
            ([*RUN, "--allocator", "=x"], "'=x'"),
            ([*RUN, "--allocator", "retry=flush"], "retry=flush"),
            ([*RUN, "--allocator", "legacy:retry"], "retry"),
            ([*RUN, "--allocator", "legacy:retry="], "retry"),
            ([*RUN, "--vram-limit", "1GiB,"], "--vram-limit"))

    def test_arguments(self):
        self.refused_each((["trace", "stats"], "required"), (["trace", "run"], "required"), (["trace", "export"], "required"),
                          (["trace", "export", PAIR], "--out"), (["run", "--resume", "--workload", PAIR], "--out"))


class SizesAndNumbers(BadInputTest):
    def test_limits(self):
        bad = [("0", "0"), ("0MiB", "0"), ("-1", "'-1'"), ("-1GiB", "'-1GiB'"), ("abc", "'abc'"), ("1.5.5GiB", "'1.5.5GiB'"),
               ("1MB", "1MiB"), ("1GB", "1GiB"), ("1g", "1GiB"), ("1 GiB", "1 GiB"), ("GiB", "'GiB'"), ("0x100", "'0x100'"),
               ("1e9", "'1e9'"), ("nan", "'nan'"), ("inf", "'inf'"), ("99999999999999999999999GiB", "too large"),
               ("18446744073709551616", "too large"), ("16777216TiB", "too large"), ("18446744073709551615", "too large"),
               ("+1GiB", "'+1GiB'"), ("1GiB,x", "'x'"), ("unlimited", "'unlimited'"), ("0x", "'0x'"), ("1.x", "1.25x"), ("-1x", "'-1x'"),
               ("1e3x", "1.25x"), ("9999999x", "too large"), ("0%", "'0%'"), ("1GiBx", "'1GiBx'")]
        for value, *words in bad:
            self.refused([*RUN, "--vram-limit", value], "--vram-limit", *words)

    def test_injections(self):
        for value, word in (("oom", "oom@3"), ("oom@0", "0"), ("oom@x", "'x'"), ("oom@every:0", "0"), ("oom@p:0", "p"), ("oom@p:2", "p"),
                            ("oom@evry:3", "evry"), ("mallc:oom@1", "'malloc'"), ("free:oom@1", "malloc, malloc_async, create"),
                            ("oom@3,", "oom@3"), ("oom@-1", "'-1'"), ("oom@99999999999999999999", "too large"), ("oom@p:0.1/seed:x", "'x'")):
            self.refused([*RUN, *SIM, "--inject", value], "--inject", word)

    def test_neighbours(self):
        for value, word in (("2GiB", "2GiB@step:40"), ("2GiB@40", "2GiB@step:40"), ("@step:1", "''"), ("0@step:1", "no memory"), ("1GB@step:1", "1GiB"),
                            ("1GiB@step:0", "0"), ("1GiB@step:x", "'x'"), ("1GiB@step:2..2", "before it takes"), ("1GiB@step:2..1", "before it takes"),
                            ("1GiB@step:5", "step 5 of a trace that has 4"), ("1GiB@step:1..9", "step 9 of a trace that has 4")):
            self.refused([*RUN, *SIM, "--neighbour", value], "--neighbour", word)

    def test_limit_above_capacity(self):
        self.refused([*RUN, *SIM, "--vram-limit", "140GiB"], "140GiB", f"{cli.shipped_free_bytes() / 2**30:.2f} GiB")
        self.refused([*RUN, *SIM, "--vram-limit", "1GiB,2TiB"], "2TiB")
        self.refused([*RUN, "--device", "sim:h200,vram=1GiB", "--vram-limit", "1025MiB"], "--vram-limit", "1025MiB")
        self.succeed("run", "--workload", PAIR, "--allocator", "vmm", "--device", "sim:h200,vram=1GiB", "--vram-limit", "1GiB",
                     "--out", "run.json")

    def test_numbers_of_options(self):
        numbers = [("-1", "'-1'"), ("x", "'x'"), ("1.5", "'1.5'"), ("1e3", "'1e3'"), ("0x10", "'0x10'"), ("nan", "'nan'"),
                   (" 1", "' 1'"), ("1,2", "'1,2'"), ("99999999999999999999999999", "too large")]
        for option in ("--repetitions", "--seed"):
            for value, word in numbers:
                self.refused([*RUN, option, value], option, word)
        for command in (["fit", *SIM], ["frontier", *SIM], ["trace", "stats", PAIR], ["trace", "export", PAIR, "--out", "t.jsonl"]):
            for value, word in numbers:
                self.refused([*command, "--seed", value], "--seed", word)
        self.refused([*RUN, "--repetitions", "0"], "--repetitions", "0")
        self.refused([*RUN, "--repetitions", "18446744073709551615"], "--repetitions", "too large")
        for option in ("--timeout", "--budget"):
            for value in ("-1", "-1s", "x", "s", "1.5.5s", "1parsec", "nan", "1e400", "99999999999999999999999999s", "0", "0s",
                          "0ms"):
                self.refused([*RUN, option, value], option)
        for value in ("0", "-1", "x", "nan", "inf", "1e400", "99999999999999999999999999", "1,0", "1,", "1,,2", "0.0"):
            self.refused([*RUN, "--kernel-scale", value], "--kernel-scale")

    def test_kv_pair(self):
        for key in ("heads", "head_dim", "step", "to", "layers"):
            name = key.replace("_", "-")
            for value, word in (("0", "0"), ("-1", "'-1'"), ("1.5", "'1.5'"), ("x", "'x'"), ("1e3", "'1e3'"), ("1MiB", "'1MiB'"),
                                ("99999999999999999999999", "too large"), ("18446744073709551615", "too large")):
                self.refused(["run", "--workload", pair(**{key: value})], "kv-pair", name, word)
        self.refused(["run", "--workload", pair(heads="65536", head_dim="65536", to="1099511627776")], "kv-pair", "exceed")
        for value in ("0", "x", "1MiB+", "+1MiB", "1MiB//2MiB", "/", "1MiB/", "-1MiB", "1MB", "99999999999999999999999GiB",
                      "1MiB+0", "1048576TiB"):
            self.refused(["run", "--workload", pair(warm=value)], "kv-pair", "warm")
        for value in ("-1", "x", "1.5", "99999999999999999999999"):
            self.refused(["run", "--workload", pair(kernel_ns=value)], "kv-pair", "kernel-ns")

    def test_random(self):
        for setting in ("events=0", "events=-1", "events=1e6", "events=99999999999999999999999", "min=0", "min=-1", "max=1MB",
                        "max=99999999999999999999TiB", "live=0", "live=x", "alloc=-0.1", "alloc=1.1", "alloc=nan", "alloc=x",
                        "kernels=2", "kernels=-1", "share=1.5", "share=-1", "blocks=0", "blocks=99999999999999999999",
                        "streams=0", "streams=65", "streams=-1", "streams=1.5", "step=0", "step=-1", "seed=-1",
                        "seed=99999999999999999999", "seed=x", "kernel-ns=-1", "kernel-ns=99999999999999999999"):
            self.refused(["run", "--workload", f"random:{setting}"], "random", setting.partition("=")[0])
        self.refused(["run", "--workload", "random:min=2MiB,max=1MiB"], "random", "2MiB", "1MiB")
        self.refused(["run", "--workload", "random:max=2GiB,live=1GiB"], "random", "2GiB", "1GiB")

    def test_allocators(self):
        for value in ("-1", "foo", "1MB", "99999999999999999999", "99999999999999999999GiB", "1.5.5"):
            self.refused([*RUN, "--allocator", f"async:threshold={value}"], "async", "threshold")
        for value in ("0", "3", "65537", "-1", "foo", "1MB", "1TiB", "99999999999999999999"):
            self.refused([*RUN, "--allocator", f"vmm:handle={value}"], "vmm", "handle")

    def test_devices(self):
        for setting in ("vram=0", "vram=-1", "vram=1", "vram=x", "vram=1GB", "vram=200GiB", "vram=99999999999999999999GiB",
                        "block=0", "block=3", "block=100", "block=255", "block=300", "block=3MiB", "block=2TiB", "block=-1",
                        "pool=1"):
            self.refused([*RUN, "--device", f"sim:h200,{setting}"], setting.partition("=")[0])


class Fit(BadInputTest):
    def test_ranges(self):
        fit = ["fit", *SIM, "--out", "fit.json"]
        base = [*fit, "--workload", "kv-pair:heads=1,head-dim=64,step=512", "--vary"]
        self.refused_each(
            ([*base, "to"], "--vary", "to=4096..262144"), ([*base, "to=5"], "--vary"), ([*base, "to=9..2"], "ends before"),
            ([*base, "to=1..x"], "'x'"), ([*base, "to=1..2:0"], "step of 0"), ([*base, "tu=512..1024"], "'tu'"),
            ([*base, "to=0..1024"], "to", "0"), ([*base, "to=1..1024", "--vram-limit", "2x"], "'2x'"),
            ([*base, "to=1..1024", "--vram-limit", "400GiB"], "400GiB"), ([*fit, "--workload", PAIR, "--vary", "to=1..2"], ":STEP"),
            ([*base, "to=1..99999999:1"], ":STEP"), ([*base, "to=1..1024", "--resident", "0"], "--resident"),
            ([*base, "to=1..1024", "--resident", "1GB"], "--resident", "1GiB"), ([*fit, "--vary", "to=1..2"], "--workload"),
            ([*fit, "--workload", "file:x.jsonl", "--vary", "to=1..2:1"], "trace file"),
            ([*fit, "--workload", PAIR, "--vram-limit", "1GiB"], "--vary"), ([*fit, "--allocator", "legcy"], "'legacy'"),
            ([*fit, "--benchmark_filter=x"], "--benchmark_"), (["fit", *SIM, "--workload", PAIR, "--out", "missing/x.json"], "missing"))


class Frontier(BadInputTest):
    def test_pressures(self):
        frontier = ["frontier", *SIM, "--workload", PAIR, "--out", "run.json"]
        for value, word in (("50", "50..100"), ("x..100", "'x'"), ("0..100", "0"), ("100..50", "ends before"), ("50..100:0", "0"),
                            ("50..100:", "step"), ("1..1000:1", "200"), ("50..2000", "too large"), ("5:0..100", "50..100"), ("50..", "highest")):
            self.refused([*frontier, "--pressure", value], "--pressure", word)
        self.refused_each(([*frontier, "--vram-limit", "1GiB", "--pressure", "50..60"], "--vram-limit"), ([*frontier, "--quick"], "--quick"),
                          (["frontier", "--device", "sim:h200,vram=4MiB", "--workload", PAIR.replace("2048", "65536"), "--pressure", "50..50", "--out", "run.json"],
                           "--vram-limit", "4.00 MiB"))


class DecimalComma(BadInputTest):
    def test_a_comma_in_a_number_is_no_list(self):
        for limit in ("1,25x", "1,25GiB", "80,5%", "1GiB,1,5x", "12,5%"):
            self.refused([*RUN, "--vram-limit", limit], "--vram-limit", limit, "1.25x")
        self.refused(["frontier", *SIM, "--workload", PAIR, "--vram-limit", "1,25x", "--out", "run.json"], "--vram-limit", "1,25x")

    def test_lists_are_still_lists(self):
        self.succeed(*RUN, "--vram-limit", "1GiB,1.25x,none,1073741824,2x")


class Combinations(BadInputTest):
    def test_options_that_exclude_each_other(self):
        self.refused_each(
            (["run", "--quick", "--full", "--out", "run.json"], "--quick", "--full"),
            ([*RUN, "--quick"], "--quick", "--workload"),
            ([*RUN, "--full"], "--full", "--workload"))


class OutputPaths(BadInputTest):
    OPTIONS = (["run", "--workload", PAIR, "--out"], ["trace", "export", PAIR, "--out"],
               ["trace", "export", PAIR, "--format", "packed", "--out"])

    def test_missing_folder(self):
        for option in self.OPTIONS:
            self.refused([*option, "missing/run.json"], "missing/run.json", "No such file or directory")
            self.refused([*option, "/nonexistent-folder/run.json"], "/nonexistent-folder/run.json")

    def test_folder(self):
        (self.folder / "folder").mkdir()
        for option in self.OPTIONS:
            self.refused([*option, "folder"], "folder")
            self.refused([*option, "."], "'.'")
            self.refused([*option, "folder/"], "folder/")

    def test_file_used_as_a_folder(self):
        (self.folder / "file").write_text("precious")
        for option in self.OPTIONS:
            self.refused([*option, "file/run.json"], "file/run.json")

    def test_device_file(self):
        for option in self.OPTIONS:
            self.refused([*option, "/dev/full"], "/dev/full")

    def test_name_too_long(self):
        for option in self.OPTIONS:
            self.refused([*option, "x" * 300], "too long")

    def test_default_name_in_a_folder_that_is_gone(self):
        gone = self.folder / "gone"
        gone.mkdir()

        def enter_and_remove():
            os.chdir(gone)
            gone.rmdir()

        before = self.snapshot()
        answer = self.call("run", "--workload", PAIR, preexec_fn=enter_and_remove)
        self.assertEqual((answer.code, answer.out, len(answer.err.splitlines())), (2, "", 1), str(answer))
        del before["gone"]
        self.assertEqual(self.snapshot(), before)

    def without_permission(self):
        """Options of a process that may not write where it likes: root becomes nobody."""
        if os.geteuid() != 0:
            return {}
        os.chmod(self.folder, 0o755)
        options = {"user": 65534, "group": 65534, "extra_groups": []}
        try:
            self.call("--version", **options)
        except (PermissionError, subprocess.SubprocessError) as error:
            self.skipTest(f"only root can reach the program: {error}")
        return options

    def test_no_permission(self):
        options = self.without_permission()
        locked = self.folder / "locked"
        locked.mkdir()
        (locked / "old.json").write_text("precious")
        locked.chmod(0o555)
        self.addCleanup(locked.chmod, 0o755)
        for option in self.OPTIONS:
            self.refused([*option, "locked/new.json"], "locked/new.json", "Permission denied", **options)
            self.refused([*option, "locked/old.json"], "locked/old.json", "Permission denied", **options)

    def test_no_permission_to_read(self):
        options = self.without_permission()
        for name in ("trace.jsonl", "profile.json", "run.json"):
            (self.folder / name).write_text("{}")
            (self.folder / name).chmod(0)
        self.refused(["trace", "stats", "trace.jsonl"], "trace.jsonl", "Permission denied", **options)
        self.refused(["trace", "run", "trace.jsonl"], "trace.jsonl", "Permission denied", **options)
        self.refused(["run", "--device", "sim:@profile.json"], "profile.json", **options)


class TraceFiles(BadInputTest):
    def setUp(self):
        super().setUp()
        self.succeed("trace", "export", PAIR, "--out", "good.jsonl")
        self.succeed("trace", "export", PAIR, "--out", "good.packed", "--format", "packed")
        self.lines = (self.folder / "good.jsonl").read_text().splitlines()
        self.packed = (self.folder / "good.packed").read_bytes()

    def refused_trace(self, name, content, *words):
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        for command in (["trace", "stats", name], ["trace", "run", name, "--out", "run.json"],
                        ["trace", "export", name, "--out", "copy.jsonl"],
                        ["run", "--workload", f"file:{name}", "--out", "run.json"]):
            self.refused(command, *(words or (name,)))

    def with_event(self, event, at=2, count=None):
        """The good trace with one line more."""
        lines = self.lines[:at] + [event if isinstance(event, str) else json.dumps(event)] + self.lines[at:-1]
        return "\n".join(lines + [json.dumps({"op": "end", "events": count or len(lines) - 1})]) + "\n"

    def with_header(self, **changes):
        header = {**json.loads(self.lines[0]), **changes}
        return "\n".join([json.dumps(header)] + self.lines[1:]) + "\n"

    def test_the_files_are_good_before_they_are_spoilt(self):
        (self.folder / "more.jsonl").write_text(self.with_event({"op": "sync_stream"}))
        (self.folder / "same.jsonl").write_text(self.with_header())
        for name in ("good.jsonl", "good.packed", "more.jsonl", "same.jsonl"):
            self.succeed("trace", "stats", name)

    def test_not_there(self):
        for command in (["trace", "run", "nope.jsonl"], ["run", "--workload", "file:nope.jsonl"]):
            self.refused(command, "nope.jsonl", "No such file or directory")
        # A name that is no workload may have been meant as a file.
        for name in ("nope.jsonl", "./nope", "no/such/trace"):
            self.refused(["trace", "stats", name], name, "file")
        self.refused(["trace", "stats", "."], "directory")
        self.refused(["run", "--workload", "file:."], "directory")

    def test_truncated(self):
        text = "\n".join(self.lines) + "\n"
        header, end = len(self.lines[0]), len(self.lines[-1])
        for part in (10, header, header + 1, len(text) // 2, len(text) - end - 1, len(text) - 5):
            self.refused_trace("cut.jsonl", text[:part], "cut.jsonl")
        self.refused_trace("cut.jsonl", "\n".join(self.lines[:-2]) + "\n", "cut.jsonl", "cut off")    # whole lines are missing
        for part in (1, 4, 8, 24, len(self.packed) // 2, len(self.packed) - 1):
            self.refused_trace("cut.packed", self.packed[:part], "cut.packed")

    def test_longer(self):
        self.refused_trace("long.jsonl", "\n".join(self.lines + self.lines[-1:]) + "\n", "long.jsonl")
        self.refused_trace("long.packed", self.packed + b"x", "long.packed")

    def test_empty(self):
        self.refused_trace("empty", b"", "empty")

    def test_foreign(self):
        for name, content in {"text": "hello\n", "object": '{"a":1}\n', "result": '{"schema":"vrambench.result/1","cells":[]}\n',
                              "list": "[]\n", "csv": "run,slot,slot_mib\nlarge_prompt,0,0.01\n", "braces": "{" * 100000,
                              "umpire": '{ "kind":"ILOG", "uid":1, "event":"version", "payload":{} }\n', "utf16": "\ufeff{}",
                              "newlines": "\n\n\n"}.items():
            self.refused_trace(name, content)

    def test_garbage(self):
        self.refused_trace("bytes", bytes(range(256)) * 20)
        self.refused_trace("nul", b"\0" * 5000)
        self.refused_trace("letters", b"V" * 5000)
        self.refused_trace("magic", self.packed[:4] + b"\xff" * 5000)
        self.refused_trace("latin1.jsonl", ("\n".join(self.lines[:3]) + '\n{"op":"\xe9"}\n').encode("latin-1"), "latin1.jsonl:4")
        # One wrong bit anywhere in a packed trace is seen.
        for at in range(0, len(self.packed), 37):
            spoilt = bytearray(self.packed)
            spoilt[at] ^= 0x10
            (self.folder / "bit.packed").write_bytes(spoilt)
            self.refused(["trace", "stats", "bit.packed"], "bit.packed")

    def test_other_versions(self):
        self.refused_trace("version.jsonl", self.with_header(vrambench_trace=2), "version.jsonl", "version 2")
        self.refused_trace("version.jsonl", self.with_header(vrambench_trace="one"), "version.jsonl")
        other = bytearray(self.packed)
        other[4] = 9
        self.refused_trace("version.packed", bytes(other), "version.packed", "version 9")

    def test_headers(self):
        for changes in ({"streams": 0}, {"streams": -1}, {"streams": 10**12}, {"streams": "one"}, {"tags": "step"},
                        {"seed": -1}, {"name": 5}, {"params": []}):
            self.refused_trace("header.jsonl", self.with_header(**changes), "header.jsonl:1")
        header = json.loads(self.lines[0])
        del header["tags"]
        self.refused_trace("header.jsonl", "\n".join([json.dumps(header)] + self.lines[1:]) + "\n", "header.jsonl:1", "tags")

    def test_events_that_are_malformed(self):
        alloc = {"op": "alloc", "block": 5, "bytes": 4096, "tag": "K"}
        for event in ("{", "[]", "5", "null", '"text"', {"op": "aloc", "block": 5}, {"op": 5}, {}, {**alloc, "bytes": -1},
                      {**alloc, "bytes": 1.5}, {**alloc, "bytes": "4096"}, {**alloc, "bytes": 10**30}, {**alloc, "block": -1},
                      {**alloc, "block": 10**12}, {**alloc, "colour": "red"}, {**alloc, "tag": "unheard-of"},
                      {**alloc, "stream": -1}, {"op": "alloc", "bytes": 1, "tag": "K"},
                      {"op": "kernel", "reads": 0, "tag": "attend"}, {"op": "kernel", "reads": [-1], "tag": "attend"},
                      '{"op":"alloc","block":5,"bytes":NaN,"tag":"K"}'):
            self.refused_trace("event.jsonl", self.with_event(event), "event.jsonl:3")

    def test_events_that_make_no_sense(self):
        alloc = {"op": "alloc", "block": 5, "bytes": 4096, "tag": "K"}
        for event in ({**alloc, "bytes": 0}, {**alloc, "bytes": 2**64 - 1}, {**alloc, "bytes": 2**62}, {**alloc, "stream": 1},
                      {**alloc, "align": 3}, {**alloc, "align": 1 << 40},
                      {"op": "free", "block": 9}, {"op": "kernel", "reads": [7], "flops": 1, "bytes": 1, "tag": "attend"},
                      {"op": "wait", "event": 3}, {"op": "graph_launch", "graph": 3}, {"op": "graph_end", "graph": 3}):
            self.refused_trace("sense.jsonl", self.with_event(event), "sense.jsonl")
        twice = self.with_event(json.loads(self.lines[2]), at=3)
        self.refused_trace("sense.jsonl", twice, "sense.jsonl")

    def test_wrong_count(self):
        self.refused_trace("count.jsonl", self.with_event({"op": "sync_stream"}, count=5), "count.jsonl", "5")
        (self.folder / "none.jsonl").write_text(self.lines[0] + '\n{"op":"end","events":0}\n')
        self.refused(["trace", "run", "none.jsonl", "--out", "run.json"], "none.jsonl", "no events")


class Profiles(BadInputTest):
    def refused_profile(self, content, *words):
        path = self.folder / "profile.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.refused([*RUN, "--device", "sim:@profile.json"], "profile.json", *words)

    def changed(self, change):
        profile = json.loads(cli.PLAIN.read_text())
        change(profile)
        return json.dumps(profile)

    def test_good_ones(self):
        for good in (cli.PLAIN, cli.SHIPPED):
            (self.folder / "profile.json").write_text(good.read_text())
            self.succeed(*RUN, "--device", "sim:@profile.json", "--allocator", "vmm")

    def test_not_a_profile(self):
        self.refused([*RUN, "--device", "sim:@nope.json"], "nope.json")
        self.refused([*RUN, "--device", "sim:@."], ".")
        self.refused([*RUN, "--device", "sim:@"], "profile")
        for content in (b"", b"{", b"[]", b"null", b"5", b"hello", bytes(range(256)), b"\xff" * 99,
                        b'{"schema":"vrambench.result/1"}'):
            self.refused_profile(content)

    def test_every_key_is_needed(self):
        """The plain profile has nothing that may be left out."""
        for key in json.loads(cli.PLAIN.read_text()):
            self.refused_profile(self.changed(lambda p, key=key: p.pop(key)), key)
        for group in ("times_ns", "calls_ns", "pool_ns"):
            for key in json.loads(cli.PLAIN.read_text())[group]:
                self.refused_profile(self.changed(lambda p, group=group, key=key: p[group].pop(key)), key)

    def test_unknown_keys(self):
        self.refused_profile(self.changed(lambda p: p.update(colour="red")), "colour")
        self.refused_profile(self.changed(lambda p: p["times_ns"].update(lunch=5)), "times_ns", "'lunch'", "'launch'")
        self.refused_profile(self.changed(lambda p: p["pool_ns"].update(hit_own2=5)), "pool_ns", "'hit_own2'", "'hit_own'")
        self.refused_profile(self.changed(lambda p: p["calls_ns"].update(memset={})), "calls_ns", "memset")
        # A misspelt optional column must not be silently left out.
        self.refused_profile(self.changed(lambda p: p["calls_ns"]["malloc"].update(lodaed=p["calls_ns"]["malloc"].pop("loaded"))),
                             "lodaed")

    def test_values(self):
        bad = {"schema": "vrambench.profile/9", "total_bytes": -1, "free_bytes": 1 << 50, "physical_block": 3, "launch_queue": 0,
               "vmm_granularity": 3, "bytes_per_second": 0, "flops_per_second": 0, "pool_rules": "hpi", "work_unit_ps": -1,
               "free_waits": "yes", "address_space": -5}
        for key, value in bad.items():
            self.refused_profile(self.changed(lambda p, key=key, value=value: p.update({key: value})), key)
            self.refused_profile(self.changed(lambda p, key=key: p.update({key: None})), key)
        for value in (1, 2048, 4097, 3 << 20):
            self.refused_profile(self.changed(lambda p, value=value: p.update(vmm_granularity=value)), "vmm_granularity")
        for value in (-5, 1.5, "x", 10**18, None):
            self.refused_profile(self.changed(lambda p, value=value: p["times_ns"].update(launch=value)), "launch")
        for column in ([], [[4096]], [[4096, 1], [100, 2]], [[4096, -1]], "x", [[4096, 1.5]], [[-1, 5]], [[4096, 2**64 - 1]]):
            self.refused_profile(self.changed(lambda p, column=column: p["calls_ns"]["malloc"].update(idle=column)), "malloc")
        self.refused_profile(cli.PLAIN.read_text().replace("4600", "NaN"))


class Resume(BadInputTest):
    def refused_resume(self, content, *words):
        (self.folder / "run.json").write_bytes(content if isinstance(content, bytes) else content.encode())
        self.refused([*RUN, *SIM, "--allocator", "vmm", "--resume"], "run.json", *words)

    def test_foreign_files(self):
        for content in (b"", b"{", b"[]", b"null", b"{}", b"hello", bytes(range(256)), b'{"schema":"vrambench.profile/1"}',
                        b'{"schema":"vrambench.result/1"}', b'{"schema":"vrambench.result/1","kind":"run","cells":[{}]}'):
            self.refused_resume(content)

    def test_other_versions_and_kinds(self):
        good = self.good()
        self.refused_resume(json.dumps({**good, "schema": "vrambench.result/2"}), "vrambench.result/2")
        self.refused_resume(json.dumps({**good, "kind": "compare"}), "compare")

    def good(self):
        self.succeed(*RUN, *SIM, "--allocator", "vmm")
        return cli.read_json(self.folder / "run.json")

    def test_spoilt_results(self):
        text = json.dumps(self.good())
        for part in (len(text) // 3, len(text) - 2):
            self.refused_resume(text[:part])
        document = self.good()
        document["cells"][0]["repetitions"][0]["index"] = -1
        self.refused_resume(json.dumps(document))
        for count in (-1, 1.5, True, "1", None, 10**30):
            document = self.good()
            document["cells"][0]["repetitions"][0]["metrics"]["driver_calls"]["create"] = count
            self.refused_resume(json.dumps(document), "create" if count != 10**30 else "")
        document = self.good()
        del document["cells"][0]["repetitions"][0]["outcome"]
        self.refused_resume(json.dumps(document))
        document = self.good()
        document["cells"][0]["repetitions"][0]["outcome"]["status"] = "fine"
        self.refused_resume(json.dumps(document))


class BenchmarkFlags(BadInputTest):
    def test_flags_that_would_change_what_is_measured(self):
        for flag in ("min_time=1", "min_time=1s", "min_time=5x", "min_warmup_time=1", "enable_random_interleaving=true",
                     "enable_random_interleaving", "dry_run", "perf_counters=CYCLES"):
            self.refused([*RUN, f"--benchmark_{flag}"], "--benchmark_" + flag.partition("=")[0])

    def test_unknown_flags(self):
        self.refused([*RUN, "--benchmark_fliter=x"], "--benchmark_fliter", "'--benchmark_filter'")
        self.refused([*RUN, "--benchmark_frobnicate"], "--benchmark_frobnicate")

    def test_values(self):
        for value in ("0", "-1", "x", "1.5", "99999999999999999999"):
            self.refused([*RUN, f"--benchmark_repetitions={value}"], "--benchmark_repetitions")
        for flag in ("filter", "filter=", "repetitions", "repetitions=", "out", "out="):
            self.refused([*RUN, f"--benchmark_{flag}"], "--benchmark_" + flag.rstrip("="))
        for flag, value in (("format", "xml"), ("out_format", "xml"), ("time_unit", "parsec")):
            self.refused([*RUN, f"--benchmark_{flag}={value}"], f"--benchmark_{flag}", value)
        for flag in ("format", "out_format", "time_unit", "color", "context", "context=x"):
            self.refused([*RUN, f"--benchmark_{flag}"], "--benchmark_" + flag.partition("=")[0], "value")

    def test_regular_expressions(self):
        for expression in ("(", "[", "a{2", "*", "legacy[", "a**b)("):
            self.refused([*RUN, f"--benchmark_filter={expression}"], "--benchmark_filter")
        self.refused([*RUN, "--benchmark_filter=no-such-cell"], "--benchmark_filter", "no-such-cell")
        self.refused([*RUN, "--benchmark_filter=no-such-cell", "--benchmark_list_tests"], "no-such-cell")

    def test_output_path(self):
        self.refused([*RUN, "--benchmark_out=missing/gb.json"], "missing/gb.json")
        self.refused([*RUN, "--benchmark_out=."], "'.'")


if __name__ == "__main__":
    cli.main()
