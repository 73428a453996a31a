"""scripts/check_hardening names each flag that a program was built without."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_hardening"
COMPILER = sys.argv.pop(1)
FLAGS = ["-pie", "-fPIE", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=3",
         "-D_GLIBCXX_ASSERTIONS"]
LEFT_OUT = {"-pie": ["-no-pie", "-fno-pie"], "-z relro": ["-Wl,-z,norelro"], "-z now": ["-Wl,-z,lazy"], "-z noexecstack": ["-Wl,-z,execstack"],
            "-fstack-protector-strong": ["-fno-stack-protector"], "-D_FORTIFY_SOURCE": ["-U_FORTIFY_SOURCE"],
            "-D_GLIBCXX_ASSERTIONS": ["-U_GLIBCXX_ASSERTIONS"]}
SOURCE = """
#include <cstdio>
#include <cstring>
#include <vector>
int main(int argc, char** argv) {
  char text[16];
  std::strcpy(text, argv[0]);
  std::vector<int> numbers(3);
  std::printf("%s %d\\n", text, numbers[argc]);
}
"""


class CheckHardening(unittest.TestCase):
    def check(self, *more):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            subprocess.run([COMPILER, "-x", "c++", "-O2", "-w", "-U_FORTIFY_SOURCE", *FLAGS, *more, "-o", program, "-"], input=SOURCE, text=True,
                           check=True)
            done = subprocess.run([CHECK, program], capture_output=True, text=True)
            return done.returncode, [line.split(" lacks ")[1] for line in done.stdout.splitlines()]

    def test_a_hardened_program_passes(self):
        self.assertEqual(self.check(), (0, []))

    def test_each_flag_left_out_is_named(self):
        for flag, without in LEFT_OUT.items():
            self.assertEqual(self.check(*without), (1, [flag]), flag)


if __name__ == "__main__":
    unittest.main()
