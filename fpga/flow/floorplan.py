# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Sites of multiplier and RAM blocks, chosen before place and route: they lie in few rows of the device, and a placer that gives
them their sites one by one, at the end, puts the last ones anywhere.

Multiplier blocks of the array take the rows of sites in the array's order, so that neighbours in the array are neighbours on the chip. The
others, and RAM blocks, take the sites nearest to where a global placement (flow/analytic.py) would have them, RAM blocks of a unit
in the region that the board's plan has for it. What is chosen goes into the netlist as the attribute BEL of a cell.
"""

import json
import re

import numpy as np
import scipy.optimize

from flow import analytic, netlist
from flow.tools import FlowError

TURNS = 24
ARRAY_CELL = re.compile(r"\.gen_row\[(\d+)\]\.gen_column\[(\d+)\]\.")
# Of the distance to a site: its square counts too, so that no block pays for the others.
SQUARE = 0.02


class Sites:
    """Of a device (boards.device)."""

    def __init__(self, device):
        self.size = device["size"]
        self.of = {kind: [(group + offset, row, f"X{group + offset}/Y{row}/{bel}") for row in sites["rows"] for group in device["groups"]
                          for offset, bel in sites["bels"].items()] for kind, sites in device["sites"].items()}


def inside(sites, region):
    """Those of a region of the plan: {columns: [first, last], rows: [...]}."""
    first, last = region["columns"]
    return [site for site in sites if first <= site[0] <= last and site[1] in region["rows"]]


def array_sites(names, sites):
    """{cell name: site} for the multiplier blocks of the array: from the top of array and device, each row of sites with its share of
    the cells; in it column by column of the array, from the left."""
    cells = sorted((int(found[1]), int(found[2]), name) for name in names for found in [ARRAY_CELL.search(name)] if found)
    if len(cells) > len(sites):
        raise FlowError(f"{len(cells)} multiplier blocks of the array for {len(sites)} sites that the floor plan leaves it")
    result, done = {}, 0
    for row in sorted({row for _, row, _ in sites}):
        here = sorted(site for site in sites if site[1] == row)
        end = (done + len(here)) * len(cells) // len(sites)
        band = sorted(cells[len(result):end], key=lambda cell: (cell[1], cell[0]))
        done += len(here)
        result.update(zip((name for _, _, name in band), here))
    return result


def nearest(cells, sites, x, y, where="the device"):
    """{cell: site}, the sum of the distances least."""
    if len(cells) > len(sites):
        raise FlowError(f"{len(cells)} blocks for {len(sites)} sites: {where} is too small")
    distance = (np.abs(x[cells][:, None] - np.array([site[0] for site in sites]))
                + np.abs(y[cells][:, None] - np.array([site[1] for site in sites])))
    rows, columns = scipy.optimize.linear_sum_assignment(distance + SQUARE * distance ** 2)
    return {cells[row]: sites[column] for row, column in zip(rows, columns)}


def choose(cells, plan, sites, unit_of, say):
    """{cell name: BEL} for all multiplier and RAM blocks. plan: {density, regions: {unit: region}, multipliers: region}: of the RAM blocks of
    units, and of the multiplier blocks that are not the array's."""
    placement = analytic.Placement(cells, *sites.size)
    kinds = {kind: [number for number in np.nonzero(placement.kind == kind)[0]] for kind in analytic.BLOCKS}
    others = inside(sites.of["MULT18X18D"], plan["multipliers"])
    array = array_sites((placement.names[number] for number in kinds["MULT18X18D"]), [site for site in sites.of["MULT18X18D"] if site not in others])
    array = {placement.index[name]: site for name, site in array.items()}
    units = {number: unit_of(placement.names[number]) for number in kinds["DP16KD"]}
    unknown = set(plan["regions"]) - set(units.values())
    if unknown:
        raise FlowError(f"the floor plan has regions for units without RAM blocks: {', '.join(sorted(unknown))}")

    def chosen(x, y):
        result = dict(array)
        if x is None:
            return result
        result |= nearest([number for number in kinds["MULT18X18D"] if number not in array], others, x, y, "the floor plan's region of multipliers")
        left, taken = set(units), set()
        for unit, region in plan["regions"].items():
            here = [site for site in inside(sites.of["DP16KD"], region) if site not in taken]
            found = nearest([number for number in units if units[number] == unit], here, x, y, f"the floor plan's region of '{unit}'")
            result |= found
            left -= set(found)
            taken |= set(found.values())
        return result | nearest(sorted(left), [site for site in sites.of["DP16KD"] if site not in taken], x, y)

    last, length = placement.run(TURNS, plan["density"], chosen)
    say(f"floor plan: {len(last)} blocks on their sites, wires of about {length / 1000:.0f} thousand tiles")
    return {placement.names[number]: bel for number, (_, _, bel) in last.items()}


def apply(source, target, plan, device, unit_of, say):
    """Writes the netlist with sites for its blocks."""
    mapped = json.loads(source.read_text())
    cells = netlist.top(mapped)["cells"]
    for name, bel in choose(cells, plan, Sites(device), unit_of, say).items():
        cells[name]["attributes"]["BEL"] = bel
    target.write_text(json.dumps(mapped))
