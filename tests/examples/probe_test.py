"""A probe is three files: benchctl plans, runs and reports the sample probe once its schema is among the others."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCHCTL, RANK = sys.argv[1:3]
SUITE = {"suite": "atomics", "cases": [{"name": "atomics", "probe": "atomic_add", "params": {"threads": [1]}}]}


class SampleProbe(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("schemas", "suites", "hosts", "rulesets"):
            shutil.copytree(ROOT / name, self.root / name)
        shutil.copy(ROOT / "docs/examples/probe/atomic_add.json", self.root / "schemas/probes")
        (self.root / "suites/atomics.json").write_text(json.dumps(SUITE))
        (self.root / "bin").mkdir()
        shutil.copy(BENCHCTL, self.root / "bin/benchctl")
        shutil.copy(RANK, self.root / "bin/bench-rank")

    def benchctl(self, *arguments):
        return subprocess.run([self.root / "bin/benchctl", *arguments], capture_output=True, text=True, cwd=self.root)

    def run_suite(self, *arguments):
        result = self.benchctl("run", "atomics", "--db", str(self.root / "results.sqlite"), "--json", *arguments)
        return result, json.loads(result.stdout)

    def test_the_probe_and_its_metric_are_listed(self):
        self.assertIn("atomic_add", self.benchctl("list", "probes").stdout)
        self.assertIn("atomic_add.throughput", self.benchctl("list", "metrics").stdout)

    def test_a_suite_runs_it_and_reports_its_metric(self):
        result, report = self.run_suite()
        measured = [row for row in report["results"] if row["metric"] == "atomic_add.throughput" and row["outcome"] == "ok"]
        self.assertTrue(measured, result.stdout + result.stderr)
        self.assertGreater(measured[0]["median"], 0)
        self.assertEqual(measured[0]["unit"], "OP/s")

    def test_its_check_finds_the_injected_fault(self):
        result, report = self.run_suite("--set", "atomics.lost=1")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("invalid", {row["outcome"] for row in report["results"]})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
