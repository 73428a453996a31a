"""The comparison of telemetry on and off judges what it is given, and says when that is too little."""

import math
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "gpu_check.d"))
import telemetry_overhead as overhead  # noqa: E402


def result(case, values, outcome="ok", threads=1):
    return {"metric": "gemm.throughput", "outcome": outcome, "case": case, "values": values,
            "params": {"dtype": "f32", "m": 512, "threads": threads}}


class Overhead(unittest.TestCase):
    def test_the_interval_of_a_median_is_that_of_the_tables(self):
        self.assertIsNone(overhead.median_interval([1, 2, 3, 4, 5]))  # five values have none at 95 %
        self.assertEqual(overhead.median_interval([6, 5, 4, 3, 2, 1]), (1, 6))
        self.assertEqual(overhead.median_interval(list(range(1, 21))), (6, 15))

    def test_the_fewest_rounds_are_those_that_have_an_interval(self):
        self.assertIsNone(overhead.median_interval([1.0] * (overhead.FEWEST_ROUNDS - 1)))
        self.assertIsNotNone(overhead.median_interval([1.0] * overhead.FEWEST_ROUNDS))

    def compare(self, rounds, left=lambda: math.inf):
        with mock.patch.object(overhead, "one_round", side_effect=rounds):
            return overhead.compare(None, None, "host", 8, 1.0, lambda text: None, left)

    def test_a_round_that_fails_is_the_last_and_says_why(self):
        good = ({'{"m": 512}': 1.001}, [0.0])
        for error in (RuntimeError("no run"), subprocess.CalledProcessError(2, "export"), OSError("disk full"), KeyError("values")):
            record = self.compare([good] * 7 + [error])
            self.assertEqual((record["rounds"], record["verdict"]), (7, "failed"))
            self.assertRegex(record["problem"], f"round 8 of 8: {type(error).__name__}: .+")
            self.assertEqual(record["series"][0]["rounds"], 7)

    def test_rounds_end_with_the_time(self):
        good = ({'{"m": 512}': 1.001}, [0.0])
        left = iter([100.0, 50.0, 3.9])
        record = self.compare([good] * 8, lambda: next(left))
        self.assertEqual((record["rounds"], record["problem"], record["verdict"]), (2, None, "inconclusive"))
        record = self.compare([good, subprocess.TimeoutExpired("benchctl", 5)], lambda: 5.0)
        self.assertEqual((record["rounds"], record["problem"]), (1, None))
        self.assertEqual(self.compare([good] * 8)["verdict"], "below")

    def test_a_cost_is_below_above_or_not_shown(self):
        near = [1.001 + 0.0001 * i for i in range(11)]
        self.assertEqual(overhead.judge(near)["verdict"], "below")
        self.assertEqual(overhead.judge([r + 0.02 for r in near])["verdict"], "above")
        self.assertEqual(overhead.judge([1.0 + 0.01 * (-1) ** i for i in range(12)])["verdict"], "inconclusive")
        self.assertEqual(overhead.judge([1.0, 1.0])["verdict"], "inconclusive")
        self.assertAlmostEqual(overhead.judge(near)["overhead"], 0.0015)

    def test_a_disturbed_sample_counts(self):
        calm, disturbed = [100.0] * 100, [100.0] * 99 + [50.0]
        ratio = overhead.pairs([result("on", disturbed), result("off", calm)])
        self.assertAlmostEqual(list(ratio.values())[0], 1.01)  # a median would say 1

    def test_only_pairs_are_compared(self):
        self.assertEqual(overhead.pairs([result("on", [1.0]), result("off", [1.0], outcome="invalid")]), {})
        self.assertEqual(overhead.pairs([result("on", [1.0]), result("off", [1.0], threads=2)]), {})
        self.assertEqual(overhead.pairs([result("on", [None]), result("off", [1.0])]), {})

    def test_what_the_sampler_took_is_read_from_the_spool(self):
        spool = ['{"kind": "facts", "body": {"topic": "telemetry", "facts": {"cpu_s": 0.002, "cpu_share": 0.001}}}',
                 '{"kind": "facts", "body": {"topic": "telemetry", "facts": {"problem": "a source hangs"}}}',
                 '{"kind": "facts", "body": {"topic": "host", "facts": {"cpu_share": 0.9}}}',
                 '{"kind": "outcome", "body": {"status": "ok"}}']
        self.assertEqual(overhead.sampler_shares(spool), [0.001])

    def test_the_order_of_the_two_changes_and_nothing_else(self):
        for device in ("host", "cuda"):
            first, second = (overhead.suite(device, on, 1.0) for on in (True, False))
            self.assertEqual([c["name"] for c in first["cases"]], ["on", "off"])
            self.assertEqual([c["name"] for c in second["cases"]], ["off", "on"])
            self.assertEqual(first["cases"], second["cases"][::-1])


if __name__ == "__main__":
    unittest.main()
