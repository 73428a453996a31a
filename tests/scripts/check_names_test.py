"""The check of names must be able to fail."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_names.py"


def file_with(declaration):
    return f"namespace bench {{\nnamespace {{\n\n{declaration}\n\n}}  // namespace\n}}  // namespace bench\n"


class CheckNames(unittest.TestCase):
    def verdict(self, first, second, folder="src/core", other=None):
        with tempfile.TemporaryDirectory() as root:
            for name, where, text in (("a.cpp", folder, first), ("b.cpp", other or folder, second)):
                path = pathlib.Path(root, where, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(file_with(text), encoding="utf-8")
            done = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)
            return done.returncode, done.stderr

    def test_twins_are_found_whatever_they_are(self):
        for first, second, name in [
            ("std::string rate(double value) {\n}", "std::string rate(std::optional<double> value) {\n}", "rate"),
            ("constexpr double kFloor = 0.1;  // a", "constexpr double kFloor = 0.2;", "kFloor"),
            ("struct Options {\n};", "struct Options : Others {\n};", "Options"),
            ("[[noreturn]] void refuse(int line) {\n}", "void refuse(const std::string& why) {\n}", "refuse"),
        ]:
            code, said = self.verdict(first, second)
            self.assertEqual(code, 1, name)
            self.assertIn(f"src/core: '{name}' in a.cpp, b.cpp", said)

    def test_other_folders_and_names_inside_functions_are_free(self):
        one = "void run() {\n  int count = 1;\n}"
        self.assertEqual(self.verdict(one, "void walk() {\n  int count = 1;\n}")[0], 0)
        self.assertEqual(self.verdict(one, one, other="src/results")[0], 0)
        self.assertEqual(self.verdict(one, one, folder="src/probes/procedures")[0], 0)

    def test_a_name_of_a_header_that_only_others_include_is_found(self):
        with tempfile.TemporaryDirectory() as root:
            folder = pathlib.Path(root, "src/core")
            folder.mkdir(parents=True)
            (folder / "a.h").write_text("Unit unit_of(const Threshold& threshold);\n", encoding="utf-8")
            (folder / "b.cpp").write_text('#include "core/a.h"\n', encoding="utf-8")
            (folder / "c.cpp").write_text(file_with("Unit unit_of(const std::string& dtype) {\n}"), encoding="utf-8")
            done = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("'unit_of' in c.cpp, core/a.h", done.stderr)


if __name__ == "__main__":
    unittest.main()
