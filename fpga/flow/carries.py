# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Folds gates into the carry cells that they feed.

Half a CCU2C is a lookup table of four inputs, of which the mapper uses two: it makes a carry chain of an adder before the logic around it
is mapped. What is in front of an adder's operands (the products of bits of a multiplier, gates and multiplexers of an operand) so takes a
lookup table of its own, and a net, where the carry cell has room for it.

A half adds a bit of two operands: `propagate`, a function of A, B, C and D, is their exclusive or; where it is 0 the carry out is
`generate`, which has to be what is in the table's entries of C = D = 0, a function of A and B. With D tied to 1 these entries are free.
"""

import itertools

PINS = "ABCD"
# INIT of the gates that Yosys maps words to; their pins are A, B and S, or C.
GATES = {"$_NOT_": 0x5555, "$_AND_": 0x8888, "$_NAND_": 0x7777, "$_OR_": 0xeeee, "$_NOR_": 0x1111, "$_XOR_": 0x6666, "$_XNOR_": 0x9999,
         "$_ANDNOT_": 0x2222, "$_ORNOT_": 0xbbbb, "$_MUX_": 0xcaca, "$_NMUX_": 0x3535}
# Users that a gate may have and still be folded: each takes a copy of it.
USERS = 3


def variables(bits):
    """The nets among bits, each once."""
    return list(dict.fromkeys(bit for bit in bits if isinstance(bit, int)))


def value_of(bit, values):
    """A bit that is a net of values, or constant."""
    return values[bit] if isinstance(bit, int) else int(bit == "1")


def look_up(init, bits, values):
    """What a table gives for its input bits."""
    return init >> sum(value_of(bit, values) << index for index, bit in enumerate(bits)) & 1


def assignments(nets):
    """All values of the nets, {net: value}."""
    return [dict(zip(nets, bits)) for bits in itertools.product((0, 1), repeat=len(nets))]


class Half:
    """Half a carry cell: what it computes of its nets."""

    def __init__(self, cell, number):
        self.cell, self.number = cell, number
        self.bits = [cell["connections"].get(f"{pin}{number}", ["1"])[0] for pin in PINS]
        self.init = int(cell["parameters"][f"INIT{number}"], 2)

    def propagate(self, values):
        return look_up(self.init, self.bits, values)

    def generate(self, values):
        return look_up(self.init, [*self.bits[:2], "0", "0"], values)

    def with_table(self, net, table):
        """(pins, INIT) of a half that does the same with a lookup table (init, bits) in place of the net that it drives, or None."""
        nets = variables([bit for bit in [*self.bits, *table[1]] if bit != net])
        if len(nets) > len(PINS):
            return None
        cases = []
        for values in assignments(nets):
            inner = {**values, net: look_up(*table, values)}
            cases.append((values, self.propagate(inner), self.generate(inner)))
        for pins in self._orders(nets):
            init = self._realise(pins, cases)
            if init is not None:
                return pins, init
        return None

    @staticmethod
    def _orders(nets):
        """Pins for the nets: which are A and B, the others C and D; D is tied to 1 where the nets leave it free."""
        for first in itertools.combinations(nets, min(2, len(nets))):
            rest = [net for net in nets if net not in first]
            yield [*first, *["1"] * (2 - len(first)), *rest, *["1"] * (2 - len(rest))]

    @staticmethod
    def _realise(pins, cases):
        """INIT of a half with these pins, or None if its carry would need more than A and B."""
        init, carries = 0, {}
        for values, propagate, generate in cases:
            index = sum(value_of(pin, values) << number for number, pin in enumerate(pins))
            init |= propagate << index
            if not propagate and carries.setdefault(index & 3, generate) != generate:
                return None
        if pins[3] == "1":
            # The entries of C = D = 0 are the carry's alone.
            return init | sum(generate << index for index, generate in carries.items())
        # They are the propagate's too: what it is there has to be the carry wherever that is generated.
        return init if all(init >> index & 1 == generate for index, generate in carries.items()) else None

    def set(self, pins, init):
        for pin, bit in zip(PINS, pins):
            self.cell["connections"][f"{pin}{self.number}"] = [bit]
        self.cell["parameters"][f"INIT{self.number}"] = f"{init:016b}"


def users_of(module):
    """{net: [(cell name, port)]} of the inputs of cells; a port of the module is a user with no cell."""
    users = {}
    for name, cell in module["cells"].items():
        for port, bits in cell["connections"].items():
            if cell["port_directions"].get(port) == "output":
                continue
            for bit in variables(bits):
                users.setdefault(bit, []).append((name, port))
    for port, value in module["ports"].items():
        for bit in variables(value["bits"]):
            users.setdefault(bit, []).append((None, port))
    return users


def drop(users, bits, name, number):
    """Takes the pins of a lookup table from the users of its inputs."""
    for bit, pin in zip(bits, PINS):
        if isinstance(bit, int):
            users[bit].remove((name, f"{pin}{number}"))


def splits(driver, bits):
    """Whether two or more inputs of a gate come from gates: the mapper may make one lookup table of all of them, and would need one for
    each in front of a carry cell."""
    return sum(bit in driver for bit in variables(bits)) > 1


def fold_table(module, users, name):
    """Folds a gate into all that it drives, if all can take it. Returns the names of these carry cells."""
    cell = module["cells"][name]
    net = cell["connections"]["Z"][0]
    bits = [cell["connections"].get(pin, ["0"])[0] for pin in PINS]
    if not 0 < len(users.get(net, [])) <= 2 * USERS:
        return set()
    driven = sorted(set((user, port[1:]) for user, port in users[net]), key=str)
    if len(driven) > USERS or not 0 < len(variables(bits)) < len(PINS) or net in bits:
        return set()
    table = (int(cell["parameters"]["INIT"], 2), bits)
    found = []
    for user, number in driven:
        if user is None or module["cells"][user]["type"] != "CCU2C" or number not in ("0", "1"):
            return set()
        if any(module["cells"][user]["parameters"][f"INJECT1_{half}"] != "NO" for half in (0, 1)):
            return set()
        half = Half(module["cells"][user], number)
        new = half.with_table(net, table)
        if new is None:
            return set()
        found.append((user, half, new))
    for user, half, (pins, init) in found:
        drop(users, half.bits, user, half.number)
        half.set(pins, init)
        for bit, pin in zip(pins, PINS):
            if isinstance(bit, int):
                users.setdefault(bit, []).append((user, f"{pin}{half.number}"))
    drop(users, bits, name, "")
    del module["cells"][name]
    return {user for user, _, _ in found}


def fold(module, mapped):
    """Folds the gates (cells of type LUT4) of a module as Yosys' JSON has it: they go, and halves of carry cells change. mapped: they are
    lookup tables already. Returns the names of the carry cells that changed."""
    users = users_of(module)
    driver = {cell["connections"]["Z"][0]: name for name, cell in module["cells"].items() if cell["type"] == "LUT4"}
    changed, left = set(), list(driver.values())
    while left:
        name = left.pop()
        if name not in module["cells"]:
            continue
        bits = [bit for pin in PINS for bit in module["cells"][name]["connections"].get(pin, [])]
        behind = [driver[bit] for bit in bits if bit in driver]
        if not mapped and splits(driver, bits):
            continue
        carry_cells = fold_table(module, users, name)
        if carry_cells:
            changed |= carry_cells
            left += behind
    return changed


# A half's pins and INIT that carry a constant on, whatever comes in.
CONSTANT = {"0": (["1"] * 4, 0x0000), "1": (["1"] * 4, 0x000f)}
# One whose sum is what comes in.
CARRY_OUT = (["1"] * 4, 0x0000)


def chain_from(module, users, head):
    """The carry cells of a chain, or [] where a carry in its middle is used by something else too."""
    chain = [head]
    while True:
        carry = module["cells"][chain[-1]]["connections"]["COUT"]
        found = users.get(carry[0], []) if carry else []
        following = [name for name, port in found if port == "CIN"]
        if not following:
            return chain
        if len(found) > 1:
            return []
        chain.append(following[0])


def carry_of(half, carry_in):
    """(pins, INIT) of a half that carries what this one does of a constant carry, whatever comes in, or None if two nets do not say it."""
    nets = variables(half.bits)
    if len(nets) > 2:
        return None
    init = 0
    for values in assignments(nets):
        carry = carry_in if half.propagate(values) else half.generate(values)
        init |= carry << sum(values[net] << index for index, net in enumerate(nets))
    init |= init << 1 if not nets else 0
    init |= init << 2 if len(nets) < 2 else 0
    return [*nets, *["1"] * (4 - len(nets))], init & 0xf


def trim_chain(module, users, head, fresh):
    """Makes the chain that begins at `head` one that needs no carry from outside and leaves none open: the placer spends a carry cell on
    each. The first half makes the constant: it is a new one, or, where that would take a carry cell more, the lowest bit's, whose sum
    moves to a lookup table. fresh: numbers of new nets."""
    cells = module["cells"]
    names = chain_from(module, users, head)
    if not names or any(cells[name]["parameters"][f"INJECT1_{half}"] != "NO" for name in names for half in "01"):
        return
    carry_in = cells[head]["connections"]["CIN"][0]
    carry_in = "1" if carry_in == "1" else "0"
    last = cells[names[-1]]["connections"]["COUT"]
    halves = []  # (pins, INIT, net of the sum)
    for name in names:
        for number in "01":
            half = Half(cells[name], number)
            halves.append((half.bits, half.init, cells[name]["connections"].get(f"S{number}", ["x"])[0]))
    if last and users.get(last[0]):
        # Leaves as the sum of a half of its own; the carry itself is a net within the chain from here on.
        halves.append((*CARRY_OUT, last[0]))
        cells[names[-1]]["connections"]["COUT"] = [next(fresh)]
    while halves and not users.get(halves[-1][2]):
        halves.pop()
    if not halves:
        return
    lowest = carry_of(Half(cells[head], "0"), int(carry_in)) if len(halves) % 2 == 0 else None
    if lowest:
        bits, init, net = halves[0]
        halves[0] = (*lowest, "x")
        if carry_in == "1":
            init ^= 0xffff
        if users.get(net):
            cells[f"{head}$lowest"] = {**lut4(bits, init, net), "attributes": cells[head].get("attributes", {})}
    else:
        halves.insert(0, (*CONSTANT[carry_in], "x"))
    if len(halves) % 2:
        halves.append((*CARRY_OUT, "x"))
    template = cells[names[-1]]
    for name in names[len(halves) // 2:]:
        del cells[name]
    names = names[:len(halves) // 2]
    if len(names) < len(halves) // 2:
        names.append(f"{names[-1]}$end")
        cells[names[-1]] = {**template, "connections": dict(template["connections"]), "parameters": dict(template["parameters"])}
    carry = "x"
    for index, name in enumerate(names):
        connections = cells[name]["connections"]
        connections["CIN"] = [carry]
        for number in (0, 1):
            pins, init, net = halves[2 * index + number]
            Half(cells[name], str(number)).set(pins, init)
            connections[f"S{number}"] = [net]
        # Not used: not connected; a carry that nobody takes costs a carry cell.
        carry = connections["COUT"][0] if index + 1 < len(names) else "x"
        connections["COUT"] = [carry]


def lut4(bits, init, net):
    """A lookup table."""
    return {"hide_name": 0, "type": "LUT4", "parameters": {"INIT": f"{init:016b}"},
            "port_directions": {**dict.fromkeys(PINS, "input"), "Z": "output"}, "connections": {**{pin: [bit] for pin, bit in zip(PINS, bits)}, "Z": [net]}}


def finish(design):
    """Folds and trims the top module of a mapped netlist (Yosys' JSON)."""
    module = next(module for module in design["modules"].values() if int(module.get("attributes", {}).get("top", "0"), 2))
    fold(module, mapped=True)
    users = users_of(module)
    fresh = itertools.count(1 + max((bit for bit in users if isinstance(bit, int)), default=0))
    for name in [name for name, cell in module["cells"].items() if cell["type"] == "CCU2C" and not isinstance(cell["connections"]["CIN"][0], int)]:
        trim_chain(module, users, name, fresh)
    driven = {bit for cell in module["cells"].values() for port, bits in cell["connections"].items()
              if cell["port_directions"].get(port) == "output" for bit in bits}
    driven |= {bit for port in module["ports"].values() if port["direction"] != "output" for bit in port["bits"]}
    for entry in module["netnames"].values():
        entry["bits"] = [bit if not isinstance(bit, int) or bit in driven else "x" for bit in entry["bits"]]
