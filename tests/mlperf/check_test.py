"""Checks real MLPerf submissions with `benchctl mlperf check`: the official verdict must be the official
checker's, and the strict findings must be the reviewed ones for these logs.

usage: check_test.py BENCHCTL DATA   (DATA: folder with training_v5.1_subset.tar.xz and expected_compliance.json)
exits 77 (skipped in ctest) if the data are missing
"""

import collections
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

# Rule: (logs, folders).
STRICT = {
    "identity.organisation": (50, 5),
    "runs.overlap": (113, 17),
    "schedule.evaluation": (20, 2),
    "schedule.samples_count": (40, 4),
    "status.run_stop": (1, 1),
    "value.placeholder": (105, 11),
}


def main():
    benchctl, data = sys.argv[1], pathlib.Path(sys.argv[2])
    archive = data / "training_v5.1_subset.tar.xz"
    if not archive.is_file():
        print(f"skipped: {archive} is not there")
        sys.exit(77)
    expected = json.loads((data / "expected_compliance.json").read_text())["results"]
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as files:
            files.extractall(folder, [member for member in files if member.isfile()])
        answer = subprocess.run([benchctl, "mlperf", "check", folder, "--ruleset", "5.1.0", "--json"],
                                capture_output=True, text=True)
        report = json.loads(answer.stdout)
        paths = {str(pathlib.Path(file["path"]).relative_to(folder)): file for file in report["files"]}
    wrong = [] if answer.returncode == 1 else [f"exit code {answer.returncode}"]
    if set(paths) != set(expected):
        wrong.append(f"{len(paths)} logs, expected {len(expected)}")
    wrong += [f"{path}: {file['official']}, expected {expected[path]['verdict']}" for path, file in paths.items()
              if file["official"] != expected[path]["verdict"]]
    logs, folders = collections.Counter(), collections.defaultdict(set)
    for path, file in paths.items():
        for rule in {finding["rule"] for finding in file["findings"] if not finding["official"]}:
            logs[rule] += 1
            folders[rule].add(pathlib.Path(path).parent)
    # Every published factor is the one that the runs give, and no result has too few of them.
    wrong += [f"{folder['path']}: {finding['rule']}" for folder in report["folders"] for finding in folder["findings"]]
    found = {rule: (logs[rule], len(folders[rule])) for rule in logs}
    wrong += [f"{rule}: in (logs, folders) {found.get(rule)}, expected {STRICT.get(rule)}"
              for rule in sorted({*found, *STRICT}) if found.get(rule) != STRICT.get(rule)]
    print("\n".join(wrong) or f"{len(paths)} logs, as expected")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
