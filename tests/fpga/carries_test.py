# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""What the flow folds into carry cells and trims of their chains computes the same: random netlists, and a multiplier mapped by the flow."""

import copy
import json
import pathlib
import random
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fpga"))

from flow import carries, chip, tools  # noqa: E402  behind the path


class Netlist:
    """Evaluates a combinational module of a mapped netlist for many inputs at a time, one a bit of an integer. What is not connected has
    random values."""

    def __init__(self, module, inputs, count, rng):
        self.mask = (1 << count) - 1
        self.values = dict(inputs)
        self.cells = module["cells"]
        self.driver = {bit: name for name, cell in self.cells.items() for port, bits in cell["connections"].items()
                       if cell["port_directions"][port] == "output" for bit in bits if bit != "x"}
        self.unknown = lambda: rng.getrandbits(count)

    def table(self, init, inputs):
        found = 0
        for index in (index for index in range(1 << len(inputs)) if init >> index & 1):
            term = self.mask
            for number, value in enumerate(inputs):
                term &= value if index >> number & 1 else ~value
            found |= term
        return found

    def value(self, bit):
        if bit in ("0", "1", "x"):
            return {"0": 0, "1": self.mask}[bit] if bit != "x" else self.unknown()
        if bit not in self.values:
            self.run(self.cells[self.driver[bit]])
        return self.values[bit]

    def run(self, cell):
        pins = {port: self.value(bits[0]) for port, bits in cell["connections"].items() if cell["port_directions"][port] == "input"}
        made = {}
        if cell["type"] == "LUT4":
            made["Z"] = self.table(int(cell["parameters"]["INIT"], 2), [pins.get(pin, 0) for pin in "ABCD"])
        elif cell["type"] == "PFUMX":
            made["Z"] = pins["C0"] & pins["ALUT"] | ~pins["C0"] & pins["BLUT"]
        else:
            carry = pins["CIN"]
            for half in "01":
                init = int(cell["parameters"][f"INIT{half}"], 2)
                both = [pins[pin + half] for pin in "ABCD"]
                propagate = self.table(init, both)
                made[f"S{half}"] = propagate ^ carry
                carry = propagate & carry | ~propagate & self.table(init & 0xf, both[:2])
            made["COUT"] = carry
        for port, value in made.items():
            for bit in cell["connections"].get(port, []):
                self.values[bit] = value & self.mask


def adder(rng, cells, nets, fresh):
    """A carry chain as the mapper makes it, of nets and of gates of them. Returns the nets that it makes."""
    width, carry_in = rng.randint(1, 9), rng.choice(["0", "0", "1", rng.choice(nets)])
    invert, made, carry = rng.choice("01"), [], carry_in

    def operand():
        if rng.random() < 0.3:
            return rng.choice(nets + ["0", "1"])
        net, pins = next(fresh), rng.sample(nets, rng.randint(1, 3))
        bits = dict(zip("ABCD", pins + ["0", "0", "0"]))
        init = rng.choice([0x8888, 0x7777, 0x6666, 0xcaca, 0xeeee, 0x5555, rng.getrandbits(16)])
        cells[f"gate{net}"] = carries.lut4(bits.values(), init, net)
        if rng.random() < 0.1:
            made.append(net)
        return net

    for index in range(0, width, 2):
        pins = {"CIN": carry}
        for half in "01":
            last = index + int(half) >= width
            pins |= {f"A{half}": "0" if last else operand(), f"B{half}": "0" if last else operand(), f"C{half}": invert, f"D{half}": "1"}
        carry, sums = next(fresh), [next(fresh), next(fresh)]
        made += sums if rng.random() < 0.9 else sums[:1]
        outputs = {"S0": sums[0], "S1": sums[1], "COUT": carry}
        cells[f"carry{carry}"] = {
            "type": "CCU2C", "parameters": {"INIT0": f"{0x96aa:016b}", "INIT1": f"{0x96aa:016b}", "INJECT1_0": "NO", "INJECT1_1": "NO"},
            "port_directions": {**dict.fromkeys(pins, "input"), **dict.fromkeys(outputs, "output")},
            "connections": {port: [bit] for port, bit in {**pins, **outputs}.items()}}
    return made + ([carry] if rng.random() < 0.5 else [])


def design(rng):
    """A random netlist of adders of what comes in and of sums of others."""
    inputs, cells = list(range(2, 12)), {}
    nets, outputs, fresh = list(inputs), [], iter(range(12, 100000))
    for _ in range(6):
        made = adder(rng, cells, nets, fresh)
        outputs += made
        nets += made[:4]
    module = {"attributes": {"top": "1"}, "cells": cells, "netnames": {},
              "ports": {"i": {"direction": "input", "bits": inputs}, "o": {"direction": "output", "bits": outputs}}}
    return {"modules": {"top": module}}


def same(before, after, rng, count=256):
    """Whether two netlists compute the same for random inputs."""
    inputs = {bit: rng.getrandbits(count) for bit in before["ports"]["i"]["bits"]}
    first, second = (Netlist(module, inputs, count, rng) for module in (before, after))
    return all(first.value(bit) == second.value(bit) for bit in before["ports"]["o"]["bits"])


def finished(rng):
    """A random netlist as it was, and after the flow's last step."""
    before = design(rng)
    after = copy.deepcopy(before)
    carries.finish(after)
    return before["modules"]["top"], after["modules"]["top"]


class Carries(unittest.TestCase):
    def test_random_netlists(self):
        gates, heads = 0, []
        for seed in range(60):
            rng = random.Random(seed)
            with self.subTest(seed=seed):
                before, after = finished(rng)
                self.assertTrue(same(before, after, rng))
            heads += [cell["connections"]["CIN"][0] for cell in after["cells"].values() if cell["type"] == "CCU2C"]
            gates += sum(cell["type"] == "LUT4" for cell in before["cells"].values()) - sum(cell["type"] == "LUT4" for cell in after["cells"].values())
        self.assertGreater(gates, 300)
        # A chain whose carry is used in its middle too, or that nobody uses, stays.
        self.assertLess(heads.count("0") + heads.count("1"), heads.count("x") / 10)

    def test_faults_are_seen(self):
        wrong = {"a carry that is not generated": mock.patch.object(carries.Half, "generate", lambda self, values: 0),
                 "a constant carry that is lost": mock.patch.dict(carries.CONSTANT, {"1": carries.CONSTANT["0"]})}
        for name, fault in wrong.items():
            with self.subTest(fault=name):
                equal = []
                for seed in range(40):
                    rng = random.Random(seed)
                    with fault:
                        before, after = finished(rng)
                    equal.append(same(before, after, rng))
                self.assertIn(False, equal)

    def test_the_multiplier_in_logic(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            source = ROOT / "rtl/prim/systole_prim_mult.sv"
            tools.yosys({"read": f"{chip.OPTIONS} --top systole_prim_mult -G Logic=1 {source}", "save": str(folder / "mult.il")}, folder, "read", "reading")
            tools.yosys({"load": str(folder / "mult.il"), "top": "systole_prim_mult", "json": str(folder / "net.json")}, folder, "map", "mapping")
            module = json.loads((folder / "net.json").read_text())["modules"]["systole_prim_mult"]
        count = 1 << 16
        inputs = {}
        for port, shift in (("a_i", 0), ("b_i", 8)):
            for number, bit in enumerate(module["ports"][port]["bits"]):
                run = 1 << number + shift
                inputs[bit] = sum(((1 << run) - 1) << start for start in range(run, count, 2 * run))
        made = Netlist(module, inputs, count, random.Random(1))
        bits = [made.value(bit) for bit in module["ports"]["product_o"]["bits"]]
        products = [((pair & 255 ^ 128) - 128) * ((pair >> 8 ^ 128) - 128) for pair in range(count)]
        for number, bit in enumerate(bits):
            expected = int("".join(str(product >> number & 1) for product in reversed(products)), 2)
            self.assertEqual(bit, expected, f"bit {number}")
        cells = sum({"LUT4": 1, "CCU2C": 2}[cell["type"]] for cell in module["cells"].values() if cell["type"] in ("LUT4", "CCU2C"))
        self.assertLess(cells, 90)


if __name__ == "__main__":
    unittest.main()
