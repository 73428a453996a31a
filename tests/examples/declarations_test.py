"""What write_declarations.cmake makes of a schema compiles, and a unit or direction that core/units.h does not know does not."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE, COMPILER = sys.argv[1:3]
SCHEMA = (ROOT / "docs/examples/probe/atomic_add.json").read_text()


class Declarations(unittest.TestCase):
    def compile(self, schema):
        """The declarations of this schema, and the compiler's complaints."""
        with tempfile.TemporaryDirectory() as folder:
            path, output = pathlib.Path(folder, "atomic_add.json"), pathlib.Path(folder, "declarations.cpp")
            path.write_text(schema)
            script = ROOT / "scripts/cmake/write_declarations.cmake"
            subprocess.run([CMAKE, f"-DSCHEMAS={path}", f"-DOUTPUT={output}", "-P", script], check=True)
            result = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'src'}", output],
                                    capture_output=True, text=True)
            self.assertEqual(result.returncode == 0, not result.stderr)
            return output.read_text(), result.stderr

    def test_a_schema_becomes_declarations_that_compile(self):
        text, complaints = self.compile(SCHEMA)
        self.assertEqual(complaints, "")
        for word in ('"atomic_add"', '"throughput"', '"OP/s"', '"higher"', "Throughput of atomic increments of 64-bit"):
            self.assertIn(word, text)

    def test_an_unknown_unit_is_a_compile_error_that_shows_it(self):
        _, complaints = self.compile(SCHEMA.replace("OP/s", "ops"))
        self.assertIn('"ops"', complaints)

    def test_an_unknown_direction_is_a_compile_error_that_shows_it(self):
        _, complaints = self.compile(SCHEMA.replace('"higher"', '"up"'))
        self.assertIn('"up"', complaints)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
