"""Runs as batch jobs: submit, watch, detach, cancel; --stage through Slurm; nights as small batch jobs."""

import json
import re

from cluster_test_case import NULL, PROGRAMS, SlurmTestCase, long_case, make_bundle
from lab_test_case import main, until


class ClusterBatch(SlurmTestCase):
    HOSTS = 2

    def batch(self, *cases, options=(), **more):
        return self.start(*cases, launcher="slurm", options=("--sbatch", *options), **more)

    def test_a_batch_job_is_watched_to_its_end_and_reported(self):
        run = self.batch(long_case(0.2), NULL)
        self.assert_measured(run.finish(60), run.talk)
        self.assert_whole()
        self.assertRegex(run.talk, r"batch job \d+ on 2 nodes")
        self.assertIn("[4/4]", run.talk)
        self.assertIn("resume", (run.folder / "batch.sh").read_text())
        self.assertIn("null", (run.folder / "log" / "batch.txt").read_text())
        self.assert_nothing_is_allocated()

    def test_a_detached_batch_job_continues_and_is_reported_later(self):
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
        self.assert_measured(resumed.returncode, resumed.stderr)
        self.assert_whole()

    def test_a_rejection_by_slurm_is_reported(self):
        run = self.batch(NULL, slurm={"partition": "nope"})
        self.assertEqual(run.finish(20), 4, run.talk)
        self.assertIn("invalid partition specified: nope", run.talk)

    def test_inside_an_allocation_no_other_is_requested(self):
        run = self.batch(NULL, before=("salloc", "--quiet", "--nodelist=node01"))
        self.assertEqual(run.finish(20), 2, run.talk)
        self.assertRegex(run.talk, r"inside allocation \d+")

    def test_a_bundle_is_copied_to_nodes_without_the_program(self):
        bundle = make_bundle(self.folder)
        for copied in (2, 0):
            run = self.start(NULL, launcher="slurm", options=("--stage", bundle), rank_program="/tmp/bench-rank")
            self.assertEqual(run.finish(40), 0, run.talk)
            self.assertIn(f"{copied} of them newly copied", run.talk)
            self.assert_whole()

    def night_command(self, **slurm):
        suite, hosts = self.folder / "night.json", self.folder / "hosts.json"
        suite.write_text(json.dumps({"suite": "night", "cases": [NULL]}))
        hosts.write_text(json.dumps({"hosts": [{"name": "node[01-02]", "slots": 1}], "slurm": slurm}))
        return "--suite", suite, "--hosts", hosts, "--launcher", "slurm", "--db", self.database

    def test_a_night_in_a_batch_job_uses_only_idle_nodes_and_submits_the_next(self):
        gauges, place = self.folder / "night.prom", self.folder / "nightly"
        self.on_head(PROGRAMS / "benchctl", "nightly", "install", "slurm", "--at", "02:30", "--to", place, "--budget", "60s",
                     "--prometheus", gauges, *self.night_command())
        self.addCleanup(self.on_head, "scancel", "--name=benchctl-nightly")  # the next night, also where this one is not as it should be
        # The night script runs on node02, so that node is not idle.
        self.on_head("sbatch", "--nodelist=node02", place / "benchctl-nightly.sbatch")
        self.assertTrue(until(gauges.exists, 60), self.on_head("squeue"))
        jobs_ok = dict(re.findall(r'^benchctl_night_host_jobs_ok\{.*host="(\w+)"\} (\d)$', gauges.read_text(), re.MULTILINE))
        self.assertEqual(jobs_ok, {"node01": "1", "node02": "0"})
        log = next(place.glob("benchctl-nightly-*.txt"))
        skipped = re.compile(r"node02 +never +node is \w+; nightly runs only on idle nodes")  # columns: host, last check, why
        self.assertTrue(until(lambda: skipped.search(log.read_text()), 10), log.read_text())
        jobs = self.on_head("scontrol", "--oneliner", "show", "jobs").splitlines()
        small = [job for job in jobs if re.search(r"JobName=benchctl-\S+-night-", job)]  # other tests' jobs are still known
        self.assertEqual(len(small), 1, small)
        for words in ("NodeList=node01 ", "NumNodes=1 ", "Nice=10000 "):
            self.assertIn(words, small[0])
        self.assertRegex(self.on_head("squeue", "--noheader", "--states=PENDING", "--format=%j %r"), "^benchctl-nightly BeginTime")
        self.on_head("scancel", "--name=benchctl-nightly")
        self.assert_nothing_is_allocated()

    def test_jobs_that_slurm_does_not_start_in_time_are_cancelled(self):
        done = self.lab.run("exec", "head", PROGRAMS / "benchctl", "nightly", "--budget", "4s", "--json",
                            *self.night_command(allocation_args=["--hold"]))
        self.assertEqual(done.returncode, 3, done.stderr)
        night = json.loads(done.stdout)
        self.assertEqual([(one["host"], one["why"]) for one in night["left_out"]],
                         [(host, "Slurm did not start its job in time") for host in ("node01", "node02")])
        self.assertEqual({finding["kind"] for finding in night["findings"]}, {"unchecked"})
        self.assertEqual(list(self.runs.glob("2*")), [])
        self.assert_nothing_is_allocated()


if __name__ == "__main__":
    main("--slurm")
