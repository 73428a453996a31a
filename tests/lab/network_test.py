"""Slowed and cut links, as seen by programs at both ends."""

import time

from lab_test_case import LabTestCase, main

RECEIVE = """
import socket
server = socket.create_server(("", 7000))
print("ready", flush=True)
connection, _ = server.accept()
got = 0
while got < {size}:
    got += len(connection.recv(1 << 20))
connection.sendall(b"k")
connection.recv(1)  # the sender closes first
"""

# Seconds until the last byte is acknowledged.
SEND = """
import socket, time
connection = socket.create_connection(("{target}", 7000), timeout=20)
start = time.monotonic()
connection.sendall(bytes({size}))
connection.recv(1)
print(time.monotonic() - start)
"""

# Connects to sshd and reports how the connection ends.
WATCH = """
import socket
connection = socket.create_connection(("node02", 22), timeout=5)
connection.recv(100)
print("connected", flush=True)
connection.settimeout(1)
try:
    print("closed" if connection.recv(100) == b"" else "data")
except ConnectionError:
    print("closed")
except TimeoutError:
    print("silence")
"""


class Network(LabTestCase):
    def rate(self, source, target, size):
        """Throughput of one TCP connection, Mbit/s."""
        receiver = self.lab.start_python(target, RECEIVE.format(size=size))
        self.assertEqual(receiver.stdout.readline(), "ready\n")
        seconds = float(self.lab.python(source, SEND.format(target=target, size=size)))
        receiver.communicate(timeout=10)
        return size * 8e-6 / seconds

    def test_a_rate_applies_both_ways_and_off_removes_it(self):
        free = self.rate("node01", "node02", 64_000_000)
        self.lab.say("rate", "node02", 100)
        self.assertEqual(self.lab.status()["node02"]["rate"], "100Mbit")
        for source, target in (("node01", "node02"), ("node02", "node01")):
            slowed = self.rate(source, target, 8_000_000)
            # At most the rate plus a 64 kB burst; less on a busy machine.
            self.assertTrue(30 < slowed < 110, f"{slowed} Mbit/s from {source} to {target}")
            self.assertGreater(free / slowed, 3)
        self.lab.say("rate", "node02", "off")
        self.assertGreater(self.rate("node01", "node02", 64_000_000), free / 4)

    def test_a_cut_link_is_silent_until_it_is_healed(self):
        self.lab.say("cut", "node02")
        self.assertEqual(self.lab.status()["node02"]["link"], "cut")
        start = time.monotonic()
        done = self.lab.ssh("node01", "node02", "true", connect_timeout=2)
        self.assertEqual(done.returncode, 255)
        self.assertRegex(done.stderr, "timed out|No route to host")
        self.assertLess(time.monotonic() - start, 5)
        self.assert_reaches("node01", "head")
        self.lab.say("heal", "node02")
        self.assert_reaches("node01", "node02")

    def test_killed_hosts_close_their_connections_and_crashed_ones_do_not(self):
        for fault, seen in (("kill", "closed"), ("crash", "silence")):
            with self.subTest(fault=fault):
                watch = self.lab.start_python("node01", WATCH)
                self.assertEqual(watch.stdout.readline(), "connected\n")
                self.lab.say(fault, "node02")
                self.assertEqual(watch.communicate(timeout=10)[0], f"{seen}\n")
                self.lab.say("heal", "node02")
                self.assert_reaches("node01", "node02")


if __name__ == "__main__":
    main()
