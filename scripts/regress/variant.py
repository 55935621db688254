# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Builds a test program with changed RTL, beside a build folder that stays as it is.

The commands are those of the build folder (ninja -t commands): those that lead from the RTL to the program run again, with the paths of
what they read and write in a folder of their own.
"""

import os
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


class VariantError(Exception):
    """The changed RTL does not build; the message is the tool's."""


def commands(build, program):
    """All commands that make bin/<program>, in order."""
    result = subprocess.run(["ninja", "-C", str(build), "-t", "commands", f"bin/{program}"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        raise VariantError(f"ninja: {result.stdout.strip()}")
    return [line for line in result.stdout.splitlines() if not line.startswith("ninja:")]


def _outputs(command):
    """Files that a command writes, as it names them."""
    return re.findall(r"(?: -o | -MF | qc )(\S+)", command)


def _keeps(command, folder, work, model):
    """Whether a source that only includes models' headers sees no difference: ports are the same."""
    source = re.search(r" -c (\S+)", command)
    if not source or model.match(source[1]) or "SYSTOLE_MODEL_ROOT_HEADER" in command:
        return False
    for name in {match[1] for match in model.finditer(command)}:
        for header in (folder / "verilated" / name).glob("*.h"):
            if "__" not in header.name:
                other = work / "verilated" / name / header.name
                if not other.exists() or other.read_bytes() != header.read_bytes():
                    return False
    return True


def build(folder, program, work, models="[^/. ]+", flags="", done=None, hasty=False):
    """folder: of the build. work: a folder with the changed rtl/, and fpga/common if it is there, which gets the objects too. models:
    regular expression of the Verilated models that are made again, with these flags of Verilator too. done: a set of commands, for more
    than one program of the same folder: what is in it is not run again. hasty: the compiler's time counts more than the program's. Returns the program's
    path; VariantError if a command fails."""
    done = set() if done is None else done
    folder, work = pathlib.Path(folder).resolve(), pathlib.Path(work).resolve()
    model = re.compile(rf"{re.escape(str(folder))}/verilated/((?:{models})(?![^/. ]))")
    moved = {}
    for command in commands(folder, program):
        command = command.split(" && /usr/bin/cmake -E cmake_transform_depfile")[0]
        words = set(command.split())
        if not model.search(command) and not words & set(moved):
            continue
        if _keeps(command, folder, work, model):
            continue
        changed = model.sub(lambda m: f"{work}/verilated/{m[1]}", command)
        if "verilate.py" in command:
            for sources in ("rtl", "fpga/common"):
                if (work / sources).is_dir():
                    changed = re.sub(rf"{re.escape(str(ROOT / sources))}(?=[/ ])", str(work / sources), changed)
            changed = changed.replace(" -- --cc ", f" -- --cc {flags} ")
        for output in _outputs(command):
            moved[output] = str(work / "objects" / output)
            pathlib.Path(moved[output]).parent.mkdir(parents=True, exist_ok=True)
        if hasty and " -c " in changed and " -O0 " not in changed:
            # Waves are not looked at.
            changed = changed.replace(" -c ", " -O0 -c " if "_trace.cpp" in changed else " -O1 -c ", 1)
        changed = " ".join(moved.get(word, word) for word in changed.split(" "))
        if changed in done:
            continue
        # Files of the same text in two folders include different ones: the compiler cache takes them for the same.
        result = subprocess.run(changed, shell=True, cwd=folder, env={**os.environ, "CCACHE_DISABLE": "1"}, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode != 0:
            raise VariantError(f"{shlex.split(changed)[0]} ...: {result.stdout[-3000:]}")
        done.add(changed)
    if f"bin/{program}" not in moved:
        raise VariantError(f"no model of {program} matches {models}")
    return pathlib.Path(moved[f"bin/{program}"])
