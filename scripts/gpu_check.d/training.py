"""What training_gpu_check found, and its figures next to PyTorch's."""

from table import scaled


def of_found(found):
    """Kernels and steps that differ from the host's."""
    if found is None:
        return []
    lines = [f"{r['kernel']} in {r['dtype']}: {r['worst']} > {r['tolerance']}" for r in found["kernels"] if not r["held"]]
    lines += [f"steps of {r['model']} in {r['dtype']} differ from the host's, or from themselves"
              for r in found["steps"] if not (r["held"] and r["again_equal"])]
    return lines + of_attention(found)


def of_attention(found):
    """What cuDNN's attention failed at. It supports the shapes that are given to it on Hopper and later, so there each is served."""
    faults = ["differs from own"]
    if float(found["device"]["compute_capability"]) >= 9.0:
        faults += ["cuDNN has no engine", "no cuDNN engine", "cuDNN: "]
    return sorted({found[key] for key in ("kernels_by", "library") if any(fault in found[key] for fault in faults)})


def of_damaged(found):
    if found is None:
        return []
    if not found["kernels"]:
        return ["no kernel was damaged"]
    return [f"damage of {r['kernel']} in {r['dtype']} was not found" for r in found["kernels"] if r["held"]]


def of_timings(found):
    if found is None:
        return []
    return of_attention(found) + [f"{row['model']}: {row['skipped']}" for row in found["timings"] if "skipped" in row]


def rows(ours, theirs):
    """Our timings with each of PyTorch's: {model, ours, theirs, ratio, weights, skipped}."""
    compared = []
    for row in (ours or {"timings": []})["timings"]:
        for peer in [peer for peer in theirs or [] if peer["model"] == row["model"]] or [{}]:
            own, other = row.get("tokens_per_second"), peer.get("tokens_per_second")
            compared.append({"model": row["model"], "ours": own, "theirs": other, "ratio": own / other if own and other else None,
                             "weights": peer.get("weights"), "skipped": row.get("skipped") or peer.get("skipped")})
    return compared


def print_training(ours, theirs):
    for row in rows(ours, theirs):
        against = f"{row['ratio']:.3f} x PyTorch ({row['weights']})" if row["ratio"] else "PyTorch: -"
        print(f"training {row['model']}: {scaled(row['ours'], 'tokens/s')}, {against}{' ' + row['skipped'] if row['skipped'] else ''}")
    if ours:
        print(f"training by {ours['library']}")
