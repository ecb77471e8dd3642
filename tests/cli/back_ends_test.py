#!/usr/bin/env python3
"""The program starts without AMD's runtime: that is loaded, with the module of the back end, when a hip: device is asked for.

The program is copied to a folder of its own, and the module beside it where a test wants that."""

import os
import pathlib
import re
import shutil
import subprocess

import cli

MODULE = "libvrambench_hip.so"
HIP = ("--device", "hip:0")
RUN = ("run", "--workload", "kv-pair:heads=1,head-dim=64,step=512,to=2048", "--benchmark_list_tests=true")


class BackEnds(cli.CommandTest):
    def setUp(self):
        super().setUp()
        self.module = pathlib.Path(cli.binary()).with_name(MODULE)
        if not self.module.exists():
            self.skipTest("HIP is not in this build")
        self.alone = self.folder / "vrambench"
        shutil.copy(cli.binary(), self.alone)

    def ask(self, *arguments, **variables):
        ended = subprocess.run([self.alone, *arguments], cwd=self.folder, env=cli.environment(**variables), stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=cli.PATIENCE, check=False)
        return cli.Answer(ended.returncode, ended.stdout, ended.stderr)

    def refused(self, *words):
        answer = self.ask(*RUN, *HIP)
        self.assertEqual(answer.code, 2, answer)
        self.assertEqual(len(answer.err.splitlines()), 1, answer)
        for word in ("no device 'hip:0': ", "--device sim:h200 needs none", *words):
            self.assertIn(word, answer.err)

    def loaded(self, *arguments):
        """What the dynamic linker opened, in the program and in its child processes."""
        self.ask(*arguments, LD_DEBUG="files", LD_DEBUG_OUTPUT=str(self.folder / "opened"))
        return "".join(p.read_text(errors="replace") for p in self.folder.glob("opened.*"))

    def test_the_program_needs_no_vendors_library(self):
        if not shutil.which("ldd"):
            self.skipTest("there is no ldd")
        needs = subprocess.run(["ldd", cli.binary()], capture_output=True, text=True, timeout=cli.PATIENCE, check=True).stdout
        self.assertIn("libc.so", needs)
        for library in ("amdhip", "musa", "libcuda"):
            self.assertNotIn(library, needs)

    def test_without_the_module(self):
        listed = self.ask("list", "devices")
        self.assertEqual((listed.code, listed.err), (0, ""), listed)
        self.assertRegex(listed.out, r"hip\S* +an AMD GPU\n", "it is in this build, wherever its module is")
        self.refused(f"{MODULE}: cannot open shared object file")
        on_auto = self.ask(*RUN, "--device", "auto")
        self.assertEqual(on_auto.code, 0, on_auto)
        kind = "cuda" if self.ask(*RUN, "--device", "cuda:0").code == 0 else "sim"
        self.assertIn(f"run/{kind}:", on_auto.out)

    def test_without_amds_runtime(self):
        """The module asks for a library that no machine has."""
        text, found = re.subn(rb"libamdhip64\.so\.\d", b"libamdhip64.so.X", self.module.read_bytes())
        self.assertGreater(found, 0)
        (self.folder / MODULE).write_bytes(text)
        self.refused("libamdhip64.so.X: cannot open shared object file")

    def test_the_module_is_opened_only_when_it_is_asked_for(self):
        if os.path.exists("/dev/kfd") or os.path.exists("/dev/dxg"):
            self.skipTest("AMD's driver may be here: auto asks it")
        shutil.copy(self.module, self.folder)
        for arguments in (("list", "devices"), (*RUN, "--device", "sim:h200"), (*RUN, "--device", "auto")):
            self.assertNotIn(MODULE, self.loaded(*arguments))
        self.assertIn(MODULE, self.loaded(*RUN, *HIP), "LD_DEBUG tells it")


if __name__ == "__main__":
    cli.main()
