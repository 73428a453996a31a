"""A run on several hosts while one fails: it ends in time, names the host and the cause, keeps the results of the others,
and resume completes it."""

from cluster_test_case import NULL, ClusterTestCase, long_case
from lab_test_case import main, until


class ClusterFaults(ClusterTestCase):
    def test_a_host_that_is_cut_off_before_the_start(self):
        self.lab.say("cut", "node02")
        self.start(long_case(0.3), NULL).finish(30)
        self.assert_only_node02_failed("timed out", "No route to host")
        self.assert_resumes()

    def test_a_host_whose_sshd_refuses(self):
        self.lab.say("sshd", "node02", "stop")
        self.start(long_case(0.3), NULL).finish(20)
        self.assert_only_node02_failed("Connection refused")
        self.assert_resumes()

    def test_a_host_whose_sshd_hangs(self):
        self.lab.say("sshd", "node02", "hang")
        self.start(long_case(0.3), NULL).finish(30)
        self.assert_only_node02_failed("timed out", "does not answer")

    def test_a_host_that_dies_mid_run_and_closes_its_connections(self):
        run = self.start(long_case(4), NULL)
        run.wait_for_job("01.long.2")
        self.lab.say("kill", "node02")
        run.finish(30)
        self.assert_only_node02_failed("does not answer")
        self.assert_resumes()

    def test_a_host_that_goes_silent_mid_run(self):
        run = self.start(long_case(4), NULL)
        run.wait_for_job("01.long.2")
        self.lab.say("crash", "node02")
        run.finish(40)
        self.assert_only_node02_failed("timed out", "does not answer", "No route to host")

    def test_a_link_that_is_cut_mid_run(self):
        run = self.start(long_case(4), NULL)
        run.wait_for_job("01.long.2")
        self.lab.say("cut", "node02")
        run.finish(40)
        self.assert_only_node02_failed("timed out", "does not answer", "No route to host")
        self.lab.say("heal", "node02")
        self.assertTrue(until(lambda: not self.lab.ranks("node02"), 20), "ranks are left on the host that is back")

    def test_a_killed_rank_does_not_exclude_its_host(self):
        run = self.start(long_case(4), NULL)
        run.wait_for_job("01.long.2")
        self.lab.signal_rank("node02", "KILL")
        run.finish(30)
        jobs = self.jobs()
        self.assertEqual(jobs.pop("01.long.2")[0], "failed")
        self.assertEqual({outcome for outcome, _ in jobs.values()}, {"ok"}, jobs)

    def test_a_hanging_rank_is_ended_at_its_deadline_without_leftovers(self):
        case = {**long_case(3), "timeout_s": 6}
        run = self.start(case, NULL)
        run.wait_for_job("01.long.2")
        self.lab.signal_rank("node02", "STOP")
        run.finish(40)
        jobs = self.jobs()
        self.assertEqual(jobs.pop("01.long.2")[0], "timed_out")
        self.assertEqual({outcome for outcome, _ in jobs.values()}, {"ok"}, jobs)
        self.assertEqual(self.lab.ranks("node02"), [])

    def test_a_killed_launcher_loses_only_one_job(self):
        run = self.start(long_case(4), NULL)
        run.wait_for_job("01.long.2")
        self.lab.run("exec", "head", "pkill", "-9", "-f", "mpirun.*node02")
        run.finish(30)
        jobs = self.jobs()
        self.assertEqual(jobs.pop("01.long.2")[0], "failed")
        self.assertEqual({outcome for outcome, _ in jobs.values()}, {"ok"}, jobs)
        self.assertEqual(self.lab.ranks("node02"), [])


if __name__ == "__main__":
    main()
