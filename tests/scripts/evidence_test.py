"""scripts/evidence keeps what a check printed, and keeps nothing from a check that failed."""

import importlib.machinery
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

EVIDENCE = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "evidence"

sys.dont_write_bytecode = True  # scripts lie beside what would be written
sys.path.insert(0, f"{EVIDENCE}.d")
from common import steps_to  # noqa: E402


class Evidence(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "scripts" / "evidence.d").mkdir(parents=True)
        shutil.copy(EVIDENCE, self.root / "scripts" / "evidence")

    def tearDown(self):
        self.folder.cleanup()

    def run_check(self, body, name="sample"):
        check = self.root / "scripts" / "evidence.d" / "sample"
        check.write_text(f"#!/bin/sh\n# Says something small.\n{body}\n")
        check.chmod(0o755)
        command = [self.root / "scripts" / "evidence"] + ([name] if name else [])
        return subprocess.run(command, capture_output=True, text=True)

    def kept(self):
        return self.root / "docs" / "evidence" / "sample.json"

    def test_what_mutations_take_away_and_the_tests_that_must_notice_are_there(self):
        loader = importlib.machinery.SourceFileLoader("mutations", f"{EVIDENCE}.d/mutations")
        mutations = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutations", loader))
        loader.exec_module(mutations)
        root = EVIDENCE.parents[1]
        titles = "\n".join(path.read_text() for path in (root / "tests").rglob("*_test.cpp"))
        for fault, file, text, instead, _, test in mutations.MUTATIONS:
            self.assertEqual((root / file).read_text().count(text), 1, fault)
            self.assertNotEqual(text, instead)
            self.assertIn('"' + test.rstrip("*"), titles, fault)

    def test_what_a_check_prints_is_kept_with_where_and_when(self):
        done = self.run_check("""echo '{"answer": 42}'""")
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = json.loads(self.kept().read_text())
        self.assertEqual(kept["result"], {"answer": 42})
        self.assertEqual(kept["command"], "scripts/evidence sample")
        self.assertEqual(kept["what"], "Says something small.")
        for key in ("cpu_model", "cores", "kernel"):
            self.assertTrue(kept["machine"][key])
        # This tree is no git checkout, and that is said, not guessed.
        self.assertIsNone(kept["commit"])
        self.assertIsNone(kept["dirty"])

    def test_nothing_is_kept_of_a_check_that_failed(self):
        done = self.run_check("""echo '{"answer": 42}'; exit 3""")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ended with 3", done.stderr)
        self.assertFalse(self.kept().exists())

    def test_nothing_is_kept_of_talk_that_is_no_json(self):
        done = self.run_check("echo all is well")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(self.kept().exists())

    def test_an_unknown_name_is_refused_with_the_known_ones(self):
        done = self.run_check("echo '{}'", name="smaple")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sample", done.stderr)

    def test_without_a_name_it_lists_what_there_is(self):
        done = self.run_check("echo '{}'", name=None)
        self.assertIn("sample           Says something small.", done.stdout)


class StepsToATarget(unittest.TestCase):
    def test_they_are_interpolated_between_the_looks_around_it(self):
        self.assertEqual(steps_to(0.5, [(100, 0.9), (200, 0.75), (300, 0.25), (400, 0.6)]), 250)
        self.assertEqual(steps_to(0.5, [(100, 0.9), (200, 0.5)]), 200)

    def test_a_first_look_that_reaches_it_counts_as_it_is(self):
        self.assertEqual(steps_to(0.5, [(100, 0.4), (200, 0.3)]), 100)

    def test_there_are_none_where_no_look_reaches_it(self):
        self.assertIsNone(steps_to(0.5, [(100, 0.9), (200, 0.6)]))
        self.assertIsNone(steps_to(0.5, []))


if __name__ == "__main__":
    unittest.main()
