"""python/benchctl and its SQL views, on a database that benchctl filled.

    python_reader_test.py BENCHCTL
"""

import csv
import importlib.util
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "python"))
import benchctl

PROGRAM = sys.argv.pop(1)
HISTORY = """run,time,host,device,metric,params,unit,better,value
r1,2026-11-01T10:00:00Z,node01,cpu,tool.rate,"{""threads"": 2, ""isa"": ""avx2""}",B/s,higher,5e9
r1,2026-11-01T10:00:00Z,node02,cpu,tool.rate,"{""threads"": 2, ""isa"": ""avx2""}",B/s,higher,4e9
r2,2026-11-02T10:00:00Z,node01,cpu,tool.rate,"{""threads"": 4}",B/s,higher,6e9
"""


class Reader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.database = cls.folder / "results.sqlite"
        (cls.folder / "history.csv").write_text(HISTORY)
        cls.benchctl("import", "csv", cls.folder / "history.csv", "--label", "kernel=new")

    @classmethod
    def benchctl(cls, *words):
        done = subprocess.run([PROGRAM, *map(str, words), "--db", str(cls.database)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    def test_results_have_parameters_and_labels_as_keys(self):
        found = benchctl.rows("results", self.database)
        self.assertEqual(sorted((row["host"], row["value"], row["param.threads"]) for row in found),
                         [("node01", 5e9, 2), ("node01", 6e9, 4), ("node02", 4e9, 2)])
        self.assertEqual({row["label.kernel"] for row in found}, {"new"})
        self.assertEqual({row["time"] for row in found}, {"2026-11-01T10:00:00Z", "2026-11-02T10:00:00Z"})
        self.assertEqual(len(benchctl.rows("results", self.database, host="node02")), 1)

    def test_every_view_can_be_read_and_has_the_named_columns(self):
        for view in benchctl.VIEWS:
            benchctl.rows(view, self.database)
        self.assertEqual([row["hosts"] for row in benchctl.rows("runs", self.database)][0][:1], ["node01"])
        self.assertEqual(len(benchctl.rows("history_points", self.database, metric="tool.rate")), 3)

    def test_a_discarded_run_is_marked(self):
        run = benchctl.rows("runs", self.database)[0]["run"]
        self.benchctl("note", run, "the fans were off", "--discard")
        marked = {row["run"]: (row["discarded"], row["remark"]) for row in benchctl.rows("runs", self.database)}
        self.assertEqual(marked.pop(run), (1, "the fans were off"))
        self.assertEqual(set(marked.values()), {(0, None)})
        self.benchctl("note", run, "they were on", "--restore")
        self.assertEqual({row["discarded"] for row in benchctl.rows("runs", self.database)}, {0})

    def test_the_tidy_export_says_the_same(self):
        runs = [row["run"] for row in benchctl.rows("runs", self.database)]
        table = list(csv.DictReader(io.StringIO(self.benchctl("export", "tidy", *runs))))
        mine = benchctl.rows("results", self.database)
        key = lambda row: (row["run"], row["host"], float(row["value"]), str(row.get("param.threads", "")), row["label.kernel"])
        self.assertEqual(sorted(map(key, table)), sorted(map(key, mine)))

    def test_nothing_can_be_written_and_mistakes_are_named(self):
        with self.assertRaises(sqlite3.OperationalError):
            benchctl.connect(self.database).execute("DELETE FROM main.run")
        with self.assertRaisesRegex(ValueError, "no view 'result'"):
            benchctl.rows("result", self.database)
        with self.assertRaisesRegex(ValueError, "has no column 'node'"):
            benchctl.rows("results", self.database, node="x")
        with self.assertRaisesRegex(FileNotFoundError, "benchctl rebuild"):
            benchctl.rows("runs", self.folder / "none.sqlite")

    def test_the_database_is_the_one_that_benchctl_uses(self):
        site = self.folder / "site.json"
        site.write_text(json.dumps({"database": str(self.database)}))
        with unittest.mock.patch.dict(os.environ, {"BENCHCTL_SITE": str(site), "BENCHCTL_DB": ""}):
            self.assertEqual(benchctl.database_path(), self.database)
            self.assertEqual(len(benchctl.rows("runs")), 2)
        with unittest.mock.patch.dict(os.environ, {"BENCHCTL_SITE": str(site), "BENCHCTL_DB": "/x/y.sqlite"}):
            self.assertEqual(benchctl.database_path(), pathlib.Path("/x/y.sqlite"))

    def test_the_sql_shell_takes_the_views(self):
        views = (ROOT / "python/benchctl/views.sql").read_text()
        connection = sqlite3.connect(self.database)
        connection.executescript(views)
        self.assertEqual(connection.execute("SELECT count(*) FROM results").fetchone(), (3,))
        connection.close()
        # They were temporary: benchctl refuses a database with views in it.
        self.benchctl("runs")

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_frames_are_those_of_pandas(self):
        frame = benchctl.results(self.database, metric="tool.rate")
        self.assertEqual(frame.groupby("host").value.max().to_dict(), {"node01": 6e9, "node02": 4e9})
        self.assertRegex(str(frame.time.dtype), r"^datetime64\[.s, UTC\]$")

    @unittest.skipUnless(importlib.util.find_spec("pandas") and importlib.util.find_spec("matplotlib"), "pandas or matplotlib is not installed")
    def test_the_cells_of_the_notebook_run(self):
        os.environ["BENCHCTL_DB"], os.environ["MPLBACKEND"] = str(self.database), "agg"
        self.addCleanup(os.environ.pop, "BENCHCTL_DB")
        scope = {}
        for cell in json.loads((ROOT / "python/plots.ipynb").read_text())["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), scope)
        self.assertEqual(len(scope["plt"].get_fignums()), 3)


if __name__ == "__main__":
    unittest.main()
