# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Compares the mapped units with fpga/budget.yaml: estimated delay and cells. No placement: the same on each run, and quick."""

import concurrent.futures
import json
import os
import pathlib
import time

import yaml

import cache
from flow import chip, netlist, report, tools
from flow.tools import ROOT, FlowError
from flow.units import chosen, map_unit

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


def load():
    """The budgets: {"units": {preset: {unit: {ns, cells}}}, "whole": {preset: {resource: number}}}."""
    return yaml.safe_load(BUDGET.read_text())


def write(known):
    """Writes the budgets."""
    text = HEAD
    for kind, title in (("units", "by preset"), ("whole", "chips mapped flat: fpga.py --whole PRESET")):
        text += f"{kind}:  # {title}\n"
        for preset, entries in known[kind].items():
            if kind == "whole":
                text += f"  {preset}: {{{', '.join(f'{what}: {limit}' for what, limit in entries.items())}}}\n"
            else:
                text += f"  {preset}:\n" + "".join(f"    {unit}: {{ns: {row['ns']}, cells: {row['cells']}}}\n" for unit, row in entries.items())
    BUDGET.write_text(text)


def estimate(work):
    """The fields of a row that the netlist in a folder gives; that of the same netlist is kept."""
    kept = cache.Entry("estimate", pathlib.Path(netlist.__file__).read_bytes(), pathlib.Path(__file__).read_bytes(), (work / "net.json").read_bytes())
    if not kept.restore(work):
        cells = netlist.read(work / "net.json")
        ns, levels, first, last = netlist.Estimate(cells).worst()
        fields = {"ns": round(ns, 1), "levels": levels, "cells": netlist.count(cells)["all"]["cells"], "from": first, "to": last}
        (work / "estimate.json").write_text(json.dumps(fields))
        kept.store(work, ["estimate.json"])
    return json.loads((work / "estimate.json").read_text())


def measure(wanted, known, args):
    """The estimates and cells of {preset: [unit]}, in this order; as many units at once as there are processors, the largest by their
    budgets first."""
    folder = args.build / "fpga" / "budget"

    def elaborate(preset):
        return preset, chosen(chip.elaborate(preset, folder / preset), wanted[preset])

    def row(task):
        preset, unit, module = task
        work = map_unit(module, folder / preset, unit, effort=False, fault=FAULT_ADDERS if unit == args.fault else 0)
        return {"preset": preset, "unit": unit, **estimate(work)}

    def size(task):
        return known[task[0]].get(task[1], {}).get("cells", 0)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [(preset, unit, instances[0][0]) for preset, found in pool.map(elaborate, wanted) for unit, instances in found.items()]
        rows = {task: pool.submit(row, task) for task in sorted(tasks, key=size, reverse=True)}
        try:
            return [rows[task].result() for task in tasks]
        except FlowError:
            pool.shutdown(cancel_futures=True)
            raise


def run(args):
    tools.check(memory=False)
    start = time.monotonic()
    known = load()
    only = [args.fault] if args.fault else args.only
    unknown, wanted = set(only), {}
    for preset in [args.preset] if args.preset else list(known["units"]):
        units = known["units"].setdefault(preset, {})
        # New units enter by name and preset.
        wanted[preset] = only if only and args.preset else [unit for unit in units if not only or unit in only]
        unknown -= set(wanted[preset])
    if unknown:
        raise FlowError(f"no budget of '{min(unknown)}' (a new one: --check --update --preset PRESET --only UNIT)")
    if not any(wanted.values()):
        raise FlowError(f"no budgets of preset {args.preset}; there are those of {', '.join(load()['units'])}")
    rows = measure({preset: units for preset, units in wanted.items() if units}, known["units"], args)
    problems = []
    for preset in wanted:
        measured = [row for row in rows if row["preset"] == preset]
        if args.update:
            known["units"][preset] |= {row["unit"]: {"ns": round(row["ns"] * ROOM_NS, 1), "cells": int(row["cells"] * ROOM_CELLS)}
                                       for row in measured}
        problems += compare(measured, known["units"][preset])
    if args.update:
        write(known)
    shown = [{key: value for key, value in row.items() if key not in ("from", "to")} for row in rows]
    report.table(f"Budgets, {time.monotonic() - start:.0f} s", shown)
    report.write(args.build, "fpga_budget.json", {"units": rows, "problems": problems})
    for problem in problems:
        print(f"fpga: over budget: {problem}")
    if args.fault:
        if not problems:
            raise FlowError(f"the fault in {args.fault} was not seen")
        print("fpga: the seeded fault was seen")
        return 0
    return 1 if problems else 0
