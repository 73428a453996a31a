"""A small training that knows nothing of benchctl: logistic regression on two clouds of points, in plain Python.

It reads its seed from BENCH_SEED and prints MLPerf's log lines, as mlperf_logging would.
"""

import json
import math
import os
import random
import time

TARGET = 0.95
BATCH = 50
EVALUATE_EVERY = 10  # steps
STEPS = 2000


def log(event_type, key, value=None, **metadata):
    line = {"namespace": "", "time_ms": int(time.time() * 1000), "event_type": event_type, "key": key, "value": value,
            "metadata": {"file": "trainer.py", "lineno": 0, **metadata}}
    print(":::MLLOG " + json.dumps(line), flush=True)


def points(rng, count):
    """Of two classes, with 8 coordinates each; a perfect model is right about 97 times in 100."""
    for _ in range(count):
        label = rng.randrange(2)
        yield [rng.gauss(0.67 * (2 * label - 1), 1.0) for _ in range(8)], label


def probability(weights, point):
    return 1.0 / (1.0 + math.exp(-sum(w * x for w, x in zip(weights, point))))


def main():
    log("INTERVAL_START", "init_start")
    seed = int(os.environ["BENCH_SEED"])
    log("POINT_IN_TIME", "seed", seed)
    log("POINT_IN_TIME", "global_batch_size", BATCH)
    rng = random.Random(seed)
    weights = [rng.gauss(0.0, 1.0) for _ in range(8)]
    held_out = list(points(random.Random(-1), 2000))
    log("POINT_IN_TIME", "eval_samples", len(held_out))
    log("INTERVAL_END", "init_stop")
    log("INTERVAL_START", "run_start")
    accuracy, samples = 0.0, 0
    while accuracy < TARGET and samples < STEPS * BATCH:
        log("INTERVAL_START", "block_start", samples_count=samples)
        for _ in range(EVALUATE_EVERY):
            gradient = [0.0] * 8
            for point, label in points(rng, BATCH):
                error = probability(weights, point) - label
                gradient = [g + error * x / BATCH for g, x in zip(gradient, point)]
            weights = [w - 0.1 * g for w, g in zip(weights, gradient)]
            samples += BATCH
        log("INTERVAL_END", "block_stop", samples_count=samples)
        log("INTERVAL_START", "eval_start", samples_count=samples)
        accuracy = sum((probability(weights, p) > 0.5) == (label == 1) for p, label in held_out) / len(held_out)
        log("POINT_IN_TIME", "eval_accuracy", accuracy, samples_count=samples)
        log("INTERVAL_END", "eval_stop", samples_count=samples)
    log("INTERVAL_END", "run_stop", samples_count=samples, status="success" if accuracy >= TARGET else "aborted")


main()
