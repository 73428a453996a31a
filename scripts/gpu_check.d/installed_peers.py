"""Results of peers as rows: {peer, metric, our cases that measure the same, params, value in base units}."""

import shutil

COPIES = {"host_to_device_memcpy_ce": "host_to_device", "device_to_host_memcpy_ce": "device_to_host"}
COPY_BYTES = 268435456
MESSAGE_BYTES = 268435456
BEST_SHAPE_AIM = 1.02  # our fastest product over PyTorch's
# size count type redop root, then time algbw busbw #wrong out of place and in place
FIELDS, BUSBW, WRONG = 13, 7, 8


def nvbandwidth_rows(document):
    """Rows of `nvbandwidth -j`: GPU 0 is the first column, and cells are strings."""
    rows = []
    for test in document["nvbandwidth"].get("testcases", []):
        if test.get("name") not in COPIES or test.get("status") != "Passed":
            continue
        cell = test["bandwidth_matrix"][0][0]
        if cell != "N/A":
            rows.append({"peer": "nvbandwidth", "metric": "copy.bandwidth", "cases": ["copies"], "value": float(cell) * 1e9,
                         "params": {"route": COPIES[test["name"]], "memory": "pinned", "size_bytes": COPY_BYTES}})
    return rows


def nccl_rows(text, ranks):
    """Out-of-place rows of all_reduce_perf's output; sizes with wrong sums are omitted."""
    rows = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) != FIELDS or not fields[0].isdigit() or fields[2] != "float" or fields[WRONG] != "0":
            continue
        rows.append({"peer": "nccl-tests", "metric": "collective.busbw", "cases": ["all_reduce"], "value": float(fields[BUSBW]) * 1e9,
                     "params": {"op": "all_reduce", "dtype": "f32", "in_place": False, "size_bytes": int(fields[0]), "ranks": ranks}})
    return rows


def ranks_of(collectives):
    """Most GPUs of one of our all_reduce results on default paths; 0 if there is none."""
    return max((r["ranks"] for r in collectives["results"] if r["case"] == "all_reduce" and r["outcome"] == "ok"), default=0)


def nvbandwidth(steps, program, most):
    """(rows, reason if there are none)."""
    said = steps.answer("nvbandwidth", [program, "-j", "-t", *COPIES], most)
    rows = nvbandwidth_rows(said) if said else []
    return rows, steps.why.get("nvbandwidth", "it printed no bandwidth of GPU 0")


def nccl_tests(steps, program, most, ranks):
    """(rows, reason if there are none)."""
    if ranks < 2:
        return [], "one GPU has nobody to reduce with"
    size = str(MESSAGE_BYTES)
    said = steps.program("nccl-tests", [program, "-b", size, "-e", size, "-g", str(ranks)], most)
    rows = nccl_rows(said[1].decode(errors="replace"), ranks) if said else []
    return rows, steps.why.get("nccl-tests", "it printed no right result")


def installed_rows(steps, collectives):
    """(rows, reason by peer without rows)."""
    peers = {"nvbandwidth": lambda *words: nvbandwidth(steps, *words),
             "all_reduce_perf": lambda *words: nccl_tests(steps, *words, ranks_of(collectives))}
    found, missing = [], {}
    for name, rows_of in peers.items():
        path = shutil.which(name)
        rows, why = rows_of(path, steps.most("installed")) if path else ([], "not on the PATH")
        found += rows
        if not rows:
            missing[name] = why
    return found, missing


def best_shape(products):
    """PyTorch's fastest GEMM and the fastest that our search found; shapes may differ."""
    best = max(products, key=lambda row: row["value"])
    return {"peer": "PyTorch", "metric": "gemm.throughput", "cases": ["fastest-shape"], "params": {"dtype": best["params"]["dtype"]},
            "value": best["value"], "shape": [best["params"][key] for key in "mnk"], "aim": BEST_SHAPE_AIM}


def torch_rows(peers):
    """PyTorch's GEMMs and copies (torch_peers.py) as rows."""
    rows = [{"peer": "PyTorch", "metric": "gemm.throughput", "cases": ["products", "model-shapes"], **row} for row in peers["products"]]
    rows += [best_shape(peers["products"])] if peers["products"] else []
    for row in peers["copies"]:
        of_host = "route" in row["params"]
        rows.append({"peer": "PyTorch", "metric": "copy.bandwidth" if of_host else "memory_bandwidth.bandwidth",
                     "cases": ["copies" if of_host else "memory"], **row})
    return rows


def is_alike(result, row):
    """Our results for random values, as peers never multiply zeros, and only of cases equivalent to the peer's: the best of many would win by chance."""
    params = {**result["params"], "ranks": result["ranks"]}
    return (result["metric"] == row["metric"] and result["case"] in row["cases"] and result["outcome"] == "ok" and result["median"]
            and "values" not in params and all(params.get(key) == value for key, value in row["params"].items()))


def against(results, rows):
    """The rows with our value and the ratio; the best of a case with several, such as kinds of stores."""
    compared = []
    for row in rows:
        ours = max((r["median"] for r in results if is_alike(r, row)), default=None)
        compared.append({**row, "ours": ours, "ratio": ours / row["value"] if ours and row["value"] else None})
    return compared
