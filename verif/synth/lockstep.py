# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Simulates mapped netlists against the RTL that they come from, with the same random inputs, all in one model.

Beside each netlist run copies with one seeded fault (an inverted LUT, a flip-flop that loads 0, a multiplier that lost an input): they
must differ from the RTL, which shows that the inputs reach the logic and that the comparison works.
"""

import dataclasses
import re
import subprocess

CYCLES = 20000
SEED = 1
RESET_CYCLES = 4


@dataclasses.dataclass
class Subject:
    """A netlist: Verilog text with module `name`_netlist, and the ports (name, direction, width) of both."""

    name: str
    parameters: dict
    netlist: str
    ports: list
    faults: int  # seeded, of each kind


def spread(items, count):
    """At most `count` of the items, evenly."""
    step = max(1, len(items) // count)
    return items[::step][:count]


def seed_faults(netlist, count):
    """(description, faulty text) of the netlist with one fault each."""
    def replace(match, text):
        return netlist[:match.start()] + text + netlist[match.end():]

    for match in spread(list(re.finditer(r"\.INIT\(16'h([0-9a-f]{4})\)", netlist)), count):
        yield f"LUT at {match.start()} inverted", replace(match, f".INIT(16'h{0xFFFF ^ int(match[1], 16):04x})")
    flops = [m for m in re.finditer(r"TRELLIS_FF #\(.*?\) \S+ \(.*?\);", netlist, re.S) if re.search(r"\.DI\((?!1'h)", m[0])]
    for match in spread(flops, count):
        yield f"flip-flop at {match.start()} loads 0", replace(match, re.sub(r"\.DI\([^)]*\)", ".DI(1'h0)", match[0]))
    for match in spread(list(re.finditer(r"(MULT18X18D \S+ +\(\s*)\.A0\([^)]*\)", netlist)), count):
        yield f"multiplier at {match.start()} without A0", replace(match, match[1] + ".A0(1'h0)")


def instance(module, parameters, ports, name, subject, outputs):
    """An instance with the subject's inputs and its own outputs."""
    values = ", ".join(f".{key}({value})" for key, value in parameters.items())
    pins = [f".{port}({subject}_{port if direction == 'input' else outputs + '_' + port})" for port, direction, _ in ports]
    return f"  {module} {'#(' + values + ') ' if values else ''}{name} ({', '.join(pins)});"


def make_module(subjects, variants):
    """The module that runs everything; variants: (subject, module) in the order of the bits of mismatch_o."""
    lines = [f"module lockstep (input logic clk_i, output logic [{max(len(variants), 65) - 1}:0] mismatch_o);",
             "  int unsigned cycle_q = 0;", "  logic rst_nq = 0;",
             "  always_ff @(negedge clk_i) begin", "    cycle_q <= cycle_q + 1;",
             f"    rst_nq <= cycle_q >= {RESET_CYCLES} && $urandom() % 500 != 0;", "  end",
             f"  assign mismatch_o[{max(len(variants), 65) - 1}:{len(variants)}] = '0;"]
    for subject in subjects:
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
        lines.append(instance(subject.name, subject.parameters, subject.ports, f"u_{subject.name}", subject.name, "rtl"))
    for bit, (subject, module) in enumerate(variants):
        outputs = [(port, width) for port, direction, width in subject.ports if direction == "output"]
        lines += [f"  logic [{width - 1}:0] {subject.name}_v{bit}_{port};" for port, width in outputs]
        lines.append(instance(module, {}, subject.ports, f"u_variant{bit}", subject.name, f"v{bit}"))
        differ = " || ".join(f"{subject.name}_v{bit}_{port} !== {subject.name}_rtl_{port}" for port, _ in outputs)
        lines.append(f"  assign mismatch_o[{bit}] = cycle_q > {RESET_CYCLES} && ({differ});")
    return "\n".join([*lines, "endmodule", ""])


def run(subjects, rtl_arguments, models, work, driver):
    """Builds and runs the model. Returns (per subject: cycles, faults, faults found, problems)."""
    variants = []
    faults = []
    text = []
    for subject in subjects:
        for index, (fault, netlist) in enumerate([("", subject.netlist), *seed_faults(subject.netlist, subject.faults)]):
            module = f"{subject.name}_netlist{index}"
            text.append(netlist.replace(f"module {subject.name}_netlist(", f"module {module}("))
            variants.append((subject, module))
            faults.append(fault)
    (work / "netlists.v").write_text("\n".join(text))
    (work / "lockstep.sv").write_text(make_module(subjects, variants))
    command = ["verilator", "--cc", "--exe", "--build", "-O3", "--x-assign", "fast", "--x-initial", "fast", "-Wno-fatal", "-Wno-lint",
               "-Wno-style", "-Wno-MULTITOP", "-CFLAGS", "-O0", "--Mdir", str(work / "obj"), "--top-module", "lockstep",
               *rtl_arguments, f"+incdir+{models[0].parent}", *map(str, models), str(work / "netlists.v"), str(work / "lockstep.sv"), str(driver)]
    for step in (command, [str(work / "obj" / "Vlockstep"), str(CYCLES), str(SEED)]):
        result = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"{' '.join(step)}\n{result.stdout[-4000:]}")
    first = [int(line) for line in result.stdout.split()]

    report = []
    for subject in subjects:
        mine = [(fault, cycle) for (owner, _), fault, cycle in zip(variants, faults, first) if owner is subject]
        missed = [fault for fault, cycle in mine if fault and cycle < 0]
        problems = [f"{subject.name}: netlist and RTL differ in cycle {cycle}" for fault, cycle in mine if not fault and cycle >= 0]
        problems += [f"{subject.name}: seeded fault not seen: {fault}" for fault in missed]
        seeded = sum(bool(fault) for fault, _ in mine)
        report.append({"name": subject.name, "cycles": CYCLES, "faults": seeded, "faults_seen": seeded - len(missed), "problems": problems})
    return report
