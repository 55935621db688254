# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The generator of the docs' site, and its faults (`make site-test`)."""

import pathlib
import shutil
import subprocess
import unittest

import docs_test

ROOT = pathlib.Path(__file__).resolve().parents[2]


class SiteTest(docs_test.Folder):
    """The whole generator on two pages."""

    def build(self):
        python = ROOT / ".venv-docs/bin/python"
        self.assertTrue(python.exists(), "no .venv-docs: scripts/setup.sh docs")
        return subprocess.run([python, ROOT / "scripts/site/build.py", "--root", self.root, "--build", self.root / "build", "--no-cpp"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def browse(self, site):
        """The pages from disk, in Chromium: search finds the module's port."""
        self.assertIsNotNone(shutil.which("chromium"), "no Chromium: scripts/setup.sh browser")
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.root}/browser", "--virtual-time-budget=8000",
                   "--dump-dom", f"{(site / 'search.html').as_uri()}?q=rst_ni"]
        page = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True, timeout=240).stdout
        self.assertIn("Search finished", page)
        self.assertIn('href="rtl/systole_x.html', page)

    def test_a_site_and_its_faults(self):
        shutil.copytree(ROOT / "scripts/site", self.root / "scripts/site")
        self.write("rtl/a/systole_x.sv", docs_test.RtlPagesTest.HEADER.format(port="    input logic rst_ni"))
        self.write("docs/index.md", "# Top\n\n## Group\n\n- [One](one.md)\n")
        self.write("docs/one.md", "# One\n\n[module](../rtl/a/systole_x.sv), [folder](../rtl/a), [top](index.md#group)\n\n"
                   "![picture\nof two lines](../models/p.png) [bytes](../models/m.bin)\n")
        self.write("models/m.bin", "\0\0")
        shutil.copyfile(ROOT / "docs/figures/profile.png", self.root / "models/p.png")
        result = self.build()
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("rst_ni", (self.root / "build/site/rtl/systole_x.html").read_text())
        self.browse(self.root / "build/site")
        self.write("docs/two.md", "# Two\n")
        self.assertIn("isn't included in any toctree", self.build().stdout)
        (self.root / "docs/two.md").unlink()
        self.write("docs/one.md", "# One\n\n[top](index.md#none)\n")
        result = self.build()
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("none", result.stdout)


if __name__ == "__main__":
    unittest.main()
