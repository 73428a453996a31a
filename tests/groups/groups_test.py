"""Ranks that meet over TCP, as real processes: the contract of every group, jobs, and each way in which ranks do not come together."""

import contextlib
import hashlib
import hmac
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
SECRET = "5" * 64
VERSION = subprocess.run([RANK, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]


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


def listening(pid=None):
    """(local address, port) of each listening socket, of one process or of all, as the kernel writes them."""
    inodes = set()
    if pid:
        for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                inodes.add(os.readlink(fd).removeprefix("socket:[").removesuffix("]"))
    found = []
    for table in ("tcp", "tcp6"):
        path = pathlib.Path("/proc/net", table)
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            words = line.split()
            address, port = words[1].split(":")
            if words[3] == "0A" and (pid is None or words[9] in inodes):
                found.append((address, int(port, 16)))
    return found


class Ranks:
    """Processes of one group; ended with the test."""

    def __init__(self, case, environments, program=RANK, words=(), timeout_s=10):
        self.processes = []
        case.addCleanup(self.end)
        for environment in environments:
            own = dict(environment)
            started = own.pop("program", program)
            env = {**CLEAN, "BENCH_GROUP_SECRET": SECRET, "BENCH_GROUP_TIMEOUT_S": str(timeout_s), **own}
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


def reach(port):
    """A connection to rank 0, once it listens."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection((HERE, int(port)))
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def line_from(connection):
    """A line without its newline; "" if the other side is gone."""
    heard = b""
    with contextlib.suppress(ConnectionResetError):
        while not heard.endswith(b"\n"):
            byte = connection.recv(1)
            if not byte:
                break
            heard += byte
    return heard.decode().rstrip("\n")


def derived(secret, purpose, hello, nonce):
    """What follows from a handshake for those who know the secret: a proof, or a key of frames."""
    return hmac.new(secret.encode(), f"{purpose} {hello} {nonce}".encode(), hashlib.sha256).hexdigest()


def hello_of(rank, size, group="-", nonce="a" * 64):
    return f"#benchgroup 2 {VERSION} {size} {rank} {group} elsewhere {nonce}"


def challenged(connection, hello):
    """Rank 0's nonce and proof."""
    connection.sendall(hello.encode() + b"\n")
    words = line_from(connection).split()
    assert words[:2] == ["#benchgroup", "prove"], words
    return words[2:]


def framed(key, number, header, data=b""):
    mac = hmac.new(key.encode(), struct.pack("<Q", number) + header + data, hashlib.sha256).digest()
    return header + data + mac


def header(op, size=0):
    return struct.pack("<IIQ", 0x70726742, op, size)


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
        version = VERSION.encode()
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

    def turned_away(self, stranger, *words):
        """A group of two of whose rank 1 this one plays the part first: it is turned away, and the group meets all the same."""
        two = torchrun(2)
        group = Ranks(self, [two[0], {**two[1], **stranger}])
        code, _, err = group.processes[1].wait(10), *group.processes[1].communicate()
        self.assertEqual(code, 4)
        for word in words:
            self.assertIn(word, err)
        group.processes[1:] = Ranks(self, [two[1]]).processes
        results = group.finish(job(2))
        self.assertEqual([code for code, _, _ in results], [0, 0], results)
        return results[0][2]

    def test_a_rank_with_another_secret_is_turned_away_and_disturbs_nobody(self):
        err = self.turned_away({"BENCH_GROUP_SECRET": "6" * 64}, "cannot prove that it knows this group's secret", "BENCH_GROUP_SECRET")
        self.assertIn("rejected: did not prove the group's secret", err)

    def test_a_rank_of_another_job_with_the_same_secret_is_turned_away_and_disturbs_nobody(self):
        err = self.turned_away({"TORCHELASTIC_RUN_ID": "r8"}, "refused the connection: this is another job's group")
        self.assertIn("rejected: of another job's group", err)

    def test_a_wrong_secret_is_told_where_a_rank_is_missed(self):
        two = torchrun(2)
        two[1]["BENCH_GROUP_SECRET"] = "6" * 64
        self.fails(two, "rank 1 of 2 did not connect", "rejected: did not prove the group's secret", ranks=[0], timeout_s=1)

    def test_a_rank_without_a_secret_says_how_to_give_it_one(self):
        two = [{**rank, "BENCH_GROUP_SECRET": ""} for rank in torchrun(2)]
        self.fails(two, "has no BENCH_GROUP_SECRET", "openssl rand -hex 32")

    def test_a_rank_0_that_cannot_prove_itself_gets_nothing(self):
        two = torchrun(2)
        with socket.create_server((HERE, int(two[0]["MASTER_PORT"]))) as server:
            group = Ranks(self, two[1:])
            connection, _ = server.accept()
            with connection:
                hello = line_from(connection)
                # The right side's words with the wrong secret, and then with its role exchanged.
                connection.sendall(f"#benchgroup prove {'c' * 64} {derived('6' * 64, 'root', hello, 'c' * 64)}\n".encode())
                self.assertEqual(line_from(connection), "")
                ((code, _, err),) = group.finish()
        self.assertEqual(code, 4)
        self.assertIn("cannot prove that it knows this group's secret", err)

    def test_what_was_overheard_of_a_handshake_proves_nothing_in_the_next(self):
        three = torchrun(3)
        group = Ranks(self, three[:1])
        port = three[0]["MASTER_PORT"]
        hello = hello_of(1, 3)
        with reach(port) as first:
            nonce, proof = challenged(first, hello)
            self.assertEqual(proof, derived(SECRET, "root", hello, nonce))
            right = derived(SECRET, "rank", hello, nonce)
        for said in (right, proof):
            with reach(port) as again:
                challenged(again, hello)
                again.sendall(f"#benchgroup proof {said}\n".encode())
                self.assertEqual(line_from(again), "")
        group.processes += Ranks(self, three[1:]).processes
        results = group.finish(job(3))
        self.assertEqual([code for code, _, _ in results], [0, 0, 0], results)
        self.assertIn("rejected: wrong proof of the group's secret", results[0][2])

    def test_whoever_relays_a_handshake_can_add_no_frame(self):
        two = torchrun(2)
        real, shown = int(two[0]["MASTER_PORT"]), free_port()
        with socket.create_server((HERE, shown)) as server:
            group = Ranks(self, [two[0], {**two[1], "BENCH_RENDEZVOUS": f"{HERE}:{shown}"}])
            rank, _ = server.accept()
            with rank, reach(real) as root:
                for source, target in ((rank, root), (root, rank), (rank, root), (root, rank)):
                    target.sendall(line_from(source).encode() + b"\n")
                rank.sendall(framed("", 0, header(1)))
                root.sendall(framed("", 0, header(1)))
                results = group.finish()
        for code, _, err in results:
            self.assertEqual(code, 4)
            self.assertIn("a frame without the group's signature", err)

    def test_a_hundred_idle_connections_do_not_keep_the_ranks_from_meeting(self):
        self.crowd(100, lambda number: b"")

    def test_nor_do_more_than_rank_0_has_descriptors_for(self):
        self.crowd(100, lambda number: b"", "ulimit -n 64; ")

    def test_hundreds_of_strangers_who_begin_a_handshake_do_not_keep_the_ranks_from_meeting(self):
        self.crowd(500, lambda number: hello_of(1, 4).encode() + b"\n" if number % 2 else b"#benchgroup 2 ")

    def crowd(self, count, words, before=""):
        """Four ranks meet while so many connections are open that prove nothing."""
        four = torchrun(4)
        group = Ranks(self, four[:1], program="sh", words=["-c", f'{before}exec "$0"', RANK])
        reach(four[0]["MASTER_PORT"]).close()
        begun = time.monotonic()
        for number in range(count):
            stranger = socket.create_connection((HERE, int(four[0]["MASTER_PORT"])))
            self.addCleanup(stranger.close)
            with contextlib.suppress(OSError):
                stranger.sendall(words(number))
        group.processes += Ranks(self, four[1:]).processes
        results = group.finish(job(4))
        self.assertEqual([code for code, _, _ in results], [0] * 4, results)
        self.assertLess(time.monotonic() - begun, 4.5)  # less than what a silent connection may take

    def test_rank_0_listens_at_its_own_address_only(self):
        two = torchrun(2)
        group = Ranks(self, two[:1])
        reach(two[0]["MASTER_PORT"]).close()
        held = {local for local, port in listening() if port == int(two[0]["MASTER_PORT"])}
        self.assertTrue(held and held <= {"0100007F", "00000000000000000000000001000000"}, held)
        group.end()

    def test_a_port_that_a_stranger_took_first_is_left_to_it(self):
        ranks = slurm(2)
        group = Ranks(self, ranks[:1])
        deadline = time.monotonic() + 10
        while not (ports := {port for _, port in listening(group.processes[0].pid)}):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        group.end()
        (port,) = ports
        with socket.create_server((HERE, port)):
            results = Ranks(self, ranks).finish(job(2))
        self.assertEqual([code for code, _, _ in results], [0, 0], results)

    def test_strangers_who_say_nothing_or_anything_do_not_keep_the_ranks_from_meeting(self):
        two = torchrun(2)
        group = Ranks(self, two[:1])
        chance = random.Random(7)
        said = [b"", b"GET / HTTP/1.1\r\n\r\n", b"\n", b"#benchgroup 2 x 2 1\n", b"#benchgroup 3 newer\n", chance.randbytes(100_000)]
        for words in said:
            stranger = reach(two[0]["MASTER_PORT"])
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
        """Three ranks of which the second is played here: it proves itself and then says this. What the others say."""
        three = torchrun(3)
        group = Ranks(self, [three[0], three[2]])
        with reach(three[0]["MASTER_PORT"]) as connection:
            hello = hello_of(1, 3)
            nonce, _ = challenged(connection, hello)
            connection.sendall(f"#benchgroup proof {derived(SECRET, 'rank', hello, nonce)}\n".encode())
            self.assertEqual(line_from(connection), "#benchgroup ok")
            connection.sendall(said(derived(SECRET, "frames of rank", hello, nonce)))
            results = group.finish()
        self.assertEqual([code for code, _, _ in results], [4, 4])
        return [err for _, _, err in results]

    def test_a_rank_that_sends_what_no_rank_sends_ends_the_group_and_is_named_on_all(self):
        chance = random.Random(7)
        for said, why in ((chance.randbytes(1000), "invalid frame header"), (header(1, 1 << 60), "invalid frame header"),
                          (header(9), "invalid frame header"), (header(1) + bytes(32), "a frame without the group's signature")):
            for err in self.play_rank_1(lambda key: said):
                self.assertIn(f"lost rank 1 on elsewhere: {why}", err)

    def test_ranks_that_do_not_do_the_same_are_told_who_does_what(self):
        for err in self.play_rank_1(lambda key: framed(key, 0, header(4))):
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
