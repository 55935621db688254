# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The chip of a preset mapped flat, memory and all, without placing it: what it takes, by unit, against `whole` of fpga/budget.yaml."""

import collections
import time

from flow import budget, chip, netlist, report, tools


def kinds(cells):
    """Cells of the device by type, as Yosys counts them."""
    table = collections.Counter(cell["type"] for cell in cells.values())
    return {"lut4": table["LUT4"], "carry": table["CCU2C"], "flip_flops": table["TRELLIS_FF"], "multipliers": table["MULT18X18D"] + table["ALU54B"],
            "ram_blocks": table["DP16KD"] + table["PDPW16KD"], "lut_rams": table["TRELLIS_DPR16X4"]}


def excess(preset, used, limits):
    """A line for each resource over its limit."""
    return [f"{preset}: {used[what]} {what}, {limit} allowed" for what, limit in limits.items() if used[what] > limit]


def run(args):
    tools.check(memory=False)
    limits = budget.load().get("whole", {})
    rows, problems = [], []
    for preset in args.whole:
        start = time.monotonic()
        folder = args.build / "fpga" / "whole" / preset
        units = chip.elaborate(preset, folder)
        paths = {unit if len(found) == 1 else f"{unit} {number}": path for unit, found in units.items() for number, (_, path) in enumerate(found) if path}
        tools.yosys({"load": str(folder / "chip.il"), "top": chip.TOP, "json": str(folder / "net.json")}, folder, "map", f"mapping {preset}")
        cells = netlist.read(folder / "net.json")
        used = kinds(cells)
        table = netlist.count(cells, netlist.unit_namer(paths))
        by_unit = [{"unit": unit, **table[unit]} for unit in [*paths, "other"] if unit in table]
        report.table(f"{preset}, mapped flat for ECP5; by the names that cells keep", by_unit)
        rows.append({"preset": preset, **used, "seconds": round(time.monotonic() - start)})
        report.write(args.build, f"fpga_whole_{preset}.json", {**rows[-1], "units": by_unit})
        problems += excess(preset, used, limits.get(preset, {}))
    report.table("Chips, mapped flat for ECP5 (abc9)", rows)
    for problem in problems:
        print(f"fpga: over budget: {problem}")
    return 1 if problems else 0
