#!/usr/bin/env python3
"""Adds to a corpus of tests/fuzz what `scripts/evidence fuzz` found, as few files as reach most of the code.

    tests/fuzz/minimise.py BUILD TARGET...

BUILD: build-fuzz, or another with BENCH_LIBFUZZER. Files with names of their own, written by hand or taken from a crash, stay;
those named by their hash are chosen again.
"""

import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

CORPORA = pathlib.Path(__file__).resolve().parent / "corpus"
MOST_FILES = 50
MOST_BYTES = 64_000


def is_found(path):
    return re.fullmatch(r"[0-9a-f]{12}", path.name) is not None


def features_by_file(program, folders):
    """What libFuzzer sees of each file: counters of edges."""
    with tempfile.TemporaryDirectory() as scratch:
        control = pathlib.Path(scratch) / "control"
        (pathlib.Path(scratch) / "merged").mkdir()
        subprocess.run([program, "-merge=1", f"-merge_control_file={control}", f"{scratch}/merged", *folders], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = control.read_text().splitlines()
    names = lines[2:2 + int(lines[0])]
    seen = {}
    for words in (line.split() for line in lines[2 + len(names):]):
        if words[0] in ("FT", "COV"):
            seen.setdefault(names[int(words[1])], set()).update((words[0], feature) for feature in words[2:])
    return {pathlib.Path(name): features for name, features in seen.items()}


def choose(features, kept):
    """Greedy: the file with most new features for its size, until the corpus is full."""
    reached = set().union(*(features.get(path, set()) for path in kept), set())
    room = MOST_BYTES - sum(path.stat().st_size for path in kept)
    left = {path: found for path, found in features.items() if path not in kept}
    chosen = []
    while left and len(kept) + len(chosen) < MOST_FILES:
        sizes = {path: path.stat().st_size for path in left}
        worth = {path: len(found - reached) / (sizes[path] + 200) for path, found in left.items() if sizes[path] <= room}
        best = max(worth, key=worth.get, default=None)
        if best is None or worth[best] == 0:
            break
        reached |= left.pop(best)
        room -= sizes[best]
        chosen.append(best)
    return chosen


def minimise(build, target):
    corpus = CORPORA / target
    folders = [corpus, *(folder for folder in (build / "fuzz-found").glob(f"{target}*/inputs")
                         if folder.parent.name == target or target == "import")]
    features = features_by_file(build / "bin" / f"{target}_fuzz", folders)
    kept = [path for path in corpus.iterdir() if not is_found(path)]
    chosen = [path.read_bytes() for path in choose(features, kept)]
    for path in corpus.iterdir():
        if is_found(path):
            path.unlink()
    for data in chosen:
        (corpus / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)
    size = sum(path.stat().st_size for path in corpus.iterdir())
    print(f"{target}: {len(kept)} files kept, {len(chosen)} of {len(features)} chosen, {size} bytes")


def main():
    if len(sys.argv) < 3 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__.strip())
    for target in sys.argv[2:]:
        minimise(pathlib.Path(sys.argv[1]).resolve(), target)


if __name__ == "__main__":
    main()
