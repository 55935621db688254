# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Bounded proofs of the HBM controller at a reduced geometry: it keeps every rule of a reduced timing table, and it serves requests.

The controller (rtl/hbm/systole_hbm_ctrl.sv and all modules below it) is read with a package of 2 x 2 banks of 2 rows of 2 columns, inside
verif/formal/systole_hbm_ctrl_props.sv. Its requests are free inputs. yosys-abc checks every sequence of requests from reset, up to a
number of cycles. A mutant replaces a piece of the controller. It must break a property within the same number of cycles: a proof that a
mutant passes proves nothing.
"""

import argparse
import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import cache  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = ROOT / ".venv" / "bin" / "python"
TOP = "systole_hbm_ctrl_props"
SOURCES = ["prim/systole_prim_ram_async", "cells/systole_skid", "hbm/systole_hbm_wait", "hbm/systole_hbm_pick", "hbm/systole_hbm_queue",
           "hbm/systole_hbm_banks", "hbm/systole_hbm_refresh", "hbm/systole_hbm_ctrl"]
GEOMETRY = {"BankGroups": 2, "BanksPerGroup": 2, "BankBits": 2, "BgBits": 1, "RowBits": 1, "ColBits": 1, "HbmRefreshPostpone": 1}
PROPERTIES = ("close", "state", "bus", "stuck")
# A proof: parameters of the module of properties, the refresher's Patience, cycles from reset.
# rules: refreshes from the start, as they would otherwise wait hundreds of cycles for a stream to leave a bank;
#   no shared buses, as their slots delay commands and hide violations of times.
# buses: the bus slots of two controllers that share buses.
# service: bus slots, no refreshes of single banks, and the shortest times that the controller accepts, so that the cycles
#   reach beyond its bound.
PROOFS = {"rules": ({"Serve": 0, "Shared": 0}, 0, 28), "buses": ({"Serve": 0, "Shared": 1}, 0, 28),
          "service": ({"Serve": 1, "Shared": 1, "Patience": 28}, 8, 49)}
PATIENCE = "localparam int signed Patience = 2 * int'(Banks);"
MUTANTS = [  # file, text that occurs once in it, replacement, the proof that must fail
    ("hbm_wait", "Cycles > 3 ? Cycles - 3 : 0", "Cycles > 4 ? Cycles - 4 : 0", "rules"),
    ("hbm_queue", "if (!pending_q[dir_q] && pending_q[!dir_q]) dir_q", "if (pending_q == 2'b11) dir_q", "service"),
    ("hbm_banks", "assign act_ok_o = (faw & window_q) != '0;", "assign act_ok_o = 1'b1;", "rules"),
    ("hbm_ctrl", "some & ~open & ~want_ref & new_ok", "some & ~open & new_ok", "rules"),
    ("hbm_wait", "borrow &= ~left_q[k];", "borrow &= left_q[k];", "rules"),
    ("hbm_banks", "assign new_ok_o = rp & each(rrd_l);", "assign new_ok_o = rp;", "rules"),
    ("hbm_banks", "assign any_ok_o = rrd_s && refd;", "assign any_ok_o = rrd_s;", "rules"),
    ("hbm_banks", "rcdrd & each(rd_l & wtr_l)", "rcdrd & each(rd_l)", "rules"),
    ("hbm_banks", "ras & rtp & wtp", "ras & rtp", "rules"),
    ("hbm_ctrl", "col_d & ~shuts", "col_d", "rules"),
    ("hbm_ctrl", "any_ok && !act_q && !refsb_q", "any_ok", "rules"),
    ("hbm_ctrl", "    if (col_q) col_d &= ~group_of_bank(col_one_q);\n", "", "rules"),
    ("hbm_ctrl", "if (!run || !col_slot_i) col_d", "if (!run) col_d", "buses"),
    ("hbm_ctrl", "new_go && act_slot_i && act_ok", "new_go && act_ok", "buses"),
    ("hbm_ctrl", "if (!run || !row_slot_i) row_d", "if (!run) row_d", "buses"),
    ("hbm_ctrl", "act_q || (refsb_q && kind_q != KindPre)", "(act_q || refsb_q) && kind_q != KindPre", "rules"),
    ("hbm_ctrl", "new_go && !act_last_q", "new_go", "rules"),
    ("hbm_ctrl", "new_ok & new_ok_q & {Banks{any_ok_q}}", "new_ok", "rules"),
    ("hbm_ctrl", ".slot_i(row_slot_q[1])", ".slot_i(row_slot_q[0])", "buses"),
    ("hbm_refresh", "Timing.trfcsb - 16'd4", "Timing.trfcsb - 16'd5", "rules"),
]


def shrunken_package(geometry):
    text = (ROOT / "rtl/gen/systole_hbm_pkg.sv").read_text()
    for name, value in geometry.items():
        text, count = re.subn(rf"(localparam int unsigned {name} = )\d+;", rf"\g<1>{value};", text)
        if count != 1:
            raise ValueError(f"systole_hbm_pkg.sv has no {name}")
    # The address map fits the real geometry only, and nothing here uses it.
    return re.sub(r"  // Address map.*?// What happened", "  // What happened", text, flags=re.S)


def write_sources(folder, mutant, patience):
    """Writes the controller's files, with the mutant. Returns their names in reading order."""
    folder.mkdir(parents=True)
    (folder / "pkg.sv").write_text(shrunken_package(GEOMETRY))
    files = ["pkg.sv"]
    for source in SOURCES:
        text = (ROOT / "rtl" / f"{source}.sv").read_text()
        if source.endswith("refresh"):
            if text.count(PATIENCE) != 1:
                raise ValueError(f"{source}: no {PATIENCE!r}")
            text = text.replace(PATIENCE, f"localparam int signed Patience = {patience};")
        if mutant and source.endswith("systole_" + mutant[0]):
            if text.count(mutant[1]) != 1:
                raise ValueError(f"{source}: a mutant wants exactly one {mutant[1]!r}")
            text = text.replace(mutant[1], mutant[2])
        files.append(pathlib.Path(source).name + ".sv")
        (folder / files[-1]).write_text(text)
    shutil.copy(HERE / f"{TOP}.sv", folder)
    return [*files, f"{TOP}.sv"]


def read(folder, files, top, parameters):
    """Writes the design as an and-inverter graph with one output per property."""
    options = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    passes = [f"read_slang --threads 1 --ignore-assertions --top {top} {options} {' '.join(files)}", f"hierarchy -top {top}", "proc", "flatten",
              "opt", "memory -nomap", "memory_map", "opt -full", "async2sync", "techmap", "opt", "setundef -undriven -zero", "dffunmap", "aigmap",
              "write_aiger -zinit -symbols model.aig"]
    script = "import sys; from pyosys import libyosys as ys; d = ys.Design(); [ys.run_pass(c, d) for c in sys.argv[1:]]"
    result = subprocess.run([str(PYTHON), "-c", script, *passes], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    (folder / "read.log").write_text(result.stdout)
    if result.returncode != 0 or not (folder / "model.aig").exists():
        raise ValueError(f"reading failed, see {folder / 'read.log'}")


def failing(folder, cycles, limit, properties):
    """Returns (cycles checked, the failing property or None)."""
    commands = f"read_aiger model.aig; strash; scorr; bmc3 -F {cycles} -T {limit}"
    result = subprocess.run(["yosys-abc", "-c", commands], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    (folder / "abc.log").write_text(result.stdout)
    found = re.search(r"Output (\d+) of miter .* was asserted in frame (\d+)", result.stdout)
    if found:
        return int(found[2]), properties[int(found[1])]
    done = re.search(r"No output asserted in (\d+) frames", result.stdout)
    if not done:
        raise ValueError(f"yosys-abc failed, see {folder / 'abc.log'}")
    return int(done[1]), None


def prove(folder, mutant, proof, cycles, limit):
    """Returns (cycles checked, the failing property or None), from the cache if possible."""
    parameters, patience, _ = PROOFS[proof]
    files = write_sources(folder, mutant, patience)
    kept = cache.Entry("formal_hbm", cache.version("yosys-abc", "-q", "version"), importlib.metadata.version("pyosys"),
                       pathlib.Path(__file__).read_bytes(), sorted(parameters.items()), cycles, *((folder / file).read_bytes() for file in files))
    if not kept.restore(folder):
        read(folder, files, TOP, parameters)
        frames, broken = failing(folder, cycles, limit, PROPERTIES)
        (folder / "verdict").write_text(f"{frames} {broken or ''}")
        if broken if mutant else frames >= cycles:  # other results may be due to a timeout
            kept.store(folder, ["verdict"])
    frames, broken = (folder / "verdict").read_text().split(" ")
    return int(frames), broken or None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--limit", type=int, default=900, help="seconds of a proof")
    parser.add_argument("--shorter", type=int, default=0, help="so many cycles less than the proofs say: the last ones take longest")
    parser.add_argument("--mutants", type=int, help="only so many, the first ones")
    args = parser.parse_args()

    work = args.build.resolve() / "formal_hbm"
    shutil.rmtree(work, ignore_errors=True)
    start = time.monotonic()
    mutants = MUTANTS[:args.mutants]
    tasks = [(None, name) for name in PROOFS] + [(mutant, mutant[3]) for mutant in mutants]
    failures = 0
    for number, (mutant, proof) in enumerate(tasks):
        cycles = PROOFS[proof][2] - args.shorter
        try:
            frames, broken = prove(work / str(number), mutant, proof, cycles, args.limit)
        except ValueError as error:
            print(f"hbm: {error}", file=sys.stderr)
            return 1
        if mutant:
            good = broken is not None
            name = f"{proof}, mutant {mutant[0]}: {mutant[1].strip()} -> {mutant[2].strip()}"
            text = f"{broken} fails in cycle {frames}" if broken else f"NOT CAUGHT in {frames} cycles"
        else:
            good = broken is None and frames >= cycles
            name = f"{proof}, 2 x 2 banks"
            text = f"{broken} fails in cycle {frames}" if broken else f"holds for {frames} cycles of every traffic"
        failures += not good
        print(f"{'ok  ' if good else 'FAIL'} {name}: {text} ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"hbm: {len(PROOFS)} proofs, {len(mutants)} mutants, {failures} failures, {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
