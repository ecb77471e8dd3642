"""What the tests of the vrambench command share: running it, reading what it wrote, finding a cell.

Every test file is a program: `python3 file.py PATH-OF-VRAMBENCH [unittest arguments]`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

MIB = 1 << 20
SIX = ["direct", "legacy", "legacy-retry", "async", "vmm", "ideal"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]   # the project
SHIPPED = SOURCE / "device" / "sim" / "profiles" / "h200.json"
PLAIN = SOURCE / "tests" / "fixtures" / "plain.json"   # simple known prices, nothing that a profile may leave out

# Generous: nothing here tests speed, it only ends a test that hangs.
PATIENCE = 120

_binary = None


def main():
    """Takes the command's path off the command line and runs the file's tests."""
    global _binary
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK) or os.path.isdir(sys.argv[1]):
        sys.exit(f"usage: {sys.argv[0]} PATH-OF-VRAMBENCH [unittest arguments]")
    _binary = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__")


def binary():
    """The command's path, for a launcher."""
    return _binary


class Answer:
    """How the command ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def strict_json(text):
    """JSON without the extensions that Python reads: NaN, Infinity, a key twice."""

    def refuse(name):
        raise ValueError(f"{name} is not JSON")

    def once(pairs):
        keys = [k for k, _ in pairs]
        if len(set(keys)) != len(keys):
            raise ValueError(f"a key is given twice: {keys}")
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def read_json(path):
    return strict_json(pathlib.Path(path).read_text(encoding="utf-8"))


def environment(**changes):
    """The caller's variables without what changes the output, with `changes`."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("BENCHMARK_")}
    variables.update(changes)
    return variables


class CommandTest(unittest.TestCase):
    """A test in an empty folder of its own, which is the command's working directory."""

    maxDiff = 4000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vrambench-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def stand_in_children(self):
        """Lets fake_child.py answer as every child; what it is asked goes to self.children."""
        self.children = self.folder / "children"
        self.children.touch()
        fake = pathlib.Path(__file__).with_name("fake_child.py")
        os.environ.update(VRAMBENCH_CHILD_PROGRAM=str(fake), VRAMBENCH=_binary, CHILDREN=str(self.children))
        self.addCleanup(lambda: [os.environ.pop(k, None) for k in ("VRAMBENCH_CHILD_PROGRAM", "MISBEHAVE")])

    def call(self, *arguments, **options):
        """Runs the command to its end."""
        options.setdefault("env", environment())
        done = subprocess.run([_binary, *map(os.fspath, arguments)], cwd=options.pop("cwd", self.folder), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE, check=False, **options)
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *arguments, **options):
        """Starts the command and makes sure that it does not outlive the test."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen([_binary, *map(os.fspath, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   env=environment(), **options)

        def end():
            if process.poll() is None:
                process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def succeed(self, *arguments, code=0, **options):
        answer = self.call(*arguments, **options)
        self.assertEqual(answer.code, code, f"{arguments}: {answer}")
        return answer

    def snapshot(self):
        """Names, kinds, contents and times of change of all in the folder."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            content = path.read_bytes() if path.is_file() and os.access(path, os.R_OK) else None
            found[str(path.relative_to(self.folder))] = (path.lstat().st_mode, path.lstat().st_mtime_ns, content)
        return found

    def refused(self, arguments, *words, **options):
        """Bad input: exit code 2, one clear line that holds these words, nothing else printed, no file changed. Returns the line."""
        before = self.snapshot()
        with self.subTest(arguments=" ".join(map(repr, arguments))):
            answer = self.call(*arguments, **options)
            self.assertEqual(answer.code, 2, str(answer))
            self.assertEqual(answer.out, "", "nothing belongs on stdout")
            lines = answer.err.splitlines()
            self.assertEqual(len(lines), 1, f"one line: {answer}")
            self.assertTrue(answer.err.endswith("\n"), "a whole line")
            self.assertTrue(lines[0].startswith("vrambench: "), lines[0])
            self.assertRegex(lines[0], r"\A[ -~\x80-\U0010ffff]+\Z", "no control characters")
            self.assertNotIn("internal error", lines[0])
            self.assertLess(len(lines[0]), 500)
            for word in words:
                self.assertIn(word, lines[0])
            self.assertEqual(self.snapshot(), before, "files were changed")
            return lines[0]

    def measure(self, *arguments, out="run.json", code=0, **options):
        """`vrambench run`, on the simulator where nothing else is said; the result document."""
        self.succeed("run", *on_simulator(arguments), "--out", out, code=code, **options)
        return read_json(self.folder / out)

    def wait_for(self, condition, process=None):
        """Polls until `condition()`; fails where the process ends before that."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if process is not None and process.poll() is not None:
                self.fail(f"the command ended early: {process.returncode}, {process.communicate()}")
            self.assertLess(time.monotonic(), deadline, "waited in vain")
            time.sleep(0.002)

    def cell(self, document, allocator, limit=None, reference=False, **workload):
        """The one cell of `allocator` (a name, or a spec with keys) at `limit` bytes."""
        found = [c for c in document["cells"]
                 if allocator in (c["allocator"]["name"], c["allocator"]["spec"]) and c["vram_limit_bytes"] == limit and
                 c["reference"] == reference and all(c["workload"][k] == v for k, v in workload.items())]
        self.assertEqual(len(found), 1, f"cells of {allocator}, limit {limit}: {[c['allocator']['spec'] for c in found]}")
        return found[0]

    def completed(self, cell):
        """The metrics of a cell that must have completed."""
        self.assertEqual(cell["outcome"], {"status": "completed"}, cell["allocator"]["spec"])
        return cell["metrics"]


def shipped_free_bytes():
    """What sim:h200 has free."""
    return read_json(SHIPPED)["free_bytes"]


def on_simulator(arguments):
    """`auto` is a GPU where there is one."""
    return list(arguments) if "--device" in arguments else ["--device", "sim:h200", *arguments]


def results_of(cell):
    """What a cell says about its allocator: all that must be the same whenever, wherever and from which source it is run."""
    keys = ("attempted", "completed", "outcome", "metrics", "reached", "cached_blocks_bytes", "hazard_count", "steady")
    passes = [{k: v for k, v in repetition.items() if k not in ("process", "order")}
              for repetition in sorted(cell["repetitions"], key=lambda r: (r["index"], r["pass"]))]
    return {**{k: cell[k] for k in keys}, "repetitions": passes}
