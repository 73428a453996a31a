"""What the tests of docs/gates share: a folder with stand-ins for other programs, and tables of cases that must find faults.

A script is run with stand-ins that record their arguments. Each table also runs against copies of the script with a fault.
"""

import copy
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GATES = ROOT / "docs" / "gates"
BENCHCTL = sys.argv.pop()
MISSING = "/nonexistent/program"
SHELLS = [shell for shell in ("/bin/sh", "/bin/bash") if os.path.exists(shell)]
HOSTILE_NAMES = ("", "-o", "a;touch pwned", "$(touch pwned)", "`touch pwned`", 'x", "slots": 2}, {"name": "y', "a b", "a\ntouch pwned", "../up",
                 "n*", "nóde")
HOSTILE_TEXT = "hard: '; touch pwned; ' \" `touch pwned` $(touch pwned) \\ \x1b[31m\u2028 GiB/s"


class Bench:
    """A folder with stand-ins in bin/, in which scripts run."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.bin = self.folder / "bin"
        self.record = self.folder / "record"
        self.bin.mkdir()
        (self.folder / "tmp").mkdir()
        self.stand_in("logger")
        self.stand_in("pgrep", "exit 1")

    def stand_in(self, name, body="", code=0, out="", err=""):
        """Records its words, then does `body` or prints `out` and `err` and exits with `code`."""
        (self.folder / f"{name}.out").write_text(out)
        (self.folder / f"{name}.err").write_text(err)
        path = self.bin / name
        here = shlex.quote(str(self.folder))
        path.write_text(f"#!/bin/sh\n{{ printf '%s' {name}; for word in \"$@\"; do printf '\\037%s' \"$word\"; done; printf '\\036'; }}"
                        f" >>{here}/record\n{body or f'cat {here}/{name}.out; cat {here}/{name}.err >&2; exit {code}'}\n")
        path.chmod(0o755)
        return path

    def calls(self, name):
        text = self.record.read_text() if self.record.exists() else ""
        calls = [call.split("\037") for call in text.split("\036")[:-1]]
        return [words[1:] for words in calls if words[0] == name]

    def run(self, script, *words, shell=SHELLS[0], limit_s=20, **environment):
        self.record.unlink(missing_ok=True)
        return subprocess.run([shell, str(script), *words], cwd=self.folder, capture_output=True, text=True, timeout=limit_s,
                              stdin=subprocess.DEVNULL,
                              env={"PATH": f"{self.bin}:/usr/bin:/bin", "TMPDIR": str(self.folder / "tmp"), **environment})


class GateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bench = Bench(folder.name)
        self.verdict = GATES / "node-verdict"

    def tearDown(self):
        self.assertFalse((self.bench.folder / "pwned").exists(), "a hostile text was executed")

    def with_faults(self, script, faults):
        """Copies of the script in which one text is replaced."""
        text = script.read_text()
        for number, (old, new) in enumerate(faults):
            self.assertIn(old, text, script.name)
            path = self.bench.folder / f"faulty{number}-{script.name}"
            path.write_text(text.replace(old, new))
            yield old, path

    def assert_finds(self, table, script, faults):
        """The table yields nothing wrong with the script, and something with each faulty copy."""
        for shell in SHELLS:
            self.assertEqual(list(table(script, shell)), [], shell)
        for old, faulty in self.with_faults(script, faults):
            self.assertIsNotNone(next(table(faulty, SHELLS[0]), None), f"a fault was not found: {old}")
            (self.bench.folder / "pwned").unlink(missing_ok=True)

    def verdict_of(self, code, text, name="verdict"):
        return str(self.bench.stand_in(name, code=code, out=f"{text}\n" if text else ""))


def with_value(document, path, value):
    changed = copy.deepcopy(document)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed
