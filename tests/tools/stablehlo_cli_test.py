# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""`systole run` and `info` of StableHLO: programs against the golden model, on simulator and RTL; arrays of every type, stacks of them,
what is printed and what is written."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data/stablehlo"
BUILD = ROOT / "build"
# What is not run: errors of the import, a call that the host does not compute.
REFUSED = {"attributes", "cholesky", "generic", "recursive", "unsupported"}
# What runs on several cores.
DIVIDED = {"sharded_constraint": 4, "sharded_map": 4, "sharded_mlp": 4, "sharded_parts": 8}


def systole(*words, code=0):
    done = subprocess.run([BUILD / "bin/systole", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


class StableHloCli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def save(self, name, array):
        np.save(self.folder / name, array)
        return self.folder / f"{name}.npy"

    def run_json(self, program, *words, code=0):
        return json.loads(systole("run", DATA / f"{program}.mlirbc", "--json", "--quiet", *words, code=code))

    def test_programs_are_those_of_the_golden_model(self):
        programs = sorted(path.stem for path in DATA.glob("*.mlirbc"))
        self.assertTrue(REFUSED < set(programs))
        for program in programs:
            if program in REFUSED:
                systole("run", DATA / f"{program}.mlirbc", "--random", "1", "--backend", "iss", "--quiet", code=1)
                continue
            devices = ["--devices", str(DIVIDED[program])] if program in DIVIDED else []
            result = self.run_json(program, "--random", "2", "--backend", "iss", "--check", DATA / f"{program}.mlirbc", "--checked", *devices)
            self.assertEqual(result["devices"], DIVIDED.get(program, 1))
            self.assertTrue(result["check"]["bit_exact"], program)
            self.assertGreater(result["check"]["values"], 0, program)
            self.assertIsNone(result["cycles"])

    def test_cores_on_links(self):
        """Programs of several devices on linked chips: each backend equal to the golden model, exchanges counted."""
        for program in sorted(DIVIDED):
            for backend in ("iss", "rtl"):
                result = self.run_json(program, "--random", "1", "--backend", backend, "--preset", "minichip", "--devices",
                                       str(DIVIDED[program]), "--check", DATA / f"{program}.mlirbc")
                self.assertTrue(result["check"]["bit_exact"], program)
            self.assertGreater(result["elapsed_cycles"], 0)
            # All cores together need at most their number times as long.
            self.assertLessEqual(result["elapsed_cycles"], result["cycles"])
            self.assertLessEqual(result["cycles"], DIVIDED[program] * result["elapsed_cycles"])
            self.assertLessEqual(result["exchange_cycles"], result["cycles"])
        self.assertIn("exchanges between devices", systole("run", DATA / "sharded_mlp.mlirbc", "--devices", "4", "--preset", "minichip", "--random", "1",
                                                           "--backend", "rtl", "--quiet"))

    def test_processes(self):
        """Chips in processes of their own: the same profile, byte by byte; what does not fit is one line."""
        words = ("--devices", "4", "--preset", "minichip", "--quiet")
        refused = systole("run", DATA / "sharded_mlp.mlirbc", *words, "--random", "1", "--processes", "3", code=1)
        self.assertIn("3 processes: 2 chips are simulated by 1 to 2, one a chip", refused)
        self.assertEqual(refused.count("\n"), 1)
        systole("run", DATA / "sharded_mlp.mlirbc", *words, "--processes", "2", "--waves", self.folder, code=2)
        systole("run", DATA / "sharded_mlp.mlirbc", *words, "--processes", "2", "--backend", "iss", code=2)
        if not (BUILD / "lib/systole/chips").exists():
            self.skipTest("built without Open MPI")
        for processes in ("0", "1", "2"):
            systole("profile", DATA / "sharded_mlp.mlirbc", *words, "--output", self.folder / "page.html",
                    "--json", self.folder / f"{processes}.json", "--processes", processes)
        profiles = {(self.folder / f"{processes}.json").read_bytes() for processes in ("0", "1", "2")}
        self.assertEqual(len(profiles), 1)
        self.assertGreater(len(profiles.pop()), 10000)

    def test_several_devices(self):
        x = np.arange(8 * 16, dtype=np.float32).reshape(8, 16)
        systole("run", DATA / "sharded_map.mlirbc", "--devices", "4", "--backend", "iss", "--preset", "mini", "--input", self.save("x", x),
                "--output", self.folder / "y.npy", "--quiet")
        np.testing.assert_array_equal(np.load(self.folder / "y.npy"), x.reshape(4, 2, 16).sum(0))
        out = systole("info", DATA / "sharded_mlp.mlirbc", "--preset", "mini")
        self.assertIn("StableHLO program jit_step for 4 devices", out)
        self.assertRegex(out, "mini, each device: 5 products .*; 1 collective through the host's memory")
        self.assertIn("1 collective over the links", systole("info", DATA / "sharded_mlp.mlirbc", "--preset", "minichip"))
        self.assertEqual(json.loads(systole("info", DATA / "sharded_mlp.mlirbc", "--json"))["devices"], 4)
        for words, error in (
            (("sharded_map",), "a program for 4 devices; systole run --devices 4 runs it"),
            (("sharded_map", "--devices", "3"), "is a program for 4 devices; give --devices 4"),
            (("exp", "--devices", "4"), "is a program for one device; leave --devices out"),
            (("attributes", "--devices", "3"), "argument 0: the sharding '{replicated}' is not of Shardy"),
        ):
            name, *rest = words
            self.assertIn(error, systole("run", DATA / f"{name}.mlirbc", "--random", "1", "--quiet",
                                         *([] if "--backend" in rest else ["--backend", "iss"]), *rest, code=1))

    def test_on_the_rtl_each_part_has_its_cycles(self):
        for program, options in (("mlp_sgd", ()), ("scan", ("--stall", "60", "--checked")), ("conv_NHWC_2_1_gradient", ())):
            preset = "mini" if options else "lite"
            result = self.run_json(program, "--random", "1", "--preset", preset, "--check", DATA / f"{program}.mlirbc", *options)
            self.assertTrue(result["check"]["bit_exact"], program)
            self.assertTrue(all(part["runs"] > 0 for part in result["parts"]), program)
            if not options:  # checked models do not tell when a part ends
                self.assertEqual(sum(part["cycles"] for part in result["parts"]), result["cycles"], program)
            units = {part["unit"].split(",")[0] for part in result["parts"]}
            self.assertIn("array", units, program)
        text = systole("run", DATA / "scan.mlirbc", "--random", "1", "--preset", "lite")
        self.assertRegex(text, r"part of the program +unit +runs +cycles +share\n")
        self.assertRegex(text, r"(?m)^result\[0\] +float32 \(2, 4\) +\S+ to \S+$")
        self.assertRegex(text, r"(?m)^cycles: [\d,]+ in 1 program ")
        self.assertIn("0 loops and branches steered", text)

    def test_arrays_come_and_go_as_their_types(self):
        # A truth value and whole numbers, without dimensions.
        out = self.folder / "out.npy"
        result = self.run_json("values_behind", "--backend", "iss", "--input", f"arg0={self.save('p', np.array(True))}", "--input",
                               f"arg1={self.save('x', np.int32(3))}", "--output", f"result={out}", "--check", DATA / "values_behind.mlirbc")
        self.assertTrue(result["check"]["bit_exact"])
        self.assertEqual((np.load(out).dtype, np.load(out).shape), (np.int32, ()))
        key = self.save("key", np.array([7, 9], np.uint32))
        self.run_json("random_bits", "--backend", "iss", "--input", key, "--output", out)
        self.assertEqual((np.load(out).dtype, np.load(out).shape), (np.uint32, (4, 3)))

    def test_bf16_is_bits_or_is_rounded(self):
        """As ml_dtypes writes it, two bytes without a meaning; as their number; as float32. It comes back as float32."""
        values = np.array([1, -2.5, 3.25, 1e30, 2**-126, 0, 7], np.float32)
        bits = (values.view(np.uint32) >> 16).astype(np.uint16)
        results = []
        for name, array in (("void", bits.view("V2")), ("bits", bits), ("floats", values)):
            out = self.folder / f"{name}_out.npy"
            self.run_json("constant_bf16", "--backend", "iss", "--input", self.save(name, array), "--output", out)
            results.append(np.load(out))
            self.assertEqual(results[-1].dtype, np.float32)
            self.assertFalse(np.any(results[-1].view(np.uint32) & 0xFFFF))
        self.assertTrue(np.array_equal(results[0], results[1]))
        # The float32 1e30 lies between two numbers of bf16.
        self.assertTrue(np.array_equal(results[0][:3], results[2][:3]))

    def test_a_stack_is_as_many_runs(self):
        random = np.random.default_rng(1)
        stack = random.standard_normal((3, 4, 8)).astype(np.float32)
        out = self.folder / "out.npy"
        result = self.run_json("exp", "--backend", "iss", "--input", self.save("stack", stack), "--output", out, "--check", DATA / "exp.mlirbc")
        self.assertEqual((result["runs"], np.load(out).shape), (3, (3, 4, 8)))
        self.assertLess(np.max(np.abs(np.load(out) / np.exp(stack) - 1)), 1e-6)
        one = self.folder / "one.npy"
        self.run_json("exp", "--backend", "iss", "--input", self.save("second", stack[1]), "--output", one)
        self.assertTrue(np.array_equal(np.load(one), np.load(out)[1]))

    def test_complex_numbers(self):
        x, y = ((np.random.default_rng(i).normal(size=(2, 6, 2)) @ (1, 1j)).astype(np.complex64) for i in range(2))
        out, words = self.folder / "out.npy", []
        for name, array in (("arg0", x), ("arg1", y), ("arg2", np.array([True, False]))):
            words += ["--input", f"{name}={self.save(name, array)}"]
        result = self.run_json("complex_regions", "--backend", "iss", *words, "--output", f"result.3={out}")
        self.assertEqual(result["outputs"][3]["values"], "complex64 (6,)")
        powers = np.load(out)
        self.assertEqual(powers.dtype, np.complex64)
        np.testing.assert_allclose(powers, x * y**3, rtol=1e-5)
        self.assertRegex(systole("info", DATA / "fft.mlirbc"), r"-> result +float32 \(4, 9\)")
        self.assertRegex(systole("info", DATA / "complex_regions.mlirbc"), r"arg0 +complex64 \(6,\)")

    def test_a_fault_leaves_its_waveform_and_says_so(self):
        """Two bits of a word of the first kernel's memory turn, which ECC cannot correct."""
        waves = self.folder / "waves"
        text = systole("run", DATA / "exp.mlirbc", "--random", "1", "--preset", "lite", "--quiet", "--flip", "0x80000000:0", "--flip",
                       "0x80000000:1", "--waves", waves, code=1)
        self.assertIn("fault ecc_error", text)
        self.assertRegex(text, rf"waveform: {waves}/lite_fault_run0\.fst, cycles \d+ to \d+")
        self.assertGreater((waves / "lite_fault_run0.fst").stat().st_size, 1000)

    def test_reports_and_info(self):
        systole("run", DATA / "exp.mlirbc", "--random", "1", "--backend", "iss", "--quiet", "--reports", self.folder / "reports")
        report = json.loads((self.folder / "reports/run.json").read_text())
        self.assertEqual(report["outputs"][0]["values"], "float32 (4, 8)")
        info = json.loads(systole("info", DATA / "mlp_sgd.mlirbc", "--json"))
        self.assertGreater(info["array"]["macs"], 0)
        self.assertEqual(info["host"]["operations"], sum(info["host_operations"].values()))
        self.assertRegex(systole("info", DATA / "mlp_sgd.mlirbc"), r"lite: \d+ products on the array")
        # Outputs that are results of one loop.
        self.assertRegex(systole("info", DATA / "scan.mlirbc"), r"-> result\[0\] +float32 \(2, 4\)\n-> result\[1\] +float32 \(7,\)\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build
    unittest.main(argv=[sys.argv[0], *rest])
