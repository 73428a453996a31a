"""Reads MLPerf logs with our reader and with Python's own json, as the official checker does, and compares every line.

usage: log_peer_test.py MLPERF_LOG_ECHO DAMAGED [ARCHIVE EVERY]
DAMAGED: number of damaged lines; EVERY: check only every n-th log of the archive (mlcommons/training_results_v5.1), if present
"""

import io
import json
import pathlib
import random
import re
import subprocess
import sys
import tarfile

TOKEN = ":::MLLOG "
LEFT_OUT = "tracked_stats"  # only errors are reported for these lines
VALUES = ["null", "true", "false", "0", "-0", "1", "-1.5", "3.3e0", "1e16", "1E-5", "1e400", "NaN", "Infinity", "-Infinity", "-NaN", "01", "1.", ".5",
          "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" + "0" * 400, '""', '"success"', '"a\\u0416\\ud83d\\ude00"', '"\\n\\t\\\\"',
          '"\\x"', '"\\u12"', "'a'", "[]", "[1, 2.0, [true]]", "[1,]", "{}", '{"a": 1, "b": {"a": NaN}}', '{"a": 1, "a": 2}', '{"a" 1}', "0x1", "\"\xe9\xff\"",
          "12345678.9012345678", "0.1", "1e-7", "123456789012345680.0", "5e-324", "2.2250738585072011e-308", '"1.2.3"', '"1_000"', '" 7.5\\t"', '"inf"', '"1__0"',
          "7" * 4300, "\"it's\"", "\"it's \\\"b\\\"\"", "\x00", "\ufeff".encode().decode("latin-1")]
if hasattr(sys, "get_int_max_str_digits"):  # Python 3.11 and security releases of older ones
    VALUES.append("7" * 4301)
KEYS = ['"run_start"', '"eval_accuracy"', '"tracked_stats"', '"submission_org"', '"\\u0061"', "7", "null", '["a"]', '""']
NAMES = ["namespace", "time_ms", "event_type", "key", "value", "metadata"]


def line_of(rng):
    fields = [(name, rng.choice(KEYS) if name == "key" else str(rng.randrange(10**13)) if name == "time_ms" and rng.random() < 0.8
               else rng.choice(VALUES)) for name in NAMES if rng.random() > 0.02]
    if rng.random() < 0.1:
        fields.append(rng.choice([(name, rng.choice(KEYS + VALUES)) for name in NAMES]))
    if rng.random() < 0.1:
        rng.shuffle(fields)
    comma, colon = rng.choice([(", ", ": "), (",", ":"), (" ,\t", " : ")])
    text = "{" + comma.join(f'"{name}"{colon}{value}' for name, value in fields) + "}"
    if rng.random() < 0.03:
        text = rng.choice(VALUES)
    if rng.random() < 0.3 and text:
        at = rng.randrange(len(text))
        text = rng.choice([text[:at], text[:at] + text[at + 1:], text[:at] + rng.choice('{}[],:"\\0-.eENI \t\r\x0b\x1c\xe9') + text[at:]])
    text = re.sub(r"(?i)\\u00[89a-f]", r"\\u041", text)  # in_bytes cannot tell these from a byte
    before = rng.choice(["", "", " 0: ", "NCCL \xe9 [", TOKEN, TOKEN + "{", ":::MLLOG", "1%\r"])
    after = rng.choice(["", "", "", " ", "\x1f", "\xa0\x85", " x", "}", "\t"])
    return before + rng.choice([TOKEN] * 20 + [":::MLLOG"]) + rng.choice(["", "", "", " ", "\t", "\xa0"]) + text + after + rng.choice(["\n", "\n", "\r\n", "\r"])


def expected(content):
    """The result of the official checker's reader for each line with the token."""
    reported, index = [], 0
    for line in io.TextIOWrapper(io.BytesIO(content), encoding="latin-1"):
        if TOKEN not in line:
            continue
        body = (TOKEN + line[line.rindex(TOKEN) + len(TOKEN):]).strip()
        try:
            fields = json.loads(body[len(TOKEN):]) if body.startswith(TOKEN) else None
            if fields is None:
                raise ValueError("nothing")
            row = [float(fields["time_ms"]), fields["key"], fields["value"], fields["metadata"]]
            if isinstance(row[1], str) and row[1] != LEFT_OUT:
                reported.append("\t".join([str(index)] + [repr(part) for part in row]))
        except ValueError:
            reported.append(f"{index}\tparse_error")
        except (KeyError, TypeError, OverflowError, RecursionError):
            reported.append(f"{index}\tcrash")
        index += 1
    return reported


def in_bytes(text):
    """Our reader keeps Latin-1 bytes and writes \\u escapes as UTF-8, lone surrogates too."""
    text = re.sub(r"(?<!\\)\\u(d[89a-f][0-9a-f]{2})", lambda match: chr(int(match.group(1), 16)), text)
    return b"".join(c.encode("latin-1") if ord(c) < 256 else c.encode(errors="surrogatepass") for c in text)


def logs(archive, every):
    with tarfile.open(archive) as files:
        results = (member for member in files if re.search(r"/result_\d+\.txt$", member.name))
        for number, member in enumerate(results):
            if number % every == 0:
                yield member.name, files.extractfile(member).read()


def compare(echo, name, content):
    answer = subprocess.run([echo], input=content, capture_output=True, check=True).stdout
    ours, wanted = answer.split(b"\n")[:-1], [in_bytes(line) for line in expected(content)]
    unequal = [(a, b) for a, b in zip(ours, wanted) if a != b]
    for ours_is, python_is in unequal[:3]:
        print(f"{name}:\n  ours:   {ours_is[:300]}\n  python: {python_is[:300]}")
    if len(ours) != len(wanted):
        print(f"{name}: {len(wanted)} lines, but ours are {len(ours)}")
    return len(wanted), len(unequal) + abs(len(ours) - len(wanted))


def main():
    echo, damaged = sys.argv[1], int(sys.argv[2])
    rng = random.Random(8)
    contents = [("damaged lines", "".join(line_of(rng) for _ in range(damaged)).encode("latin-1"))]
    if len(sys.argv) > 4 and pathlib.Path(sys.argv[3]).is_file():
        contents += logs(sys.argv[3], int(sys.argv[4]))
    counts = [compare(echo, name, content) for name, content in contents]
    lines, unequal = (sum(each) for each in zip(*counts))
    print(f"{len(contents)} logs, {lines} lines, {unequal} differences")
    sys.exit(1 if unequal or lines == 0 else 0)


main()
