# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""RTL models in files of their own: one is found, and each way in which one cannot be used is said in one line."""

import argparse
import os
import pathlib
import shutil
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
        self.refused(f"no RTL model of nano in {self.folder} (SYSTOLE_MODELS); there are none; `make model PRESET=nano` builds it")

    def test_not_installed(self):
        (self.folder / "bin").mkdir()
        shutil.copy(BUILD / "bin" / "systole", self.folder / "bin")
        environment = {name: value for name, value in os.environ.items() if name != "SYSTOLE_MODELS"}
        result = subprocess.run([self.folder / "bin" / "systole", "run", "--preset", PRESET, "--images", "1", "--batch", "1", "--reports", ""],
                                cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"no RTL model of nano in {self.folder}/lib/systole; there are none; ", result.stderr)
        self.assertIn("Systole's source tree builds and installs it; SYSTOLE_MODELS names another folder", result.stderr)
        self.assertNotIn("make", result.stderr)

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
