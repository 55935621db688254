# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Each unit alone, with a flip-flop at every port: cells and clock after place and route.

Many blocks get their sites as on the board (flow/floorplan.py): a placer that chooses them at the end scatters them.
"""

import json
import time

from flow import boards, chip, netlist, report, tools
from flow.tools import FlowError

# What the placer aims at; more than any unit needs.
AIM_MHZ = 100
# Whose device units are placed on, and whose floor plans.
BOARD = "ulx3s-85f"
# Of a unit with this part of the device's blocks of a kind they get their sites first, if the preset has a floor plan.
MANY_BLOCKS = 0.25


def chosen(units, only):
    """The units asked for."""
    unknown = [unit for unit in only if unit not in units]
    if unknown:
        raise FlowError(f"no unit '{unknown[0]}' in this preset; there are {', '.join(units)}")
    return {unit: where for unit, where in units.items() if not only or unit in only}


def map_unit(module, folder, name, effort=True, fault=0):
    """Maps a module of an elaboration alone. Returns the folder of its netlist, net.json."""
    work = folder / name.replace(" ", "_")
    work.mkdir(parents=True, exist_ok=True)
    job = {"load": str(folder / "chip.il"), "top": module, "registers": True, "json": str(work / "net.json"), "effort": effort, "fault": fault}
    tools.yosys(job, work, "map", f"mapping {name}")
    return work


def has_many_blocks(used, resources):
    """Of a unit that uses so much: {resource: number}, of a device that has so much."""
    return any(used[kind] >= MANY_BLOCKS * resources[kind] for kind in ("multipliers", "ram_blocks"))


def planned(work, cells, plan, device):
    """Gives the blocks of a mapped unit their sites: those of the array the plan's, others any, for nobody else is there. Returns the
    netlist's name."""
    from flow import floorplan  # pylint: disable=import-outside-toplevel  what reads scipy: for presets with a plan only
    alone = {**plan, "regions": {}}
    if not any(floorplan.ARRAY_CELL.search(name) for name, cell in cells.items() if cell["type"] == "MULT18X18D"):
        alone["multipliers"] = {"columns": [0, device["size"][0]], "rows": device["sites"]["MULT18X18D"]["rows"]}
    floorplan.apply(work / "net.json", work / "planned.json", alone, device, lambda _: "unit", tools.say)
    return "planned.json"


def route(work, source, device, seed, limit):
    """Places and routes a unit. Returns (MHz, logic cells)."""
    command = [tools.nextpnr()[0], *device, "--out-of-context", "--json", source, "--freq", AIM_MHZ, "--seed", seed, "--report", "report.json",
               "--timing-allow-fail", "-q", "-l", "route.log"]
    code, _ = tools.run(command, work, work / "nextpnr.log", f"routing {work.name}", limit=limit)
    if code != 0:
        cause = tools.last_line(work / "route.log", r"ERROR") or tools.last_line(work / "nextpnr.log", r"ERROR|ended after") or f"exit code {code}"
        raise FlowError(f"place and route of {work.name} failed: {cause}; see {work / 'route.log'}")
    measured = json.loads((work / "report.json").read_text())
    clocks = [clock["achieved"] for clock in measured["fmax"].values()]
    return (round(min(clocks), 1) if clocks else None), measured["utilization"]["TRELLIS_COMB"]["used"]


def run(args):
    preset = args.preset or "board8"
    board = boards.load(BOARD)
    plan = boards.plan(board, preset)
    tools.check(memory=plan is not None)
    folder = args.build / "fpga" / "units" / preset
    start = time.monotonic()
    found = chosen(chip.elaborate(preset, folder), args.only)
    rows = []
    for unit, instances in found.items():
        work = map_unit(instances[0][0], folder, unit)
        cells = netlist.read(work / "net.json")
        estimate = netlist.Estimate(cells).worst()
        used = netlist.count(cells)["all"]
        row = {"unit": unit, "instances": len(instances), **used}
        if args.no_route:
            row |= {"levels": estimate[1], "estimate_ns": round(estimate[0], 1)}
        else:
            many = plan is not None and has_many_blocks(used, board["resources"])
            source = planned(work, cells, plan, boards.device(board)) if many else "net.json"
            mhz, packed = route(work, source, board["device"], boards.seed(board, args.seed), args.limit * 60)
            row |= {"cells": packed, "MHz": mhz, "levels": estimate[1], "estimate_ns": round(estimate[0], 1)}
        rows.append(row)
        tools.say(", ".join(f"{key} {value}" for key, value in row.items()))
    report.table(f"Units of {preset}, each alone with registered ports, ECP5 speed grade 6", rows)
    path = report.write(args.build, f"fpga_units_{preset}.json", {"preset": preset, "units": rows, "seconds": round(time.monotonic() - start)})
    print(f"\n{path}")
    return 0
