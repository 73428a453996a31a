"""The scope rail: the same NIC on all hosts."""

from cluster_test_case import ClusterTestCase
from lab_test_case import main

RING = {"name": "ring", "probe": "collective", "scope": "rail", "timeout_s": 6,
        "params": {"ops": ["all_reduce"], "min_bytes": 8, "max_bytes": 16},
        "measure": {"min_time_s": 0.05, "max_time_s": 0.2, "warm_up_max_s": 0.1}}


class ClusterParts(ClusterTestCase):
    HOSTS = 2

    def hosts(self, *cards_of_each):
        return [{"name": f"node{i:02}", "slots": 1, "cards": cards} for i, cards in enumerate(cards_of_each, 1)]

    def test_ranks_communicate_only_over_their_rail(self):
        """A rail of NICs without an address must fail, which shows that MPI is restricted to the rail."""
        for host in ("node01", "node02"):
            self.lab.say("exec", host, "ip", "link", "add", "rail1", "type", "veth", "peer", "name", "rail1p")
        run = self.start(RING, entries=self.hosts(["eth0", "rail1"], ["eth0", "rail1"]))
        self.assertEqual(run.finish(40), 3, run.talk)
        jobs = self.jobs()
        self.assertEqual(jobs["01.ring.1"][0], "ok", jobs)
        self.assertEqual(jobs["01.ring.2"][0], "failed", jobs)
        results = [r for r in self.report()["results"] if r["metric"]]
        self.assertEqual({(r["params"]["rail"], r["params"]["card"]) for r in results}, {(0, "eth0")})

    def test_a_host_without_the_card_of_its_rail_is_named(self):
        run = self.start(RING, entries=self.hosts(["eth0"], ["eth9"]))
        self.assertEqual(run.finish(40), 3, run.talk)
        outcome, reason = self.jobs()["01.ring"]
        self.assertEqual(outcome, "failed")
        self.assertIn("node02 has no network card 'eth9'", reason)


if __name__ == "__main__":
    main()
