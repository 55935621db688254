# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Runs one test program and says what came of it."""

import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT_OUTPUT = 200_000  # characters of a failing program, from the front and from the end


_live = set()  # processes that run
_ended = threading.Event()


class Ended(Exception):
    """end_all was called: what the program did means nothing."""


def end_all():
    """Ends all programs that run, and those to come."""
    _ended.set()
    for process in list(_live):
        _kill(process)


@dataclasses.dataclass
class Case:
    """The case that ran last, as tests/testing/seeds.h writes it."""

    seed: int | None = None
    size: float = 0
    choices: list = dataclasses.field(default_factory=list)  # [value, below]
    spans: list = dataclasses.field(default_factory=list)    # [first, behind the last]
    text: str = ""


def read_case(path):
    case = Case()
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return case
    for line in lines:
        key, _, rest = line.partition(" ")
        if key == "seed":
            case.seed = int(rest)
        elif key == "size":
            case.size = float(rest)
        elif key == "choices":
            case.choices = [[int(number) for number in word.split("/")] for word in rest.split()]
        elif key == "spans":
            case.spans = [[int(number) for number in word.split("-")] for word in rest.split()]
        elif key == "text":
            case.text = rest
    return case


def command_of(build, suite, seed=None, cases=None, tests=None, extra=()):
    """The words of a call. Seeds go by options, so that the command is complete by itself."""
    words = [str(pathlib.Path(build) / "bin" / suite.program), *suite.args, *extra]
    tests = suite.tests if tests is None else tests
    if tests != "*":
        words.append(f"--gtest_filter={tests}")
    if seed is not None:
        words.append(f"--seed={seed}")
    if cases:
        words.append(f"--cases={cases}")
    return words


def shell(words, environment=None):
    """A line that a shell takes."""
    front = ["env", *(f"{key}={value}" for key, value in environment.items())] if environment else []
    return " ".join(shlex.quote(str(word)) for word in [*front, *words])


@dataclasses.dataclass
class Outcome:
    """status: pass, fail (exit code), crash (signal), timeout, lost (the program is not there)."""

    status: str
    seconds: float
    output: str
    case: Case
    cores: list  # {preset, checked, cycles, hits} of verif/coverage
    version: str = ""


def run(words, timeout, choices=None, keep=None, variables=None):
    """Runs a command in the project's folder. choices: decisions of the case that take the place of random ones. keep: folder for
    coverage data of Verilator. variables: more of the environment."""
    with tempfile.TemporaryDirectory(prefix="systole_regress_") as name:
        scratch = pathlib.Path(name)
        environment = {**os.environ, "SYSTOLE_CASE_FILE": str(scratch / "case"), "SYSTOLE_COVERAGE_DIR": str(scratch), **(variables or {})}
        for variable in ("SYSTOLE_SEED", "SYSTOLE_CASES", "SYSTOLE_CHOICES"):
            environment.pop(variable, None)
        if choices is not None:
            (scratch / "choices").write_text(" ".join(map(str, choices)) + "\n")
            environment["SYSTOLE_CHOICES"] = str(scratch / "choices")
        begin = time.monotonic()
        with open(scratch / "output", "wb") as output:
            try:
                process = subprocess.Popen(words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                           stderr=subprocess.STDOUT, start_new_session=True)
            except OSError as error:
                return Outcome("lost", 0, f"{words[0]}: {error.strerror}", Case(), [])
            _live.add(process)
            if _ended.is_set():
                _kill(process)
            try:
                code = process.wait(timeout)
                status = "pass" if code == 0 else "fail" if code > 0 else "crash"
            except subprocess.TimeoutExpired:
                status = "timeout"
                _kill(process)
            except BaseException:
                _kill(process)
                raise
            finally:
                _live.discard(process)
            if _ended.is_set():
                raise Ended
        seconds = time.monotonic() - begin
        text = (scratch / "output").read_text(errors="replace")
        if len(text) > 2 * KEPT_OUTPUT:
            text = f"{text[:KEPT_OUTPUT]}\n... {len(text) - 2 * KEPT_OUTPUT} characters left out ...\n{text[-KEPT_OUTPUT:]}"
        if status == "crash":
            text += f"\nended by signal {-code} ({signal.Signals(-code).name})\n"
        cores, version = [], ""
        for path in sorted(scratch.glob("functional.*.json")):
            data = json.loads(path.read_text())
            cores += data["cores"]
            version = data["version"]
        if keep is not None:
            for path in scratch.glob("*.dat"):
                keep.mkdir(parents=True, exist_ok=True)
                shutil.move(path, keep / f"{scratch.name}.{path.name}")
        return Outcome(status, seconds, text, read_case(scratch / "case"), cores, version)


def _kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)  # the program and what it started, in a session of their own
    except ProcessLookupError:
        pass
    process.wait()
