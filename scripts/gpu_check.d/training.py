"""Training on a GPU: training_gpu_check, and PyTorch for comparison."""

import pathlib
import sys

from table import scaled

NAMES = {"found": "training_gpu_check", "damaged": "training_gpu_check --damage", "torch": "PyTorch's training"}
TORCH = pathlib.Path(__file__).with_name("torch_training.py")


def train(steps, program):
    """(results of training_gpu_check with and without corruption, and PyTorch's speed; reasons for missing parts). Missing parts are
    None, and everything is if training_gpu_check was not built."""
    path = program / "training_gpu_check"
    if not path.exists():
        return None, {"PyTorch's training": "training_gpu_check is not next to benchctl"}
    parts = {"found": [path], "damaged": [path, "--damage"], "torch": [sys.executable, TORCH]}
    results = {part: steps.answer(NAMES[part], command, steps.most("training")) for part, command in parts.items()}
    missing = {NAMES[part]: steps.why[NAMES[part]] for part in parts if results[part] is None}
    missing.update({f"PyTorch's training of {row['model']}": row["skipped"] for row in results["torch"] or [] if "skipped" in row})
    return results, missing


def training_faults(results, failed):
    """Failures as lines; a failed peer is not one of them."""
    lines = [f"{name}: {failed[name]}" for name in (NAMES["found"], NAMES["damaged"]) if name in failed]
    return lines + (of_found(results["found"]) + of_damaged(results["damaged"]) if results else [])


def of_found(found):
    if found is None:
        return []
    lines = [f"training: {r['kernel']} in {r['dtype']}: {r['worst']} > {r['tolerance']}" for r in found["kernels"] if not r["held"]]
    lines += [f"training: steps of {r['model']} in {r['dtype']} differ from the host's, or from themselves"
              for r in found["steps"] if not (r["held"] and r["again_equal"])]
    return lines + [f"training: {found[key]}" for key in ("kernels_by", "library") if "differs from own" in found[key]]


def of_damaged(damaged):
    kernels = damaged["kernels"] if damaged else []
    return [f"training: damage of {r['kernel']} in {r['dtype']} was not found" for r in kernels if r["held"]]


def print_training(results):
    theirs = {row["model"]: row for row in results["torch"] or []}
    for row in (results["found"] or {"timings": []})["timings"]:
        peer = theirs.get(row["model"], {})
        ours, other = row.get("tokens_per_second"), peer.get("tokens_per_second")
        ratio = f"{ours / other:.3f} x PyTorch (weights: {peer['weights']})" if ours and other else "PyTorch: -"
        print(f"training {row['model']}: {scaled(ours, 'tokens/s')}, {ratio} {row.get('skipped', '')}")
