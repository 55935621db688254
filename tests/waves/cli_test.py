# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Waveforms of `systole run` and of failing tests: the views, the commands that record them again, and disks that are full."""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
MODEL = "models/mnist_cnn.safetensors"
TOOL = [[], ["--map-root-user"]]  # of unshare: as root, or as somebody


def run(command, **options):
    return subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)


def spoilt_model(path):
    """A copy of the digits network in which a few of its first weights are others, with the checksum of that."""
    data = (ROOT / MODEL).read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    metadata = header["__metadata__"]
    text, stated = metadata["systole.network"].encode(), metadata["systole.crc32"]

    def checksum(tensors):
        return f"{zlib.crc32(tensors, zlib.crc32(text)):08x}"

    assert checksum(data[begin:]) == stated, "the checksum of model files is another one"
    tensors = bytearray(data[begin:])
    first, end = next(entry["data_offsets"] for name, entry in header.items() if "weight" in name)
    for at in range(first, min(first + 16, end)):
        tensors[at] ^= 0x40
    path.write_bytes(data[:begin].replace(stated.encode(), checksum(tensors).encode()) + tensors)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.systole = BUILD / "bin" / "systole"
        self.digits = [self.systole, "run", "--preset", "nano", "--images", "1", "--batch", "1", "--reports", "", "--quiet"]


class Waves(Case):
    def test_layer_by_name_and_make_waves(self):
        done = run([*self.digits, "--trace", self.path / "a.fst", "--trace-layer", "dense2"])
        self.assertEqual(done.returncode, 0, done.stdout)
        times = re.findall(r"^#(\d+)$", run(["fst2vcd", self.path / "a.fst"]).stdout, re.M)
        self.assertLess(int(times[-1]) - int(times[0]), 20000)  # not from its first weights on, 100,000 cycles before
        view = (self.path / "a.gtkw").read_text()
        self.assertRegex(view, r"\[markername\] .dense2 end\n")
        self.assertIn("dense2", (self.path / "a.view" / "layer.txt").read_text())
        for missing in (None, self.path / "a.gtkw"):
            if missing:
                missing.unlink()
            environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
            done = run([ROOT / "scripts/python", "scripts/waves/waves.py", "--build", BUILD, "--view-only", self.path / "a.fst"], env=environment)
            self.assertEqual(done.returncode, 1 if missing else 0, done.stdout)
            self.assertIn("there is no such view" if missing else "gtkwave --save", done.stdout)

    def test_make_waves_of_programs(self):
        """A program has its preset; one without a model no inputs and no layers; the model may stand behind options."""
        (self.path / "copy.txt").write_text("load len=64 n1=1 n2=1 post=0\nstore hbm_addr=0x1000 len=64 n1=1 n2=1 wait=0\nhalt\n")
        for command in (["asm", self.path / "copy.txt", "--preset", "nano", "-o", self.path / "copy.tpu"],
                        ["compile", MODEL, "--preset", "nano", "--batch", "1", "-o", self.path / "my digits.tpu"]):
            self.assertEqual(run([self.systole, *command]).returncode, 0)
        (self.path / "bin").mkdir()
        (self.path / "bin" / "systole").symlink_to(self.systole)
        environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        for words, name, layer in (([self.path / "copy.tpu"], "copy_layer0", None), ([self.path / "my digits.tpu", "--layer", "conv2"], "my_digits_layerconv2", "conv2"),
                                   (["--seed", "7", MODEL, "--preset", "nano", "--layer", "0"], "mnist_cnn_nano_layer0", "conv1"),
                                   (["--preset", "nano", "--images", "1", "--batch", "1", "--layer", "conv1"], "nano_layerconv1", "conv1")):
            done = run([ROOT / "scripts/python", "scripts/waves/waves.py", "--build", self.path, *words], env=environment)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("waves: no display", done.stdout)
            waveform = self.path / "waves" / f"{name}.fst"
            self.assertGreater(waveform.stat().st_size, 1000)
            if layer:
                self.assertRegex(waveform.with_suffix(".gtkw").read_text(), rf"\[markername\] .{layer}")

    def test_options(self):
        for words, cause in ((["--trace-layer", "1"], "--trace"), (["--trace", "x.fst", "--trace-window", "9:3"], "FROM below TO"),
                             (["--trace", "x.fst", "--trace-window", "1:2", "--trace-layer", "1"], "excludes"),
                             (["--trace", "x.fst", "--backend", "iss"], "has no effect on the backend iss, only on rtl"),
                             (["--trace", "x.fst", "--trace-core", "1"], "only one core runs"), (["--trace", "x.fst", "--trace-core", "2"], "--trace-core")):
            done = run([*self.digits, *words])
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(cause, done.stdout)

    def test_a_run_of_the_environment_that_never_comes(self):
        trace = self.path / "never.fst"
        done = run(self.digits, env={**os.environ, "SYSTOLE_TRACE": f"{trace},run=7"})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"SYSTOLE_TRACE: {trace} is not written: it is of run 7, and the process had 1, counted from 0", done.stdout)
        self.assertFalse(trace.exists())
        done = run(self.digits, env={**os.environ, "SYSTOLE_TRACE": f"{trace},run=0,window=0:50"})
        self.assertNotIn("is not written", done.stdout)
        self.assertTrue(trace.exists())

    def test_every_kind_of_core(self):
        """int8 with HBM, int8 with a board's memory, bf16; and each core of two."""
        for name, far in (("program", ""), ("first", " post=28"), ("second", " wait=28")):
            load, store = (far if name == "second" else "", far if name == "first" else "")
            (self.path / f"{name}.txt").write_text(f"load len=64 n1=1 n2=1 post=0{load}\nstore hbm_addr=0x1000 len=64 n1=1 n2=1 wait=0{store}\nhalt\n")
        chip = "TOP.systole_top.u_chip.gen_node[0].u_node."
        for preset, programs, core, scope in (("edge", ["program"], 0, chip), ("board8", ["program"], 0, chip),
                                              ("mini", ["program"], 0, chip),
                                              ("minichip", ["first", "second"], 0, "core0.systole_node_pins.u_node."),
                                              ("minichip", ["first", "second"], 1, "core1.systole_node_pins.u_node.")):
            with self.subTest(preset, core=core):
                for name in programs:
                    done = run([self.systole, "asm", self.path / f"{name}.txt", "-o", self.path / f"{name}.tpu", "--preset", preset])
                    self.assertEqual(done.returncode, 0, done.stdout)
                command = [self.systole, "run", self.path / f"{programs[0]}.tpu", *[word for name in programs[1:] for word in ("--second", self.path / f"{name}.tpu")]]
                done = run([*command, "--quiet", "--trace", self.path / "a.fst", "--trace-core", core])
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertIn(f"{scope}u_waves.running\n", (self.path / "a.gtkw").read_text())
                self.assertIn(f"variable_add {scope}u_waves.running\n", (self.path / "a.view/view.sucl").read_text())

    def test_a_mismatch_leaves_a_waveform_and_the_command_that_records_it(self):
        """The model that is checked against differs in a few weights."""
        other = self.path / "other.safetensors"
        spoilt_model(other)
        command = [self.systole, "run", MODEL, "--random", "2", "--seed", "3", "--stall", "20", "--preset", "nano", "--check", other, "--quiet",
                   "--waves", self.path / "waves"]
        done = run(command)
        self.assertEqual(done.returncode, 1, done.stdout)
        waveform, begin, end = re.search(r"waveform: (\S+), cycles (\d+) to (\d+), replayed", done.stdout).groups()
        cycle = int(re.search(r"complete at cycle (\d+)", done.stdout)[1])
        self.assertLess(int(begin), cycle)
        self.assertLessEqual(cycle, int(end))
        view = pathlib.Path(re.search(r"open it: +gtkwave (\S+)", done.stdout)[1])
        self.assertIn(f" {cycle} ", view.read_text().splitlines()[3])
        first = self.values(waveform)
        again = re.search(r"again: +(.*)", done.stdout)[1]
        self.assertIn("--stall 20", again)
        pathlib.Path(waveform).unlink()
        done = run(shlex.split(again))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(f"complete at cycle {cycle}", done.stdout)
        self.assertEqual(first, self.values(waveform))

    def values(self, waveform):
        """All that a waveform says, but when it was written."""
        text = subprocess.run(["fst2vcd", waveform], stdout=subprocess.PIPE, check=True).stdout
        self.assertGreater(len(text), 100000)
        return text[text.index(b"$timescale"):]

    def test_a_failing_test_leaves_a_waveform_and_its_complete_command(self):
        test = BUILD / "bin" / "waves_test"
        environment = {**os.environ, "SYSTOLE_WAVES": str(self.path)}
        command = [test, "--gtest_also_run_disabled_tests", "--gtest_filter=*Window*:*DISABLED_Fails*"]
        done = run(command, env=environment)
        self.assertEqual(done.returncode, 1, done.stdout)
        again = re.search(r"again: +(.*)", done.stdout)[1]
        self.assertIn("run=2,", again)
        waveform = re.search(r"waveform: (\S+), cycles", done.stdout)[1]
        first = self.values(waveform)
        pathlib.Path(waveform).unlink()
        done = run(["bash", "-c", again])
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout.count("[ RUN      ]"), 1)
        self.assertEqual(first, self.values(waveform))


class Disks(Case):
    def test_full_disks(self):
        """On disks of all sizes up to one that is large enough: nothing lost, nothing left, one error."""
        unshare = next((["unshare", "-m", *words] for words in TOOL if run(["unshare", "-m", *words, "true"]).returncode == 0), None)
        self.assertTrue(unshare, "no way to mount a disk here")
        script = r"""
          mount -t tmpfs -o size=$1k none "$2" && echo older > "$2/a.fst" && shift && cd "$ROOT" || exit 99
          folder=$1; shift
          "$@" --trace "$folder/a.fst"; code=$?
          cd "$folder"; echo "files: $(ls -A | tr '\n' ' ')"; [ "$(head -c 5 a.fst)" = older ] && echo kept
          exit $code"""
        (self.path / "loads.txt").write_text("load len=64 n1=40 n2=1\n" * 60 + "halt\n")  # thousands of cycles, without a network's model
        self.assertEqual(run([self.systole, "asm", self.path / "loads.txt", "--preset", "nano", "-o", self.path / "loads.tpu"]).returncode, 0)
        (self.path / "disk").mkdir()
        codes = []
        for size in (8, 64, 256, 480, 65536):
            done = run([*unshare, "bash", "-c", script, "disk", size, self.path / "disk", self.systole, "run", self.path / "loads.tpu", "--quiet"],
                       env={**os.environ, "ROOT": str(ROOT)})
            codes.append(done.returncode)
            if done.returncode == 0:
                self.assertNotIn("kept", done.stdout)
                continue
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertEqual(len(re.findall(r"^systole: .*: cannot (?:write the (?:waveform|view)|be made).*$", done.stdout, re.M)), 1, done.stdout)
            if "write the waveform" in done.stdout:
                self.assertIn("No space left on device", done.stdout)
                self.assertIn("files: a.fst \n", done.stdout)
                self.assertIn("kept", done.stdout)
        self.assertEqual((codes[0], codes[-1]), (1, 0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    arguments, rest = parser.parse_known_args()
    BUILD = arguments.build.resolve()
    if not shutil.which("fst2vcd"):
        raise SystemExit("no fst2vcd: run scripts/setup.sh")
    unittest.main(argv=[__file__, *rest], verbosity=2)
