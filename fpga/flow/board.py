# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""From source to bitstream: generates PLL and DRAM controller, maps, places, routes, packs, reports."""

import hashlib
import json
import math
import re
import time

from flow import boards, chip, netlist, report, sdf, tools
from flow.tools import ROOT, FlowError

COMMON = ROOT / "fpga" / "common"
WORST_PATHS = 5
SDF = ["--sdf", "board.sdf"]  # minutes to write


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
    return [COMMON / "ecp5_pads.v", COMMON / "systole_link_pkg.sv", *sorted(path for path in COMMON.glob("*.sv") if not path.stem.endswith("_pkg")),
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


def nextpnr(board, clock, work, step, options, args):
    """Runs nextpnr for one step. Returns the seconds it took."""
    command = [tools.nextpnr()[0], *board["device"], "--lpf", "pins.lpf", "--freq", clock, "--seed", boards.seed(board, args.seed), "--timing-allow-fail",
               "--report", "report.json", *options]
    log = work / f"{step}.log"
    code, seconds = tools.run(command, work, log, step, pattern=r"Info:", limit=args.limit * 60)
    if code != 0:
        cause = tools.last_line(log, r"ERROR|ended after") or tools.last_line(log, "arcs|overused") or f"exit code {code}"
        raise FlowError(f"{step} failed: {cause}; see {log} (another --seed or --router may do)")
    return seconds


def place(board, plan, unit_of, clock, work, args):
    """The placed design in placed.json, unless it is there from a run with the same netlist, floor plan, pins, clock, seed, placer and nextpnr,
    so that another router begins where the last one did. Returns the seconds it took."""
    (work / "pins.lpf").write_text((board["folder"] / "pins.lpf").read_text())
    start = time.monotonic()
    source, options = "net.json", ["--placer", placer_of(board, args)]
    if plan is not None:
        from flow import floorplan  # pylint: disable=import-outside-toplevel  what reads scipy: for boards with a plan only
        source, options = "planned.json", options + plan["placer"] + (plan["native"] if tools.is_native() else [])
        floorplan.apply(work / "net.json", work / source, plan, boards.device(board), unit_of, tools.say)
    planned = time.monotonic() - start
    inputs = [(work / source).read_bytes(), (work / "pins.lpf").read_bytes(),
              json.dumps([board["device"], clock, boards.seed(board, args.seed), options, tools.nextpnr()[1]]).encode()]
    wanted = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in inputs)).hexdigest()
    stamp = work / "placed.sha256"
    if not args.no_route and stamp.exists() and stamp.read_text() == wanted and (work / "placed.json").exists():
        tools.say("placed before")
        return 0.0
    stamp.unlink(missing_ok=True)
    seconds = nextpnr(board, clock, work, "place", ["--json", source, "--no-route", *options,
                                                    *(SDF if args.no_route else ["--write", "placed.json"])], args)
    if not args.no_route:
        stamp.write_text(wanted)
    return planned + seconds


def route(board, clock, work, args):
    """Routes what is placed. Returns the seconds it took."""
    # What the placer was called with is in its design, and would go before what the router is called with.
    placed = (work / "placed.json").read_text()
    (work / "placed.json").write_text(re.sub(r'("router": )"[^"]*"', rf'\1"{args.router}"', placed, count=1))
    return nextpnr(board, clock, work, "route",
                   ["--json", "placed.json", "--no-pack", "--no-place", "--router", args.router, "--textcfg", "board.config", *SDF], args)


def name_path(path, unit_of):
    """A path with the units that its ends are in."""
    return {**path, "from_unit": unit_of(path["from"]), "to_unit": unit_of(path["to"])}


def frequency(measured, log):
    """The slowest clock of the chip, in MHz: the router's, or the placer's last estimate, which is in its log alone."""
    clocks = {net: value["achieved"] for net, value in measured["fmax"].items()}
    clocks = clocks or {net: float(mhz) for net, mhz in re.findall(r"Max frequency for clock '([^']+)': ([\d.]+) MHz", log)}
    return min((mhz for net, mhz in clocks.items() if "25mhz" not in net), default=0.0)


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
    (args.build / "reports" / "fpga.json").unlink(missing_ok=True)
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
    plan = boards.plan(board, name)
    seconds = {"synthesis": synthesis_seconds, "place": place(board, plan, unit_of, clock, work, args)}
    if not args.no_route:
        seconds["route"] = route(board, clock, work, args)
    measured = json.loads((work / "report.json").read_text())
    use = {kind: value["used"] for kind, value in measured["utilization"].items()}
    fmax = frequency(measured, (work / ("place.log" if args.no_route else "route.log")).read_text())
    worst = sdf.Design((work / "board.sdf").read_text()).worst(WORST_PATHS)
    worst = [name_path(path, unit_of) for path in worst]
    result = {"board": board["name"], "preset": name, "nextpnr": tools.nextpnr()[1], "clock_mhz": clock, "fmax_mhz": round(fmax, 2), "routed": not args.no_route,
              "cells": use["TRELLIS_COMB"], "flip_flops": use["TRELLIS_FF"], "multipliers": use["MULT18X18D"], "ram_blocks": use["DP16KD"],
              "units": {row.pop("unit"): row for row in [dict(row) for row in rows]}, "estimate_ns": round(estimate[0], 1), "worst_paths": worst, "bitstream": None,
              "seconds": seconds}
    report.table("Worst paths", [{key: path[key] for key in ("ns", "levels", "routing_ns", "from_unit", "to_unit", "from", "to")} for path in worst])
    if not args.no_route:
        code, seconds["bitstream"] = tools.run([tools.ECPPACK, "--compress", "board.config", f"{board['name']}-{name}.bit"], work, work / "pack.log", "bitstream")
        if code != 0:
            raise FlowError(f"ecppack failed; see {work / 'pack.log'}")
        result["bitstream"] = str(work / f"{board['name']}-{name}.bit")
    result["seconds"] = {step: round(taken) for step, taken in seconds.items()}
    path = report.write(args.build, "fpga.json", result)
    report.write(args.build, f"fpga_{board['name']}_{name}.json", result)
    print(f"\n{name} on {board['name']}: {result['cells']} logic cells, {result['flip_flops']} flip-flops, {result['multipliers']} multipliers, "
          f"{result['ram_blocks']} RAM blocks, {fmax:.1f} MHz{' (estimated, not routed)' if args.no_route else ''}\n{path}")
    if result["bitstream"]:
        print(f"{board['load']} {result['bitstream']}")
    if fmax < clock:
        raise FlowError(f"{fmax:.1f} MHz do not reach the clock of {clock:g} MHz: run with --clock {math.floor(fmax)} or lower")
    return 0
