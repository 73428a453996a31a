"""Scores and convergence verdicts of the official tools, many in one process: python mlperf_official_scores.py CHECKOUT QUESTIONS

QUESTIONS has a line of JSON for each folder of logs: folder, benchmark, ruleset. The answer: the score in minutes without a scaling
file (null where there is none), whether the convergence test passes, its message and its factor, or what it crashed with.
"""

import contextlib
import io
import json
import logging
import sys

import yaml

sys.path.insert(0, sys.argv[1])
from mlperf_logging.rcp_checker import rcp_checker  # noqa: E402
from mlperf_logging.result_summarizer import result_summarizer  # noqa: E402

read_yaml = yaml.load
KNOWN = {}


def kept_yaml(file, Loader):  # noqa: N803 (the name that is passed)
    """Rereading the rules takes most of the checker's time and does not affect its verdict."""
    if file.name not in KNOWN:
        KNOWN[file.name] = read_yaml(file, Loader=Loader)
    return KNOWN[file.name]


def scored(question):
    try:
        score, _, factor = result_summarizer._compute_strong_score_standalone(
            question["benchmark"], "system", False, question["folder"], "training", question["ruleset"])
        return {"score": None if score is None else score / factor}
    except Exception as error:  # noqa: BLE001 (whatever ends it)
        return {"score_crash": repr(error)[:200]}


def tested(question):
    try:
        passed, text, factor = rcp_checker.check_directory(
            question["folder"], "training", question["ruleset"], False, False, rcp_pass="pruned_rcps", set_scaling=False)
        return {"pass": bool(passed), "text": text, "factor": float(factor)}
    except Exception as error:  # noqa: BLE001
        return {"pass": False, "test_crash": repr(error)[:200]}


def main():
    yaml.load = kept_yaml
    logging.disable(logging.CRITICAL)
    for line in open(sys.argv[2], encoding="utf-8"):
        question = json.loads(line)
        with contextlib.redirect_stdout(io.StringIO()):
            answer = {**scored(question), **tested(question)}
        print(json.dumps(answer))


main()
