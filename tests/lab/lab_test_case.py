"""A lab of two hosts for tests of scripts/lab; skips tests on machines without lab support."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "lab"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
MISSING = 4


class Lab:
    """scripts/lab with its own folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def run(self, *words, timeout=60, **options):
        return subprocess.run([SCRIPT, *map(str, words)], env={**os.environ, "LAB_DIR": str(self.folder)}, timeout=timeout,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)

    def start(self, *words):
        """Starts a command in the background; the test reads its stdout."""
        return subprocess.Popen([SCRIPT, *map(str, words)], env={**os.environ, "LAB_DIR": str(self.folder)},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def say(self, *words, **options):
        """Output of a command, which must succeed."""
        done = self.run(*words, **options)
        if done.returncode != 0:
            raise AssertionError(f"scripts/lab {' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr}")
        return done.stdout.strip()

    def python(self, host, code, **options):
        """Output of a Python program on a host."""
        return self.say("exec", host, sys.executable, "-c", code, **options)

    def start_python(self, host, code):
        return self.start("exec", host, sys.executable, "-c", code)

    def ssh(self, source, target, *words, connect_timeout=5):
        return self.run("exec", source, "ssh", "-o", f"ConnectTimeout={connect_timeout}", target, *words)

    def status(self):
        """host: {column: value} from `status`."""
        head, *rows = [re.split(r"\s{2,}|(?<=\S)\s", line, maxsplit=7) for line in self.say("status").splitlines()]
        return {row[0]: dict(zip(head, row)) for row in rows}

    def namespaces(self, host):
        """IDs of the PID and network namespaces of a host."""
        return set(self.say("exec", host, "readlink", "/proc/self/ns/pid", "/proc/self/ns/net").split())


def start_time(pid):
    """Start time, which with the PID identifies a process; None if gone or a zombie."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def processes_in(namespaces):
    """(PID, start time, command) of processes in one of these namespaces."""
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if namespaces & {os.readlink(process / "ns" / "pid"), os.readlink(process / "ns" / "net")}:
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found.add((process.name, start_time(process.name), command))
        except OSError:
            pass  # it ended, or is a zombie
    return found


def still_alive(processes):
    return [process for process in processes if start_time(process[0]) == process[1]]


def until(condition, seconds=10.0):
    """Whether the condition became true before the timeout."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class LabTestCase(unittest.TestCase):
    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="benchctl-lab-test-")
        cls.lab = Lab(pathlib.Path(cls.temporary.name) / "lab")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.addClassCleanup(cls.lab.say, "down")
        cls.lab.say("up", 2, *cls.OPTIONS)

    def assert_reaches(self, source, target):
        done = self.lab.ssh(source, target, "hostname")
        self.assertEqual(done.stdout.strip(), target, done.stderr)


def main(*options):
    """Runs the tests of the calling file if this machine supports a lab."""
    check = Lab("/tmp/benchctl-lab-check").run("check", *options)
    if check.returncode == MISSING:
        print(f"SKIPPED: {check.stderr.strip()}")
        sys.exit(SKIPPED)
    unittest.main()
