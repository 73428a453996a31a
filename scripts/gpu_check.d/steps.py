"""What each step of the plan does. A step fills its entry of the record; `at` has the programs, the time and the options."""

import dataclasses
import pathlib
import sys

import installed_peers
import inventory
import sanitizer
import telemetry_overhead
import training
from record import not_caught, results, unverified, went_wrong
from run_facts import facts_in, spool_of
from timed_steps import NothingHere, TimedSteps

PARTS = pathlib.Path(__file__).parent
SECONDS_A_SERIES = 1.5  # of GEMMs with and without telemetry
SANITIZED = ("attention", "norm", "sums")  # kernels with shared memory


@dataclasses.dataclass
class Place:
    record: dict
    steps: TimedSteps
    program: pathlib.Path  # the folder of benchctl
    folder: pathlib.Path   # for databases, removed at the end
    rounds: int            # of telemetry on and off


def keep_report(entry, at, suite, environment=None, needed=True, key="report"):
    """The report of a suite, without which a `needed` one ends the check."""
    report = at.steps.suite(entry, at.program, suite, at.folder, environment)
    entry[key] = {key: value for key, value in report.items() if key != "machine"}  # of which the inventory has enough
    reasons = {str(r["reason"]) for r in report["results"] if r["outcome"] == "skipped"}
    skipped = all(r["outcome"] == "skipped" for r in report["results"])
    if needed and not entry["out_of_time"]:
        if not report["results"]:
            entry["bad"].append(f"suite {suite} measured nothing")
        elif skipped:
            raise NothingHere("; ".join(sorted(reasons)))
    return report


def peer(entry, at, name, script, *words):
    """The answer of one of our scripts about PyTorch; a peer that fails is a missing one."""
    try:
        return at.steps.answer(entry, name, [sys.executable, PARTS / script, *words])
    except RuntimeError as error:
        entry["missing"] = str(error)
        return None


def take_inventory(entry, at):
    entry["gpus"] = inventory.gpus()
    entry["ours"] = at.steps.answer(entry, "training_gpu_check", sanitizer.of_training(at.program, "kernels", "--named", "128"))
    if entry["ours"] is None and "missing" in entry:
        raise NothingHere(entry["missing"])
    entry["torch"] = peer(entry, at, "PyTorch", "torch_inventory.py")


def smoke(entry, at):
    report = keep_report(entry, at, "gpu_faults")
    entry["bad"] += went_wrong(report) + unverified(report)


def faults(entry, at):
    report = keep_report(entry, at, "gpu_faults", {"BENCH_FAULT": "bit_flip"})
    entry["bad"] += not_caught(report)
    entry["caught"] = sum(r["outcome"] == "invalid" for r in report["results"] if r["metric"])
    if entry["caught"] == 0 and not entry["out_of_time"]:
        entry["bad"].append("no fault was noticed")
    rare = keep_report(entry, at, "gpu_rare_faults", {"BENCH_FAULT": "rare_flip"}, needed=False, key="rare")
    entry["bad"] += not_caught(rare)
    if not entry["out_of_time"] and not any(r["outcome"] == "invalid" for r in rare["results"]):
        entry["bad"].append("one flipped bit of one GEMM among many was not noticed")


def compare_kernels(entry, at):
    entry["found"] = at.steps.answer(entry, "training_gpu_check", sanitizer.of_training(at.program, "kernels", "steps"))
    entry["bad"] += training.of_found(entry["found"])


def compare_damaged(entry, at):
    entry["found"] = at.steps.answer(entry, "training_gpu_check", sanitizer.of_training(at.program, "--damage"))
    entry["bad"] += training.of_damaged(entry["found"])


def memcheck(entry, at):
    sanitizer.check(at.steps, entry, "memcheck", "training_gpu_check", sanitizer.of_training(at.program, "kernels"))
    database = at.folder / "memcheck.sqlite"
    sanitizer.check(at.steps, entry, "memcheck", "suite gpu_faults", [at.program / "benchctl", "run", "gpu_faults", "--db", database])


def check_shared_memory(entry, at, tool):
    named = [word for name in SANITIZED for word in ("--named", name)]
    sanitizer.check(at.steps, entry, tool, "training_gpu_check", sanitizer.of_training(at.program, "kernels", *named))


def collectives(entry, at):
    report = keep_report(entry, at, "collectives_gpu", needed=False)
    entry["bad"] += went_wrong(report) + unverified(report)


def train_together(entry, at):
    entry["bad"] += went_wrong(keep_report(entry, at, "training_gpu", needed=False))  # judged by its gradients


def gemm_seconds(spool):
    """Where the time of a run's GEMMs went: {phase: seconds}."""
    total = {}
    for facts in facts_in(spool, "gemm_seconds"):
        for phase, seconds in facts["seconds"].items():
            total[phase] = total.get(phase, 0.0) + seconds
    return total


def suite_gpu(entry, at):
    report = keep_report(entry, at, "gpu")
    entry["bad"] += went_wrong(report) + unverified(report)
    if "run" in report:
        spool = spool_of(at.folder, report["run"])
        entry["gemm_seconds"], entry["memory_ways"] = gemm_seconds(spool), facts_in(spool, "memory_way")


def torch_products(entry, at):
    entry["found"] = peer(entry, at, "PyTorch", "torch_peers.py")


def installed(entry, at):
    ranks = installed_peers.ranks_of(results(at.record, "collectives_gpu"))
    entry["rows"], entry["missing_peers"] = installed_peers.rows(at.steps, entry, ranks)


def time_training(entry, at):
    entry["found"] = at.steps.answer(entry, "training_gpu_check", sanitizer.of_training(at.program, "timings"))
    entry["bad"] += training.of_timings(entry["found"])


def time_torch(entry, at):
    entry["found"] = peer(entry, at, "PyTorch", "torch_training.py", "--seconds", str(at.steps.left() - 10))


def price_telemetry(entry, at):
    if at.rounds == 0:
        entry["out_of_time"].append("no rounds were asked for")
        return
    found = entry["found"] = telemetry_overhead.compare(at.program, at.folder, "cuda", at.rounds, SECONDS_A_SERIES, at.steps.say, at.steps.left)
    if found["problem"]:
        entry["bad"].append(found["problem"])
    elif found["rounds"] < min(at.rounds, telemetry_overhead.FEWEST_ROUNDS):
        entry["out_of_time"].append(f"{found['rounds']} of {at.rounds} rounds")
    elif found["verdict"] == "above":
        entry["bad"].append(f"telemetry costs more than {100 * telemetry_overhead.AIM} %")
    elif found["verdict"] == "not measured":
        entry["bad"].append("no pair of GEMMs was right in both cases")


WORK = {
    "inventory": take_inventory,
    "smoke": smoke,
    "faults": faults,
    "kernels": compare_kernels,
    "damage": compare_damaged,
    "memcheck": memcheck,
    "collectives_gpu": collectives,
    "training_gpu": train_together,
    "gpu": suite_gpu,
    "torch": torch_products,
    "installed": installed,
    "training": time_training,
    "torch_training": time_torch,
    "racecheck": lambda entry, at: check_shared_memory(entry, at, "racecheck"),
    "initcheck": lambda entry, at: check_shared_memory(entry, at, "initcheck"),
    "telemetry": price_telemetry,
}
