"""Changes to an MLPerf log that a checker must judge like the official one."""

import copy
import json

ODD_VALUES = [
    None, True, False, 0, 1, -1, 2, 16, 16.0, 256, 1152, 8192, 15360, 16384, 0.0, -0.0, 0.5, 0.9, 0.95, 1.0, 1.0000001, 0.70, 0.586,
    3.3, 3.34, 3.6, 5.6, 0.925, 0.72, 0.34, 0.80275, 8e-05, 2.4e-05, 1e-06, 0.125, 1e-9, 1e300, -1e300, 5e-324, float("nan"),
    float("inf"), float("-inf"), 2**53 + 1, 2**63, -(2**63), 2**64, 10**30, 10**310, -(10**400), "", " ", "16", "adamw", "closed",
    "open", "0.9", "nan", "\u00e9", "\x00", [], [1], ["samples_count"], {}, {"samples_count": 1}, "samples_count",
    {"a": [None, {"b": 1.5}]}]
DIVISIONS = ["closed", "open", "", "Closed", "closed ", None, "common", [], 1, "hpc", "closed/llama31_8b"]
TIMES = ["1759858994000", "1.5e12", "1.2.3", "nan", "", None, True, 0, -1, 1.75e12, 1e400, "Infinity", [], {}, 10**400, "1_000"]
METADATA = [None, {}, [], 3, "samples_count", "status", ["samples_count"], ["status", "epoch_num"], True, 1.5,
            {"samples_count": None}, {"epoch_num": "x"}, {"epoch_count": 0}, {"epoch_count": 1, "first_epoch_num": 0},
            {"epoch_count": "1", "first_epoch_num": 0}, {"samples_count": -1}, {"samples_count": "4608"},
            {"samples_count": 4608.0}, {"samples_count": float("nan")}, {"metric": "FID"}, {"metric": [], "samples_count": 16}, {"samples_count": []},
            {"metric": None, "samples_count": 16}, {"metric": "CLIP", "samples_count": []}, {"status": "aborted"}]
LINES = [":::MLLOG {", ":::MLLOG", ":::MLLOG []", ":::MLLOG null", ":::MLLOG 3", ':::MLLOG "key"', ":::MLLOG {}", "::: MLLOG {}",
         ":::mllog {}", ":::MLLOG {'key': 1}", ":::MLLOG " + "[" * 100000, "epoch 1\r\repoch 2", ":::MLLOG {\"key\": NaN}",
         "\ufeff", ""]
NUMBERS = (int, float)


def objects(lines):
    """What is a line of MLPerf logging, and not a text that stands between them."""
    return [one for one in lines if isinstance(one, dict)]


def of_key(rng, lines, key=None):
    """A line of one key, each key as likely as any other."""
    key = key or rng.choice(sorted({one["key"] for one in objects(lines)}))
    return rng.choice([one for one in objects(lines) if one["key"] == key])


def near(rng, value):
    """Another value, often close to the one there."""
    if isinstance(value, NUMBERS) and not isinstance(value, bool) and rng.random() < 0.6:
        return rng.choice([-value, value + 1, value - 1, value * 2, value / 2, value * (1 + 1e-15), value * 1.0001, str(value),
                           float(value), [value], value + 1e-10, value * 10**20])
    return rng.choice(ODD_VALUES)


def change_value(rng, lines):
    one = of_key(rng, lines)
    division = one["key"] == "submission_division" and rng.random() < 0.5
    one["value"] = rng.choice(DIVISIONS) if division else near(rng, one["value"])


def change_batch(rng, lines):
    """The batch size, and at times what follows from it."""
    batch = rng.choice([8, 16, 64, 256.0, 512, 1152, 1280, 2304, 8192.0, 15360, 16384, 18432, 32768, 0, -256, -1e-6, 0.5, 1e-300, 10**20, True])
    of_key(rng, lines, "global_batch_size")["value"] = batch
    for key, scale in (("opt_base_learning_rate", 8e-5 / 1152), ("opt_learning_rate_decay_steps", 1.0)):
        found = [one for one in objects(lines) if one["key"] == key]
        if found and rng.random() < 0.7 and isinstance(batch, NUMBERS) and batch > 0:
            found[0]["value"] = rng.choice([batch * scale, 2.4e-05 * (batch / 16384) ** 0.5, 1e-6 * (batch / 256) ** 0.5,
                                           0.5e-6 * batch / 8192, 1.5e-6 * batch / 8192])
    for one in objects(lines):
        if one["key"] == "num_prompts_per_step" and rng.random() < 0.7:
            one["value"] = batch / 16
        if one["key"] == "opt_gradient_clip_norm" and rng.random() < 0.7 and batch > 0:
            one["value"] = 0.125 * (256 / batch) ** 0.5


def change_metadata(rng, lines):
    one = of_key(rng, lines)
    if rng.random() < 0.5 or not isinstance(one["metadata"], dict):
        one["metadata"] = copy.deepcopy(rng.choice(METADATA))
    elif rng.random() < 0.5:
        one["metadata"].update(copy.deepcopy(rng.choice([m for m in METADATA if isinstance(m, dict)])))
    elif one["metadata"]:
        del one["metadata"][rng.choice(sorted(one["metadata"]))]


def change_progress(rng, lines):
    one = of_key(rng, lines, rng.choice(["eval_accuracy", "block_start", "block_stop", "eval_start"]))
    if isinstance(one["metadata"], dict) and "samples_count" in one["metadata"]:
        one["metadata"]["samples_count"] = near(rng, one["metadata"]["samples_count"])


def change_evaluation(rng, lines):
    for one in objects(lines):
        if one["key"] == "eval_accuracy" and rng.random() < 0.7:
            one["value"] = rng.choice([near(rng, one["value"]), 0.925, 3.3, 5.6, 0.586, 0.72, 0.34, 0.80275, 0.69, 1.0, 0.0, 1e9,
                                       -1.0])


def change_time(rng, lines):
    one = of_key(rng, lines, rng.choice([None, "init_start", "init_stop", "run_start", "run_stop"]))
    start = of_key(rng, lines, "init_start")["time_ms"] if rng.random() < 0.7 else None
    if isinstance(start, NUMBERS):
        one["time_ms"] = start + rng.choice([1799999, 1800000, 1800001, 14399999, 14400000, -5, 0.5, 1799999.75])
    else:
        one["time_ms"] = rng.choice(TIMES)


def remove_line(rng, lines):
    lines.remove(of_key(rng, lines))


def remove_key(rng, lines):
    key = of_key(rng, lines)["key"]
    lines[:] = [one for one in lines if isinstance(one, str) or one["key"] != key]


def double_line(rng, lines):
    one = copy.deepcopy(of_key(rng, lines))
    if rng.random() < 0.4:
        one["value"] = near(rng, one["value"])
    lines.insert(rng.randrange(len(lines) + 1), one)


def move_line(rng, lines):
    one = of_key(rng, lines)
    lines.remove(one)
    lines.insert(rng.randrange(len(lines) + 1), one)


def rename_key(rng, lines):
    of_key(rng, lines)["key"] = rng.choice(["seed", "eval_accuracy", "init_stop", "epoch_start", "run_stop", "epoch_stop", None, 3,
                                            [], "aggregated_eval_accuracy", "tracked_stats", "submission_division", "init_start"])


def other_benchmark(rng, lines):
    of_key(rng, lines, "submission_benchmark")["value"] = rng.choice(
        ["bert", "rgat", "flux1", "llama31_8b", "gpt_oss_20b", "resnet", "", None, 1, "qwen35_397b_grpo", "llama2_70b_lora", "dlrmv4"])


def drop_field(rng, lines):
    del of_key(rng, lines)[rng.choice(["namespace", "time_ms", "event_type", "value", "metadata"])]


CHANGES = [change_value] * 5 + [change_batch] * 2 + [change_metadata] * 2 + [change_progress, change_evaluation] * 2 + [
    change_time, change_time, remove_line, remove_key, double_line, double_line, move_line, rename_key, other_benchmark, drop_field]


def damage_text(rng, text):
    """Changes that a log suffers as text."""
    lines = text.split("\n")
    place = rng.randrange(len(lines))
    kind = rng.randrange(9)
    if kind == 0:
        lines.insert(place, rng.choice(LINES))
    elif kind == 1:
        lines[place] = lines[place][: rng.randrange(len(lines[place]) + 1)]
    elif kind == 2:
        lines[place] = rng.choice(["0: ", "noise :::MLLOG ", "\x1b[0m"]) + lines[place]
    elif kind == 3:
        lines[place] += rng.choice([" ", "\t", " x", "}", "\u00a0", "\x85", ","])
    elif kind == 4:
        return rng.choice(["\r\n", "\r", "\n\n"]).join(lines)
    elif kind == 5:
        at = rng.randrange(len(lines[place]) + 1)
        odd = rng.choice(["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\"", "\\"])
        lines[place] = lines[place][:at] + odd + lines[place][at:]
    elif kind == 6:
        lines[place] += lines[rng.randrange(len(lines))]
    elif kind == 7:
        value = rng.choice(['"value": 1, "value": ', '"value":', '"value": [[[', '"value": 01'])
        lines[place] = lines[place].replace('"value": ', value)
    else:
        lines[place] = json.dumps(lines[place])
    return "\n".join(lines)
