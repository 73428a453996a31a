"""The scripts of docs/gates/slurm drain, resume and let jobs start when they should, and never otherwise.

    gates_slurm_test.py BENCHCTL
"""

import subprocess
import unittest

from gates_bench import BENCHCTL, GATES, HOSTILE_NAMES, HOSTILE_TEXT, MISSING, SHELLS, GateTest

SHOW = """NodeName=n1 Arch=x86_64 CoresPerSocket=1
   CPUAlloc=0 CPUEfctv=96 CPUTot=96 CPULoad=0.03
   OS=Linux State=DOWN
   State={state} ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=gpu
{reason}   Comment=Reason=hard: x (benchctl gate: accept)
"""
OURS = "hard: gemm (benchctl gate: accept)"
FAIL, PASS, OPEN = (1, "hard: gemm"), (0, "pass"), (3, "inconclusive: peers")


def shown(state, reason=""):
    return SHOW.format(state=state, reason=f"   Reason={reason} [root@2026-11-26T02:00:00]\n" if reason else "")


class SlurmHealthCheck(GateTest):
    SCRIPT = GATES / "slurm" / "health-check"
    DRAINS = [["update", "NodeName=n1", "State=DRAIN", f"Reason={OURS}"]]
    RESUMES = [["update", "NodeName=n1", "State=RESUME"]]
    CASES = (  # state, reason, verdict, what scontrol updates
        ("IDLE", "", FAIL, DRAINS), ("IDLE", "", PASS, []), ("IDLE", "", OPEN, []), ("IDLE", "", (127, ""), []), ("IDLE", "", (4, ""), []),
        ("IDLE+DRAIN", OURS, PASS, RESUMES), ("IDLE+DRAIN", OURS, FAIL, []), ("IDLE+DRAIN", OURS, OPEN, []),
        ("IDLE+DRAIN", "golden: memory (benchctl gate: accept)", PASS, RESUMES),
        *((state, OURS, PASS, []) for state in ("DOWN+DRAIN", "IDLE*+DRAIN", "IDLE+DRAIN+MAINTENANCE", "MIXED+DRAIN", "FAIL", "IDLE")),
        *(("IDLE+DRAIN", reason, PASS, []) for reason in (
            "fan broken", "", "Prolog error", "hard: gemm (benchctl accept)", "NHC: hard: gemm (benchctl gate: accept)",
            "slower in gemm since then (benchctl gate: night)", "hard: gemm (benchctl gate: night)", "(benchctl gate: accept)",
            f"{OURS}, waiting for a part", f"ticket 7: {OURS}")),
        *(("IDLE+DRAIN", reason, FAIL, []) for reason in ("fan broken", "")),
        *((state, "", FAIL, []) for state in ("MIXED", "ALLOCATED", "COMPLETING", "DOWN", "IDLE+PLANNED", "IDLE*", "")),
    )

    def check(self, script, words=("accept",), shell=SHELLS[0], node="n1", **environment):
        return self.bench.run(script, *words, shell=shell, SLURMD_NODENAME=node,
                              **{"BENCHCTL_NODE_VERDICT": str(self.bench.bin / "verdict"), **environment})

    def updates(self):
        return [words for words in self.bench.calls("scontrol") if words[0] != "show"]

    def table(self, script, shell):
        for state, reason, (code, text), expected in self.CASES:
            self.bench.stand_in("scontrol", out=shown(state, reason))
            self.verdict_of(code, text)
            done = self.check(script, shell=shell)
            if self.updates() != expected or done.returncode != 0:
                yield (state, reason, code, self.updates(), done.returncode, done.stderr)
            if code not in (0, 1) and not self.bench.calls("logger"):
                yield (state, "an inconclusive check was silent")
            if reason == "fan broken" and self.bench.calls("verdict"):
                yield (state, "a node that someone else drained was measured")

    def test_it_drains_and_resumes_only_its_own(self):
        self.assert_finds(self.table, self.SCRIPT, (
            ('*" $mark") ;;', '*"$mark"*) ;;'), ("  case $mode:$reason in", "  return 0\n  case $mode:$reason in"), ("  0 | 1) ;;", "  0 | 1 | 3) ;;"),
            ("reason=${reason% \\[*}", ":"), ("IDLE:* | MIXED:night", "IDLE*:* | MIXED*:*"), ('"$code" -eq 0 ] && drained_by_us', '"$code" -eq 0 ]'),
            ("IDLE+DRAIN:* |", "*DRAIN*:* |"), ('"$code" -eq 1 ] && in_service', '"$code" -eq 1 ]'),
            ("State=DRAIN", "State=DOWN"), ("in_service || drained_by_us || exit 0", ":"), ('    say "$node stays', '    : "$node stays')))

    def test_a_night_may_be_read_while_jobs_run(self):
        for state, reason, code, text, expected in (
                ("ALLOCATED", "", 1, "slower in gemm", [["update", "NodeName=n1", "State=DRAIN", "Reason=slower in gemm (benchctl gate: night)"]]),
                ("MIXED+DRAIN", "slower in gemm (benchctl gate: night)", 0, "pass", self.RESUMES), ("MIXED+DRAIN", OURS, 0, "pass", [])):
            self.bench.stand_in("scontrol", out=shown(state, reason))
            self.verdict_of(code, text)
            self.check(self.SCRIPT, ("night", "--db=/x y"))
            self.assertEqual(self.updates(), expected)

    def changing(self, first, then):
        (self.bench.folder / "first").write_text(first)
        (self.bench.folder / "then").write_text(then)
        self.bench.stand_in("scontrol", '[ "$1" = show ] || exit 0; if [ -e asked ]; then cat then; else touch asked; cat first; fi')
        (self.bench.folder / "asked").unlink(missing_ok=True)

    def race(self, script, shell):
        for first, then, verdict in ((("IDLE", ""), ("IDLE+DRAIN", "fan broken"), FAIL), (("IDLE+DRAIN", OURS), ("IDLE+DRAIN", "fan"), PASS),
                                     (("IDLE", ""), ("ALLOCATED", ""), FAIL)):
            self.changing(shown(*first), shown(*then))
            self.verdict_of(*verdict)
            self.check(script, shell=shell)
            if self.updates():
                yield (first, then, self.updates())

    def test_what_someone_does_meanwhile_is_respected(self):
        self.assert_finds(self.race, self.SCRIPT, (
            ('look || { say "scontrol cannot show node $node" && exit 0; } # someone may have acted meanwhile', ":"),))

    def test_a_hostile_name_is_not_used(self):
        self.bench.stand_in("scontrol", out=shown("IDLE"))
        self.verdict_of(1, "hard: gemm")
        for name in HOSTILE_NAMES[1:]:
            done = self.check(self.SCRIPT, node=name)
            self.assertEqual((done.returncode, self.bench.calls("scontrol")), (0, []), name)

    def test_a_hostile_text_stays_one_word(self):
        self.bench.stand_in("scontrol", out=shown("IDLE"))
        self.verdict_of(1, HOSTILE_TEXT + "y" * 300)
        self.check(self.SCRIPT)
        [[_, node, state, reason]] = self.updates()
        self.assertEqual((node, state), ("NodeName=n1", "State=DRAIN"))
        self.assertTrue(reason.endswith(" (benchctl gate: accept)"))
        self.assertLessEqual(len(reason.encode()), len("Reason=") + 200)

    def test_slurm_out_of_reach_changes_nothing(self):
        self.verdict_of(1, "hard: gemm")
        self.bench.stand_in("scontrol", code=1, err="Unable to contact slurm controller")
        self.assertEqual((self.check(self.SCRIPT).returncode, self.bench.calls("verdict")), (0, []))
        self.bench.stand_in("scontrol", '[ "$1" = show ] || exit 1; cat scontrol.out', out=shown("IDLE"))
        (self.bench.folder / "scontrol.out").write_text(shown("IDLE"))
        done = self.check(self.SCRIPT)
        self.assertEqual(done.returncode, 0)
        self.assertIn("node left as it is", done.stderr)
        [(_, faulty)] = self.with_faults(self.SCRIPT, (("; exit 0' EXIT", "' EXIT"),))
        self.assertNotEqual(self.check(faulty).returncode, 0)

    def test_without_arguments_it_measures(self):
        self.bench.stand_in("scontrol", out=shown("IDLE"))
        self.verdict_of(0, "pass")
        self.check(self.SCRIPT, ())
        [[mode, *options]] = self.bench.calls("verdict")
        self.assertEqual(mode, "accept")
        help_text = subprocess.run([BENCHCTL, "accept", "--help"], capture_output=True, text=True, check=True).stdout
        for option in options:
            self.assertIn(option.partition("=")[0], help_text)


class SlurmJobCheck(GateTest):
    SCRIPT = GATES / "slurm" / "job-check"
    CODES = ((0, 0), (1, 1), (2, 0), (3, 0), (4, 0), (126, 0), (127, 0), (134, 0))

    def table(self, script, shell):
        for code, expected in self.CODES:
            self.bench.stand_in("benchctl", code=code, err="slower in gemm\nagain\n")
            done = self.bench.run(script, shell=shell)
            if done.returncode != expected or (code != 0 and len(self.bench.calls("logger")) != 1):
                yield (code, done.returncode, self.bench.calls("logger"))
            if self.bench.calls("benchctl") != [["nightly", "--prolog", "--db=/var/lib/benchctl/prolog.sqlite"]]:
                yield self.bench.calls("benchctl")

    def test_only_a_confirmed_regression_drains_the_node(self):
        self.assert_finds(self.table, self.SCRIPT, (('[ "$code" -eq 1 ] && leave 1', 'leave "$code"'), ("leave 0\n", "leave 1\n"),
                                                    ('  *) say "$unconfirmed', '  *) : "$unconfirmed')))

    def test_a_missing_benchctl_leaves_the_node_in_service(self):
        done = self.bench.run(self.SCRIPT, BENCHCTL=MISSING)
        self.assertEqual(done.returncode, 0)
        self.assertIn("node not checked", done.stderr)

    def test_it_does_not_measure_next_to_another_job(self):
        self.bench.stand_in("benchctl", code=1)
        self.bench.stand_in("pgrep", code=0)
        done = self.bench.run(self.SCRIPT)
        self.assertEqual((done.returncode, self.bench.calls("benchctl")), (0, []))
        self.assertIn("another job is running", done.stderr)

    def test_a_fault_of_the_script_itself_leaves_the_node_in_service(self):
        for _, faulty in self.with_faults(self.SCRIPT, (("code=0\n", "code=0\nfalse\n"), ("code=0\n", "code=0\nexit 5\n"))):
            self.assertEqual(self.bench.run(faulty).returncode, 0)

    def test_slurm_gives_it_no_search_path(self):
        done = subprocess.run([str(self.SCRIPT)], env={"BENCHCTL": MISSING}, capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("exit code 127", done.stderr + done.stdout)


if __name__ == "__main__":
    unittest.main()
