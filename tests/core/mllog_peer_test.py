"""Reads real MLPerf logs with core/mllog and with Python's json, as mlperf_logging does, and compares every line.

usage: mllog_peer_test.py MLLOG_ECHO ARCHIVE [EVERY]   (EVERY: only each so-many-th log)
exits 77, which ctest shows as skipped, where the archive (mlcommons/training_results_v5.1) is not at hand
"""

import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile

TOKEN = re.compile(r".*:::MLLOG (.*)")


def logs(archive, every):
    with tarfile.open(archive) as files:
        found = 0
        for member in files:
            if re.search(r"/result_\d+\.txt$", member.name):
                found += 1
                if found % every == 0:
                    yield member.name, files.extractfile(member).read()


def main():
    echo, archive = sys.argv[1], pathlib.Path(sys.argv[2])
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if not archive.is_file():
        print(f"skipped: {archive} is not there")
        sys.exit(77)
    files, lines, unequal = 0, 0, 0
    for name, content in logs(archive, every):
        # As mlperf_logging opens them: Latin-1, and CR ends a line too.
        text = io.TextIOWrapper(io.BytesIO(content), encoding="latin-1").read()
        expected = [json.loads(match.group(1)) for match in map(TOKEN.match, text.split("\n")) if match]
        # Ours cuts at LF here and at CR by itself, and takes UTF-8 for UTF-8: let it see the bytes.
        answer = subprocess.run([echo], input=content.replace(b"\r", b"\n"), capture_output=True, check=True).stdout
        ours = [line.decode() for line in answer.split(b"\n") if line]
        files, lines = files + 1, lines + len(expected)
        if len(ours) != len(expected):
            print(f"{name}: {len(expected)} lines, but ours are {len(ours)}")
            unequal += 1
            continue
        for line, wanted in zip(ours, expected):
            if line.startswith("trouble") or json.loads(line.removeprefix(":::MLLOG ")) != wanted:
                print(f"{name}:\n  {json.dumps(wanted)}\n  {line}")
                unequal += 1
    print(f"{files} logs, {lines} lines, {unequal} differences")
    sys.exit(1 if unequal or lines == 0 else 0)


main()
