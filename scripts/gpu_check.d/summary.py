"""What a record says as a whole: our figures next to those of peers, and the printed summary."""

import installed_peers
import training
from record import REPORTS, findings, results
from table import not_shown, print_lines, print_overhead, print_peers, print_results


def found(record, step, key="found"):
    return record["steps"].get(step, {}).get(key)


# What measured ours, and what the peer.
PAIRS = (("gpu", "torch"), ("gpu", "installed"), ("collectives_gpu", "installed"), ("training", "torch_training"))


def on_different_gpus(record):
    """Pairs of steps that two leases ran on two GPUs of the product: these differ by a few percent, and so do their ratios."""
    gpus = {name: entry["gpus"] for name, entry in record["steps"].items()}
    return [f"{ours} and {theirs}" for ours, theirs in PAIRS if ours in gpus and theirs in gpus and gpus[ours] != gpus[theirs]]


def with_peers(record):
    """Adds our figures next to those of peers, from the steps that measured both."""
    record["on_different_gpus"] = on_different_gpus(record)
    ours = results(record, *REPORTS)
    rows = installed_peers.torch_rows(found(record, "torch")) if found(record, "torch") else []
    record["peers"] = installed_peers.against(ours, rows + (found(record, "installed", "rows") or []))
    record["training"] = training.rows(found(record, "training"), found(record, "torch_training"))


def not_compared(record):
    """{peer: why it has no figures}."""
    return {**(found(record, "installed", "missing_peers") or {}),
            **{f"PyTorch's {row['params']}": row["skipped"] for row in (found(record, "torch") or {}).get("products", []) if "skipped" in row}}


def print_record(record, version=None):
    reports = {step: results(record, step) for step in REPORTS}
    print_results(reports["gpu"] + [r for step in REPORTS[:2] for r in reports[step] if r["outcome"] != "skipped"])
    print_peers(record["peers"], not_compared(record))
    training.print_training(found(record, "training"), found(record, "torch_training"))
    print_overhead(found(record, "telemetry"))
    skipped = not_shown([r for of_suite in reports.values() for r in of_suite])
    cannot = [f"{step}: {entry['missing']}" for step, entry in record["steps"].items() if "missing" in entry]
    print_lines({**findings(record, version=version), "compared on two GPUs of the product": record["on_different_gpus"],
                 "cannot be shown here": cannot + [f"{why}: {', '.join(what)}" for why, what in skipped.items()]})
