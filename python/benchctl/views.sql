-- Names over a results database that stay the same when its tables change. They are temporary: nothing is written.
--   sqlite3 -readonly -init python/benchctl/views.sql ~/.local/state/benchctl/results.sqlite
-- Values are in base units (seconds, bytes per second, FLOP per second); NULL is missing. Columns with "json" hold JSON text.

-- One row a run.
CREATE TEMP VIEW runs AS
SELECT id AS run, suite, strftime('%Y-%m-%dT%H:%M:%SZ', time_ns / 1000000000, 'unixepoch') AS time, seconds, outcome, exit_code, finished,
       hosts AS hosts_json, labels AS labels_json,
       (SELECT text FROM main.journal AS entry WHERE entry.run = main.run.id AND entry.kind IN ('discard', 'restore')
        ORDER BY line DESC LIMIT 1) AS remark,
       coalesce((SELECT kind = 'discard' FROM main.journal AS entry
                 WHERE entry.run = main.run.id AND entry.kind IN ('discard', 'restore') ORDER BY line DESC LIMIT 1), 0) AS discarded
FROM main.run;

-- One row a job of a run.
CREATE TEMP VIEW jobs AS
SELECT run, id AS job, case_name AS "case", probe, device, hosts AS hosts_json, ranks, binding, repeat, outcome, reason, seconds,
       params AS params_json
FROM main.job;

-- One row a value: the median of one metric at one set of parameters on one host.
CREATE TEMP VIEW results AS
SELECT series.run AS run, strftime('%Y-%m-%dT%H:%M:%SZ', series.time_ns / 1000000000, 'unixepoch') AS time, run.suite AS suite,
       series.case_name AS "case", series.metric AS metric, series.median AS value, series.low AS low, series.high AS high,
       series.unit AS unit, series.better AS better, series.n AS n, series.clean AS clean, series.limit_value AS "limit",
       series.limit_kind AS limit_kind, series.of_limit AS of_limit, series.outcome AS outcome, series.reason AS reason,
       series.verdict AS verdict, series.host AS host, series.device AS device, series.rank AS rank, series.ranks AS ranks,
       series.over AS over, series.cpu_share AS cpu_share, series.steal_share AS steal_share, series.throttled_s AS throttled_s,
       series.others_share AS others_share, series.clock_hz AS clock_hz, series.params AS params_json, run.labels AS labels_json
FROM main.series AS series JOIN main.run AS run ON run.id = series.run;

-- One row a value of a history, as nightly and report regression see it: clean runs only.
CREATE TEMP VIEW history_points AS
SELECT run_number.run AS run, strftime('%Y-%m-%dT%H:%M:%SZ', run.time_ns / 1000000000, 'unixepoch') AS time, history.metric AS metric,
       point.value AS value, point.low AS low, point.high AS high, history.unit AS unit, history.better AS better,
       history.host AS host, history.device AS device, history.ranks AS ranks, point.of_limit AS of_limit, point.clock_hz AS clock_hz,
       point.power_w AS power_w, history.params AS params_json
FROM main.point AS point
JOIN main.history AS history ON history.id = point.series
JOIN main.run_number AS run_number ON run_number.number = point.run
JOIN main.run AS run ON run.id = run_number.run;

-- One row a remark of a user or a decision about a finding, oldest first.
CREATE TEMP VIEW remarks AS
SELECT strftime('%Y-%m-%dT%H:%M:%SZ', time_ns / 1000000000, 'unixepoch') AS time, user, kind, run, text FROM main.journal ORDER BY line;
