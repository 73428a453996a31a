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
import inventory  # noqa: E402
import plan  # noqa: E402
import rehearsal  # noqa: E402
import steps  # noqa: E402
import timed_steps  # noqa: E402
import training  # noqa: E402
from rehearsal import BENCHCTL, NVIDIA_SMI, result  # noqa: E402

# The double that each step waits for; the others start none.
STEP_PROGRAMS = {"inventory": "training_gpu_check kernels --named 128", "smoke": "gpu_faults", "faults": "gpu_faults damaged",
                 "kernels": "training_gpu_check kernels steps", "damage": "training_gpu_check --damage", "memcheck": "memcheck",
                 "collectives_gpu": "collectives_gpu", "training_gpu": "training_gpu", "gpu": "gpu", "training": "training_gpu_check timings",
                 "racecheck": "racecheck", "initcheck": "initcheck"}
MEMCHECK = """========= COMPUTE-SANITIZER
========= Invalid __shared__ read of size 12 bytes
=========     at void units_kernel<Attention>(T1)+0x52d0
=========     by thread (0,0,0) in block (73,0,0)
========= Invalid __shared__ read of size 12 bytes
=========     at void units_kernel<Attention>(T1)+0x52d0
========= ERROR SUMMARY: 220 errors
========= ERROR SUMMARY: 120 errors were not printed. Use --print-limit option to adjust the number of printed errors
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


class GpuCheck(unittest.TestCase):
    """The whole plan with doubles of benchctl, training_gpu_check, compute-sanitizer and PyTorch."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        rehearsal.write_programs(self.folder)
        self.suites = rehearsal.reports()

    def script(self, name, text):
        rehearsal.write_program(self.folder, name, text)

    def training(self, **found):
        rehearsal.write_training(self.folder, **found)

    def write_suites(self):
        rehearsal.write_reports(self.folder, self.suites)

    def check(self, *options, program=None, python=sys.executable, rounds="6"):
        self.write_suites()
        output = self.folder / "record.json"
        done = subprocess.run([python, CHECK, "--program", program or self.folder, "--rounds", rounds, "--output", output, *options],
                              capture_output=True, text=True, env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        return done, json.loads(output.read_text()) if output.exists() else None

    def failed(self, record):
        return {name: entry["bad"] for name, entry in record["steps"].items() if entry["bad"]}

    def test_without_a_gpu_the_real_benchctl_says_why_and_nothing_is_written(self):
        done, record = self.check("--only", "smoke", program=os.environ["BENCH_PROGRAMS"])
        if record is not None:
            self.skipTest("there is a GPU here")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, "nothing could be measured here: .*(no device|no CUDA build|driver)")

    def test_what_held_passes_and_what_this_machine_cannot_show_is_listed(self):
        done, record = self.check()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(record["passed"])
        self.assertEqual(list(record["steps"]), [step.name for step in plan.STEPS])
        self.assertIn("cannot be shown here: this host has no other device: copies copy.bandwidth peer_write", done.stdout)
        self.assertIn("cannot be shown here: no device for rank 4: this host has 4", done.stdout)
        self.assertIn("not compared with nvbandwidth: not on the PATH", done.stdout)
        self.assertEqual(record["steps"]["gpu"]["gemm_seconds"], {"samples": 4.0, "verification": 1.0})
        self.assertEqual(record["steps"]["gpu"]["memory_ways"], [{"params": {"kernel": "copy"}, "way": "bulk copies"}])

    def test_steps_are_listed_and_an_unknown_one_is_refused_before_anything_runs(self):
        done, record = self.check("--list")
        self.assertEqual((done.returncode, record), (0, None))
        self.assertRegex(done.stdout, "basics: [0-9]+ s at most\n  inventory +[0-9]+ s  ")
        done, record = self.check("--only", "speeed")
        self.assertEqual((done.returncode, record), (2, None))
        self.assertIn("there is no step or part speeed; they are listed by", done.stderr)

    def test_steps_of_several_leases_make_one_record(self):
        done, record = self.check("--only", "basics")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(record["passed"])
        self.assertIn("not run yet: telemetry", done.stdout)
        kept = record["steps"]["faults"]
        self.assertEqual(kept["version"], "benchctl 1.2.3")
        done, record = self.check("--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("smoke", done.stderr)
        self.assertEqual(record["steps"]["faults"], kept)
        self.assertTrue(record["passed"])

    def test_a_peer_that_ran_on_another_gpu_of_the_product_is_told(self):
        self.script("nvidia-smi", NVIDIA_SMI)
        done, record = self.check("--only", "gpu", "--only", "training", "--only", "torch")
        self.assertEqual(record["on_different_gpus"], [])
        self.script("nvidia-smi", NVIDIA_SMI.replace("GPU-1", "GPU-2"))
        done, record = self.check("--only", "gpu")
        self.assertEqual(record["on_different_gpus"], ["gpu and torch"])
        self.assertIn("compared on two GPUs of the product: gpu and torch", done.stdout)

    def test_the_whole_plan_is_rehearsed_without_a_gpu_and_says_that_nothing_was_measured(self):
        output = self.folder / "rehearsed.json"
        done = subprocess.run([sys.executable, CHECK, "--rehearse", "--output", output], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        record = json.loads(output.read_text())
        self.assertEqual(list(record["steps"]), [step.name for step in plan.STEPS])
        self.assertIs(record["rehearsal"], True)
        self.assertIn("a rehearsal: doubles ran, and nothing was measured", done.stdout)
        # Its record is none of a GPU's: a check goes on with no file that a rehearsal wrote.
        done = subprocess.run([sys.executable, CHECK, "--program", self.folder, "--output", output], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("is of a rehearsal", done.stderr)

    def test_each_step_is_continued_after_it_was_killed(self):
        self.write_suites()
        output = self.folder / "record.json"
        words = [sys.executable, CHECK, "--program", self.folder, "--rounds", "6", "--output", output, "--resume"]
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        for number, (step, program) in enumerate(STEP_PROGRAMS.items()):
            with self.subTest(step):
                (self.folder / "stop").write_text(program)
                process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
                while not (self.folder / "stopped").exists():
                    time.sleep(0.01)
                killed = number % 2 == 0
                process.send_signal(signal.SIGKILL if killed else signal.SIGTERM)
                process.communicate(timeout=30)
                (self.folder / "stop").unlink()
                (self.folder / "stopped").unlink()
                entry = json.loads(output.read_text())["steps"].get(step) if output.exists() else None
                self.assertTrue(entry is None if killed else entry["bad"] == ["interrupted"], entry)
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(json.loads(output.read_text())["passed"])

    def test_a_record_of_another_product_or_another_file_is_not_overwritten(self):
        for text, words in (('{"format": 2, "gpu": ["NVIDIA A100"], "steps": {}}', "the record is of NVIDIA A100, and this is NVIDIA H200"),
                            ('{"cases": []}', "is no record of gpu_check of format 2")):
            self.script("nvidia-smi", NVIDIA_SMI)
            (self.folder / "record.json").write_text(text)
            done, _ = self.check()
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(words, done.stderr)
            self.assertEqual((self.folder / "record.json").read_text(), text)

    def test_peers_on_the_path_stand_beside_our_best(self):
        self.script("nvbandwidth", f"#!/bin/sh\ncat <<'END'\n{json.dumps(NVBANDWIDTH)}\nEND\n")
        self.script("all_reduce_perf", f"#!/bin/sh\ncat <<'END'\n{NCCL}END\necho \"$@\" > {self.folder}/words\n")
        done, record = self.check("--only", "speed")
        ratios = {row["peer"]: row["ratio"] for row in record["peers"] if row["peer"] != "PyTorch"}
        self.assertEqual(ratios, {"nvbandwidth": 1.1, "nccl-tests": 1.1})
        self.assertEqual((self.folder / "words").read_text().split()[-2:], ["-g", "4"])
        self.assertIn("1.100 x nccl-tests", done.stdout)

    def test_a_peer_that_fails_is_a_missing_one(self):
        self.script("nvbandwidth", "#!/bin/sh\necho no JSON\n")
        done, _ = self.check("--only", "installed")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("not compared with nvbandwidth: nvbandwidth ended with 0 and printed no JSON", done.stdout)

    def test_a_fault_that_is_not_caught_fails_is_named_and_ends_the_check(self):
        self.suites["gpu_faults.damaged"].append(result("burn", "burn.gemm_rate"))
        done, record = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed: faults: burn burn.gemm_rate did not notice the fault", done.stdout)
        self.assertFalse(record["passed"])
        self.assertNotIn("gpu", record["steps"])
        self.assertIn("basics failed, so the rest is not run", done.stderr)
        self.assertIn("gpu", self.check("--keep-going")[1]["steps"])

    def test_one_flipped_bit_of_a_burn_that_nobody_noticed_fails(self):
        self.suites["gpu_rare_faults.damaged"] = [result("burn", "burn.gemm_rate", round=1)]
        done, record = self.check("--only", "faults")
        self.assertEqual((done.returncode, self.failed(record)), (1, {"faults": ["burn burn.gemm_rate did not notice the fault",
                                                                                "one flipped bit of one GEMM among many was not noticed"]}))

    def test_damage_that_nothing_noticed_because_nothing_ran_fails(self):
        self.suites["gpu_faults.damaged"] = [result("burn", None, "failed", check=False, reason="no memory")]
        done, record = self.check("--only", "faults")
        self.assertEqual((done.returncode, self.failed(record)), (1, {"faults": ["no fault was noticed"]}))

    def test_a_series_that_nobody_verified_or_that_is_wrong_fails(self):
        self.suites["gpu"].append(result("products", "gemm.throughput", check=False))
        done, _ = self.check("--only", "gpu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed: gpu: products gemm.throughput was not verified", done.stdout)
        self.suites["gpu"][-1] = result("products", "gemm.throughput", "invalid", reason="9 bits differ")
        done, _ = self.check("--only", "gpu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed: gpu: products gemm.throughput: invalid: 9 bits differ", done.stdout)

    def test_gpus_whose_gradients_are_not_those_of_one_fail(self):
        self.suites["training_gpu"].append(result("together", "training.step_time", "invalid", check=False,
                                                  reason="gradient_exchange: the gradient of 4 ranks is 0.5 away"))
        done, _ = self.check("--only", "training_gpu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed: training_gpu: together training.step_time: invalid: gradient_exchange", done.stdout)

    def test_errors_of_the_sanitizer_fail_with_their_kind(self):
        (self.folder / "sanitizer.txt").write_text(MEMCHECK)
        done, record = self.check("--only", "memcheck")
        self.assertEqual(done.returncode, 1)
        self.assertIn("memcheck found 220 errors: 2 x Invalid __shared__ read of size 12 bytes at void units_kernel", record["steps"]["memcheck"]["bad"][0])
        (self.folder / "sanitizer.txt").write_text("========= COMPUTE-SANITIZER\nout of memory\n")
        self.assertRegex(self.check("--only", "memcheck")[1]["steps"]["memcheck"]["bad"][0], "came to no end: out of memory")
        (self.folder / "compute-sanitizer").unlink()
        done, record = self.check("--only", "memcheck")
        self.assertEqual(done.returncode, 0)
        self.assertIn("cannot be shown here: memcheck: compute-sanitizer is not on the PATH", done.stdout)

    def test_it_ends_in_its_time_says_what_did_not_fit_and_passes_nothing(self):
        (self.folder / "gpu.slow").touch()
        self.suites["gpu"].append(result("sustained", None, "skipped", reason="interrupted while running"))
        began = time.monotonic()
        done, record = self.check("--only", "gpu", "--seconds", "2")
        self.assertLess(time.monotonic() - began, 6)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("no time for: gpu: sustained", done.stdout)
        self.assertFalse(record["passed"])
        self.assertNotIn("cannot be shown here: interrupted", done.stdout)

    def test_a_suite_without_a_report_fails_and_the_others_are_kept(self):
        for broken in ("gpu", "collectives_gpu"):
            with self.subTest(broken):
                (self.folder / f"{broken}.broken").touch()
                done, record = self.check("--only", "speed")
                (self.folder / f"{broken}.broken").unlink()
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(self.failed(record), {broken: [f"RuntimeError: benchctl run {broken} ended with 1 and printed no report"]})
                self.assertTrue(record["steps"]["training_gpu"]["report"]["results"])

    def test_a_report_that_cannot_be_read_fails_its_step_and_no_other(self):
        self.suites["gpu_faults"].append({"case": "products", "reason": None})
        done, record = self.check("--only", "basics")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.failed(record), {"smoke": ["KeyError: 'outcome'"]})

    def test_telemetry_that_cannot_be_compared_fails_with_the_reason(self):
        (self.folder / "overhead.broken").touch()
        done, record = self.check("--only", "telemetry", rounds="8")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(record["steps"]["telemetry"]["bad"][0], "round 1 of 8: RuntimeError: benchctl run ended with 1")

    def test_telemetry_had_no_time_only_where_its_rounds_are_too_few_for_an_interval(self):
        for rounds, asked, missed in ((5, 11, ["5 of 11 rounds"]), (6, 11, []), (3, 3, [])):
            entry = {"bad": [], "out_of_time": []}
            found = {"problem": None, "rounds": rounds, "verdict": "below"}
            with mock.patch.object(steps.telemetry_overhead, "compare", return_value=found):
                steps.price_telemetry(entry, mock.MagicMock(rounds=asked))
            self.assertEqual(entry["out_of_time"], missed)

    def test_steps_that_were_asked_for_nothing_or_measured_nothing_do_not_pass(self):
        done, _ = self.check("--only", "telemetry", rounds="0")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no time for: telemetry: no rounds were asked for", done.stdout)
        self.suites["gpu"] = []
        done, record = self.check("--only", "gpu")
        self.assertEqual((done.returncode, self.failed(record)), (1, {"gpu": ["suite gpu measured nothing"]}))
        done, record = self.check("--only", "gpu", "--seconds", "0.5")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no time for: gpu: suite gpu", done.stdout)

    def test_what_another_version_passed_is_run_again(self):
        self.assertEqual(self.check()[0].returncode, 0)
        self.script("benchctl", BENCHCTL.replace("1.2.3", "1.2.4"))
        done, record = self.check("--only", "gpu")
        self.assertEqual(done.returncode, 0)
        self.assertFalse(record["passed"])
        self.assertIn("run by another version: smoke: benchctl 1.2.3", done.stdout)
        done, record = self.check("--resume")
        self.assertNotIn(" gpu,", done.stderr)
        self.assertTrue(record["passed"])

    def test_programs_find_the_python_that_runs_the_check_first(self):
        own = self.folder / "environment" / "python3"
        own.parent.mkdir()
        own.symlink_to(sys.executable)
        done, _ = self.check("--only", "gpu", python=own)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "gpu.python").read_text(), str(own))

    def test_a_broken_training_check_fails_and_a_slow_one_has_no_time(self):
        self.script("training_gpu_check", "#!/bin/sh\necho no JSON\n")
        done, record = self.check("--only", "kernels")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.failed(record), {"kernels": ["RuntimeError: training_gpu_check ended with 0 and printed no JSON"]})
        self.script("training_gpu_check", "#!/bin/sh\nexec sleep 60\n")
        done, record = self.check("--only", "kernels", "--seconds", "2")
        self.assertEqual(done.returncode, 3, record)
        self.assertIn("no time for: kernels: training_gpu_check", done.stdout)

    def test_kernels_and_steps_that_differ_fail(self):
        wrong = {"kernel": "softmax", "dtype": "bf16", "worst": 1.0, "tolerance": 0.1, "held": False}
        steps_of = {"model": "llm", "dtype": "f32", "held": True, "again_equal": False}
        self.training(kernels=[wrong], damaged=[{**wrong, "held": True}], steps=[steps_of],
                      library="attention: own (cudnn differs from own)")
        done, record = self.check("--only", "kernels", "--only", "damage")
        self.assertEqual(self.failed(record), {
            "kernels": ["softmax in bf16: 1.0 > 0.1", "steps of llm in f32 differ from the host's, or from themselves",
                        "attention: own (cudnn differs from own)"],
            "damage": ["damage of softmax in bf16 was not found"]})

    def test_attention_that_cudnn_should_serve_and_does_not_fails_on_hopper(self):
        for capability, reason, fails in (("9.0", "own (cuDNN has no engine for the graph)", True), ("8.6", "own (cuDNN has no engine for the graph)", False),
                                          ("9.0", "own (cudnn 9.19.0 is slower)", False), ("9.0", "own (cannot load libcudnn.so.9: none)", False),
                                          ("8.6", "own (cudnn 9.19.0 differs from own by 1)", True)):
            found = {"device": {"compute_capability": capability}, "kernels_by": reason, "library": reason}
            self.assertEqual(training.of_attention(found), [reason] if fails else [], (capability, reason))

    def test_our_training_stands_beside_pytorchs(self):
        theirs = [{"model": "gpt2", "tokens_per_second": 5e5, "weights": "bf16"}, {"model": "1b", "skipped": "no memory"},
                  {"model": "gpt2", "tokens_per_second": 4e5, "weights": "f32"}]
        ours = {"timings": [{"model": "gpt2", "tokens_per_second": 1e6}, {"model": "1b", "tokens_per_second": 1e5}]}
        rows = training.rows(ours, theirs)
        self.assertEqual([(row["ratio"], row["skipped"]) for row in rows], [(2.0, None), (2.5, None), (None, "no memory")])
        self.assertEqual(training.of_timings({**ours, "device": {"compute_capability": "8.0"}, "timings": [{"model": "1b", "skipped": "no memory"}], "library": "", "kernels_by": ""}),
                         ["1b: no memory"])

    def test_nvidia_smi_says_which_gpus_there_are(self):
        rows = inventory.smi_rows(NVIDIA_SMI.split("'END'\n")[1].removesuffix("END\n") + "No devices were found\n")
        self.assertEqual([(row["name"], row["power.limit"]) for row in rows], [("NVIDIA H200", "700.00")])

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
        lost, other = (module.measured(name, shape, "f32") for name, shape in module.SHAPES.items())
        self.assertRegex(lost["skipped"], "^CalledProcessError: .*gcc")
        self.assertIn("tokens_per_second", other)
        self.assertIn("f32 under bf16 autocast", other["weights"])
        torch.compile.side_effect = AssertionError()  # which says nothing
        self.assertEqual(module.measured("gpt2", module.SHAPES["gpt2"], "bf16")["skipped"], "AssertionError: ")
        self.assertEqual(module.measured("gpt2", module.SHAPES["gpt2"], "bf16", 89.0)["skipped"], "it had no time")


class Plan(unittest.TestCase):
    def test_each_part_fits_a_lease_and_each_step_its_time(self):
        for part in plan.PARTS:
            self.assertLessEqual(sum(step.seconds for step in plan.STEPS if step.part == part), 540, part)
        self.assertEqual(set(steps.WORK), {step.name for step in plan.STEPS})
        self.assertEqual([step.name for step in plan.chosen(["telemetry", "basics"])][::6], ["inventory", "telemetry"])

    def test_a_step_has_its_own_time_and_no_more_than_is_left_of_all(self):
        now = [0.0]
        timed = timed_steps.TimedSteps(100.0, None, lambda: now[0])
        self.assertEqual(timed.begin(60), 60.0)
        now[0] = 70.0
        self.assertEqual((timed.left(), timed.begin(60)), (0.0, 30.0))


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
