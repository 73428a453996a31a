"""Verdicts of the official compliance checker, many in one process: python mlperf_official.py CHECKOUT QUESTIONS

QUESTIONS has a line of JSON for each log: path, ruleset, werror. The answer: verdict, the keys that failed, how many failures
have no key.
"""

import json
import logging
import sys

import yaml

sys.path.insert(0, sys.argv[1])
from mlperf_logging.compliance_checker import mlp_compliance  # noqa: E402

read_yaml = yaml.load
KNOWN = {}
MOST_CONFIGS = 10  # common, a division, a benchmark: three, where no rules follow themselves


def kept_yaml(file, Loader):  # noqa: N803 (the name that is passed)
    """Rereading the rules takes most of the checker's time and does not affect its verdict."""
    if file.name not in KNOWN:
        KNOWN[file.name] = read_yaml(file, Loader=Loader)
    return KNOWN[file.name]


def verdict(question):
    checker = mlp_compliance.make_checker("training", question["ruleset"], False, question["werror"])
    mlp_compliance.enqueued_configs.clear()
    seen = []

    def enqueue(config, plain=mlp_compliance.enqueued_configs.append):
        seen.append(config)
        if len(seen) < MOST_CONFIGS:
            plain(config)

    mlp_compliance.enqueue_config = enqueue
    try:
        passed = checker.check_file(question["path"], f"training_{question['ruleset']}/common.yaml")
    except Exception as error:  # noqa: BLE001 (whatever ends it)
        return {"verdict": "crash", "error": repr(error)[:200]}
    if len(seen) >= MOST_CONFIGS:
        return {"verdict": "crash", "error": "rules that follow themselves: it would never end"}
    failures = [str(one).split("\n")[0] for one in checker.overwritable.values()]
    return {"verdict": "pass" if passed else "fail", "keys": sorted(checker.overwritable), "others": len(checker.not_overwritable),
            "texts": failures + [str(one)[:200] for one in checker.not_overwritable]}


def main():
    yaml.load = kept_yaml
    logging.disable(logging.CRITICAL)
    for line in open(sys.argv[2], encoding="utf-8"):
        print(json.dumps(verdict(json.loads(line))))


main()
