"""compute-sanitizer over our programs: its errors, each kind once."""

import os
import pathlib
import re
import shutil

PLACES = ("/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer")
SUMMARY = re.compile(r"^=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?$|hazards?)", re.MULTILINE)
FINDING = re.compile(r"^=+ ((?:Invalid|Misaligned|Program hit|Uninitialized|(?:Error|Warning): (?:Race|Potential)|Barrier).*)\n=+ +(at .*|.*)",
                     re.MULTILINE)


# NCCL asks CUDA for things that a system may lack; our own calls are checked where they are made.
API_ERRORS = {"memcheck": ["--report-api-errors", "no"], "racecheck": [], "initcheck": []}


def program():
    return shutil.which("compute-sanitizer", path=os.pathsep.join([os.environ.get("PATH", ""), *PLACES]))


def read(text):
    """{"errors": number of errors, None if it did not come to an end; "kinds": {description: how often}}."""
    summaries = [int(number) for number in SUMMARY.findall(text)]
    kinds = {}
    for what, where in FINDING.findall(text):
        words = f"{what.strip()} {where.strip()}"
        kinds[words] = kinds.get(words, 0) + 1
    return {"errors": sum(summaries) if summaries else None, "kinds": kinds}


def check(steps, entry, tool, name, command):
    """Adds what `tool` finds in the program to the entry."""
    sanitizer = program()
    if sanitizer is None:
        entry["missing"] = "compute-sanitizer is not on the PATH, nor in /usr/local/cuda"
        return
    ended = steps.program(entry, name, [sanitizer, "--tool", tool, "--target-processes", "all", *API_ERRORS[tool], *map(str, command)], keep_errors=True)
    if ended is None:
        return
    text = ended[1].decode(errors="replace")
    found = read(text)
    entry.setdefault("programs", {})[name] = {"exit_code": ended[0], **found}
    if found["errors"] is None:
        entry["bad"].append(f"{name}: {tool} came to no end: {last_line(text)}")
    elif found["errors"] > 0:
        kinds = "; ".join(f"{count} x {words}" for words, count in list(found["kinds"].items())[:3])
        entry["bad"].append(f"{name}: {tool} found {found['errors']} errors: {kinds}")
    elif ended[0] != 0:
        entry["bad"].append(f"{name}: ended with {ended[0]} under {tool}: {last_line(text)}")


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"


def of_training(folder, *words):
    return [pathlib.Path(folder) / "training_gpu_check", *words]
