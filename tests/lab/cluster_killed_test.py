"""Kills benchctl at random moments of a run on several hosts and resumes it: all results exist, none twice."""

import os
import random
import time

from cluster_test_case import NULL, ClusterTestCase, Run, long_case
from lab_test_case import main

KILLS = int(os.environ.get("BENCH_KILLS", "3"))


class ClusterKilled(ClusterTestCase):
    def kill_benchctl(self):
        self.lab.run("exec", "head", "pkill", "-9", "-x", "benchctl")

    def test_a_repeatedly_killed_run_is_completed_by_resume(self):
        seed = int(os.environ.get("BENCH_SEED", "1"))
        chance = random.Random(seed)
        for kill in range(KILLS):
            with self.subTest(kill=kill, seed=seed):
                self.setUp()
                run = self.start(long_case(0.5), NULL, {**long_case(0.5), "name": "last"})
                time.sleep(chance.uniform(0.2, 2.5))
                self.kill_benchctl()
                run.process.wait(10)
                if run.folder is None:
                    continue  # before anything was planned
                Run(self, ["resume", "latest", "--failed"]).finish(60)
                self.assert_whole()
                for host in ("node01", "node02", "node03"):
                    self.assert_ends(host)

    def assert_ends(self, host):
        """Ranks notice a killed launcher within seconds, possibly after the resumed run ended."""
        end = time.monotonic() + 15
        while self.lab.ranks(host) and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(self.lab.ranks(host), [], host)


if __name__ == "__main__":
    main()
