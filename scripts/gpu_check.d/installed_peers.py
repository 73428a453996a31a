"""Results of peers as rows: {peer, metric, our cases that measure the same, params, value in base units}."""

import shutil

COPIES = {"host_to_device_memcpy_ce": "host_to_device", "device_to_host_memcpy_ce": "device_to_host"}
COPY_BYTES = 268435456
MESSAGE_BYTES = 268435456
SEARCHED = ({"dtype": "bf16"}, {"dtype": "fp8_e4m3", "fast_accumulation": True})  # in case fastest-shape
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


def ranks_of(results):
    """Most GPUs of one of our all_reduce results on default paths; 0 if there is none."""
    return max((r["ranks"] for r in results if r["case"] == "all_reduce" and r["outcome"] == "ok"), default=0)


def nvbandwidth(steps, entry, program):
    """(rows, reason if there are none)."""
    said = steps.answer(entry, "nvbandwidth", [program, "-j", "-t", *COPIES])
    return nvbandwidth_rows(said) if said else [], "it printed no bandwidth of GPU 0"


def nccl_tests(steps, entry, program, ranks):
    """(rows, reason if there are none)."""
    if ranks < 2:
        return [], "one GPU has nobody to reduce with"
    size = str(MESSAGE_BYTES)
    said = steps.program(entry, "nccl-tests", [program, "-b", size, "-e", size, "-g", str(ranks)])
    return nccl_rows(said[1].decode(errors="replace"), ranks) if said else [], "it printed no right result"


def rows(steps, entry, ranks):
    """(rows, reason by peer without rows). A peer that fails is a missing one."""
    peers = {"nvbandwidth": lambda path: nvbandwidth(steps, entry, path), "all_reduce_perf": lambda path: nccl_tests(steps, entry, path, ranks)}
    found, missing = [], {}
    for name, rows_of in peers.items():
        path = shutil.which(name)
        try:
            of_peer, why = rows_of(path) if path else ([], "not on the PATH")
        except (RuntimeError, OSError, KeyError, ValueError, IndexError, TypeError) as error:
            of_peer, why = [], str(error)
        found += of_peer
        if not of_peer:
            missing[name] = why
    return found, missing


def best_shapes(products):
    """PyTorch's fastest GEMM of each type and the fastest that our search found; shapes may differ."""
    for params in SEARCHED:
        alike = [row for row in products if all(row["params"].get(key) == value for key, value in params.items())]
        if alike:
            best = max(alike, key=lambda row: row["value"])
            yield {"peer": "PyTorch", "metric": "gemm.throughput", "cases": ["fastest-shape"], "params": params, "value": best["value"],
                   "shape": [best["params"][key] for key in "mnk"], "aim": BEST_SHAPE_AIM}


def torch_rows(peers):
    """PyTorch's GEMMs and copies (torch_peers.py) as rows."""
    products = [row for row in peers["products"] if "value" in row]
    rows = [{"peer": "PyTorch", "metric": "gemm.throughput", "cases": ["products", "model-shapes", "model-shapes-fp8"], **row} for row in products]
    rows += best_shapes(products)
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
