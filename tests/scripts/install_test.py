"""What `cmake --install` puts where; that it runs from there and elsewhere; manual pages and completions; recipes for packages."""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1))
# As the Filesystem Hierarchy Standard and the shells have it.
PLACES = ("bin/", "share/benchctl/", "share/doc/benchctl", "share/man/man1/", "share/bash-completion/completions/benchctl",
          "share/zsh/site-functions/_benchctl", "share/fish/vendor_completions.d/benchctl.fish")
BASH = r"""source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _benchctl; printf '%s\n' "${COMPREPLY[@]}" """
ZSH = r"""autoload -U compinit; compinit -u -D; source "$1"; shift
_describe() { print -l -- "${(@)${(@P)3}%%:*}"; }; _files() { print -- files; }
words=("$@"); CURRENT=$#; _benchctl"""


def said(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    return done.returncode, done.stdout, done.stderr


class Installation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.prefix = pathlib.Path(temporary.name) / "usr"
        cls.environment = {"PATH": f"{cls.prefix}/bin:/usr/bin:/bin", "HOME": temporary.name}
        code, _, error = said("cmake", "--install", BUILD, "--prefix", cls.prefix)
        if code != 0:
            raise AssertionError(error)

    def benchctl(self, *words, prefix=None):
        return said((prefix or self.prefix) / "bin" / "benchctl", *words, env=self.environment)

    def test_files_lie_where_distributions_expect_them(self):
        files = [str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if path.is_file()]
        self.assertEqual([name for name in files if not name.startswith(PLACES)], [])
        for place in PLACES:
            self.assertTrue(any(name.startswith(place) for name in files), place)
        self.assertEqual([name for name in files if "__pycache__" in name or "evidence" in name], [])

    def test_programs_find_their_files_and_each_other_also_after_a_move(self):
        elsewhere = self.prefix.parent / "opt" / "benchctl"
        shutil.copytree(self.prefix, elsewhere)
        for prefix in (self.prefix, elsewhere):
            code, output, error = self.benchctl("list", "suites", "--json", prefix=prefix)
            self.assertEqual(code, 0, error)
            self.assertEqual({pathlib.Path(one["path"]).parts[: len(prefix.parts)] for one in json.loads(output)},
                             {prefix.parts})
            code, output, error = self.benchctl("run", "smoke", "--only", "topology", prefix=prefix)
            self.assertEqual(code, 0, output + error)
        library_path = subprocess.run(["readelf", "-d", self.prefix / "bin" / "bench-rank"], capture_output=True, text=True)
        self.assertNotRegex(library_path.stdout, r"R(UN)?PATH")

    def test_each_command_has_a_manual_page_that_groff_takes_without_a_warning(self):
        pages = {path.name.removesuffix(".gz"): path for path in (self.prefix / "share/man/man1").iterdir()}
        commands = set(re.findall(r"\\fB([a-z\\-]+)\\fR\(1\)", self.text(pages["benchctl.1"])))
        self.assertGreater(len(commands), 15)
        for name in commands:
            self.assertIn(name.replace("\\", "") + ".1", pages)
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        for path in pages.values():
            done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", "-rLL=78n"], input=self.text(path), capture_output=True, text=True)
            self.assertEqual((path.name, done.returncode, done.stderr), (path.name, 0, ""))

    @staticmethod
    def text(path):
        return gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text()

    def completed(self, shell, script, file, *words):
        code, output, error = said(shell, *(["--norc"] if shell == "bash" else ["-f"]), "-c", script, shell, self.prefix / "share" / file,
                                   "benchctl", *words, env=self.environment)
        self.assertEqual((code, error), (0, ""))
        return output.split()

    def check_completion(self, shell, script, file):
        self.assertEqual(self.completed(shell, script, file, "ru"), ["run", "runs"])
        self.assertIn("smoke", self.completed(shell, script, file, "run", "sm"))
        self.assertEqual(self.completed(shell, script, file, "run", "smoke", "--la"), ["--launcher", "--label"])
        self.assertEqual(self.completed(shell, script, file, "completion", ""), ["bash", "zsh", "fish"])

    def test_bash_completes(self):
        self.check_completion("bash", BASH, "bash-completion/completions/benchctl")
        # Files are the shell's own.
        folder = pathlib.Path(self.environment["HOME"]) / "work"
        folder.mkdir()
        (folder / "hosts file.json").touch()
        old = os.getcwd()
        self.addCleanup(os.chdir, old)
        os.chdir(folder)
        self.assertEqual(self.completed("bash", BASH, "bash-completion/completions/benchctl", "run", "--hosts", "hos"), ["hosts", "file.json"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes(self):
        self.check_completion("zsh", ZSH, "zsh/site-functions/_benchctl")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes(self):
        script = self.prefix / "share/fish/vendor_completions.d/benchctl.fish"
        code, output, error = said("fish", "--no-config", "-c", f"source {script}; complete -C 'benchctl run sm'", env=self.environment)
        self.assertEqual((code, error), (0, ""))
        self.assertIn("smoke", output.split())


class Recipes(unittest.TestCase):
    """Recipes for packages that are built elsewhere name this version, and options that exist."""

    FILES = ("spack/packages/benchctl/package.py", "easybuild/benchctl-{}-foss-2023b.eb", "conda/meta.yaml")

    def setUp(self):
        self.cmake = "".join(path.read_text() for path in (ROOT / "CMakeLists.txt", *(ROOT / "scripts/cmake").glob("*.cmake")))
        self.version = re.search(r"project\(benchctl VERSION (\S+)", self.cmake)[1]

    def test_they_name_this_version_and_known_options(self):
        for name in self.FILES:
            path = ROOT / "packaging" / name.format(self.version)
            text = path.read_text()
            self.assertIn(self.version, text, name)
            options = set(re.findall(r"BENCH_[A-Z0-9_]+", text))
            self.assertTrue(options, name)
            for option in options:
                self.assertRegex(self.cmake, rf"(option|set)\({option}\b", name)

    def test_those_in_python_are_python(self):
        for name in self.FILES[:2]:
            path = ROOT / "packaging" / name.format(self.version)
            compile(path.read_text(), str(path), "exec")


if __name__ == "__main__":
    unittest.main()
