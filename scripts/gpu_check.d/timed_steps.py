"""Programs that gpu_check starts within its time: a suite is interrupted, which keeps its results; others are killed."""

import json
import os
import signal
import subprocess
import time

GRACE_S = 15  # in which an interrupted benchctl keeps and prints what it has: it takes 2


class NothingHere(BaseException):
    """Nothing can be measured on this machine, with reasons. Not an Exception, so it ends all steps rather than one."""


class TimedSteps:
    """Starts the programs of one step after another. A step has `most` seconds, and all of them together `seconds`."""

    def __init__(self, seconds, say, clock=time.monotonic):
        self.clock, self.say = clock, say
        self.end_of_all = clock() + seconds
        self.end = self.end_of_all

    def begin(self, most):
        """Starts the time of a step; returns the seconds that it has."""
        self.end = min(self.end_of_all, self.clock() + most)
        return self.left()

    def left(self):
        return max(0.0, self.end - self.clock())

    def suite(self, entry, program, suite, folder, environment=None):
        """Report of `benchctl run --json` for what could run in the step's time; without results if there was none."""
        if self.left() < 1:
            entry["out_of_time"].append(f"suite {suite}")
            return {"results": []}
        process = subprocess.Popen([program / "benchctl", "run", suite, "--json", "--db", folder / f"{suite}.sqlite"],
                                   stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})},
                                   start_new_session=True)  # a terminal interrupts us alone, and a second interrupt would end it at once
        try:
            said, _ = process.communicate(timeout=self.left())
        except subprocess.TimeoutExpired:
            said = self.last_words(process)
        except KeyboardInterrupt:
            self.last_words(process)
            raise
        try:
            report = json.loads(said)
        except ValueError:
            raise RuntimeError(f"benchctl run {suite} ended with {process.returncode} and printed no report") from None
        entry["out_of_time"] += sorted({r["case"] for r in report["results"] if (r["reason"] or "").startswith("interrupted")})
        return report

    @staticmethod
    def last_words(process):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=GRACE_S)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[0]

    def program(self, entry, name, command, keep_errors=False):
        """(exit code, stdout, with errors if asked); None if it took too long, which the entry says. Raises OSError."""
        if self.left() < 1:
            entry["out_of_time"].append(name)
            return None
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True,
                                   stderr=subprocess.STDOUT if keep_errors else None)
        try:
            said, _ = process.communicate(timeout=self.left())
        except subprocess.TimeoutExpired:
            entry["out_of_time"].append(name)
            self.end_group(process)
            return None
        except KeyboardInterrupt:
            self.end_group(process)
            raise
        return process.returncode, said

    @staticmethod
    def end_group(process):
        """With its children: a sanitizer or a launcher would leave them on the GPU."""
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def answer(self, entry, name, command):
        """JSON printed by a program; None if it had no time, or there is nothing for it (exit code 77), which the entry says. Raises
        RuntimeError if it printed something else."""
        ended = self.program(entry, name, command)
        if ended is None:
            return None
        if ended[0] == 77:
            entry["missing"] = f"{name}: not installed, or it sees no GPU"
            return None
        try:
            return json.loads(ended[1])
        except ValueError:
            raise RuntimeError(f"{name} ended with {ended[0]} and printed no JSON") from None
