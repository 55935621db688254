# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""From source to bitstream: generates PLL and DRAM controller, maps, places, routes, packs, reports."""

import dataclasses
import hashlib
import json
import math
import os
import pathlib
import re
import time

from flow import boards, chip, netlist, report, sdf, tools
from flow.tools import ROOT, FlowError

COMMON = ROOT / "fpga" / "common"
WORST_PATHS = 5
SDF = "board.sdf"  # minutes to write


def generate(board, clock, work):
    """The board's PLL and DRAM controller."""
    command = [tools.ECPPLL, "-n", "systole_pll", "-i", board["input_mhz"], "-o", clock, "--clkin_name", "clkin", "--clkout0_name", "clkout0",
               "--clkout1_name", "clkout1", "--clkout1", clock, "--phase1", board["sdram_phase"], "-f", "systole_pll.v"]
    code, _ = tools.run(command, work, work / "pll.log", "PLL")
    made = re.search(r"clkout0 frequency: ([\d.]+)", (work / "pll.log").read_text())
    if code != 0 or not made or not math.isclose(float(made[1]), clock, rel_tol=1e-3):
        raise FlowError(f"no PLL setting yields {clock} MHz from {board['input_mhz']} MHz (nearest: {made[1] if made else '-'}); see {work / 'pll.log'}")
    sdram = [tools.PYTHON, ROOT / "fpga" / "flow" / "sdram.py", "--module", board["sdram"], "--clock", clock * 1e6, "--out", "systole_sdram.v"]
    code, _ = tools.run(sdram, work, work / "sdram.log", "DRAM controller")
    if code != 0:
        raise FlowError(f"LiteDRAM failed: {tools.last_line(work / 'sdram.log', r'Error') or f'exit code {code}'}; see {work / 'sdram.log'}")


def sources(work):
    """All that is not in rtl/."""
    return [COMMON / "ecp5_pads.v", COMMON / "systole_serial_pkg.sv", *sorted(path for path in COMMON.glob("*.sv") if not path.stem.endswith("_pkg")),
            work / "systole_pll.v", work / "systole_sdram.v"]


def synthesise(board, preset, clock, work):
    """Reads and maps. Returns {unit: instance path} and the seconds it took."""
    files = " ".join(str(path) for path in sources(work))
    options = (f"{chip.OPTIONS} --top {board['top']} -G Preset={preset['id']} -G ClockHz={round(clock * 1e6)} "
               f"-G Baud={board['baud']}")
    seconds = tools.yosys({"read": f"{options} -F rtl/systole.f @share/lattice/cells_bb_ecp5.v {files}", "save": str(work / "board.il")},
                          work, "read", "reading")
    units = chip.find_units(work / "board.il", board["top"])
    paths = {unit if len(found) == 1 else f"{unit} {number}": path for unit, found in units.items() for number, (_, path) in enumerate(found)}
    seconds += tools.yosys({"load": str(work / "board.il"), "top": board["top"], "json": str(work / "net.json")},
                           work, "map", "mapping")
    return paths, seconds


def placer_of(board, args):
    return args.placer or board.get("placer", "heap")


@dataclasses.dataclass
class Design:
    """A mapped netlist on its way onto a board: what every try of the placer begins with. nextpnr runs in `work`, the results of a try are in
    a folder of its seed in there."""

    board: dict
    preset: str
    clock: float  # MHz
    work: pathlib.Path
    source: str = "net.json"
    options: tuple = ()  # of the placer
    unit_of: object = None

    def folder(self, seed):
        return self.work / f"seed{seed}"

    @property
    def bitstream(self):
        return self.work / f"{self.board['name']}-{self.preset}.bit"


def prepare(design, plan, args):
    """Pins, and the sites of blocks if there is a floor plan. Returns the seconds it took."""
    start = time.monotonic()
    (design.work / "pins.lpf").write_text((design.board["folder"] / "pins.lpf").read_text())
    design.source, design.options = "net.json", ("--placer", placer_of(design.board, args))
    if plan is not None:
        from flow import floorplan  # pylint: disable=import-outside-toplevel  what reads scipy: for boards with a plan only
        design.source = "planned.json"
        design.options += (*plan["placer"], *(plan["native"] if tools.is_native() else ()))
        floorplan.apply(design.work / "net.json", design.work / design.source, plan, boards.device(design.board), design.unit_of, tools.say)
    return time.monotonic() - start


def nextpnr(design, seed, step, options, args):
    """Runs nextpnr for one step of a try. Returns the seconds it took."""
    folder = design.folder(seed)
    command = [tools.nextpnr()[0], *design.board["device"], "--lpf", "pins.lpf", "--freq", design.clock, "--seed", seed, "--timing-allow-fail",
               "--report", f"{folder.name}/report.json", *options]
    log = folder / f"{step}.log"
    code, seconds = tools.run(command, design.work, log, step, pattern=r"Info:", limit=args.limit * 60)
    if code != 0:
        cause = tools.last_line(log, r"ERROR|ended after") or tools.last_line(log, "arcs|overused") or f"exit code {code}"
        raise FlowError(f"{step} with seed {seed} failed: {cause}; see {log} (another --seed or --router may do)")
    return seconds


def place(design, seed, args):
    """The placed design in placed.json of the seed's folder, unless it is there from a run with the same netlist, floor plan, pins, clock, seed,
    placer and nextpnr, so that another router begins where the last one did. Returns the seconds it took."""
    folder = design.folder(seed)
    folder.mkdir(exist_ok=True)
    inputs = [(design.work / design.source).read_bytes(), (design.work / "pins.lpf").read_bytes(),
              json.dumps([design.board["device"], design.clock, seed, design.options, tools.nextpnr()[1]]).encode()]
    wanted = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in inputs)).hexdigest()
    stamp = folder / "placed.sha256"
    if not args.no_route and stamp.exists() and stamp.read_text() == wanted and (folder / "placed.json").exists():
        tools.say(f"placed before, with seed {seed}")
        return 0.0
    stamp.unlink(missing_ok=True)
    results = ["--sdf", f"{folder.name}/{SDF}"] if args.no_route else ["--write", f"{folder.name}/placed.json"]
    seconds = nextpnr(design, seed, "place", ["--json", design.source, "--no-route", *design.options, *results], args)
    if not args.no_route:
        stamp.write_text(wanted)
    return seconds


def route(design, seed, args):
    """Routes what is placed. Returns the seconds it took."""
    # What the placer was called with is in its design, and would go before what the router is called with.
    folder = design.folder(seed)
    placed = (folder / "placed.json").read_text()
    (folder / "placed.json").write_text(re.sub(r'("router": )"[^"]*"', rf'\1"{args.router}"', placed, count=1))
    return nextpnr(design, seed, "route",
                   ["--json", f"{folder.name}/placed.json", "--no-pack", "--no-place", "--router", args.router,
                    "--textcfg", f"{folder.name}/board.config", "--sdf", f"{folder.name}/{SDF}"], args)


def name_path(path, unit_of):
    """A path with the units that its ends are in."""
    return {**path, "from_unit": unit_of(path["from"]), "to_unit": unit_of(path["to"])}


def frequency(measured, log):
    """The slowest clock of the chip, in MHz: the router's, or the placer's last estimate, which is in its log alone."""
    clocks = {net: value["achieved"] for net, value in measured["fmax"].items()}
    clocks = clocks or {net: float(mhz) for net, mhz in re.findall(r"Max frequency for clock '([^']+)': ([\d.]+) MHz", log)}
    return min((mhz for net, mhz in clocks.items() if "25mhz" not in net), default=0.0)


def attempt(design, seed, args):
    """Places and routes with one seed. Returns what the report has of it."""
    seconds = {"place": place(design, seed, args)}
    if not args.no_route:
        seconds["route"] = route(design, seed, args)
    folder = design.folder(seed)
    log = folder / ("place.log" if args.no_route else "route.log")
    measured = json.loads((folder / "report.json").read_text())
    fmax = frequency(measured, log.read_text())
    if fmax <= 0:
        raise FlowError(f"nextpnr names no frequency of the chip's clock with seed {seed}; see {log}")
    use = {kind: value["used"] for kind, value in measured["utilization"].items()}
    return {"seed": seed, "fmax_mhz": fmax, "seconds": seconds, "cells": use["TRELLIS_COMB"], "flip_flops": use["TRELLIS_FF"],
            "multipliers": use["MULT18X18D"], "ram_blocks": use["DP16KD"]}


def keep(design, tried, args):
    """Of the best try up to now: its worst paths, and its bitstream in place of the last one."""
    folder = design.folder(tried["seed"])
    worst = [name_path(path, design.unit_of) for path in sdf.Design((folder / SDF).read_text()).worst(WORST_PATHS)]
    bitstream = None
    if not args.no_route:
        packed = f"{folder.name}/{design.bitstream.name}"
        command = [tools.ECPPACK, "--compress", f"{folder.name}/board.config", packed]
        code, tried["seconds"]["bitstream"] = tools.run(command, design.work, folder / "pack.log", "bitstream")
        if code != 0:
            raise FlowError(f"ecppack failed; see {folder / 'pack.log'}")
        os.replace(design.work / packed, design.bitstream)
        bitstream = str(design.bitstream)
    return {**tried, "worst_paths": worst, "bitstream": bitstream}


def write(design, common, best, tries, args):
    """The reports of the best try up to now. Returns the path of one."""
    seconds = {step: round(taken) for step, taken in {**common["seconds"], **best["seconds"]}.items()}
    result = {**common, **best, "fmax_mhz": round(best["fmax_mhz"], 2), "seconds": seconds, "tries": tries}
    report.write(args.build, f"fpga_{design.board['name']}_{design.preset}.json", result)
    return report.write(args.build, "fpga.json", result)


def search(design, common, args):
    """Tries seeds until one reaches the clock. The best of them is kept at each moment: its bitstream, and the reports. Prints what is kept;
    raises an error if no seed reached the clock."""
    first = boards.seed(design.board, args.seed)
    number = 1 if args.no_route else args.tries
    best, path, tries, failure = None, None, [], None
    for seed in range(first, first + number):
        try:
            tried = attempt(design, seed, args)
            better = best is None or tried["fmax_mhz"] > best["fmax_mhz"]
            if better:
                best = keep(design, tried, args)
        except FlowError as error:
            tries.append({"seed": seed, "fmax_mhz": None, "error": str(error)})
            failure = str(error)
        else:
            tries.append({"seed": seed, "fmax_mhz": round(tried["fmax_mhz"], 2), "seconds": round(sum(tried["seconds"].values()))})
        if best is not None:
            path = write(design, common, best, tries, args)
        if failure:
            break
        reached = tried["fmax_mhz"] >= design.clock
        follows = "done" if reached else "no try is left" if len(tries) == number else f"seed {seed + 1} is next"
        tools.say(f"try {len(tries)} of {number}: seed {seed} reaches {tried['fmax_mhz']:.1f} of {design.clock:g} MHz"
                  f"{'' if better else ', seed ' + str(best['seed']) + ' remains the best'}; {follows}")
        if reached:
            break
    if best is not None:
        show(design, best, path, args)
    check(design, best, tries, failure, args)


def show(design, best, path, args):
    """Prints what is kept."""
    columns = ("ns", "levels", "routing_ns", "from_unit", "to_unit", "from", "to")
    report.table(f"Worst paths with seed {best['seed']}", [{key: worst[key] for key in columns} for worst in best["worst_paths"]])
    print(f"\n{design.preset} on {design.board['name']}: {best['cells']} logic cells, {best['flip_flops']} flip-flops, {best['multipliers']} multipliers, "
          f"{best['ram_blocks']} RAM blocks, {best['fmax_mhz']:.1f} MHz with seed {best['seed']}{' (estimated, not routed)' if args.no_route else ''}\n{path}")
    if best["bitstream"]:
        print(f"{design.board['load']} {best['bitstream']}", flush=True)


def check(design, best, tries, failure, args):
    """Raises an error if a try failed or none reached the clock."""
    if failure and best is None:
        raise FlowError(failure)
    if failure:
        raise FlowError(f"{failure}; kept is seed {best['seed']} with {best['fmax_mhz']:.1f} of {design.clock:g} MHz")
    if best["fmax_mhz"] < design.clock:
        seeds = ", ".join(str(tried["seed"]) for tried in tries)
        more = "" if args.no_route else f", or try other seeds with --seed {tries[-1]['seed'] + 1}"
        raise FlowError(f"{best['fmax_mhz']:.1f} MHz do not reach the clock of {design.clock:g} MHz (the best of seed {seeds}): "
                        f"run with --clock {math.floor(best['fmax_mhz'])} or lower{more}")


def run(args):
    board = boards.load(args.board)
    name = args.preset or board["presets"][0]
    preset = boards.preset(name)
    if preset["chip"]["Memory"] != "axi":
        raise FlowError(f"preset '{name}' does not fit {board['name']}: it has HBM, the board's presets are {', '.join(board['presets'])}")
    tools.check(memory=True)
    clock = args.clock or board["clock_mhz"]
    work = args.build / "fpga" / board["name"] / name
    work.mkdir(parents=True, exist_ok=True)
    tools.say(f"{name} for {board['name']} at {clock:g} MHz, in {work}")
    generate(board, clock, work)
    paths, synthesis_seconds = synthesise(board, preset, clock, work)
    cells = netlist.read(work / "net.json")
    unit_of = netlist.unit_namer(paths)
    table = netlist.count(cells, unit_of)
    total = netlist.count(cells)["all"]
    rows = [{"unit": unit, **table[unit]} for unit in sorted(table, key=lambda unit: -table[unit]["cells"])]
    report.table(f"{name} on {board['name']}, mapped in {synthesis_seconds:.0f} s", rows + [{"unit": "all", **total}])
    estimate = netlist.Estimate(cells).worst()
    tools.say(f"longest path, not placed: about {estimate[0]:.1f} ns, {estimate[1]} levels, from {estimate[2]} to {estimate[3]}")
    boards.check_fit(board, name, total)
    design = Design(board, name, clock, work, unit_of=unit_of)
    seconds = {"synthesis": synthesis_seconds, "floor_plan": prepare(design, boards.plan(board, name), args)}
    common = {"board": board["name"], "preset": name, "nextpnr": tools.nextpnr()[1], "clock_mhz": clock, "routed": not args.no_route,
              "units": {row.pop("unit"): row for row in [dict(row) for row in rows]}, "estimate_ns": round(estimate[0], 1), "seconds": seconds}
    search(design, common, args)
    return 0
