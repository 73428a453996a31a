"""scripts/mlperf_rules on a small checker: each construct of its rules, its reference points, and that what it does not know is refused."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
META = "_ALL_RESULT_FILE_COUNTS = {'training': {'small': 10, 'other': 3}}\n"
FILES = {
    "common": """
- BEGIN:
    CODE: >
        s.update({'started': False, 'first': 9e99})
- KEY:
    NAME: submission_division
    REQ: EXACTLY_ONE
    CHECK: " v['value'] in ['closed', 'open'] "
    POST: " enqueue_config('training_9.0.0/{}_common.yaml'.format(v['value'])); s['minutes'] = 240 if v['value'] == 'open' else 30 "
- KEY:
    NAME: cache_clear
    REQ: AT_LEAST_ONE
    CHECK:
        - "'value' in v"
- KEY:
    NAME: init_stop
    REQ: AT_LEAST_ONE_OR(block_stop)
    CHECK: "not s['started'] and ll.timestamp - min(s['first'], ll.timestamp) < s['minutes'] * 60"
- KEY:
    NAME: precision
    REQ: OPTIONAL
""",
    "closed_common": """
- KEY:
    NAME: submission_benchmark
    REQ: EXACTLY_ONE
    POST: " enqueue_config('training_9.0.0/closed_{}.yaml'.format(v['value'])) "
""",
    "closed_small": """
- BEGIN:
    CODE: " s.update({'target': 0.75, 'next': None}) "
- KEY:
    NAME: global_batch_size
    REQ: EXACTLY_ONE
    POST: |
        # in steps
        s['step'] = max(1, int(math.ceil(1000 / v['value']))) * v['value']
- KEY:
    NAME: opt_base_learning_rate
    REQ: EXACTLY_ONE
    CHECK: " s.get('low') is not None and s['low'] * (1 - 1e-9) <= v['value'] <= 1_000 "
- KEY:
    NAME: eval_accuracy
    REQ: AT_LEAST_ONE
    CHECK:
        - "('samples_count' in v['metadata']) | ('epoch_num' in v['metadata'])"
        - "v['metadata']['samples_count'] % s['step'] == 0 if 'samples_count' in v['metadata'] else True"
    POST: |
        if v['value'] == s['next']:
            s['next'] += s['step']
    FIRST_CHECK: " v['value'] != -1 "
    ATLEAST_ONE_CHECK: "v['value'] >= s['target'] and v['value'] <= 1.0"
""",
}


@unittest.skipUnless(yaml, "python3's yaml is not installed")
class Rules(unittest.TestCase):
    def derived(self, *options, rcps=None, **changes):
        """With `rcps`, the points of benchmarks, the answer has what --rcps wrote as `points`, None for no file."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "mlperf_logging" / "compliance_checker" / "training_9.0.0"
            folder.mkdir(parents=True)
            (folder.parents[1] / "benchmark_meta.py").write_text(META)
            for stem, text in {**FILES, **changes}.items():
                (folder / f"{stem}.yaml").write_text(text)
            (pathlib.Path(name) / "mlperf_logging-4.1.99.dist-info").mkdir()
            points = pathlib.Path(name) / "points.json"
            if rcps is not None:
                options = ["--rcps", points, *options]
                (folder.parents[1] / "rcp_checker" / "training_9.0.0").mkdir(parents=True)
                for benchmark, records in rcps.items():
                    (folder.parents[1] / "rcp_checker" / "training_9.0.0" / f"rcps_{benchmark}.json").write_text(json.dumps(records))
            done = subprocess.run([sys.executable, ROOT / "scripts" / "mlperf_rules", "9.0.0", "--from", name, *options],
                                  capture_output=True, text=True)
            done.points = json.loads(points.read_text()) if points.exists() else None
            return done

    def test_each_construct_has_its_place(self):
        done = self.derived()
        self.assertEqual(done.returncode, 0, done.stderr)
        rules = json.loads(done.stdout)
        self.assertIn("4.1.99", rules["source"])
        self.assertEqual(rules["benchmarks"], {"small": {"runs": 10, "progress": "samples_count", "target": 0.75, "better": "higher"}})
        self.assertEqual(set(rules["sections"]), {"common", "closed", "closed/small"})
        common = rules["sections"]["common"]
        self.assertEqual(common["begin"], {"started": False, "first": 9e99})
        self.assertEqual(common["keys"], {
            "submission_division": {"check": "value in ['closed', 'open']", "continue": "{value}",
                                    "after": ["minutes = 240 if (value == 'open') else 30"]},
            "cache_clear": {"count": "at_least_one"},
            "init_stop": {"count": "any", "or": "block_stop",
                          "check": "(not state.started) and ((time_ms - min(state.first, time_ms)) < (state.minutes * 60))"},
            "precision": {"count": "any"}})
        self.assertEqual(rules["sections"]["closed"]["keys"], {"submission_benchmark": {"continue": "closed/{value}"}})
        small = rules["sections"]["closed/small"]
        self.assertEqual(small["begin"], {"target": 0.75, "next": None, "low": None})
        self.assertEqual(small["keys"], {
            "global_batch_size": {"after": ["step = max(1, int(ceil(1000 / value))) * value"]},
            "opt_base_learning_rate": "(state.low != none) and ((state.low * (1 - 1e-09)) <= value <= 1000)",
            "eval_accuracy": {
                "count": "at_least_one",
                "check": ["('samples_count' in metadata) or ('epoch_num' in metadata)",
                          "((metadata.samples_count % state.step) == 0) if ('samples_count' in metadata) else true"],
                "first": "value != (-1)",
                "some": "(value >= state.target) and (value <= 1.0)",
                "after": ["next = state.next + state.step if (value == state.next) else state.next"]}})

    def test_reference_points_of_the_same_package_are_written(self):
        records = {"b": {"BS": 64, "samples to converge": [10, 40, 20, 30]}, "a": {"BS": 32, "samples to converge": [7, 7, 7]}}
        done = self.derived(rcps={"dlrmv4": records})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("small", json.loads(done.stdout)["benchmarks"])
        self.assertEqual(done.points["ruleset"], "9.0.0")
        self.assertEqual(done.points["source"], "mlperf_logging 4.1.99, rcp_checker/training_9.0.0 (Apache-2.0)")
        dlrm = done.points["benchmarks"]["dlrmv4"]
        self.assertEqual((dlrm["runs"], dlrm["unit"]), (10, "samples"))
        self.assertEqual(dlrm["points"][0], {"name": "a", "batch": 32, "n": 3, "mean": 7.0, "stdev": 0.0})
        self.assertEqual((dlrm["points"][1]["batch"], dlrm["points"][1]["mean"]), (64, 25.0))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as earlier:
            json.dump(done.points, earlier)
            earlier.flush()
            again = self.derived("--earlier", f"8.0.0={earlier.name}", rcps={"dlrmv4": records})
        self.assertEqual(again.points["benchmarks"], {"dlrmv4": {"as": "8.0.0"}})

    def test_missing_or_unknown_reference_points_are_refused(self):
        for rcps, said in (({}, "no rcps_BENCHMARK.json"), ({"small": {}}, "rcps_small.json: 'small' is unknown")):
            done = self.derived(rcps=rcps)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
            self.assertIsNone(done.points)
        self.assertIn("--rcps", self.derived("--earlier", "8.0.0=x").stderr)

    def test_what_the_rule_language_lacks_is_refused_with_its_place(self):
        for code in ("len(v['value']) > 3", "[x for x in v['value']]", "v['value'].startswith('a')", "s['a'][0] > 1", "v['value'] not in [1]",
                     "v['value'] // 2 == 1", "v['value'] >"):
            done = self.derived(closed_other=f'- KEY:\n    NAME: odd\n    REQ: EXACTLY_ONE\n    CHECK: "{code}"\n')
            self.assertNotEqual(done.returncode, 0, code)
            self.assertIn("closed_other.yaml: odd:", done.stderr, code)
        for more, said in (("REQ: TWICE", "TWICE"), ("PRE: \"s['n'] = 0\"", "PRE"), ("POST: \"s['n'] = 0; print(s)\"", "Expr"),
                           ("POST: |\n        if v['value']:\n            s['a'] = 1\n            s['b'] = 1", "unpack")):
            done = self.derived(closed_other=f"- KEY:\n    NAME: odd\n    {more}\n")
            self.assertIn("closed_other.yaml: odd:", done.stderr, more)
            self.assertIn(said, done.stderr, more)
        self.assertIn("closed_other.yaml: END", self.derived(closed_other="- END:\n    PRE: ''\n").stderr)


if __name__ == "__main__":
    unittest.main()
