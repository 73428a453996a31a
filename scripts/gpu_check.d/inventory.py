"""Which GPU and which libraries: without these no figure can be compared with another."""

import shutil
import subprocess

FIELDS = ("name", "uuid", "driver_version", "vbios_version", "memory.total", "ecc.mode.current", "mig.mode.current", "persistence_mode",
          "power.limit", "power.max_limit", "clocks.max.sm", "clocks.max.mem", "clocks.sm", "clocks.mem", "temperature.gpu", "power.draw",
          "clocks_event_reasons.active", "pcie.link.gen.current", "pcie.link.width.current")


def smi_rows(text, fields=FIELDS):
    """Rows of `nvidia-smi --query-gpu=... --format=csv,noheader,nounits`."""
    rows = [line.split(", ") for line in text.splitlines() if line.strip()]
    return [dict(zip(fields, row)) for row in rows if len(row) == len(fields)]


def said_by(command):
    """What the program printed; nothing if it failed or did not answer."""
    try:
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, timeout=30)
    except (subprocess.TimeoutExpired, OSError):
        return ""
    return said.stdout if said.returncode == 0 else ""


def version_of(program):
    """Of benchctl in the folder, with its commit."""
    return said_by([program / "benchctl", "--version"]).strip()


def gpus():
    """What nvidia-smi says of each GPU; empty without it."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    for fields in (FIELDS, FIELDS[:2]):  # older drivers do not know all of them
        rows = smi_rows(said_by([program, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]), fields)
        if rows:
            return rows
    return []
