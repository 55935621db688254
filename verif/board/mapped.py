# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Maps a board's top as `make fpga` does. Writes the netlist for a simulator, models of its cells, and a systole_ecp5_top around it.

  mapped.py --board ulx3s-85f --preset board8 --clock 60 --baud 30000000 --out FOLDER

FOLDER then contains netlist.v, cells.v and systole_ecp5_top.sv. The models of pads and PLL are files of this folder with the names of
the cells. With +fault, the simulation has a fault: a lookup table in front of a register of FAULTY gives the inverse of its output.
"""

import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "verif" / "engines"), str(ROOT / "fpga")]
import design  # noqa: E402  behind the path
import ecp5  # noqa: E402
from flow import board, boards, tools  # noqa: E402

NETLIST = "board_netlist"
PADS = [path.stem for path in pathlib.Path(__file__).parent.glob("*.sv") if path.stem.isupper()]  # pads, and the PLL
FAULTY = r"\bu_accumulators\b"


def faulty(cells, nets):
    """The name of a lookup table whose output is the input of a register of FAULTY. Takes the first register by name."""
    registers = {bit for name, net in nets.items() if re.search(FAULTY, name) for bit in net["bits"]}
    driver = {bit: name for name, cell in cells.items() if cell["type"] == "LUT4" for bit in cell["connections"]["Z"]}
    found = [(name, driver[cell["connections"]["DI"][0]]) for name, cell in cells.items()
             if cell["type"] == "TRELLIS_FF" and registers & set(cell["connections"]["Q"]) and cell["connections"]["DI"][0] in driver]
    if not found:
        raise RuntimeError(f"no lookup table before a register of {FAULTY}")
    return min(found)[1]


def wrapper(ports):
    """The board's top. The netlist has fixed values, so the parameters have no effect."""
    names = ", ".join(f".{name}" for name in ports)
    directions = {"input": "input logic", "output": "output logic", "inout": "inout wire"}
    pins = ",\n".join(f"    {directions[port['direction']]} [{len(port['bits']) - 1}:0] {name}" for name, port in ports.items())
    return (f"module systole_ecp5_top #(\n    parameter int unsigned Preset = 0,\n    parameter int unsigned ClockHz = 0,\n"
            f"    parameter int unsigned Baud = 0\n) (\n{pins}\n);\n  {NETLIST} u_netlist ({names});\nendmodule\n")


def write(top, mapped, out):
    core = design.Design(out / "write.log")
    cells = json.loads(mapped.read_text())["modules"][top]["cells"].values()
    if any(cell["type"] == "TRELLIS_IO" and cell["parameters"]["DIR"] != "BIDIR" for cell in cells):
        raise RuntimeError("a pad of another direction than TRELLIS_IO.sv has")
    ecp5.read_mapped(core, mapped, top, out, PADS)
    core.run(f"rename {top} {NETLIST}", f"write_json {out / 'netlist.json'}")
    module = json.loads((out / "netlist.json").read_text())["modules"][NETLIST]
    fault = faulty(module["cells"], module["netnames"])
    core.run(f"select -module {NETLIST}", f"chtype -set LUT4_faulty c:{fault}", "select -clear", "splitnets", "opt_clean", f"write_verilog -noattr {out / 'netlist.v'}")
    models = ecp5.cell_models(sorted({cell["type"] for cell in module["cells"].values()} - set(PADS)))
    lut = models["LUT4"]
    models["LUT4_faulty"] = lut.replace("module LUT4(", "module LUT4_faulty(").replace(
        "assign Z =", 'reg fault;\n    initial fault = $test$plusargs("fault");\n    assign Z = fault ^')
    models["LUT4_faulty"] = re.sub(r"assign Z = fault \^\s*(.*?);", r"assign Z = fault ^ (\1);", models["LUT4_faulty"])
    (out / "cells.v").write_text("".join(models.values()))
    (out / "systole_ecp5_top.sv").write_text(wrapper(module["ports"]))
    for name in ("netlist.json", "read.json"):
        (out / name).unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board", default="ulx3s-85f")
    parser.add_argument("--preset", default="board8")
    parser.add_argument("--clock", type=float, default=60, help="MHz")
    parser.add_argument("--baud", type=int, help="of the serial port (default: the board's)")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()

    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    entry = boards.load(args.board)
    entry = {**entry, "baud": args.baud or entry["baud"]}
    tools.check(memory=True)
    board.generate(entry, args.clock, out)
    board.synthesise(entry, boards.preset(args.preset), args.clock, out)
    write(entry["top"], out / "net.json", out)


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, tools.FlowError) as error:
        sys.exit(f"mapped: {error}")
