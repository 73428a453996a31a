"""A slow or failing job on all four lab hosts: `--localise` isolates the host with the slow link, or the failing host, with
evidence. All hosts share the cores of this machine, so jobs run one at a time."""

import json

from cluster_test_case import MPIRUN, PROGRAMS, ClusterTestCase
from lab_test_case import main

# Healthy lab hosts reach 100 MB/s or more; a 100 Mbit/s link at most 12.5 MB/s plus its token bucket.
ALL = {"name": "all", "probe": "collective", "scope": "all", "timeout_s": 60,
       "params": {"placements": ["out_of_place"], "min_bytes": 1048576, "max_bytes": 1048576, "init_repeats": 1},
       "measure": {"max_time_s": 0.5, "warm_up_max_s": 0.2, "max_samples": 50},
       "gates": [{"metric": "busbw", "min": 60e6}]}


class ClusterLocalise(ClusterTestCase):
    HOSTS = 4

    def run_suite(self, *words, command="run", env=None, **case):
        """JSON output of run or accept."""
        suite, hosts = self.folder / "suite.json", self.folder / "hosts.json"
        suite.write_text(json.dumps({"suite": "lab", "cases": [{**ALL, **case}]}))
        hosts.write_text(json.dumps({"hosts": [{"name": "node[01-04]", "slots": 1}], "mpirun": {**MPIRUN, **(env or {})}}))
        what = ["accept", "--suite", suite, "--max-runs", 1] if command == "accept" else ["run", suite]
        done = self.lab.run("exec", "head", PROGRAMS / "benchctl", *what, "--hosts", hosts, "--parallel", 1, "--json",
                            "--db", self.database, *words, timeout=100)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr[-3000:])
        self.talk = done.stderr
        return json.loads(done.stdout)

    def findings(self, answer):
        return [(finding["kind"], finding["hosts"]) for one in answer["localisation"] for finding in one["findings"]]

    def test_the_host_with_a_slow_link_is_isolated_by_halves_and_pairs(self):
        self.lab.say("rate", "node03", 100)
        answer = self.run_suite("--localise")
        self.assertEqual(self.findings(answer), [("host", ["node03"])], json.dumps(answer["localisation"], indent=1))
        search = answer["localisation"][0]
        self.assertEqual((search["kind"], search["finished"], search["jobs"] <= 4), ("slow", True, True), search)
        for one in search["findings"][0]["evidence"]:
            self.assertEqual(one["shows"], "node03" in one["hosts"])
            self.assertEqual(one["value"] < 60e6, one["shows"])
        self.assertEqual(len(answer["gates"]), 1)  # the search's jobs are judged by none
        shown = self.lab.run("exec", "head", PROGRAMS / "benchctl", "show", "latest", "--db", self.database).stdout
        self.assertIn("host node03: with it", shown)

    def test_acceptance_fails_the_isolated_host_and_clears_the_others(self):
        self.lab.say("rate", "node02", 100)
        answer = self.run_suite(command="accept")
        self.assertEqual(self.findings(answer), [("host", ["node02"])], json.dumps(answer["localisation"], indent=1))
        failed = {host["host"]: {r["gate"] for r in host["reasons"] if r["verdict"] == "fail"} for host in answer["hosts"]}
        self.assertEqual(failed, {"node01": set(), "node02": {"localised"}, "node03": set(), "node04": set()})
        for host in answer["hosts"]:
            if host["host"] != "node02":
                self.assertFalse([r["text"] for r in host["reasons"] if r["gate"] == "hard"])

    def test_resume_continues_a_search_that_ran_out_of_budget(self):
        # A rank program that answers on every host but cannot measure on one.
        program = self.shared / f"rank-{self.folder.name}"
        program.write_text(f'#!/bin/sh\n[ "$(uname -n) $1" = "node04 " ] && exit 9\nexec {PROGRAMS}/bench-rank "$@"\n')
        program.chmod(0o755)
        answer = self.run_suite("--localise", "--localise-jobs", 1, env={"rank_program": str(program)}, gates=[])
        search = answer["localisation"][0]
        self.assertEqual((search["kind"], answer["exit_code"]), ("failed", 3))
        self.assertEqual((search["findings"], search["budget_spent"], search["jobs"]), ([], True, 1))
        self.assertTrue(search["open"])
        self.go_on_with(40)

    def go_on_with(self, jobs):
        """With a larger budget `benchctl resume` continues the search without repeating jobs."""
        plan = max((self.folder / "runs").glob("2*")) / "plan.json"
        kept = json.loads(plan.read_text())
        self.assertEqual(len(kept["localisation"]["jobs"]), 1)
        kept["localisation"]["max_jobs"] = jobs
        plan.write_text(json.dumps(kept))
        done = self.lab.run("exec", "head", PROGRAMS / "benchctl", "resume", "latest", "--json", "--db", self.database, timeout=100)
        answer = json.loads(done.stdout)
        self.assertEqual(self.findings(answer), [("host", ["node04"])], done.stderr[-3000:])
        self.assertEqual(len(answer["jobs"]), 1 + answer["localisation"][0]["jobs"])

    def test_without_the_option_there_is_no_search(self):
        self.lab.say("rate", "node01", 100)
        answer = self.run_suite()
        self.assertEqual((answer["localisation"], len(answer["jobs"])), ([], 1))


if __name__ == "__main__":
    main()
