# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""A job for Yosys as a library, in a process of its own: python yosys_job.py job.json.

The job is an object:
  read:      arguments of read_slang, with @share for the folder of Yosys' own files; the elaborated design with its hierarchy goes to "save"
  load:      RTLIL to begin with, instead of read
  save:      file of RTLIL to end with, instead of mapping
  top:       the module to map
  registers: true: a flip-flop at every port but the clocks, so that each path begins and ends in one
  fault:     a number: so many additions in a chain behind the widest output, for a test of what looks at paths
  commands:  Yosys commands in place of the mapping for ECP5; modules of ALIKE stay modules: one is mapped and counts for all
  effort:    true: the delay target of the mapper that gives the smaller and faster result in twice the time
  json:      the mapped netlist
  stat:      a file for Yosys' statistics
  bits:      a file for the number of bits in memories
"""

import json
import pathlib
import sys

import carries
import pyosys
from pyosys import libyosys as ys

CLOCKS = ("\\clk_i",)
# Sources whose multiplexers are made of a slice's own (wide_muxes.v): those of data, many of the same kind. A tenth less of the unified
# buffer, and a level instead of three behind its memories.
WIDE_MUXES = ("rtl/unified_buffer/",)
# Modules of many instances, all alike: one is mapped and takes the place of the others.
ALIKE = ("systole_vpu_alu_lane", "systole_vpu_sfu_lane")
# What synth_lattice does in its step "coarse", but for one pass: share puts a multiplexer in front of adders and memory ports that
# are never used together, behind what decides between them, and costs the clock more than the cells are worth.
COARSE = ("proc -latches error", "check", "flatten", "tribuf -logic", "deminout", "opt_expr", "check", "opt_clean", "opt -nodffe -nosdff", "fsm", "opt",
          "wreduce", "peepopt", "opt_clean", "techmap -map +/cmp2lut.v -D LUT_WIDTH=4", "opt_expr", "opt_clean",
          "techmap -map +/mul2dsp.v -D DSP_A_MAXWIDTH=18 -D DSP_B_MAXWIDTH=18 -D DSP_A_MINWIDTH=2 -D DSP_B_MINWIDTH=2 -D DSP_NAME=$__MUL18X18",
          "techmap -map +/lattice/dsp_map_18x18.v", "chtype -set $mul t:$__soft_mul", "alumacc", "opt", "memory -nomap", "opt_clean")


def keep_registers(design):
    """Flip-flops of a signal that the source keeps stay apart from others with the same value."""
    keep = ys.IdString("\\keep")
    for module in design.modules_.values():
        for cell in module.cells_.values():
            if cell.type.str().startswith("$dff") and any(bit.is_wire() and bit.wire.get_bool_attribute(keep)
                                                          for bit in cell.getPort(ys.IdString("\\Q")).bits()):
                cell.set_bool_attribute(keep)


def lengthen(module, wire, additions):
    """A signal with a chain of additions behind a wire, each to its halves exchanged."""
    signal = ys.SigSpec(wire)
    half = wire.width // 2
    for number in range(additions):
        turned = signal.extract(half, wire.width - half)
        turned.append(signal.extract(0, half))
        total = module.addWire(ys.IdString(f"$fault{number}"), wire.width)
        module.addAdd(ys.IdString(f"$fault_add{number}"), signal, turned, ys.SigSpec(total))
        signal = ys.SigSpec(total)
    return signal


def register_ports(design, fault):
    """The module's ports become wires between flip-flops on clk_i and new ports."""
    module = design.top_module()
    wires = list(module.wires_.values())
    clock = next((wire for wire in wires if wire.name.str() in CLOCKS), None)
    if clock is None:
        raise RuntimeError("the unit has no clk_i")
    widest = max((wire for wire in wires if wire.port_output), key=lambda wire: wire.width)
    for wire in [wire for wire in wires if (wire.port_input or wire.port_output) and wire.name.str() not in CLOCKS]:
        name = wire.name.str()
        pin = module.addWire(ys.IdString(name + "_pin"), wire.width)
        if wire.port_input:
            wire.port_input, pin.port_input = False, True
            source, target = pin, wire
        else:
            wire.port_output, pin.port_output = False, True
            source, target = wire, pin
        signal = lengthen(module, wire, fault) if fault and wire.name == widest.name else ys.SigSpec(source)
        module.addDff(ys.IdString("$port" + name), ys.SigSpec(clock), signal, ys.SigSpec(target))
    module.fixup_ports()


def share_alike(design):
    """Makes the instances of a module in ALIKE instances of the first one, which stays a module until flatten_alike."""
    first = {}
    for module in list(design.modules_.values()):
        for cell in list(module.cells_.values()):
            base = cell.type.str().removeprefix("\\").partition("$")[0]
            if base in ALIKE:
                cell.type = ys.IdString(first.setdefault(base, cell.type.str()))
    for name in first.values():
        design.module(ys.IdString(name)).set_bool_attribute(ys.IdString("\\keep_hierarchy"))


def flatten_alike(design, run):
    """Ends what share_alike began, on the mapped design."""
    for module in design.modules_.values():
        module.set_bool_attribute(ys.IdString("\\keep_hierarchy"), False)
    run("flatten")
    run("opt_clean")


def fold_carries(module):
    """Folds gates and lookup tables into the carry cells of a clean module (flow/carries.py)."""
    wires, signals = {}, []

    def number(bit):
        if not bit.is_wire():
            return "1" if bit.data == ys.State.S1 else "0"
        key = (bit.wire.name.str(), bit.offset)
        if key not in wires:
            wires[key] = len(signals)
            signals.append(ys.SigSpec(bit.wire, bit.offset, 1))
        return wires[key]

    kept = {wire.name.str() for wire in module.wires_.values() if wire.get_bool_attribute(ys.IdString("\\keep")) or wire.port_output}
    cells = {}
    for cell in module.cells_.values():
        kind = cell.type.str().removeprefix("\\")
        ports = {port.str().removeprefix("\\"): [number(bit) for bit in signal.bits()] for port, signal in cell.connections_.items()}
        entry = {"type": kind, "connections": ports, "parameters": {},
                 "port_directions": {port: "output" if cell.output(ys.IdString("\\" + port)) else "input" for port in ports}}
        if kind in carries.GATES:
            pins = [ports[pin] for pin in ("A", "B", "S") if pin in ports]
            entry |= {"type": "LUT4", "connections": {**dict(zip("ABCD", pins)), "Z": ports["Y"]},
                      "parameters": {"INIT": f"{carries.GATES[kind]:016b}"}}
            entry["port_directions"] = {port: "output" if port == "Z" else "input" for port in entry["connections"]}
        elif kind in ("LUT4", "CCU2C"):
            entry["parameters"] = {name.str().removeprefix("\\"): value.decode_string() if "INJECT" in name.str() else value.as_string()
                                   for name, value in cell.parameters.items()}
        cells[cell.name.str()] = entry
    fixed = [identity for (name, _), identity in wires.items() if name in kept]
    changed = carries.fold({"cells": cells, "ports": {"kept": {"bits": fixed}}}, mapped=False)
    for cell in list(module.cells_.values()):
        name = cell.name.str()
        if name not in cells:
            module.remove(cell)
        elif name in changed:
            for port, (bit,) in cells[name]["connections"].items():
                if port[0] in "ABCD":
                    constant = ys.SigSpec(ys.SigBit(bit == "1"), 1) if isinstance(bit, str) else None
                    cell.setPort(ys.IdString("\\" + port), constant or signals[bit])
            for half in "01":
                cell.setParam(ys.IdString(f"\\INIT{half}"), ys.Const.from_string(cells[name]["parameters"][f"INIT{half}"]))


def memory_bits(design, module):
    """Bits of all memories of a module and those in it."""
    bits = 0
    for cell in module.cells_.values():
        inner = design.module(cell.type)
        if cell.type.str() == "$mem_v2":
            bits += cell.getParam(ys.IdString("\\SIZE")).as_int() * cell.getParam(ys.IdString("\\WIDTH")).as_int()
        elif inner is not None:
            bits += memory_bits(design, inner)
    return bits


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    design = ys.Design()

    def run(command):
        ys.run_pass(command, design)

    if "read" in job:
        share = str(pathlib.Path(pyosys.__file__).parent / "share")
        run("read_slang " + job["read"].replace("@share", share))
        run("proc -norom")
    else:
        run(f"read_rtlil {job['load']}")
    if "save" in job:
        run(f"write_rtlil {job['save']}")
        return
    run(f"hierarchy -top {job['top']}")
    run("rename -top unit_top" if job.get("registers") else "opt_clean")
    share_alike(design)
    run(f"hierarchy -top {design.top_module().name.str()}")
    if "commands" not in job:
        keep_registers(design)
    run("flatten")
    run("opt_clean")
    if job.get("registers"):
        register_ports(design, job.get("fault", 0))
    for command in job.get("commands", []):
        run(command)
    if "commands" not in job:
        run("scratchpad -set abc9.verify false")
        if job.get("effort", True):
            run("scratchpad -set abc9.W 300")
        run("synth_lattice -family ecp5 -abc9 -run begin:coarse")
        for command in COARSE:
            run(command)
        run("synth_lattice -family ecp5 -abc9 -run map_ram:map_luts")
        for source in WIDE_MUXES:
            run(f"muxcover -mux4 -mux8 t:$_MUX_ a:src=*{source}* %i")
        run(f"techmap -map {pathlib.Path(__file__).parent / 'wide_muxes.v'}")
        run("opt_clean")
        for module in list(design.modules_.values()):
            if not module.get_blackbox_attribute():
                fold_carries(module)
        run("opt_clean")
        run("synth_lattice -family ecp5 -abc9 -run map_luts:")
        flatten_alike(design, run)
        if "json" in job:
            run(f"write_json {job['json']}")
            mapped = pathlib.Path(job["json"])
            netlist = json.loads(mapped.read_text())
            carries.finish(netlist)
            mapped.write_text(json.dumps(netlist))
    if "stat" in job:
        run(f"tee -q -o {job['stat']} stat -json")
    if "bits" in job:
        pathlib.Path(job["bits"]).write_text(str(memory_bits(design, design.top_module())))


main()
