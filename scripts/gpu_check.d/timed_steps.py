"""Programs that gpu_check starts within its time budget: a suite is interrupted, which keeps its results; others are killed."""

import json
import os
import signal
import subprocess
import time

GRACE_S = 15  # in which an interrupted benchctl keeps and prints what it has: it takes 2


class TimedSteps:
    """Steps that share a time budget, in order. `out_of_time` lists what did not fit, `failed` what broke, `why` the reason for a
    missing answer."""

    def __init__(self, seconds, shares, say, clock=time.monotonic):
        self.clock, self.say, self.shares = clock, say, shares
        self.seconds, self.end = seconds, clock() + seconds
        self.out_of_time, self.failed, self.why = [], {}, {}

    def left(self):
        return max(0.0, self.end - self.clock())

    def most(self, step):
        """Seconds for a step: its share plus what earlier steps left, without the shares of later ones."""
        names = list(self.shares)
        later = sum(self.shares[name] for name in names[names.index(step) + 1:])
        return max(0.0, self.left() - later * self.seconds)

    def suite(self, program, suite, folder, environment=None):
        """Report of `benchctl run --json` for what could run in the step's time."""
        most = self.most(suite)
        self.say(f"gpu_check: suite {suite}, {most:.0f} s at most")
        process = subprocess.Popen([program / "benchctl", "run", suite, "--json", "--db", folder / f"{suite}.sqlite"],
                                   stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        try:
            said, _ = process.communicate(timeout=most)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            said = self.last_words(process)
        except KeyboardInterrupt:  # which a terminal sends to benchctl as well: a second one would end it at once
            self.last_words(process)
            raise
        try:
            report = json.loads(said)
        except ValueError:
            raise RuntimeError(f"benchctl run {suite} ended with {process.returncode} and printed no report") from None
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
        """(exit code, stdout); None if it took too long or could not be started, see `why`."""
        if most < 1:
            return self.no_time(name)
        self.say(f"gpu_check: {name}")
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=most)
        except subprocess.TimeoutExpired:
            return self.no_time(name)
        except OSError as error:
            return self.broken(name, str(error))
        return done.returncode, done.stdout

    def answer(self, name, command, most):
        """JSON printed by a program. None if it had no time, exited with 77 (nothing to do) or failed, see `why`."""
        done = self.program(name, command, most)
        if done is None:
            return None
        if done[0] == 77:
            self.why[name] = "not installed, or it sees no GPU"
            return None
        try:
            return json.loads(done[1])
        except ValueError:
            return self.broken(name, f"it ended with {done[0]} and printed no JSON")

    def no_time(self, name):
        self.out_of_time.append(name)
        self.why[name] = "it had no time"

    def broken(self, name, reason):
        self.say(f"gpu_check: {name}: {reason}")
        self.why[name] = self.failed[name] = reason
