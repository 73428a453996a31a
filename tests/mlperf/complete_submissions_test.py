"""Complete submissions of every benchmark of rounds 6.0 and 6.1, at a batch and length of the reference: they pass the check and have
the score that their times give; with one fault each they do not.

usage: complete_submissions_test.py BENCHCTL
"""

import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "evidence.d"))
from mlperf_logs import BENCHMARKS, IN_EPOCHS, right_run, text_of  # noqa: E402

ROUNDS = ("6.0.0", "6.1.0")
NO_FASTER = ("qwen35_397b_grpo",)  # its first evaluation comes where the reference converges
DESCRIPTION = {"division": "closed", "status": "Available on-premise", "system_name": "Example", "submitter": "Example",
               "number_of_nodes": "1", "accelerators_per_node": "8", "accelerator_model_name": "Example"}


def reference(ruleset, benchmark):
    """The points of a benchmark, which may be those of an earlier round."""
    points = json.loads((ROOT / "rulesets" / "rcps" / f"{ruleset}.json").read_text())["benchmarks"][benchmark]
    return reference(points["as"], benchmark) if "as" in points else points


def minutes_of(number):
    return 20 + 7 * number % 5 + number / 10  # not sorted, all different


def write_runs(folder, ruleset, benchmark, points, length):
    batch = points["points"][0]["batch"]
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(points["runs"]):
        lines = right_run(benchmark, ruleset, 1 + number % 3, batch, length, minutes_of(number))
        for one in lines:  # runs do not overlap, and each has a seed of its own
            one["time_ms"] += number * 86400000
            if one["key"] == "seed":
                one["value"] = number + 1
        (folder / f"result_{number}.txt").write_text(text_of(lines))


def remove_key(log, key):
    log.write_text("".join(line for line in log.read_text().splitlines(True) if f'"key": "{key}"' not in line))


def judged(benchctl, root, ruleset):
    done = subprocess.run([benchctl, "mlperf", "check", root, "--ruleset", ruleset, "--score", "--json"], capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"mlperf check: exit code {done.returncode}: {done.stderr}")
    return done.returncode, json.loads(done.stdout)


def olympic_mean(times):
    kept = sorted(times)[1:-1]
    return sum(kept) / len(kept)


def problems_of_valid(code, report, runs):
    """What is wrong with the answer about a submission without a fault."""
    entry = report["score"]["entries"][0]
    found = [f"{file['path']}: {finding['text']}, found {finding['found']}" for file in report["files"] for finding in file["findings"]
             if finding["severity"] == "error"]
    found += [finding["text"] for folder in report["folders"] for finding in folder["findings"]]
    if code != 0 or len(report["files"]) != runs or any(file["official"] != "pass" for file in report["files"]):
        found.append(f"exit code {code}, {len(report['files'])} logs")
    mean = olympic_mean([minutes_of(number) for number in range(runs)])
    if entry["score_minutes"] is None or abs(entry["score_minutes"] - mean) > 1e-9:
        found.append(f"score {entry['score_minutes']}, expected {mean}: {entry['problems']}")
    if entry["rcp"]["match"] != "exact" or not entry["rcp"]["pass"]:
        found.append(f"convergence: {entry['rcp']['text']}")
    return found


def problems_of_fault(fault, logs_pass, is_named, code, report):
    """Empty if there is no score, the fault is named, and the logs pass or fail as they must."""
    entry = report["score"]["entries"][0]
    passed = all(file["official"] == "pass" for file in report["files"])
    if code == 1 and entry["score_minutes"] is None and is_named(report) and passed == logs_pass:
        return []
    return [f"{fault}: exit code {code}, score {entry['score_minutes']}, {entry['problems']}, "
            f"{'' if is_named(report) else 'not '}named, the logs {'pass' if passed else 'fail'}"]


def names_missing_run(report):
    return [finding["rule"] for finding in report["folders"][0]["findings"]] == ["runs.count"]


def names_missing_batch(report):
    return all(any(finding["official"] and finding["rule"] == "required.global_batch_size" for finding in file["findings"])
               for file in report["files"])


def names_fast_convergence(report):
    return any("is below the minimum" in problem for problem in report["score"]["entries"][0]["problems"])


def check_benchmark(benchctl, root, ruleset, benchmark):
    points = reference(ruleset, benchmark)
    mean = points["points"][0]["mean"]
    length = math.ceil(1000 * mean) / 1000 if benchmark in IN_EPOCHS else math.ceil(mean)
    folder = root / "results" / "system" / benchmark
    (root / "systems").mkdir(parents=True)
    (root / "systems" / "system.json").write_text(json.dumps(DESCRIPTION))
    write_runs(folder, ruleset, benchmark, points, length)
    wrong = problems_of_valid(*judged(benchctl, root, ruleset), points["runs"])
    for log in folder.iterdir():
        remove_key(log, "global_batch_size")
    wrong += problems_of_fault("no batch is logged", False, names_missing_batch, *judged(benchctl, root, ruleset))
    write_runs(folder, ruleset, benchmark, points, length)
    (folder / "result_0.txt").unlink()
    wrong += problems_of_fault("a run is missing", True, names_missing_run, *judged(benchctl, root, ruleset))
    if benchmark not in NO_FASTER:
        write_runs(folder, ruleset, benchmark, points, length / 2)
        wrong += problems_of_fault("twice as fast as the reference", True, names_fast_convergence, *judged(benchctl, root, ruleset))
    return [f"{ruleset} {benchmark}: {one}" for one in wrong]


def main():
    random.seed(1)
    wrong, checked = [], 0
    with tempfile.TemporaryDirectory() as name:
        for ruleset in ROUNDS:
            for benchmark in BENCHMARKS[ruleset]:
                wrong += check_benchmark(sys.argv[1], pathlib.Path(name) / ruleset / benchmark, ruleset, benchmark)
                checked += 1
    print("\n".join(wrong) or f"{checked} submissions, as expected")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
