#!/usr/bin/env python3
"""Checks that no source file includes what its layer may not know.

    scripts/check_layers.py [ROOT]

Layers: results and probes stand on core and do not know each other; runner stands on core and
results and knows probes only through schemas/probes. Inside probes a procedure knows only the probe
interface, and a library of a device or launcher is named only by its backend.
"""

import pathlib
import re
import sys

MAY_INCLUDE = {
    "core": {"core"},
    "results": {"core", "results"},
    "probes": {"core", "probes"},
    "runner": {"core", "results", "runner"},
}

# What a procedure may include of probes; other files of procedures/ are its own kind.
PROCEDURE_MAY = re.compile(
    r"core/|probes/(probe|state|device|group)\.h$|probes/device/[^/]+\.h$|probes/procedures/")
# ... and between angle brackets: the standard library (no ".h", no folder) and fmt.
PROCEDURE_MAY_SYSTEM = re.compile(r"[a-z_0-9]+$|fmt/")

# What a probe that is more than a procedure stands on, for its own procedure alone.
PARTS_OF_A_PROBE = {
    "checkpoint": re.compile(r"probes/storage/"),
    "data": re.compile(r"probes/data/[^/]+/[^/]+\.h$"),
    "external": re.compile(r"probes/external/"),
    "storage": re.compile(r"probes/storage/"),
    "training": re.compile(r"probes/(training/(trainer|workloads)|data/formats)/[^/]+\.h$"),
}

# Headers of a library, and where alone they may be included.
LIBRARIES = [
    (re.compile(r"cuda|cublas|cudnn|nccl|nvml|nvrtc|nvtx|cufile"), "backends/cuda/"),
    (re.compile(r"mpi(-ext)?\.h"), "backends/mpi/"),
    (re.compile(r"hwloc|oneapi/dnnl|dnnl|cblas|lapack|omp\.h|numa"), "backends/host/"),
    (re.compile(r"SQLiteCpp|sqlite3"), "src/results/"),
    (re.compile(r"jpeglib|jerror|turbojpeg"), "src/probes/data/decode/"),
    (re.compile(r"CLI/"), "src/runner/"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
SOURCES = {".h", ".cpp", ".cu", ".cuh", ".c", ".hpp"}
GENERATED = {"version.generated.h"}


def procedure_may(path, quoted):
    """Files of a procedure begin with its name: external.cpp, external_records.cpp."""
    own = PARTS_OF_A_PROBE.get(path.stem.split("_")[0])
    return PROCEDURE_MAY.match(quoted) or (own and own.match(quoted))


def complaint(root, path, quoted, system):
    """Why this include is not allowed in this file; "" when it is."""
    where = path.relative_to(root).as_posix()
    layer = path.relative_to(root / "src").parts[0]
    name = quoted or system
    for pattern, home in LIBRARIES:
        if pattern.match(name) and home not in where:
            return f"only {home} may know this library"
    in_procedure = where.startswith("src/probes/procedures/")
    if system:
        if in_procedure and not PROCEDURE_MAY_SYSTEM.match(system):
            return "a procedure includes only the standard library, core and the probe interface"
        return ""
    if quoted in GENERATED:
        return ""
    if not (root / "src" / quoted).is_file():
        return "there is no such file; our own headers are named from src/"
    if quoted.split("/")[0] not in MAY_INCLUDE.get(layer, set()):
        return f"{layer} may include only {', '.join(sorted(MAY_INCLUDE.get(layer, {'nothing'})))}"
    if in_procedure and not procedure_may(path, quoted):
        return "a procedure may know only probe.h, state.h, device.h, group.h, device/*.h, and the parts of its own probe"
    return ""


def check(root):
    """Complaints as "file:line: text", and the number of files read."""
    found, files = [], 0
    for path in sorted((root / "src").glob("*/**/*")):
        if path.suffix not in SOURCES:
            continue
        files += 1
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            text = complaint(root, path, match.group(1), match.group(2))
            if text:
                place = f"{path.relative_to(root)}:{number}"
                found.append(f"{place}: includes {match.group(1) or match.group(2)}: {text}")
    return found, files


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here
    found, files = check(root)
    for text in found:
        print(text)
    if files == 0:
        print(f"{root}/src: no source files, so nothing was checked")
        return 2
    print(f"layers: {files} files, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
