# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Two versions of a netlist side by side, in Verilog, with an output that says that they differ: for equivalence.py."""

import re

SMALL, MOST_HINTS = 3, 20000  # bits of a register of which each value counts; hints of those
CLOCKS, RESETS = ("\\clk_i", "\\clk"), ("\\rst_ni", "\\rst_n")


def _escaped(name):
    return f"\\{name.removeprefix(chr(92))} "


def miter(gold, gate, taken, upsets, inner=False):
    """Verilog: both, and one output: they differ where it shows. inner: of a module, whose users may look at it in reset too."""
    lines, differs = [], []
    clock, reset_port = (next((name for name in names if name in gold.inputs), None) for names in (CLOCKS, RESETS))
    reset = _escaped("rst_ni") if reset_port else None
    ports = {"gold": {}, "gate": {}}
    declared = ["clk_i"]

    def wire(name, width, value=None):
        lines.append(f"  wire [{width - 1}:0] {name}{f' = {value}' if value else ''};")
        return name

    def free(name, width):
        declared.append(f"{name}")
        lines.insert(0, f"  input [{width - 1}:0] {name};")
        return name

    number = 0
    lines.append("  reg started = 1'b0, legal_q = 1'b1;\n  always @(posedge clk_i) started <= 1'b1;")
    for name in gold.inputs:
        if name == clock:
            value = "clk_i"
        elif name == reset_port:
            value = wire(_escaped("rst_ni"), 1, free("rst", 1) + ("" if upsets else " && started"))
        else:
            value = free(_escaped(name), gold.inputs[name])
        for side in ports.values():
            side[name] = value
    for side in ports.values():
        side["\\started_i"] = "started"
    for name in {**gold.powerup, **gate.powerup}:
        widths = {side.powerup[name] for side in (gold, gate) if name in side.powerup}
        for key, side in (("gold", gold), ("gate", gate)):
            if name in side.powerup and (len(widths) == 1 and key == "gold" or len(widths) > 1 or name not in gold.powerup):
                number += 1
                ports[key][name] = free(f"p{number}", side.powerup[name])
            elif name in side.powerup:
                ports[key][name] = ports["gold"][name]
    outputs = {}
    for key, side in (("gold", gold), ("gate", gate)):
        for name, width in side.outputs.items():
            outputs[key, name] = wire(f"{key}_{len(outputs)}", width)
            ports[key][name] = outputs[key, name]
        for table in (side.reads, side.writes):
            for name, (width, bits) in table.items():
                for suffix, size in ((".addr", bits), (".en", width), (".data", width)):
                    if suffix == ".addr" or table is side.writes:
                        outputs[key, name + suffix] = wire(f"{key}_{len(outputs)}", size)
                        ports[key][name + suffix] = outputs[key, name + suffix]
        for name, (_, *widths) in side.products.items():
            for suffix, width in zip((".a", ".b"), widths):
                outputs[key, name + suffix] = ports[key][name + suffix] = wire(f"{key}_{len(outputs)}", width)
        if side.holds:
            ports[key]["\\checks_o"] = wire(f"{key}_failed", 1)
    if gold.reads.keys() != gate.reads.keys() or gold.writes != gate.writes or gold.outputs != gate.outputs:
        return None
    for name, (width, _) in gold.reads.items():
        number += 1
        ports["gold"][name] = free(f"r{number}", width)
        other = free(f"s{number}", width)
        ports["gate"][name] = wire(f"t{number}", width,
                                   f"{outputs['gold', name + '.addr']} == {outputs['gate', name + '.addr']} ? r{number} : {other}")
    for name, (width, *_) in gold.products.items():
        number += 1
        same = " && ".join(f"{outputs['gold', name + suffix]} == {outputs['gate', name + suffix]}" for suffix in (".a", ".b") if name in gate.products)
        ports["gold"][name] = free(f"r{number}", width)
        if name in gate.products:
            other = free(f"s{number}", width)
            ports["gate"][name] = wire(f"t{number}", width, f"{same} ? r{number} : {other}")
    for name in gate.products.keys() - gold.products.keys():
        number += 1
        ports["gate"][name] = free(f"r{number}", gate.products[name][0])
    always = []
    for name in gold.writes:
        one, two = ([outputs[key, name + suffix] for suffix in (".en", ".addr", ".data")] for key in ("gold", "gate"))
        always.append(f"{one[0]} != {two[0]} || (|{one[0]} && {one[1]} != {two[1]}) || ({one[0]} & ({one[2]} ^ {two[2]})) != 0")
    for name in gold.outputs:
        text = f"{outputs['gold', name]} != {outputs['gate', name]}"
        cycles, condition = taken.get(name.removeprefix("\\"), (0, ""))
        if condition:
            def gold_port(match):
                port = "\\" + match[0]
                return f" {outputs['gold', port] if port in gold.outputs else ports['gold'][port]} "
            value = "(" + re.sub(r"[a-z]\w*", gold_port, condition) + ")"
            for _ in range(cycles):
                number += 1
                lines.append(f"  reg d{number} = 1'b0;\n  always @(posedge clk_i) d{number} <= {value}{f' && {reset}' if reset else ''};")
                value = f"d{number}"
            text = f"{value} && ({text})"
        differs.append(f"({text})")
    legal = "legal_q" + (" && !(started && gold_failed)" if gold.holds and not upsets else "")
    shows = " || ".join(differs) or "1'b0"
    if reset and not inner:
        shows = f"{reset} && ({shows})"
    lines.append(f"  wire legal = {legal};\n  always @(posedge clk_i) legal_q <= legal;")
    begun = "1'b1" if upsets else "started"
    # Hints for the search: registers that are always equal, or while a small one that is equal has one of its values.
    shared = [name for name, width in gold.registers.items() if gate.registers.get(name) == width]
    held = {}
    for name in gold.registers.keys() | gate.registers.keys():
        for key, side in (("gold", gold), ("gate", gate)):
            if name in side.registers:
                held[key, name] = ports[key][name] = wire(f"{key}_held{len(held)}", side.registers[name])
    hints = []
    for name in shared:
        number += 1
        hints.append(wire(f"n{number}", 1, f"legal && {held['gold', name]} != {held['gate', name]}"))
    small = [name for name in shared if gold.registers[name] <= SMALL]
    if len(shared) * sum(1 << gold.registers[name] for name in small) <= MOST_HINTS:
        unequal = dict(zip(shared, hints))
        hints += [f"{unequal[other]} && !{unequal[name]} && {held['gold', name]} == {value}" for name in small
                  for value in range(1 << gold.registers[name]) for other in shared if other != name]
    lines.append(f"  assign differs = {begun} && legal && (({shows}) || {' || '.join(f'({a})' for a in always) or chr(49) + chr(39) + 'b0'});")
    for key in ("gold", "gate"):
        joined = ", ".join(f".{_escaped(name)}({value})" for name, value in ports[key].items())
        lines.append(f"  {key} u_{key} ({joined});")
    body = "\n".join(lines)
    body += "".join(f"\n  assign hints[{index}] = {hint};" for index, hint in enumerate(hints))
    return (f"module miter ({', '.join(declared)}, differs, hints);\n  input clk_i;\n  output differs;\n  output [{len(hints)}:0] hints;\n"
            f"  assign hints[{len(hints)}] = 1'b0;\n{body}\nendmodule\n")
