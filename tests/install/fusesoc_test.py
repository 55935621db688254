#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The FuseSoC cores, the file lists and the IP-XACT file, used in a folder of their own.

Usage: .venv/bin/python tests/install/fusesoc_test.py [--all] [unittest's arguments]
--all: lint every preset, and build and run the example.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import systemrdl
import yaml
from peakrdl_ipxact import IPXACTImporter
from peakrdl_regblock import udps
from pyslang import DiagnosticEngine, driver

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUSESOC = pathlib.Path(sys.executable).with_name("fusesoc")
KNOWN = yaml.safe_load((ROOT / "docs/spec/presets.yaml").read_text())["presets"]
PRESETS = [name for name, preset in KNOWN.items() if not preset["chip"]["SmemBytes"]]  # of others the processor is not in the tree
ALL = False


class Fixture(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory(prefix="systole_fusesoc_")
        self.addCleanup(work.cleanup)
        self.work = pathlib.Path(work.name)
        shutil.copytree(ROOT / "rtl", self.work / "rtl")

    def fusesoc(self, *arguments):
        done = subprocess.run([str(FUSESOC), "--cores-root", "rtl", *map(str, arguments)], cwd=self.work, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=900, check=False)
        return done.returncode, done.stdout

    def lint(self, preset):
        return self.fusesoc("run", "--target=lint", f"systole:chip:{preset}")


class Cores(Fixture):
    def test_there_is_a_core_for_every_preset(self):
        status, out = self.fusesoc("core", "list")
        self.assertEqual(status, 0, out)
        for preset in PRESETS:
            self.assertIn(f"systole:chip:{preset}:", out)

    def test_lint(self):
        for preset in PRESETS if ALL else ("board8",):
            status, out = self.lint(preset)
            self.assertEqual(status, 0, f"{preset}\n{out}")

    def test_a_file_that_is_not_in_the_list_is_missed(self):
        path = self.work / "rtl/systole.core"
        path.write_text(path.read_text().replace("    - cells/systole_credit.sv\n", ""))
        status, out = self.lint("nano")
        self.assertNotEqual(status, 0, out)
        self.assertIn("systole_credit", out)


class Lists(Fixture):
    """The lists of files, read by slang without options of its own: each file is a compilation unit, and nothing is predefined."""

    IBEX = "rtl/ibex/ibex.f"

    def setUp(self):
        super().setUp()
        self.assertTrue((ROOT / ".ibex").is_dir(), "no .ibex; run scripts/setup.sh")
        (self.work / ".ibex").symlink_to(ROOT / ".ibex")

    def errors(self, preset, *lists):
        """What slang finds wrong in the chip of a preset."""
        words = ["slang", *(f"-F {self.work / name}" for name in lists), str(self.work / "rtl/gen/systole_top.sv"), "--top systole_top",
                 f"-G Preset={KNOWN[preset]['id']}"]
        run = driver.Driver()
        run.addStandardArgs()
        self.assertTrue(run.parseCommandLine(" ".join(words)) and run.processOptions() and run.parseAllSources(), words)
        found = [diagnostic for diagnostic in run.createCompilation().getAllDiagnostics() if diagnostic.isError()]
        return DiagnosticEngine.reportAll(run.sourceManager, found)

    def test_chips_with_a_scalar_unit(self):
        presets = [name for name in KNOWN if name not in PRESETS]
        self.assertIn("edgechip", presets)
        for preset in presets:
            self.assertEqual(self.errors(preset, "rtl/systole.f", self.IBEX), "", preset)

    def test_what_the_list_lacks_is_seen(self):
        self.assertIn("unknown module 'systole_scalar_cpu'", self.errors("edgechip", "rtl/systole.f"))
        path = self.work / self.IBEX
        text = path.read_text()
        path.write_text(text.replace("+define+INC_ASSERT\n", ""))
        self.assertNotEqual(path.read_text(), text)
        self.assertIn("sva_multdiv_fsm_idle", self.errors("edgechip", "rtl/systole.f", self.IBEX))


class Whole(Fixture):
    """What only `make fusesoc` does."""

    def test_a_fault_is_seen(self):
        path = self.work / "rtl/cells/systole_credit.sv"
        path.write_text(path.read_text().replace("endmodule", "logic seeded_fault;\nendmodule"))
        status, out = self.lint("nano")
        self.assertNotEqual(status, 0, out)
        self.assertIn("seeded_fault", out)

    def test_example(self):
        status, out = self.fusesoc("--cores-root", ROOT / "examples/fusesoc", "run", "--target=sim", "systole:example:hello_soc")
        self.assertEqual(status, 0, out)
        self.assertIn("id SYST, ISA version 1, preset 0", out)


def registers(compiler, top):
    """(name, address, field, low, width) of every field."""
    found = set()
    for node in compiler.elaborate(top).top.descendants(unroll=True):
        if isinstance(node, systemrdl.node.RegNode):
            found |= {(node.inst_name, node.absolute_address, field.inst_name, field.low, field.width) for field in node.fields()}
    return found


class IpXact(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(text)
            file.flush()
            compiler = systemrdl.RDLCompiler()
            IPXACTImporter(compiler).import_file(file.name)
            return registers(compiler, None)

    def test_registers_are_those_of_the_description(self):
        source = systemrdl.RDLCompiler()
        for property_ in udps.ALL_UDPS:
            source.register_udp(property_)
        source.compile_file(str(ROOT / "docs/spec/csr.rdl"))
        wanted = registers(source, "systole_csr")
        self.assertGreater(len(wanted), 50)
        text = (ROOT / "docs/reference/csr.xml").read_text()
        self.assertEqual(self.read(text), wanted)
        moved = text.replace("<ipxact:addressOffset>'h8<", "<ipxact:addressOffset>'hff8<", 1)
        self.assertNotEqual(moved, text)
        self.assertNotEqual(self.read(moved), wanted)


def main():
    global ALL
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    args, rest = parser.parse_known_args()
    ALL = args.all
    if not FUSESOC.exists():
        print(f"no {FUSESOC}; run scripts/setup.sh", file=sys.stderr)
        return 1
    return unittest.main(argv=[sys.argv[0], *(rest or ([] if ALL else ["Cores", "IpXact"]))])


if __name__ == "__main__":
    sys.exit(main())
