# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""systole profile on the RTL of nano: its page in node, and its traces, byte by byte; BrowserTest: its page in a browser (`make viewers`)."""

import argparse
import collections
import json
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTOLE = None  # the program
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BEGIN, END, COUNTER = 1, 2, 4


def fields(data):
    """A protocol buffer message as {field: [values]}: integers, or bytes."""
    found, at = collections.defaultdict(list), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            found[tag >> 3].append(varint())
        elif tag & 7 == 1:
            found[tag >> 3].append(int.from_bytes(data[at:at + 8], "little"))
            at += 8
        elif tag & 7 == 2:
            length = varint()
            if at + length > len(data):
                raise ValueError(f"field {tag >> 3} ends beyond its message")
            found[tag >> 3].append(data[at:at + length])
            at += length
        else:
            raise ValueError(f"wire type {tag & 7}")
    return found


def slices(trace):
    """Tracks and slices of a Perfetto trace: {track: name}, [(track, start, end, name)]; raises where one does not end."""
    tracks, stacks, done, last, flows = {}, collections.defaultdict(list), [], 0, collections.Counter()
    for packet in map(fields, fields(trace)[1]):
        for track in map(fields, packet[60]):
            tracks[track[1][0]] = track[2][0].decode()
        for event in map(fields, packet[11]):
            time, track = packet[8][0], event[11][0]
            if time < last or track not in tracks:
                raise ValueError(f"an event at {time} of track {track}: out of order, or its track is unknown")
            last = time
            flows.update(event[47] + event[48])
            if event[9][0] == BEGIN:
                stacks[track].append((time, event[23][0].decode()))
            elif event[9][0] == END:
                start, name = stacks[track].pop()
                done.append((track, start, time, name))
    if any(stacks.values()) or any(count != 2 for count in flows.values()):
        raise ValueError("a slice that does not end, or a flow with one end")
    return tracks, done


class Profiled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.files = {name: pathlib.Path(cls.folder.name) / f"p.{name}" for name in ("html", "json", "pftrace", "xplane.pb")}
        command = [SYSTOLE, "profile", "--preset", "nano", "--batch", "1", "--quiet", "-o", cls.files["html"], "--json", cls.files["json"],
                   "--perfetto", cls.files["pftrace"], "--xspace", cls.files["xplane.pb"]]
        cls.printed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        cls.data = json.loads(cls.files["json"].read_text())
        cls.program = cls.data["programs"][0]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()


class PageTest(Profiled):
    def test_summary(self):
        self.assertIn(f"on nano: {self.program['cycles']:,} cycles", self.printed)
        for layer in self.program["layers"]:
            self.assertIn(layer["name"], self.printed)
        self.assertIn("what to do:", self.printed)

    def test_scripts_in_node(self):
        node = shutil.which("node")
        self.assertIsNotNone(node, "no node; run scripts/setup.sh")
        result = subprocess.run([node, ROOT / "tests/profile/data_test.js", self.files["html"], self.files["json"]], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("6 seeded faults seen", result.stdout)

    def test_perfetto(self):
        trace = self.files["pftrace"].read_bytes()
        tracks, done = slices(trace)
        self.assertLessEqual({"layers", "load", "array", "vector unit", "store"}, set(tracks.values()))
        descriptors = self.program["descriptors"]
        known = sorted((s, e + 1) for s, e, row in zip(descriptors["start"], descriptors["end"], descriptors["row"]) if row >= 0)
        self.assertEqual(sorted((s, e) for track, s, e, _ in done if track >= 100), known)
        self.assertIn("conv1", {name for track, _, _, name in done if track == 10})
        with self.assertRaises((ValueError, IndexError)):
            slices(trace[:-3])

    def test_xspace(self):
        plane = fields(fields(self.files["xplane.pb"].read_bytes())[1][0])
        entries = {entry[1][0]: fields(entry[2][0]) for entry in map(fields, plane[4])}
        lines = {line[2][0].decode(): [fields(event) for event in line[4]] for line in map(fields, plane[3])}
        self.assertEqual({event[1][0] for events in lines.values() for event in events}, set(entries))
        descriptors = self.program["descriptors"]
        events = [event for name, events in lines.items() if name not in ("XLA Ops", "XLA Modules", "Steps") for event in events]
        known = sorted((s * 1000, (e + 1 - s) * 1000) for s, e, row in zip(descriptors["start"], descriptors["end"], descriptors["row"]) if row >= 0)
        self.assertEqual(sorted((e[2][0], e[3][0]) for e in events), known)
        names = {entry[1][0]: fields(entry[2][0])[2][0].decode() for entry in map(fields, plane[5])}
        operations = [entries[event[1][0]] for event in lines["XLA Ops"]]
        self.assertEqual([operation[4][0].decode() for operation in operations], [layer["name"] for layer in self.program["layers"]])
        counts = [{names[stat[1][0]]: stat[3][0] for stat in map(fields, operation[5]) if stat[3]} for operation in operations]
        self.assertEqual([count["flops"] for count in counts], [2 * layer["macs"] for layer in self.program["layers"]])
        self.assertEqual([count["bytes_accessed"] for count in counts],
                         [self.data["beat"] * (layer["weights"] + layer["activations"]) for layer in self.program["layers"]])
        for name in ("XLA Modules", "Steps"):
            self.assertEqual([(event[2], event[3]) for event in lines[name]], [([0], [1000 * self.program["cycles"]])])

    def test_pages_of_the_hbm(self):
        """A refresh of one bank leaves the open pages of the others: between two of a bank, and nowhere twice."""
        pages = self.program["pages"]
        rows = [pages[i:i + 4] for i in range(0, len(pages), 4)]
        self.assertTrue(rows)
        for bank in {row[0] for row in rows}:
            times = sorted((first, last) for b, _, first, last in rows if b == bank)
            self.assertTrue(all(before[1] <= after[0] for before, after in zip(times, times[1:])), bank)
        timing = yaml.safe_load((ROOT / "docs/spec/hbm.yaml").read_text())["timings"]
        shortest = min(last - first for _, _, first, last in rows if last < self.program["cycles"])
        self.assertGreaterEqual(shortest, next(time["value"] for time in timing if time["name"] == "tRAS"))

    def test_run_has_layers(self):
        """systole run says of each layer of a model how long it took and what else the array did."""
        command = [SYSTOLE, "run", "models/mnist_cnn.tflite", "--random", "1", "--preset", "nano", "--quiet"]
        run = json.loads(subprocess.run([*command, "--json"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
        self.assertEqual([layer["operation"] for layer in run["layers"]], ["conv2d"] * 3 + ["dense"] * 2)
        self.assertLessEqual(0.99 * run["cycles"], sum(layer["cycles"] for layer in run["layers"]))
        self.assertLessEqual(sum(layer["cycles"] for layer in run["layers"]), run["cycles"])
        self.assertEqual(run["layers"][3]["cause"], "array not free for the next tile")
        table = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertIn("largest other cause", table)
        self.assertIn(f"{run['layers'][3]['cycles']:,}", table)

    def test_waveform_commands(self):
        """The commands that the page shows record the layer's waveform, and the descriptor's cycles alone."""
        words = shlex.split(self.data["command"])
        self.assertEqual(words[:2], [str(SYSTOLE), "run"])
        wave = pathlib.Path(self.folder.name) / "layer.fst"
        subprocess.run([*words, "--trace", wave, "--trace-layer", "1", "--quiet"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        self.assertGreater(wave.stat().st_size, 1000)
        script = (f"const p = require('{ROOT}/host/profile/page/data.js'), d = JSON.parse(require('fs').readFileSync(process.argv[1]));"
                  "d.programs.forEach((q) => p.prepare(q, d.causes.length)); console.log(p.commandOf(d, d.programs[0], +process.argv[2]));")
        descriptors = self.program["descriptors"]
        index = next(i for i, row in enumerate(descriptors["row"]) if row >= 0 and descriptors["start"][i] > 2000)
        command = subprocess.run(["node", "-e", script, self.files["json"], str(index)], check=True, stdout=subprocess.PIPE, text=True).stdout
        (wave.parent / "models").symlink_to(ROOT / "models")
        subprocess.run([*shlex.split(command), "--quiet"], cwd=self.folder.name, check=True, stdout=subprocess.DEVNULL)
        vcd = subprocess.run(["fst2vcd", f"descriptor{index}.fst"], cwd=self.folder.name, check=True, stdout=subprocess.PIPE, text=True).stdout
        times = [int(time) for time in re.findall(r"^#(\d+)$", vcd, re.M)]
        self.assertLessEqual(min(times), descriptors["start"][index])
        self.assertGreaterEqual(max(times), descriptors["end"][index])
        self.assertLess(max(times) - min(times), descriptors["end"][index] - descriptors["head"][index] + 100)

    def test_inputs(self):
        """Values of a file; the command in the page names it. One run alone; an input is not overwritten."""
        folder, source = pathlib.Path(self.folder.name), ROOT / "tests/data/stablehlo/exp.mlirbc"
        for name, runs in (("one.npy", ()), ("three.npy", (3,))):
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {(*runs, 4, 8)}}}".ljust(117) + "\n"
            (folder / name).write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header.encode() + bytes(4 * 32 * (runs or (1,))[0]))
        profile = lambda *words: subprocess.run([SYSTOLE, "profile", source, "--quiet", *words], cwd=folder, stdout=subprocess.PIPE,
                                                stderr=subprocess.STDOUT, text=True, check=False)
        done = profile("--input", "one.npy", "-o", "i.html", "--json", "i.json")
        self.assertEqual(done.returncode, 0, done.stdout)
        command = json.loads((folder / "i.json").read_text())["command"]
        self.assertIn(" --input one.npy ", command)
        self.assertNotIn("--random", command)
        self.assertIn("a profile is of one run, --input has 3", profile("--input", "three.npy").stdout)
        self.assertIn("one.npy: is an input; a result would overwrite it", profile("--input", "arg0=one.npy", "-o", "one.npy").stdout)

    def test_stablehlo(self):
        """Its programs are joined: each kernel is a layer, and the commands record the one that is meant."""
        folder = pathlib.Path(self.folder.name)
        source = ROOT / "tests/data/stablehlo/mlp_sgd.mlirbc"
        run = json.loads(subprocess.run([SYSTOLE, "run", source, "--random", "1", "--json", "--quiet"], check=True, stdout=subprocess.PIPE).stdout)
        done = subprocess.run([SYSTOLE, "profile", source, "--quiet", "-o", "m.html", "--json", "m.json", "--perfetto", "m.pf", "--xspace", "m.pb"],
                              cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        data = json.loads((folder / "m.json").read_text())
        program = data["programs"][0]
        self.assertEqual((len(data["programs"]), data["preset"], program["cycles"]), (1, "lite", run["cycles"]))
        self.assertEqual([(layer["name"], layer["op"]) for layer in program["layers"]], [(part["name"], part["unit"]) for part in run["parts"]])
        self.assertEqual(sum(part["cycles"] for part in run["parts"]), program["cycles"])
        self.assertGreater(sum(layer["cycles"] for layer in program["layers"]), program["cycles"] * 9 // 10)
        self.assertEqual(program["starts"][0], 0)
        self.assertTrue(all(layer["macs"] > 0 for layer in program["layers"] if layer["op"] == "array"))
        self.assertIn(program["layers"][-1]["name"], done.stdout)
        result = subprocess.run(["node", ROOT / "tests/profile/data_test.js", folder / "m.html", folder / "m.json", "--only-checks"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        tracks, slices_of = slices((folder / "m.pf").read_bytes())
        self.assertIn("layers", tracks.values())
        self.assertEqual(max(end for _, _, end, _ in slices_of) <= program["cycles"], True)
        script = (f"const p = require('{ROOT}/host/profile/page/data.js'), d = JSON.parse(require('fs').readFileSync(process.argv[1]));"
                  "d.programs.forEach((q) => p.prepare(q, d.causes.length)); console.log(p.commandFor(d, d.programs[0], 3));"
                  "console.log(p.commandOf(d, d.programs[0], +process.argv[2]));")
        times = program["descriptors"]
        index = next(i for i, (row, layer) in enumerate(zip(times["row"], times["layer"])) if row >= 0 and layer == 3)
        layer, descriptor = subprocess.run(["node", "-e", script, folder / "m.json", str(index)], check=True, stdout=subprocess.PIPE,
                                           text=True).stdout.splitlines()
        self.assertRegex(layer, r" --trace layer3.fst( --trace-run \d+)? --trace-layer \d+$")
        meant = program["layers"][3]
        # A layer is recorded from four descriptors before its own on, which the kernel before may still be at work for.
        for command, first, last, beside in ((layer, meant["first"], meant["last"], program["cycles"] // 4),
                                             (descriptor, times["head"][index], times["end"][index], 200)):
            subprocess.run([*shlex.split(command), "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            wave = re.search(r"--trace (\S+)", command)[1]
            vcd = subprocess.run(["fst2vcd", wave], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
            cycles = [int(time) for time in re.findall(r"^#(\d+)$", vcd, re.M)]
            self.assertGreaterEqual(max(cycles) - min(cycles) + 2, last - first, command)
            self.assertLess(max(cycles) - min(cycles), last - first + beside, command)

    def test_program_without_a_model(self):
        """A program of `systole asm` has no layers; every cycle has its cause all the same."""
        folder = pathlib.Path(self.folder.name)
        (folder / "copy.txt").write_text("load len=64 n1=1 n2=1 post=0\nstore hbm_addr=0x1000 len=64 n1=1 n2=1 wait=0\nhalt\n")
        for command in (["asm", "copy.txt", "--preset", "nano", "-o", "copy.tpu"],
                        ["profile", "copy.tpu", "--quiet", "-o", "copy.html", "--json", "copy.json", "--perfetto", "copy.pftrace", "--xspace", "copy.pb"]):
            done = subprocess.run([SYSTOLE, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"copy.tpu on nano: [\d,]+ cycles\n\nwhat to do:\n +\d+\.\d % +the program: ")
        data = json.loads((folder / "copy.json").read_text())
        program = data["programs"][0]
        self.assertEqual((data["model"], program["layers"], len(program["descriptors"]["text"])), ("copy.tpu", [], 3))
        self.assertEqual(sum(finding["cycles"] for finding in program["findings"]), program["cycles"])
        waits = program["descriptors"]["waits"][1]
        self.assertEqual([wait[:2] for wait in waits], [[0, 0]])  # the store's flag is the load's
        done = subprocess.run(["node", ROOT / "tests/profile/data_test.js", folder / "copy.html", folder / "copy.json", "--only-checks"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(sorted(name for _, _, _, name in slices((folder / "copy.pftrace").read_bytes())[1] if name), ["load", "store"])

    def test_interrupt(self):
        page = pathlib.Path(self.folder.name) / "interrupted.html"
        command = [SYSTOLE, "profile", "--preset", "nano", "--batch", "64", "-o", page]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            for line in process.stderr:  # the first of its progress: it runs
                self.assertIn("cycles", line)
                break
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=60), 130)
            self.assertRegex(process.stderr.read(), r"systole: stopped by SIGINT in the model [^\n]+; nothing is written\n\Z")
        self.assertFalse(page.exists())

    def refused(self, *arguments, code=1):
        result = subprocess.run([SYSTOLE, "profile", *arguments, "--quiet"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, code, result.stderr)
        if code == 1:
            self.assertRegex(result.stderr, re.compile(r"\Asystole: [^\n]+\n\Z"), "one line")
        return result.stderr

    def test_bad_input(self):
        folder = self.folder.name
        program = f"{folder}/edge.tpu"
        subprocess.run([SYSTOLE, "compile", "models/mnist_cnn.tflite", "-o", program], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        self.assertIn("no_such.tflite", self.refused("no_such.tflite"))
        self.assertIn("unknown preset 'none'", self.refused("--preset", "none"))
        self.assertIn("but --preset is 'nano'", self.refused(program, "--preset", "nano", "-o", f"{folder}/x.html"))
        self.assertIn("/dev/full: cannot be written: No space left", self.refused("--preset", "nano", "--batch", "1", "-o", "/dev/full"))
        self.assertIn(folder, self.refused("-o", folder))
        self.assertIn("--output", self.refused("-o", "", code=2))
        self.refused("--batch", "0", code=2)
        self.assertFalse(list(pathlib.Path(folder).glob("*.tmp")))


def dom_of(test, page, place, folder):
    """What a browser makes of a page; folder: for its own files."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    test.assertIsNotNone(browser, "no browser; scripts/setup.sh browser installs one")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}", "--virtual-time-budget=20000",
               "--window-size=1500,1000", "--dump-dom", f"file://{page}{place}"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300).stdout


class BrowserTest(Profiled):
    def dom(self, page, place=""):
        return dom_of(self, page, place, f"{self.folder.name}/browser")

    def test_browser(self):
        dom = self.dom(self.files["html"], "#view=layers&descriptor=1")
        self.assertIn('data-ready="yes"', dom)
        self.assertIn(f"{self.program['cycles']:,} cycles", dom)
        self.assertIn(self.program["layers"][0]["tiling"].split(",")[0], dom)
        self.assertIn(self.program["descriptors"]["text"][1], dom)
        self.assertIn("--trace-layer", dom)

    def test_browser_sees_a_fault(self):
        """A page whose scripts are cut short is not ready."""
        broken = pathlib.Path(self.folder.name) / "broken.html"
        broken.write_text(self.files["html"].read_text().replace("H4sI", "H4sX", 1))
        dom = self.dom(broken)
        self.assertNotIn("data-ready", dom)
        self.assertIn("cannot be read", dom)


def main():
    global SYSTOLE
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    args, rest = parser.parse_known_args()
    SYSTOLE = args.build.resolve() / "bin" / "systole"
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
