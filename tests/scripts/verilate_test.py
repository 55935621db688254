# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""cmake/verilate.py in folders with blanks in their names: what it read is told to ninja, which runs it again when that changes, and only then."""

import pathlib
import re
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

STRUCTS = """\
package unit_regs_pkg;
  typedef struct {
    logic [8:0] addr;
    logic       req;
  } unit__counters__out_t;
  typedef struct {unit__counters__out_t counters;} unit__out_t;
endpackage
module regs (
    input logic clk,
    output unit_regs_pkg::unit__out_t hwif_out
);
  typedef struct {logic [8:0] addr;} field_storage_t;
  field_storage_t field_storage;
  logic [8:0] addr;
  always_ff @(posedge clk) field_storage.addr <= field_storage.addr + 9'd1;
  assign addr = field_storage.addr;
  assign hwif_out.counters.addr = addr;
  assign hwif_out.counters.req = addr[3];
endmodule
module top (
    input  logic clk,
    output logic [8:0] sum
);
  unit_regs_pkg::unit__out_t hw_out;
  regs u_regs (.clk, .hwif_out(hw_out));
  always_ff @(posedge clk) sum <= hw_out.counters.req ? hw_out.counters.addr : sum;
endmodule
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

    def test_coverage_of_registers_is_code(self):
        """Verilator assigns to an expression where a struct's vector may toggle; what declares such a struct is left out."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for part in ("cmake", "rtl"):
                (folder / part).mkdir()
            shutil.copy(ROOT / "cmake/verilate.py", folder / "cmake")
            unit, bench = STRUCTS.split("module top")
            (folder / "rtl/regs.sv").write_text(unit)
            (folder / "bench.sv").write_text("module top" + bench)  # no part of the design
            flags = ["--cc", "--coverage-line", "--coverage-toggle", "--top-module", "top", "--prefix", "VTop", folder / "rtl/regs.sv", folder / "bench.sv"]
            by_us = [sys.executable, folder / "cmake/verilate.py", "--verilator", "verilator", "--dir", folder / "ours", "--prefix", "VTop",
                     "--depfile", folder / "d", "--target", "ours", "--"]
            subprocess.run([*by_us, *flags], check=True)
            subprocess.run(["verilator", "--Mdir", folder / "plain", *flags], check=True)
            wrong = {out: sum(len(re.findall(r"(?m)^ *\(0x[0-9a-f]+U & [^;=]*\) = ", path.read_text())) for path in (folder / out).glob("*.cpp"))
                     for out in ("ours", "plain")}
            self.assertGreater(wrong["plain"], 0)
            self.assertEqual(wrong["ours"], 0)
            counted = "".join(path.read_text() for path in (folder / "ours").glob("*.cpp"))
            self.assertIn('"v_toggle/regs", "addr[8]"', counted)
            self.assertIn('"v_toggle/top", "sum[8]"', counted)
            for struct in ("hw_out.counters", "hwif_out.counters", "field_storage.addr"):
                self.assertNotIn(f'"{struct}', counted)


if __name__ == "__main__":
    unittest.main()
