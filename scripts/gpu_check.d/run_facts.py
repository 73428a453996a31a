"""Facts that jobs of a run recorded, from the run's folder: the reports that benchctl prints have none."""

import json


def spool_of(folder, run):
    """The lines of a run's records, where its database is in `folder`."""
    return [line for line in (folder / "runs" / run / "records.jsonl").read_text().split("\n") if line]


def facts_in(spool, topic):
    """The facts of all jobs on a topic."""
    bodies = [record["body"] for record in map(json.loads, spool) if record["kind"] == "facts"]
    return [body["facts"] for body in bodies if body["topic"] == topic]
