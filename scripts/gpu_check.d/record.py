"""The record of a check. Each step has its own entry, which a later run of the step replaces, so a check can be made in several leases.

    {"format": 2, "gpu": [products], "steps": {name: {"version", "gpus", "date", "seconds", "most", "bad", "out_of_time", ...found}},
     "peers": [...], "training": [...], "on_different_gpus": ["gpu and torch"], "passed": false}

The step gpu also has gemm_seconds (seconds by phase) and memory_ways (how each stream moved its data). A record that --rehearse
made has "rehearsal": true.
"""

import datetime
import json
import os
import time

from plan import STEPS
from table import name_of

FORMAT = 2
REPORTS = ("collectives_gpu", "training_gpu", "gpu")  # steps that run a suite of that name


def empty_record():
    return {"format": FORMAT, "gpu": None, "steps": {}, "passed": False}


def load(path):
    """The record in the file; an empty one if there is none. Raises ValueError for another file."""
    if not path.exists():
        return empty_record()
    try:
        record = json.loads(path.read_text())
        if record["format"] == FORMAT and isinstance(record["steps"], dict):
            return record
    except (ValueError, KeyError, TypeError):
        pass
    raise ValueError(f"{path} is no record of gpu_check of format {FORMAT}; move it away, or name another file with --output")


LINES_TO = 5  # levels down: one line for each result


def text_of(value, level=0):
    """JSON with a line for each value down to LINES_TO, and each value below on its line."""
    if level == LINES_TO or not value or not isinstance(value, (dict, list)):
        return json.dumps(value)
    pad = " " * (level + 1)
    if isinstance(value, dict):
        rows, (begin, end) = [f"{json.dumps(key)}: {text_of(one, level + 1)}" for key, one in value.items()], "{}"
    else:
        rows, (begin, end) = [text_of(one, level + 1) for one in value], "[]"
    return begin + "\n" + ",\n".join(pad + row for row in rows) + "\n" + pad[1:] + end


def save(record, path):
    """Whole or not at all."""
    beside = path.with_name(path.name + ".part")
    beside.write_text(text_of(record) + "\n")
    os.replace(beside, path)


def attempt(entry, work, *words):
    """Run a step's work, which fills the entry; a failure is one of its findings."""
    began = time.monotonic()
    entry.update(date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), bad=[], out_of_time=[])
    try:
        work(entry, *words)
    except (Exception, SystemExit) as error:
        entry["bad"].append(f"{type(error).__name__}: {error}")
    except KeyboardInterrupt:
        entry["bad"].append("interrupted")
        raise
    finally:
        entry["seconds"] = round(time.monotonic() - began, 1)


def results(record, *steps):
    """Results of the suites that these steps ran."""
    return [result for step in steps for result in record["steps"].get(step, {}).get("report", {}).get("results", [])]


def unverified(report):
    return [f"{name_of(r)} was not verified" for r in report["results"] if r["outcome"] == "ok" and r["n"] > 1 and r["check"] is None]


def not_caught(report):
    """Series that passed although the data they verify had been damaged."""
    return [f"{name_of(r)} did not notice the fault" for r in report["results"]
            if r["n"] > 1 and r["check"] is not None and r["outcome"] != "invalid"]


def went_wrong(report):
    return [f"{name_of(r)}: {r['outcome']}: {r['reason']}" for r in report["results"]
            if r["outcome"] in ("invalid", "failed", "timed_out")]


def done(entry, version):
    """Whether this version of benchctl passed the step."""
    return entry is not None and not entry["bad"] and not entry["out_of_time"] and entry["version"] == version


def findings(record, steps=STEPS, version=None):
    """What failed, what had no time, what has not run yet and what another version ran, as lines by kind."""
    entries = {step.name: record["steps"].get(step.name) for step in steps}
    others = [f"{name}: {entry['version']}" for name, entry in entries.items() if entry and version and entry["version"] != version]
    return {"run by another version": others, "failed": [f"{name}: {line}" for name, entry in entries.items() if entry for line in entry["bad"]],
            "no time for": [f"{name}: {line}" for name, entry in entries.items() if entry for line in entry["out_of_time"]],
            "not run yet": [name for name, entry in entries.items() if entry is None]}


def exit_code(record, steps, version):
    """0: this version passed all of them; 1: one failed; 3: one had no time, has not run, or was run by another version."""
    found = findings(record, steps, version)
    if found["failed"]:
        return 1
    return 3 if any(lines for kind, lines in found.items()) else 0
