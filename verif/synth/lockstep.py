# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Simulates mapped netlists against the RTL that they come from, with the same random inputs, in one model.

Each netlist has seeded faults: an inverted LUT, a flip-flop that loads 0, a multiplier that lost an input. An input selects one of them,
and the run is repeated for each. At least one fault of each kind must make the netlist differ from the RTL. This shows that the inputs
reach the logic and that the comparison works. Not every fault can be seen, because netlists have redundant logic (a register that is always
bypassed, a multiplexer that an inverted value passes twice).
"""

import dataclasses
import pathlib
import re
import sys

import children

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import cache  # noqa: E402

CYCLES = 20000
SEED = 1
RESET_CYCLES = 4
# Kinds of seeded faults: the cell, and the pin that is inverted (an output) or 0 (an input).
FAULTS = {"inverted LUT": ("LUT4", "Z"), "flip-flop that loads 0": ("TRELLIS_FF", "DI"), "multiplier without an input": ("MULT18X18D", "A0")}


@dataclasses.dataclass
class Subject:
    """A netlist: Verilog text with module `name`_netlist; the ports (name, direction, width) of netlist and RTL; top: the RTL's module."""

    name: str
    top: str
    parameters: dict
    netlist: str
    ports: list
    faults: int  # number of seeded faults of each kind
    settle: int = RESET_CYCLES  # cycles until the netlist's initial state no longer matters


def spread(items, count):
    """At most `count` of the items, evenly spread."""
    step = max(1, len(items) // count)
    return items[step // 2::step][:count]


def seed_faults(subject):
    """The netlist with an input fault_i that selects a fault by number, from 1 on; and the kinds of the faults."""
    netlist = subject.netlist
    chosen = []
    for kind, (cell, pin) in FAULTS.items():
        cells = re.finditer(rf"\b{cell} (?:#\([^;]*?\) )?\S+ \([^;]*?\.(?P<pin>{pin})\((?P<net>[^;]*?)\)[^;]*;", netlist)
        found = spread([match for match in cells if not match["net"].startswith("1'h")], subject.faults)
        if not found and re.search(rf"\b{cell} ", netlist):
            raise RuntimeError(f"{subject.name}: no {cell} to seed a fault in")
        chosen += [(kind, match) for match in found]
    edits = []
    for number, (_, match) in enumerate(chosen, 1):
        pin = f".{match['pin']}(fault_i == {number} ? 1'h0 : {match['net']})"
        if match["pin"] == "Z":
            pin = f".Z(fault_{number})"
            edits.append((match.end(), match.end(), f"\n  wire fault_{number};\n  assign {match['net']} = fault_{number} ^ (fault_i == {number});"))
        edits.append((match.start("pin") - 1, match.end("net") + 1, pin))
    for start, end, text in sorted(edits, reverse=True):
        netlist = netlist[:start] + text + netlist[end:]
    return re.sub(rf"module {subject.name}_netlist\((.*?)\);", rf"module {subject.name}_netlist(fault_i, \1);\n  input [7:0] fault_i;", netlist,
                  count=1, flags=re.S), [kind for kind, _ in chosen]


def instance(module, parameters, ports, name, subject, outputs):
    """An instance that shares the subject's inputs and has its own outputs."""
    values = ", ".join(f".{key}({value})" for key, value in parameters.items())
    pins = [f".{port}({subject}_{port if direction == 'input' else outputs + '_' + port})" for port, direction, _ in ports]
    return f"  {module} {'#(' + values + ') ' if values else ''}{name} ({', '.join(pins)});"


def make_module(subjects):
    """The module that runs everything. The bits of mismatch_o are in the order of the subjects."""
    lines = [f"module lockstep (input logic clk_i, input logic [7:0] fault_i, output logic [{len(subjects) - 1}:0] mismatch_o);",
             "  int unsigned cycle_q = 0;", "  logic rst_nq = 0;",
             "  always_ff @(negedge clk_i) begin", "    cycle_q <= cycle_q + 1;",
             f"    rst_nq <= cycle_q >= {RESET_CYCLES} && $urandom() % 500 != 0;", "  end"]
    for bit, subject in enumerate(subjects):
        for port, direction, width in subject.ports:
            if direction != "input":
                lines.append(f"  logic [{width - 1}:0] {subject.name}_rtl_{port};")
            elif port == "clk_i":
                lines.append(f"  wire {subject.name}_{port} = clk_i;")
            elif port == "rst_ni":
                lines.append(f"  wire {subject.name}_{port} = rst_nq;")
            else:
                words = ", ".join(["$urandom()"] * ((width + 31) // 32))
                lines.append(f"  logic [{width - 1}:0] {subject.name}_{port};")
                lines.append(f"  always_ff @(negedge clk_i) {subject.name}_{port} <= {width}'({{{words}}});")
        outputs = [(port, width) for port, direction, width in subject.ports if direction == "output"]
        lines += [f"  logic [{width - 1}:0] {subject.name}_net_{port};" for port, width in outputs]
        lines.append(instance(subject.top, subject.parameters, subject.ports, f"u_{subject.name}", subject.name, "rtl"))
        fault = ("fault_i", "input", 8)
        lines.append(f"  wire [7:0] {subject.name}_fault_i = fault_i;")
        lines.append(instance(f"{subject.name}_netlist", {}, [fault, *subject.ports], f"u_{subject.name}_netlist", subject.name, "net"))
        differ = " || ".join(f"{subject.name}_net_{port} !== {subject.name}_rtl_{port}" for port, _ in outputs)
        lines.append(f"  assign mismatch_o[{bit}] = cycle_q > {subject.settle} && ({differ});")
    return "\n".join([*lines, "endmodule", ""])


def texts(rtl, subjects, sources):
    """The texts of the RTL that the subjects and the other sources use."""
    uses = cache.uses(rtl)
    named = {subject.top for subject in subjects}.union(*(re.findall(r"\bsystole_\w+", source.read_text()) for source in sources))
    return sorted({text for name in named & set(uses) for text in uses[name]})


def run(subjects, rtl, sources, models, work, driver):
    """Builds and runs the model, or takes the result from the cache. Returns per subject: cycles, faults, faults seen, problems."""
    netlists, kinds = zip(*map(seed_faults, subjects))
    (work / "netlists.v").write_text("\n".join(netlists))
    (work / "lockstep.sv").write_text(make_module(subjects))
    flags = ["--cc", "--exe", "--build", "-O3", "--x-assign", "fast", "--x-initial", "fast", "-Wno-fatal", "-Wno-lint", "-Wno-style",
             "-Wno-MULTITOP", "-CFLAGS", "-O0", "--top-module", "lockstep"]
    files = [*sources, *models, work / "netlists.v", work / "lockstep.sv", driver]
    options = [str(CYCLES), str(SEED), *(str(len(seeded)) for seeded in kinds)]
    entry = cache.Entry("lockstep", cache.version("verilator", "--version"), *flags, *options, *texts(rtl, subjects, sources),
                        *(path.read_bytes() for path in files))
    command = ["verilator", *flags, "--Mdir", str(work / "obj"), "-F", str(rtl / "systole.f"), f"+incdir+{models[0].parent}", *map(str, files)]
    if not entry.restore(work):
        for step in (command, [str(work / "obj" / "Vlockstep"), *options]):
            code, text = children.run(step)
            if code != 0:
                raise RuntimeError(f"{' '.join(step)}\n{text[-4000:]}")
        (work / "lockstep.txt").write_text(text)
        entry.store(work, ["lockstep.txt"])
    # A line per fault number, from 0 (none): for each subject, the first cycle in which netlist and RTL differed, or
    # -1.
    first = [[int(cycle) for cycle in line.split()] for line in (work / "lockstep.txt").read_text().splitlines()]

    report = []
    for index, (subject, seeded) in enumerate(zip(subjects, kinds)):
        problems = []
        if first[0][index] >= 0:
            problems.append(f"{subject.name}: netlist and RTL differ in cycle {first[0][index]}")
        seen = [kind for number, kind in enumerate(seeded, 1) if first[number][index] >= 0]
        problems += [f"{subject.name}: none of {seeded.count(kind)} seeded faults seen: {kind}" for kind in sorted(set(seeded) - set(seen))]
        report.append({"name": subject.name, "cycles": CYCLES, "faults": len(seeded), "faults_seen": len(seen), "problems": problems})
    return report
