"""What gpu_check starts, and how it keeps to its time: a suite is interrupted, so that what it measured is kept; anything else ends."""

import json
import os
import signal
import subprocess
import sys
import time

GRACE_S = 15  # in which an interrupted benchctl keeps and prints what it has: it takes 2


class TimedSteps:
    """Steps that share so many seconds; what did not fit is told in `out_of_time`."""

    def __init__(self, seconds, say, clock=time.monotonic):
        self.clock, self.say = clock, say
        self.end = clock() + seconds
        self.out_of_time = []

    def left(self, keep=0):
        """Seconds, but for those that later steps are to have."""
        return max(0.0, self.end - self.clock() - keep)

    def suite(self, program, suite, folder, most, environment=None):
        """The report of a suite as `benchctl run --json` gives it, of what could be run in `most` seconds."""
        self.say(f"gpu_check: suite {suite}, {most:.0f} s at most")
        process = subprocess.Popen([program / "benchctl", "run", suite, "--json", "--db", folder / f"{suite}.sqlite"],
                                   stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        try:
            said, _ = process.communicate(timeout=most)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            said = self.last_words(process)
        try:
            report = json.loads(said)
        except ValueError:
            sys.exit(f"gpu_check: benchctl run {suite} ended with {process.returncode} and printed no report")
        cut = sorted({r["case"] for r in report["results"] if (r["reason"] or "").startswith("interrupted")})
        self.out_of_time += [f"suite {suite}: {case}" for case in cut]
        return report

    def last_words(self, process):
        try:
            return process.communicate(timeout=GRACE_S)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[0]

    def program(self, name, command, most):
        """(exit code, what it said); None where it took too long or could not be started."""
        if most < 1:
            self.out_of_time.append(name)
            return None
        self.say(f"gpu_check: {name}")
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=most)
        except subprocess.TimeoutExpired:
            self.out_of_time.append(name)
            return None
        except OSError as error:
            self.say(f"gpu_check: {name}: {error}")
            return None
        return done.returncode, done.stdout

    def answer(self, name, command, most):
        """The JSON that a program prints. None where it had no time, says with 77 that it has nothing to do, or failed, which
        is said."""
        done = self.program(name, command, most)
        if done is None or done[0] == 77:
            return None
        try:
            return json.loads(done[1])
        except ValueError:
            self.say(f"gpu_check: {name} ended with {done[0]} and printed no JSON")
            return None
