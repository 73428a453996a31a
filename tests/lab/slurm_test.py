"""Slurm in a lab: jobs run on both nodes, and a dead node recovers."""

from lab_test_case import LabTestCase, main, until


class Slurm(LabTestCase):
    OPTIONS = ("--slurm",)

    def hostnames(self, *options):
        return sorted(self.lab.say("exec", "head", "srun", "--immediate=20", "-N2", *options, "hostname").split())

    def test_srun_reaches_both_nodes(self):
        self.assertEqual(self.hostnames(), ["node01", "node02"])

    def test_srun_starts_connected_mpi_ranks(self):
        self.assertEqual(self.hostnames("--mpi=pmix"), ["node01", "node02"])

    def test_a_dead_node_is_idle_again_once_healed(self):
        self.lab.say("kill", "node02")
        self.lab.say("heal", "node02")
        self.assertTrue(until(lambda: self.lab.say("exec", "head", "sinfo", "-hN", "-o", "%t").split() == ["idle", "idle"], 30))
        self.assertEqual(self.hostnames(), ["node01", "node02"])

    def test_growing_is_rejected(self):
        done = self.lab.run("up", 3)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot add hosts", done.stderr)


if __name__ == "__main__":
    main("--slurm")
