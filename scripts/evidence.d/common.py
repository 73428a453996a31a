"""Functions shared by the checks in this folder."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
LOADS = ("none", "one core", "all cores", "bursts")


def say(text):
    """Talk: stdout is for the result."""
    print(text, file=sys.stderr, flush=True)


def answer(result):
    print(json.dumps(result))


def run(command, **options):
    """Runs a command whose output is talk; exit code and seconds."""
    say("+ " + " ".join(str(part) for part in command))
    began = time.monotonic()
    done = subprocess.run(command, stdout=sys.stderr, stdin=subprocess.DEVNULL, **options)
    return done.returncode, time.monotonic() - began


def require(command, **options):
    code, _ = run(command, **options)
    if code != 0:
        sys.exit(f"{command[0]} ended with {code}")


def build_programs():
    require([ROOT / "scripts" / "build", "--quiet"])


def build_all():
    """Also what tests start, of the same version."""
    require([ROOT / "scripts" / "build", "--tests", "--quiet"])


def build_one(program):
    """A single program, in a build folder that scripts/build has configured with --tests."""
    require(["cmake", "--build", ROOT / "build", "--target", program])


def clone(folder):
    """A fresh clone of the last commit, at `folder`; its commit."""
    require(["git", "clone", "--quiet", "--no-hardlinks", "--no-local", ROOT, folder])
    return head(folder)


def head(folder=ROOT):
    """The commit of a checkout."""
    done = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip()


def benchctl_run(suite, database, extra=()):
    """Runs a suite; its report as JSON, its exit code and the wall time in seconds."""
    began = time.monotonic()
    done = subprocess.run(
        [BIN / "benchctl", "run", suite, "--json", "--db", database, *extra],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    seconds = time.monotonic() - began
    try:
        return json.loads(done.stdout), done.returncode, seconds
    except ValueError:
        say(done.stderr[-4000:])
        sys.exit(f"benchctl run {suite} ended with {done.returncode} and printed no report")


def trained_groups(workload, folder, *words, codes=(0,)):
    """What benchctl train says of each group of its runs; `codes`: exit codes that are no failure of the check."""
    done = subprocess.run([BIN / "benchctl", "train", workload, *words, "--json", "--db", folder / "db.sqlite"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    if done.returncode not in codes:
        sys.exit(f"benchctl train {workload} ended with {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)["groups"]


def held_training(workload, folder, *words, codes=(0,)):
    """The first group of trained_groups(), all of whose checks held."""
    group = trained_groups(workload, folder, *words, codes=codes)[0]
    for check in group["facts"]["checks"]:
        if not check["held"]:
            sys.exit(f"benchctl train {workload} {' '.join(words)}: {check['check']}: {check['text']}")
    return group


def steps_to(target, looks):
    """Steps until a gap of `target`: between the first of the (step, gap) that reaches it and the one before, on a straight line;
    None where none reaches it."""
    if looks and looks[0][1] <= target:
        return looks[0][0]
    for (step, gap), (later, below) in zip(looks, looks[1:]):
        if below <= target:
            return step + (gap - target) / (gap - below) * (later - step)
    return None


def cores():
    return sorted(os.sched_getaffinity(0))


def rounded(value, digits=4):
    """`value` with so many significant digits."""
    return float(f"{value:.{digits}g}")


def spin(stop, on_s, off_s):
    while not stop.is_set():
        child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        stop.wait(on_s)
        child.kill()
        child.wait()
        stop.wait(off_s)


@contextlib.contextmanager
def load(kind):
    """Other processes keep this machine's cores busy meanwhile."""
    count = {"none": 0, "one core": 1, "all cores": len(cores()), "bursts": len(cores())}[kind]
    times = (0.15, 0.25) if kind == "bursts" else (3600.0, 0.0)
    stop = threading.Event()
    threads = [threading.Thread(target=spin, args=(stop, *times)) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
