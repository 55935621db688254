# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Compares the mapped units with fpga/budget.yaml: estimated delay and cells. No placement: the same on each run, and quick."""

import time

import yaml

from flow import chip, netlist, report, tools, units
from flow.tools import ROOT, FlowError

BUDGET = ROOT / "fpga" / "budget.yaml"
HEAD = """# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# What each unit may take alone, ports registered, mapped for ECP5 without placing it: `fpga.py --check` (in ctest: fpga_budget).
# ns: estimated delay of the longest path (fpga/flow/netlist.py); cells: LUT4 of the device. After an improvement: fpga.py --check --update.
"""
# Room above what was measured: mapping is chaotic to about this much when unrelated logic changes.
ROOM_NS, ROOM_CELLS = 1.10, 1.08
# The seeded fault: so many additions in a chain behind the unit's widest output.
FAULT_ADDERS = 6


def compare(rows, budget):
    """Adds what is allowed and 'over' to the rows. Returns the problems, a line each."""
    problems = []
    for row in rows:
        allowed = budget.get(row["unit"])
        if allowed is None:
            problems.append(f"{row['unit']}: not in {BUDGET.name}")
            continue
        row |= {"ns_allowed": allowed["ns"], "cells_allowed": allowed["cells"]}
        if row["ns"] > allowed["ns"]:
            problems.append(f"{row['unit']}: {row['ns']} ns, {allowed['ns']} allowed: {row['levels']} levels from {row['from']} to {row['to']}")
        if row["cells"] > allowed["cells"]:
            problems.append(f"{row['unit']}: {row['cells']} cells, {allowed['cells']} allowed")
    return problems


def run(args):
    tools.check(memory=False)
    start = time.monotonic()
    known = yaml.safe_load(BUDGET.read_text()) if BUDGET.exists() else {"preset": args.preset or "board8", "units": {}}
    preset = args.preset or known["preset"]
    folder = args.build / "fpga" / "budget"
    found = chip.elaborate(preset, folder)
    if args.fault:
        args.only = [args.fault]
    wanted = units.chosen(found, args.only or ([] if args.update and not known["units"] else list(known["units"])))
    rows = []
    for unit, instances in wanted.items():
        cells, _ = units.map_unit(instances[0][0], folder, unit, effort=False, fault=FAULT_ADDERS if unit == args.fault else 0)
        ns, levels, first, last = netlist.Estimate(cells).worst()
        rows.append({"unit": unit, "ns": round(ns, 1), "levels": levels, "cells": netlist.count(cells)["all"]["cells"], "from": first, "to": last})
    if args.update:
        values = known["units"] | {row["unit"]: {"ns": round(row["ns"] * ROOM_NS, 1), "cells": int(row["cells"] * ROOM_CELLS)} for row in rows}
        text = "".join(f"  {unit}: {{ns: {value['ns']}, cells: {value['cells']}}}\n" for unit, value in values.items())
        BUDGET.write_text(f"{HEAD}preset: {preset}\nunits:\n{text}")
        known["units"] = values
    problems = compare(rows, known["units"])
    report.table(f"Budgets of {preset}, {time.monotonic() - start:.0f} s", [{key: value for key, value in row.items() if key not in ("from", "to")} for row in rows])
    report.write(args.build, "fpga_budget.json", {"preset": preset, "units": rows, "problems": problems})
    for problem in problems:
        print(f"fpga: over budget: {problem}")
    if args.fault:
        if not problems:
            raise FlowError(f"the fault in {args.fault} was not seen")
        print("fpga: the seeded fault was seen")
        return 0
    return 1 if problems else 0
