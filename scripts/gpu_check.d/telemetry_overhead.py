"""Cost of telemetry: GEMMs with telemetry on and off, alternating, as ratios of pairs.

The time of a product is the mean over *all* samples of a series: a reading of counters ten times a second disturbs one
sample in many, which a median, or the filter of disturbed samples, would hide. A round is one run of two cases, telemetry on
and off, whose order changes from round to round, so that what drifts meets both alike.
"""

import json
import math
import statistics
import subprocess
import time

from run_facts import facts_in, spool_of

AIM = 0.005
FEWEST_ROUNDS = 6  # of five values no interval holds the median with 95 %
SHAPES = {"host": [512, 512, 512], "cuda": [8192, 8192, 8192]}
DTYPES = {"host": ["f32"], "cuda": ["bf16"]}


def suite(device, on_first, seconds):
    cases = [{
        "name": "on" if on else "off", "probe": "gemm", "device": device, "timeout_s": 120 + 20 * seconds,
        "params": {"dtypes": DTYPES[device], "shapes": [SHAPES[device]], "threads": [1, 0] if device == "host" else [1]},
        "measure": {"min_time_s": seconds, "max_time_s": seconds + 0.5, "max_samples": 1000000, "interval": 0.000001},
        "telemetry": {"enabled": on},
    } for on in (on_first, not on_first)]
    return {"suite": "telemetry_overhead", "cases": cases}


def mean_time(values):
    """Time of one GEMM relative to others of its size: the mean of 1 / throughput."""
    times = [1.0 / value for value in values if value]
    return statistics.fmean(times) if times else None


def pairs(results):
    """{GEMM: time with telemetry / time without} of one round's exported results."""
    times = {}
    for result in results:
        if result.get("metric") != "gemm.throughput" or result.get("outcome") != "ok":
            continue
        key = json.dumps({k: result["params"].get(k) for k in ("dtype", "m", "threads")}, sort_keys=True)
        times.setdefault(key, {})[result["case"]] = mean_time(result["values"])
    return {key: both["on"] / both["off"] for key, both in times.items() if both.get("on") and both.get("off")}


def median_interval(values, confidence=0.95):
    """Interval of the median by order statistics (binomial, distribution-free); None for too few values."""
    n = len(values)
    ordered = sorted(values)
    for rank in range(n // 2, 0, -1):  # the narrowest that is wide enough
        outside = 2 * sum(math.comb(n, k) for k in range(rank)) / 2**n
        if outside <= 1 - confidence:
            return ordered[rank - 1], ordered[n - rank]
    return None


def judge(ratios):
    """Median cost of one series, and whether it is shown to be below the limit."""
    interval = median_interval(ratios)
    low, high = (bound - 1.0 for bound in interval) if interval else (None, None)
    verdict = "inconclusive" if interval is None or (low <= AIM <= high) else "below" if high < AIM else "above"
    return {"rounds": len(ratios), "overhead": statistics.median(ratios) - 1.0, "low": low, "high": high,
            "aim": AIM, "verdict": verdict, "ratios": ratios}


def one_round(program, folder, device, on_first, seconds, most=None):
    path, database = folder / "overhead.json", folder / "overhead.sqlite"
    path.write_text(json.dumps(suite(device, on_first, seconds)))
    done = subprocess.run([program / "benchctl", "run", path, "--json", "--db", database], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=most)
    try:
        run = json.loads(done.stdout)["run"]
    except ValueError:
        raise RuntimeError(f"benchctl run ended with {done.returncode}: {done.stderr[-2000:]}") from None
    exported = subprocess.run([program / "benchctl", "export", "jsonl", run, "--db", database], stdout=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True, check=True)
    return pairs([json.loads(line) for line in exported.stdout.splitlines()]), sampler_shares(spool_of(folder, run))


def sampler_shares(spool):
    """CPU seconds per second of the sampling thread in each job with telemetry, by its own CPU clock."""
    shares = [facts.get("cpu_share") for facts in facts_in(spool, "telemetry")]
    return [share for share in shares if share is not None]


def take_rounds(one, rounds, least, say, left):
    """(results by round, reason for an early end or None). A round starts only if `left()` seconds suffice for the longest round so far,
    at first `least`. A failed round is the last."""
    taken, longest = [], least
    for number in range(rounds):
        seconds = left()
        if seconds < longest:
            break
        say(f"telemetry on and off: round {number + 1} of {rounds}")
        began = time.monotonic()
        try:
            taken.append(one(number % 2 == 0, None if math.isinf(seconds) else seconds))
        except subprocess.TimeoutExpired:
            break
        except (RuntimeError, subprocess.CalledProcessError, OSError, KeyError, ValueError) as error:
            return taken, f"round {number + 1} of {rounds}: {type(error).__name__}: {error}"
        longest = max(longest, time.monotonic() - began)
    return taken, None


def compare(program, folder, device, rounds, seconds, say, left=lambda: math.inf):
    """Verdict of each series and of all: the worst, or "failed" with the `problem` if a round failed. Also the CPU share of the sampling
    thread: a workload that leaves no core idle loses that share over its cores, plus cache effects."""
    taken, problem = take_rounds(lambda on_first, most: one_round(program, folder, device, on_first, seconds, most), rounds,
                                 4 * seconds, say, left)
    ratios, shares = {}, [share for _, of_round in taken for share in of_round]
    for of_round, _ in taken:
        for key, ratio in of_round.items():
            ratios.setdefault(key, []).append(ratio)
    series = [{"params": json.loads(key), **judge(values)} for key, values in sorted(ratios.items())]
    verdicts = {one["verdict"] for one in series}
    worst = next((word for word in ("above", "inconclusive", "below") if word in verdicts), "not measured")
    return {"device": device, "seconds_a_series": seconds, "rounds": len(taken), "verdict": "failed" if problem else worst,
            "problem": problem,
            "sampler_cpu_share": {"median": statistics.median(shares), "max": max(shares), "jobs": len(shares)} if shares else None,
            "series": series}
