"""Compares `mlperf check` with the official checker, where Python's package mlperf_logging is installed: verdicts on synthetic logs of every
benchmark, division and rule set, right ones (which must pass both) and damaged ones, by our rule sets and by those derived from the package.

usage: official_check_test.py MLPERF_VERDICTS LOGS

The same as scripts/evidence mlperf_parity, with fewer logs. Then the energy of runs by `mlperf score` with the official summarizer's, on random
power logs.
"""

import importlib.machinery
import importlib.util
import json
import math
import os
import pathlib
import random
import subprocess
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


def mllog(time_ms, key, value=None):
    return ":::MLLOG " + json.dumps({"namespace": "", "time_ms": time_ms, "event_type": "POINT_IN_TIME", "key": key, "value": value,
                                     "metadata": {"file": "power.py", "lineno": 1}}) + "\n"


def write_power_logs(folder, luck, run):
    """Three nodes and a switch, with jitter, readings out of order and outside the measurement, and efficiencies or none."""
    begin = 1_760_000_000_000
    for node in range(3):
        lines = [mllog(begin - 500, "power_reading", 5e3)] * luck.randrange(2)
        if luck.random() < 0.5:
            lines.append(mllog(begin, "conversion_eff", luck.uniform(0.8, 1.0)))
        lines.append(mllog(begin, "power_measurement_start"))
        times = [begin + 1000 * i + luck.randrange(900) for i in range(1, luck.randrange(61, 200))]
        lines += [mllog(time, "power_reading", luck.uniform(300, 9000)) for time in luck.sample(times, len(times))]
        if luck.random() < 0.8:
            lines.append(mllog(begin + luck.randrange(40_000, 250_000), "power_measurement_stop"))
        (folder / f"node_{node}.txt").write_text("".join(lines))
    estimate = [mllog(begin, "conversion_eff", 0.9), mllog(begin, "interconnect_power_est", 250.0)]
    (folder / "sw_0.txt").write_text("".join(estimate[::luck.choice([1, -1])]))


def compare_energy(folder, benchctl):
    from mlperf_logging.result_summarizer import result_summarizer
    luck = random.Random(7)
    entry = folder / "acme" / "results" / "system" / "llama31_8b"
    for run in range(20):
        (entry / "power" / f"result_{run}").mkdir(parents=True)
        minutes = luck.uniform(2, 300)
        (entry / f"result_{run}.txt").write_text(mllog(1_760_000_000_000, "run_start") + mllog(1_760_000_000_000 + int(minutes * 60000), "run_stop"))
        write_power_logs(entry / "power" / f"result_{run}", luck, run)
    done = subprocess.run([benchctl, "mlperf", "score", folder, "--ruleset", "5.1.0", "--json"], capture_output=True, text=True)
    runs = {run["file"]: run for run in json.loads(done.stdout)["entries"][0]["runs"]}
    assert len(runs) == 20, done.stdout[:2000]
    for name, run in runs.items():
        milliseconds = run["run_stop_ms"] - run["run_start_ms"]
        official = result_summarizer._compute_total_power(str(entry), str(entry / name), milliseconds, "5.1.0")
        assert math.isclose(run["energy_joules"], official, rel_tol=1e-12), f"{name}: {run['energy_joules']} J, official: {official}"
    print(f"{len(runs)} runs with the official summarizer's energy")


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
        right, refused = parity.refused_right_logs(folder / "right", logging)
        assert not refused, f"{len(refused)} of {right} right logs are refused, the first: {json.dumps(refused[0])}"
        parity.write_logs(folder, int(sys.argv[2]), seed=2)
        questions = [json.loads(line) for line in open(folder / "questions", encoding="utf-8")]
        ours, theirs = parity.ours(questions), parity.theirs(folder, logging)
        different = [(q["done"], our, their) for q, our, their in zip(questions, ours, theirs, strict=True) if not parity.same(our, their)]
        for one in different[:10]:
            print(json.dumps(one))
        compared, derived = parity.derived_differences(questions, theirs, parity.derived_rule_sets(folder / "derived", logging))
        compare_energy(folder / "energy", parity.BIN / "benchctl")
    verdicts = [their["verdict"] for their in theirs]
    print(f"{len(questions)} logs: {verdicts.count('pass')} pass, {len(different)} judged otherwise; {compared} by derived rules: {derived} otherwise")
    assert not different and not derived
    assert 0 < verdicts.count("pass") < len(verdicts), "nothing that passes, or nothing that fails, compares nothing"


if __name__ == "__main__":
    main()
