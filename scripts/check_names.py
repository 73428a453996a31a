#!/usr/bin/env python3
"""Checks that no two files of a folder give one name to different things.

    scripts/check_names.py [ROOT]

The files of a folder can be compiled together (BENCH_UNITY). There two functions of one name in their unnamed
namespaces become overloads, and which one is called may change without a word from the compiler; where that is
impossible it is still one name for two things. Constants, functions and types count.
"""

import collections
import pathlib
import re
import sys

# The name that a line at the left margin declares: what stands before "(", "=", "{", ";", "[" or ": base".
DECLARED = re.compile(r"(?:[^=(]*[\s&*>])?([A-Za-z_]\w*)\s*(?:\(|=|\{|;|\[|:(?!:)|$)")
NO_DECLARATION = re.compile(r"[\s}/#\"]|using |template|namespace ")
RAW_TEXT = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
INCLUDE = re.compile(r'#include "([^"]+)"')
TYPE = re.compile(r"(?:struct|class|enum(?: class)?|union) (\w+)")
# What is compiled file by file for the sake of its flags, or because each file registers itself.
APART = re.compile(r"src/probes/(backends|procedures)/")


def declared_by(line):
    """The name; None where a line declares nothing that this can see."""
    match = TYPE.match(line) or DECLARED.match(re.sub(r"\[\[\w+\]\]|//.*", "", line))
    return match.group(1) if match else None


def names(path):
    """What the unnamed namespaces of a file declare. Lines of our own format are all this must read."""
    found, inside = set(), False
    for line in RAW_TEXT.sub('""', path.read_text(encoding="utf-8")).splitlines():
        if line.startswith("namespace {"):
            inside = True
        elif re.match(r"\}\s*// namespace$", line):
            inside = False
        elif inside and line and not NO_DECLARATION.match(line):
            found.add(declared_by(line))
    return found - {None}


def public_functions(path):
    """The free functions that a header declares."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {declared_by(line) for line in lines
            if line and not NO_DECLARATION.match(line) and "(" in line and not TYPE.match(line)} - {None}


def included(path):
    return set(INCLUDE.findall(path.read_text(encoding="utf-8")))


def twins(root):
    source = root / "src"
    public = {header.relative_to(source).as_posix(): public_functions(header) for header in source.rglob("*.h")}
    folders = collections.defaultdict(dict)
    for path in sorted(source.rglob("*.cpp")):
        if not APART.match(path.relative_to(root).as_posix()):
            folders[path.parent][path.name] = (names(path), included(path))
    found = []
    for folder, files in sorted(folders.items()):
        owners = collections.defaultdict(list)
        for file, (declared, _) in files.items():
            for name in declared:
                owners[name].append(file)
        # A header that others of the folder include and the file does not: together they all see it.
        for header in sorted(set().union(*(headers for _, headers in files.values()))):
            for name in public.get(header, set()) & owners.keys():
                if any(header not in files[file][1] for file in owners[name] if file in files):
                    owners[name].append(header)
        found += [f"{folder.relative_to(root)}: '{name}' in {', '.join(places)}"
                  for name, places in sorted(owners.items()) if len(places) > 1]
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    found = twins(root)
    for line in found:
        print(f"{line}: one name for two things; rename one, or share it", file=sys.stderr)
    print(f"names: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
