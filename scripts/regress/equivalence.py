# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Whether two versions of a unit's RTL are the same hardware for whoever uses it: proved by ABC on what Yosys makes of both.

Both run side by side on the same inputs, from the same values at power-up, any values, through a reset of one cycle at least; whatever
their registers hold must then never show. What shows is

- an output while there is no reset; one that a unit declares as `taken` only where it is taken;
- what is written to memories, always. Reads of one address see the same then, whatever it is, so that memories need no place in the proof;
  nor do multipliers: products of the same factors are the same;

as long as no assertion of the RTL as it was fails: inputs that the unit is not made for prove nothing. A unit that watches itself
(`upsets`) begins anywhere, without a reset, whatever its assertions say: bits that turned must be found by both.

First the modules that the change is in are compared alone, each for any inputs, then what is around them, at last the unit: what is the
same in the small is the same in the large. A module must be the same in all cycles but the first, also in reset.
"""

import dataclasses
import math
import pathlib
import re
import signal
import subprocess
import tempfile

import miter

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv" / "bin" / "python"
YOSYS = "import sys; from pyosys import libyosys as ys; d = ys.Design(); [ys.run_pass(c, d) for c in sys.argv[1:]]"
# What holds requests has no place in it, and any value. Benches drive it in the view for simulation.
HOLD = """module systole_prim_hold #(parameter int unsigned Streams = 1) (input logic clk_i, output logic [Streams-1:0] hold_o);
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
    registers: dict    # outputs: what the registers with names of their own hold
    reads: dict        # inputs: what a memory's read port gives, of the output `<name>.addr`
    writes: dict       # outputs `<name>.en`, `.addr`, `.data` of each write port; the width of en and data
    products: dict     # inputs: what a multiplier gives, of the outputs `<name>.a` and `.b`; the widths of all three
    holds: bool        # the output `checks`: no assertion fails


def _run(words, seconds):
    """seconds: of processor time, so that a busy machine proves what an idle one does."""
    limit = ["prlimit", f"--cpu={math.ceil(seconds)}"]
    result = subprocess.run([*limit, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise _TimeoutError
    return result.returncode, result.stdout


FLAT = ("flatten", "opt_expr", "opt_clean", "dffunmap", "opt_clean")


def _read(folder, unit, parameters, checks, hierarchy=""):
    """The top's name and the command that reads the unit, without what its bench holds: any cycle may be held."""
    top = pathlib.Path(parameters.get("top", unit["top"]))
    sources = [path for pattern in unit.get("sources", []) for path in sorted(folder.glob(pattern))]
    # A bench is no part of what may change.
    sources.append((ROOT if top.parts[0] == "tests" else folder) / top)
    if top.parts[0] == "tests":
        text = re.sub(r"^ *always_comb .*\.bench = .*$", "", sources[-1].read_text(), flags=re.MULTILINE)
        sources[-1] = folder / "rtl" / "prim" / top.name
        sources[-1].write_text(text)
    options = " ".join(f"-G {key}={value}" for key, value in parameters.items() if key != "top")
    ignore = "" if checks else "--ignore-assertions"
    return top.stem, (f"read_slang --threads 1 {hierarchy} {ignore} --blackboxed-module systole_prim_hold --no-implicit-memories --top {top.stem} {options} "
                      f"-F {folder}/rtl/systole.f {' '.join(map(str, sources))}")


def _yosys(seconds, *commands):
    code, log = _run([str(PYTHON), "-c", YOSYS, *commands], seconds)
    if code != 0:
        raise IllegalError(log[-1000:])


def _netlist(folder, unit, parameters, name, seconds, checks):
    """RTLIL of the unit, flat, of registers without enable and reset, memories' ports and, with `checks`, assertions."""
    top, read = _read(folder, unit, parameters, checks)
    path = folder / f"{name}.il"
    _yosys(seconds, read, "proc -norom", *FLAT, f"rename {top} {name}", f"select {name}", f"write_rtlil -selected {path}")
    return path.read_text()


class _Modules:
    """A unit's modules, each as it is at its place in the hierarchy."""

    def __init__(self, folder, unit, parameters, name, seconds, checks):
        self.folder, self.name, self.path, self.texts = folder, name, folder / f"{name}.modules.il", {}
        _, read = _read(folder, unit, parameters, checks, "--keep-hierarchy")
        _yosys(seconds, read, "proc -norom", f"write_rtlil {self.path}")
        self.modules = {}  # {place: (module, its file)}; the top, which is compared otherwise, has no place
        file = ""
        for line in self.path.read_text().splitlines():
            if match := re.match(r'attribute \\src "([^:"]*):', line):
                file = match[1]
            elif match := re.match(r"module \\(\S+?)\$(\S+)$", line):
                self.modules[match[2]] = f"{match[1]}${match[2]}", file

    def places(self, file):
        """Of the modules in a file below the folder."""
        return [place for place, (_, path) in self.modules.items() if path.endswith(f"{self.folder.name}/{file}")]

    def netlist(self, place, seconds):
        """As _netlist, of the module with what is in it."""
        if place not in self.texts:
            module, path = self.modules[place][0], self.folder / f"{self.name}.il"
            _yosys(seconds, f"read_rtlil {self.path}", f"hierarchy -top {module}", *FLAT, f"rename {module} {self.name}", f"select {self.name}",
                   f"write_rtlil -selected {path}")
            self.texts[place] = path.read_text()
        return self.texts[place]


def _side(text, own):
    """own: for names of what the other side has not."""
    side = _Side("", {}, {}, {}, {}, {}, {}, {}, False)
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
            if stable:
                holds = power.replace("powerup", "holds", 1)
                side.registers[holds] = width
                port("output", width, holds)
                mux += f"  connect {holds} {connect['Q']}\n"
            return attributes + f"  cell $dff {label}\n" + rest.replace(f"connect \\Q {connect['Q']}", f"connect \\Q $state{label}") + "  end\n" + mux
        if kind == "\\systole_prim_hold":
            width = int(parameter["Streams"].rpartition("'")[2], 2 if "'" in parameter["Streams"] else 10)
            side.powerup[f"\\held:{label}"] = width
            port("input", width, f"\\held:{label}")
            return f"  connect {connect['hold_o']} \\held:{label}\n"
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
        if kind == "$mul" and "'" not in connect["A"] + connect["B"]:
            widths = tuple(int(parameter[f"{port}_WIDTH"]) for port in "YAB")
            shape = "x".join(map(str, (*widths, parameter["A_SIGNED"], parameter["B_SIGNED"])))
            counts[kind, shape] = number = counts.get((kind, shape), -1) + 1
            label = f"\\product:{shape}:{number}"
            side.products[label] = widths
            port("input", widths[0], label)
            for suffix, width in zip("ab", widths[1:]):
                port("output", width, f"{label}.{suffix}")
            return f"  connect {label}.a {connect['A']}\n  connect {label}.b {connect['B']}\n  connect {connect['Y']} {label}\n"
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
    body = CELL.sub(cell, re.sub(r"(?:^  attribute [^\n]*\n)*^  memory [^\n]*\n", "", body, flags=re.MULTILINE))
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
                return (bool(self.unit["parameters"]) and all(self._proved(changed, mutant.file, index, seconds)
                                                              for index in range(len(self.unit["parameters"])))
                        and self._reached(mutant.file))
            except _TimeoutError:
                return False

    def _reached(self, file):
        """Whether a build has the module of the file, if that is one: what is in none of them is not proved by their being the same."""
        modules = [side[-1] for side in self.sides.values()]
        tops = [str(parameters.get("top", self.unit["top"])) for parameters in self.unit["parameters"]]
        is_module = re.search(r"^module ", (self.original / file).read_text(), re.MULTILINE)
        return not is_module or file in tops or None in modules or any(side.places(file) for side in modules)

    def _plain(self, parameters, seconds):
        try:
            return _netlist(self.original, self.unit, parameters, "gold", 10 * seconds, False)
        except IllegalError as error:
            raise ValueError(f"{self.unit['name']}: the synthesis does not take the unit as it is: {error}") from error

    def _proved(self, changed, file, index, seconds):
        parameters = self.unit["parameters"][index]
        if index not in self.sides:
            try:
                checks, text = True, _netlist(self.original, self.unit, parameters, "gold", 10 * seconds, True)
            except IllegalError:  # the front end has no names for assertions in loops
                checks, text = False, self._plain(parameters, seconds)
            modules = self._modules(self.original, parameters, "gold", 10 * seconds, checks)
            self.sides[index] = checks, _bare(text, "gold"), _side(text, "gold"), modules
        checks, bare, gold, modules = self.sides[index]
        text = _netlist(changed, self.unit, parameters, "gate", seconds, checks)
        if _bare(text, "gate") == bare:  # the change is in what these parameters leave out
            return True
        others = self._modules(changed, parameters, "gate", seconds, checks)
        if modules and others and self._inside(changed, file, modules, others, seconds):
            return True
        return self._same(changed, gold, _side(text, "gate"), seconds)

    def _modules(self, folder, parameters, name, seconds, checks):
        try:
            return _Modules(folder, self.unit, parameters, name, seconds, checks)
        except IllegalError:  # the front end cannot keep all hierarchies
            return None

    def _inside(self, changed, file, modules, others, seconds):
        """Whether each module that the file has is proved to be the same, alone or with what is around it."""
        proved = set()
        places = modules.places(file)
        for place in places:
            if any(place == other or place.startswith(other + ".") for other in proved):
                continue
            around = place
            while around:
                if around in modules.modules and self._same_module(changed, around, modules, others, seconds):
                    proved.add(around)
                    break
                around = around.rpartition(".")[0]
            else:
                return False
        return bool(places)

    def _same_module(self, changed, place, modules, others, seconds):
        try:
            gold, gate = (side.netlist(place, seconds) for side in (modules, others))
            return _bare(gold, "gold") == _bare(gate, "gate") or self._same(changed, _side(gold, "gold"), _side(gate, "gate"), seconds, inner=True)
        except (_TimeoutError, IllegalError):
            return False

    def _same(self, changed, gold, gate, seconds, inner=False):
        text = miter.miter(gold, gate, {} if inner else self.unit.get("taken", {}), self.unit.get("upsets", False), inner)
        if text is None:
            return False
        for name, content in (("gold.il", gold.text), ("gate.il", gate.text), ("miter.v", text)):
            (changed / name).write_text(content)
        code, log = _run([str(PYTHON), "-c", YOSYS, *(f"read_rtlil {changed}/{name}.il" for name in ("gold", "gate")),
                          f"read_verilog {changed}/miter.v", "hierarchy -top miter", "proc", "flatten", "setundef -undriven -zero", "setundef -zero",
                          "opt_expr", "opt_clean", "simplemap", "techmap", "opt_clean", "dffunmap", "simplemap",
                          f"write_blif -top miter {changed}/miter.blif"], seconds)
        if code != 0:
            raise ValueError(f"{self.unit['name']}: {log[-2000:]}")
        # Signals that are equal become one; what is left of the difference is looked at from its end.
        code, log = _run(["yosys-abc", "-c", f"read_blif {changed}/miter.blif; strash; zero; scorr; &get; &cone -O 0 -R 1; &put; dc2; scorr -F 2; pdr -T {int(seconds)}; sat"],
                         3 * seconds)
        if "usage:" in log:  # it goes on behind a command that it does not know, and ends well
            raise ValueError(f"{self.unit['name']}: {log[-2000:]}")
        # A difference that is the constant 0 by now is undecided for newer releases of ABC; it has no registers, so that `sat` takes it.
        return "Property proved" in log or ("Property UNDECIDED" in log and "UNSATISFIABLE" in log)
