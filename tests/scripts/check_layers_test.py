"""The layer check must be able to fail: each rule is broken once in a small tree of its own."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_layers.py"

TABLE = """| folder | holds | may include |
|---|---|---|
| `core` | words | `core` |
| `devices` | interfaces | `core` |
| `devices/host` | the CPU | `core`, `devices` |
| `probes` | the kit | `core`, `devices` |
| `probes/procedures` | probes | `core`, `devices`, `probes` |
| `results/run` | runs | `core` |
| `results/store` | database | `core`, `results` |
| `runner/plan` | plans | `core`, `results`, `runner` |
"""
CLEAN = {
    "src/README.md": TABLE,
    "src/core/json.h": "#include <string>\n",
    "src/devices/gemm.h": '#include "core/json.h"\n',
    "src/devices/host/topology.h": '#include "devices/gemm.h"\n',
    "src/devices/host/topology.cpp": '#include <hwloc.h>\n#include "devices/host/topology.h"\n',
    "src/probes/state.h": '#include "core/json.h"\n#include "devices/gemm.h"\n',
    "src/probes/procedures/gemm.cpp": '#include "probes/state.h"\n#include "devices/gemm.h"\n',
    "src/results/run/series.h": '#include "core/json.h"\n',
    "src/results/store/store.h": '#include "results/run/series.h"\n#include <SQLiteCpp/SQLiteCpp.h>\n',
    "src/runner/plan/planner.h": '#include "results/store/store.h"\n#include <CLI/CLI.hpp>\n',
}

# What is added to which file, and what the check reports.
VIOLATIONS = [
    ("src/core/json.h", '#include "results/run/series.h"', "results/run comes after core"),
    ("src/results/run/series.h", '#include "results/store/store.h"', "results/store comes after results/run"),
    ("src/results/store/store.h", '#include "probes/state.h"', "results/store may include only core, results"),
    ("src/runner/plan/planner.h", '#include "probes/state.h"', "runner/plan may include only"),
    ("src/probes/procedures/gemm.cpp", "#include <hwloc.h>", "only devices/host/"),
    ("src/probes/procedures/gemm.cpp", "#  include <cuda_runtime.h>", "may include this library"),
    ("src/probes/procedures/gemm.cpp", "#include <mpi.h>", "only devices/mpi/"),
    ("src/probes/procedures/gemm.cpp", "#include <unistd.h>", "only the standard library"),
    ("src/probes/procedures/gemm.cpp", '#include "devices/host/topology.h"', "by their interfaces only"),
    ("src/probes/procedures/gemm.cpp", '#include "state.h"', "named from src/"),
    ("src/probes/state.h", "#include <oneapi/dnnl/dnnl.hpp>", "only devices/host/"),
    ("src/devices/host/topology.cpp", "#include <mpi.h>", "only devices/mpi/"),
    ("src/runner/plan/planner.h", "#include <sqlite3.h>", "only results/"),
    ("src/core/json.h", "#include <CLI/CLI.hpp>", "only runner/"),
]


def check(changes):
    with tempfile.TemporaryDirectory() as root:
        for name, text in {**CLEAN, **changes}.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)


class CheckLayers(unittest.TestCase):
    def test_a_clean_tree_passes(self):
        result = check({})
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("circles among folders: 0", result.stdout)

    def test_every_rule_can_be_broken_and_names_file_and_line(self):
        for name, line, words in VIOLATIONS:
            with self.subTest(file=name, line=line):
                result = check({name: CLEAN[name] + line + "\n"})
                self.assertEqual(result.returncode, 1, result.stdout)
                number = CLEAN[name].count("\n") + 1
                self.assertIn(f"{name}:{number}: ", result.stdout)
                self.assertIn(words, result.stdout)

    def test_folders_that_include_each_other_are_a_circle(self):
        result = check({"src/devices/gemm.h": '#include "devices/host/topology.h"\n'})
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("circle with", result.stdout)

    def test_a_folder_outside_the_table_is_refused(self):
        result = check({"src/extra/thing.h": "#include <string>\n"})
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("folder extra is not in the table", result.stdout)

    def test_a_cpp_file_without_a_header_is_refused_unless_it_registers_itself(self):
        result = check({"src/results/run/helpers.cpp": '#include "results/run/series.h"\n'})
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("helpers.cpp:1: a .cpp file without a header", result.stdout)

    def test_a_tree_without_sources_does_not_pass(self):
        with tempfile.TemporaryDirectory() as root:
            result = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)
            self.assertEqual(result.returncode, 2)
            pathlib.Path(root, "src").mkdir()
            pathlib.Path(root, "src/README.md").write_text(TABLE)
            result = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()
