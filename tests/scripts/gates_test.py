"""The gates of docs/gates for NHC and node-problem-detector, and the verdict that all gates share.

    gates_test.py BENCHCTL
"""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import unittest

import gates_formats
from gates_bench import BENCHCTL, GATES, HOSTILE_NAMES, HOSTILE_TEXT, MISSING, ROOT, GateTest, with_value

DRAIN = "\ndrain commands (add --yes to run them):\n  scontrol update NodeName=n1 State=DRAIN 'Reason=%s (benchctl accept)'\n"
UNDECIDED = "INCONCLUSIVE: none of 1 hosts could be judged\n\n  n1: INCONCLUSIVE [peers] gemm: 1 comparable host\n      -> test 4\n"


class NodeVerdict(GateTest):
    ACCEPT = (  # exit code, standard output of benchctl accept; exit code, beginning of the answer
        (0, "PASS: 1 of 1 hosts passed\n", 0, "pass"),
        (1, "FAIL\n" + DRAIN % "hard: gemm.throughput: 3 GFLOP/s", 1, "hard: gemm.throughput: 3 GFLOP/s\n"),
        (1, "FAIL\n" + (DRAIN % "hard").replace("'", ""), 1, "hard\n"),
        (1, "FAIL\n" + DRAIN % "launch: dropped out of the run", 3, "inconclusive: launch: dropped out"),
        (1, "Traceback\n", 3, "inconclusive: "),
        (3, UNDECIDED, 3, "inconclusive: peers: gemm: 1 comparable host"),
        (3, "", 3, "inconclusive: benchctl ended with exit code 3"),
        (2, "", 3, "inconclusive: benchctl accept was called wrongly"),
        (4, "", 3, "inconclusive: benchctl cannot work here"),
        (130, "", 3, "inconclusive: benchctl ended with exit code 130"),
        (127, "", 3, "inconclusive: "),
    )
    NIGHT = (
        (0, "", 0, "pass"),
        (3, "n1: slower in gemm.throughput since 2026-11-26T02:00:00Z\nerror: 1 hosts requested", 1, "slower in gemm.throughput since"),
        (3, "n1: wrong in gemm since yesterday", 1, "wrong in gemm"),
        (3, "n1: failed in gpu_gemm since yesterday", 1, "failed in gpu_gemm"),
        (3, "n1: cpu_quota in gemm since yesterday", 1, "cpu_quota in gemm"),
        (3, "n10: slower in gemm.throughput since yesterday", 3, "inconclusive: benchctl ended with exit code 3"),
        (3, "n1: never checked", 3, "inconclusive: never checked"),
        (3, "n1: not checked for 9.0 days", 3, "inconclusive: not checked for 9.0 days"),
        (2, "n1: slower in gemm", 3, "inconclusive: benchctl night was called wrongly"),
        (1, "n1: slower in gemm", 3, "inconclusive: "),
        (4, "error: cannot read", 3, "inconclusive: benchctl cannot work here"),
    )

    def table(self, mode, script, shell):
        for code, text, expected, begins in self.ACCEPT if mode == "accept" else self.NIGHT:
            self.bench.stand_in("benchctl", code=code, **{"out" if mode == "accept" else "err": text})
            done = self.bench.run(script, mode, "--db=/x y", shell=shell, BENCHCTL_NODE="n1")
            if done.returncode != expected or not done.stdout.startswith(begins) or done.stdout.count("\n") != 1:
                yield (code, text, done.returncode, done.stdout)
            if "--db=/x y" not in self.bench.calls("benchctl")[0]:
                yield self.bench.calls("benchctl")
        yield from (self.bench.folder / "tmp").iterdir()

    def test_accept_passes_and_fails_only_what_benchctl_did(self):
        self.assert_finds(functools.partial(self.table, "accept"), self.verdict, (
            ("1:launch:*) inconclusive", "1:launch:*) answer 1"), ("1:?*)", "1:*)"), ('not_measured "$open"', 'answer 0 "$open"'),
            ('rm -rf "$folder"', ":"), ('"$@" </dev/null', "</dev/null")))

    def test_night_passes_and_fails_only_what_benchctl_did(self):
        self.assert_finds(functools.partial(self.table, "night"), self.verdict, (
            ('"$node: "*)', '"$node"*)'), ("3:'slower in '*", "*:'slower in '*"), ('not_measured "$why"', 'answer 1 "$why"'),
            (" | 3:'cpu_quota in '*", "")))

    def test_whatever_goes_wrong_is_inconclusive(self):
        self.bench.stand_in("benchctl", "exec sleep 60")
        for words, environment in (
                (["accept"], {"BENCHCTL": MISSING}), (["accept"], {"BENCHCTL_TIMEOUT": "1"}), (["accept"], {"BENCHCTL_TIMEOUT": "soon"}),
                (["night"], {"TMPDIR": "/nonexistent"}), ([], {}), (["both"], {}), (["accept", "--hosts", "all.json"], {})):
            with self.subTest(words=words, environment=environment):
                done = self.bench.run(self.verdict, *words, **environment)
                self.assertEqual((done.returncode, done.stdout.count("\n")), (3, 1), done.stdout)
                self.assertTrue(done.stdout.startswith("inconclusive: "), done.stdout)
        self.assertIn("no answer within 1 s", self.bench.run(self.verdict, "accept", BENCHCTL_TIMEOUT="1").stdout)

    def test_a_fault_of_the_script_itself_is_inconclusive(self):
        faulty = self.bench.folder / "faulty"
        faulty.write_text(self.verdict.read_text().replace("  call accept", "  false\n  call accept"))
        done = self.bench.run(faulty, "accept")
        self.assertEqual((done.returncode, done.stdout), (3, "inconclusive: node-verdict itself failed (exit code 1)\n"))

    def hostile_names(self, script, shell):
        self.bench.stand_in("benchctl")
        for name in HOSTILE_NAMES[1:]:
            done = self.bench.run(script, "night", shell=shell, BENCHCTL_NODE=name)
            if done.returncode != 3 or self.bench.calls("benchctl"):
                yield (name, done.stdout)

    def test_a_hostile_name_is_not_used(self):
        self.assert_finds(self.hostile_names, self.verdict, (("| *[!A-Za-z0-9._-]*)", ")"), ("'' | [!A-Za-z0-9]* |", "'' |")))

    def test_a_hostile_reason_becomes_one_harmless_line(self):
        self.bench.stand_in("benchctl", code=1, out=DRAIN % (HOSTILE_TEXT + "x" * 300))
        done = self.bench.run(self.verdict, "accept")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"\Ahard: ; touch pwned;[^'\"`$\\\x00-\x09\x0b-\x1f\x7f-\uffff]{1,200}\n\Z")
        self.assertLessEqual(len(done.stdout), 201)


class RealBenchctl(GateTest):
    """What the scripts read is what benchctl prints."""

    SUITE = {"suite": "gate", "cases": [{"name": "topology", "probe": "topology"}]}

    def call(self, *words, program=BENCHCTL):
        return subprocess.run([program, *words], cwd=self.bench.folder, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, env={**os.environ, "BENCHCTL_DB": str(self.bench.folder / "gate.sqlite")})

    def judged(self, *words, **environment):
        return self.bench.run(self.verdict, *words, f"--db={self.bench.folder / 'gate.sqlite'}", limit_s=60,
                              **{"BENCHCTL": BENCHCTL, **environment})

    def test_accept_is_judged_alike(self):
        (self.bench.folder / "gate.json").write_text(json.dumps(self.SUITE))
        (self.bench.folder / "other.json").write_text('{"profile": "other", "expect": {"processor/cores": {"is": 123456}}}')
        self.assertEqual(self.call("accept", "--suite=./gate.json").returncode, 3)
        for options, code, begins in (((), 3, "inconclusive: "), (("--profile=./other.json",), 1, "topology: missing: processor/cores: ")):
            self.assertEqual(self.call("accept", "--of=latest", *options).returncode, code)
            done = self.judged("accept", "--of=latest", *options)
            self.assertEqual(done.returncode, code, done.stdout)
            self.assertTrue(done.stdout.startswith(begins), done.stdout)

    def test_an_unknown_option_is_inconclusive(self):
        self.assertIn("called wrongly", self.judged("accept", "--unknown").stdout)
        self.assertIn("called wrongly", self.judged("night", "--unknown").stdout)

    def test_a_night_fails_the_host_of_its_confirmed_finding(self):
        done = self.judged("night")
        self.assertEqual((done.returncode, done.stdout), (3, "inconclusive: never checked\n"))
        programs = self.bench.folder / "broken" / "bin"
        programs.mkdir(parents=True)
        for folder in ("schemas", "suites", "hosts"):
            (programs.parent / folder).symlink_to(ROOT / folder)
        shutil.copy(BENCHCTL, programs / "benchctl")
        (programs / "bench-rank").write_text("#!/bin/sh\nexit 7\n")
        (programs / "bench-rank").chmod(0o755)
        (self.bench.folder / "gate.json").write_text(json.dumps(self.SUITE))
        night = self.call("nightly", "--suite=./gate.json", "--all", "--budget=60s", program=str(programs / "benchctl"))
        self.assertEqual(night.returncode, 1, night.stdout + night.stderr)
        done = self.judged("night")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertTrue(done.stdout.startswith("failed in topology since "), done.stdout)
        self.assertEqual(self.judged("night", BENCHCTL_NODE="another").returncode, 3)


# NHC's own functions, as far as a check calls them: die() puts its text into a command, as NHC's does.
NHC = """
HOSTNAME=n1
set -f
log() { printf 'log: %s\\n' "$*"; }
syslog() { printf 'syslog: %s\\n' "$*"; }
die() { shift; eval "offline '$HOSTNAME' '$*'"; }
offline() { printf 'offline %s: %s\\n' "$1" "$2"; }
. "$CHECK"
ONLINE_NODE=online
check_benchctl night '--db=/x y'
printf 'returned %s\\n' "$?"
[ "$ONLINE_NODE" = online ] || echo 'stays as it is'
"""


class Nhc(GateTest):
    CHECK = GATES / "nhc" / "benchctl.nhc"
    CASES = (  # exit code and text of node-verdict; what NHC prints
        (0, "pass", "returned 0\n"),
        (1, "slower in gemm since yesterday", "offline n1: slower in gemm since yesterday (benchctl)\nreturned 1\n"),
        (1, "", "offline n1: benchctl gave no reason (benchctl)\nreturned 1\n"),
        (1, HOSTILE_TEXT, None),
        (3, "inconclusive: never checked", "log: WARNING:  benchctl:  inconclusive: never checked\n"
                                           "syslog: benchctl:  inconclusive: never checked\nreturned 0\n"),
        (2, "", None),
        (137, "", None),
    )

    def nhc(self, check, **environment):
        runner = self.bench.folder / "nhc"
        runner.write_text(NHC)
        failed = str(self.bench.folder / "failed")
        return self.bench.run(runner, shell="/bin/bash", CHECK=str(check), **{"BENCHCTL_NHC_FAILED": failed, **environment})

    def table(self, check, _):
        for code, text, expected in self.CASES:
            (self.bench.folder / "failed").unlink(missing_ok=True)
            done = self.nhc(check, BENCHCTL_NODE_VERDICT=self.verdict_of(code, text))
            out = done.stdout.startswith(f"offline n1: {HOSTILE_TEXT[:6]}") if text == HOSTILE_TEXT else "offline" not in done.stdout
            if (done.stdout != expected if expected else not out) or done.stderr:
                yield (code, text, done.stdout, done.stderr)
            if self.bench.calls("verdict") != [["night", "--db=/x y"]]:
                yield self.bench.calls("verdict")
            if (self.bench.folder / "pwned").exists():
                yield "a hostile text was executed"

    def test_only_a_failed_node_goes_offline(self):
        self.assert_finds(self.table, self.CHECK, (
            ("line=${line//\\'/}", ":"), ("        1)\n", "        1 | 3)\n"), ('syslog "benchctl', ': "benchctl'), ('"$@" 2>', "$* 2>"),
            ("(benchctl)", "")))

    def after_a_failure(self, check, _):
        for code, text in ((3, "inconclusive: x"), (127, "")):
            for verdicts, stays in ((((1, "hard"), (code, text)), True), (((1, "hard"), (0, "pass"), (code, text)), False), (((code, text),), False),
                                    (((1, "hard"), (0, "pass")), False), (((1, "hard"), (code, text), (code, text)), True)):
                (self.bench.folder / "failed").unlink(missing_ok=True)
                for verdict in verdicts:
                    done = self.nhc(check, BENCHCTL_NODE_VERDICT=self.verdict_of(*verdict))
                if ("stays as it is" in done.stdout) != stays or "returned 0\n" not in done.stdout:
                    yield verdicts, done.stdout

    def test_an_inconclusive_verdict_brings_no_failed_node_back(self):
        self.assert_finds(self.after_a_failure, self.CHECK, (("ONLINE_NODE=:", ":"), ('rm -f "$failed"', ":"), (': >"$failed" ||', "false ||"),
                                                             ("if [[ -e $failed ]]", "if true")))

    def test_a_mark_that_cannot_be_written_is_reported(self):
        done = self.nhc(self.CHECK, BENCHCTL_NODE_VERDICT=self.verdict_of(1, "hard"), BENCHCTL_NHC_FAILED="/nonexistent/failed")
        self.assertIn("syslog: benchctl:  cannot write /nonexistent/failed\noffline n1: hard (benchctl)\n", done.stdout)

    def test_a_missing_script_leaves_the_node_in_service(self):
        done = self.nhc(self.CHECK, BENCHCTL_NODE_VERDICT=MISSING)
        self.assertIn("exit code 127\nreturned 0\n", done.stdout)
        self.assertIn("syslog: ", done.stdout)

    def test_a_hanging_script_leaves_the_node_in_service(self):
        verdict = self.bench.stand_in("verdict", "trap : TERM; while :; do sleep 1; done")
        done = self.nhc(self.CHECK, TIMEOUT="1", BENCHCTL_NODE_VERDICT=str(verdict))
        self.assertIn("exit code 137\nreturned 0\n", done.stdout)

    def test_the_check_ends_before_nhc_gives_up(self):
        (self.bench.folder / "verdict.out").touch()
        verdict = self.bench.stand_in("verdict", 'echo "limit $BENCHCTL_TIMEOUT"; exit 3')
        for limit, expected in (("30", 20), ("90", 80), ("12", 8), ("1", 1), ("0", 300), ("", 300)):
            done = self.nhc(self.CHECK, TIMEOUT=limit, BENCHCTL_NODE_VERDICT=str(verdict))
            self.assertIn(f"limit {expected}\n", done.stdout)
        done = self.nhc(self.CHECK, TIMEOUT="30", NHC_START_TS="-5", BENCHCTL_NODE_VERDICT=str(verdict))  # other checks took 5 s
        self.assertRegex(done.stdout, r"limit 1[45]\n")

    def test_the_lines_call_the_check(self):
        lines = [line for line in (GATES / "nhc" / "nhc.conf").read_text().splitlines() if "||" in line]
        self.assertGreaterEqual(len(lines), 2)
        for line in lines:
            self.assertRegex(line, r"^(# ?)? *\* \|\| (check_benchctl (night|accept) --|export TIMEOUT=\d+$)")


class NodeProblemDetector(GateTest):
    PLUGIN = GATES / "node-problem-detector" / "check-node"
    CASES = ((0, "pass", 0, "pass\n"), (1, "slower in gemm", 1, "slower in gemm\n"), (1, "x" * 200, 1, "x" * 80 + "\n"),
             (1, "two\nlines", 1, "two\n"), (3, "inconclusive: never checked", 2, "inconclusive: never checked\n"), (2, "", 2, None),
             (4, "", 2, None), (137, "", 2, None))

    def table(self, script, shell):
        for code, text, expected, out in self.CASES:
            done = self.bench.run(script, "night", "--db=/x y", shell=shell, BENCHCTL_NODE_VERDICT=self.verdict_of(code, text))
            if done.returncode != expected or (out and done.stdout != out) or not 1 < len(done.stdout) <= 81:
                yield (code, text, done.returncode, done.stdout)
            if self.bench.calls("verdict") != [["night", "--db=/x y"]]:
                yield self.bench.calls("verdict")

    def test_verdicts_become_its_exit_codes(self):
        self.assert_finds(self.table, self.PLUGIN, (("*) exit 2", "*) exit 1"), ("0 | 1)", "0 | 1 | 3)"), ("cut -c 1-80", "cat"),
                                                    ("head -n 1", "cat"), ('"$verdict" "$@"', '"$verdict" $*')))

    def test_a_missing_script_is_unknown(self):
        done = self.bench.run(self.PLUGIN, "night", BENCHCTL_NODE_VERDICT=MISSING)
        self.assertEqual((done.returncode, done.stdout), (2, f"{MISSING} ended with exit code 127\n"))

    def test_the_name_of_the_node_is_that_of_kubernetes(self):
        verdict = self.bench.stand_in("verdict", 'echo "$BENCHCTL_NODE"; exit 0')
        for environment in ({"NODE_NAME": "pool-7"}, {"NODE_NAME": "x", "BENCHCTL_NODE": "pool-7"}):
            self.assertEqual(self.bench.run(self.PLUGIN, "night", BENCHCTL_NODE_VERDICT=str(verdict), **environment).stdout, "pool-7\n")

    def test_the_files_are_what_it_reads(self):
        for name in ("condition.json", "event.json"):
            config = json.loads((GATES / "node-problem-detector" / name).read_text())
            self.assertEqual(gates_formats.of_monitor(config), [], name)
            for rule in config["rules"]:
                self.assertEqual(pathlib.Path(rule["path"]).name, self.PLUGIN.name)
            self.assertTrue(config["rules"][0]["type"] == "temporary" or config["pluginConfig"]["skip_initial_status"])

    def test_a_fault_in_such_a_file_is_found(self):
        sound = json.loads((GATES / "node-problem-detector" / "condition.json").read_text())
        for path, value in ((["plugin"], "other"), (["rules", 0, "timeout"], "1m"), (["rules", 0, "condition"], "Other"), (["rules"], []),
                            (["rules", 0, "type"], "often"), (["rules", 0, "path"], "check-node"), (["rule"], []), (["source"], ""),
                            (["pluginConfig", "timeout"], "30"), (["pluginConfig", "max_output_length"], 200),
                            (["conditions", 0, "message"], "")):
            self.assertNotEqual(gates_formats.of_monitor(with_value(sound, path, value)), [], path)


class Scripts(unittest.TestCase):
    FILES = sorted(path for path in GATES.glob("**/*") if path.is_file() and path.read_bytes().startswith(b"#!"))

    def test_all_stop_at_errors_and_evaluate_nothing(self):
        self.assertEqual(
            [path.name for path in self.FILES],
            ["init-gate", "label-nodes", "check-node", "node-verdict", "health-check", "job-check", "webhook"],
        )
        for path in self.FILES:
            text = path.read_text()
            self.assertIn("\nset -eu\n", text, path.name)
            self.assertNotRegex(text, r"\beval\b|\bsh -c\b", path.name)
            self.assertTrue(os.access(path, os.X_OK), path.name)

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck_has_nothing_to_say(self):
        for shell, paths in (("sh", self.FILES), ("bash", [GATES / "nhc" / "benchctl.nhc"])):
            done = subprocess.run(["shellcheck", f"--shell={shell}", *map(str, paths)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
