"""The probe `storage` on hosts with a shared folder: aggregate and per-host rates, and the slow host."""

import tempfile

from cluster_test_case import ClusterTestCase
from lab_test_case import main


class ClusterStorage(ClusterTestCase):
    HOSTS = 2

    def measure(self, path, **params):
        """{metric: [result]} of one job on all hosts, and its facts."""
        case = {"name": "shared", "probe": "storage", "scope": "all", "timeout_s": 30,
                "params": {"path": str(path), "size_bytes": 4 << 20, "seconds": 0.5, "depths": [1], **params}}
        run = self.start(case)
        self.assert_measured(run.finish(40), run.talk)
        found = {}
        for result in self.report()["results"]:
            if result["outcome"] == "ok":
                found.setdefault(result["metric"], []).append(result)
        facts = [r["body"]["facts"] for r in run.records() if r["kind"] == "facts" and r["body"]["topic"] == "storage"]
        return found, facts[-1]

    def hosts_of(self, results):
        return {r["params"]["of_host"]: r for r in results}

    def test_a_shared_folder_gives_the_aggregate_and_per_host_rates(self):
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

    def test_a_host_with_slow_storage_is_named(self):
        """The folder of node01 is in memory; on node02, as after a failed mount, it is on a disk with slow syncs."""
        disk = tempfile.TemporaryDirectory(prefix="benchctl-storage-test-", dir="/var/tmp")
        self.addCleanup(disk.cleanup)
        for host in ("node01", "node02"):
            self.lab.say("exec", host, "mkdir", "/tmp/fast")
        self.lab.say("exec", "node02", "mount", "--bind", disk.name, "/tmp/fast")
        self.addCleanup(self.lab.say, "exec", "node02", "umount", "/tmp/fast")
        if self.lab.say("exec", "node02", "stat", "-f", "-c", "%T", "/tmp/fast") == "tmpfs":
            self.skipTest("/var/tmp lies in memory")
        found, facts = self.measure("/tmp/fast", patterns=["sync_write"], access=["buffered"])
        self.assertFalse(facts["shared_folder"], "each host has a /tmp of its own")
        slow = [p["text"] for p in facts["pitfalls"] if p["name"] == "slow_host"]
        self.assertEqual(len(slow), 1, facts)
        self.assertIn("a rank of node02 got", slow[0])
        hosts = self.hosts_of(found["storage.host_bandwidth"])
        self.assertLess(hosts["node02"]["median"], 0.5 * hosts["node01"]["median"])


if __name__ == "__main__":
    main()
