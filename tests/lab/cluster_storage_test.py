"""The probe `storage` on hosts that share a folder: all at once, their sum, what each had, and the one that has little of it."""

from cluster_test_case import ClusterTestCase
from lab_test_case import MISSING, main


class ClusterStorage(ClusterTestCase):
    HOSTS = 2

    def measure(self, path, **params):
        """{metric: [result]} of one job of all hosts together, and the facts it wrote."""
        case = {"name": "shared", "probe": "storage", "scope": "all", "timeout_s": 30,
                "params": {"path": str(path), "size_bytes": 4 << 20, "seconds": 0.5, "depths": [1], **params}}
        run = self.start(case)
        self.assertEqual(run.finish(40), 0, run.talk)
        found = {}
        for result in self.report()["results"]:
            if result["outcome"] == "ok":
                found.setdefault(result["metric"], []).append(result)
        facts = [r["body"]["facts"] for r in run.records() if r["kind"] == "facts" and r["body"]["topic"] == "storage"]
        return found, facts[-1]

    def hosts_of(self, results):
        return {r["params"]["of_host"]: r for r in results}

    def test_a_shared_folder_gives_the_sum_of_all_hosts_and_what_each_had(self):
        found, facts = self.measure(self.folder / "disk", patterns=["random_write", "metadata"], random_block_bytes=[65536],
                                    access=["direct"], metadata_files=20, metadata_repeats=1)
        self.assertEqual((facts["ranks"], facts["shared_folder"]), (2, True), facts)
        whole, = found["storage.bandwidth"]
        hosts = self.hosts_of(found["storage.host_bandwidth"])
        self.assertEqual(set(hosts), {"node01", "node02"})
        self.assertEqual({r["params"]["of_ranks"] for r in hosts.values()}, {1})
        parts = sum(r["median"] for r in hosts.values())
        self.assertAlmostEqual(parts / whole["mean"], 1.0, delta=0.2)
        self.assertEqual({r["params"]["operation"] for r in found["storage.metadata_rate"]}, {"create", "stat", "list", "unlink"})
        self.assertEqual(list((self.folder / "disk").iterdir()), [])

    def test_a_host_that_has_little_of_the_storage_is_named(self):
        """Writes to memory cost CPU time alone, of which node02 has a fraction."""
        if self.lab.run("cpu", "node02", 10).returncode == MISSING:
            self.skipTest("no cgroup with the cpu controller")
        found, facts = self.measure("/tmp", patterns=["sequential_write"], access=["buffered"])
        self.assertFalse(facts["shared_folder"], "each host has a /tmp of its own")
        slow = [p["text"] for p in facts["pitfalls"] if p["name"] == "slow_host"]
        self.assertEqual(len(slow), 1, facts)
        self.assertIn("a rank of node02 got", slow[0])
        hosts = self.hosts_of(found["storage.host_bandwidth"])
        self.assertLess(hosts["node02"]["median"], 0.7 * hosts["node01"]["median"])


if __name__ == "__main__":
    main()
