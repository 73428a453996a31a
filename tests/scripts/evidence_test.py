"""scripts/evidence keeps what a check printed, and keeps nothing from a check that failed."""

import importlib.machinery
import importlib.util
import json
import os
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


def script(path, name):
    """A script without .py as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class Evidence(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "scripts" / "evidence.d").mkdir(parents=True)
        shutil.copy(EVIDENCE, self.root / "scripts" / "evidence")

    def tearDown(self):
        self.folder.cleanup()

    def run_check(self, body, name="sample", before=(), **settings):
        check = self.root / "scripts" / "evidence.d" / "sample"
        check.write_text(f"#!/bin/sh\n# Says something small.\n{body}\n")
        check.chmod(0o755)
        command = [self.root / "scripts" / "evidence", *before] + ([name] if name else [])
        return subprocess.run(command, capture_output=True, text=True, env=os.environ | settings)

    def kept(self):
        return self.root / "docs" / "evidence" / "sample.json"

    def test_what_mutations_take_away_and_the_tests_that_must_notice_are_there(self):
        mutations = script(f"{EVIDENCE}.d/mutations", "mutations")
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

    def test_each_generation_of_cpus_has_a_file_of_its_own(self):
        done = self.run_check("echo '{}'", before=["--per-cpu"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(self.kept().exists())
        [kept] = self.kept().parent.iterdir()
        record = json.loads(kept.read_text())
        self.assertEqual(kept.name, f"sample_{record['machine']['cpu_generation']}.json")
        self.assertEqual(record["command"], "scripts/evidence --per-cpu sample")

    def test_a_generation_is_known_by_numbers(self):
        def named(vendor, family, model):
            return generation(f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: x\n")
        generation = script(EVIDENCE, "evidence").cpu_generation
        self.assertEqual(named("AuthenticAMD", 25, 1), "zen3")
        self.assertEqual(named("AuthenticAMD", 25, 17), "zen4")
        self.assertEqual(named("GenuineIntel", 6, 207), "emerald_rapids")
        self.assertEqual(named("GenuineIntel", 6, 63), "haswell_ep")
        self.assertEqual(named("GenuineIntel", 6, 79), "broadwell_ep")
        self.assertEqual(named("GenuineIntel", 25, 1), "family_25_model_1")
        self.assertEqual(generation("CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n"), "neoverse_v2")
        self.assertEqual(generation("CPU part\t: 0x123\n"), "arm_0x123")

    def test_settings_are_kept_without_the_paths_of_a_machine(self):
        self.run_check("echo '{}'", BENCH_ROUNDS="3", BENCH_PYTORCH="/opt/python/bin/python3")
        settings = json.loads(self.kept().read_text())["settings"]
        self.assertIn("BENCH_ROUNDS=3", settings)
        self.assertIn("BENCH_PYTORCH", settings)

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
