"""Compares our expected recall@k and NDCG@k with scikit-learn's top_k_accuracy_score and ndcg_score.

usage: ranking_peer_test.py RANKING_WORTH   (run in the root of the repository)
exits 77, which ctest shows as skipped, where scikit-learn is not installed
"""

import json
import random
import subprocess
import sys

try:
    import numpy
    from sklearn.metrics import ndcg_score, top_k_accuracy_score
except ImportError:
    print("skipped: scikit-learn is not installed")
    sys.exit(77)

CASES, TOLERANCE = 200, 1e-9


def case(rng):
    items = rng.randint(3, 60)
    weights = [rng.expovariate(1.0) ** 3 for _ in range(items)]
    return {"scores": [rng.gauss(0.0, 1.0) for _ in range(items)], "probabilities": [w / sum(weights) for w in weights],
            "k": rng.randint(1, items - 1)}


def ours(cases):
    lines = "".join(json.dumps(one) + "\n" for one in cases)
    done = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def theirs(one):
    """Of a wanted item drawn by the probabilities: each item is the wanted one in turn, weighted by its probability."""
    items, k = len(one["scores"]), one["k"]
    weights, wanted = numpy.array(one["probabilities"]), numpy.eye(items)

    def worth(by):
        scores = numpy.tile(by, (items, 1))
        return (top_k_accuracy_score(numpy.arange(items), scores, k=k, sample_weight=weights),
                ndcg_score(wanted, scores, k=k, sample_weight=weights))

    recall, ndcg = worth(one["scores"])
    best_recall, best_ndcg = worth(one["probabilities"])
    # The ratio to the best one is what ndcg_score makes of the probabilities as graded relevance.
    graded = ndcg_score([one["probabilities"]], [one["scores"]], k=k)
    assert abs(ndcg / best_ndcg - graded) < TOLERANCE, (one, ndcg / best_ndcg, graded)
    return {"recall": recall, "ndcg": ndcg, "best_recall": best_recall, "best_ndcg": best_ndcg}


def main():
    rng = random.Random(7)
    cases = [case(rng) for _ in range(CASES)]
    answers = ours(cases)
    assert len(answers) == CASES, len(answers)
    for one, answer in zip(cases, answers):
        for name, value in theirs(one).items():
            assert abs(answer[name] - value) < TOLERANCE, (one, name, answer[name], value)
    print(f"{CASES} rankings agree with scikit-learn")


main()
