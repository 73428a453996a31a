"""benchctl topology on four lab hosts: equal hosts are the same, one with a different kernel setting is named with it, and one
that is cut off is unknown. The setting is per network namespace."""

import json

from cluster_test_case import MPIRUN, PROGRAMS, ClusterTestCase
from lab_test_case import main

SETTING = "setting/sysctl.net.ipv4.tcp_rmem"


class ClusterTopology(ClusterTestCase):
    HOSTS = 4

    def topology(self, *words, profile=None):
        """Exit code and JSON output."""
        hosts = self.folder / "hosts.json"
        entry = {"name": "node[01-04]", "slots": 1}
        hosts.write_text(json.dumps({"hosts": [{**entry, "profile": profile} if profile else entry], "mpirun": MPIRUN}))
        done = self.lab.run("exec", "head", PROGRAMS / "benchctl", "topology", *(words or ("--hosts", hosts)), "--json",
                            "--db", self.database, timeout=100)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr[-3000:])
        return done.returncode, json.loads(done.stdout) if done.stdout else None

    def set_buffers(self, host, value):
        self.lab.say("exec", host, "sh", "-c", f"echo {value} > /proc/sys/net/ipv4/tcp_rmem")

    def verdicts(self, answer):
        return {host["host"]: host["verdict"] for host in answer["hosts"]}

    def test_an_odd_setting_is_named_against_majority_and_profile(self):
        code, answer = self.topology()
        self.assertEqual((code, set(self.verdicts(answer).values())), (0, {"same"}), json.dumps(answer["hosts"], indent=1)[-3000:])
        self.assertEqual(len(answer["kinds"]), 1)
        profiles = self.folder / "profiles"
        profiles.mkdir()
        self.topology("--run", "latest", "--learn", profiles / "lab.json", "--from", "node01")

        before = self.lab.run("exec", "node03", "cat", "/proc/sys/net/ipv4/tcp_rmem").stdout.split()
        try:
            self.set_buffers("node03", "4096 65536 1048576")
            code, answer = self.topology()
            self.check_odd_one(code, answer, "majority", " ".join(before))
            code, answer = self.topology(profile="lab")
            self.check_odd_one(code, answer, "profile", " ".join(before))
        finally:
            self.set_buffers("node03", " ".join(before))

    def check_odd_one(self, code, answer, against, expected):
        self.assertEqual(code, 1)
        self.assertEqual(self.verdicts(answer), {"node01": "same", "node02": "same", "node03": "differs", "node04": "same"},
                         json.dumps(answer["hosts"], indent=1)[-3000:])
        difference, = answer["hosts"][2]["differences"]
        self.assertEqual((difference["path"], difference["severity"], difference["against"]), (SETTING, "setting", against))
        self.assertEqual((difference["expected"], difference["found"]), (expected, "4096 65536 1048576"))

    def test_a_host_that_is_cut_off_is_unknown_and_the_others_are_compared(self):
        self.lab.say("cut", "node02")
        code, answer = self.topology()
        self.assertEqual(code, 3)
        self.assertEqual(self.verdicts(answer), {"node01": "same", "node02": "unknown", "node03": "same", "node04": "same"})
        self.assertIn("does not answer", answer["hosts"][1]["trouble"])


if __name__ == "__main__":
    main()
