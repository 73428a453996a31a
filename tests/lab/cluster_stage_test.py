"""--stage: copies the program once to hosts without it, into an executable folder, and reports obstacles."""

from cluster_test_case import NULL, PROGRAMS, ClusterTestCase, make_bundle
from lab_test_case import main, until

MISSING = "/tmp/bench-rank"  # every host has a /tmp of its own
STAGED = "/tmp/benchctl-stage-0"


class ClusterStage(ClusterTestCase):
    HOSTS = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bundle = make_bundle(cls.shared)
        cls.lab.say("exec", "node01", "cp", str(PROGRAMS / "bench-rank"), MISSING)

    def setUp(self):
        super().setUp()
        self.assertTrue(until(lambda: self.lab.ssh("head", "node02", "true").returncode == 0), "node02 is not back")

    def tearDown(self):
        self.unstage()
        super().tearDown()

    def unstage(self):
        return self.lab.run("exec", "head", PROGRAMS / "benchctl", "unstage", "--hosts", self.folder / "hosts.json")

    def staged_run(self):
        run = self.start(NULL, options=("--stage", self.bundle), rank_program=MISSING)
        run.code = run.finish(40)
        return run

    def assert_copied(self, run, count):
        self.assertEqual(run.code, 0, run.talk)
        self.assert_whole()
        self.assertIn(f"{count} of them newly copied", run.talk)

    def test_a_host_without_the_program_gets_it_once(self):
        self.assert_copied(self.staged_run(), 2)
        self.assertEqual(self.lab.say("exec", "node02", "stat", "-c", "%a", STAGED), "700")
        self.assert_copied(self.staged_run(), 0)
        self.lab.say("exec", "node02", "sh", "-c", f"for file in {STAGED}/*/benchctl/bin/bench-rank; do echo >> $file; done")
        damaged = self.staged_run()
        self.assert_copied(damaged, 1)
        self.assertIn("node02: the bundle in", damaged.talk)
        removed = self.unstage().stdout
        for host in ("node01", "node02"):
            self.assertIn(f"{host}: {STAGED}", removed)
        self.assertNotEqual(self.lab.run("exec", "node02", "test", "-e", STAGED).returncode, 0)

    def test_a_host_with_noexec_or_full_folders_is_excluded_and_the_others_continue(self):
        mounts = {"/var/tmp": "size=64k", "/root/.cache": "noexec"}
        command = "; ".join(f"mkdir -p {at}; mount -t tmpfs -o {option} none {at}" for at, option in mounts.items())
        self.lab.say("exec", "node02", "sh", "-c", f"mount -o remount,noexec /tmp; {command}")
        try:
            run = self.staged_run()
        finally:
            self.lab.say("exec", "node02", "umount", *mounts)
            self.lab.say("exec", "node02", "mount", "-o", "remount,exec", "/tmp")
        self.assertEqual(run.code, 3, run.talk)
        jobs = self.jobs()
        outcome, reason = jobs.pop("01.null.2")
        self.assertEqual(outcome, "skipped")
        self.assertIn("node02 excluded: cannot receive the bundle", reason)
        self.assertIn("mounted noexec", reason)
        self.assertRegex(reason, r"/var/tmp/\S+: \d+ KiB free, \d+ KiB needed")
        self.assertEqual({outcome for outcome, _ in jobs.values()}, {"ok"}, jobs)


if __name__ == "__main__":
    main()
