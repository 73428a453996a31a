"""Every command of benchctl that the README and docs/ show is understood, and files they name are there.

    docs_commands_test.py BENCHCTL

Commands are taken from lines that begin with build/bin/benchctl, from sh blocks, and from code in the text. A `run` of a whole suite is
planned instead, with the same options, and so is an `accept`; of what cannot be planned or needs files (LOOKED_UP) the options are looked
up in its help: that it is understood is asked here, not what it measures.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
LINE = re.compile(r"^(?:    (?:build/bin/)?|build/bin/)benchctl (\S.*)$")
FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
IN_FENCE = re.compile(r"^benchctl (\S.*)$", re.MULTILINE)
IN_TEXT = re.compile(r"`(?:build/bin/)?benchctl ([a-z][^`]*)`")
SCRIPT = re.compile(r"\bscripts/([a-z_]+)(?![\w./])")
LOOKED_UP = {"train": 1, "report": 2, "compare": 1, "nightly": 1, "mlperf": 2, "verify": 1, "init": 1, "doctor": 1, "manual": 1, "export": 1, "profile": 2}  # and how many words name the command
OF_NIGHTLY = {"install", "pick", "prune"}
ONLY_OF_RUN = {"--label": 1, "--json": 0, "--localise": 0, "--localise-jobs": 1, "--localise-time": 1}


def commands():
    """(page, command words) of each command shown; placeholders in capitals are left out."""
    for page in PAGES:
        text = page.read_text()
        shown = [match[1] for line in text.splitlines() if (match := LINE.match(line))]
        fenced = [match[1] for block in FENCE.findall(text) for match in IN_FENCE.finditer(block)]
        for command in [*shown, *fenced, *IN_TEXT.findall(text)]:
            words = shlex.split(command.split("#")[0])
            if words and not any(re.fullmatch(r"[A-Z]+|\.\.\.|\[.*|<.*", word) for word in words):
                yield page.relative_to(ROOT), words


def planned(words):
    """`run` as `plan`, without the options that only run has."""
    kept, skip = ["plan"], 0
    for word in words[1:]:
        if skip:
            skip -= 1
        elif word in ONLY_OF_RUN:
            skip = ONLY_OF_RUN[word]
        else:
            kept.append(word)
    return kept


def unknown_options(words, help_text):
    options = {word for word in words if word.startswith("--")}
    return sorted(option for option in options if not re.search(re.escape(option) + r"\b", help_text))


def planned_acceptance(words, help_text):
    """`accept` as a plan of its level's suite; options that it does not know make no plan."""
    unknown = unknown_options(words, help_text)
    value = lambda name, otherwise: words[words.index(name) + 1] if name in words else otherwise
    return ["plan", f"accept-{value('--level', 'quick')}", "--hosts", value("--hosts", ""), *unknown]


def main():
    benchctl, wrong, tried = sys.argv[1], [], 0
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "BENCHCTL_DB": f"{folder}/results.sqlite"}

        def call(*words):
            return subprocess.run([benchctl, *words], env=environment, cwd=ROOT, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=60)

        call("run", "smoke", "--only", "topology")
        accept_help = call("accept", "--help").stdout
        for page, words in commands():
            tried += 1
            if words[0] == "accept" and len(words) > 1:
                words = planned_acceptance(words, accept_help)
            if words[0] in LOOKED_UP and len(words) > 1:
                command = words[:LOOKED_UP[words[0]] + (words[0] == "nightly" and words[1] in OF_NIGHTLY)]
                words = [*command, *(unknown_options(words, call(*command, "--help").stdout) or ["--help"])]
            done = call(*(planned(words) if words[0] == "run" and len(words) > 1 else words + ["--help"] * (len(words) == 1)))
            if done.returncode != 0:
                wrong.append(f"{page}: benchctl {' '.join(words)}: exit code {done.returncode}: {done.stderr.strip()[:300]}")
    for page in PAGES:
        for name in set(SCRIPT.findall(page.read_text())):
            if not (ROOT / "scripts" / name).exists():
                wrong.append(f"{page.relative_to(ROOT)}: there is no scripts/{name}")
    print("\n".join(wrong) if wrong else f"{tried} commands")
    sys.exit(1 if wrong or tried < 8 else 0)


if __name__ == "__main__":
    main()
