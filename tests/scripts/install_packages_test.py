"""scripts/install with stand-ins for dnf and rpm: what it asks of a system without apt."""

import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Dnf(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.bin = pathlib.Path(temporary.name) / "bin"
        self.bin.mkdir()
        for name in ("bash", "sed", "cat"):
            (self.bin / name).symlink_to(f"/bin/{name}")
        self.said = self.bin.parent / "said"
        self.program("id", "echo 0")
        self.program("dnf", f'echo "$@" >> {self.said}')
        self.program("rpm", 'for last; do :; done; [ "$last" = zlib-devel ]')

    def program(self, name, script):
        (self.bin / name).write_text(f"#!/bin/bash\n{script}\n")
        (self.bin / name).chmod(0o755)

    def install(self, *arguments):
        # The script adds the sbin folders to the path, where nothing of interest may lie.
        script = (ROOT / "scripts" / "install").read_text().replace(":/usr/sbin:/sbin", "")
        return subprocess.run(["/bin/bash", "-c", script, "install", *arguments], env={"PATH": str(self.bin)}, capture_output=True, text=True)

    def test_packages_have_the_names_of_dnf_and_those_installed_are_left_out(self):
        done = self.install("--tests")
        self.assertEqual(done.returncode, 0, done.stderr)
        words = self.said.read_text().split()
        self.assertEqual(words[:2], ["install", "-y"])
        self.assertTrue({"gcc-c++", "json-devel", "openmpi-devel", "libjpeg-turbo-devel", "libcurl-devel", "catch-devel"} <= set(words), words)
        self.assertEqual([word for word in words if word.endswith("-dev") or word == "zlib-devel"], [])
        self.assertIn("module load mpi", done.stderr)

    def test_check_names_the_command_and_installs_nothing(self):
        done = self.install("--check")
        self.assertEqual(done.returncode, 4)
        self.assertIn("dnf makecache && dnf install -y --setopt=install_weak_deps=False gcc-c++", done.stderr)
        self.assertFalse(self.said.exists())

    def test_a_failure_of_dnf_is_one(self):
        self.program("dnf", "exit 1")
        done = self.install()
        self.assertEqual(done.returncode, 4)
        self.assertIn("dnf could not install the packages", done.stderr)

    def test_without_any_package_manager_the_packages_are_named(self):
        (self.bin / "dnf").unlink()
        done = self.install()
        self.assertEqual(done.returncode, 4)
        self.assertIn("neither apt nor dnf", done.stderr)
        self.assertIn("nlohmann-json3-dev", done.stderr)


if __name__ == "__main__":
    unittest.main()
