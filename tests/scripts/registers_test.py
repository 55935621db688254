# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The reference page and the IP-XACT file of the registers: addresses and resets are those of the headers that other tools or generators
write; each property that is changed in the description changes both."""

import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from gen import csr, registers  # noqa: E402

NAMESPACE = {"i": registers.NAMESPACE}
DESCRIPTION = (ROOT / "docs/spec/csr.rdl").read_text()


def rows(page):
    """Registers of the page: {address: (name, access, reset)}."""
    found = re.findall(r"^\| 0x([0-9A-F]+) \| `(\w+)` \| (\w+) \| (?:0x([0-9A-F]+))? \|", page, re.M)
    return {int(address, 16): (name, access, int(reset, 16) if reset else None) for address, name, access, reset in found}


def files_of(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "csr.rdl"
        path.write_text(text)
        top = csr.elaborate(path).top
        return registers.page(top, "Registers", "csr.rdl"), registers.ipxact(top, "csr.rdl")


class RegistersTest(unittest.TestCase):
    def test_addresses_are_those_of_the_cpp_header(self):
        header = (ROOT / "host/include/systole/gen/csr.h").read_text()
        wanted = {int(address, 16): access for address, access in re.findall(r"uint32_t k\w+ = 0x([0-9A-F]+);  // (ro|rw|wo|w1c):", header)}
        base = int(re.search(r"kCounterBase = 0x([0-9A-F]+)", header)[1], 16)
        counters = int(re.search(r"kNumCounters = (\d+)", header)[1])
        wanted.update({base + 8 * i: "ro" for i in range(counters)})
        found = rows((ROOT / "docs/reference/csr.md").read_text())
        self.assertEqual(sorted(found), sorted(wanted))
        self.assertEqual({address: access for address, (_, access, _) in found.items() if access != "fields"},
                         {address: access for address, access in wanted.items() if found[address][1] != "fields"})

    def test_resets_are_those_of_the_c_header(self):
        header = (ROOT / "host/include/systole/gen/systole_csr.h").read_text()
        wanted = {name.lower(): int(value, 16) for name, value in re.findall(r"SYSTOLE_CSR__(\w+)__VALUE_reset 0x([0-9a-f]+)", header)}
        found = rows((ROOT / "docs/reference/csr.md").read_text())
        found = {name: reset for address, (name, _, reset) in found.items() if reset is not None and address < 0x200}  # no group's
        self.assertGreater(len(found), 5)
        self.assertEqual(found, {name: wanted[name] for name in found})

    def test_the_ipxact_file_is_the_page(self):
        page, text = files_of(DESCRIPTION)
        registers_of_xml = {}

        def walk(node, base):
            for child in node:
                kind = child.tag.split("}")[1]
                if kind in ("register", "registerFile"):
                    address = base + int(child.find("i:addressOffset", NAMESPACE).text[2:], 16)
                    if kind == "register":
                        registers_of_xml[address] = child.find("i:name", NAMESPACE).text
                    walk(child, address)

        walk(xml.fromstring(text).find(".//i:addressBlock", NAMESPACE), 0)
        self.assertEqual(registers_of_xml, {address: row[0] for address, row in rows(page).items()})

    def test_each_change_is_in_both(self):
        before = files_of(DESCRIPTION)
        for old, new in (("} preset @ 0x008;", "} preset @ 0x03C;"), ("32'h53595354", "32'h53595355"), ("ISA version", "a < b & c"),
                         ("} start[0:0] = 1'h0;", "} start[2:2] = 1'h0;"), ("} preset @ 0x008;", "} configuration @ 0x008;"),
                         ("    field {\n      sw = r;\n      hw = w;\n    } value[31:0];\n  } version", "    field {\n      sw = rw;\n      hw = r;\n    } value[31:0] = 32'h7;\n  } version")):
            self.assertIn(old, DESCRIPTION)
            after = files_of(DESCRIPTION.replace(old, new, 1))
            self.assertNotEqual(before[0], after[0], new)
            self.assertNotEqual(before[1], after[1], new)
            xml.fromstring(after[1])

    def test_what_the_page_has_no_word_for_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "onwrite = wzc"):
            files_of(DESCRIPTION.replace("onwrite = woclr;", "onwrite = wzc;", 1))


if __name__ == "__main__":
    unittest.main()
