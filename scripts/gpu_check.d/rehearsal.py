"""The plan without a GPU: doubles of benchctl, training_gpu_check, compute-sanitizer and nvidia-smi, which measure nothing.

What a step runs and reads, and what the record has afterwards, is as on the day; only the GPU is missing.
"""

import json

# Waits to be killed where the file "stop" names it.
STOP = """
if (here / "stop").exists() and (here / "stop").read_text() == NAME:
    (here / "stopped").touch()
    time.sleep(20)
"""
# Prints the SUITE.json next to it, or SUITE.damaged.json; where there is SUITE.slow, waits to be interrupted first; where there is
# SUITE.broken, prints none.
BENCHCTL = """#!/usr/bin/env python3
import json, os, pathlib, shutil, signal, sys, time
if sys.argv[1] == "--version":
    print("benchctl 1.2.3")
    sys.exit()
here = pathlib.Path(__file__).parent
if sys.argv[1] == "export":  # of telemetry on and off: the same times
    for case in ("on", "off"):
        print(json.dumps({"case": case, "metric": "gemm.throughput", "outcome": "ok", "values": [1.0],
                          "params": {"dtype": "bf16", "m": 8192, "threads": 1}}))
    sys.exit()
if sys.argv[2].endswith("overhead.json"):
    if (here / "overhead.broken").exists():
        sys.exit("lost the GPU")
    run = pathlib.Path(sys.argv[sys.argv.index("--db") + 1]).parent / "runs" / "r1"
    run.mkdir(parents=True, exist_ok=True)
    (run / "records.jsonl").write_text(json.dumps({"kind": "facts", "body": {"topic": "telemetry", "facts": {"cpu_share": 0.001}}}) + "\\n")
    print(json.dumps({"run": "r1"}))
    sys.exit()
suite = pathlib.Path(__file__).with_name(sys.argv[2])
suite.with_suffix(".python").write_text(shutil.which("python3"))
if suite.with_suffix(".broken").exists():
    sys.exit("lost the GPU")
if suite.with_suffix(".slow").exists():
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.pause()
NAME = sys.argv[2] + (" damaged" if os.environ.get("BENCH_FAULT") else "")
""" + STOP + """
if sys.argv[2] == "gpu":
    run = pathlib.Path(sys.argv[sys.argv.index("--db") + 1]).parent / "runs" / "g1"
    run.mkdir(parents=True, exist_ok=True)
    facts = [{"kind": "facts", "body": {"topic": "gemm_seconds", "facts": {"seconds": {"samples": 2.0, "verification": 0.5}}}}] * 2
    facts.append({"kind": "facts", "body": {"topic": "memory_way", "facts": {"params": {"kernel": "copy"}, "way": "bulk copies"}}})
    (run / "records.jsonl").write_text("".join(json.dumps(one) + "\\n" for one in [{"kind": "job", "body": {}}, *facts]))
kind = ".damaged.json" if os.environ.get("BENCH_FAULT") and suite.with_suffix(".damaged.json").exists() else ".json"
print(suite.with_suffix(kind).read_text())
"""
TRAINING = """#!/usr/bin/env python3
import pathlib, sys, time
here = pathlib.Path(__file__).parent
NAME = "training_gpu_check " + " ".join(sys.argv[1:])
""" + STOP + """
print((here / ("damaged.json" if "--damage" in sys.argv else "found.json")).read_text())
"""
# Runs no program: says what the file sanitizer.txt has, or that there are no errors.
SANITIZER = """#!/usr/bin/env python3
import pathlib, sys, time
here = pathlib.Path(__file__).parent
NAME = sys.argv[2]
""" + STOP + """
said = here / "sanitizer.txt"
print(said.read_text() if said.exists() else "========= COMPUTE-SANITIZER\\n========= ERROR SUMMARY: 0 errors")
"""
NVIDIA_SMI = """#!/bin/sh
cat <<'END'
NVIDIA H200, GPU-1, 580.159.04, 96.00.B1, 143771, Enabled, Disabled, Enabled, 700.00, 700.00, 1980, 3201, 345, 3201, 27, 75.10, 0x1, 5, 16
END
"""


def result(case, metric, outcome="ok", check=True, reason=None, median=1.0, ranks=1, **params):
    return {"case": case, "metric": metric, "outcome": outcome, "reason": reason, "n": 20, "median": median, "ranks": ranks,
            "unit": "B/s", "of_limit": None, "params": params, "check": {"method": "exact"} if check else None}


def reports():
    """{suite: results}, of a GPU that passes."""
    copy = result("copies", "copy.bandwidth", median=55e9, route="host_to_device", memory="pinned", size_bytes=268435456)
    peer = result("copies", "copy.bandwidth", "skipped", reason="this host has no other device", route="peer_write")
    sums = result("all_reduce", "collective.busbw", median=440e9, ranks=4, op="all_reduce", dtype="f32", in_place=False,
                  size_bytes=268435456)
    many = result("all_reduce", None, "skipped", reason="no device for rank 4: this host has 4")
    trained = result("together", "training.step_time", check=False, ranks=4, dtype="bf16")
    return {"gpu": [copy, peer], "collectives_gpu": [sums, many], "training_gpu": [trained],
            "gpu_faults": [result("copies", "copy.bandwidth", route="host_to_device")],
            "gpu_rare_faults.damaged": [result("burn", "burn.gemm_rate", "invalid", round=1)],
            "gpu_faults.damaged": [result("copies", "copy.bandwidth", "invalid", route="host_to_device")]}


def write_program(folder, name, text):
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def write_reports(folder, of_suites):
    for suite, results in of_suites.items():
        (folder / f"{suite}.json").write_text(json.dumps({"run": "g1", "results": results}))


def write_training(folder, kernels, damaged, steps=(), library="cublaslt; attention: own", capability="9.0"):
    """What training_gpu_check finds, and finds with damage."""
    common = {"device": {"compute_capability": capability}, "kernels_by": library, "library": library,
              "timings": [{"model": "gpt2", "tokens_per_second": 1e6}]}
    (folder / "found.json").write_text(json.dumps({"kernels": kernels, "steps": list(steps), **common}))
    (folder / "damaged.json").write_text(json.dumps({"kernels": damaged, **common}))


def write_programs(folder):
    """All doubles but nvidia-smi, which a machine may have."""
    for name, text in (("benchctl", BENCHCTL), ("training_gpu_check", TRAINING), ("compute-sanitizer", SANITIZER)):
        write_program(folder, name, text)
    kernel = {"kernel": "softmax", "dtype": "bf16", "tolerance": 0.1}
    write_training(folder, [{**kernel, "worst": 0.01, "held": True}], [{**kernel, "worst": 1.0, "held": False}])


def write_all(folder):
    write_programs(folder)
    write_program(folder, "nvidia-smi", NVIDIA_SMI)
    write_reports(folder, reports())
