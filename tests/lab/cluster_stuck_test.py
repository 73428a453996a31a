"""Ranks that hang during a run on several hosts: inside a collective, and where even SIGKILL has no effect."""

import os
import pathlib
import unittest

from cluster_test_case import NULL, ClusterTestCase, long_case
from lab_test_case import main, processes_in, until

FREEZER = pathlib.Path("/sys/fs/cgroup/freezer")  # of cgroup v1: what it holds dies of no signal until it is thawed
ALL_REDUCE = {"name": "reduce", "probe": "collective", "scope": "all", "timeout_s": 2,
              "params": {"ops": ["all_reduce"], "min_bytes": 8, "max_bytes": 8, "init_repeats": 1},
              "measure": {"min_time_s": 15, "max_time_s": 15, "warm_up_max_s": 0.1, "max_samples": 1000000}}


class ClusterStuck(ClusterTestCase):
    def test_a_hang_in_a_collective_ends_at_its_deadline_on_all_hosts(self):
        run = self.start(ALL_REDUCE, NULL)
        run.wait_for_job("01.reduce")
        self.lab.signal_rank("node02", "STOP")
        run.finish(40)
        jobs = self.jobs()
        outcome, reason = jobs.pop("01.reduce")
        self.assertEqual(outcome, "timed_out", reason)
        self.assertIn("no outcome within 2 s", reason)
        self.assertIn("node02: 1 stopped", reason)
        self.assertEqual({outcome for outcome, _ in jobs.values()}, {"ok"}, jobs)
        for host in ("node01", "node02", "node03"):
            self.assertEqual(self.lab.ranks(host), [], host)

    @unittest.skipUnless((FREEZER / "cgroup.procs").exists(), "no freezer of cgroup v1: no other state is known that SIGKILL does not end")
    def test_a_rank_that_survives_sigkill_marks_its_host_as_wedged(self):
        cell = FREEZER / f"benchctl-test-{os.getpid()}"
        cell.mkdir()
        run = self.start({**long_case(1.5), "timeout_s": 3}, NULL)
        run.wait_for_job("01.long.2")
        (rank,) = [pid for pid, _, command in processes_in(self.lab.namespaces("node02")) if "bench-rank" in command.split(" ")[0]]

        def thaw():
            (cell / "freezer.state").write_text("THAWED")
            self.assertTrue(until(lambda: not (cell / "cgroup.procs").read_text(), 10), "a frozen rank does not end")
            cell.rmdir()

        try:
            (cell / "cgroup.procs").write_text(rank)
            (cell / "freezer.state").write_text("FROZEN")
            run.finish(40)
        finally:
            thaw()
        self.assert_only_node02_failed("node02 has a stuck process: ", "cannot be killed: state D")
        self.assertIn("cannot be killed: state D", self.jobs()["01.long.2"][1])
        self.assert_resumes()


if __name__ == "__main__":
    main()
