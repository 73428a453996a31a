"""Faults of a host: capped CPU, full disk, broken sshd, stopped and killed processes; and their removal."""

import ctypes

from lab_test_case import LabTestCase, MISSING, main, processes_in, still_alive, until

# Iterations of a loop in half a second, and its share of one core.
COUNT = """
import time
rounds, start, ran = 0, time.monotonic(), time.process_time()
while (seconds := time.monotonic() - start) < 0.5:
    rounds += 1
print(rounds, (time.process_time() - ran) / seconds)
"""


class Faults(LabTestCase):
    def tearDown(self):
        self.lab.say("heal", "node02")

    def count(self):
        rounds, share = self.lab.python("node02", COUNT).split()
        return int(rounds), float(share)

    def test_a_capped_cpu_is_slower_by_about_the_cap(self):
        free, _ = self.count()
        capped = self.lab.run("cpu", "node02", 20)
        if capped.returncode == MISSING:
            self.skipTest(capped.stderr.strip())
        self.assertEqual(capped.returncode, 0, capped.stderr)
        self.assertEqual(self.lab.status()["node02"]["cpu"], "20%")
        slow, share = self.count()
        self.assertTrue(0.05 < share < 0.3, f"{share} of a core")
        # A busy machine slows the uncapped loop more than the capped one.
        self.assertTrue(2 < free / slow < 12, f"{free} rounds, capped {slow}")
        self.lab.say("cpu", "node02", "off")
        self.assertGreater(self.count()[0], 2 * slow)

    def test_a_cap_applies_to_ssh_sessions(self):
        if self.lab.run("cpu", "node02", 20).returncode == MISSING:
            self.skipTest("no cgroup with the cpu controller")
        told = self.lab.ssh("node01", "node02", "cat", "/proc/self/cgroup")
        self.assertRegex(told.stdout, r"(?m)^\d+:.*:/benchctl-lab-\d+/node02$")

    def test_a_small_disk_fills_up(self):
        self.lab.say("disk", "node02", 2)
        write = ["exec", "node02", "dd", "if=/dev/zero", "of=/tmp/filled", "bs=1M", "count=4"]
        full = self.lab.run(*write)
        self.assertEqual(full.returncode, 1)
        self.assertIn("No space left on device", full.stderr)
        refused = self.lab.run("disk", "node02", 1)
        self.assertIn("it holds 2 MiB", refused.stderr)
        self.lab.say("heal", "node02")
        self.assertEqual(self.lab.run(*write).returncode, 0)
        self.lab.say("exec", "node02", "rm", "/tmp/filled")

    def test_a_stopped_sshd_refuses_and_a_hanging_one_is_silent(self):
        self.lab.say("sshd", "node02", "stop")
        self.assertEqual(self.lab.status()["node02"]["sshd"], "stopped")
        self.assertIn("Connection refused", self.lab.ssh("node01", "node02", "true").stderr)
        self.lab.say("sshd", "node02", "hang")
        self.assertEqual(self.lab.status()["node02"]["sshd"], "hangs")
        self.assertEqual(self.lab.status()["node02"]["state"], "up")
        self.assertIn("banner exchange", self.lab.ssh("node01", "node02", "true", connect_timeout=1).stderr)
        self.lab.say("sshd", "node02", "start")
        self.assert_reaches("node01", "node02")

    def test_a_thawed_host_continues(self):
        counting = self.lab.start("exec", "node02", "sh", "-c", "i=0; while :; do echo $i; i=$((i+1)); sleep 0.05; done")
        counting.stdout.readline()
        self.lab.say("freeze", "node02")
        self.assertEqual(self.lab.status()["node02"]["state"], "frozen")
        self.assertIn("banner exchange", self.lab.ssh("node01", "node02", "true", connect_timeout=1).stderr)
        self.lab.say("heal", "node02")
        self.assertEqual(self.lab.status()["node02"]["state"], "up")
        counting.terminate()
        said = counting.communicate(timeout=10)[0].split()
        self.assertEqual([int(word) for word in said], list(range(1, len(said) + 1)))
        self.assert_reaches("node01", "node02")

    def test_killing_a_host_ends_all_its_processes(self):
        namespaces = self.lab.namespaces("node02")
        self.lab.ssh("node01", "node02", "setsid sleep 1000 >/dev/null 2>&1 </dev/null &")
        running = self.lab.start("exec", "node02", "sleep", "1000")
        self.assertTrue(until(lambda: sum("sleep 1000" in process[2] for process in processes_in(namespaces)) >= 2))
        processes = processes_in(namespaces)
        self.lab.say("kill", "node02")
        running.communicate(timeout=10)
        self.assertEqual(still_alive(processes), [])
        self.assertEqual(self.lab.status()["node02"]["state"], "dead")
        self.assertIn("node02 is dead", self.lab.run("exec", "node02", "true").stderr)
        self.lab.say("up", 2)
        self.assert_reaches("node01", "node02")

    def test_a_host_dies_even_without_a_reaper(self):
        # As in a container whose PID 1 reaps no children: this process adopts orphans without reaping them.
        adopt_orphans = 36  # PR_SET_CHILD_SUBREAPER
        libc = ctypes.CDLL(None)
        self.assertEqual(libc.prctl(adopt_orphans, 1, 0, 0, 0), 0)
        self.addCleanup(libc.prctl, adopt_orphans, 0, 0, 0, 0)
        with self.lab.start("exec", "node02", "sh", "-c", "echo started; exec sleep 1000") as running:
            running.stdout.readline()
            running.kill()
        self.lab.say("kill", "node02")
        self.lab.say("heal", "node02")
        self.assert_reaches("node01", "node02")

    def test_healing_undoes_several_faults_at_once(self):
        before = self.lab.status()["node02"]
        for fault in ("rate node02 10", "cut node02", "sshd node02 stop", "freeze node02", "cpu node02 50"):
            self.assertIn(self.lab.run(*fault.split()).returncode, (0, MISSING))
        self.assertNotEqual(self.lab.status()["node02"], before)
        self.lab.say("heal", "node02")
        after = self.lab.status()["node02"]
        for column in ("state", "link", "rate", "cpu", "sshd"):
            self.assertEqual(after[column], before[column])


if __name__ == "__main__":
    main()
