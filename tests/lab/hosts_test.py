"""Lab hosts are isolated, reach each other by ssh and mpirun, and leave nothing behind."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from lab_test_case import Lab, LabTestCase, SCRIPT, main, processes_in, still_alive, until


def interfaces():
    return set(re.findall(r"^ *(\S+):", pathlib.Path("/proc/net/dev").read_text(), re.MULTILINE))


class Hosts(LabTestCase):
    def test_every_host_reaches_every_other_by_name(self):
        for source in ("head", "node01", "node02"):
            for target in ("head", "node01", "node02"):
                self.assert_reaches(source, target)

    def test_a_command_keeps_its_folder_arguments_and_exit_code(self):
        done = self.lab.run("exec", "node01", "sh", "-c", 'pwd; echo "$1"; exit 7', "sh", "two  words", cwd=SCRIPT.parent)
        self.assertEqual(done.stdout, f"{SCRIPT.parent}\ntwo  words\n")
        self.assertEqual(done.returncode, 7)
        self.assertEqual(self.lab.ssh("node01", "node02", "exit 9").returncode, 9)

    def test_hosts_are_isolated_from_each_other(self):
        for folder in ("/tmp", "/dev/shm", "/run"):
            with self.subTest(folder=folder):
                name = f"{folder}/{self.lab.folder.parent.name}-private"
                self.lab.say("exec", "node01", "touch", name)
                self.assertEqual(self.lab.run("exec", "node01", "test", "-e", name).returncode, 0)
                self.assertEqual(self.lab.run("exec", "node02", "test", "-e", name).returncode, 1)
                self.assertFalse(pathlib.Path(name).exists())
        self.assertIn("lab.d/init", self.lab.say("exec", "node01", "ps", "-o", "args=", "-p", "1"))
        self.assertEqual(self.lab.say("exec", "node01", "ls", "/sys/class/net").split(), ["eth0", "lo"])

    def test_files_are_shared_although_the_lab_is_under_tmp(self):
        self.lab.say("exec", "node01", "sh", "-c", f"echo from node01 >{self.lab.folder}/home/file")
        self.assertEqual(self.lab.say("exec", "node02", "cat", f"{self.lab.folder}/home/file"), "from node01")

    @unittest.skipUnless(shutil.which("mpirun"), "there is no mpirun")
    def test_mpirun_starts_a_rank_on_each_host_over_ssh(self):
        said = self.lab.say("exec", "head", "mpirun", "-np", "2", "hostname").split()
        self.assertEqual(sorted(said), ["node01", "node02"])

    def test_the_hosts_file_works_with_mpirun(self):
        path = self.lab.say("hosts", 4)
        self.assertEqual(pathlib.Path(path).read_text(), "node01 slots=4\nnode02 slots=4\n")
        self.lab.say("hosts")
        self.assertEqual(pathlib.Path(path).read_text(), "node01 slots=1\nnode02 slots=1\n")

    def test_a_shell_can_read_the_environment(self):
        lines = self.lab.say("env")
        said = subprocess.run(["sh", "-ec", f'{lines}\necho "$OMPI_MCA_btl"'], capture_output=True, text=True, check=True)
        self.assertEqual(said.stdout, "tcp,self\n")

    def test_ending_a_command_ends_its_processes_on_the_host(self):
        running = self.lab.start("exec", "node01", "sh", "-c", "echo started; exec sleep 1234")
        self.assertEqual(running.stdout.readline(), "started\n")
        running.terminate()
        running.communicate(timeout=10)
        found = ["exec", "node01", "pgrep", "-f", "sleep 1234"]
        self.assertTrue(until(lambda: self.lab.run(*found).returncode == 1), "sleep 1234 still runs")

    def test_a_second_up_keeps_running_hosts(self):
        before = [self.lab.namespaces(host) for host in ("head", "node01", "node02")]
        self.lab.say("up", 2)
        self.assertEqual([self.lab.namespaces(host) for host in ("head", "node01", "node02")], before)


class Traces(LabTestCase):
    @classmethod
    def setUpClass(cls):
        pass  # each test starts its own

    def test_down_leaves_no_process_mount_cgroup_or_interface(self):
        before = interfaces()
        with tempfile.TemporaryDirectory(prefix="benchctl-lab-test-") as folder:
            lab = Lab(f"{folder}/lab")
            try:
                lab.say("up", 2)
                namespaces = set().union(*(lab.namespaces(host) for host in ("head", "node01", "node02")))
                cgroup = (lab.folder / "cgroup").read_text().split()[1:]
                lab.say("exec", "node01", "sh", "-c", "sleep 1000 >/dev/null 2>&1 &")
                lab.say("rate", "node01", 100)
                lab.say("freeze", "node02")
                processes = processes_in(namespaces)
                self.assertGreater(len(processes), 6)
            finally:
                down = lab.run("down")
            self.assertEqual(down.returncode, 0, down.stderr)
            self.assertEqual(still_alive(processes), [])
            self.assertFalse([path for path in cgroup if pathlib.Path(path).exists()])
            self.assertFalse(lab.folder.exists())
            self.assertNotIn(folder, pathlib.Path("/proc/self/mountinfo").read_text())
            self.assertLessEqual(interfaces(), before)
            self.assertIn("no lab in", lab.say("down"))

    def test_a_foreign_folder_is_not_touched(self):
        with tempfile.TemporaryDirectory(prefix="benchctl-lab-test-") as folder:
            mine = pathlib.Path(folder, "mine")
            mine.write_text("precious")
            up = Lab(folder).run("up", 1)
            self.assertEqual(up.returncode, 1)
            self.assertIn("is not empty and not a lab", up.stderr)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [mine])


class Usage(LabTestCase):
    def test_help_shows_examples_and_every_command_of_the_dispatcher(self):
        text = self.lab.say("--help")
        self.assertIn("Examples:", text)
        labels = re.findall(r"^  ([a-z| -]+)\)", SCRIPT.read_text(), re.MULTILINE)
        commands = {word for label in labels for word in label.replace(" ", "").split("|") if not word.startswith("-")}
        self.assertGreater(len(commands), 15)
        for command in commands - {"help"}:
            self.assertRegex(text, rf"scripts/lab {command}\b")

    def test_invalid_uses_are_rejected_with_the_valid_ones(self):
        for words, code, said in [
            (["upp"], 2, "unknown command 'upp'"),
            (["up", "many"], 2, "a number of hosts from 1 to 250"),
            (["cut", "node07"], 2, "unknown host 'node07'; hosts: head node01 node02"),
            (["rate", "node01", "fast"], 2, "'fast' is neither a rate in Mbit/s nor off"),
            (["cpu", "node01", "0.5"], 2, "below 1 percent"),
            (["sshd", "node01", "restart"], 2, "stop, start or hang"),
        ]:
            with self.subTest(words=words):
                done = self.lab.run(*words)
                self.assertEqual(done.returncode, code)
                self.assertIn(said, done.stderr)

    def test_without_a_lab_the_error_says_how_to_start_one(self):
        done = Lab(f"{self.temporary.name}/none").run("status")
        self.assertEqual(done.returncode, 1)
        self.assertIn("scripts/lab up 2", done.stderr)

    def test_without_root_the_error_says_what_to_do(self):
        if subprocess.run(["unshare", "--user", "true"], capture_output=True).returncode != 0:
            self.skipTest("no user namespaces here")
        done = subprocess.run(["unshare", "--user", SCRIPT, "check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("must run as root", done.stderr)
        self.assertIn("sudo", done.stderr)


if __name__ == "__main__":
    main()
