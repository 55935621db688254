# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Proofs of the links between chips (rtl/link) at small sizes: numbers, credits and packets of a few bits.

Each unit is read with a package of smaller fields inside verif/formal/systole_link_<unit>_props.sv; all other inputs are free. yosys-abc
proves the properties for all time by induction (pdr), or checks every sequence from reset up to a number of cycles (bmc3). Each mutant
must break a property in a bounded check: a proof that a mutant passes proves nothing.
"""

import argparse
import copy
import dataclasses
import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys
import time

import hbm
from hbm import HERE, ROOT, cache

from gen import common  # noqa: E402
from gen import link as link_package  # noqa: E402

QUICK = 25  # cycles of a bounded proof with --quick
QUICK_BUFFER = 12
RAM = "prim/systole_prim_ram_1r1w"
SMALLER = {"head": {"seq": 3}, "control": {"ack": 3, "nack": 2, "seen": 2, "limit0": 5, "limit1": 5}}


@dataclasses.dataclass
class Proof:
    """A unit with its sources and the parameters of its properties. cycles: length of a bounded proof; 0: a proof for all time."""

    unit: str
    sources: tuple
    properties: tuple
    parameters: dict
    cycles: int
    mutants: tuple  # file, text that occurs once in it, replacement
    mutant_cycles: int = 30
    stubs: tuple = ()  # modules of verif/formal that replace modules of the RTL


def lanes(use, mutants=()):
    return Proof("lanes", ("link/systole_link_lanes_tx", "link/systole_link_lanes_rx"), ("bytes", "more", "stuck"), {"Use": use},
                 60, mutants, 30)


# For the proof of the link, stubs replace its lanes, training and CRC: flits arrive, are lost, or are marked as
# corrupt.
STUBS = tuple(f"link_stubs/systole_link_{name}" for name in ("crc", "lanes_tx", "lanes_rx", "train"))
LINK = (RAM, *(f"link/systole_link_{name}" for name in ("buffer", "replay", "tx", "rx")), "link/systole_link")
LINK_MUTANTS = (
    ("rx", "assign next_one = seq2_q == ack_q;", "assign next_one = 1'b1;"),
    ("rx", "right &= crc_q[s] == CrcResidue;", "right &= 1'b1;"),
    ("replay", "apply ? ack_ptr : free_q;", "(apply ? ack_ptr : free_q) + ptr_t'(!hold_i);"),
)
# Shorter times and fewer numbers, so that the proof reaches the end of each wait.
SHORTER = [("parameter int unsigned Window = 32,", "parameter int unsigned Window = 4,"),
           ("parameter int unsigned KeepAlive = 128", "parameter int unsigned KeepAlive = 3")]

PROOFS = [
    Proof("arbiter", ("link/systole_link_arbiter",), ("right", "late"), {"N": 5}, 0,
          (("arbiter", "request_i & after_q", "request_i"), ("arbiter", "~(one | (one - 1'b1))", "~one"))),
    Proof("arbiter", ("link/systole_link_arbiter",), ("right", "late"), {"N": 9}, 0, ()),
    Proof("buffer", (RAM, "link/systole_link_buffer"), ("credit", "full", "data", "lost"), {}, 0,
          (("buffer", "limit_q <= limit_q + 1'b1;", "if (read_q != '0) limit_q <= limit_q + 1'b1;"),
           ("buffer", "limit_q  <= CreditBits'(Depth);", "limit_q  <= CreditBits'(Depth + 2);"),
           ("buffer", "place = first_i ? commit_q : write_q", "place = write_q"),
           ("buffer", "last_i && commit_i) commit_q", "last_i) commit_q"),
           ("buffer", "commit_q != read_q && (!valid_q", "write_q != read_q && (!valid_q"),
           ("buffer", "we_i(push_i && !over)", "we_i(push_i && !full)"))),
    Proof("replay", (RAM, "link/systole_link_replay"), ("number", "order", "whole", "alias"), {"Depth": 4}, 16,
          (("replay", "apply ? ack_ptr : free_q;", "(apply ? ack_ptr : free_q) + ptr_t'(!hold_i);"),
           ("replay", "!overtakes || between || hold_i", "1'b1"),
           ("replay", "ptr_t'(Depth - MaxFlits) &&", "ptr_t'(Depth) &&"),
           ("replay", "assign between   = take ? last : !middle_q;", "assign between   = 1'b1;"),
           ("replay", ".waddr_i(next_seq[SlotBits-1:0])", ".waddr_i(write_seq_q[SlotBits-1:0])")), 16),
    Proof("replay", (RAM, "link/systole_link_replay"), ("number", "order", "whole", "alias"), {"Depth": 8}, 15,
          (("replay", "seq_t'(Window - 2);", "seq_t'(Window - 1);"),), 16),
    Proof("link", LINK, ("once", "credit"), {}, 25, LINK_MUTANTS, 25, STUBS),
    lanes(15, (("lanes_rx", "wrong     = (count_q", "wrong     = (1'b1 || count_q"),
               ("lanes_tx", "!valid_i ? TagTrain : first_i ?", "!valid_i ? TagTrain : !first_i ?"))),
    lanes(1, (("lanes_tx", "data_q <= data >> (LaneBits * 32'(step));", "data_q <= data >> (LaneBits * 2);"),)),
    lanes(3), lanes(4), lanes(6),
    lanes(10, (("lanes_tx", "lanes_d[l] = {tag, data[rank*LaneBits+:LaneBits]};", "lanes_d[l] = {tag, data[(l%2)*LaneBits+:LaneBits]};"),
               ("lanes_rx", "{word[2*LaneBits-1:0], flit_q[FlitBits-1:2*LaneBits]}", "{flit_q[FlitBits-2*LaneBits-1:0], word[2*LaneBits-1:0]}"))),
]


def module(unit):
    return "systole_link" if unit == "link" else f"systole_link_{unit}"


def smaller_package():
    spec = copy.deepcopy(common.load(ROOT, link_package.SOURCE))
    for struct, widths in SMALLER.items():
        for field in spec[struct]:
            field["bits"] = widths.get(field["name"], field["bits"])
    for constant in spec["constants"]:
        if constant["name"] in ("payload_flits", "packet_flits"):
            constant["value"] = 1 if constant["name"] == "payload_flits" else 2
    return link_package.package(spec)


def write_sources(folder, proof, mutant):
    """Writes the unit's files, with the mutant. Returns their names in reading order."""
    folder.mkdir(parents=True)
    (folder / "pkg.sv").write_text(smaller_package())
    files = ["pkg.sv"]
    for source in proof.sources:
        text = (ROOT / "rtl" / f"{source}.sv").read_text()
        for old, new in SHORTER if proof.unit == "link" else ():
            text = text.replace(old, new)
        if mutant and source.endswith("/" + module(mutant[0])):
            if text.count(mutant[1]) != 1:
                raise ValueError(f"{source}: a mutant wants exactly one {mutant[1]!r}")
            text = text.replace(mutant[1], mutant[2])
        files.append(pathlib.Path(source).name + ".sv")
        (folder / files[-1]).write_text(text)
    for name in (*proof.stubs, f"{module(proof.unit)}_props"):
        shutil.copy(HERE / f"{name}.sv", folder / f"{pathlib.Path(name).name}.sv")
        files.append(f"{pathlib.Path(name).name}.sv")
    return files


def proved(folder, limit):
    """Returns None if no property can ever fail, otherwise a description of the result."""
    commands = f"read_aiger model.aig; strash; orpos; scorr; dc2; pdr -T {limit}"
    result = subprocess.run(["yosys-abc", "-c", commands], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    (folder / "abc.log").write_text(result.stdout)
    if "Property proved" in result.stdout or "Networks are equivalent" in result.stdout:
        return None
    failed = re.search(r"was asserted in frame (\d+)", result.stdout)
    return f"fails in cycle {failed[1]}" if failed else f"not proved, see {folder / 'abc.log'}"


def run(folder, proof, mutant, limit):
    """Returns (as expected, message), from the cache if possible."""
    files = write_sources(folder, proof, mutant)
    kept = cache.Entry("formal_link", cache.version("yosys-abc", "-q", "version"), importlib.metadata.version("pyosys"),
                       pathlib.Path(__file__).read_bytes(), sorted(proof.parameters.items()), proof.cycles, *((folder / file).read_bytes() for file in files))
    if kept.restore(folder):
        return True, (folder / "verdict").read_text()
    hbm.read(folder, files, f"{module(proof.unit)}_props", proof.parameters)
    cycles = proof.mutant_cycles if mutant else proof.cycles
    if cycles:
        frames, broken = hbm.failing(folder, cycles, limit, proof.properties)
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
    parser.add_argument("--unit", help="only the proofs of this unit")
    parser.add_argument("--quick", action="store_true", help="proofs of at most 25 cycles; the buffer's of 12, not for all time")
    parser.add_argument("--mutants", type=int, help="only so many of each proof, the first ones")
    args = parser.parse_args()

    work = args.build.resolve() / "formal_link"
    shutil.rmtree(work, ignore_errors=True)
    start = time.monotonic()
    if args.quick:
        for proof in PROOFS:
            proof.cycles = min(proof.cycles, QUICK) or (QUICK_BUFFER if proof.unit == "buffer" else 0)
    tasks = [(proof, mutant) for proof in PROOFS if args.unit in (None, proof.unit) for mutant in (None, *proof.mutants[:args.mutants])]
    failures = 0
    for number, (proof, mutant) in enumerate(tasks):
        try:
            good, text = run(work / str(number), proof, mutant, args.limit)
        except ValueError as error:
            print(f"link: {error}", file=sys.stderr)
            return 1
        failures += not good
        values = ",".join(f"{key}={value}" for key, value in proof.parameters.items())
        name = f"{proof.unit}({values})" + (f", mutant {mutant[0]}: {' '.join(mutant[1].split())} -> {' '.join(mutant[2].split())}" if mutant else "")
        print(f"{'ok  ' if good else 'FAIL'} {name}: {text} ({time.monotonic() - start:.0f} s)", flush=True)
    mutants = sum(mutant is not None for _, mutant in tasks)
    print(f"link: {len(tasks) - mutants} proofs, {mutants} mutants, {failures} failures, {time.monotonic() - start:.0f} s")
    return 1 if failures or not tasks else 0


if __name__ == "__main__":
    sys.exit(main())
