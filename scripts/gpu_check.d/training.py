"""Training on a GPU: what training_gpu_check says, and PyTorch beside it."""

import pathlib
import sys

from table import scaled

TORCH = pathlib.Path(__file__).with_name("torch_training.py")


def train(steps, program, keep):
    """What training_gpu_check found, with and without damage, and PyTorch's speed. None where it was not built, or had no
    time."""
    path = program / "training_gpu_check"
    if not path.exists():
        return None
    results = {name: steps.answer(f"training{''.join(options)}", [path, *options], steps.left(keep))
               for name, options in (("found", []), ("damaged", ["--damage"]))}
    if None in results.values():
        return None
    results["torch"] = steps.answer("PyTorch's training", [sys.executable, TORCH], steps.left(keep))
    return results


def training_faults(results):
    """What is wrong of it, as lines."""
    lines = [f"training: {r['kernel']} in {r['dtype']}: {r['worst']} > {r['tolerance']}"
             for r in results["found"]["kernels"] if not r["held"]]
    lines += [f"training: steps of {r['model']} in {r['dtype']} differ from the host's, or from themselves"
              for r in results["found"]["steps"] if not (r["held"] and r["again_equal"])]
    lines += [f"training: {results['found'][key]}" for key in ("kernels_by", "library")
              if "differs from it" in results["found"][key]]
    return lines + [f"training: damage of {r['kernel']} in {r['dtype']} was not found"
                    for r in results["damaged"]["kernels"] if r["held"]]


def print_training(results):
    theirs = {row["model"]: row.get("tokens_per_second") for row in results["torch"] or []}
    for row in results["found"]["timings"]:
        ours, other = row.get("tokens_per_second"), theirs.get(row["model"])
        ratio = f"{ours / other:.3f} x PyTorch" if ours and other else "PyTorch: -"
        print(f"training {row['model']}: {scaled(ours, 'tokens/s')}, {ratio} {row.get('skipped', '')}")
