# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""cmake/verilate.py in folders with blanks in their names: what it read is told to ninja, which runs it again when that changes, and only then."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NINJA = """\
rule verilate
  command = "{python}" "{root}/cmake/verilate.py" --verilator verilator --dir "{folder}/out put" --prefix VTop --depfile "{folder}/out put.d" $
    --target "{folder}/out put/VTop_fast.cpp" -- --cc -y "{folder}" --top-module top --prefix VTop "{folder}/top.sv"
  depfile = {folder_n}/out$ put.d
build {folder_n}/out$ put/VTop_fast.cpp: verilate
"""


class Verilate(unittest.TestCase):
    def test_runs_again_when_a_file_changed_and_only_then(self):
        self.assertTrue(shutil.which("verilator") and shutil.which("ninja"), "no verilator or ninja; run scripts/setup.sh")
        with tempfile.TemporaryDirectory(prefix="my project ") as name:
            folder = pathlib.Path(name)
            (folder / "top.sv").write_text("module top (input logic a_i, output logic b_o);\n  part u_part (.a_i, .b_o);\nendmodule\n")
            part = folder / "part.sv"
            part.write_text("module part (input logic a_i, output logic b_o);\n  assign b_o = a_i;\nendmodule\n")
            (folder / "build.ninja").write_text(NINJA.format(python=sys.executable, root=ROOT, folder=folder, folder_n=name.replace(" ", "$ ")))

            def ninja():
                done = subprocess.run(["ninja", "-C", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout)
                return "no work to do" not in done.stdout

            self.assertTrue(ninja())
            self.assertFalse(ninja(), (folder / "out put.d").read_text())
            part.write_text(part.read_text().replace("= a_i", "= ~a_i"))
            self.assertTrue(ninja())
            self.assertFalse(ninja())


if __name__ == "__main__":
    unittest.main()
