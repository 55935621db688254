# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""What can be known of the Artix-7 board without Vivado: its script runs in Tcl with Vivado's commands recorded; the sources that it reads
elaborate in slang with Yosys' models of the vendor's cells; its constraints give each bit of each port a pin of its own."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fpga"))
from flow import tools  # noqa: E402, found by the line above

BOARD = ROOT / "fpga" / "boards" / "arty_a7_100"
TOP = "arty_a7_100"
# Of the vendor's cells, by the file of Yosys' that declares them.
CELLS = {"cells_sim.v": "BUFG", "cells_xtra.v": "MMCME2_BASE"}

# Vivado's commands: what they are called with is printed, a line each.
VIVADO = """
proc read_verilog {args} { foreach file [lindex $args end] { puts "source [file normalize $file]" } }
proc read_xdc {file} { uplevel source $file }
proc get_ports {names} { return $names }
proc set_property {option properties ports} {
  if {$option ne "-dict"} { error "set_property $option" }
  dict for {key value} $properties { foreach port $ports { puts "port $port $key $value" } }
}
proc create_clock {option period port} { puts "clock $port $period" }
proc set_false_path {option ports} { foreach port $ports { puts "asynchronous $port" } }
proc synth_design {args} { puts "synth $args" }
foreach command {opt_design place_design phys_opt_design route_design report_utilization report_timing_summary write_bitstream} {
  proc $command {args} "puts \\"step $command\\""
}
"""


def run_script(folder, script=BOARD / "build.tcl"):
    """What the script does, a list of words for each command."""
    wrapper = pathlib.Path(folder) / "wrapper.tcl"
    wrapper.write_text(VIVADO + f"source {script}\n")
    result = subprocess.run(["tclsh", str(wrapper)], capture_output=True, text=True, cwd=folder, check=False)
    if result.returncode != 0:
        raise ValueError(result.stderr.strip())
    return [line.split() for line in result.stdout.splitlines()]


def pins_of(done):
    """{port: pin}; a pin that two ports have is an error."""
    pins = {}
    for words in done:
        if words[0] == "port" and words[2] == "PACKAGE_PIN":
            if words[3] in pins.values():
                raise ValueError(f"{words[1]} shares pin {words[3]}")
            pins[words[1]] = words[3]
    return pins


class Arty(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def elaborate(self, files):
        """The bits of the ports of the board's top."""
        work = pathlib.Path(self.folder.name)
        share = next(tools.VENV.parent.glob("lib/python3*/site-packages/pyosys/share/xilinx"))
        cells = [re.search(rf"(?ms)^module {cell}\b.*?^endmodule$", (share / file).read_text())[0] for file, cell in CELLS.items()]
        (work / "cells.v").write_text("\n".join([*cells, ""]))
        options = f"--threads 1 --ignore-assertions --no-implicit-memories -DSYNTHESIS --top {TOP}"
        read = f"{options} {work / 'cells.v'} {' '.join(files)}"
        tools.run_yosys({"read": read, "save": str(work / "arty.il")}, work, "read", "reading")
        module = re.search(rf"(?ms)^module \\{TOP}$.*?^end$", (work / "arty.il").read_text())[0]
        ports = re.findall(r"(?m)^  wire (?:width (\d+) )?(?:input|output) \d+ \\(\w+)$", module)
        return [name if not width else f"{name}[{bit}]" for width, name in ports for bit in range(int(width or 1))]

    def test_the_script_and_the_constraints(self):
        done = run_script(self.folder.name)
        files = [words[1] for words in done if words[0] == "source"]
        self.assertEqual([file for file in files if not pathlib.Path(file).is_file()], [])
        self.assertEqual(len(files), len(set(files)))
        synth = next(words for words in done if words[0] == "synth")
        self.assertEqual(synth[synth.index("-top") + 1], TOP)
        self.assertTrue(synth[synth.index("-part") + 1].startswith("xc7a100t"))
        self.assertEqual(done[-1], ["step", "write_bitstream"])
        wanted = self.elaborate(files)
        self.assertEqual(sorted(pins_of(done)), sorted(wanted))
        standards = {words[1]: words[3] for words in done if words[0] == "port" and words[2] == "IOSTANDARD"}
        self.assertEqual(standards, dict.fromkeys(wanted, "LVCMOS33"))
        self.assertIn(["clock", "clk_100mhz", "10.000"], done)

    def test_what_is_wrong_is_seen(self):
        files = [words[1] for words in run_script(self.folder.name) if words[0] == "source"]
        with self.assertRaisesRegex(tools.FlowError, "reading failed: "):
            self.elaborate([file for file in files if not file.endswith("systole_uart.sv")])
        self.assertIn("unknown module 'systole_uart'", (pathlib.Path(self.folder.name) / "read.log").read_text())
        xdc = (BOARD / "arty_a7_100.xdc").read_text()
        (pathlib.Path(self.folder.name) / "pins.tcl").write_text(xdc.replace("PACKAGE_PIN A9", "PACKAGE_PIN D10"))
        with self.assertRaisesRegex(ValueError, "uart_tx shares pin D10"):
            pins_of(run_script(self.folder.name, pathlib.Path(self.folder.name) / "pins.tcl"))
        (pathlib.Path(self.folder.name) / "pins.tcl").write_text(xdc.replace("clk_100mhz]", "clk_100mhz", 1))
        with self.assertRaisesRegex(ValueError, "missing close-bracket"):
            run_script(self.folder.name, pathlib.Path(self.folder.name) / "pins.tcl")


if __name__ == "__main__":
    unittest.main()
