"""A run on several hosts where one has a missing, different or broken rank program, a wrong clock, or a full disk: the host is
named, jobs of the others are complete, and resume completes the run."""

import os
import pathlib
import shutil

from cluster_test_case import NULL, PROGRAMS, ClusterTestCase, long_case
from lab_test_case import until, main

WRONG_CLOCK = pathlib.Path(os.environ.get("BENCH_WRONG_CLOCK", PROGRAMS.parent / "tests" / "libwrong_clock.so"))
PROGRAM = "/tmp/bench-rank"  # each host's own
SHORT = long_case(0.1)
TOGETHER = {**NULL, "name": "together", "scope": "all"}


class ClusterPrograms(ClusterTestCase):
    def install(self, host, data, name=PROGRAM):
        copy = self.folder / f"{host}-program"
        copy.write_bytes(data)
        self.lab.say("exec", host, "install", "-m", "755", str(copy), name)

    def install_everywhere(self, node02):
        """Installs bench-rank on each host, but these bytes on node02; None: no file."""
        for host in ("node01", "node03"):
            self.install(host, (PROGRAMS / "bench-rank").read_bytes())
        self.lab.run("exec", "node02", "rm", "-f", PROGRAM)
        if node02 is not None:
            self.install("node02", node02)

    def wrapped(self, script):
        """A script that runs a command and then bench-rank."""
        self.install("node02", (PROGRAMS / "bench-rank").read_bytes(), PROGRAM + ".true")
        self.install_everywhere(f'#!/bin/sh\n{script}\nexec {PROGRAM}.true "$@"\n'.encode())

    def changed(self, old, new):
        """bench-rank with replaced bytes."""
        data = (PROGRAMS / "bench-rank").read_bytes()
        self.assertIn(old, data)
        return data.replace(old, new)

    def run_all(self, *cases, seconds=30, **options):
        run = self.start(*cases, rank_program=PROGRAM, **options)
        run.finish(seconds)
        return run

    def test_a_program_missing_on_a_host(self):
        self.install_everywhere(None)
        self.run_all(SHORT, NULL)
        self.assert_only_node02_failed("cannot run bench-rank")

    def test_a_program_of_another_version_on_a_host(self):
        version = self.lab.say("exec", "head", PROGRAMS / "bench-rank", "--version").split()[1]
        other = "9" + version[1:]
        self.install_everywhere(self.changed(version.encode(), other.encode()))
        self.run_all(SHORT, NULL)
        self.assert_only_node02_failed(f"{PROGRAM} is version {other}, but benchctl is version {version}")
        self.assertIn("has a version mismatch", self.jobs()["02.null.2"][1])
        self.assertEqual({r["host"] for r in self.report()["results"] if r["n"]}, {"node01", "node03"})
        self.install_everywhere((PROGRAMS / "bench-rank").read_bytes())
        self.assert_resumes()

    def test_a_library_missing_on_a_host(self):
        self.install_everywhere(self.changed(b"libstdc++.so.6\0", b"libstdc++.so.0\0"))
        self.run_all(SHORT, NULL)
        self.assert_only_node02_failed(f"cannot run bench-rank: {PROGRAM}: error while loading shared libraries: libstdc++.so.0")

    def test_a_host_that_prints_garbage_between_its_records(self):
        self.wrapped("head -c 50000 /dev/urandom; echo; echo '#bench1 00000000 {\"kind\": \"samples\"}'")
        self.run_all(SHORT, NULL)
        for job, (outcome, reason) in self.jobs().items():
            self.assertEqual(outcome, "failed" if job.endswith(".2") else "ok", f"{job}: {reason}")
            if job.endswith(".2"):
                self.assertIn("on node02: rank failed during startup: printed garbage", reason)

    def test_a_host_with_a_wrong_clock_is_named_and_its_results_count(self):
        shutil.copy(WRONG_CLOCK, self.folder / "clock.so")
        self.wrapped(f"export LD_PRELOAD={self.folder}/clock.so")
        run = self.run_all(SHORT, NULL, TOGETHER)
        self.assert_measured(run.process.returncode, run.talk)
        report = self.report()
        self.assertEqual({job["outcome"] for job in report["jobs"]}, {"ok"}, report["jobs"])
        clocks = [text for text in report["warnings"] if "clock is" in text and "the benchctl host" in text]
        self.assertEqual([text[:len("node02: clock is 36")] for text in clocks], ["node02: clock is 36"], report["warnings"])
        self.assertIn("behind", clocks[0])
        self.assertEqual([job["job"] for job in report["jobs"]], sorted(job["job"] for job in report["jobs"]))
        self.assertLess(report["seconds"], 60)

    def fill(self, host, folder):
        """Fills the disk to the last byte."""
        self.lab.run("exec", host, "dd", "if=/dev/zero", f"of={folder}/fill", "bs=4096")
        self.addCleanup(self.lab.run, "exec", host, "rm", "-f", f"{folder}/fill")

    def test_a_host_with_a_full_disk(self):
        # A tmpfs with all pages used still accepts folders, unlike a full disk.
        used = self.lab.say("exec", "node02", "df", "--output=iused", "/tmp").split()[-1]
        self.lab.say("exec", "node02", "mount", "-o", f"remount,nr_inodes={used}", "/tmp")
        self.addCleanup(self.lab.say, "exec", "node02", "mount", "-o", "remount,nr_inodes=100000", "/tmp")
        self.start(SHORT, NULL, start_timeout_s=3).finish(30)
        self.assert_only_node02_failed("node02 has no writable temporary folder: cannot write to /tmp: No space left on device")
        self.lab.say("exec", "node02", "mount", "-o", "remount,nr_inodes=100000", "/tmp")
        self.assert_resumes()

    def test_a_disk_that_fills_under_the_records_of_the_run(self):
        disk = self.folder / "disk"
        disk.mkdir()
        self.lab.say("exec", "head", "mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk)
        self.addCleanup(self.lab.run, "exec", "head", "umount", "-l", disk)
        self.database = disk / "results.sqlite"
        self.runs = pathlib.Path(f"{self.lab.root('head')}{disk}/runs")
        run = self.start(long_case(3), NULL)
        run.wait_for_job("01.long.2")
        self.fill("head", disk)
        self.assertEqual(run.finish(30), 4, run.talk)
        self.assertIn("No space left on device", run.talk)
        self.assertIn("its records so far are kept", run.talk)
        for host in ("node01", "node02", "node03"):
            # Ranks exit when their stdin closes, shortly after benchctl.
            self.assertTrue(until(lambda host=host: not self.lab.ranks(host), 5), f"ranks are left on {host}")
        self.lab.say("exec", "head", "rm", disk / "fill")
        self.resume("--failed")
        self.assert_whole()


if __name__ == "__main__":
    main()
