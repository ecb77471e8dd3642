#!/usr/bin/env python3
"""scripts/setup.sh: what it says while it configures and builds, with a cmake that only pretends. The --help of all scripts."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import cli

# "--build" compiles three files in some seconds, the second of which takes long.
PRETENDS = """#!/bin/sh
case "$*" in
    *--build*) echo "[1/3] one"; sleep 3; echo "[2/3] two"; [ ! -e fails ] || { echo "error: no such thing"; exit 1; }; echo "[3/3] three" ;;
    *) echo "-- configured" ;;
esac
"""


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vrambench-setup-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "scripts").mkdir()
        shutil.copy(cli.SOURCE / "scripts" / "setup.sh", self.folder / "scripts")
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "cmake").write_text(PRETENDS)
        (self.folder / "bin" / "cmake").chmod(0o755)

    def build(self):
        script = f'set -u; . "{self.folder}/scripts/setup.sh"; seconds_between_lines=1; configure_and_build OFF vrambench'
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(["bash", "-c", script], env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=cli.PATIENCE, check=False)

    def test_a_line_for_each_stage_and_while_one_takes_long(self):
        done = self.build()
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertNotIn("\r", done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(lines[0], "configuring (log: build/setup.log)")
        self.assertIn("building build/vrambench, some minutes the first time", lines)
        self.assertTrue(any(line.startswith("building 1 of 3, for ") for line in lines), done.stderr)
        self.assertIn("[3/3] three", (self.folder / "build" / "setup.log").read_text())

    def test_a_stage_that_fails_shows_its_log(self):
        (self.folder / "fails").touch()
        done = self.build()
        self.assertEqual(done.returncode, 3)
        self.assertIn("error: no such thing", done.stderr)
        self.assertIn("building failed; the whole log is", done.stderr)


class Help(unittest.TestCase):
    def test_every_script_explains_itself_and_does_nothing(self):
        scripts = [p for p in sorted((cli.SOURCE / "scripts").iterdir()) if p.suffix != ".sh" and p.is_file()]
        self.assertGreater(len(scripts), 10)
        before = (cli.SOURCE / "README.md").read_bytes()
        for script in scripts:
            with self.subTest(script=script.name):
                done = subprocess.run([script, "--help"], env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=cli.PATIENCE, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, rf"usage: (scripts/)?{script.name} ")
        self.assertEqual((cli.SOURCE / "README.md").read_bytes(), before)


class Bench(unittest.TestCase):
    """With a cmake and a vrambench that only write down how they were called."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vrambench-bench-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "scripts").mkdir()
        for name in ("bench", "test", "setup.sh"):
            shutil.copy(cli.SOURCE / "scripts" / name, self.folder / "scripts")
        self.calls = self.folder / "calls"
        for program in ("bin/cmake", "bin/ctest", "build/vrambench"):
            path = self.folder / program
            path.parent.mkdir(exist_ok=True)
            path.write_text(f'#!/bin/sh\necho "$(basename "$0") $*" >>"{self.calls}"\n')
            path.chmod(0o755)

    def script(self, name, *arguments):
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run([self.folder / "scripts" / name, *arguments], env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=cli.PATIENCE, check=False)

    def called(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def test_help_builds_nothing(self):
        for words in (("bench", "--help"), ("bench", "--decide", "--help"), ("bench", "-h", "--decide"), ("test", "--help"), ("test", "-h")):
            done = self.script(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            for part in (f"usage: scripts/{words[0]}", "--help, -h", "Examples:", "Exit codes: "):
                self.assertIn(part, done.stdout, words)
            self.assertNotRegex(done.stdout, r"(?m)^#|^set ", words)
        self.assertEqual(self.called(), [])

    def test_decide_wherever_it_stands(self):
        for words in (("--decide", "--device", "cuda:1"), ("--device", "cuda:1", "--decide")):
            self.calls.unlink(missing_ok=True)
            done = self.script("bench", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            runs = [c for c in self.called() if c.startswith("vrambench run ")]
            self.assertEqual(len(runs), 3, self.called())
            for run in runs:
                self.assertTrue(run.endswith(" --device cuda:1"), run)
                self.assertNotIn("--decide", run)
            self.assertTrue(self.called()[-1].startswith("vrambench recommend "), self.called())

    def test_decide_has_a_set_of_its_own(self):
        for words in (("--quick", "--decide"), ("--decide", "--quick"), ("--decide", "--full")):
            done = self.script("bench", *words)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, "--decide measures what a decision needs: drop --quick and --full\n")
        self.assertEqual(self.called(), [])

    def test_without_decide_it_is_a_run(self):
        self.assertEqual(self.script("bench", "--quick").returncode, 0)
        self.assertRegex(self.called()[-1], r"\Avrambench run --out \S+/results/local/run-\S+\.json --quick\Z")


if __name__ == "__main__":
    cli.main()
