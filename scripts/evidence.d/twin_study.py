"""Trainings of a tiny preset from several seeds by a test of training_tests: what the studies of the twins share."""

import os
import re
import statistics
import subprocess
import sys

from common import BIN, ROOT, say, steps_to

LOOK = re.compile(r"^step (\d+) gap (\S+)(.*)$", re.M)
END = re.compile(r"^gap (\S+) after (\S+) s of steps and (\S+) s in all, (\S+) samples/s; (\S+) CPU seconds", re.M)
PART = re.compile(r"(\S+) (-?\d\S*)")
SIZE = re.compile(r"^floor (\S+) target (\S+) parameters (\d+)", re.M)


def seeds(variable, usual):
    """From 1 to the number in the environment."""
    return range(1, int(os.environ.get(variable, str(usual))) + 1)


class Trained:
    """One training: its `output`, the numbers that every study keeps in `run`, and the (step, gap) of its evaluations."""

    def __init__(self, workload, seed, to_the_end=False, what="", **variables):
        environment = {**os.environ, "SEED": str(seed), "TO_THE_END": str(int(to_the_end)), **variables}
        done = subprocess.run([BIN / "training_tests", f"{workload} tiny reaches its target"], env=environment, cwd=ROOT,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        end = END.search(done.stdout)
        if end is None:
            sys.exit(f"seed {seed}: the training ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        gap, seconds, wall, rate, cpu = map(float, end.groups())
        say(f"{what}seed {seed}: gap {gap:.4f} after {seconds:.1f} s of steps, {wall:.1f} s in all, {rate:.0f} samples/s, {cpu:.1f} CPU seconds")
        self.output = done.stdout
        found = LOOK.findall(done.stdout)
        self.looks = [(int(step), float(value)) for step, value, _ in found]
        self.parts = {name: float(value) for name, value in PART.findall(found[-1][2])}  # of the last evaluation
        self.run = {"seed": seed, "gap": gap, "step_seconds": seconds, "wall_s": wall, "samples_per_s": rate, "cpu_s_with_evaluations": cpu,
                    "steps": self.looks[-1][0], "passed": done.returncode == 0}

    def samples_to(self, target, samples_a_step):
        steps = steps_to(target, self.looks)
        return None if steps is None else samples_a_step * steps

    def sizes(self):
        """floor, target and parameters of a study that prints them."""
        floor, target, parameters = SIZE.search(self.output).groups()
        return {"floor": float(floor), "target": float(target), "parameters": int(parameters)}


def summary(runs):
    """What every study says of its runs to the target, each with `samples_to_target`."""
    reached = [run["samples_to_target"] for run in runs if run["samples_to_target"]]
    spread = statistics.stdev(reached) / statistics.fmean(reached) if len(reached) > 1 else None
    return {"converged": len(reached), "of": len(runs), "passed": all(run["passed"] for run in runs),
            "wall_s_median": statistics.median(run["wall_s"] for run in runs), "wall_s_max": max(run["wall_s"] for run in runs),
            "cpu_s_median": statistics.median(run["cpu_s_with_evaluations"] for run in runs),
            "cpu_s_max": max(run["cpu_s_with_evaluations"] for run in runs),
            "samples_per_s_median": statistics.median(run["samples_per_s"] for run in runs),
            "samples_to_target_mean": statistics.fmean(reached) if reached else None, "samples_to_target_cv": spread}


def horizon(runs):
    """Of runs that trained on to the horizon."""
    return {"gap_mean": statistics.fmean(run["gap"] for run in runs) if runs else None, "runs": runs}
