# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Gates of the units in a generic library: multipliers and memories stay what they are. No unit may grow faster than rows x columns.

A preset is compared with the next smaller one of its cell and memory. The array is its cell, mapped once, times their number, and what
lies around the cells, mapped at three small sizes: a quadratic function of the size. A unit that would take too long is not mapped at the
preset's size but computed from two smaller ones. Of the lanes of a programmable vector unit one is mapped for all.
"""

import json
import math
import time

from flow import boards, chip, report, tools, units
from flow.tools import ROOT

COMMANDS = ["proc -norom", "opt_expr", "opt_clean", "opt -nodffe -nosdff", "wreduce", "peepopt", "opt_clean", "memory -nomap",
            "chtype -set \\multiplier t:$mul", "alumacc", "opt -fast", "techmap", "opt_clean -purge"]
FIELDS = ("gates", "flip_flops", "multipliers", "memory_bits")
CELLS = {"int8": "systole_mxu_cell_int8", "bf16": "systole_mxu_cell_bf16"}
# Sizes at which what lies around the array's cells is mapped.
SIZES = (8, 16, 32)
# Gates of a unit that are mapped; beyond that it takes many minutes.
MOST_GATES = 250_000
# What the size may grow by beyond that of rows x columns: logarithms of it, as in widths of sums.
ROOM = 1.15


def measure(design, module, work, fault=0):
    """Gates, flip-flops, multipliers and bits of memory of a module. fault: so many additions in a chain behind its widest output."""
    work.mkdir(parents=True, exist_ok=True)
    job = {"load": str(design), "top": module, "registers": fault > 0, "fault": fault, "stat": str(work / "stat.json"),
           "bits": str(work / "bits"), "commands": COMMANDS}
    tools.yosys(job, work, "generic", f"{work.parent.name}: {work.name}")
    design = json.loads((work / "stat.json").read_text())["design"]
    kinds = design["num_cells_by_type"]
    flip_flops = sum(number for kind, number in kinds.items() if "DFF" in kind)
    gates = sum(number for kind, number in kinds.items() if kind.startswith("$_") and "DFF" not in kind)
    return dict(zip(FIELDS, (gates, flip_flops, kinds.get("multiplier", kinds.get("\\multiplier", 0)), int((work / "bits").read_text()))))


def quadratic(sizes, values, n):
    """The value at n of the quadratic function through three points."""
    total = 0.0
    for i, x in enumerate(sizes):
        term = values[i]
        for j, other in enumerate(sizes):
            if j != i:
                term *= (n - other) / (x - other)
        total += term
    return round(total)


def extend(small, large, n):
    """What small and large, (size, value) each, become at n if they grow on alike: by a line or by a power, the larger."""
    (n1, v1), (n2, v2) = small, large
    line = v2 + (v2 - v1) * (n - n2) / (n2 - n1)
    return round(max(line, v2 * (v2 / v1) ** (math.log(n / n2) / math.log(n2 / n1)) if v1 and v2 else 0))


def growth(small, large):
    """The power of rows x columns that a value grows with, (size, value) each; None without a value."""
    (n1, v1), (n2, v2) = small, large
    return math.log(v2 / v1) / math.log(n2 / n1) / 2 if v1 and v2 else None


def excess(unit, small, large, fields=("gates", "flip_flops")):
    """A line for each field that grows faster than rows x columns between two (preset, size, measured)."""
    problems = []
    for field in fields:
        before, after, ratio = small[2][field], large[2][field], (large[1] / small[1]) ** 2
        if after > before * ratio * ROOM:
            problems.append(f"{unit}: {field} grow from {before} at {small[0]} to {after} at {large[0]}, {after / before:.1f} times; "
                            f"rows x columns {ratio:.0f} times")
    return problems


class Chips:
    """The presets' units, elaborated and measured as they are asked for."""

    def __init__(self, build, fault):
        self.folder = build / "fpga" / "generic"
        self.fault = fault
        self.known = {name: preset for name, preset in boards.presets().items()}
        self.units, self.measured, self.arrays = {}, {}, {}

    def size(self, preset):
        return self.known[preset]["core"]["Rows"]

    def smaller(self, preset):
        """The presets of the same cell, memory and number of cores below this one, one of each size, the largest last."""
        def kind(name):
            return self.known[name]["core"]["Cell"], self.known[name]["chip"]["Memory"], self.known[name]["chip"]["Cores"]

        def has_scalar_unit(name):
            return self.known[name]["chip"]["SmemBytes"] > 0

        # Of two of one size the last stays: that with a scalar unit where this preset has one, else that without.
        likest_last = sorted(self.known, key=lambda name: has_scalar_unit(name) == has_scalar_unit(preset))
        names = {self.size(name): name for name in likest_last if kind(name) == kind(preset) and self.size(name) < self.size(preset)}
        return [names[size] for size in sorted(names)]

    def find(self, preset):
        """{unit: its instances}. The array stays empty, and a programmable vector unit where it is computed."""
        if preset not in self.units:
            empty = ["systole_mxu_array"] + (["systole_vpu"] if len(self.smaller(preset)) > 1 else [])
            self.units[preset] = chip.elaborate(preset, self.folder / preset, " ".join(f"--blackboxed-module {module}" for module in empty))
        return self.units[preset]

    def read(self, top, options, work):
        source = next((ROOT / "rtl").rglob(f"{top}.sv")).relative_to(ROOT)
        tools.yosys({"read": f"{chip.OPTIONS} --top {top} {options} -F rtl/systole.f {source}", "save": str(work / "design.il")}, work, "read",
                    f"reading {work.name}")
        return work / "design.il"

    def array(self, preset):
        """Cells times one, and what is around them."""
        core = self.known[preset]["core"]
        cell, stages, n = core["Cell"], core["CellStages"], core["Rows"]
        number = {"int8": 0, "bf16": 1}[cell]
        if (cell, stages) not in self.arrays:
            around = []
            for size in SIZES:
                work = self.folder / f"array_{cell}_{stages}" / f"around_{size}"
                work.mkdir(parents=True, exist_ok=True)
                design = self.read("systole_mxu_array", f"-G Rows={size} -G Cols={size} -G Cell={number} -G Stages={stages} "
                                   f"--blackboxed-module {CELLS[cell]}", work)
                around.append(measure(design, "systole_mxu_array", work))
            self.arrays[cell, stages] = around
        around = self.arrays[cell, stages]
        work = self.folder / f"array_{cell}_{stages}" / f"cell_{n}"
        work.mkdir(parents=True, exist_ok=True)
        # The widest sum: that of the last row.
        one = measure(self.read(CELLS[cell], f"-G Stages={stages}" + (f" -G SumBits={16 + int(math.log2(n))}" if cell == "int8" else ""), work),
                      CELLS[cell], work)
        return {field: quadratic(SIZES, [row[field] for row in around], n) + n * n * one[field] for field in FIELDS}

    def unit(self, preset, unit):
        """(what it takes, "mapped" or "computed")."""
        if (preset, unit) not in self.measured:
            self.measured[preset, unit] = self._unit(preset, unit)
        return self.measured[preset, unit]

    def excess(self, preset, unit, measured):
        """A line for each field of the unit that grows too fast: from each of the smaller presets. A register that only the larger ones have
        seems to, from the last one without it: that of the window's beats where they are wider than its port."""
        problems = []
        for field in ("gates", "flip_flops"):
            lines = []
            for name in reversed(self.smaller(preset)):
                lines.append(excess(unit, (name, self.size(name), self.unit(name, unit)[0]), (preset, self.size(preset), measured), (field,)))
                if not lines[-1]:
                    break
            problems += lines[0] if all(lines) else []
        return problems

    def _unit(self, preset, unit):
        if unit == "array":
            return self.array(preset), "computed"
        module, n = self.find(preset)[unit][0][0], self.size(preset)
        below = self.smaller(preset)
        if len(below) > 1:
            middle, _ = self.unit(below[-1], unit)
            if middle["gates"] * n / self.size(below[-1]) > MOST_GATES:
                first, _ = self.unit(below[-2], unit)
                sizes = self.size(below[-2]), self.size(below[-1])
                values = {field: extend((sizes[0], first[field]), (sizes[1], middle[field]), n) for field in FIELDS}
                return values | {"memory_bits": None}, "computed"  # the presets say how large their memories are, not their rows and columns
        fault = n * n // 64 if unit == self.fault else 0
        return measure(self.folder / preset / "chip.il", module, self.folder / preset / unit.replace(" ", "_"), fault), "mapped"


def run(args):
    tools.check(memory=False)
    start = time.monotonic()
    chips = Chips(args.build, args.fault)
    rows, problems = [], []
    for preset in args.generic:
        found = units.chosen(chips.find(preset), [args.fault] if args.fault else args.only)
        n, below = chips.size(preset), chips.smaller(preset)
        for unit, instances in found.items():
            measured, how = chips.unit(preset, unit)
            row = {"unit": unit, "preset": preset, "instances": len(instances), **measured, "how": how,
                   "gates_per_mac": round(measured["gates"] / n ** 2, 2), "power": None}
            if below and unit in chips.find(below[-1]):
                power_of = growth((chips.size(below[-1]), chips.unit(below[-1], unit)[0]["gates"]), (n, measured["gates"]))
                row["power"] = None if power_of is None else round(power_of, 2)
                problems += chips.excess(preset, unit, measured)
            rows.append(row)
            tools.say(", ".join(f"{key} {value}" for key, value in row.items()))
    report.table("Units in a generic library; power: of rows x columns that the gates grow with", rows)
    path = report.write(args.build, "fpga_generic.json", {"units": rows, "problems": problems, "seconds": round(time.monotonic() - start)})
    print(f"\n{path}")
    for problem in problems:
        print(f"fpga: grows too fast: {problem}")
    if args.fault:
        if not problems:
            raise tools.FlowError(f"the fault in {args.fault} was not seen")
        print("fpga: the seeded fault was seen")
        return 0
    return 1 if problems else 0
