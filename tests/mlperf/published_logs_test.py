"""Compares our verdict on published MLPerf logs with the official checker's.

usage: published_logs_test.py MLPERF_VERDICTS SHARED [EVERY]   (EVERY: check only every n-th log)
SHARED holds training_v5.1_subset.tar.xz (mlcommons/training_results_v5.1) and expected_compliance.json.
exits 77 (skipped in ctest) if they are missing
"""

import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile


def unpacked(archive, folder, every):
    """Maps archive names to the unpacked files."""
    with tarfile.open(archive) as files:
        members = [m for m in files if m.isfile() and re.search(r"/result_\d+\.txt$", m.name)]
        for number, member in enumerate(members[::every]):
            path = folder / f"{number}.txt"
            path.write_bytes(files.extractfile(member).read())
            yield member.name, path


def expected_of(name, expected):
    """Matches by suffix, because the archive may have a parent folder."""
    for known, verdict in expected.items():
        if name.endswith(known) or known.endswith(name):
            return verdict
    sys.exit(f"{name}: no expected verdict")


def main():
    program, shared = sys.argv[1], pathlib.Path(sys.argv[2])
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    archive = shared / "training_v5.1_subset.tar.xz"
    if not archive.is_file():
        print(f"skipped: {archive} is not there")
        sys.exit(77)
    expected = json.loads((shared / "expected_compliance.json").read_text())["results"]
    with tempfile.TemporaryDirectory() as name:
        logs = list(unpacked(archive, pathlib.Path(name), every))
        questions = "".join(f"5.1.0 0 {path}\n" for _, path in logs)
        done = subprocess.run([program], input=questions, capture_output=True, text=True, check=True)
    unequal = 0
    for (log, _), line in zip(logs, done.stdout.strip().split("\n"), strict=True):
        ours, theirs = json.loads(line), expected_of(log, expected)
        failures = len(ours["keys"]) + ours["others"]
        if ours["verdict"] != theirs["verdict"] or failures != len(theirs["fails"]):
            print(f"{log}: {ours}, officially {theirs}")
            unequal += 1
    print(f"{len(logs)} logs, {unequal} differences")
    sys.exit(1 if unequal or not logs else 0)


main()
