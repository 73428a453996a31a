"""Which GPU and which libraries: without these no figure can be compared with another."""

import shutil
import subprocess

FIELDS = ("name", "uuid", "driver_version", "vbios_version", "memory.total", "ecc.mode.current", "mig.mode.current", "persistence_mode",
          "power.limit", "power.max_limit", "clocks.max.sm", "clocks.max.mem", "clocks.sm", "clocks.mem", "temperature.gpu", "power.draw",
          "clocks_event_reasons.active", "pcie.link.gen.current", "pcie.link.width.current")


def smi_rows(text):
    """Rows of `nvidia-smi --query-gpu=... --format=csv,noheader,nounits`."""
    rows = [line.split(", ") for line in text.splitlines() if line.strip()]
    return [dict(zip(FIELDS, row)) for row in rows if len(row) == len(FIELDS)]


def version_of(program):
    """Of benchctl in the folder, with its commit."""
    said = subprocess.run([program / "benchctl", "--version"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=30)
    return said.stdout.strip()


def gpus():
    """What nvidia-smi says of each GPU; empty without it."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    said = subprocess.run([program, f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, timeout=30)
    return smi_rows(said.stdout) if said.returncode == 0 else []
