"""Compares `mlperf check` with the official checker, where Python's package mlperf_logging is installed: verdicts on synthetic logs of every
benchmark, division and rule set, right ones and damaged ones, by our rule sets and by those derived from the package.

usage: official_check_test.py MLPERF_VERDICTS LOGS

The same as scripts/evidence mlperf_parity, with fewer logs.
"""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def parity_module():
    sys.dont_write_bytecode = True
    folder = ROOT / "scripts" / "evidence.d"
    sys.path.insert(0, str(folder))
    loader = importlib.machinery.SourceFileLoader("mlperf_parity", str(folder / "mlperf_parity"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mlperf_parity", loader))
    loader.exec_module(module)
    return module


def main():
    spec = importlib.util.find_spec("mlperf_logging")
    if spec is None or not spec.submodule_search_locations:
        print("skipped: the Python package mlperf_logging is not installed")
        sys.exit(77)
    parity = parity_module()
    parity.BIN = pathlib.Path(sys.argv[1]).resolve().parent
    os.environ["BENCH_PYTHON"] = sys.executable
    logging = pathlib.Path(next(iter(spec.submodule_search_locations))).parent
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        parity.write_logs(folder, int(sys.argv[2]), seed=2)
        questions = [json.loads(line) for line in open(folder / "questions", encoding="utf-8")]
        ours, theirs = parity.ours(questions), parity.theirs(folder, logging)
        different = [(q["done"], our, their) for q, our, their in zip(questions, ours, theirs, strict=True) if not parity.same(our, their)]
        for one in different[:10]:
            print(json.dumps(one))
        compared, derived = parity.derived_differences(questions, theirs, parity.derived_rule_sets(folder / "derived", logging))
    verdicts = [their["verdict"] for their in theirs]
    print(f"{len(questions)} logs: {verdicts.count('pass')} pass, {len(different)} judged otherwise; {compared} by derived rules: {derived} otherwise")
    assert not different and not derived
    assert 0 < verdicts.count("pass") < len(verdicts), "nothing that passes, or nothing that fails, compares nothing"


if __name__ == "__main__":
    main()
