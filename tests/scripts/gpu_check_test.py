"""scripts/gpu_check on a machine without a GPU: it says so with the real benchctl, and judges what a double of it reports."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = ROOT / "scripts" / "gpu_check"
sys.path.insert(0, f"{CHECK}.d")
import installed_peers as peers  # noqa: E402
import timed_steps  # noqa: E402
import training  # noqa: E402

# Prints SUITE.json beside it; where there is SUITE.slow, waits to be interrupted first; where there is SUITE.broken, prints none.
BENCHCTL = """#!/usr/bin/env python3
import pathlib, shutil, signal, sys
suite = pathlib.Path(__file__).with_name(sys.argv[2])
suite.with_suffix(".python").write_text(shutil.which("python3"))
if suite.with_suffix(".broken").exists():
    sys.exit("lost the GPU")
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


def script_module(path):
    """A script without .py as a module."""
    loader = importlib.machinery.SourceFileLoader(path.stem, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.stem, loader))
    loader.exec_module(module)
    return module


def module_with_torch(name):
    """A part that imports PyTorch, with a make-believe one, which sees a GPU."""
    torch = mock.MagicMock()
    with mock.patch.dict(sys.modules, {"torch": torch, "torch_models": mock.MagicMock()}):
        with mock.patch("builtins.print"):
            return script_module(pathlib.Path(f"{CHECK}.d") / f"{name}.py"), torch


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
        many = result("all_reduce", None, "skipped", reason="no device for rank 4: this host has 4")
        trained = result("together", "training.step_time", check=False, ranks=4, dtype="bf16")
        self.suites = {"gpu": [copy, peer], "collectives_gpu": [sums, many], "training_gpu": [trained],
                       "gpu_faults": [result("copies", "copy.bandwidth", "invalid", route="host_to_device")]}

    def script(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def check(self, *options, program=None, python=sys.executable, rounds="0"):
        for suite, results in self.suites.items():
            (self.folder / f"{suite}.json").write_text(json.dumps({"results": results}))
        output = self.folder / "record.json"
        done = subprocess.run([python, CHECK, "--program", program or self.folder, "--rounds", rounds, "--output", output, *options],
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
        self.assertEqual(set(record["not_shown"]), {"this host has no other device", "no device for rank 4: this host has 4"})
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
        self.suites["gpu"].append(result("sustained", None, "skipped", reason="interrupted while running"))
        began = time.monotonic()
        done, record = self.check("--seconds", "2")
        self.assertLess(time.monotonic() - began, 6)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("suite gpu: sustained", record["out_of_time"])
        self.assertFalse(record["passed"])
        self.assertNotIn("interrupted while running", record["not_shown"])

    def test_a_suite_without_a_report_fails_and_the_others_are_kept(self):
        for broken, kept in (("gpu", "collectives"), ("collectives_gpu", "report"), ("gpu_faults", "report")):
            with self.subTest(broken):
                (self.folder / f"{broken}.broken").touch()
                done, record = self.check()
                (self.folder / f"{broken}.broken").unlink()
                self.assertEqual(done.returncode, 1, done.stderr)
                why = f"suite {broken}: RuntimeError: benchctl run {broken} ended with 1 and printed no report"
                self.assertEqual(record["bad"], [why])
                self.assertIn(f"went wrong: suite {broken}", done.stdout)
                self.assertTrue(record[kept]["results"])

    def test_a_report_that_cannot_be_read_fails_its_step_and_no_other(self):
        self.suites["gpu"].append({"case": "products", "reason": None})
        done, record = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("suite gpu: KeyError: 'outcome'", record["bad"])
        self.assertTrue(record["collectives"]["results"])
        self.assertEqual(record["faults_caught"], 1)

    def test_telemetry_that_cannot_be_compared_fails_with_the_reason_and_the_rest_is_kept(self):
        done, record = self.check(rounds="8")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(record["telemetry_overhead"]["verdict"], "failed")
        self.assertRegex(record["bad"][0], "telemetry: round 1 of 8: RuntimeError: benchctl run ended with 1")
        self.assertTrue(record["report"]["results"])
        self.assertEqual(record["out_of_time"], [])

    def test_telemetry_had_no_time_only_where_its_rounds_are_too_few_for_an_interval(self):
        script = script_module(CHECK)
        for done, asked, missed in ((5, 11, ["telemetry: 5 of 11 rounds"]), (6, 11, []), (3, 3, [])):
            record = {"bad": [], "out_of_time": []}
            with mock.patch.object(script, "compare", return_value={"problem": None, "rounds": done}):
                script.price_telemetry(record, mock.MagicMock(), None, None, asked)
            self.assertEqual(record["out_of_time"], missed)

    def test_an_interrupted_check_keeps_what_it_had(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                self.suites["gpu_faults"].append(result("burn", "burn.gemm_rate", "invalid"))
                (self.folder / "gpu.slow").touch()
                (self.folder / "gpu.python").unlink(missing_ok=True)
                for suite, results in self.suites.items():
                    (self.folder / f"{suite}.json").write_text(json.dumps({"results": results}))
                output = self.folder / "record.json"
                process = subprocess.Popen([sys.executable, CHECK, "--program", self.folder, "--rounds", "0", "--output", output],
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
                while not (self.folder / "gpu.python").exists():
                    time.sleep(0.01)
                time.sleep(0.2)  # until the double waits for it too
                os.killpg(process.pid, number)
                said, _ = process.communicate(timeout=20)
                record = json.loads(output.read_text())
                self.assertEqual(process.returncode, 1, said)
                self.assertEqual(record["bad"], ["interrupted"])
                self.assertTrue(record["collectives"]["results"])

    def test_programs_find_the_python_that_runs_the_check_first(self):
        own = self.folder / "environment" / "python3"
        own.parent.mkdir()
        own.symlink_to(sys.executable)
        done, _ = self.check(python=own)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "gpu.python").read_text(), str(own))

    def test_a_broken_training_check_fails_and_a_slow_one_has_no_time(self):
        self.script("training_gpu_check", "#!/bin/sh\necho no JSON\n")
        done, record = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("training_gpu_check: it ended with 0 and printed no JSON", record["bad"])
        self.script("training_gpu_check", "#!/bin/sh\nexec sleep 60\n")
        done, record = self.check("--seconds", "4")
        self.assertEqual(done.returncode, 3, record["bad"])
        self.assertIn("training_gpu_check", record["out_of_time"])
        self.assertEqual(record["peers_missing"]["training_gpu_check"], "it had no time")

    def test_damage_that_has_no_time_loses_nothing_of_what_was_found(self):
        found = {"kernels": [{"kernel": "softmax", "dtype": "bf16", "worst": 1.0, "tolerance": 0.1, "held": False}], "steps": [],
                 "kernels_by": "own", "library": "own", "timings": []}
        results = {"found": found, "damaged": None, "torch": None}
        self.assertEqual(training.training_faults(results, {}), ["training: softmax in bf16: 1.0 > 0.1"])
        self.assertEqual(training.training_faults(results, {"PyTorch's training": "a peer"}), ["training: softmax in bf16: 1.0 > 0.1"])

    def test_wrong_sums_and_other_lines_of_nccl_tests_are_no_results(self):
        self.assertEqual([row["value"] for row in peers.nccl_rows(NCCL, 4)], [400e9])
        self.assertEqual(peers.nccl_rows(NCCL.replace("400.00      0", "400.00      7"), 4), [])
        self.assertEqual(peers.nccl_rows("n1:1:1 [0] NCCL INFO Channel 00/16 : 0 1 2 3\n", 4), [])


class Peers(unittest.TestCase):
    def ratios(self, ours, products):
        rows = peers.torch_rows({"products": products, "copies": []})
        return [row["ratio"] for row in peers.against(ours, rows)]

    def product(self, case, median, size=8192, **params):
        return result(case, "gemm.throughput", median=median, dtype="bf16", m=size, n=size, k=size, **params)

    def test_a_peer_stands_beside_the_case_that_does_the_same_and_no_faster_one(self):
        ours = [self.product("products", 600.0), self.product("burst", 900.0), self.product("first-choice", 800.0),
                self.product("fastest-shape", 700.0)]
        theirs = [{"params": {"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192}, "value": 500.0}]
        self.assertEqual(self.ratios(ours, theirs)[0], 1.2)

    def test_the_best_shape_stands_beside_the_best_shape_of_the_peer(self):
        ours = [self.product("products", 900.0), self.product("fastest-shape", 600.0),
                self.product("fastest-shape", 765.0, size=6144, searched=True)]
        theirs = [{"params": {"dtype": "bf16", "m": size, "n": size, "k": size}, "value": value} for size, value in
                  ((8192, 500.0), (4096, 750.0))]
        self.assertEqual(self.ratios(ours, theirs), [1.8, None, 1.02])
        best = peers.torch_rows({"products": theirs, "copies": []})[-1]
        self.assertEqual((best["shape"], best["aim"]), ([4096] * 3, 1.02))

    def test_pytorch_warms_up_by_time(self):
        for call_s, calls in ((0.001, 500), (0.1, 10)):
            module, _ = module_with_torch("torch_peers")
            now = [0.0]

            def work():
                now[0] += call_s

            with mock.patch.object(module.time, "monotonic", lambda: now[0]):
                module.warm_up(work)
            self.assertGreaterEqual(now[0], 0.5)
            self.assertAlmostEqual(now[0] / call_s, calls, delta=10)

    def test_one_model_that_cannot_be_compiled_is_said_and_loses_no_other(self):
        module, torch = module_with_torch("torch_training")
        torch.compile.side_effect = [subprocess.CalledProcessError(1, ["gcc"]), mock.MagicMock()]
        lost, other = (module.measured(name, shape) for name, shape in module.SHAPES.items())
        self.assertRegex(lost["skipped"], "^CalledProcessError: .*gcc")
        self.assertIn("tokens_per_second", other)
        self.assertIn("f32 under bf16 autocast", other["weights"])
        torch.compile.side_effect = AssertionError()  # which says nothing
        self.assertEqual(module.measured("gpt2", module.SHAPES["gpt2"])["skipped"], "AssertionError: ")

    def test_a_model_that_pytorch_could_not_train_is_a_missing_peer(self):
        steps = timed_steps.TimedSteps(100.0, {"training": 1.0}, lambda text: None)
        steps.answer = lambda name, command, most: [{"model": "gpt2", "skipped": "no gcc"}, {"model": "llama_1b"}]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "training_gpu_check").touch()
            _, missing = training.train(steps, pathlib.Path(folder))
        self.assertEqual(missing, {"PyTorch's training of gpt2": "no gcc"})


class Shares(unittest.TestCase):
    def setUp(self):
        self.now = 0.0
        self.shares = script_module(CHECK).SHARES
        self.steps = timed_steps.TimedSteps(480.0, self.shares, lambda text: None, lambda: self.now)

    def test_training_and_telemetry_have_their_time_whatever_was_before_them(self):
        self.assertAlmostEqual(sum(self.shares.values()), 1.0)
        for step in self.shares:
            most = self.steps.most(step)
            self.assertGreaterEqual(most, {"training": 100.0, "telemetry": 60.0}.get(step, 0.0))
            self.now += most
        self.assertAlmostEqual(self.now, 480.0)

    def test_what_a_step_does_not_need_goes_to_the_next(self):
        alone = self.steps.most("gpu_faults") + 10.0
        self.now = 10.0
        self.assertAlmostEqual(self.steps.most("collectives_gpu"), alone - 20.0 + 480.0 * self.shares["collectives_gpu"])


class Suites(unittest.TestCase):
    def cases(self, suite):
        return json.loads((ROOT / "suites" / f"{suite}.json").read_text())["cases"]

    def test_each_load_of_a_burn_is_damaged_alone_as_a_burn_ends_at_the_first(self):
        loads = [case["params"]["loads"] for case in self.cases("gpu_faults") if case["probe"] == "burn"]
        self.assertEqual(loads, [["gemm"], ["memory"], ["copy"]])

    def test_loads_that_are_to_last_have_samples_that_do(self):
        for suite, name, least in (("gpu", "burst", 0.1), ("gpu", "sustained", 0.1), ("gpu", "burn", 0.5), ("accept-burn", "gpu_burn", 0.5),
                                   ("nightly", "gpu_sustained", 0.1), ("accept-standard", "gpu_sustained", 0.1)):
            case = next(case for case in self.cases(suite) if case["name"] == name)
            self.assertEqual(case["measure"]["min_sample_s"], least, f"{suite} {name}")

    def test_cases_that_peers_stand_beside_are_in_the_suite_before_what_may_have_no_time(self):
        names = [case["name"] for case in self.cases("gpu")]
        tails = names[names.index("launches"):]
        for name in ("products", "model-shapes", "memory", "copies", "fastest-shape", "sustained"):
            self.assertIn(name, names)
            self.assertNotIn(name, tails)


if __name__ == "__main__":
    unittest.main()
