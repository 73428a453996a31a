"""The layer check must be able to fail: each rule is broken once in a small tree of its own."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_layers.py"

CLEAN = {
    "src/core/json.h": "#include <string>\n",
    "src/results/store.h": '#include "core/json.h"\n#include <SQLiteCpp/SQLiteCpp.h>\n',
    "src/probes/state.h": '#include "core/json.h"\n',
    "src/probes/telemetry.h": '#include "core/json.h"\n',
    "src/probes/device/gemm.h": '#include "core/json.h"\n',
    "src/probes/procedures/gemm.cpp": '#include "probes/state.h"\n#include "probes/device/gemm.h"\n',
    "src/probes/external/follow.h": '#include "core/json.h"\n',
    "src/probes/procedures/external.cpp": '#include "probes/external/follow.h"\n',
    "src/probes/training/engine/lane.h": '#include "core/json.h"\n',
    "src/probes/training/trainer/trainer.h": '#include "probes/training/engine/lane.h"\n',
    "src/probes/procedures/training_records.cpp": '#include "probes/training/trainer/trainer.h"\n',
    "src/probes/backends/host/topology.cpp": '#include <hwloc.h>\n#include "probes/state.h"\n',
    "src/runner/plan/planner.cpp": '#include "results/store.h"\n#include <CLI/CLI.hpp>\n',
}

# What is added to which file, and what the check says of it.
VIOLATIONS = [
    ("src/core/json.h", '#include "results/store.h"', "core may include only core"),
    ("src/results/store.h", '#include "probes/state.h"', "results may include only core, results"),
    ("src/probes/state.h", '#include "results/store.h"', "probes may include only core, probes"),
    ("src/runner/plan/planner.cpp", '#include "probes/state.h"', "runner may include only"),
    ("src/probes/procedures/gemm.cpp", "#include <hwloc.h>", "only backends/host/"),
    ("src/probes/procedures/gemm.cpp", "#  include <cuda_runtime.h>", "only backends/cuda/"),
    ("src/probes/procedures/gemm.cpp", "#include <mpi.h>", "only backends/mpi/"),
    ("src/probes/procedures/gemm.cpp", "#include <unistd.h>", "only the standard library"),
    ("src/probes/procedures/gemm.cpp", '#include "probes/telemetry.h"', "a procedure may know only"),
    ("src/probes/procedures/gemm.cpp", '#include "probes/external/follow.h"', "a procedure may know only"),
    ("src/probes/procedures/gemm.cpp", '#include "probes/training/trainer/trainer.h"', "a procedure may know only"),
    ("src/probes/procedures/external.cpp", '#include "probes/training/trainer/trainer.h"', "a procedure may know only"),
    ("src/probes/procedures/training_records.cpp", '#include "probes/training/engine/lane.h"', "a procedure may know only"),
    ("src/probes/procedures/external.cpp", '#include "probes/external/gone.h"', "named from src/"),
    ("src/probes/procedures/gemm.cpp", '#include "state.h"', "named from src/"),
    ("src/probes/state.h", "#include <oneapi/dnnl/dnnl.hpp>", "only backends/host/"),
    ("src/probes/backends/host/topology.cpp", "#include <mpi.h>", "only backends/mpi/"),
    ("src/runner/plan/planner.cpp", "#include <sqlite3.h>", "only src/results/"),
    ("src/core/json.h", "#include <CLI/CLI.hpp>", "only src/runner/"),
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

    def test_every_rule_can_be_broken_and_names_file_and_line(self):
        for name, line, words in VIOLATIONS:
            with self.subTest(file=name, line=line):
                result = check({name: CLEAN[name] + line + "\n"})
                self.assertEqual(result.returncode, 1, result.stdout)
                number = CLEAN[name].count("\n") + 1
                self.assertIn(f"{name}:{number}: ", result.stdout)
                self.assertIn(words, result.stdout)

    def test_a_tree_without_sources_is_no_pass(self):
        with tempfile.TemporaryDirectory() as root:
            result = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()
