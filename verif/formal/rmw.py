# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Proofs of the HBM controller's list of partial writes (rtl/hbm/systole_hbm_rmw.sv): for all time with 2 entries, bounded with 4.

The list is read with two beats of one byte inside verif/formal/systole_hbm_rmw_props.sv. Writes, responses and stalls are free inputs. With
2 entries, yosys-abc proves by induction (pdr) that no property ever fails. With 4 entries, which are reused in more orders, it checks every
sequence from reset up to a number of cycles. Each mutant must break a property in a bounded check: a proof that a mutant passes proves
nothing.
"""

import argparse
import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys
import time

import hbm
from hbm import HERE, ROOT, cache

TOP = "systole_hbm_rmw_props"
SOURCES = ["prim/systole_prim_ram_async", "cells/systole_fifo", "prim/systole_prim_clock_gate", "cells/systole_idle_clock", "hbm/systole_hbm_rmw"]
GEOMETRY = {"BeatBits": 1}
PROPERTIES = ("order", "bytes", "early", "lost", "turn", "stuck")
# Shorter times, so that the proof reaches the end of each wait.
SHORTER = [("localparam int unsigned PatienceBits = 10;", "localparam int unsigned PatienceBits = 2;"),
           ("localparam int unsigned Rest = 32;", "localparam int unsigned Rest = 4;")]
PROOFS = {"writes": {"Serve": 0}, "service": {"Serve": 1}}
INDUCTIVE, BOUNDED = 2, 4  # entries
CYCLES = 11  # of the bounded check
MUTANT_CYCLES = 24
MUTANTS = [  # text that occurs once in the list, replacement, the proof that must fail
    # The age of an entry does not wrap, so two writes of one beat can overtake each other.
    ("age   = ptr_t'(i) - out_q;\n      clash |= {1'b0, age} <", "age   = '0;\n      clash |= count_t'(i) - count_t'(out_q) <", "writes"),
    ("assign wr_beat_o  = beat_q[out_q];", "assign wr_beat_o  = beat_q[read_q];", "writes"),
    ("assign gone       = (wr_valid_o && wr_ready_i)", "assign gone       = wr_valid_o", "writes"),
    ("else if (!busy_o && (quiet_i || rest_q == '1)) closed_q", "else if (!busy_o) closed_q", "writes"),
    (" && beat_q[i] == beat_q[read_q];", " && 1'b0;", "writes"),
    ("assign busy_o    = count_q != '0;", "assign busy_o    = count_q > count_t'(1);", "writes"),
    ("assign wr_mask_o  = partial_q[out_q] ? '1 : kept_mask;", "assign wr_mask_o  = kept_mask;", "writes"),
    (".ready_i(gone && partial_q[out_q]), .data_o({bad, old_data})", ".ready_i(gone), .data_o({bad, old_data})", "writes"),
    ("state_q == StIdle && !closed_q && count_q", "state_q == StIdle && count_q", "writes"),
    (".valid_i(rsp_valid_i && state_q != StWait)", ".valid_i(rsp_valid_i)", "writes"),
    ("(partial_q[out_q] ? old_valid && !bad : 1'b1)", "(partial_q[out_q] ? old_valid : 1'b1)", "writes"),
    ("kept_mask[i] || !partial_q[out_q] ? kept_data", "kept_mask[i] && !partial_q[out_q] ? kept_data", "writes"),
    (" || (count_q != unread_q && partial_q[out_q] && old_valid && bad);", ";", "service"),
    ("assign skip       = unread_q != '0 && !partial_q[read_q];", "assign skip       = 1'b0;", "service"),
    ("{1'b0, age} < count_q - unread_q", "{1'b0, age} < count_q", "service"),
]


def write_sources(folder, mutant):
    folder.mkdir(parents=True)
    (folder / "pkg.sv").write_text(hbm.shrunken_package(GEOMETRY))
    files = ["pkg.sv"]
    for source in SOURCES:
        text = (ROOT / "rtl" / f"{source}.sv").read_text()
        if source.endswith("rmw"):
            for old, new in [*SHORTER, *([mutant[:2]] if mutant else [])]:
                if text.count(old) != 1:
                    raise ValueError(f"{source}: no single {old!r}")
                text = text.replace(old, new)
        files.append(pathlib.Path(source).name + ".sv")
        (folder / files[-1]).write_text(text)
    shutil.copy(HERE / f"{TOP}.sv", folder)
    return [*files, f"{TOP}.sv"]


def proved(folder, limit):
    """Returns None if no property can ever fail, otherwise a description of the result."""
    commands = f"read_aiger model.aig; strash; orpos; scorr; dc2; pdr -T {limit}"
    result = subprocess.run(["yosys-abc", "-c", commands], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    (folder / "abc.log").write_text(result.stdout)
    if "Property proved" in result.stdout or "Networks are equivalent" in result.stdout:
        return None
    failed = re.search(r"was asserted in frame (\d+)", result.stdout)
    return f"fails in cycle {failed[1]}" if failed else f"not proved, see {folder / 'abc.log'}"


def run(folder, depth, mutant, proof, limit):
    """Returns (as expected, message), from the cache if possible."""
    bounded = mutant or depth != INDUCTIVE
    cycles = MUTANT_CYCLES if mutant else CYCLES
    files = write_sources(folder, mutant)
    parameters = {"Depth": depth, **PROOFS[proof]}
    kept = cache.Entry("formal_rmw", cache.version("yosys-abc", "-q", "version"), importlib.metadata.version("pyosys"),
                       pathlib.Path(__file__).read_bytes(), sorted(parameters.items()), *((folder / file).read_bytes() for file in files))
    if kept.restore(folder):
        return True, (folder / "verdict").read_text()
    hbm.read(folder, files, TOP, parameters)
    if bounded:
        frames, broken = hbm.failing(folder, cycles, limit, PROPERTIES)
        good = broken is not None if mutant else broken is None and frames >= cycles
        text = f"{broken} fails in cycle {frames}" if broken else f"{'NOT CAUGHT' if mutant else 'holds'} for {frames} cycles of all traffic"
    else:
        problem = proved(folder, limit)
        good, text = problem is None, problem or "holds for ever, of all traffic"
    if good:
        (folder / "verdict").write_text(text)
        kept.store(folder, ["verdict"])
    return good, text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--limit", type=int, default=600, help="seconds of a proof")
    parser.add_argument("--mutants", type=int, help="only so many, the first ones")
    args = parser.parse_args()

    work = args.build.resolve() / "formal_rmw"
    shutil.rmtree(work, ignore_errors=True)
    start = time.monotonic()
    mutants = MUTANTS[:args.mutants]
    tasks = [(INDUCTIVE, None, "writes"), (INDUCTIVE, None, "service"), (BOUNDED, None, "writes")]
    tasks += [(BOUNDED if mutant[2] == "writes" else INDUCTIVE, mutant, mutant[2]) for mutant in mutants]
    failures = 0
    for number, (depth, mutant, proof) in enumerate(tasks):
        try:
            good, text = run(work / str(number), depth, mutant, proof, args.limit)
        except ValueError as error:
            print(f"rmw: {error}", file=sys.stderr)
            return 1
        failures += not good
        name = f"{proof}, {depth} places" + (f", mutant: {' '.join(mutant[0].split())} -> {' '.join(mutant[1].split())}" if mutant else "")
        print(f"{'ok  ' if good else 'FAIL'} {name}: {text} ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"rmw: {len(tasks) - len(mutants)} proofs, {len(mutants)} mutants, {failures} failures, {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
