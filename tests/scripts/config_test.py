# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Each rule of configurations (docs/spec/presets.yaml) refuses a configuration that breaks it alone: in the generator, and at elaboration
by Verilator and by Yosys' front end."""

import copy
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import cache  # noqa: E402
from gen import presets  # noqa: E402
from pyosys import libyosys  # noqa: E402

# For each rule: words of what it says, a preset, and what to change in it. No earlier rule is broken.
BROKEN = (
    ("Rows is a power of two in 8", "nano", {"Rows": 12, "Cols": 12}),
    ("one of the cells", "nano", {"Cell": 2}),
    ("an int8 cell", "nano", {"CellStages": 3}),
    ("1 to 5 stages", "mini", {"CellStages": 6}),
    ("Multipliers is", "mini", {"Multipliers": 60}),
    ("whole number of words", "nano", {"UbBytes": 65536 + 64}),
    ("at most 32 MiB", "v1", {"UbBytes": 1 << 26}),
    ("AccRows", "edge", {"AccRows": 1000}),
    ("WfifoTiles", "edge", {"WfifoTiles": 1}),
    ("LoadBuses is a power", "mini", {"LoadBuses": 4}),
    ("VectorLanes is a power", "nano", {"VectorLanes": 16}),
    ("VectorLanes equal", "mini", {"VectorLanes": 4}),
    ("Sublanes is 1, 2 or 4", "mini", {"Sublanes": 3}),
    ("Residual is", "mini", {"Residual": 1}),
    ("BeatBytes is", "board", {"BeatBytes": 8}),
    ("at least a row of a tile", "lite", {"BeatBytes": 32}),
    ("segments, what", "board8", {"Segments": 5}),
    ("suffice", "board8", {"UbBanks": 4}),
    ("queue holds", "lite", {"QueueDepth": 1}),
    ("Parity is", "nano", {"Parity": 2}),
    ("2 with a stack of HBM each", "board", {"Cores": 2}),
    ("one of the memories", "lite", {"Memory": 2}),
    ("HbmPcs is", "edge", {"HbmPcs": 2}),
    ("no DramBytes", "edge", {"DramBytes": 4096}),
    ("no HbmPcs", "board", {"HbmPcs": 1}),
    ("data width of AXI4", "v2", {"Memory": 1, "HbmPcs": 0, "DramBytes": 4096}),
    ("SmemBytes is", "minichip", {"SmemBytes": 12288}),
    ("a scalar unit has HBM", "board", {"SmemBytes": 32768}),
    ("LinkBytes is", "minichip", {"LinkBytes": 8}),
    ("Ecc is", "board", {"Ecc": 1}),
    ("multiple of 4096", "board", {"DramBytes": 4097}),
)


def wrapper(spec, preset, change):
    """A module that checks the preset with that change."""
    core = {parameter["name"] for parameter in spec["core"]}
    lines = [f"    c.{'Core.' if name in core else ''}{name} = {value};" for name, value in change.items()]
    name = "Preset" + preset[:1].upper() + preset[1:]
    return "\n".join(["module seeded import systole_presets_pkg::*; ();", "  function automatic chip_cfg_t broken();", "    chip_cfg_t c;",
                      f"    c = preset({name});", *lines, "    return c;", "  endfunction", "  systole_cfg_check #(.Cfg(broken())) u_check ();",
                      "endmodule", ""])


class Rules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.spec = presets.load(ROOT)
        self.sources = [ROOT / "rtl/gen/systole_presets_pkg.sv", ROOT / "rtl/gen/systole_cfg_check.sv"]

    def once(self, tool, version, texts, run):
        """Exit code and output of a tool, now or when it read the same texts before."""
        kept = cache.Entry("config", tool, version, pathlib.Path(__file__).read_bytes(), *texts)
        if not kept.restore(self.folder):
            code, output = run()
            (self.folder / "said").write_text(f"{code}\n{output}")
            kept.store(self.folder, ["said"])
        code, _, output = (self.folder / "said").read_text().partition("\n")
        return int(code), output

    def texts(self, source):
        return [path.read_bytes() for path in [*self.sources, source]]

    def run_verilator(self, words, texts):
        def run():
            result = subprocess.run(["verilator", "--lint-only", *map(str, words)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    text=True, check=False)
            return result.returncode, result.stdout
        return self.once("verilator", cache.version("verilator", "--version"), texts, run)

    def verilator(self, source):
        return self.run_verilator([*self.sources, source, "--top-module", "seeded"], self.texts(source))

    def slang(self, source):
        return self.once("slang", importlib.metadata.version("pyosys"), self.texts(source), lambda: self.run_slang(source))

    def run_slang(self, source):
        # In a child of this process, which need not load Yosys again: an error ends it.
        files = " ".join(map(str, [*self.sources, source]))
        said = self.folder / "slang.log"
        child = os.fork()
        if child == 0:
            with open(said, "wb") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            code = 1
            try:
                libyosys.run_pass(f"read_slang --threads 1 --top seeded {files}", libyosys.Design())
                code = 0
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said.read_text(errors="replace")

    def test_every_rule_has_its_fault(self):
        said = [[rule["say"] for rule in self.spec["rules"] if words in rule["say"]] for words, _, _ in BROKEN]
        self.assertEqual([text for texts in said for text in texts], [rule["say"] for rule in self.spec["rules"]])

    def test_presets_are_legal(self):
        for name, preset in self.spec["presets"].items():
            self.assertEqual(presets.broken_rule(self.spec, preset), "", name)
        source = self.folder / "seeded.sv"
        source.write_text(wrapper(self.spec, "board8", {}))
        for tool in (self.verilator, self.slang):
            code, output = tool(source)
            self.assertEqual(code, 0, output[-2000:])

    def test_each_rule_refuses(self):
        ids = {name: {item["id"]: item["name"] for item in self.spec[of]} for name, of in presets.NAMED.items()}
        source = self.folder / "seeded.sv"
        for words, name, change in BROKEN:
            with self.subTest(words):
                preset = copy.deepcopy(self.spec["presets"][name])
                for parameter, value in change.items():
                    part = "core" if parameter in preset["core"] else "chip"
                    preset[part][parameter] = ids.get(parameter, {}).get(value, value)
                if all(value in ids[parameter] for parameter, value in change.items() if parameter in ids):
                    self.assertIn(words, presets.broken_rule(self.spec, preset))
                source.write_text(wrapper(self.spec, name, change))
                for tool in (self.verilator, self.slang):
                    code, output = tool(source)
                    said = re.findall(r"(?:: |encountered: )illegal configuration: wanted: (.*)", output)
                    self.assertNotEqual(code, 0)
                    self.assertEqual(len(said), 1, output[-2000:])
                    self.assertIn(words, said[0])

    def test_value_without_a_name(self):
        preset = copy.deepcopy(self.spec["presets"]["nano"])
        preset["core"]["Cell"] = "fp8"
        with self.assertRaisesRegex(ValueError, "no Cell fp8; there are int8, bf16"):
            presets.broken_rule(self.spec, preset)

    def test_chip_refuses_a_preset_that_there_is_not(self):
        arguments = ["-F", "rtl/systole.f", "-GPreset=99", "-GFastArray=1", "--top-module", "systole_top", ROOT / "rtl/gen/systole_top.sv"]
        code, output = self.run_verilator(arguments, [*map(str, arguments), *cache.uses(ROOT / "rtl")["systole_top"]])
        self.assertNotEqual(code, 0)
        self.assertIn("no such preset", output[:1000])


if __name__ == "__main__":
    unittest.main()
