"""benchctl under Slurm: same results as with mpirun, a dead node is named while the others continue, no allocation is leaked."""

import json

from cluster_test_case import NULL, PROGRAMS, SlurmTestCase, long_case
from lab_test_case import main, until

ALL_REDUCE = {"name": "reduce", "probe": "collective", "scope": "all",
              "params": {"ops": ["all_reduce"], "min_bytes": 8, "max_bytes": 16},
              "measure": {"min_time_s": 0.05, "max_time_s": 0.2, "warm_up_max_s": 0.1}}
# Long enough that a busy machine kills a rank of it in time; it ends with that rank.
TOGETHER = {**long_case(15), "name": "together", "scope": "all"}
CRAMPED = {**NULL, "name": "cramped", "scope": "all", "ranks_per_host": 2}


class ClusterSlurm(SlurmTestCase):
    def results(self, *cases, **options):
        """The measured series without values."""
        run = self.start(*cases, **options)
        self.assert_measured(run.finish(40), run.talk)
        report = self.report()
        self.assertEqual({job["outcome"] for job in report["jobs"]}, {"ok"}, report["jobs"])
        jobs = {(job["job"], tuple(job["hosts"])) for job in report["jobs"]}
        # per_cycle needs clean samples, which shared cores may not give.
        return jobs, {(r["case"], r["metric"], r["host"], json.dumps(r["params"], sort_keys=True)) for r in report["results"]
                      if r["metric"] != "gemm.per_cycle"}

    def test_the_results_match_mpirun(self):
        suite = (long_case(0.1), NULL, ALL_REDUCE, CRAMPED)
        by_mpirun = self.results(*suite, launcher="mpirun", parallel=1)
        by_slurm = self.results(*suite, launcher="slurm", parallel=1)
        self.assertGreater(len(by_mpirun[1]), 10)
        self.assertEqual(by_slurm, by_mpirun)
        self.assert_nothing_is_allocated()

    def test_inside_an_allocation_its_nodes_are_used_and_others_are_skipped(self):
        inside = ("salloc", "--quiet", "--exclusive", "--nodelist=node[01-02]")
        run = self.start(NULL, ALL_REDUCE, before=inside)
        run.finish(30)
        self.assertNotIn("requesting", run.talk)
        jobs = self.jobs()
        for job in ("01.null.3", "02.reduce"):
            outcome, reason = jobs.pop(job)
            self.assertEqual(outcome, "skipped")
            self.assertRegex(reason, r"node03 is not in the Slurm allocation \d+ \(node\[01-02\]\)")
        self.assertEqual({outcome for outcome, _ in jobs.values()}, {"ok"}, jobs)
        plan = json.loads(self.on_head(*inside, PROGRAMS / "benchctl", "plan", self.folder / "suite.json", "--json"))
        self.assertEqual([host["name"] for host in plan["inventory"]["hosts"]], ["node01", "node02"])
        self.assertEqual([job["hosts"] for job in plan["jobs"]], [["node01"], ["node02"], ["node01", "node02"]])

    def test_mpirun_ignores_the_allocation(self):
        run = self.start(NULL, ALL_REDUCE, launcher="mpirun", before=("salloc", "--quiet", "--nodelist=node01"))
        self.assert_measured(run.finish(40), run.talk)
        self.assertEqual({outcome for outcome, _ in self.jobs().values()}, {"ok"}, run.talk)

    def test_without_mpi_ranks_use_tcp_and_host_collectives_are_skipped(self):
        run = self.start({**NULL, "scope": "all", "ranks_per_host": 2}, ALL_REDUCE, launcher="slurm", slurm={"mpi": "none"})
        run.finish(40)
        jobs = self.jobs()
        self.assertEqual(jobs["01.null"][0], "ok", jobs)
        self.assertEqual(jobs["02.reduce"][0], "skipped", jobs)
        self.assertIn("the host needs MPI", jobs["02.reduce"][1])
        programs = [r["body"]["facts"] for r in run.records() if r["kind"] == "facts" and r["body"]["topic"] == "program"]
        self.assertEqual([(facts["group"], facts["ranks"], sorted(facts["hosts"])) for facts in programs],
                         [("TCP", ranks, ["node01", "node02", "node03"]) for ranks in (6, 3)])

    def test_without_mpi_a_killed_rank_is_named_and_ends_its_job_at_once(self):
        run = self.start(TOGETHER, NULL, launcher="slurm", slurm={"mpi": "none"})
        run.wait_for_job("01.together")
        self.lab.signal_rank("node02", "KILL")
        run.finish(30)
        jobs = self.jobs()
        outcome, reason = jobs.pop("01.together")
        self.assertEqual(outcome, "failed", reason)
        self.assertIn("node02", reason)
        self.assertEqual({outcome for outcome, _ in jobs.values()}, {"ok"}, jobs)

    def test_a_node_that_dies_mid_run_is_named_and_the_others_continue(self):
        run = self.start({**long_case(5), "timeout_s": 7}, NULL, launcher="slurm")
        run.wait_for_job("01.long.2")
        self.lab.say("kill", "node02")
        self.assertEqual(run.finish(60), 3, run.talk)
        jobs = self.jobs()
        outcome, reason = jobs.pop("01.long.2")
        self.assertIn(outcome, ("failed", "timed_out"))
        self.assertIn("node02 does not answer", reason)
        self.assertIn("node02 excluded", jobs.pop("02.null.2")[1])
        self.assertEqual({outcome for outcome, _ in jobs.values()}, {"ok"}, jobs)
        self.lab.say("heal", "node02")  # Slurm waits for a node that it cancels a job on
        self.assert_nothing_is_allocated()

    def test_a_killed_rank_ends_its_job_at_once_without_excluding_nodes(self):
        run = self.start(TOGETHER, NULL, launcher="slurm")
        run.wait_for_job("01.together")
        self.lab.signal_rank("node02", "KILL")
        run.finish(30)
        jobs = self.jobs()
        outcome, reason = jobs.pop("01.together")
        self.assertEqual(outcome, "failed", reason)
        self.assertEqual({outcome for outcome, _ in jobs.values()}, {"ok"}, jobs)
        for host in ("node01", "node02", "node03"):
            self.assertEqual(self.lab.ranks(host), [], host)

    def test_an_interruption_releases_the_nodes(self):
        run = self.start(long_case(10), launcher="slurm")
        run.wait_for_job("01.long.2")
        self.lab.run("exec", "head", "pkill", "-INT", "-x", "benchctl")
        self.assertEqual(run.finish(20), 130, run.talk)
        self.assert_nothing_is_allocated()

    def test_a_killed_benchctl_releases_the_nodes(self):
        run = self.start(long_case(10), launcher="slurm")
        run.wait_for_job("01.long.2")
        self.lab.run("exec", "head", "pkill", "-9", "-x", "benchctl")
        run.finish(10)
        self.assert_nothing_is_allocated()

    def test_rejected_or_pending_allocations_are_reported_and_cancelled(self):
        run = self.start(NULL, launcher="slurm", slurm={"partition": "nope"})
        self.assertEqual(run.finish(20), 4, run.talk)
        self.assertIn("invalid partition specified: nope", run.talk)
        self.on_head("salloc", "--no-shell", "--quiet", "--job-name=other", "--exclusive", "--nodelist=node03")
        try:
            run = self.start(NULL, launcher="slurm", slurm={"wait_s": 2})
            self.assertEqual(run.finish(20), 4, run.talk)
            self.assertRegex(run.talk, r"still pending after 2 s \(")
            run = self.start(NULL, launcher="slurm")
            self.assertTrue(until(lambda: "PENDING" in self.on_head("squeue", "--noheader", "--format=%T"), 10))
            self.lab.run("exec", "head", "pkill", "-INT", "-x", "benchctl")
            self.assertEqual(run.finish(20), 130, run.talk)
            self.assertTrue(until(lambda: self.on_head("squeue", "--noheader", "--format=%j") == "other", 10))
        finally:
            self.on_head("scancel", "--name=other")
        self.assert_nothing_is_allocated()

    def test_a_drained_node_is_skipped_without_delaying_the_others(self):
        self.on_head("scontrol", "update", "nodename=node03", "state=drain", "reason=dimm")
        try:
            run = self.start(NULL, launcher="slurm")
            run.finish(20)
        finally:
            self.on_head("scontrol", "update", "nodename=node03", "state=resume")
        jobs = self.jobs()
        outcome, reason = jobs.pop("01.null.3")
        self.assertEqual(outcome, "skipped")
        self.assertIn("node03 cannot be allocated: its Slurm state is IDLE+DRAIN", reason)
        self.assertEqual({outcome for outcome, _ in jobs.values()}, {"ok"}, jobs)


if __name__ == "__main__":
    main("--slurm")
