"""Ranks that meet over TCP, as real processes: the contract of every group, jobs, and each way in which ranks do not come together."""

import json
import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest
import zlib

PROGRAMS = pathlib.Path(os.environ.get("BENCH_PROGRAMS", pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"))
RANK = PROGRAMS / "bench-rank"
LAUNCHERS = re.compile(r"RANK|WORLD_SIZE|LOCAL_RANK|MASTER_|TORCHELASTIC_|SLURM_|OMPI_|PMIX_|PMI_|BENCH_|BENCHCTL_")
CLEAN = {name: value for name, value in os.environ.items() if not LAUNCHERS.match(name)}
NULL = {"value": 1, "noise": 0, "samples": 1, "outcome": "ok"}
SECONDS = 20
HERE = "127.0.0.1"  # a bare root has no /etc/hosts


def free_port():
    with socket.create_server((HERE, 0)) as taken:
        return taken.getsockname()[1]


def torchrun(size):
    """What torchrun sets, for each rank."""
    port = str(free_port())
    return [{"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank), "MASTER_ADDR": "localhost", "MASTER_PORT": port}
            for rank in range(size)]


def slurm(size):
    """What srun sets, for each task of a step."""
    job = str(random.randrange(1, 10**8))
    return [{"SLURM_PROCID": str(rank), "SLURM_NTASKS": str(size), "SLURM_LOCALID": str(rank), "SLURM_JOB_ID": job,
             "SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "localhost"} for rank in range(size)]


def job(size, probe="null", params=None):
    return json.dumps({"id": "01.a", "probe": probe, "params": params or NULL, "ranks": size,
                       "measure": {"min_time_s": 0.0, "max_time_s": 0.05, "warm_up_max_s": 0.01}}) + "\n"


class Ranks:
    """Processes of one group; ended with the test."""

    def __init__(self, case, environments, program=RANK, words=(), timeout_s=10):
        self.processes = []
        case.addCleanup(self.end)
        for environment in environments:
            own = dict(environment)
            started = own.pop("program", program)
            env = {**CLEAN, "BENCH_GROUP_TIMEOUT_S": str(timeout_s), **own}
            self.processes.append(subprocess.Popen([started, *words], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                   stderr=subprocess.PIPE, text=True))

    def end(self):
        for process in self.processes:
            process.kill()
            process.communicate()

    def finish(self, text=""):
        """(exit code, stdout, stderr) of each; rank 0 is told `text`. They must end in time."""
        deadline = time.monotonic() + SECONDS
        results = []
        for i, process in enumerate(self.processes):
            out, err = process.communicate(text if i == 0 else "", timeout=max(0.1, deadline - time.monotonic()))
            results.append((process.returncode, out, err))
        return results


def records(stdout):
    """The records of a rank, each with the right checksum."""
    found = []
    for line in stdout.splitlines():
        marker, checksum, text = line.split(" ", 2)
        assert marker == "#bench1" and int(checksum, 16) == zlib.crc32(text.encode()), line
        found.append(json.loads(text))
    return found


def body(stdout, kind, topic=None):
    return [r["body"] for r in records(stdout) if r["kind"] == kind and topic in (None, r["body"].get("topic"))][-1]


class Contract(unittest.TestCase):
    def test_what_every_group_must_do_holds_for_ranks_of_torchrun_and_of_slurm(self):
        for launcher in (torchrun, slurm):
            with self.subTest(launcher=launcher.__name__):
                for code, out, err in Ranks(self, launcher(4), program=PROGRAMS / "group_ranks").finish():
                    self.assertEqual(code, 0, out + err)

    def test_a_job_of_four_ranks_is_served(self):
        for launcher in (torchrun, slurm):
            with self.subTest(launcher=launcher.__name__):
                results = Ranks(self, launcher(4)).finish(job(4))
                self.assertEqual([code for code, _, _ in results], [0] * 4, results)
                out = results[0][1]
                self.assertEqual(body(out, "outcome")["status"], "ok")
                program = body(out, "facts", "program")["facts"]
                self.assertEqual((program["ranks"], program["group"], program["libraries"]["mpi"]), (4, "TCP", None))
                self.assertEqual([out for _, out, _ in results[1:]], [""] * 3)

    def test_collectives_of_the_host_say_that_they_need_mpi(self):
        params = {"ops": ["all_reduce"], "dtypes": ["f32"], "placements": ["out_of_place"], "min_bytes": 8, "max_bytes": 8, "factor": 2,
                  "graph_calls": [0], "isolation": "none", "network_card": "", "timing": "isolated", "rotate": True, "offset_bytes": 0,
                  "init_repeats": 1}
        outcome = body(Ranks(self, torchrun(2)).finish(job(2, "collective", params))[0][1], "outcome")
        self.assertEqual(outcome["status"], "skipped")
        self.assertIn("the host needs MPI", outcome["reason"])
        self.assertIn("joined by TCP", outcome["reason"])

    def test_a_rank_that_is_told_to_be_alone_looks_at_no_variables(self):
        results = Ranks(self, torchrun(4)[:1], words=["--group", "none"]).finish(job(1))
        self.assertEqual(body(results[0][1], "outcome")["status"], "ok")

    def test_a_kind_of_group_that_there_is_not_is_bad_usage(self):
        ((code, _, err),) = Ranks(self, [{}], words=["--group", "smoke_signals"]).finish()
        self.assertEqual(code, 2)
        self.assertIn("auto, mpi, tcp, none", err)


class Faults(unittest.TestCase):
    def other_version(self):
        """A copy of bench-rank that says it is another version."""
        version = subprocess.run([RANK, "--version"], capture_output=True, text=True, check=True).stdout.split()[1].encode()
        program = RANK.read_bytes()
        self.assertIn(version, program)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        copy = pathlib.Path(folder.name) / "bench-rank"
        copy.write_bytes(program.replace(version, b"9" + version[1:]))
        copy.chmod(0o755)
        return copy

    def fails(self, environments, *words, ranks=None, **options):
        """All end in time with exit code 4, and each of these ranks says these words."""
        begun = time.monotonic()
        results = Ranks(self, environments, **options).finish()
        self.assertLess(time.monotonic() - begun, 10)
        for i, (code, out, err) in enumerate(results):
            self.assertEqual(code, 4, f"rank {i}: {out}{err}")
            if ranks is None or i in ranks:
                for word in words:
                    self.assertIn(word, err, f"rank {i}")

    def test_ranks_that_do_not_come_are_named_on_all_others(self):
        four = torchrun(4)
        self.fails([four[0], four[2]], "ranks 1, 3 of 4 did not connect", "within 1 s", timeout_s=1)

    def test_a_rank_0_that_does_not_come_is_named_with_its_address(self):
        two = torchrun(2)
        self.fails([two[1]], f"cannot reach rank 0 at localhost port {two[0]['MASTER_PORT']}", "Connection refused", timeout_s=1)

    def test_two_ranks_of_one_number_are_named_on_all_others(self):
        three = torchrun(3)
        host = socket.gethostname()
        self.fails([three[0], three[1], three[1]], f"duplicate rank 1: on {host} and on {host}")

    def test_a_rank_of_another_version_is_named_with_both(self):
        two = torchrun(2)
        two[1]["program"] = self.other_version()
        self.fails(two, "rank 1 on ", "has version 9.1", "but rank 0 on ")

    def test_a_rank_of_another_world_size_is_named(self):
        two, three = torchrun(2), torchrun(3)
        three[1]["MASTER_PORT"] = two[0]["MASTER_PORT"]
        self.fails([two[0], three[1]], "rank 1 on ", "expects 3 ranks, but rank 0 expects 2")

    def test_a_rank_of_another_job_is_turned_away_and_disturbs_nobody(self):
        ranks = [{**rank, "BENCH_GROUP_TOKEN": "right"} for rank in torchrun(2)]
        stranger = {**ranks[1], "BENCH_GROUP_TOKEN": "wrong"}
        group = Ranks(self, [ranks[0], stranger])
        code, _, err = group.processes[1].wait(10), *group.processes[1].communicate()
        self.assertEqual(code, 4)
        self.assertIn("refused the connection: wrong token", err)
        group.processes[1:] = Ranks(self, [ranks[1]]).processes
        self.assertEqual([code for code, _, _ in group.finish(job(2))], [0, 0])

    def test_a_wrong_token_is_told_where_a_rank_is_missed(self):
        two = torchrun(2)
        two[1]["BENCH_GROUP_TOKEN"] = "wrong"
        self.fails(two, "rank 1 of 2 did not connect", "rejected: wrong token", ranks=[0], timeout_s=1)

    def test_strangers_who_say_nothing_or_anything_do_not_keep_the_ranks_from_meeting(self):
        two = torchrun(2)
        group = Ranks(self, two[:1])
        address = (HERE, int(two[0]["MASTER_PORT"]))
        chance = random.Random(7)
        said = [b"", b"GET / HTTP/1.1\r\n\r\n", b"\n", b"#benchgroup 1 x 2 1\n", b"#benchgroup 2 newer\n", chance.randbytes(100_000)]
        deadline = time.monotonic() + 10
        for words in said:
            while True:
                try:
                    stranger = socket.create_connection(address)
                    break
                except ConnectionRefusedError:
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.02)
            self.addCleanup(stranger.close)
            try:
                stranger.sendall(words)
            except OSError:
                pass  # turned away before it had said it all
        group.processes += Ranks(self, two[1:]).processes
        results = group.finish(job(2))
        self.assertEqual([code for code, _, _ in results], [0, 0], results)
        self.assertIn("rejected: not a benchctl rank", results[0][2])

    def test_something_else_that_listens_there_is_no_rank_0(self):
        two = torchrun(2)
        with socket.create_server((HERE, int(two[0]["MASTER_PORT"]))) as server:
            group = Ranks(self, two[1:])
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
                ((code, _, err),) = group.finish()
        self.assertEqual(code, 4)
        self.assertIn("is not a benchctl rank", err)

    def test_a_port_that_is_taken_is_named(self):
        two = torchrun(2)
        with socket.create_server(("", int(two[0]["MASTER_PORT"]))):
            self.fails(two[:1], f"listen on port {two[0]['MASTER_PORT']}", "Address already in use")

    def joined(self, size):
        """Ranks that have come together and wait for a job."""
        group = Ranks(self, torchrun(size))
        line = group.processes[0].stdout.readline()
        self.assertIn("#bench1", line)
        return group

    def test_a_rank_that_dies_ends_the_others_who_say_which(self):
        group = self.joined(4)
        group.processes[2].send_signal(signal.SIGKILL)
        group.processes[2].wait()
        results = group.finish(job(4))
        for rank in (0, 1, 3):
            code, _, err = results[rank]
            self.assertNotEqual(code, 0, f"rank {rank}")
            self.assertIn(f"lost rank 2 on {socket.gethostname()}", err, f"rank {rank}")

    def test_a_rank_0_that_dies_ends_the_others_at_once(self):
        group = self.joined(3)
        group.processes[0].send_signal(signal.SIGKILL)
        for process in group.processes[1:]:
            _, err = process.communicate(timeout=5)
            self.assertEqual(process.returncode, 4)
            self.assertIn("lost rank 0 on localhost", err)

    def test_an_interface_that_is_not_there_is_an_error_that_names_those_there_are(self):
        two = [{**rank, "BENCH_GROUP_INTERFACE": "nope7"} for rank in torchrun(2)]
        self.fails(two[:1], "no network interface of this host matches 'nope7'", "lo 127.0.0.1")

    def play_rank_1(self, said):
        """Three ranks of which the second is played here: it greets well and then says this. What the others say."""
        three = torchrun(3)
        group = Ranks(self, [three[0], three[2]])
        version = subprocess.run([RANK, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        deadline = time.monotonic() + 10
        while True:
            try:
                connection = socket.create_connection((HERE, int(three[0]["MASTER_PORT"])))
                break
            except ConnectionRefusedError:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
        with connection:
            connection.sendall(f"#benchgroup 1 {version} 3 1 - elsewhere\n".encode())
            self.assertEqual(connection.recv(15, socket.MSG_WAITALL), b"#benchgroup ok\n")
            connection.sendall(said)
            results = group.finish()
        self.assertEqual([code for code, _, _ in results], [4, 4])
        return [err for _, _, err in results]

    def test_a_rank_that_sends_what_no_rank_sends_ends_the_group_and_is_named_on_all(self):
        chance = random.Random(7)
        too_much = struct.pack("<IIQ", 0x70726742, 1, 1 << 60)
        for said in (chance.randbytes(1000), too_much, struct.pack("<IIQ", 0x70726742, 9, 0)):
            for err in self.play_rank_1(said):
                self.assertIn("lost rank 1 on elsewhere: invalid frame header", err)

    def test_ranks_that_do_not_do_the_same_are_told_who_does_what(self):
        for err in self.play_rank_1(struct.pack("<IIQ", 0x70726742, 4, 0)):
            self.assertIn("rank 1 on elsewhere is in a gather, but rank 0 is in a barrier", err)

    def test_ranks_of_one_host_meet_where_nothing_resolves_localhost(self):
        hide = ["unshare", "--mount", "sh", "-c", 'mount --bind /dev/null /etc/hosts && mount --bind /dev/null /etc/resolv.conf && exec "$0"']
        if subprocess.run([*hide, "true"], capture_output=True).returncode != 0:
            self.skipTest("/etc/hosts cannot be hidden from a process here: that takes root, and the file")
        ranks = Ranks(self, torchrun(2), program=hide[0], words=[*hide[1:], RANK])
        results = ranks.finish(job(2))
        self.assertEqual([code for code, _, _ in results], [0, 0], results)

    @unittest.skipUnless(pathlib.Path("/proc/net/if_inet6").exists(), "no IPv6 here")
    def test_ranks_meet_over_ipv6(self):
        two = [{**rank, "MASTER_ADDR": "::1"} for rank in torchrun(2)]
        self.assertEqual([code for code, _, _ in Ranks(self, two).finish(job(2))], [0, 0])

    def test_ranks_meet_on_the_interface_that_is_chosen(self):
        two = [{**rank, "BENCH_GROUP_INTERFACE": "127.0.0.0/8", "MASTER_ADDR": "127.0.0.1"} for rank in torchrun(2)]
        self.assertEqual([code for code, _, _ in Ranks(self, two).finish(job(2))], [0, 0])


if __name__ == "__main__":
    unittest.main()
