"""Reads published MLPerf logs as the probe `external` does and compares time, status, evaluations and quality with what
MLPerf's own tools say of them (expected_scores.json).

usage: external_peer_test.py EXTERNAL_LOG FOLDER [EVERY]   (EVERY: only each so-many-th log)
exits 77, which ctest shows as skipped, where the folder has no archive of mlcommons/training_results_v5.1
"""

import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

# Target and whether it is reached from above.
TARGETS = {"llama31_405b": (5.6, True), "llama31_8b": (3.3, True), "llama2_70b_lora": (0.925, True), "flux1": (0.586, True),
           "retinanet": (0.34, False), "dlrm_dcnv2": (0.80275, False), "rgat": (0.72, False)}


def expected_runs(folder):
    runs = {}
    for entry in json.loads((folder / "expected_scores.json").read_text())["entries"]:
        for run in entry["runs"]:
            key = f"{entry['submitter']}/results/{entry['system']}/{entry['benchmark']}/{run['file']}"
            runs[key] = (entry["benchmark"], run)
    return runs


def differences(run, ours, target, from_above):
    complete = run["run_start_ms"] is not None and run["run_stop_ms"] is not None
    seconds = (run["run_stop_ms"] - run["run_start_ms"]) / 1000 if complete else None
    met = complete and run["quality"] is not None and (run["quality"] <= target if from_above else run["quality"] >= target)
    wanted = {"run_s": seconds, "status": run["status"] or "", "met": met, "quality": run["quality"],
              "samples": run["samples_count_last_eval"], "troubles": 0}
    for key, value in wanted.items():
        seen = ours.get(key)
        same = abs(seen - value) < 1e-9 * max(1, abs(value)) if isinstance(value, float) and seen is not None else seen == value
        if not same:
            yield f"{key}: {seen}, expected {value}"
    if seconds is not None and abs(ours["phases_s"] - seconds) > 1e-6:
        yield f"phases add up to {ours['phases_s']}, expected {seconds}"


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    archive = folder / "training_v5.1_subset.tar.xz"
    if not archive.is_file():
        print(f"skipped: {archive} is not there")
        sys.exit(77)
    expected = expected_runs(folder)
    asked, questions = [], []
    with tempfile.TemporaryDirectory() as place, tarfile.open(archive) as files:
        found = 0
        for member in files:
            match = re.search(r"[^/]+/results/[^/]+/[^/]+/result_\d+\.txt$", member.name)
            if not match or match.group(0) not in expected:
                continue
            found += 1
            if found % every:
                continue
            path = pathlib.Path(place) / f"{found}.txt"
            path.write_bytes(files.extractfile(member).read())
            benchmark, run = expected[match.group(0)]
            target, from_above = TARGETS[benchmark]
            asked.append((match.group(0), run, target, from_above))
            questions.append({"path": str(path), "target": target, "direction": "lower" if from_above else "higher"})
        text = "".join(json.dumps(question) + "\n" for question in questions)
        answers = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(answers) == len(asked), f"{len(answers)} answers to {len(asked)} questions"
    unequal = 0
    for (name, run, target, from_above), answer in zip(asked, answers):
        for difference in differences(run, json.loads(answer), target, from_above):
            print(f"{name}: {difference}")
            unequal += 1
    print(f"{len(asked)} logs, {unequal} differences")
    sys.exit(1 if unequal or not asked else 0)


main()
