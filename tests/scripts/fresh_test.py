# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""scripts/fresh.sh with a stand-in of mmdebstrap: what it refuses, that it leaves nothing behind, what --without takes away."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/fresh.sh"


class FreshTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        (self.folder / "bin").mkdir()
        self.stand_in("echo 'E: no such suite' >&2; exit 1")

    def stand_in(self, text):
        path = self.folder / "bin/mmdebstrap"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def fresh(self, *arguments):
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOME": str(self.folder)}
        done = subprocess.run([SCRIPT, "--folder", self.folder / "made", "--cache", self.folder / "cache", *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=environment)
        return done.returncode, done.stdout

    def test_what_is_refused(self):
        for arguments, wanted in (((), "name a distribution: bookworm or trixie"),
                                  (("woody",), "woody: no such distribution"),
                                  (("bookworm", "nothing"), "nothing: the Makefile has no such target"),
                                  (("--fast", "bookworm"), "--fast: no such option"),
                                  (("bookworm", "--set"), "--set: a value is missing"),
                                  (("--set", "CXX", "bookworm"), "--set CXX: NAME=VALUE is wanted")):
            code, output = self.fresh(*arguments)
            self.assertEqual((code, output.count("\n")), (1, 1), output)
            self.assertIn(f"fresh: {wanted}", output)
        self.assertFalse((self.folder / "made").exists())

    def test_help(self):
        code, output = self.fresh("--help")
        self.assertEqual(code, 0, output)
        for option in set(re.findall(r"^ +(--[a-z]+)\)", SCRIPT.read_text(), re.M)) - {"--help"}:
            self.assertIn(option, output)

    @unittest.skipUnless(os.geteuid() == 0, "another user needs a namespace")
    def test_a_failure_names_its_cause_and_leaves_nothing(self):
        code, output = self.fresh("trixie")
        self.assertEqual(code, 1, output)
        self.assertIn("fresh: mmdebstrap failed: E: no such suite", output)
        self.assertEqual([path.name for path in (self.folder / "made").iterdir()], ["trixie.log"])

    def test_without_takes_each_package_away(self):
        """The expression of the script, on each package of setup.sh: the word is gone, and nothing else."""
        setup = (ROOT / "scripts/setup.sh").read_text()
        listed = re.search(r"^run_packages=\(\n(.*?)^\)", setup, re.M | re.S)[1]
        packages = re.findall(r"[\w.+|-]+", re.sub(r"#.*", "", listed))
        self.assertGreater(len(packages), 10)
        expression = re.search(r'sed -i -E "(.*)" "\$script"', SCRIPT.read_text())[1].replace("\\$", "$")
        for package in packages:
            name = package.split("|")[0]
            done = subprocess.run(["sed", "-E", expression.replace("${without//+/[+]}", name.replace("+", "[+]"))], input=listed, stdout=subprocess.PIPE, text=True,
                                  check=True)
            left = re.findall(r"[\w.+|-]+", re.sub(r"#.*", "", done.stdout))
            self.assertEqual(left, [other for other in packages if other != package])


if __name__ == "__main__":
    unittest.main()
