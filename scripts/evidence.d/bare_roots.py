"""Bare Debian roots made with debootstrap (needs root and a mirror), and commands in them.

The mirror is the one of this machine's apt. Everything is mounted in a mount namespace of its own, so that nothing
stays mounted however this ends.
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from common import require, run, say

# Runs inside a mount and a process namespace of its own: argument 1 is the root, the rest the command.
ENTER = """
set -e
mount --bind "$1" "$1"  # a mount point, so that hosts of a lab can have namespaces in it
mount --rbind /dev "$1/dev"
mount --rbind /sys "$1/sys"
mount -t proc proc "$1/proc"
root=$1
shift
exec chroot "$root" "$@"
"""


def sources(release):
    """(mirror, suite) of every Debian archive that this machine's apt knows, with the suites of the release."""
    apt = pathlib.Path("/etc/apt")
    files = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]
    found = []
    for path in files:
        if path.suffix == ".sources":
            for stanza in path.read_text().split("\n\n"):
                fields = dict(re.findall(r"^([A-Za-z-]+):\s*(.*)$", stanza, re.MULTILINE))
                if "deb" in fields.get("Types", "").split():
                    found += [(uri, suite) for uri in fields.get("URIs", "").split()
                              for suite in fields.get("Suites", "").split()]
        elif path.suffix == ".list" and path.is_file():
            pattern = r"^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)"
            found += re.findall(pattern, path.read_text(), re.MULTILINE)
    here = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)[1]
    return [(uri, suite.replace(here, release)) for uri, suite in found if suite.split("-")[0] == here]


def make_root(root, release):
    if shutil.which("debootstrap") is None:
        sys.exit("there is no debootstrap here: apt-get install debootstrap")
    known = sources(release)
    mirrors = [uri for uri, suite in known if suite == release]
    if not mirrors:
        sys.exit(f"this machine's apt knows no mirror of Debian {release}")
    require(["debootstrap", "--variant=minbase", release, root, mirrors[0]], stderr=sys.stderr)
    lines = [f"deb {uri} {suite} main\n" for uri, suite in known]
    (root / "etc/apt/sources.list").write_text("".join(lines))
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True).stdout
    proxies = [line for line in dump.splitlines() if re.match(r"Acquire::https?::Proxy\b", line)]
    (root / "etc/apt/apt.conf.d/10proxy").write_text("".join(line + "\n" for line in proxies))
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n")  # as every installed system has


def entering(root, command):
    """The command line that runs a command in the root, and the environment for it."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    environment.update({k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")})
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "enter", root, *command], environment


def inside(root, command, **variables):
    """Runs a command in the root and shows the last lines it said; exit code and seconds."""
    words, environment = entering(root, command)
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        code, seconds = run(words, env={**environment, **variables}, stderr=log)
        log.seek(0)
        tail = log.read().splitlines()
    say("\n".join(tail[-15:]))
    return code, seconds


@contextlib.contextmanager
def folder_of_roots():
    if os.geteuid() != 0:
        sys.exit("this needs root: it makes root file systems and enters them")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bare-root-"))
    try:
        yield folder
    finally:
        mounts = pathlib.Path("/proc/self/mountinfo").read_text()
        if f" {folder}/" in mounts:  # never remove through a mount: /dev is behind it
            say(f"{folder} still has something mounted in it and is left")
        else:
            shutil.rmtree(folder, ignore_errors=True)
