# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""scripts/plot_models.py: the picture follows the report, and a report that is none is refused."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("SYSTOLE_PLOT_PYTHON", str(ROOT / ".venv/bin/python"))


def record(section, name, cycles):
    return {"section": section, "model": "m", "name": name, "preset": "edge", "cycles": cycles, "ideal_cycles": 50, "expected_cycles": 90,
            "hbm_read_bytes": 640, "hbm_write_bytes": 64, "least_hbm_bytes": 300}


class PlotModelsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def plot(self, *pictures):
        """(report, picture)s, by one process: to import matplotlib takes a second. The last exit code, what was printed."""
        words = []
        for number, (report, picture) in enumerate(pictures):
            path = self.folder / f"bench_models{number}.json"
            path.write_text(report if isinstance(report, str) else json.dumps(report))
            words += [str(path), str(self.folder / picture)]
        code = "import sys, plot_models\nfor at in range(1, len(sys.argv), 2): code = plot_models.main([sys.argv[at], '--output', sys.argv[at + 1]])\nsys.exit(code)"
        result = subprocess.run([PYTHON, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")})
        return result.returncode, result.stdout

    def test_the_picture_follows_the_report(self):
        report = [record("layer", "a", 60), record("layer", "b", 40), record("model", "m", 100)]
        changed = [record("layer", "a", 61), *report[1:]]
        code, output = self.plot((report, "m.svg"), (report, "m.png"), (report, "again.svg"), (changed, "changed.svg"))
        self.assertEqual((code, output), (0, ""))
        first = (self.folder / "m.svg").read_text()
        self.assertEqual(first, (self.folder / "again.svg").read_text())
        self.assertIn("100 cycles, 50.0% of ideal, prediction -10.0%", first)
        self.assertTrue((self.folder / "m.png").read_bytes().startswith(b"\x89PNG"))
        self.assertNotEqual(first, (self.folder / "changed.svg").read_text())

    def test_refuses_other_reports(self):
        for report, message in (("{", "bench_models0.json"), ([], "no report"), ([{"section": "layer"}], "has no 'model'"),
                                ([record("layer", "a", None)], "no cycles"), ([record("layer", "a", 1)], "m is not whole")):
            code, output = self.plot((report, "m.svg"))
            self.assertEqual(code, 1, output)
            self.assertIn(message, output)

    def test_pictures_that_cannot_be(self):
        report = [record("layer", "a", 100), record("model", "m", 100)]
        for picture, wanted, message in (("m.gif", 2, "a picture is .svg or .png"), ("/dev/null/m.svg", 1, "/dev/null/m.svg: cannot be written: ")):
            code, output = self.plot((report, picture))
            self.assertEqual(code, wanted, output)
            self.assertIn(message, output)
            self.assertNotIn("Traceback", output)


if __name__ == "__main__":
    unittest.main()
