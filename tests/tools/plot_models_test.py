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

    def plot(self, report, picture="m.svg"):
        path = self.folder / "bench_models.json"
        path.write_text(report if isinstance(report, str) else json.dumps(report))
        result = subprocess.run([PYTHON, str(ROOT / "scripts/plot_models.py"), str(path), "--output", str(self.folder / picture)],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return result.returncode, result.stdout

    def test_the_picture_follows_the_report(self):
        report = [record("layer", "a", 60), record("layer", "b", 40), record("model", "m", 100)]
        for picture in ("m.svg", "m.png", "again.svg"):
            code, output = self.plot(report, picture)
            self.assertEqual(code, 0, output)
        first = (self.folder / "m.svg").read_text()
        self.assertEqual(first, (self.folder / "again.svg").read_text())
        self.assertIn("100 cycles, 50.0% of ideal, prediction -10.0%", first)
        self.assertTrue((self.folder / "m.png").read_bytes().startswith(b"\x89PNG"))
        report[0]["cycles"] = 61
        self.plot(report)
        self.assertNotEqual(first, (self.folder / "m.svg").read_text())

    def test_refuses_other_reports(self):
        for report, message in (("{", "bench_models.json"), ([], "no report"), ([{"section": "layer"}], "has no 'model'"),
                                ([record("layer", "a", None)], "no cycles"), ([record("layer", "a", 1)], "m is not whole")):
            code, output = self.plot(report)
            self.assertEqual(code, 1, output)
            self.assertIn(message, output)


if __name__ == "__main__":
    unittest.main()
