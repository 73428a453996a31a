"""Scores real MLPerf submissions with `benchctl mlperf score` and compares every number with the official tools.

usage: scores_test.py BENCHCTL DATA   (DATA: folder with training_v5.1_subset.tar.xz and expected_scores.json)
exits 77 (skipped in ctest) if the data are missing
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tarfile
import tempfile

MATCHES = {"exact": "exact", "interpolated": "interpolated", "below_min_bs": "below"}
CLAIMED = {("NVIDIA", "hsg_ngpu5120_ngc25.09_nemo", "llama31_405b"): 9.9946,
           ("NVIDIA", "hsg_ngpu2560_ngc25.09_nemo", "llama31_405b"): 18.7938,
           ("NVIDIA", "hsg_ngpu1152_ngc25.09_nemo", "flux1"): 12.5135}


def near(name, ours, theirs, tolerance):
    if ours is None or not math.isclose(ours, theirs, rel_tol=0, abs_tol=tolerance):
        return [f"{name} is {ours}, expected {theirs}"]
    return []


def key(entry):
    return entry["submitter"], entry["system"], entry["benchmark"]


def differences(ours, theirs):
    """The differences of an entry from the official tools."""
    # Those of the expected scores are means of minutes rounded to six places; the summarizer's are exact.
    found = near("olympic mean", ours["olympic_mean_minutes"], theirs["olympic_mean_minutes"], 5e-7)
    found += near("score", ours["score_minutes"], float(theirs["official_summarizer"]["time_to_train"]), 1e-9)
    found += near("factor", ours["scaling_factor"], theirs["rcp"]["norm_factor"], 1e-6)
    found += near("factor of the file", ours["scaling_factor_file"] or 1.0, theirs["published_scaling_factor"] or 1.0, 1e-12)
    rcp, expected = ours["rcp"], theirs["rcp"]
    if (rcp["match"], rcp["pass"]) != (MATCHES[expected["kind"]], expected["passes"]):
        found.append(f"convergence: {rcp['text']}")
    for own, other in (("batch", "global_batch_size"), ("submission_mean", "submission_mean"), ("rcp_batch", "rcp_bs"),
                       ("rcp_mean", "rcp_mean"), ("rcp_stdev", "rcp_stdev"), ("minimum", "min_epochs"),
                       ("max_speedup", "max_speedup")):
        found += near(own, rcp[own], expected[other], 1e-9 * max(1.0, abs(expected[other])))
    runs = {run["file"]: run for run in theirs["runs"]}
    if set(runs) != {run["file"] for run in ours["runs"]}:
        return found + ["other runs"]
    for run in ours["runs"]:
        other = runs[run["file"]]
        if run["compliant"] != (other["compliance"] == "pass"):
            found.append(f"{run['file']}: {run['why']}, expected {other['compliance']}")
        if run["compliant"]:
            found += near(run["file"], run["minutes"], other["minutes"], 1e-6)
            found += near(run["file"] + " samples", run["samples_to_converge"], other["samples_to_converge"], 1e-9)
    return found


def score(benchctl, folder, *more):
    answer = subprocess.run([benchctl, "mlperf", "score", folder, "--json", *more], capture_output=True, text=True)
    if answer.returncode != 0:
        sys.exit(f"exit code {answer.returncode}: {answer.stderr}")
    return {key(entry): entry for entry in json.loads(answer.stdout)["entries"]}


def state(folder):
    return sorted((str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*"))


def main():
    benchctl, data = sys.argv[1], pathlib.Path(sys.argv[2])
    if not (data / "training_v5.1_subset.tar.xz").is_file():
        print(f"skipped: {data} has no logs")
        sys.exit(77)
    expected = {key(entry): entry for entry in json.loads((data / "expected_scores.json").read_text())["entries"]}
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "round"
        with tarfile.open(data / "training_v5.1_subset.tar.xz") as archive:
            archive.extractall(folder)
        before = state(folder)
        table = pathlib.Path(name) / "table.csv"
        ours = score(benchctl, folder, "--csv", table, "--html", pathlib.Path(name) / "scores.html")
        if state(folder) != before:
            wrong.append("the submission was written to")
        if set(ours) != set(expected):
            wrong.append(f"other entries: {set(ours) ^ set(expected)}")
        for entry in set(ours) & set(expected):
            wrong += [f"{'/'.join(entry)}: {text}" for text in differences(ours[entry], expected[entry])]
        for entry, minutes in CLAIMED.items():
            wrong += near(f"claim of {'/'.join(entry)}", ours[entry]["score_minutes"], minutes, 5.1e-5)
        with open(table, newline="") as file:
            rows = list(csv.DictReader(file))
        if sum(float(row[e[2]]) == ours[e]["score_minutes"] for e in ours for row in rows
               if (row["submitter"], row["system_folder"]) == e[:2]) != len(ours):
            wrong.append("the table says otherwise")
        for file in folder.rglob("scaling.json"):
            file.unlink()
        without = score(benchctl, folder)
        for entry in ours:
            wrong += near(f"{entry} without scaling.json", without[entry]["score_minutes"], ours[entry]["score_minutes"], 1e-9)
    print("\n".join(wrong))
    print(f"{len(ours)} entries, {sum(len(entry['runs']) for entry in ours.values())} logs, {len(wrong)} differences")
    sys.exit(1 if wrong or len(ours) == 0 else 0)


main()
