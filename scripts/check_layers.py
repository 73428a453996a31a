#!/usr/bin/env python3
"""Checks the order of the folders of src/ and that files are units.

    scripts/check_layers.py [ROOT] [--list]

The order is the table of src/README.md. A file may include files of its own folder and of folders above it in the
table, within what the table allows its room; so no two folders include each other. A procedure names no library of a
device or launcher, and each third-party library is named in one place. Prints the counts that describe the tree:
files, lines, includes against the order, circles, headers that serve one file, .cpp files without a header.
--list names the headers that serve one file and the .cpp files without a header.
"""

import collections
import pathlib
import re
import sys

ROW = re.compile(r"^\| `([\w/]+)` \| [^|]+\| ([^|]*) \|$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
SOURCES = {".h", ".cpp", ".cu", ".cuh"}
GENERATED = {"version.generated.h"}

# Headers of a library, and the only place that may include them.
LIBRARIES = [
    (re.compile(r"cuda|cublas|cudnn|nccl|nvml|nvrtc|nvtx|cufile"), re.compile(r"(devices|training)/cuda/")),
    (re.compile(r"mpi(-ext)?\.h"), re.compile(r"devices/mpi/")),
    (re.compile(r"hwloc|oneapi/dnnl|dnnl|cblas|lapack|omp\.h|numa"), re.compile(r"devices/host/")),
    (re.compile(r"SQLiteCpp|sqlite3"), re.compile(r"results/")),
    (re.compile(r"jpeglib|jerror|turbojpeg"), re.compile(r"probes/data/decode/")),
    (re.compile(r"yaml-cpp/"), re.compile(r"mlperf/storage/")),
    (re.compile(r"pcre2"), re.compile(r"tokenizer/")),
    (re.compile(r"curl/"), re.compile(r"probes/(shared|object_storage|serving)/")),
    (re.compile(r"CLI/"), re.compile(r"runner/")),
]
# A procedure knows devices by their interfaces only, and includes no system header but the standard library and fmt.
BACKENDS = re.compile(r"(devices|training)/(host|cuda|mpi|tcp|nvml|nccl)/")
PROCEDURE_SYSTEM = re.compile(r"[a-z_0-9]+$|fmt/")

# .cpp files that stand without a header: they register themselves, hold main(), or are one of several variants of a
# unit: for an instruction set, or for a library that may be absent.
WITHOUT_HEADER = re.compile(
    r"probes/procedures/\w+|runner/commands/((mlperf|predict)/)?\w+|results/import/\w+|results/verdicts/acceptance/\w+_(gate|coverage)"
    r"|mlperf/(strict|storage)/\w+_check|(probes/server|runner)/main(_cuda)?|\w+/\w*/?\w*/?\w+_(avx2|avx512|vnni|neon|sse2|base|baseline)"
    r"|devices/host/gemm_(onednn|openblas|blis)")


def read_order(root):
    """[(folder, allowed prefixes)] of the table in src/README.md."""
    rows = []
    for line in (root / "src/README.md").read_text(encoding="utf-8").splitlines():
        match = ROW.match(line)
        if match:
            rows.append((match.group(1), [name.strip().strip("`") for name in match.group(2).split(",")]))
    return rows


def folder_of(path):
    return path.rpartition("/")[0]


def unit_of(path):
    return path.rpartition(".")[0]


def read_includes(root):
    """path -> [(line, quoted name or "", system name or "")]; and the number of lines."""
    includes, lines = {}, 0
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in SOURCES:
            continue
        name = path.relative_to(root / "src").as_posix()
        text = path.read_text(errors="replace").splitlines()
        lines += len(text)
        includes[name] = []
        for number, line in enumerate(text, 1):
            match = INCLUDE.match(line)
            if match:
                includes[name].append((number, match.group(1) or "", match.group(2) or ""))
    return includes, lines


def complaint(name, quoted, system, places, allowed, includes):
    """Why this include is refused; "" where it is allowed."""
    for pattern, home in LIBRARIES:
        if pattern.match(quoted or system) and not home.match(name):
            if not (quoted and quoted in includes):
                return f"only {home.pattern} may include this library"
    procedure = name.startswith("probes/procedures/")
    if system:
        if procedure and not PROCEDURE_SYSTEM.match(system):
            return "a procedure includes only the standard library, fmt and our own headers"
        return ""
    if quoted in GENERATED:
        return ""
    if quoted not in includes:
        return "no such file; our own headers are named from src/"
    here, there = folder_of(name), folder_of(quoted)
    if procedure and BACKENDS.match(quoted):
        return "a procedure knows devices by their interfaces only"
    if here == there:
        return ""
    if there not in places or here not in places:
        return f"folder {there if there not in places else here} is not in the table of src/README.md"
    if places[there] > places[here]:
        return f"{there} comes after {here} in the table of src/README.md"
    if not any(there == prefix or there.startswith(prefix + "/") for prefix in allowed[here]):
        return f"{here} may include only {', '.join(allowed[here])}"
    return ""


def circles(edges):
    """Pairs of folders that include each other, directly or through others."""
    reach = {start: set() for start in edges}
    for start in edges:
        stack = list(edges[start])
        while stack:
            folder = stack.pop()
            if folder not in reach[start]:
                reach[start].add(folder)
                stack.extend(edges.get(folder, ()))
    return sorted({tuple(sorted((a, b))) for a in reach for b in reach[a] if a != b and a in reach.get(b, ())})


def check(root, list_files):
    """Complaints, and the lines that describe the tree."""
    order = read_order(root)
    places = {folder: place for place, (folder, _) in enumerate(order)}
    allowed = dict(order)
    includes, lines = read_includes(root)
    found, edges, users = [], collections.defaultdict(set), collections.defaultdict(set)
    for name, list_of_includes in includes.items():
        if folder_of(name) not in places:
            found.append(f"src/{name}:1: folder {folder_of(name)} is not in the table of src/README.md")
        for number, quoted, system in list_of_includes:
            text = complaint(name, quoted, system, places, allowed, includes)
            if text:
                found.append(f"src/{name}:{number}: includes {quoted or system}: {text}")
            if quoted in includes:
                if folder_of(name) != folder_of(quoted):
                    edges[folder_of(name)].add(folder_of(quoted))
                if unit_of(name) != unit_of(quoted):
                    users[quoted].add(unit_of(name))
    for a, b in circles(edges):
        found.append(f"src/{a}: circle with src/{b}")
    headers = [name for name in includes if name.endswith(".h")]
    single = sorted(name for name in headers if len(users[name]) == 1)
    tested = set()
    for path in (root / "tests").rglob("*.*"):
        if path.suffix in SOURCES:
            for line in path.read_text(errors="replace").splitlines():
                match = INCLUDE.match(line)
                if match and match.group(1):
                    tested.add(match.group(1))
    alone = sorted(name for name in includes if name.endswith(".cpp") and unit_of(name) + ".h" not in includes)
    fragments = [name for name in alone if not WITHOUT_HEADER.fullmatch(unit_of(name))]
    found += [f"src/{name}:1: a .cpp file without a header; name what it holds or move it into its unit" for name in fragments]
    counts = [
        ("source files", len(includes)), ("lines", lines), ("folders", len(places)),
        ("circles among folders", len(circles(edges))),
        ("includes against the order", len([text for text in found if "includes" in text])),
        ("headers", len(headers)),
        ("headers with one user in src", len(single)),
        ("of these without a test of their own", len([name for name in single if name not in tested])),
        (".cpp files without a header", len(alone)),
        (".cpp files without a header that register nothing", len(fragments)),
    ]
    report = [f"{label}: {count}" for label, count in counts]
    if list_files:
        report += [f"one user: src/{name} <- {next(iter(users[name]))}" for name in single]
        report += [f"without a header: src/{name}" for name in alone]
    return found, report, len(includes)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--list"]
    root = pathlib.Path(arguments[0]).resolve() if arguments else pathlib.Path(__file__).resolve().parent.parent
    if not (root / "src/README.md").is_file():
        print(f"{root}/src/README.md: missing, so there is no order to check against")
        return 2
    found, report, files = check(root, "--list" in sys.argv[1:])
    for text in found:
        print(text)
    if files == 0:
        print(f"{root}/src: no source files, so nothing was checked")
        return 2
    print("\n".join(report))
    print(f"layers: {files} files, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
