# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Maps the whole core for simulators: netlist.v, and cells.v with models of its cells. With --pins, Icarus Verilog replays the pins of a
recorded run to the netlist and compares every output in every cycle.

  netlist.py --pins FILE [--target board|ecp5|gates] [--fault] [--build build]
  netlist.py --preset 3 [--target board|ecp5|gates]

board: mapped as for a board (../../fpga/flow), with gates folded into carry cells. ecp5: mapped by Yosys' script alone. For the models of
the cells of both, see ecp5.py. gates: Yosys' generic gates and flip-flops; memories stay memories. With --fault, one gate in front of an
output has an inverted truth table, and the comparison must detect it.
"""

import argparse
import collections
import json
import pathlib
import sys
import time

import design
import ecp5
import replay

sys.path.insert(0, str(design.ROOT / "fpga"))
from flow import boards, chip, tools  # noqa: E402  behind the path

COPIES = 256
OUTPUT = "phy_row_cmd_o"  # the fault is in a gate in front of this output
PASSES = {
    "ecp5": ["synth_lattice -family ecp5 -top systole_top"],
    "gates": ["opt_expr", "opt_clean", "opt -nodffe -nosdff", "wreduce", "peepopt", "opt_clean", "alumacc", "opt", "memory -nomap", "opt_clean",
              "opt -fast -full", "techmap", "opt_clean", "abc -g gates", "opt_clean", "opt -fast", "opt_clean"],
}
# How a fault changes a cell of each type.
INVERSE = {"$_AND_": "$_NAND_", "$_NAND_": "$_AND_", "$_OR_": "$_NOR_", "$_NOR_": "$_OR_", "$_XOR_": "$_XNOR_", "$_XNOR_": "$_XOR_",
           "$_ANDNOT_": "$_ORNOT_", "$_ORNOT_": "$_ANDNOT_", "$_MUX_": "$_NMUX_", "$_NOT_": "$_BUF_"}


def share_out(netlist, models):
    """Replaces each model with generate blocks by COPIES copies, and spreads its instances over them. For such a module, the time of Icarus
    Verilog grows with the square of the number of its instances.
    """
    for kind in [kind for kind, model in models.items() if "generate" in model]:
        model = models.pop(kind)
        before, *instances = netlist.split(f"  {kind} #(")
        netlist = before + "".join(f"  {kind}_{number % COPIES} #({text}" for number, text in enumerate(instances))
        models.update({f"{kind}_{number}": model.replace(f"module {kind}", f"module {kind}_{number}") for number in range(COPIES)})
    return netlist


def gate_before(cells, bits):
    """The name of a gate in front of one of the nets. Searches through flip-flops."""
    driver = {}
    for name, cell in cells.items():
        for port, nets in cell["connections"].items():
            if cell["port_directions"].get(port) == "output":
                driver.update(dict.fromkeys(nets, name))
    todo = list(bits)
    for net in todo:
        cell = cells.get(driver.get(net))
        if cell and (cell["type"] in INVERSE or cell["type"] == "LUT4"):
            return driver[net]
        todo += cell["connections"].get("DI", cell["connections"].get("D", [])) if cell else []
    raise RuntimeError(f"no gate before {OUTPUT}")


def map_for_board(core, preset, work):
    """Maps as `make fpga ARGS="--whole PRESET"` does, and reads the result."""
    name = next(name for name, entry in boards.presets().items() if entry["id"] == preset)
    chip.elaborate(name, work)
    tools.yosys({"load": str(work / "chip.il"), "top": "systole_top", "json": str(work / "net.json")}, work, "flow", "mapping")
    ecp5.read_mapped(core, work / "net.json", "systole_top", work)


def map_core(work, preset, target, fault):
    """Maps the core. Returns its ports, its cells by type, and the file of the netlist."""
    core = design.Design(work / "map.log")
    if target == "board":
        map_for_board(core, preset, work)
    else:
        core.read("systole_top", {"Preset": preset})
        core.run("flatten", "opt_clean", "setattr -unset init w:*", *PASSES[target])
    # One net per bit. For each driver of a part of a vector, Icarus Verilog resolves the whole vector.
    core.run("splitnets", "opt_clean", f"write_json {work / 'netlist.json'}")
    module = json.loads((work / "netlist.json").read_text())["modules"]["systole_top"]
    (work / "netlist.json").unlink()
    if fault:
        name = gate_before(module["cells"], module["ports"][OUTPUT]["bits"])
        cell = module["cells"][name]
        core.run("select -module systole_top")
        if cell["type"] == "LUT4":
            table = "".join("10"[int(bit)] for bit in cell["parameters"]["INIT"])
            core.run(f"setparam -set INIT 16'b{table} c:{name}")
        else:
            core.run(f"chtype -set {INVERSE[cell['type']]} c:{name}")
        core.run("select -clear")
        print(f"fault: {cell['type']} {name} has another truth table")
    path = work / "netlist.v"
    core.run(f"write_verilog -noattr {path}")
    return core.ports(), collections.Counter(cell["type"] for cell in module["cells"].values()), path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--pins", type=pathlib.Path, help="record of a run at nano (engines_record)")
    parser.add_argument("--preset", type=int, default=0)
    parser.add_argument("--target", choices=["board", *PASSES], default="ecp5")
    parser.add_argument("--fault", action="store_true")
    args = parser.parse_args()

    start = time.monotonic()
    work = args.build.resolve() / "engines" / f"netlist_{args.target}_{args.preset}{'_pins' if args.pins else ''}{'_fault' if args.fault else ''}"
    work.mkdir(parents=True, exist_ok=True)
    ports, cells, netlist = map_core(work, args.preset, args.target, args.fault)
    print(f"{args.target}: " + ", ".join(f"{kind} {number}" for kind, number in sorted(cells.items())))
    print(f"{args.target}: mapped in {time.monotonic() - start:.0f} s", flush=True)
    models = ecp5.cell_models(cells) if args.target != "gates" else {}
    (work / "cells.v").write_text("".join(models.values()))
    if not args.pins:
        return 0
    (work / "bench.v").write_text(replay.bench(ports))
    sources = [work / "bench.v", netlist]
    if models:
        shared = work / "shared.v"
        shared.write_text(share_out(netlist.read_text(), models) + "".join(models.values()))
        sources[1:] = [shared, *ecp5.MODELS]
    began = time.monotonic()
    text = replay.simulate(work / "netlist.vvp", sources, args.pins, stop=args.fault)
    counts = replay.counts_of(text)
    print(text, end="")
    print(f"{args.target}: {counts['cycles']} cycles, {counts['checked']} outputs compared, {counts['unknown']} unknown, {counts['wrong']} wrong; "
          f"{time.monotonic() - began:.0f} s", flush=True)
    differences = counts["unknown"] + counts["wrong"]
    if args.fault:
        print(f"netlist: the fault was {'' if differences else 'not '}seen")
        return 0 if differences else 1
    return 1 if differences or not counts["checked"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        sys.exit(f"netlist: {error}")
