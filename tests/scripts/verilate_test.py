# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""cmake/verilate.py in folders with blanks in their names: what it read is told to ninja, which runs it again when that changes, and only then."""

import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cmake"))
import verilate  # noqa: E402
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

TOGGLES = """\
#include <cstdint>
#include <cstring>
#include <random>
using IData = uint32_t;
struct Counters {
  uint32_t __Vcoverage[200] = {}, __Vcount_toggles = 1;
};
struct Signals {
  uint8_t narrow, last_narrow;
  uint32_t word[2], last_word[2];
  uint64_t wide, last_wide;
};
void Plain(Counters* vlSymsp, Signals* vlSelf) {
@plain@}
void Ours(Counters* vlSymsp, Signals* vlSelf) {
@ours@}
int main() {
  std::mt19937_64 random(1);
  Counters plain, ours;
  Signals a = {}, b = {};
  for (int round = 0; round < 2000; ++round) {
    plain.__Vcount_toggles = ours.__Vcount_toggles = round > 3;
    if (random() % 4 == 0) a.narrow = b.narrow = random() & 0x7f;
    if (random() % 4 == 0) a.word[random() % 2] ^= 1u << random() % 32;
    if (random() % 4 == 0) a.wide ^= uint64_t{1} << random() % 36;
    std::memcpy(b.word, a.word, sizeof a.word);
    b.wide = a.wide;
    Plain(&plain, &a);
    Ours(&ours, &b);
    if (std::memcmp(&a, &b, sizeof a) != 0 || std::memcmp(&plain, &ours, sizeof plain) != 0) return 1;
  }
  return plain.__Vcoverage[0] > 0 && plain.__Vcoverage[100] > 0 ? 0 : 2;
}
"""


def toggles():
    """Code as Verilator has it for the bits of three signals, one after the other but for what random order and strange comparisons change."""
    def block(condition, last, value):
        nonlocal point
        point += 1
        return (f"    if ({condition}) {{\n        vlSymsp->__Vcoverage[{point - 1}] += vlSymsp->__Vcount_toggles;\n"
                f"        {last} \n            = {value};\n    }}\n")

    def assigned(last, signal, bit, width):
        return f"((0x{(1 << width) - 1 - (1 << bit):x}ULL & {last}) | (0x{1 << bit:x}ULL & {signal}))"

    point, code = 0, ""
    for bit in range(7):
        code += block(f"(0x{1 << bit:x}U & ((IData)(vlSelf->narrow) ^ (IData)(vlSelf->last_narrow)))", "vlSelf->last_narrow",
                      assigned("vlSelf->last_narrow", "vlSelf->narrow", bit, 8))
    bits = [*range(32)]
    random.Random(1).shuffle(bits)
    for word, order in ((0, range(32)), (1, bits)):
        signal, last = f"vlSelf->word[{word}U]", f"vlSelf->last_word[{word}U]"
        for bit in order:
            condition = f"({signal} ^ {last}) >> 0x1fU" if bit == 31 else f"0x{1 << bit:x}U & ({signal} ^\n             {last})"
            code += block(f"({condition})", last, assigned(last, signal, bit, 32))
    for bit in range(36):
        signal, last = "vlSelf->wide", "vlSelf->last_wide"
        if bit == 20:  # of another signal's bit, which is compared with the last of this one
            code += block(f"(1U & ((vlSelf->word[0U] >> 3U) ^ (IData)(({last} >> 0x14U))))", last,
                          f"((0x{(1 << 36) - 1 - (1 << 20):x}ULL & {last}) | ((uint64_t)(1U & (vlSelf->word[0U] >> 3U)) << 0x14U))")
        else:
            code += block(f"(1U & ((IData)(({signal} >> 0x{bit:x}U)) ^ (IData)(({last} >> 0x{bit:x}U))))", last, assigned(last, signal, bit, 36))
    return "    vlSelf->wide = vlSelf->wide;\n" + code + "    vlSelf->narrow = vlSelf->narrow;\n"


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

    def test_the_code_does_not_depend_on_where_the_project_is(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            code = []
            for place in ("one", "two"):
                root = folder / place
                for part in ("cmake", "rtl"):
                    (root / part).mkdir(parents=True)
                shutil.copy(ROOT / "cmake/verilate.py", root / "cmake")
                source = root / "rtl/top.sv"
                source.write_text("module top (input logic clk, input logic a_i);\n  a_high: assert property (@(posedge clk) a_i);\nendmodule\n")
                subprocess.run([sys.executable, root / "cmake/verilate.py", "--verilator", "verilator", "--dir", root / "out", "--prefix", "VTop",
                                "--depfile", root / "out.d", "--target", "x", "--", "--cc", "--assert", "--top-module", "top", "--prefix", "VTop",
                                source], check=True)
                code.append({path.name: path.read_text() for path in (root / "out").iterdir()})
            self.assertEqual(*code)
            self.assertIn('"rtl/top.sv"', "".join(code[0].values()))

    def test_users_of_the_ports_are_not_compiled_for_what_is_inside(self):
        """The class's header moves with the ports, or with anything where users look inside; the other headers are closed where they do not."""
        verilator = pathlib.Path(subprocess.run(["verilator", "--getenv", "VERILATOR_ROOT"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip())
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            source, out = folder / "top.sv", folder / "out"
            ports, inner = "input logic a_i, output logic b_o", "assign b_o = a_i;"

            def moved(*options):
                source.write_text(f"module top ({ports});\n  {inner}\nendmodule\n")
                before = {file.name: file.stat().st_mtime_ns for file in out.glob("*")}
                subprocess.run([sys.executable, ROOT / "cmake/verilate.py", "--verilator", "verilator", "--dir", out, "--prefix", "VTop",
                                "--depfile", folder / "out.d", "--target", "x", *options, "--", "--cc", "--top-module", "top", "--prefix", "VTop",
                                source], check=True)
                return {file.name for file in out.glob("*") if before.get(file.name) != file.stat().st_mtime_ns}

            def compiles(header, *options):
                command = ["clang++" if shutil.which("clang++") else "g++", "-fsyntax-only", "-x", "c++", "-std=c++17", "-I", out, "-I",
                           verilator / "include", "-I", verilator / "include/vltstd", *options, "-"]
                return subprocess.run(command, input=f'#include "{header}"\n', stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      check=False).stdout

            self.assertIn("VTop.h", moved())
            self.assertEqual(compiles("VTop.h"), "")
            self.assertIn("INSIDE of systole_verilate() opens it", compiles("VTop___024root.h"))
            self.assertEqual(compiles("VTop___024root.h", "-DSYSTOLE_MODEL_INSIDE"), "")
            inner = "logic c; assign c = !a_i; assign b_o = !c & !a_i;"
            changed = moved()
            self.assertIn("VTop_fast.cpp", changed)
            self.assertNotIn("VTop.h", changed)
            self.assertEqual(moved(), set())
            ports += ", input logic d_i"
            self.assertIn("VTop.h", moved())
            moved("--inside")
            inner = "assign b_o = a_i ^ d_i;"
            self.assertIn("VTop.h", moved("--inside"))
            self.assertEqual(compiles("VTop___024root.h"), "")

    def test_coverage_of_registers_is_code(self):
        """Verilator 5.006 assigns to an expression where a struct's vector may toggle; what declares such a struct is left out."""
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
            wrong = sum(len(re.findall(r"(?m)^ *\(0x[0-9a-f]+U & [^;=]*\) = ", path.read_text())) for path in (folder / "ours").glob("*.cpp"))
            self.assertEqual(wrong, 0)
            counted = "".join(path.read_text() for path in (folder / "ours").glob("*.cpp"))
            self.assertIn('"v_toggle/regs", "addr[8]"', counted)
            self.assertIn('"v_toggle/top", "sum[8]"', counted)
            for struct in ("hw_out.counters", "hwif_out.counters", "field_storage.addr"):
                self.assertNotIn(f'"{struct}', counted)

    def test_toggles_of_a_word_are_counted_together(self):
        """As many as one by one, whatever order and comparisons; words whose points follow each other are one comparison."""
        plain = toggles()
        ours = verilate.count_words(plain)
        self.assertEqual(ours.count("const uint64_t toggled"), 6)
        with tempfile.TemporaryDirectory() as name:
            def differ(code):
                source = pathlib.Path(name) / "toggles.cc"
                source.write_text(TOGGLES.replace("@plain@", plain).replace("@ours@", code))
                subprocess.run(["g++", "-std=c++17", "-w", source, "-o", source.with_suffix("")], check=True)
                return subprocess.run([source.with_suffix("")], check=False).returncode

            self.assertEqual(differ(ours), 0)
            self.assertEqual(differ(ours.replace("0x7fULL", "0x3fULL")), 1)  # a bit is forgotten

    def test_wrong_options_of_coverage(self):
        with tempfile.NamedTemporaryFile() as file:
            for option, value, cause in (("--build", file.name, "Not a directory"), ("--tests", "(", "no regular expression")):
                done = subprocess.run([sys.executable, ROOT / "scripts/coverage.py", option, value], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(cause, done.stderr)
                self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
