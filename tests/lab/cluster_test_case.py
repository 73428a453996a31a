"""Runs benchctl on the head of a lab, with suites, hosts files and access to stored runs."""

import json
import os
import pathlib
import subprocess
import tarfile
import tempfile
import time

from lab_test_case import Lab, LabTestCase, until

PROGRAMS = pathlib.Path(os.environ.get("BENCH_PROGRAMS", pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"))
# A silent host is detected within about 4 s, and within 2 s on a new connection.
MPIRUN = {"interfaces": "10.77.0.0/16", "connect_timeout_s": 2, "keepalive_s": 2, "keepalive_count": 2,
          "mca": {"pml": "ob1", "btl": "tcp,self", "osc": "^ucx", "mpi_yield_when_idle": "1"}}


def long_case(seconds):
    """A job of about this many seconds on each host. Small GEMMs: their check is exact even on a busy machine."""
    return {"name": "long", "probe": "gemm", "timeout_s": 20,
            "params": {"dtypes": ["f32"], "shapes": [[64, 64, 64]], "threads": [1]},
            "measure": {"min_time_s": seconds, "max_time_s": seconds, "warm_up_max_s": 0.1, "max_samples": 1000000}}


NULL = {"name": "null", "probe": "null"}


class Run:
    """One run of benchctl on head, during and after it."""

    def __init__(self, case, words, before=()):
        """`before`: a command that starts benchctl."""
        self.case = case
        self.process = case.lab.start_quietly("exec", "head", *before, PROGRAMS / "benchctl", *words, "--db", case.database)

    @property
    def folder(self):
        folders = sorted(self.case.runs.glob("2*"))
        return folders[-1] if folders else None

    def records(self):
        if self.folder is None or not (self.folder / "records.jsonl").exists():
            return []
        lines = (self.folder / "records.jsonl").read_text().split("\n")
        return [json.loads(line) for line in lines[:-1] if line]

    def wait_for_job(self, job):
        """Waits until its rank has started the job."""
        started = lambda: any(r["job"] == job and r["kind"] == "phase" and r["body"]["name"] == "launch" for r in self.records())
        self.case.assertTrue(until(started, 20), f"{job} did not start")

    def finish(self, seconds):
        """Its exit code; fails after the timeout."""
        try:
            _, self.talk = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.case.fail(f"still running after {seconds} s")
        return self.process.returncode


def make_bundle(folder):
    """Bundles the rank program of this build, in a second instead of the minutes of scripts/bundle."""
    bundle = folder / "bundle.tar"
    with tarfile.open(bundle, "w") as tar:
        tar.add(PROGRAMS / "bench-rank", "benchctl/bin/bench-rank")
    return bundle


class ClusterTestCase(LabTestCase):
    HOSTS = 3

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="benchctl-cluster-test-")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.shared = pathlib.Path(cls.temporary.name) / "shared"
        cls.shared.mkdir()
        os.environ["LAB_SHARE"] = f"{cls.shared}:{PROGRAMS}"
        cls.lab = ClusterLab(pathlib.Path(cls.temporary.name) / "lab")
        cls.addClassCleanup(cls.lab.say, "down")
        cls.lab.say("up", cls.HOSTS, *cls.OPTIONS)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.shared))
        self.database = self.folder / "results.sqlite"
        self.runs = self.folder / "runs"
        self.begun = time.monotonic()

    def tearDown(self):
        for host in range(1, self.HOSTS + 1):
            self.lab.say("heal", f"node{host:02}")

    def start(self, *cases, parallel=3, launcher="auto", before=(), options=(), entries=None, slurm=None, **mpirun):
        suite, hosts = self.folder / "suite.json", self.folder / "hosts.json"
        suite.write_text(json.dumps({"suite": "lab", "cases": cases}))
        hosts.write_text(json.dumps({"hosts": entries or [{"name": f"node[01-{self.HOSTS:02}]", "slots": 1}],
                                     "mpirun": {**MPIRUN, **mpirun}, "slurm": slurm or {}}))
        return Run(self, ["run", suite, "--hosts", hosts, "--parallel", parallel, "--launcher", launcher,
                          *options], before)

    def assert_only_node02_failed(self, *why):
        """node02's first job failed for one of these reasons, its second was skipped, all others are ok."""
        jobs = self.jobs()
        for job, (outcome, reason) in jobs.items():
            if not job.endswith(".2"):
                self.assertEqual(outcome, "ok", f"{job}: {reason}")
        outcome, reason = jobs["01.long.2"]
        self.assertIn(outcome, ("failed", "timed_out"), reason)
        self.assertIn("node02", reason)
        self.assertTrue(any(text in reason for text in why), reason)
        outcome, reason = jobs["02.null.2"]
        self.assertEqual(outcome, "skipped", reason)
        self.assertIn("node02 excluded", reason)

    def assert_resumes(self):
        self.lab.say("heal", "node02")
        self.resume("--failed")
        self.assert_whole()

    def resume(self, *words, seconds=40):
        run = Run(self, ["resume", "latest", *words])
        self.assert_measured(run.finish(seconds), run.talk)

    def assert_measured(self, code, talk):
        """Exit code 0, or 3 for want of clean samples only, as all hosts share the cores of this machine."""
        if code == 3:
            unjudged = self.report()["unjudged"]
            self.assertTrue(unjudged and all("no clean samples" in why for why in unjudged), unjudged)
        else:
            self.assertEqual(code, 0, talk)

    def report(self):
        shown = self.lab.run("exec", "head", PROGRAMS / "benchctl", "show", "latest", "--json", "--db", self.database)
        return json.loads(shown.stdout)

    def jobs(self):
        """job ID: (outcome, reason) from the report."""
        return {job["job"]: (job["outcome"], job["reason"]) for job in self.report()["jobs"]}

    def assert_whole(self):
        """Every job of the run is ok, without duplicate results."""
        report = self.report()
        self.assertEqual({job["outcome"] for job in report["jobs"]}, {"ok"}, report["jobs"])
        keys = [(r["case"], r["metric"], r["host"], json.dumps(r["params"], sort_keys=True)) for r in report["results"]]
        self.assertEqual(len(keys), len(set(keys)), keys)
        self.assertEqual({r["host"] for r in report["results"]}, {f"node{i:02}" for i in range(1, self.HOSTS + 1)})


class SlurmTestCase(ClusterTestCase):
    OPTIONS = ("--slurm",)

    def setUp(self):
        super().setUp()
        self.assertTrue(until(lambda: self.on_head("sinfo", "-hN", "-o", "%t").split() == ["idle"] * self.HOSTS, 30))

    def on_head(self, *words):
        return self.lab.say("exec", "head", *words)

    def assert_nothing_is_allocated(self):
        self.assertTrue(until(lambda: self.on_head("squeue", "--noheader") == "", 15), self.on_head("squeue"))


class ClusterLab(Lab):
    def start_quietly(self, *words):
        env = {**os.environ, "LAB_DIR": str(self.folder)}
        return subprocess.Popen([str(self.script), *map(str, words)], env=env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    @property
    def script(self):
        return pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lab"

    def root(self, host):
        """Path of a host's files on this machine."""
        return f"/proc/{(self.folder / 'hosts' / host / 'process').read_text().split()[0]}/root"

    def signal_rank(self, host, signal):
        """Fails where the rank has ended already: its job would be ok for a reason that the test does not mean."""
        self.say("exec", host, "pkill", f"-{signal}", "-x", "bench-rank")

    def ranks(self, host):
        """PIDs of the rank programs and daemons in the namespace of a host."""
        found = self.run("exec", host, "pgrep", "-x", "bench-rank|orted").stdout
        return [int(number) for number in found.split()]
