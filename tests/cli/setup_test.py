#!/usr/bin/env python3
"""scripts/setup.sh: what it says while it configures and builds, with a cmake that only pretends."""

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


if __name__ == "__main__":
    cli.main()
