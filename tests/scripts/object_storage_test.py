"""The probe `object_storage` against a stand-in server that verifies signatures and injects faults, and against moto's.

    object_storage_test.py BENCHCTL

The stand-in computes Signature Version 4 from the request as it arrived, by AWS's specification. moto's server
($BENCH_MOTO_SERVER, else moto_server in the PATH; pip install 'moto[server]') is another implementation of S3; without it that part
is skipped.
"""

import contextlib
import datetime
import email.message
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
import xml.sax.saxutils

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCHCTL = pathlib.Path(sys.argv.pop()).resolve() if __name__ == "__main__" else None
OPENSSL = shutil.which("openssl")
MOTO = os.environ.get("BENCH_MOTO_SERVER") or shutil.which("moto_server")
KEY, SECRET, TOKEN = "AKIDOBJECTTEST000001", "secret/of+the+Test0123456789abcdefghijkl", "session-Token/of+the+test=="
REGION = "test-region-1"
OPERATIONS = ["put", "get", "range_get", "head", "list", "delete"]
SMALL = {"object_bytes": [65536], "range_bytes": 4096, "size_bytes": 655360, "threads": [2], "seconds": 0.2, "region": REGION}


def unquoted(text):
    return urllib.parse.unquote_to_bytes(text)


def quoted(data, safe=""):
    return urllib.parse.quote(data, safe=safe + "-._~")


def hmac_of(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class Refused(Exception):
    """status, code, message of an answer."""


def signature_of(method, target, headers, names, scope, secret):
    """The signature that belongs to a request (AWS: "Create a signed AWS API request")."""
    path, _, query = target.partition("?")
    pairs = [pair.partition("=")[::2] for pair in query.split("&") if pair]
    query = "&".join(f"{name}={value}" for name, value in sorted((quoted(unquoted(n)), quoted(unquoted(v))) for n, v in pairs))
    lines = [f"{name}:{' '.join(','.join(headers.get_all(name, [])).split())}\n" for name in names]
    request = "\n".join([method, quoted(unquoted(path), "/"), query, "".join(lines), ";".join(names), headers["x-amz-content-sha256"]])
    to_sign = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], "/".join(scope), hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in scope:
        key = hmac_of(key, part)
    return hmac_of(key, to_sign).hex()


class Store:
    """Objects of one bucket, and what goes wrong with them."""

    def __init__(self):
        self.objects, self.lock = {}, threading.Lock()
        self.signed, self.page = True, 3
        self.requests, self.connections = [], 0
        self.fault = lambda method, target, number: None

    def verify(self, method, target, headers):
        match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})",
                             headers.get("Authorization", ""))
        if not match:
            raise Refused(403, "AccessDenied", "Access Denied.")
        key, *scope = match[1].split("/")
        names = match[2].split(";")
        must = {"host"} | {name.lower() for name in headers if name.lower().startswith("x-amz-")}
        age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.strptime(
            headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if names != sorted(names) or not must <= set(names) or any(name not in headers for name in names):
            raise Refused(403, "AccessDenied", f"There were headers present in the request which were not signed: {names}")
        if abs(age.total_seconds()) > 900:
            raise Refused(403, "RequestTimeTooSkewed", "The difference between the request time and the server's time is too large.")
        if scope[1] != REGION:
            raise Refused(400, "AuthorizationHeaderMalformed", f"The region '{scope[1]}' is wrong; expecting '{REGION}'")
        if key != KEY or headers.get("x-amz-security-token") != TOKEN:
            raise Refused(403, "InvalidAccessKeyId", f"The AWS Access Key Id {key} does not exist in our records.")
        scope_is_right = scope == [headers["x-amz-date"][:8], REGION, "s3", "aws4_request"]
        if not scope_is_right or signature_of(method, target, headers, names, scope, SECRET) != match[3]:
            raise Refused(403, "SignatureDoesNotMatch", "The request signature we calculated does not match & <so> on.")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.store = self.server.store
        with self.store.lock:
            self.store.connections += 1

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", announced=None, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body) if announced is None else announced))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def error(self, status, code, message):
        message = xml.sax.saxutils.escape(message)
        self.answer(status, f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'.encode())

    def handle_method(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.store.lock:
            self.store.requests.append((self.command, self.path))
            number = len(self.store.requests)
        try:
            if self.store.signed:
                self.store.verify(self.command, self.path, self.headers)
            elif "Authorization" in self.headers:
                raise Refused(400, "InvalidRequest", "signed, but no keys were given")
            self.serve(body, self.store.fault(self.command, self.path, number))
        except Refused as refused:
            self.error(*refused.args)
        except ConnectionError:
            self.close_connection = True

    do_GET = do_PUT = do_HEAD = do_DELETE = handle_method

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()
        raise ConnectionError

    def serve(self, body, fault):
        path, _, query = self.path.partition("?")
        _, bucket, *key = urllib.parse.unquote(path).split("/", 2)
        objects, key = self.store.objects, key[0] if key else ""
        if isinstance(fault, int):
            raise Refused(fault, "SlowDown", "Please reduce your request rate.")
        if fault == "reset":
            self.reset()
        if fault == "stall":
            time.sleep(30)
        if bucket != "bucket":
            raise Refused(404, "NoSuchBucket", "The specified bucket does not exist")
        if not key:
            return self.list(urllib.parse.parse_qs(query), fault)
        if self.command == "PUT":
            objects[key] = body
            return self.answer(200, ETag='"x"')
        if self.command == "DELETE":
            objects.pop(key, None)
            return self.answer(204)
        if key not in objects:
            raise Refused(404, "NoSuchKey", "The specified key does not exist.")
        data, status = objects[key], 200
        if "Range" in self.headers and fault != "no range":
            begin, end = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
            data, status = data[begin:end + 1], 206
        if fault == "flip":
            data = data[:100] + bytes([data[100] ^ 1]) + data[101:]
        if fault == "other":
            data = next(value for name, value in objects.items() if name != key)[:len(data)]
        if fault == "short":
            data = data[:-4096]
        if fault == "cut":
            self.answer(status, data[:-4096], announced=len(data))
            self.close_connection = True
            return None
        return self.answer(status, data)

    def list(self, query, fault):
        if self.command == "HEAD":
            return self.answer(200)
        if query.get("list-type") != ["2"]:
            raise Refused(400, "InvalidArgument", "not ListObjectsV2")
        keys = sorted(key for key in self.store.objects if key.startswith(query["prefix"][0]))
        keys = [key for key in keys if key > query.get("continuation-token", [""])[0]]
        page, more = keys[:self.store.page], len(keys) > self.store.page
        token = page[-1] if more else ""
        if fault == "lack":
            page = page[1:]
        escape = xml.sax.saxutils.escape
        contents = "".join(f"<Contents><Key>{escape(key)}</Key><Size>1</Size></Contents>" for key in page)
        next_page = f"<NextContinuationToken>{escape(token)}</NextContinuationToken>" if more else ""
        return self.answer(200, (f'<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name>'
                                 f"<IsTruncated>{str(more).lower()}</IsTruncated>{next_page}{contents}</ListBucketResult>").encode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


@contextlib.contextmanager
def standing_in(certificate=None):
    server = Server(("127.0.0.1", 0), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.store = Store()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Case(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": TOKEN}
        self.said = ""

    def run_probe(self, endpoint, params=(), ranks=1, timeout=100):
        """The job and results of a run with the parameters, which ends in time."""
        suite = {"suite": "objects", "cases": [{"name": "objects", "probe": "object_storage", "binding": "none", "ranks_per_host": ranks,
                                                "params": {"endpoint": endpoint, "bucket": "bucket", **SMALL, **dict(params)}}]}
        (self.folder / "suite.json").write_text(json.dumps(suite))
        environment = {**{name: value for name, value in os.environ.items() if not name.startswith("AWS_")}, "HOME": str(self.folder),
                       # A proxy that does not answer is not asked.
                       "http_proxy": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1", **self.keys}
        done = subprocess.run([BENCHCTL, "run", str(self.folder / "suite.json"), "--json", "--db", str(self.folder / "results.sqlite")],
                              env=environment, cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=timeout)
        self.said = done.stdout + done.stderr
        self.assertTrue(done.stdout, self.said)
        report = json.loads(done.stdout)
        return report["jobs"][0], [result for result in report["results"] if result["metric"]]

    def values(self, results, metric, **params):
        found = [result["median"] for result in results if result["metric"] == f"object_storage.{metric}"
                 and all(result["params"].get(name) == value for name, value in params.items())]
        return found

    def failed(self, endpoint, params=()):
        """The reason of a job that failed, none of which gives the keys away."""
        job, _ = self.run_probe(endpoint, params)
        self.assertEqual(job["outcome"], "failed", self.said)
        self.no_secrets()
        return job["reason"]

    def no_secrets(self):
        kept = [path.read_bytes() for path in self.folder.rglob("*") if path.is_file() and path.parent.name != ".aws"]
        self.assertGreater(len(kept), 3)
        for secret in (KEY, SECRET, TOKEN):
            self.assertFalse([text for text in kept if secret.encode() in text or secret.encode() in self.said.encode()])


class StandIn(Case):
    def setUp(self):
        super().setUp()
        server = self.enterContext_(standing_in())
        self.store, self.server = server.store, server
        self.endpoint = f"http://127.0.0.1:{server.server_address[1]}"

    def enterContext_(self, context):  # unittest has it from Python 3.11 on
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def once(self, method, part, fault, times=1):
        """The fault on the first requests of this method whose target contains the part."""
        left = [times]

        def choose(asked, target, _):
            if asked == method and part in target and left[0] > 0:
                left[0] -= 1
                return fault
            return None
        self.store.fault = choose

    def test_every_operation_is_measured_signed_and_leaves_nothing(self):
        job, results = self.run_probe(self.endpoint, {"prefix": "a folder!'(of)*/keys".replace(" ", "_"), "threads": [1, 2]})
        self.assertEqual(job["outcome"], "ok", self.said)
        for operation in OPERATIONS:
            for threads in (1, 2):
                series = {"operation": operation, "threads": threads, "object_bytes": 65536, "bucket": "bucket"}
                self.assertEqual(len(self.values(results, "request_rate", **series)), 1)
                self.assertEqual(len(self.values(results, "latency", **series)), 4)
                self.assertEqual(self.values(results, "retries", **series), [0])
                self.assertEqual(len(self.values(results, "bandwidth", **series)), operation in ("put", "get", "range_get"))
                reads = operation in ("get", "range_get")
                self.assertEqual(len(self.values(results, "first_byte_latency", **series)), 4 * reads)
                self.assertEqual(self.values(results, "wrong_blocks", **series), [0] * reads)
        self.assertEqual(self.store.objects, {})
        methods = [method for method, _ in self.store.requests]
        self.assertGreater(min(methods.count(method) for method in ("GET", "PUT", "HEAD", "DELETE")), 10)
        self.assertTrue(any("continuation-token" in target for _, target in self.store.requests))
        self.assertLessEqual(self.store.connections, 3)  # kept over all operations
        self.no_secrets()

    def test_several_ranks_report_their_sum_and_have_objects_of_their_own(self):
        job, results = self.run_probe(self.endpoint, {"operations": ["put", "get"]}, ranks=2)
        self.assertEqual(job["outcome"], "ok", self.said)
        self.assertEqual(len(self.values(results, "bandwidth", operation="get")), 1)
        ranks = {re.search(r"-rank-(\d+)/", target)[1] for method, target in self.store.requests if method == "PUT"}
        self.assertEqual(ranks, {"0", "1"})
        self.assertEqual(self.store.objects, {})

    def test_only_what_is_asked_for_is_reported(self):
        job, results = self.run_probe(self.endpoint, {"operations": ["head"]})
        self.assertEqual(job["outcome"], "ok", self.said)
        self.assertEqual({result["params"]["operation"] for result in results if result["metric"].startswith("object_storage")}, {"head"})
        self.assertEqual(self.store.objects, {})

    def test_without_keys_requests_are_not_signed(self):
        self.store.signed, self.keys = False, {}
        job, _ = self.run_probe(self.endpoint)
        self.assertEqual(job["outcome"], "ok", self.said)

    def test_keys_come_from_the_profile_of_a_file(self):
        (self.folder / ".aws").mkdir()
        (self.folder / ".aws" / "credentials").write_text(
            f"[default]\naws_access_key_id = wrong\naws_secret_access_key = wrong\n[test]\naws_access_key_id={KEY}\n"
            f"aws_secret_access_key = {SECRET}\naws_session_token = {TOKEN}\n")
        self.keys = {"AWS_PROFILE": "test", "AWS_ENDPOINT_URL": self.endpoint}
        job, _ = self.run_probe("")
        self.assertEqual(job["outcome"], "ok", self.said)
        self.no_secrets()

    def test_a_flipped_byte_makes_the_job_invalid(self):
        for fault, operation, blocks in (("flip", "get", 1), ("other", "get", 16), ("flip", "range_get", 1)):
            self.once("GET", "/t1/", fault)
            job, results = self.run_probe(self.endpoint, {"operations": [operation]})
            self.assertEqual(job["outcome"], "invalid", self.said)
            self.assertEqual(self.values(results, "wrong_blocks"), [blocks])
            self.assertEqual(self.store.objects, {})

    def test_a_busy_store_and_reset_connections_are_retried_and_counted(self):
        for method, fault, operation in (("PUT", 503, "put"), ("GET", 503, "get"), ("GET", "reset", "get"), ("DELETE", 500, "delete"),
                                         ("PUT", "reset", "put"), ("HEAD", 429, "head")):
            self.once(method, "/t1/", fault, times=3)
            job, results = self.run_probe(self.endpoint)
            self.assertEqual(job["outcome"], "ok", self.said)
            counted = self.values(results, "retries", operation=operation)
            # libcurl itself repeats a request whose kept connection was reset before it.
            self.assertTrue(counted == [3] or (fault == "reset" and 0 < counted[0] <= 3), (fault, counted))
            self.assertIn(f"throttled: {operation} of 64 KiB, 2 threads: {counted[0]:.0f} requests were repeated", self.said)

    def test_a_store_that_stays_busy_fails_the_job(self):
        self.once("PUT", "/t0/", 503, times=1000)
        reason = self.failed(self.endpoint)
        self.assertRegex(reason, r"PUT http://127\.0\.0\.1:\d+/bucket/benchctl-object-storage-\d+-rank-0/t0/00000000: "
                                 r"503 SlowDown: Please reduce your request rate\., after 5 repeats")

    def test_a_wrong_secret_a_wrong_region_and_no_bucket_are_named(self):
        self.assertIn("400 AuthorizationHeaderMalformed", self.failed(self.endpoint, {"region": "elsewhere"}))
        self.assertIn("404 NoSuchBucket: The specified bucket does not exist; create the bucket",
                      self.failed(self.endpoint, {"bucket": "nobody"}))
        self.keys["AWS_SECRET_ACCESS_KEY"] = SECRET[::-1]
        reason = self.failed(self.endpoint)
        self.assertIn("403 SignatureDoesNotMatch: The request signature we calculated does not match & <so> on.; check the keys", reason)
        self.keys["AWS_ACCESS_KEY_ID"] = KEY[::-1]
        self.assertIn("403 InvalidAccessKeyId: The AWS Access Key Id ... does not exist", self.failed(self.endpoint))
        for path in self.folder.rglob("*"):
            self.assertFalse(path.is_file() and KEY[::-1].encode() in path.read_bytes(), path)

    def test_short_bodies_and_ignored_ranges_fail_the_job_and_leave_nothing(self):
        for fault, operation, words in (("short", "get", "61440 bytes instead of 65536"), ("cut", "get", "the connection ended after 61440 of 65536"),
                                        ("no range", "range_get", "may ignore Range"), ("short", "range_get", "206 and 0 bytes instead of 206 and 4096")):
            self.once("GET", "/t1/", fault)
            self.assertIn(words, self.failed(self.endpoint, {"operations": [operation]}))
            self.assertEqual(self.store.objects, {})

    def test_a_list_that_lacks_an_object_fails_the_job(self):
        self.once("GET", "list-type", "lack")
        self.assertRegex(self.failed(self.endpoint), r"the list of \S+/t\d/ lacks \S+/t\d/0000000\d of 5 stored objects")

    def test_a_server_that_stalls_or_dies_ends_the_job(self):
        self.once("GET", "/t1/", "stall", times=1000)
        self.assertIn("look at its log, or increase stall_s", self.failed(self.endpoint, {"stall_s": 1}))
        self.once("GET", "/t1/", "die")
        died = threading.Event()

        def die(asked, target, number):
            if number > 8 and not died.is_set():
                died.set()
                self.server.socket.close()
            return "reset" if died.is_set() else None
        self.store.fault = die
        reason = self.failed(self.endpoint)
        self.assertIn("objects may be left below benchctl-object-storage-", reason)

    def test_nobody_at_the_endpoint_and_bad_endpoints_are_named(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            self.assertIn("check 'endpoint'", self.failed(f"http://127.0.0.1:{unused.getsockname()[1]}"))
        self.assertIn("set 'endpoint', or AWS_ENDPOINT_URL", self.failed(""))
        self.keys["AWS_ENDPOINT_URL"] = f"http://{KEY}:{SECRET}@127.0.0.1"
        self.assertIn("the endpoint with a user or password is no URL", self.failed(""))


OLD_LIBRARY = """
struct about { int age; const char *version; unsigned number; };
struct about *curl_version_info(int now) { static struct about old = {0, "7.60.0", 0x073c00}; (void)now; return &old; }
""" + "".join(f"void curl_{name}(void) {{}}\n" for name in (
    "global_init", "version", "easy_init", "easy_cleanup", "easy_reset", "easy_setopt", "easy_perform", "easy_getinfo", "easy_strerror",
    "slist_append", "slist_free_all", "multi_init", "multi_cleanup", "multi_setopt", "multi_add_handle", "multi_remove_handle", "multi_assign",
    "multi_socket_action", "multi_info_read", "multi_strerror"))


class Library(Case):
    """libcurl is opened at run time; where it is missing or old, the job is skipped."""

    def skipped(self):
        self.keys = {"LD_LIBRARY_PATH": str(self.folder / "lib")}
        job, _ = self.run_probe("http://127.0.0.1:1")
        self.assertEqual(job["outcome"], "skipped", self.said)
        return job["reason"]

    def setUp(self):
        super().setUp()
        (self.folder / "lib").mkdir()
        self.client = self.folder / "lib" / "libcurl.so.4"

    def test_a_rank_starts_without_it(self):
        linked = subprocess.run(["readelf", "-d", BENCHCTL.parent / "bench-rank"], capture_output=True, text=True, check=True).stdout
        self.assertIn("NEEDED", linked)
        self.assertNotIn("libcurl", linked)

    def test_a_library_that_cannot_be_loaded_is_named_with_its_package(self):
        self.client.write_text("no library\n" * 100)
        self.assertRegex(self.skipped(), r"cannot load libcurl: .*libcurl\.so\.4: .*; install the package libcurl4 \(dnf: libcurl\)")

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_an_old_or_incomplete_library_is_named(self):
        for without, words in ((None, "libcurl 7.60.0 is older than 7.61"), ("curl_easy_perform", "libcurl.so.4 has no curl_easy_perform")):
            source = OLD_LIBRARY.replace(f"void {without}(void) {{}}\n", "")
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", self.client, "-"], input=source, text=True, check=True)
            self.assertIn(words, self.skipped())


@unittest.skipUnless(OPENSSL, "there is no openssl to make a certificate")
class Encrypted(Case):
    def test_a_server_is_verified_by_the_given_certificates_only(self):
        made = self.folder / "made.pem"
        subprocess.run([OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", made, "-out", self.folder / "ca.pem"],
                       check=True, capture_output=True)
        made.write_bytes(made.read_bytes() + (self.folder / "ca.pem").read_bytes())
        with standing_in(str(made)) as server:
            port = server.server_address[1]
            ca_file = str(self.folder / "ca.pem")
            job, _ = self.run_probe(f"https://localhost:{port}", {"ca_file": ca_file})
            self.assertEqual(job["outcome"], "ok", self.said)
            self.assertIn("set 'ca_file' to the certificates", self.failed(f"https://localhost:{port}"))
            self.assertIn("set 'ca_file' to the certificates", self.failed(f"https://127.0.0.1:{port}", {"ca_file": ca_file}))
            self.assertIn("ca_file", self.failed(f"https://localhost:{port}", {"ca_file": "/no/such.pem"}))
            self.assertEqual(server.store.objects, {})


@unittest.skipUnless(MOTO, "there is no moto_server: pip install 'moto[server]'")
class Moto(Case):
    def setUp(self):
        super().setUp()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.endpoint = f"http://127.0.0.1:{port}"
        # What sets up the bucket and a user is not checked; every later request is, with the user's keys.
        environment = {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": "4"}
        server = subprocess.Popen([MOTO, "-H", "127.0.0.1", "-p", str(port)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for _ in range(300):
            with contextlib.suppress(OSError):
                self.ask("PUT", "/bucket")
                break
            time.sleep(0.1)
        else:
            self.fail("moto_server does not answer")
        self.ask_iam("CreateUser")
        everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
        self.ask_iam("PutUserPolicy", PolicyName="all", PolicyDocument=json.dumps(everything))
        made = self.ask_iam("CreateAccessKey")
        self.keys = {"AWS_ACCESS_KEY_ID": re.search("<AccessKeyId>(.*)</AccessKeyId>", made)[1],
                     "AWS_SECRET_ACCESS_KEY": re.search("<SecretAccessKey>(.*)</SecretAccessKey>", made)[1]}

        if not self.verifies_encoded_names():
            self.skipTest("this moto refuses encoded characters in signed requests, as 5.2.1 does, also those of boto3")

    def verifies_encoded_names(self):
        """Whether it takes a request that this test has signed."""
        target, time_now = "/bucket?list-type=2&prefix=a%2Fb", datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        headers = email.message.Message()
        for name, value in (("host", self.endpoint.removeprefix("http://")), ("x-amz-content-sha256", "UNSIGNED-PAYLOAD"), ("x-amz-date", time_now)):
            headers[name] = value
        scope = [time_now[:8], "us-east-1", "s3", "aws4_request"]
        signature = signature_of("GET", target, headers, sorted(headers), scope, self.keys["AWS_SECRET_ACCESS_KEY"])
        headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={self.keys['AWS_ACCESS_KEY_ID']}/{'/'.join(scope)}, "
                                    f"SignedHeaders={';'.join(sorted(set(headers) - {'Authorization'}))}, Signature={signature}")
        try:
            self.ask("GET", target, **dict(headers.items()))
            return True
        except urllib.error.HTTPError as refused:
            self.assertEqual(refused.code, 403)
            return False

    def ask(self, method, path, body=None, **headers):
        request = urllib.request.Request(self.endpoint + path, method=method, data=body, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read().decode()

    def ask_iam(self, action, **parameters):
        body = urllib.parse.urlencode({"Action": action, "Version": "2010-05-08", "UserName": "test", **parameters}).encode()
        scope = "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=x"
        return self.ask("POST", "/", body, Authorization=scope)

    def test_every_operation_works_with_another_implementation(self):
        job, results = self.run_probe(self.endpoint, {"region": "us-east-1", "prefix": "with (the)!*'".replace(" ", "_")})
        self.assertEqual(job["outcome"], "ok", self.said)
        for operation in OPERATIONS:
            self.assertEqual(len(self.values(results, "request_rate", operation=operation)), 1)

    def test_it_verifies_signatures(self):
        self.keys["AWS_SECRET_ACCESS_KEY"] = SECRET
        job, _ = self.run_probe(self.endpoint, {"region": "us-east-1"})
        self.assertIn("403 SignatureDoesNotMatch", job["reason"])


if __name__ == "__main__":
    unittest.main()
