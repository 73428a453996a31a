"""The files of docs/monitoring fit what `benchctl export prometheus`, nights and trainings write, by promtool's word where it is installed.

    monitoring_test.py BENCHCTL
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MONITORING = ROOT / "docs" / "monitoring"
BENCHCTL = sys.argv.pop()
PROMTOOL = shutil.which("promtool")


def exported():
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "BENCHCTL_DB": f"{folder}/results.sqlite"}
        call = lambda *words: subprocess.run([BENCHCTL, *words], env=environment, cwd=ROOT, capture_output=True,
                                             text=True, check=True).stdout
        call("import", "superbench", "tests/data/importers/superbench/results-summary.jsonl")
        return call("export", "prometheus", "latest")


def gauges_of(text):
    return set(re.findall(r"\bbenchctl_[a-z_]+", text))


class Monitoring(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = exported()
        sources = (ROOT / "src" / name for name in (
            "results/output/run/export.cpp", "results/output/verdicts/night_output.cpp",
            "results/run/training_gauges.cpp"))
        cls.known = {gauge for source in sources for gauge in re.findall(r'"(benchctl_[a-z_]+)"', source.read_text())}

    def test_the_export_holds_values_of_the_run(self):
        self.assertIn("benchctl_run_info", gauges_of(self.text))
        self.assertRegex(self.text, r'benchctl_result_value\{[^\n]*host="sb-01"[^\n]*\} \S+\n')

    def test_rules_and_dashboard_ask_only_for_gauges_that_are_written(self):
        for name in ("alerts.yml", "alerts_test.yml", "dashboard.json"):
            self.assertEqual(gauges_of((MONITORING / name).read_text()) - self.known, set(), name)

    def test_the_dashboard_is_whole(self):
        dashboard = json.loads((MONITORING / "dashboard.json").read_text())
        self.assertEqual(len({panel["id"] for panel in dashboard["panels"]}), len(dashboard["panels"]))
        names = {variable["name"] for variable in dashboard["templating"]["list"]}
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                self.assertLessEqual(set(re.findall(r"\$(\w+)", target["expr"])), names)

    @unittest.skipUnless(PROMTOOL, "promtool is not installed")
    def test_promtool_accepts_the_export(self):
        done = subprocess.run([PROMTOOL, "check", "metrics"], input=self.text, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    @unittest.skipUnless(PROMTOOL, "promtool is not installed")
    def test_promtool_accepts_the_rules_and_each_fires_on_what_it_is_for(self):
        for words in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
            done = subprocess.run([PROMTOOL, *words], cwd=MONITORING, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
