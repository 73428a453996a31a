"""nvbandwidth and nccl-tests, where they are on the PATH, as rows beside ours: {peer, metric, params, value in base units}."""

import shutil

COPIES = {"host_to_device_memcpy_ce": "host_to_device", "device_to_host_memcpy_ce": "device_to_host"}
COPY_BYTES = 268435456
MESSAGE_BYTES = 268435456
# size count type redop root, then time algbw busbw #wrong out of place and in place
FIELDS, BUSBW, WRONG = 13, 7, 8


def nvbandwidth_rows(document):
    """Of `nvbandwidth -j`: GPU 0 is the first column, and cells are texts."""
    rows = []
    for test in document["nvbandwidth"].get("testcases", []):
        if test.get("name") not in COPIES or test.get("status") != "Passed":
            continue
        cell = test["bandwidth_matrix"][0][0]
        if cell != "N/A":
            rows.append({"peer": "nvbandwidth", "metric": "copy.bandwidth", "value": float(cell) * 1e9,
                         "params": {"route": COPIES[test["name"]], "memory": "pinned", "size_bytes": COPY_BYTES}})
    return rows


def nccl_rows(text, ranks):
    """Of all_reduce_perf's text: out of place. A size whose sums were wrong is no row."""
    rows = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) != FIELDS or not fields[0].isdigit() or fields[2] != "float" or fields[WRONG] != "0":
            continue
        rows.append({"peer": "nccl-tests", "metric": "collective.busbw", "value": float(fields[BUSBW]) * 1e9,
                     "params": {"op": "all_reduce", "dtype": "f32", "in_place": False, "size_bytes": int(fields[0]), "ranks": ranks}})
    return rows


def ranks_of(collectives):
    """The most GPUs that took part in an all_reduce of ours over no chosen paths; 0 for none."""
    return max((r["ranks"] for r in collectives["results"] if r["case"] == "all_reduce" and r["outcome"] == "ok"), default=0)


def installed_rows(steps, collectives, most):
    """(rows, why a peer has none)."""
    rows, missing = [], {}
    ranks = ranks_of(collectives)
    found = {name: shutil.which(name) for name in ("nvbandwidth", "all_reduce_perf")}
    missing.update({name: "not on the PATH" for name, path in found.items() if path is None})
    if found["nvbandwidth"]:
        said = steps.answer("nvbandwidth", [found["nvbandwidth"], "-j", "-t", *COPIES], most)
        rows += nvbandwidth_rows(said) if said else []
        if not rows:
            missing["nvbandwidth"] = "it printed no bandwidth of GPU 0"
    if found["all_reduce_perf"] and ranks < 2:
        missing["all_reduce_perf"] = "one GPU has nobody to reduce with"
    elif found["all_reduce_perf"]:
        size = str(MESSAGE_BYTES)
        said = steps.program("nccl-tests", [found["all_reduce_perf"], "-b", size, "-e", size, "-g", str(ranks)], most)
        of_nccl = nccl_rows(said[1].decode(errors="replace"), ranks) if said else []
        rows += of_nccl
        if not of_nccl:
            missing["all_reduce_perf"] = "it printed no right result"
    return rows, missing


def torch_rows(peers):
    """PyTorch's products and copies (torch_peers.py) as such rows."""
    rows = [{"peer": "PyTorch", "metric": "gemm.throughput", **row} for row in peers["products"]]
    for row in peers["copies"]:
        metric = "copy.bandwidth" if "route" in row["params"] else "memory_bandwidth.bandwidth"
        rows.append({"peer": "PyTorch", "metric": metric, **row})
    return rows


def is_alike(result, row):
    """Of random values: peers do not multiply zeros."""
    params = {**result["params"], "ranks": result["ranks"]}
    return (result["metric"] == row["metric"] and result["outcome"] == "ok" and result["median"] and "values" not in params
            and all(params.get(key) == value for key, value in row["params"].items()))


def against(results, rows):
    """The rows with our best beside them, and the ratio."""
    beside = []
    for row in rows:
        ours = max((r["median"] for r in results if is_alike(r, row)), default=None)
        beside.append({**row, "ours": ours, "ratio": ours / row["value"] if ours and row["value"] else None})
    return beside
