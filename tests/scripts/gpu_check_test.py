"""scripts/gpu_check on a machine without a GPU: it says so with the real benchctl, and judges what a double of it reports."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "scripts" / "gpu_check"
sys.path.insert(0, f"{CHECK}.d")
import installed_peers as peers  # noqa: E402

# Prints SUITE.json beside it; where there is SUITE.slow, waits to be interrupted first.
BENCHCTL = """#!/usr/bin/env python3
import pathlib, signal, sys
suite = pathlib.Path(__file__).with_name(sys.argv[2])
if suite.with_suffix(".slow").exists():
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.pause()
print(suite.with_suffix(".json").read_text())
"""
NVBANDWIDTH = {"nvbandwidth": {"version": "0.8", "testcases": [
    {"name": "host_to_device_memcpy_ce", "status": "Passed", "bandwidth_matrix": [["50.00", "49.00"]]},
    {"name": "device_to_host_memcpy_ce", "status": "Waived", "bandwidth_matrix": [["N/A"]]}]}}
NCCL = """# nThread 1 nGpus 4 minBytes 268435456
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
   268435456      67108864     float     sum      -1   1200.0  223.70  400.00      0   1190.0  225.58  410.00      0
# Out of bounds values : 0 OK
"""


def result(case, metric, outcome="ok", check=True, reason=None, median=1.0, ranks=1, **params):
    return {"case": case, "metric": metric, "outcome": outcome, "reason": reason, "n": 20, "median": median, "ranks": ranks,
            "unit": "B/s", "of_limit": None, "params": params, "check": {"method": "exact"} if check else None}


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.script("benchctl", BENCHCTL)
        copy = result("copies", "copy.bandwidth", median=55e9, route="host_to_device", memory="pinned", size_bytes=268435456)
        peer = result("copies", "copy.bandwidth", "skipped", reason="this host has no other device", route="peer_write")
        sums = result("all_reduce", "collective.busbw", median=440e9, ranks=4, op="all_reduce", dtype="f32", in_place=False,
                      size_bytes=268435456)
        many = result("all_reduce", None, "skipped", reason="no device for rank 4 of this host, which has 4")
        trained = result("together", "training.step_time", check=False, ranks=4, dtype="bf16")
        self.suites = {"gpu": [copy, peer], "collectives_gpu": [sums, many], "training_gpu": [trained],
                       "gpu_faults": [result("copies", "copy.bandwidth", "invalid", route="host_to_device")]}

    def script(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def check(self, *options, program=None):
        for suite, results in self.suites.items():
            (self.folder / f"{suite}.json").write_text(json.dumps({"results": results}))
        output = self.folder / "record.json"
        done = subprocess.run([sys.executable, CHECK, "--program", program or self.folder, "--rounds", "0", "--output", output, *options],
                              capture_output=True, text=True, env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        return done, json.loads(output.read_text()) if output.exists() else None

    def test_without_a_gpu_the_real_benchctl_says_why_and_nothing_is_written(self):
        done, record = self.check(program=os.environ["BENCH_PROGRAMS"])
        if record is not None:
            self.skipTest("there is a GPU here")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, "nothing could be measured here: .*(no device|no CUDA build|driver)")

    def test_what_held_passes_and_what_this_machine_cannot_show_is_listed(self):
        done, record = self.check()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(record["passed"])
        self.assertEqual(set(record["not_shown"]), {"this host has no other device", "no device for rank 4 of this host, which has 4"})
        self.assertIn("cannot be shown here: this host has no other device: copies copy.bandwidth peer_write", done.stdout)
        self.assertIn("not compared with nvbandwidth: not on the PATH", done.stdout)

    def test_peers_on_the_path_stand_beside_our_best(self):
        self.script("nvbandwidth", f"#!/bin/sh\ncat <<'END'\n{json.dumps(NVBANDWIDTH)}\nEND\n")
        self.script("all_reduce_perf", f"#!/bin/sh\ncat <<'END'\n{NCCL}END\necho \"$@\" > {self.folder}/words\n")
        done, record = self.check()
        ratios = {row["peer"]: row["ratio"] for row in record["peers"] if row["peer"] != "PyTorch"}
        self.assertEqual(ratios, {"nvbandwidth": 1.1, "nccl-tests": 1.1})
        self.assertEqual((self.folder / "words").read_text().split()[-2:], ["-g", "4"])
        self.assertIn("1.100 x nccl-tests", done.stdout)

    def test_a_fault_that_is_not_caught_fails_and_is_named(self):
        self.suites["gpu_faults"].append(result("burn", "burn.gemm_rate"))
        done, record = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("fault not caught: burn burn.gemm_rate", done.stdout)
        self.assertFalse(record["passed"])

    def test_a_series_that_nobody_verified_or_that_is_wrong_fails(self):
        self.suites["gpu"].append(result("products", "gemm.throughput", check=False))
        self.assertEqual(self.check()[0].returncode, 1)
        self.suites["gpu"][-1] = result("products", "gemm.throughput", "invalid", reason="9 bits differ")
        done, _ = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("went wrong: products gemm.throughput: invalid: 9 bits differ", done.stdout)

    def test_gpus_whose_gradients_are_not_those_of_one_fail(self):
        self.suites["training_gpu"].append(result("together", "training.step_time", "invalid", check=False,
                                                  reason="gradient_exchange: the gradient of 4 ranks is 0.5 away"))
        done, _ = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("went wrong: together training.step_time: invalid: gradient_exchange", done.stdout)

    def test_it_ends_in_its_time_says_what_did_not_fit_and_passes_nothing(self):
        (self.folder / "gpu.slow").touch()
        self.suites["gpu"].append(result("sustained", None, "skipped", reason="interrupted while it ran"))
        began = time.monotonic()
        done, record = self.check("--seconds", "2")
        self.assertLess(time.monotonic() - began, 6)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("suite gpu: sustained", record["out_of_time"])
        self.assertFalse(record["passed"])
        self.assertNotIn("interrupted while it ran", record["not_shown"])

    def test_wrong_sums_and_other_lines_of_nccl_tests_are_no_results(self):
        self.assertEqual([row["value"] for row in peers.nccl_rows(NCCL, 4)], [400e9])
        self.assertEqual(peers.nccl_rows(NCCL.replace("400.00      0", "400.00      7"), 4), [])
        self.assertEqual(peers.nccl_rows("n1:1:1 [0] NCCL INFO Channel 00/16 : 0 1 2 3\n", 4), [])


if __name__ == "__main__":
    unittest.main()
