# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""A mapped ECP5 netlist: what it takes, unit by unit, and an estimate of its longest paths without placing it.

The estimate is a longest path over the cells with the delays below and one delay for each net that is not a carry; it is the same on each
run and moves with the levels of logic, which is what a budget wants. Cells keep the name of their instance through flattening.
"""

import collections
import json
import re

# Logic cells (LUT4 of the device) that a cell takes after packing, and the columns of the report.
LOGIC_CELLS = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}
COLUMNS = {"TRELLIS_FF": "flip_flops", "MULT18X18D": "multipliers", "ALU54B": "multipliers", "DP16KD": "ram_blocks", "PDPW16KD": "ram_blocks"}
FIELDS = ("cells", "flip_flops", "multipliers", "ram_blocks")

# Nanoseconds at speed grade 6: a net's usual delay, and those of cells.
NET = 0.85
CELL = {"LUT4": 0.24, "PFUMX": 0.17, "L6MUX21": 0.16, "MULT18X18D": 4.2, "TRELLIS_DPR16X4": 0.3}
CLOCK_TO_OUTPUT = {"TRELLIS_FF": 0.52, "DP16KD": 5.6, "PDPW16KD": 5.6, "TRELLIS_DPR16X4": 0.6, "MULT18X18D": 1.0}
SETUP = 0.1
# A carry cell: into the chain, a step of it, out of it.
CARRY_IN, CARRY_STEP, CARRY_OUT = 0.45, 0.07, 0.44
# Muxes that need no net of the routing between them and what feeds them.
FIXED = {"PFUMX", "L6MUX21"}


def top(design):
    """The top module of a design as Yosys writes it."""
    return next(module for module in design["modules"].values() if int(module.get("attributes", {}).get("top", "0"), 2))


def read(path):
    """The cells of the top module, {name: cell}."""
    return top(json.loads(path.read_text()))["cells"]


def count(cells, unit_of=lambda name: "all"):
    """{unit: {field: number}}."""
    table = collections.defaultdict(lambda: dict.fromkeys(FIELDS, 0))
    for name, cell in cells.items():
        row = table[unit_of(name)]
        row["cells"] += LOGIC_CELLS.get(cell["type"], 0)
        field = COLUMNS.get(cell["type"])
        if field:
            row[field] += 1
    return dict(table)


def unit_namer(units):
    """unit_of for count: units is {unit: instance path}; the longest path that begins a cell's name is its unit."""
    paths = sorted(((path, unit) for unit, path in units.items()), key=lambda item: -len(item[0]))

    def unit_of(name):
        plain = re.sub(r"^\$.*\$", "", name)
        return next((unit for path, unit in paths if plain.startswith(path + ".") or plain == path), "other")
    return unit_of


def is_clocked(cell):
    if cell["type"] in ("TRELLIS_FF", "DP16KD", "PDPW16KD"):
        return True
    return cell["type"] == "MULT18X18D" and any(cell["parameters"].get(f"REG_{stage}_CLK", "NONE") != "NONE" for stage in ("OUTPUT", "PIPELINE"))


class Estimate:
    """Arrival times of a netlist's nets."""

    def __init__(self, cells):
        self.cells = cells
        self.driver = {}  # net -> (cell, port)
        for name, cell in cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"].get(port) == "output":
                    for bit in bits:
                        self.driver[bit] = (name, port)
        self.arrival = {}  # net -> (time, levels, previous net or None, cell)
        self._run()

    def _arcs(self, net):
        """Nets that the net depends on within its driver, or None where it begins, and the delay of each: [(source net, delay)]."""
        name, port = self.driver[net]
        cell = self.cells[name]
        kind = cell["type"]
        if is_clocked(cell):
            return None, CLOCK_TO_OUTPUT[kind]
        if kind not in CELL and kind != "CCU2C":  # a PLL, whose feedback is no path; a pad
            return None, 0.0
        arcs = []
        for source, bits in cell["connections"].items():
            if cell["port_directions"].get(source) == "output" or (kind == "TRELLIS_DPR16X4" and source != "RAD"):
                continue
            for bit in bits:
                if not isinstance(bit, int):
                    continue
                if kind == "CCU2C":
                    if source == "CIN":
                        delay = CARRY_STEP if port == "COUT" else CARRY_OUT
                    elif port == "COUT":
                        delay = CARRY_IN + NET
                    elif (port, source[-1]) == ("S0", "1"):
                        continue  # the upper half does not reach the lower half's sum
                    else:
                        delay = CARRY_OUT + NET
                else:
                    fixed = kind in FIXED and source != "C0" and source != "SD"
                    delay = CELL.get(kind, 0.0) + (0.0 if fixed else NET)
                arcs.append((bit, delay))
        if kind == "TRELLIS_DPR16X4" and not arcs:
            return None, CLOCK_TO_OUTPUT[kind]
        return arcs, 0.0

    def _run(self):
        for root in self.driver:
            stack = [root]
            while stack:
                net = stack[-1]
                if net in self.arrival:
                    stack.pop()
                    continue
                if net not in self.driver:
                    self.arrival[net] = (0.0, 0, None)
                    stack.pop()
                    continue
                arcs, begin = self._arcs(net)
                if arcs is None:
                    self.arrival[net] = (begin, 0, None)
                    stack.pop()
                    continue
                open_nets = [bit for bit, _ in arcs if bit not in self.arrival]
                if open_nets:
                    if any(bit in stack[-4000:] for bit in open_nets) and len(stack) > 100000:
                        raise RuntimeError("the netlist has a combinational loop")
                    stack += open_nets
                    continue
                best = (0.0, 0, None)
                kind = self.cells[self.driver[net][0]]["type"]
                for bit, delay in arcs:
                    time, levels, _ = self.arrival[bit]
                    level = 0 if kind in FIXED or (kind == "CCU2C" and delay == CARRY_STEP) else 1
                    if time + delay > best[0]:
                        best = (time + delay, levels + level, bit)
                self.arrival[net] = best
                stack.pop()

    def worst(self):
        """(nanoseconds, levels, first cell, last cell) of the longest path into a clocked cell."""
        found = (0.0, 0, "", "")
        for name, cell in self.cells.items():
            if not (is_clocked(cell) or cell["type"] == "TRELLIS_DPR16X4"):
                continue
            for port, bits in cell["connections"].items():
                if cell["port_directions"].get(port) == "output":
                    continue
                for bit in bits:
                    time, levels, _ = self.arrival.get(bit, (0.0, 0, None))
                    total = time + NET + SETUP
                    if time and total > found[0]:
                        first = bit
                        while self.arrival[first][2] is not None:
                            first = self.arrival[first][2]
                        found = (total, levels, self.driver[first][0] if first in self.driver else "", name)
        return found
