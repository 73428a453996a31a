"""The record of a check, filled step by step: earlier results stay when a later step fails."""

import datetime

from table import name_of, not_shown

REPORTS = ("report", "collectives", "trained_together")


def empty_record():
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "seconds": 0.0,
        **{key: {"results": []} for key in REPORTS}, "bad": [], "unverified": [], "faults_not_caught": [], "faults_caught": 0,
        "torch": None, "peers": [], "peers_missing": {}, "telemetry_overhead": None, "training": None, "not_shown": {},
        "out_of_time": [], "passed": False,
    }


def attempt(record, name, step):
    """Run a step; list its failure and go on."""
    try:
        step()
    except (Exception, SystemExit) as error:
        record["bad"].append(f"{name}: {type(error).__name__}: {error}")


def unverified(report):
    return [name_of(r) for r in report["results"] if r["outcome"] == "ok" and r["n"] > 1 and r["check"] is None]


def not_caught(report):
    """Series that passed although the data they verify had been corrupted."""
    return [name_of(r) for r in report["results"] if r["n"] > 1 and r["check"] is not None and r["outcome"] != "invalid"]


def went_wrong(report):
    return [f"{name_of(r)}: {r['outcome']}: {r['reason']}" for r in report["results"]
            if r["outcome"] in ("invalid", "failed", "timed_out")]


def keep_damaged(record, report):
    record["faults_not_caught"] = not_caught(report)
    record["faults_caught"] = sum(r["outcome"] == "invalid" for r in report["results"] if r["metric"])


def keep_report(record, key, report):
    record[key] = report
    record["bad"] += went_wrong(report)
    if key != "trained_together":  # a training is judged by its gradients
        record["unverified"] += unverified(report)
    record["not_shown"] = not_shown(*(record[one] for one in REPORTS))


def exit_code(record):
    costly = (record["telemetry_overhead"] or {}).get("verdict") == "above"
    if costly or record["bad"] or record["faults_not_caught"] or record["unverified"]:
        return 1
    if record["out_of_time"]:
        return 3
    return 0 if record["faults_caught"] > 0 else 1
