"""benchctl accept over four hosts of a lab: it names the host with a capped CPU and the host with a slow link, each with its
cause, and raises no false alarm. All hosts share the cores of this machine, so they are measured one at a time."""

import json
import sys
import xml.etree.ElementTree as ElementTree

from cluster_test_case import MPIRUN, PROGRAMS, ClusterTestCase
from lab_test_case import MISSING, main

# Lab hosts share memory and caches with everything on the machine; the injected faults are far larger than these tolerances.
THRESHOLDS = {"memory_bandwidth.bandwidth": 0.3, "memory_latency.latency": 0.3, "collective.busbw": 0.5,
              "gemm.throughput": 0.3, "clock.frequency": 0.3}


# Reasons that a busy machine alone explains; also its neighbours', which halve the memory bandwidth unseen.
NOISE = ("usable runs", "is not excluded", "clock unknown", "only while other work was running", "comparable hosts, peer comparison needs",
         "too few to be certain")


class ClusterAccept(ClusterTestCase):
    HOSTS = 4

    def accept(self, *words):
        """Exit code and JSON output."""
        hosts = self.folder / "hosts.json"
        hosts.write_text(json.dumps({"hosts": [{"name": "node[01-04]", "slots": 1}], "mpirun": MPIRUN}))
        thresholds = [word for name, share in THRESHOLDS.items() for word in ("--threshold", f"{name}={share}")]
        done = self.lab.run("exec", "head", PROGRAMS / "benchctl", "accept", "--hosts", hosts, "--parallel", 1, "--max-runs", 3,
                            "--json", "--db", self.database, *thresholds, *words, timeout=200)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr[-3000:])
        answer = json.loads(done.stdout)
        print(f"fleet: {answer['verdict']}", file=sys.stderr)  # scripts/evidence cluster_accept counts these
        return done.returncode, answer

    def failures(self, answer):
        return {host["host"]: [r for r in host["reasons"] if r["verdict"] == "fail"]
                for host in answer["hosts"] if host["verdict"] == "fail"}

    def test_a_capped_cpu_and_a_slow_link_fail_with_their_causes(self):
        if self.lab.run("cpu", "node02", 50).returncode == MISSING:
            self.skipTest("no cgroup with the cpu controller")
        self.lab.say("rate", "node03", 100)
        code, answer = self.accept("--html", self.folder / "html", "--junit", self.folder / "junit.xml",
                                   "--rma", self.folder / "rma", "--drain")
        failures = self.failures(answer)
        self.assertEqual(sorted(failures), ["node02", "node03"], json.dumps(answer["hosts"], indent=1)[-6000:])
        self.assertEqual((code, answer["verdict"]), (1, "fail"))
        for host in answer["hosts"]:  # node04 is second in all its pairs; its counters must be read all the same
            moved = [row["bytes"] or 0 for row in host["counters"] if row["counter"] == "received_errors"]
            self.assertGreater(max(moved, default=0), 1e6, host["host"])
        self.assertIn("cpu_time", {reason["metric"] for reason in failures["node02"]})
        self.assertNotIn("pairs", {reason["gate"] for reason in failures["node02"]})
        self.assertEqual({reason["gate"] for reason in failures["node03"]}, {"pairs"})
        self.assertIn("every partner", failures["node03"][0]["text"])
        self.assertLess(failures["node03"][0]["value"], 30e6)  # 100 Mbit/s is 12.5e6, and a bucket
        self.assertEqual(answer["links"], [])
        self.check_files(answer)

    def check_files(self, answer):
        suites = ElementTree.parse(self.folder / "junit.xml").getroot()
        self.assertEqual([suite.get("name") for suite in suites], ["node01", "node02", "node03", "node04"])
        self.assertIn("CPU", (self.folder / "html" / "node02.html").read_text())
        self.assertEqual([drain["host"] for drain in answer["drain"]], ["node02", "node03"])
        self.assertFalse(any(drain["ran"] for drain in answer["drain"]))
        packet = json.loads((self.folder / "rma" / "node03" / "packet.json").read_text())
        again = self.reproduce("node03", packet)
        rates = [r["median"] for r in json.loads(again.stdout)["results"] if r["metric"] == "collective.busbw"]
        self.assertTrue(rates and max(rates) < 30e6, again.stdout[-2000:])
        self.assertEqual(again.returncode, 1)
        self.lab.say("heal", "node03")
        self.assertIn(self.reproduce("node03", packet).returncode, (0, 3))  # 3: other work on this machine

    def reproduce(self, host, packet):
        program, *words = packet["reproduce"].split()
        there = self.folder / "rma" / host
        return self.lab.run("exec", "head", "env", "-C", there, PROGRAMS / program, *words, "--json", "--db", self.database, timeout=60)

    def test_healthy_hosts_raise_no_false_alarm(self):
        code, answer = self.accept()
        self.assertEqual(self.failures(answer), {}, json.dumps(answer["hosts"], indent=1)[-6000:])
        self.assertEqual(answer["links"], [])
        # Only noise from other work may prevent a pass, and each such reason must give advice.
        open_reasons = [reason for host in answer["hosts"] for reason in host["reasons"]]
        self.assertEqual([reason for reason in open_reasons if not reason["settle"]], [])
        self.assertEqual({reason["verdict"] for reason in open_reasons} - {"inconclusive"}, set())
        settled = [reason["text"] for reason in open_reasons if not any(words in reason["text"] for words in NOISE)]
        self.assertEqual(settled, [])
        self.assertEqual((code, answer["verdict"]), (3, "inconclusive") if open_reasons else (0, "pass"), open_reasons)

    def test_a_host_that_is_cut_off_fails(self):
        self.lab.say("cut", "node04")
        code, answer = self.accept("--only", "clock", "--only", "pairs")
        self.assertEqual(code, 1)
        failures = self.failures(answer)
        self.assertEqual(list(failures), ["node04"])
        self.assertEqual({reason["gate"] for reason in failures["node04"]}, {"launch"})


if __name__ == "__main__":
    main()
