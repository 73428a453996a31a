"""Compares our mean average precision with pycocotools' on random images, with ignored regions, ties and all areas.

usage: detection_peer_test.py DETECTION_PRECISION   (run in the root of the repository)
exits 77, which ctest shows as skipped, where pycocotools is not installed
"""

import contextlib
import io
import json
import random
import subprocess
import sys

try:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval
except ImportError:
    print("skipped: pycocotools is not installed")
    sys.exit(77)

CASES, CLASSES, TOLERANCE = 60, 3, 1e-9


def box(rng):
    size = rng.choice([12.0, 30.0, 60.0, 120.0]) * rng.uniform(0.7, 1.4)
    left, top = rng.uniform(0.0, 300.0), rng.uniform(0.0, 300.0)
    return [left, top, left + size, top + size * rng.uniform(0.6, 1.6)]


def moved(rng, at, by):
    across, down = by * (at[2] - at[0]), by * (at[3] - at[1])
    return [at[0] + rng.gauss(0, across), at[1] + rng.gauss(0, down), at[2] + rng.gauss(0, across), at[3] + rng.gauss(0, down)]


def image(rng):
    truths = [box(rng) + [rng.randrange(CLASSES), int(rng.random() < 0.2)] for _ in range(rng.randint(0, 8))]
    detections = [box(rng) + [rng.randrange(CLASSES), rng.random()] for _ in range(rng.randint(0, 4))]
    for truth in truths:
        for _ in range(rng.randint(0, 3)):
            label = truth[4] if rng.random() < 0.9 else rng.randrange(CLASSES)
            detections.append(moved(rng, truth[:4], 0.06) + [label, round(rng.random(), 1)])  # rounded: some scores are equal
    if rng.random() < 0.05:  # more than count
        detections += [box(rng) + [0, rng.random()] for _ in range(150)]
    return {"truths": truths, "detections": detections}


def case(rng):
    return {"classes": CLASSES, "images": [image(rng) for _ in range(rng.randint(1, 12))]}


def ours(cases):
    lines = "".join(json.dumps(one) + "\n" for one in cases)
    done = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def rectangle(numbers):
    return [numbers[0], numbers[1], numbers[2] - numbers[0], numbers[3] - numbers[1]]


def theirs(one):
    truth, found = COCO(), []
    annotations = []
    for number, shown in enumerate(one["images"], 1):
        for item in shown["truths"]:
            at = rectangle(item)
            annotations.append({"id": len(annotations) + 1, "image_id": number, "category_id": item[4] + 1, "bbox": at,
                                "area": at[2] * at[3], "iscrowd": item[5]})
        found += [{"image_id": number, "category_id": item[4] + 1, "bbox": rectangle(item), "score": item[5]}
                  for item in shown["detections"]]
    truth.dataset = {"info": {}, "images": [{"id": number} for number in range(1, len(one["images"]) + 1)], "annotations": annotations,
                     "categories": [{"id": label + 1} for label in range(one["classes"])]}
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        if not found:
            return None
        judge = COCOeval(truth, truth.loadRes(found), "bbox")
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    names = {"all": 0, "at_50": 1, "at_75": 2, "small": 3, "medium": 4, "large": 5, "recall": 8}
    return {name: None if judge.stats[place] < 0 else judge.stats[place] for name, place in names.items()}


def main():
    rng = random.Random(7)
    cases = [case(rng) for _ in range(CASES)]
    answers = ours(cases)
    assert len(answers) == CASES, len(answers)
    compared = 0
    for one, answer in zip(cases, answers):
        for name, value in (theirs(one) or {}).items():
            assert (answer[name] is None) == (value is None), (name, answer[name], value)
            assert value is None or abs(answer[name] - value) < TOLERANCE, (name, answer[name], value, one)
            compared += 1
    assert compared > 6 * CASES, compared
    print(f"{compared} numbers of {CASES} sets of images agree with pycocotools")


main()
