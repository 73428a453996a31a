"""Reads a results database of benchctl: as pandas data frames, or as plain dictionaries without pandas.

    import benchctl
    frame = benchctl.results(metric="gemm.throughput")
    frame.groupby(["host", "param.dtype"]).value.median()

The views (runs, jobs, results, history_points, remarks) are those of views.sql. Nothing is written to the database.
"""

import json
import os
import pathlib
import sqlite3

VIEWS = ("runs", "jobs", "results", "history_points", "remarks")


def database_path():
    """$BENCHCTL_DB, the database of site.json ($BENCHCTL_SITE names one instead of both), or the user's, as benchctl finds it."""
    if os.environ.get("BENCHCTL_DB"):
        return pathlib.Path(os.environ["BENCHCTL_DB"])
    home = pathlib.Path.home()
    user = pathlib.Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "benchctl" / "site.json"
    only = os.environ.get("BENCHCTL_SITE")
    for path in (pathlib.Path(only),) if only else (user, pathlib.Path("/etc/benchctl/site.json")):
        if path.exists() and "database" in (settings := json.loads(path.read_text())):
            return pathlib.Path(settings["database"])
    return pathlib.Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "benchctl" / "results.sqlite"


def connect(database=None):
    """A read-only connection with the views. Raises FileNotFoundError if there is no database."""
    path = pathlib.Path(database or database_path()).absolute()
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such database; benchctl run makes one, benchctl rebuild restores it from runs/")
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.executescript((pathlib.Path(__file__).parent / "views.sql").read_text())
    return connection


def rows(view, database=None, **equal):
    """Rows of a view as dictionaries; rows("results", metric="gemm.throughput") selects by equality.

    "params_json" and "labels_json" become keys of their own: param.m, label.kernel; "hosts_json" becomes a list.
    """
    if view not in VIEWS:
        raise ValueError(f"no view {view!r}; views: {', '.join(VIEWS)}")
    connection = connect(database)
    try:
        known = [column[1] for column in connection.execute(f'PRAGMA temp.table_info("{view}")')]
        for name in equal:
            if name not in known:
                raise ValueError(f"{view} has no column {name!r}; columns: {', '.join(known)}")
        condition = " AND ".join(f'"{name}" = ?' for name in equal)
        cursor = connection.execute(f'SELECT * FROM temp."{view}"' + (f" WHERE {condition}" if equal else ""), tuple(equal.values()))
        return [_plain(dict(zip(known, row))) for row in cursor]
    finally:
        connection.close()


def _plain(row):
    for column, prefix in (("params_json", "param."), ("labels_json", "label.")):
        for name, value in json.loads(row.pop(column, None) or "{}").items():
            row[prefix + name] = value if isinstance(value, (int, float, str, bool)) or value is None else json.dumps(value)
    if "hosts_json" in row:
        row["hosts"] = json.loads(row.pop("hosts_json"))
    return row


def frame(view, database=None, **equal):
    """The same as a pandas data frame, with times as times. Write it as Parquet with .to_parquet() where pyarrow is installed."""
    import pandas

    table = pandas.DataFrame(rows(view, database, **equal))
    if "time" in table:
        table["time"] = pandas.to_datetime(table["time"])
    return table


def results(database=None, **equal):
    return frame("results", database, **equal)


def runs(database=None, **equal):
    return frame("runs", database, **equal)


def history(database=None, **equal):
    return frame("history_points", database, **equal)
