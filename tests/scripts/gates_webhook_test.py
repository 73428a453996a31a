"""docs/gates/webhook with a local server and with a stand-in for curl."""

import http.server
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "gates" / "webhook"
FINDING = '{"host": "node07", "text": "gemm is 4.1 % slower; `reboot`, $(reboot)"}\n'


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.bodies.append((self.path, self.headers["Content-Type"], self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self.send_response(503 if len(self.server.bodies) <= self.server.failures else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


def post(address, path=None):
    environment = {"PATH": path or os.environ["PATH"]}
    if address is not None:
        environment["BENCHCTL_WEBHOOK"] = address
    return subprocess.run([SCRIPT], input=FINDING, env=environment, capture_output=True, text=True, timeout=60)


@unittest.skipUnless(shutil.which("curl"), "curl is not installed")
class Posts(unittest.TestCase):
    def serve(self, failures):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        server.bodies, server.failures = [], failures
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server, f"http://127.0.0.1:{server.server_address[1]}/hooks/t0ken?x=1"

    def test_a_finding_arrives_unchanged(self):
        server, address = self.serve(0)
        done = post(address)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(server.bodies, [("/hooks/t0ken?x=1", "application/json", FINDING)])

    def test_a_busy_server_is_asked_again(self):
        server, address = self.serve(2)
        self.assertEqual(post(address).returncode, 0)
        self.assertEqual([body for _, _, body in server.bodies], [FINDING] * 3)

    def test_a_server_that_stays_busy_is_a_failure(self):
        server, address = self.serve(1000)
        done = post(address)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("503", done.stderr)
        self.assertEqual(len(server.bodies), 6)


class Refuses(unittest.TestCase):
    def test_no_address_and_what_is_none(self):
        for address, said in ((None, "is not set"), ("", "is not set"), ("ftp://x", "does not begin"), ("file:///etc/passwd", "does not begin"),
                              ('http://x"\noutput = "/tmp/y', "a character that no address has"), ("http://x y", "a character")):
            done = post(address)
            self.assertEqual(done.returncode, 2, address)
            self.assertIn(said, done.stderr)

    def test_the_token_is_on_no_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            curl = pathlib.Path(folder) / "curl"
            curl.write_text(f'#!/bin/sh\necho "$@" > {folder}/arguments\ncat /dev/fd/3 > {folder}/config\n')
            curl.chmod(0o755)
            self.assertEqual(post("https://chat.example/hooks/t0ken", f"{folder}:/usr/bin:/bin").returncode, 0)
            self.assertNotIn("t0ken", (pathlib.Path(folder) / "arguments").read_text())
            self.assertEqual((pathlib.Path(folder) / "config").read_text(), 'url = "https://chat.example/hooks/t0ken"\n')


if __name__ == "__main__":
    unittest.main()
