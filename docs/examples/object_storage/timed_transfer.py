"""Times a command that moves a file to or from an object storage, for the probe `external`.

    timed_transfer.py [--bytes N] [--key NAME] COMMAND...

Makes a file of N random bytes (default 1 GiB), runs the command, in which @file stands for the file, without a shell, and prints the rate, in bytes per second, as MLPerf's log lines, so that it is kept and judged like a quality.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PIECE = 1 << 20


def log(event_type, key, value=None, **metadata):
    line = {"namespace": "", "time_ms": int(time.time() * 1000), "event_type": event_type, "key": key, "value": value,
            "metadata": {"file": "timed_transfer.py", "lineno": 0, **metadata}}
    print(":::MLLOG " + json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--key", default="transfer_bandwidth")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if not given.command:
        parser.error("a command is needed, such as: cp @file /mnt/bucket/object")
    log("INTERVAL_START", "init_start")
    log("POINT_IN_TIME", "seed", int(os.environ.get("BENCH_SEED", "0")))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "data")
        with path.open("wb") as out:
            for begin in range(0, given.bytes, PIECE):
                out.write(os.urandom(min(PIECE, given.bytes - begin)))
        command = [word.replace("@file", str(path)) for word in given.command]
        log("INTERVAL_END", "init_stop")
        log("INTERVAL_START", "run_start")
        began = time.monotonic()
        done = subprocess.run(command, stdin=subprocess.DEVNULL)
        seconds = time.monotonic() - began
        succeeded = done.returncode == 0
        if succeeded:
            log("POINT_IN_TIME", given.key, given.bytes / seconds, samples_count=given.bytes)
        log("INTERVAL_END", "run_stop", status="success" if succeeded else "aborted")
    return done.returncode


sys.exit(main())
