# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Whether two versions of a unit's RTL are the same hardware for whoever uses it: proved by ABC on what Yosys makes of both.

Both run side by side on the same inputs, from the same values at power-up, any values, through a reset of one cycle at least; whatever
their registers hold must then never show. What shows is

- an output while there is no reset; one that a unit declares as `taken` only where it is taken;
- what is written to memories, always. Reads of one address see the same then, whatever it is, so that memories need no place in the proof;

as long as no assertion of the RTL as it was fails: inputs that the unit is not made for prove nothing. A unit that watches itself
(`upsets`) begins anywhere, without a reset, whatever its assertions say: bits that turned must be found by both.
"""

import dataclasses
import math
import pathlib
import re
import signal
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv" / "bin" / "python"
YOSYS = "import sys; from pyosys import libyosys as ys; d = ys.Design(); [ys.run_pass(c, d) for c in sys.argv[1:]]"
# Any cycle may be held: what a test bench drives in the view for simulation.
HOLD = """module systole_prim_hold #(parameter int unsigned Streams = 1) (input logic clk_i, output logic [Streams-1:0] hold_o);
  logic [Streams-1:0] bench;
  assign hold_o = bench;
endmodule
"""
CELL = re.compile(r"((?:^  attribute [^\n]*\n)*)^  cell (\S+) (\S+)\n(.*?)^  end\n", re.MULTILINE | re.DOTALL)
WIRE = re.compile(r"^  wire (.*?)(\\\S+|\$\S+)$", re.MULTILINE)


class IllegalError(Exception):
    """The front end of the synthesis refuses the sources; the message is its."""


class _TimeoutError(Exception):
    pass


@dataclasses.dataclass
class _Side:
    """One of the two, without memories and with the values at power-up as inputs. Ports: {name: width}."""

    text: str
    inputs: dict
    outputs: dict
    powerup: dict      # inputs: registers' values at power-up
    reads: dict        # inputs: what a memory's read port gives, of the output `<name>.addr`
    writes: dict       # outputs `<name>.en`, `.addr`, `.data` of each write port; the width of en and data
    holds: bool        # the output `checks`: no assertion fails


def _run(words, seconds):
    """seconds: of processor time, so that a busy machine proves what an idle one does."""
    limit = ["prlimit", f"--cpu={math.ceil(seconds)}"]
    result = subprocess.run([*limit, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise _TimeoutError
    return result.returncode, result.stdout


def _netlist(folder, unit, parameters, name, seconds, checks):
    """RTLIL of the unit, flat, of registers without enable and reset, memories' ports and, with `checks`, assertions."""
    top = pathlib.Path(parameters.get("top", unit["top"]))
    sources = [path for pattern in unit.get("sources", []) for path in sorted(folder.glob(pattern))]
    # A bench is no part of what may change.
    sources.append((ROOT if top.parts[0] == "tests" else folder) / top)
    options = " ".join(f"-G {key}={value}" for key, value in parameters.items() if key != "top")
    path = folder / f"{name}.il"
    ignore = "" if checks else "--ignore-assertions"
    read = f"read_slang --threads 1 {ignore} --no-implicit-memories --top {top.stem} {options} -F {folder}/rtl/systole.f {' '.join(map(str, sources))}"
    code, log = _run([str(PYTHON), "-c", YOSYS, read, "proc -norom", "flatten", "opt_expr", "opt_clean", "dffunmap", "opt_clean",
                      f"rename {top.stem} {name}", f"write_rtlil {path}"], seconds)
    if code != 0:
        raise IllegalError(log[-1000:])
    return path.read_text()


def _side(text, own):
    """own: for names of what the other side has not."""
    side = _Side("", {}, {}, {}, {}, {}, False)
    head, _, body = text.partition("\nmodule ")
    name, _, body = body.partition("\n")
    wires = {match[2]: match[1] for match in WIRE.finditer(body)}
    for wire, options in wires.items():
        width = re.search(r"width (\d+)", options)
        for kind, ports in (("input", side.inputs), ("output", side.outputs)):
            if f"{kind} " in options:
                ports[wire] = int(width[1]) if width else 1
    added, checks, counts = [], [], {}
    ports = len(side.inputs) + len(side.outputs)

    def port(kind, width, label):
        nonlocal ports
        ports += 1
        added.append(f"  wire width {width} {kind} {ports} {label}\n")

    def cell(match):
        attributes, kind, label, rest = match.groups()
        connect = dict(re.findall(r"^    connect \\(\w+) (.*)$", rest, re.MULTILINE))
        parameter = dict(re.findall(r"^    parameter (?:signed )?\\(\w+) (.*)$", rest, re.MULTILINE))
        if kind == "$dff":
            width = int(parameter["WIDTH"])
            stable = "$" not in connect["Q"]
            power = f"\\powerup:{re.sub(r'[^A-Za-z0-9_.:]', '_', connect['Q'] if stable else own + label)}"
            if power in side.powerup:
                power += f":{own}{label}"
            side.powerup[power] = width
            port("input", width, power)
            added.append(f"  wire width {width} $state{label}\n")
            mux = (f"  cell $mux $powerup{label}\n    parameter \\WIDTH {width}\n    connect \\A {power}\n    connect \\B $state{label}\n"
                   f"    connect \\S \\started_i\n    connect \\Y {connect['Q']}\n  end\n")
            return attributes + f"  cell $dff {label}\n" + rest.replace(f"connect \\Q {connect['Q']}", f"connect \\Q $state{label}") + "  end\n" + mux
        if kind in ("$memrd_v2", "$memwr_v2"):
            memory = re.sub(r"[^A-Za-z0-9_.]", "_", parameter["MEMID"])
            counts[kind, memory] = number = counts.get((kind, memory), -1) + 1
            bits, width = int(parameter["ABITS"]), int(parameter["WIDTH"])
            label = f"\\{kind[1:6]}:{memory}:{number}"
            port("output", bits, f"{label}.addr")
            text = f"  connect {label}.addr {connect['ADDR']}\n"
            if kind == "$memrd_v2":
                if parameter["CLK_ENABLE"] != "0":
                    raise ValueError(f"{label}: a clocked read port")
                port("input", width, label)
                side.reads[label] = (width, bits)
                return text + f"  connect {connect['DATA']} {label}\n"
            for suffix in ("EN", "DATA"):
                port("output", width, f"{label}.{suffix.lower()}")
                text += f"  connect {label}.{suffix.lower()} {connect[suffix]}\n"
            side.writes[label] = (width, bits)
            return text
        if kind == "$check":
            if parameter["FLAVOR"] == '"assert"':
                number = len(checks)
                checks.append(f"$failed{number}")
                added.append(f"  wire $failed{number}\n  wire $holds{number}\n")
                return (f"  cell $not $check{number}\n    parameter \\A_SIGNED 0\n    parameter \\A_WIDTH 1\n    parameter \\Y_WIDTH 1\n"
                        f"    connect \\A {connect['A']}\n    connect \\Y $holds{number}\n  end\n"
                        f"  cell $and $check_en{number}\n    parameter \\A_SIGNED 0\n    parameter \\B_SIGNED 0\n    parameter \\A_WIDTH 1\n"
                        f"    parameter \\B_WIDTH 1\n    parameter \\Y_WIDTH 1\n    connect \\A {connect['EN']}\n    connect \\B $holds{number}\n"
                        f"    connect \\Y $failed{number}\n  end\n")
            return ""
        if kind in ("$memrd", "$memwr", "$mem_v2", "$meminit_v2", "$dlatch", "$adff", "$aldff"):
            if kind == "$meminit_v2":
                return ""
            raise ValueError(f"{kind} {label}")
        return attributes + f"  cell {kind} {label}\n{rest}  end\n"

    # In the order of the source: the names of the cells are numbers.
    body = CELL.sub(cell, re.sub(r"^  memory [^\n]*\n", "", body, flags=re.MULTILINE))
    port("input", 1, "\\started_i")
    if checks:
        side.holds = True
        port("output", 1, "\\checks_o")
        joined = "{ " + " ".join(checks) + " }"
        body = body.rstrip()
        assert body.endswith("end")
        body = body[:-3] + (f"  cell $reduce_or $checks\n    parameter \\A_SIGNED 0\n    parameter \\A_WIDTH {len(checks)}\n"
                            f"    parameter \\Y_WIDTH 1\n    connect \\A {joined}\n    connect \\Y \\checks_o\n  end\nend\n")
    side.text = f"{head}\nmodule {name}\n{''.join(added)}{body}"
    return side


def _bare(text, name):
    """RTLIL without its places in the source and the module's name."""
    return re.sub(r"^ *attribute [^\n]*\n", "", text, flags=re.MULTILINE).replace(f"\nmodule \\{name}\n", "\n")


def _escaped(name):
    return f"\\{name.removeprefix(chr(92))} "


def _miter(gold, gate, taken, upsets):
    """Verilog: both, and one output: they differ where it shows."""
    lines, differs = [], []
    reset = _escaped("rst_ni") if "\\rst_ni" in gold.inputs else None
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
        if name == "\\clk_i":
            value = "clk_i"
        elif name == "\\rst_ni":
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
    if reset:
        shows = f"{reset} && ({shows})"
    lines.append(f"  wire legal = {legal};\n  always @(posedge clk_i) legal_q <= legal;")
    begun = "1'b1" if upsets else "started"
    lines.append(f"  assign differs = {begun} && legal && (({shows}) || {' || '.join(f'({a})' for a in always) or chr(49) + chr(39) + 'b0'});")
    for key in ("gold", "gate"):
        joined = ", ".join(f".{_escaped(name)}({value})" for name, value in ports[key].items())
        lines.append(f"  {key} u_{key} ({joined});")
    body = "\n".join(lines)
    return f"module miter ({', '.join(declared)}, differs);\n  input clk_i;\n  output differs;\n{body}\nendmodule\n"


class Prover:
    """A unit as it is, to compare with: for as long as `work`, an empty folder, is there.

    Prover(unit, work, copy).equivalent(mutant, 60)     # copy(folder) puts the sources there
    """

    def __init__(self, unit, work, copy):
        self.unit, self.copy, self.original, self.sides = unit, copy, work / "original", {}
        self._sources(self.original)

    def _sources(self, folder):
        self.copy(folder)
        (folder / "rtl" / "prim" / "systole_prim_hold.sv").write_text(HOLD)

    def equivalent(self, mutant, seconds):
        """Whether the unit with this change is proved to be the same for all its parameters; False: not in so many seconds a step.
        IllegalError if the synthesis does not take the change."""
        with tempfile.TemporaryDirectory(prefix="systole_mutant_") as name:
            changed = pathlib.Path(name) / "changed"
            self._sources(changed)
            mutant.apply(changed)
            try:
                return bool(self.unit["parameters"]) and all(self._proved(changed, index, seconds) for index in range(len(self.unit["parameters"])))
            except _TimeoutError:
                return False

    def _plain(self, parameters, seconds):
        try:
            return _netlist(self.original, self.unit, parameters, "gold", 10 * seconds, False)
        except IllegalError as error:
            raise ValueError(f"{self.unit['name']}: the synthesis does not take the unit as it is: {error}") from error

    def _proved(self, changed, index, seconds):
        parameters = self.unit["parameters"][index]
        if index not in self.sides:
            try:
                checks, text = True, _netlist(self.original, self.unit, parameters, "gold", 10 * seconds, True)
            except IllegalError:  # the front end has no names for assertions in loops
                checks, text = False, self._plain(parameters, seconds)
            self.sides[index] = checks, _bare(text, "gold"), _side(text, "gold")
        checks, bare, gold = self.sides[index]
        text = _netlist(changed, self.unit, parameters, "gate", seconds, checks)
        if _bare(text, "gate") == bare:  # the change is in what these parameters leave out
            return True
        gate = _side(text, "gate")
        miter = _miter(gold, gate, self.unit.get("taken", {}), self.unit.get("upsets", False))
        if miter is None:
            return False
        for name, text in (("gold.il", gold.text), ("gate.il", gate.text), ("miter.v", miter)):
            (changed / name).write_text(text)
        code, log = _run([str(PYTHON), "-c", YOSYS, *(f"read_rtlil {changed}/{name}.il" for name in ("gold", "gate")),
                          f"read_verilog {changed}/miter.v", "hierarchy -top miter", "proc", "flatten", "setundef -undriven -zero", "setundef -zero",
                          "opt_expr", "opt_clean", "simplemap", "techmap", "opt_clean", "dffunmap", "simplemap",
                          f"write_blif -top miter {changed}/miter.blif"], seconds)
        if code != 0:
            raise ValueError(f"{self.unit['name']}: {log[-2000:]}")
        # Signals that are equal become one; what is left of the difference is looked at from its end.
        code, log = _run(["yosys-abc", "-c", f"read_blif {changed}/miter.blif; strash; zero; scorr; dc2; scorr -F 2; pdr -T {int(seconds)}"],
                         3 * seconds)
        return "Property proved" in log
