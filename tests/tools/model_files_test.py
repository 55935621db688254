# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""RTL models in files of their own: one is found, and each way in which one cannot be used is said in one line."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
PRESET = "nano"
FILE = f"model_{PRESET}.so"


class ModelFilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_digits(self, models):
        environment = os.environ | ({"SYSTOLE_MODELS": str(models)} if models else {})
        return subprocess.run([BUILD / "bin" / "systole", "run", "--preset", PRESET, "--images", "1", "--batch", "1", "--reports", ""],
                              cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    def refused(self, *words):
        result = self.run_digits(self.folder)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_beside_the_program_and_in_a_named_folder(self):
        for models in (None, BUILD / "lib" / "systole"):
            result = self.run_digits(models)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("1 of 1 digits", result.stdout)

    def test_not_built(self):
        self.refused("no RTL model of nano", "make model PRESET=nano", "none")

    def test_not_a_model(self):
        (self.folder / FILE).write_text("text")
        self.refused("cannot load", FILE)

    def test_cut_short(self):
        data = (BUILD / "lib" / "systole" / FILE).read_bytes()
        for size in (0, 63, 64, 4096, len(data) // 2, len(data) - 1):
            (self.folder / FILE).write_bytes(data[:size])
            self.refused("cannot load", FILE, "cut short", "make model PRESET=nano")

    def test_a_folder_of_that_name(self):
        (self.folder / FILE).mkdir()
        self.refused("cannot load", FILE)

    def test_of_another_preset(self):
        (self.folder / FILE).write_bytes((BUILD / "lib" / "systole" / "model_edge.so").read_bytes())
        self.refused(FILE, "no model of that name")

    def test_of_another_state_of_the_rtl(self):
        data = (BUILD / "lib" / "systole" / FILE).read_bytes()
        source = next(BUILD.rglob("core_stamp.cc")).read_text()
        stamp = source.split('"')[-2].encode()
        self.assertEqual(data.count(stamp), 1)
        (self.folder / FILE).write_bytes(data.replace(stamp, stamp[::-1]))
        self.refused(FILE, "another state of the RTL", "make model PRESET=nano")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
