"""A run as a batch job: submitted, watched or left alone, cancelled; and --stage through Slurm."""

from cluster_test_case import NULL, PROGRAMS, SlurmTestCase, long_case, make_bundle
from lab_test_case import main, until


class ClusterBatch(SlurmTestCase):
    HOSTS = 2

    def batch(self, *cases, options=(), **more):
        return self.start(*cases, launcher="slurm", options=("--sbatch", *options), **more)

    def test_a_batch_job_is_watched_to_its_end_and_reported(self):
        run = self.batch(long_case(0.2), NULL)
        self.assertEqual(run.finish(60), 0, run.talk)
        self.assert_whole()
        self.assertRegex(run.talk, r"batch job \d+ on 2 nodes")
        self.assertIn("[4/4]", run.talk)
        self.assertIn("resume", (run.folder / "batch.sh").read_text())
        self.assertIn("null", (run.folder / "log" / "batch.txt").read_text())
        self.assert_nothing_is_allocated()

    def test_a_batch_job_that_is_left_alone_goes_on_and_is_shown_later(self):
        run = self.batch(long_case(0.5), NULL, options=("--detach",), slurm={"time_limit": "7", "allocation_args": ["--comment=x"]})
        self.assertEqual(run.finish(20), 0, run.talk)
        self.assertRegex(self.on_head("squeue", "--noheader", "--format=%l %k %j"), r"^7:00 x benchctl-2")
        self.assertTrue(until(lambda: any(r["body"].get("key") == "run_end" for r in run.records()), 40))
        self.assert_whole()
        self.assert_nothing_is_allocated()

    def test_an_interruption_cancels_the_job_and_resume_completes_it(self):
        run = self.batch(long_case(2), NULL)
        run.wait_for_job("01.long.2")
        self.lab.run("exec", "head", "pkill", "-INT", "-x", "benchctl")
        self.assertEqual(run.finish(60), 130, run.talk)
        self.assert_nothing_is_allocated()
        resumed = self.lab.run("exec", "head", PROGRAMS / "benchctl", "resume", "latest", "--launcher", "slurm", "--failed",
                               "--db", self.database, timeout=60)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assert_whole()

    def test_what_slurm_refuses_is_said(self):
        run = self.batch(NULL, slurm={"partition": "nope"})
        self.assertEqual(run.finish(20), 4, run.talk)
        self.assertIn("invalid partition specified: nope", run.talk)

    def test_an_allocation_around_it_is_no_place_for_another(self):
        run = self.batch(NULL, before=("salloc", "--quiet", "--nodelist=node01"))
        self.assertEqual(run.finish(20), 2, run.talk)
        self.assertRegex(run.talk, r"in the allocation \d+ already")

    def test_a_bundle_is_brought_to_nodes_without_the_program(self):
        bundle = make_bundle(self.folder)
        for copied in (2, 0):
            run = self.start(NULL, launcher="slurm", options=("--stage", bundle), rank_program="/tmp/bench-rank")
            self.assertEqual(run.finish(40), 0, run.talk)
            self.assertIn(f"{copied} of them got it now", run.talk)
            self.assert_whole()


if __name__ == "__main__":
    main("--slurm")
