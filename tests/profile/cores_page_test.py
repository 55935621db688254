# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""systole profile of a program for four cores on two chips: its tables, its page in node, its traces, and the waveforms of its commands.

BrowserTest: its page in a browser (`make viewers`).
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/profile"))

from page_test import COUNTER, dom_of, fields, slices  # noqa: E402

SOURCE = ROOT / "tests/data/stablehlo/sharded_mlp.mlirbc"
CORE, CHIPS, CHIP, UNITS = 1024, 1 << 32, 8, 100  # tracks (host/profile/perfetto.cc)
SYSTOLE = None  # the program


def spans(program, scale=1):
    """Start and end of each descriptor of a core."""
    times = program["descriptors"]
    return sorted((scale * s, scale * (e + 1)) for s, e, row in zip(times["start"], times["end"], times["row"]) if row >= 0)


class Profiled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name)
        command = [SYSTOLE, "profile", SOURCE, "--devices", "4", "--preset", "minichip", "--quiet", "-o", "p.html", "--json", "p.json",
                   "--perfetto", "p.pftrace", "--xspace", "p.xplane.pb"]
        cls.printed = subprocess.run(command, cwd=cls.folder, check=True, stdout=subprocess.PIPE, text=True).stdout
        cls.data = json.loads((cls.folder / "p.json").read_text())
        cls.programs = cls.data["programs"]
        cls.cycles = cls.programs[0]["cycles"]

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()


class CoresTest(Profiled):
    def node(self, script, *arguments):
        return subprocess.run(["node", "-e", script, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True, cwd=self.folder).stdout

    def test_tables(self):
        self.assertRegex(self.printed, rf"on minichip, 4 cores of 2 chips: {self.cycles:,} cycles from begin to end\n[\d,]+ of them \(\d+\.\d %\), "
                         r"the mean of the cores, in 1 collective: \d+\.\d % of these along with kernels\n")
        cores = [[int(n.replace(",", "")) for n in line] for line in re.findall(r"^(\d) +(\d) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+) ",
                                                                              self.printed, re.M)]
        self.assertEqual([(core[0], core[1]) for core in cores], [(0, 0), (1, 0), (2, 1), (3, 1)])
        for core, chip, programs, kernels, collectives, idle, waits in cores:
            self.assertEqual(kernels + collectives + idle, self.cycles)
            self.assertEqual(programs, len(self.programs[core]["starts"]))
            self.assertLess(0, waits)
            self.assertLess(0, collectives)
            self.assertEqual(collectives, self.data["cores"][core]["exchanges"]["alone"])
            self.assertEqual(chip, self.data["cores"][core]["chip"])
        self.assertRegex(self.printed, r"\nchip 1 X- +[\d,]+ ")
        self.assertRegex(self.printed, r"\nspmd.all_reduce\S* +\S*all_reduce +4 +[\d,]+ ")
        self.assertIn("what to do:", self.printed)

    def total(self, core):
        """The collective of the program, which is a layer."""
        (total,) = [layer for layer in self.programs[core]["layers"] if layer["collective"]]
        self.assertTrue(total["name"].startswith("spmd.all_reduce"), total["name"])
        return total

    def test_one_axis(self):
        """All cores' programs are where their rounds are, the collective where the links carry something."""
        self.assertEqual([program["cycles"] for program in self.programs], 4 * [self.cycles])
        rounds = self.data["rounds"]
        self.assertIn(1, rounds["exchanges"])
        for program in self.programs:
            self.assertEqual(len(program["starts"]), len(rounds["first"]))
            for start, (first, cycles) in zip(program["starts"], zip(rounds["first"], rounds["cycles"])):
                self.assertLessEqual(first, start)
                self.assertLess(start, first + cycles // 4)  # started one after the other, at once
        sends = self.data["units"].index("send")
        self.assertTrue(all(sends in program["descriptors"]["queue"] for program in self.programs))
        sent = [(s, e) for program in self.programs for queue, s, e in zip(*(program["descriptors"][k] for k in ("queue", "start", "end"))) if queue == sends]
        period = self.data["links"]["cycles"]
        for link in self.data["links"]["traffic"]:
            self.assertGreater(link["sent"], 1000)
            periods = [i * period for i, size in enumerate(link["bytes"]) if size]
            self.assertLessEqual(min(start for start, _ in sent) - period, periods[0])
            self.assertLess(periods[-1], max(end for _, end in sent) + 3 * period)

    def test_scripts_in_node(self):
        result = subprocess.run(["node", ROOT / "tests/profile/data_test.js", self.folder / "p.html", self.folder / "p.json", "--cores"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout[-3000:])
        self.assertIn("4 cores, 6 seeded faults seen", result.stdout)

    def test_perfetto(self):
        trace = (self.folder / "p.pftrace").read_bytes()
        tracks, done = slices(trace)
        for core in range(4):
            self.assertEqual(tracks[core * CORE + 1], f"jit_step on minichip, core {core} (chip {core // 2})")
            own = [(track, start, end, name) for track, start, end, name in done if track // CORE == core]
            self.assertEqual(sorted((start, end) for track, start, end, _ in own if track % CORE >= UNITS), spans(self.programs[core]))
            self.assertEqual([name for track, _, _, name in own if tracks[track] == "collectives"], [self.total(core)["name"]])
        sums = {}
        for packet in map(fields, fields(trace)[1]):
            for event in map(fields, packet[11]):
                if event[9][0] == COUNTER and event[11][0] >= CHIPS:
                    sums[event[11][0]] = sums.get(event[11][0], 0) + event[30][0]
        for link in self.data["links"]["traffic"]:
            track = CHIPS + link["chip"] * CHIP + 1 + ["X+", "X-", "Y+", "Y-"].index(link["link"])
            self.assertEqual(tracks[track], f"{link['link']}, bytes a cycle, in thousandths")
            period = self.data["links"]["cycles"]
            self.assertEqual(sums[track], sum(size * 1000 // period for size in link["bytes"]))

    def test_xspace(self):
        planes = [fields(plane) for plane in fields((self.folder / "p.xplane.pb").read_bytes())[1]]
        self.assertEqual([plane[2][0].decode() for plane in planes], [f"/device:TPU:{core}" for core in range(4)])
        for plane, program in zip(planes, self.programs):
            lines = {line[2][0].decode(): [fields(event) for event in line[4]] for line in map(fields, plane[3])}
            events = [event for name, events in lines.items() if name not in ("XLA Ops", "XLA Modules", "Steps") for event in events]
            self.assertEqual(sorted((event[2][0], event[2][0] + event[3][0]) for event in events), spans(program, 1000))
            self.assertEqual(lines["Steps"][0][3], [1000 * self.cycles])

    def test_waveforms(self):
        """The commands of the page record a program of the core that is meant; its views are of its units."""
        script = (f"const p = require('{ROOT}/host/profile/page/data.js'), d = JSON.parse(require('fs').readFileSync('p.json'));"
                  "d.programs.forEach((q) => p.prepare(q, d.causes.length));"
                  "console.log(p.commandFor(d, d.programs[3], d.programs[3].layers.findIndex((l) => l.collective)));")
        command = self.node(script).strip()
        self.assertRegex(command, r" --devices 4 --preset minichip --trace layer\d+.fst --trace-core 3( --trace-run \d+)?( --trace-layer \d+)?$")
        subprocess.run([*shlex.split(command), "--quiet"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        wave = self.folder / re.search(r"--trace (\S+)", command)[1]
        vcd = subprocess.run(["fst2vcd", wave], check=True, stdout=subprocess.PIPE, text=True).stdout
        cycles = [int(time) for time in re.findall(r"^#(\d+)$", vcd, re.M)]
        total = self.total(3)
        self.assertLess((total["last"] - total["first"]) // 2, max(cycles) - min(cycles))
        self.assertLess(max(cycles), 2 * self.cycles)
        self.assertLessEqual({"core0", "core1", "network"}, set(re.findall(r"\$scope module (\S+) \$end", vcd)))
        view = wave.with_suffix(".gtkw").read_text()
        self.assertIn("core1.", view)
        self.assertNotIn("core0.systole_node_pins.u_node.u_core.u_vector", view)

    def refused(self, *arguments):
        result = subprocess.run([SYSTOLE, *arguments, "--quiet"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, re.compile(r"\Asystole: [^\n]+\n\Z"), "one line")
        return result.stderr

    def test_refused(self):
        self.assertIn("the chips of preset 'lite' have none; --preset takes one of these: minichip, ", self.refused("profile", SOURCE, "--devices", "4"))
        self.assertIn("is a program for 4 devices; give --devices 4", self.refused("profile", SOURCE, "--devices", "8", "--preset", "minichip"))
        self.assertIn("runs it", self.refused("profile", SOURCE, "--preset", "minichip"))
        self.assertIn("--devices is for StableHLO", self.refused("profile", ROOT / "models/mnist_cnn.tflite", "--devices", "2"))
        run = ["run", SOURCE, "--devices", "4", "--preset", "minichip", "--random", "1", "--trace", "x.fst"]
        self.assertIn("--trace-core 4: 4 cores run, from 0 to 3", self.refused(*run, "--trace-core", "4"))
        self.assertRegex(self.refused(*run, "--trace-run", "9"), r"--trace-run 9: the last program is number \d")


class BrowserTest(Profiled):
    def test_browser(self):
        """A core that the address names, and a bar of it; the tables of all cores."""
        program = self.programs[3]
        index = next(i for i, queue in enumerate(program["descriptors"]["queue"]) if self.data["units"][queue] == "send")
        dom = dom_of(self, self.folder / "p.html", f"#core=3&view=cores&descriptor={index}", self.folder / "browser")
        self.assertIn('data-ready="yes"', dom)
        self.assertIn(f"{self.cycles:,} cycles, ", dom)
        self.assertIn("8 units of 4 cores accounted for", dom)
        self.assertIn(program["descriptors"]["text"][index], dom)
        self.assertIn("--trace-core 3", dom)
        for text in ("chip 1, X-", "spmd.all_reduce", "waits for other cores"):
            self.assertIn(text, dom)


def main():
    global SYSTOLE
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    args, rest = parser.parse_known_args()
    SYSTOLE = args.build.resolve() / "bin" / "systole"
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
