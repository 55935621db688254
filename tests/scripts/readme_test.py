# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Every command of README.md works as printed: commands of the tool and of scripts run, in a folder of their own; targets of make exist."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINKED = ("Makefile", "docs", "examples", "models", "scripts", "tests", ".venv")
MAX_LINES = 100
BUILD = ROOT / "build"


def commands_of(page):
    """The lines of all listings; a string that goes over lines is one command."""
    for block in re.findall(r"^```\n(.*?)^```$", page, re.S | re.M):
        line = ""
        for part in block.splitlines():
            line += part
            if line.count('"') % 2:
                line += "\n"
                continue
            yield line
            line = ""


class ReadmeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in LINKED:
            if (ROOT / name).exists():
                (self.root / name).symlink_to(ROOT / name)
        (self.root / "build").mkdir()
        for name in ("bin", "lib", "share"):
            (self.root / "build" / name).symlink_to(BUILD / name)

    def problem(self, command):
        """What is wrong with a command, or None."""
        words = command.split()
        if words[0] == "make":
            makefile = (self.root / "Makefile").read_text()
            script = re.search(r'ARGS="(\S+\.py)', command)
            if not re.search(rf"^{re.escape(words[1])}:", makefile, re.M):
                return f"no target {words[1]}"
            return f"no {script[1]}" if script and not (self.root / script[1]).exists() else None
        result = subprocess.run(["bash", "-c", command], cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return None if result.returncode == 0 else f"exit code {result.returncode}: {result.stdout[-500:]}"

    def test_every_command_works_as_printed(self):
        found = list(commands_of((ROOT / "README.md").read_text()))
        self.assertGreater(len([command for command in found if command.startswith("build/bin/systole")]), 4)
        for command in found:
            with self.subTest(command=command):
                self.assertIsNone(self.problem(command))

    def test_wrong_commands_are_seen(self):
        for command, wanted in (("build/bin/systole info none.tpu", "exit code 1"), ("build/bin/systole runn", "exit code 2"),
                                ("make none", "no target none"), ('make jax ARGS="examples/none.py"', "no examples/none.py")):
            self.assertIn(wanted, self.problem(command) or "", command)

    def test_the_page_is_short(self):
        self.assertLess(len((ROOT / "README.md").read_text().splitlines()), MAX_LINES)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD, help="build folder, with the tool and the model of edge")
    args, others = parser.parse_known_args()
    BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *others])
