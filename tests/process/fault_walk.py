#!/usr/bin/env python3
"""Every file operation of a command fails once: fault_walk.py FOLDER_OF_PROGRAMS FAULTY_FILES_LIBRARY [SHARE] [COMMAND ...]

For each operation of a command (open, read, write, fsync, rename, mmap, fork, pipe, ...) and each error that it may have, the
command runs on a copy of a small state folder in which this operation fails. Afterwards: a documented exit code; a message where it
did not succeed; the same answer where it says that it did; every record, run and journal entry still there; and the same reports
after `benchctl rebuild`. SHARE: walk only each SHARE-th case (default: 1, all).
"""

import concurrent.futures
import errno
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import power_cut

DOCUMENTED = {0, 1, 2, 3, 4, 130}
LIMIT_S = 60
# Which errors the operations of our programs can have; ENOSPC also stays, as a full disk does.
ERRORS = {
    "open": [errno.EIO, errno.ENOSPC, errno.EMFILE, errno.ENOMEM, errno.EINTR],
    "read": [errno.EIO, errno.EINTR],
    "write": [errno.EIO, errno.ENOSPC, errno.EINTR],
    "fsync": [errno.EIO, errno.ENOSPC],
    "ftruncate": [errno.EIO, errno.ENOSPC],
    "rename": [errno.EIO, errno.ENOSPC],
    "mkdir": [errno.EIO, errno.ENOSPC],
    "unlink": [errno.EIO],
    "mmap": [errno.ENOMEM],
    "fork": [errno.ENOMEM, errno.EAGAIN],
    "pipe": [errno.EMFILE],
}
VOLATILE = re.compile(r"/\S*/results\.sqlite|\d{8}T\d{6}Z-[a-z_-]+-[0-9a-f]{4}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?|\d+(\.\d+)? (ms|s)\b")


class Walk:
    def __init__(self, programs, library, folder):
        self.benchctl = pathlib.Path(programs) / "benchctl"
        self.rank = pathlib.Path(programs) / "faulty_rank"
        self.preload = library
        self.folder = pathlib.Path(folder)
        self.state = self.folder / "state"
        self.suite = self.folder / "suite.json"
        self.csv = self.folder / "past.csv"
        self.csv2 = self.folder / "more.csv"
        self.log = self.folder / "training.log"
        self.prepare()

    def environment(self, state, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("BENCHCTL", "FAULTY"))}
        return {**kept, "BENCHCTL_DB": str(state / "results.sqlite"), "BENCHCTL_SITE": str(self.folder / "site.json"), "TERM": "dumb",
                **{name: str(value) for name, value in more.items()}}

    def run(self, state, words, **more):
        try:
            return subprocess.run([self.benchctl, *words], env=self.environment(state, **more), stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired as late:
            return subprocess.CompletedProcess(late.cmd, "no end", late.stdout or b"", late.stderr or b"")

    def require(self, words, codes=(0,)):
        done = self.run(self.state, words)
        if done.returncode not in codes:
            sys.exit(f"{words} ended with {done.returncode}: {done.stderr.decode()}")
        return done

    def prepare(self):
        """Twelve imported nights, three runs of one suite with many samples, one of them stopped early, and a journal."""
        (self.folder / "site.json").write_text("{}")
        values = self.folder / "values.txt"
        values.write_text("100")  # faulty_rank then reports 400 samples
        cases = [{"name": name, "probe": "null", "env": {"FAULTY_RANK_VALUES": str(values)}} for name in ("a", "b")]
        self.suite.write_text(json.dumps({"suite": "walked", "cases": cases}))
        head = "run,time,host,device,metric,params,unit,better,value\n"
        self.csv.write_text(head + "".join(
            f"night{day},2026-01-{day:02d}T02:00:00Z,node{host},host,gemm.throughput,{{}},FLOP/s,higher,{1e12 + 1e9 * ((7 * day + host) % 5)}\n"
            for day in range(1, 13) for host in (1, 2)))
        self.csv2.write_text(head + "later,2026-02-01T02:00:00Z,node1,host,gemm.throughput,{},FLOP/s,higher,1e12\n")
        self.log.write_text(':::MLLOG {"namespace": "", "time_ms": 1, "event_type": "POINT_IN_TIME", "key": "seed", "value": 1, "metadata": {}}\n')
        self.state.mkdir()
        self.require(["import", "csv", str(self.csv)])
        for _ in range(3):
            self.require(self.measuring())
        runs = sorted(one.name for one in (self.state / "runs").iterdir())
        own = [one for one in runs if "-walked-" in one]
        self.runs = [runs[0], *own]  # whose reports are compared
        self.require(["note", own[0], "the fans were off", "--discard"])
        self.stop_early(own[0])
        self.require(["rebuild"])
        self.reports = self.reports_of(self.state)
        self.kept = self.files_of(self.state)
        first, second = own[1], own[2]
        self.commands = {
            "show": ["show", first],
            "runs": ["runs"],
            "export": ["export", "csv", first],
            "compare": ["compare", first, second, "--json"],
            "regression": ["report", "regression", "--json"],
            "note": ["note", first, "checked again"],
            "import": ["import", "csv", str(self.csv2)],
            "rebuild": ["rebuild"],
            "prune": ["nightly", "prune", "--older", "0.001s", "--keep", "5"],
            "resume": ["resume", own[0], "--rank-program", str(self.rank)],
            "run": self.measuring(),
            "plan": ["plan", str(self.suite)],
            "list": ["list", "probes"],
            "fleet": ["report", "fleet", "--json"],
            "mlperf": ["mlperf", "check", str(self.log)],
            "accept": ["accept", "--suite", str(self.suite), "--max-runs", "1", "--anyway", "--rank-program", str(self.rank)],
            "nightly": ["nightly", "--suite", str(self.suite), "--all", "--budget", "60s", "--rank-program", str(self.rank)],
        }

    def measuring(self):
        return ["run", str(self.suite), "--rank-program", str(self.rank)]

    def stop_early(self, run):
        """As kill -9 would in the second job, in the middle of a line."""
        records = self.state / "runs" / run / "records.jsonl"
        lines = records.read_text().splitlines(keepends=True)
        outcomes = [at for at, line in enumerate(lines) if '"kind":"outcome"' in line]
        records.write_text("".join(lines[:outcomes[0] + 1]) + lines[outcomes[0] + 1][:40])

    def files_of(self, state):
        """What was received: path -> content. Not the database, which is made from it."""
        return {str(path.relative_to(state)): path.read_bytes() for path in sorted(state.rglob("*"))
                if path.is_file() and (path.name in ("records.jsonl", "plan.json", "journal.jsonl"))}

    def reports_of(self, state):
        shown = {}
        for run in self.runs:
            done = self.run(state, ["show", run, "--json"])
            shown[run] = (done.returncode, done.stdout)
        return shown

    def copy(self, name):
        there = self.folder / name
        shutil.copytree(self.state, there)
        return there

    def operations(self, words):
        """The operations of one undisturbed call, and its answer."""
        state = self.copy("undisturbed")
        log = self.folder / "operations.jsonl"
        done = self.run(state, words, LD_PRELOAD=self.preload, FAULTY_FILES_PROGRAM="benchctl", FAULTY_FILES_LOG=log)
        found = [json.loads(line) for line in log.read_text().splitlines()]
        after = self.files_of(state)
        log.unlink()
        shutil.rmtree(state)
        return found, done, after

    def cut_power(self, name):
        """The state folder after a power cut behind each operation of a command that writes."""
        state = self.copy("cut")
        model = power_cut.Model(state, lambda path: path.name.startswith("results.sqlite"))
        found, after, log = [], {}, self.folder / "operations.jsonl"
        self.run(state, self.commands[name], LD_PRELOAD=self.preload, FAULTY_FILES_PROGRAM="benchctl", FAULTY_FILES_LOG=log)
        operations = [json.loads(line) for line in log.read_text().splitlines()]
        log.unlink()
        after = self.files_of(state)
        shutil.rmtree(state)
        seen, wrong = set(), []
        for operation in operations:
            if not model.apply(operation):
                continue
            for kind in power_cut.KINDS:
                files = model.files(kind)
                key = hashlib.sha256(repr(sorted(files.items())).encode()).digest()
                if key not in seen:
                    seen.add(key)
                    wrong += [f"{name}: power cut after {operation['op']} {operation['n']} {operation['path']} ({kind}): {text}"
                              for text in self.lost_in(files, after)]
        durable = model.files("synced only")
        wrong += [f"{name}: {path} is not durable at the end" for path, content in after.items() if durable.get(path) != content]
        return {"states": len(seen), "wrong": wrong}

    def lost_in(self, files, after):
        state = self.folder / "found"
        power_cut.write_files(files, state)
        wrong = self.lost(state, after, left_over=True)
        shutil.rmtree(state)
        return wrong

    def walk(self, name, share=1, offset=0):
        words = self.commands[name]
        found, right, after = self.operations(words)
        cases = [(one, error, later) for one in found for error in ERRORS[one["op"]]
                 for later in ((False, True) if error == errno.ENOSPC else (False,))]
        chosen = cases[offset % share::share]
        with concurrent.futures.ThreadPoolExecutor(4 * len(os.sched_getaffinity(0))) as pool:  # they mostly wait
            wrong = [text for text in pool.map(lambda case: self.check(name, words, right, after, *case), chosen) if text]
        return {"operations": len(found), "tried": len(chosen), "wrong": wrong}

    def check(self, name, words, right, after, operation, error, later):
        state = self.copy(f"{name}-{operation['n']}-{error}-{later}")
        more = {"FAULTY_FILES_LATER": 1} if later else {}
        done = self.run(state, words, LD_PRELOAD=self.preload, FAULTY_FILES_PROGRAM="benchctl", FAULTY_FILES_AT=operation["n"],
                        FAULTY_FILES_ERRNO=error, **more)
        said = done.stderr.decode(errors="replace")
        wrong = self.wrong_answer(done, said, right) + self.lost(state, after)
        shutil.rmtree(state)
        where = f"{name}: {operation['op']} {operation['n']} {operation['path']} {errno.errorcode[error]}{' from then on' if later else ''}"
        return f"{where}: {'; '.join(wrong)}; exit code {done.returncode}: {said[-300:]}" if wrong else ""

    def wrong_answer(self, done, said, right):
        wrong = []
        reported = any(word in said for word in ("error: ", "warning: ", " failed "))
        if done.returncode not in DOCUMENTED:
            wrong.append("undocumented end")
        elif done.returncode != right.returncode and not reported and b"failed" not in done.stdout and b"exit code" not in done.stdout:
            wrong.append("another exit code without a message")
        elif done.returncode == right.returncode and not reported and fixed(done.stdout) != fixed(right.stdout):
            wrong.append("another answer without a warning: " + difference(done.stdout, right.stdout))
        if "internal:" in said or "terminate called" in said:
            wrong.append("an internal error")
        return wrong

    def lost(self, state, after, left_over=False):
        """What is gone, judged by the files and by the reports of a database made of them."""
        wrong = []
        now = self.files_of(state)
        for path, content in self.kept.items():
            if path not in now:
                wrong.append(path + " is gone")
            elif now[path] not in (content, after.get(path)) and not whole_lines(now[path], content):
                wrong.append(path + " lost content")
        for path, content in now.items():
            if path.endswith("plan.json") and not is_json(content):
                wrong.append(path + " is torn")
        for rest in state.rglob("*.??????"):
            if not left_over and re.search(r"\.jsonl?\.[A-Za-z0-9]{6}$", rest.name):
                wrong.append(f"{rest.name} is left over")
        if now == self.kept and self.same_database(state):
            return wrong
        rebuilt = self.run(state, ["rebuild"])
        if rebuilt.returncode != 0:
            wrong.append("rebuild then fails: " + rebuilt.stderr.decode()[-200:])
        for run, (code, text) in self.reports_of(state).items():
            resumed = now.get(f"runs/{run}/records.jsonl") != self.kept[f"runs/{run}/records.jsonl"]
            if (code, text) != self.reports[run] and not (resumed and self.is_unfinished(run)):
                wrong.append(f"show {run} differs after rebuild")
        return wrong

    def is_unfinished(self, run):
        return not self.kept[f"runs/{run}/records.jsonl"].endswith(b"\n")

    def same_database(self, state):
        return digest(state / "results.sqlite") == digest(self.state / "results.sqlite") and \
            not (state / "results.sqlite-wal").exists()


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def fixed(text):
    return VOLATILE.sub("*", text.decode(errors="replace"))


def difference(a, b):
    for left, right in zip(fixed(a).splitlines() + [""], fixed(b).splitlines() + [""]):
        if left != right:
            return f"{left[:100]!r} for {right[:100]!r}"
    return "shorter or longer"


def is_json(content):
    try:
        json.loads(content)
        return True
    except ValueError:
        return False


def whole_lines(now, before):
    """Only appended to, and no line but the last one torn. What a kill tore before may have been cut off."""
    kept = before[:before.rfind(b"\n") + 1]
    if not now.startswith(kept):
        return False
    return all(is_json(line) for line in now[len(kept):].split(b"\n")[:-1])


WRITING = ("note", "import", "prune", "resume", "run", "accept", "nightly")


def report(name, what, began, wrong):
    print(f"{name}: {what}, {len(wrong)} wrong, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    for text in wrong:
        print("  " + text, file=sys.stderr, flush=True)


def walk_all(programs, library, share=1, names=()):
    with tempfile.TemporaryDirectory(prefix="fault-walk-") as folder:
        walk = Walk(programs, library, folder)
        found = {}
        for offset, name in enumerate(names or walk.commands):
            began = time.monotonic()
            found[name] = walk.walk(name, share, 3 * offset + 1)
            report(name, f"{found[name]['tried']} faults in {found[name]['operations']} operations", began, found[name]["wrong"])
            if name not in WRITING:
                continue
            began = time.monotonic()
            cut = found[name]["power_cut"] = walk.cut_power(name)
            report(name, f"{cut['states']} states after a power cut", began, cut["wrong"])
        return found


def wrong_in(found):
    """All that went wrong, of faults and power cuts."""
    return [text for one in found.values() for text in one["wrong"] + one.get("power_cut", {}).get("wrong", [])]


def main():
    share = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    found = walk_all(sys.argv[1], sys.argv[2], share, sys.argv[4:])
    sys.exit(1 if wrong_in(found) else 0)


if __name__ == "__main__":
    main()
