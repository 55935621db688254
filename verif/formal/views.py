# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Proves that the two views of the array are equal: the grid of cells and the whole-array form.

Both are read from the RTL and cut at their registers: what is left are two functions from registers and inputs to next registers. Each
register of the grid is a register of the fast view, or the slot of one of its rings that the pointer names: the map below. The proof, for
all values of registers, pointer and inputs: step the fast view, then map = map, then step the grid; by combinational equivalence, which
yosys-abc decides. So two arrays that the map relates once stay related for ever, whatever enters, and the output registers are
among those related. Bits of the fast view's words that the grid does not have are shown to stay 0 (or the sign, from bounds of the sums).
That any two arrays become related: with the enable high no register of the grid but the weights depends on itself, and no chain is longer
than the latency, so that what the registers began with is forgotten. Nothing is left out, bounded or assumed of the inputs.

Every register of either view must be in the map. Each mutant of views.yaml, in either view, must break the proof.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "scripts"))
import cache  # noqa: E402, found by the line above

PYTHON = ROOT / ".venv" / "bin" / "python"
TOP = "systole_mxu_array"
BF16 = 1
CLOCK = "clk_i"


@dataclasses.dataclass(frozen=True)
class Task:
    """One proof, or one mutant: (file, what occurs once in it, what takes its place)."""

    cell: int
    size: int
    stages: int
    mutant: tuple = ()

    @property
    def name(self):
        text = f"{'bf16' if self.cell == BF16 else 'int8'} {self.size}x{self.size}, {self.stages} stages"
        if self.mutant:
            text += f", mutant: {pathlib.Path(self.mutant[0]).name}: {self.mutant[1]} -> {self.mutant[2]}"
        return text

    @property
    def row_cycles(self):
        return max(1, self.stages - 1)

    @property
    def ahead(self):
        return int(self.stages > 1)

    @property
    def latency(self):
        return 1 + self.ahead + self.size * self.row_cycles + self.size


@dataclasses.dataclass
class Word:
    """A register of the fast view: its name there and which of its bits are free; the others are 0, or copies of the top one."""

    name: str
    bits: list   # of the register, lowest first
    width: int
    signed: bool = False

    @property
    def port(self):
        return re.sub(r"\W+", "_", self.name).strip("_")


def log2(n):
    return (n - 1).bit_length()


def fast_words(t):
    """The registers of the fast view."""
    n, words = t.size, []

    def add(name, bits, width=32, signed=False):
        words.append(Word(name, list(bits), width, signed))

    plain = range(32)
    if t.cell == BF16:
        operand = [*range(8), *range(16, 26), 31]
        act = operand + [30]
        info = [*range(10), 31]
        shifted = [*range(30), 31]
        cell = {"act_q": act, "weight0_q": operand, "weight1_q": operand, "psum_q": plain}
        if t.stages > 1:
            cell["prod_q"] = [*range(16), *range(16, 26), 31]
        if t.stages > 2:
            cell |= {"value_q": plain, "info_q": info}
        if t.stages > 3:
            cell |= {"upper_q": shifted, "lower_q": shifted, "align_info_q": info}
        if t.stages > 4:
            cell |= {"norm_q": plain, "norm_info_q": info}
        for name, bits in cell.items():
            for r in range(n):
                for c in range(n):
                    add(f"{name}[{r}][{c}]", bits)
        for c in range(n):
            add(f"bottom_q[{c}]", plain)
        for s in range(1 << log2(n * t.row_cycles)):
            for r in range(n):
                add(f"skew_q[{s}][{r}]", act)
        for s in range(n << t.ahead):
            for c in range(n):
                add(f"top_q[{s}][{c}]", plain)
        bottom, signed = plain, False
    else:
        for r in range(n):
            for c in range(n):
                add(f"act_q[{r}][{c}]", range(9), 16)
                add(f"weight_q[{r}][{c}]", range(16), 16)
                add(f"psum_q[{r}][{c}]", range(sum_bits(r + 1)), 32, True)
                if t.stages > 1:
                    add(f"prod_q[{r}][{c}]", range(16), 16)
                add(f"skew_q[{r}][{c}]", range(9), 16)
        bottom, signed = range(sum_bits(n)), True
    for s in range(n):
        for c in range(n):
            add(f"deskew_q[{s}][{c}]", bottom, 32, signed)
    for c in range(n):
        add(f"sum_o[{c}]", bottom, 32, signed)
    add("ptr_q", plain)
    return words


def sum_bits(rows):
    return 16 + log2(rows)


def field(word, low, width):
    return f"{word}[{low + width - 1}:{low}]"


def grid_registers(t):
    """The map: for each register of the grid its name, and a function from read(name of a fast register) to Verilog."""
    n, grid = t.size, []
    kind = "bf16" if t.cell == BF16 else "int8"

    def slot(read, ring, slots, back, lane):
        """What was written into a ring so many cycles ago."""
        values = [read(f"{ring}[{s}][{lane}]") for s in range(slots)]
        text = values[0]
        for s in range(1, slots):
            text = f"(ptr_at - 32'd{back} & 32'd{slots - 1}) == 32'd{s} ? {values[s]} : {text}" if s == 1 else \
                f"(ptr_at - 32'd{back} & 32'd{slots - 1}) == 32'd{s} ? {values[s]} : ({text})"
        return f"({text})"

    def act(word):
        return f"act_{kind}({word})"

    def delay(name, stages):
        """A shift register: its stages, the newest first."""
        if not stages:
            return
        suffix = ".q_o" if len(stages) == 1 else ".gen_line.line_q"
        grid.append((name + suffix, lambda read: "{" + ", ".join(stage(read) for stage in reversed(stages)) + "}"))

    for r in range(n):
        for c in range(n):
            path, rc = f"gen_row[{r}].gen_column[{c}].gen_{kind}.u_cell.", f"[{r}][{c}]"
            grid.append((path + "act_o", lambda read, rc=rc: act(read("act_q" + rc))))
            if t.cell == BF16:
                for w in ("weight0_q", "weight1_q"):
                    grid.append((path + w, lambda read, rc=rc, w=w: f"operand({read(w + rc)})"))
                below = f"psum_q[{r + 1}][{c}]" if r + 1 < n else f"bottom_q[{c}]"
                grid.append((path + "sum_o", lambda read, below=below: read(below)))
                if t.stages > 1:
                    grid.append((path + "u_prod.q_o", lambda read, rc=rc: f"product({read('prod_q' + rc)})"))
                if t.stages > 2:
                    grid.append((path + "u_value.q_o", lambda read, rc=rc: f"{{{read('value_q' + rc)}, info({read('info_q' + rc)})}}"))
                if t.stages > 3:
                    grid.append((path + "u_aligned.q_o", lambda read, rc=rc: "{" + ", ".join(
                        [f"shifted({read('upper_q' + rc)})", f"shifted({read('lower_q' + rc)})", f"info({read('align_info_q' + rc)})"]) + "}"))
                if t.stages > 4:
                    grid.append((path + "u_norm.q_o", lambda read, rc=rc: f"{{{read('norm_q' + rc)}, info({read('norm_info_q' + rc)})}}"))
            else:
                for bank in range(2):
                    grid.append((f"{path}weight{bank}_q", lambda read, rc=rc, bank=bank: field(read("weight_q" + rc), 8 * bank, 8)))
                grid.append((path + "sum_q", lambda read, rc=rc, r=r: field(read("psum_q" + rc), 0, sum_bits(r + 1))))
                if t.stages > 1:
                    grid.append((path + "u_prod.q_o", lambda read, rc=rc: read("prod_q" + rc)))
    skew_slots = 1 << log2(n * t.row_cycles)
    for r in range(n):
        delay(f"gen_skew[{r}].u_skew", [lambda read, k=k, r=r: act(slot(read, "skew_q", skew_slots, k, r))
                                        for k in range(1, r * t.row_cycles + 1)])
    for c in range(n):
        if t.cell == BF16:
            delay(f"gen_edges[{c}].gen_bf16.u_top",
                  [lambda read, k=k, c=c: slot(read, "top_q", n << t.ahead, k, c) for k in range(1, c + t.ahead + 1)]
                  + [lambda read, c=c: read(f"psum_q[0][{c}]")])
        cut = "bottom32" if t.cell == BF16 else "bottom"
        delay(f"gen_edges[{c}].u_deskew",
              [lambda read, k=k, c=c: f"{cut}({slot(read, 'deskew_q', n, k, c)})" for k in range(1, n - c)]
              + [lambda read, c=c: f"{cut}({read(f'sum_o[{c}]')})"])
    return grid


FUNCTIONS = """
  function [19:0] act_bf16(input [31:0] x); act_bf16 = {x[30], x[31], x[25:16], x[7:0]}; endfunction
  function [8:0] act_int8(input [15:0] x); act_int8 = x[8:0]; endfunction
  function [18:0] operand(input [31:0] x); operand = {x[31], x[25:16], x[7:0]}; endfunction
  function [26:0] product(input [31:0] x); product = {x[31], x[25:0]}; endfunction
  function [30:0] shifted(input [31:0] x); shifted = {x[31], x[29:0]}; endfunction
  function [10:0] info(input [31:0] x); info = {x[31], x[9:0]}; endfunction
  function [31:0] bottom32(input [31:0] x); bottom32 = x; endfunction
  function [BITS-1:0] bottom(input [31:0] x); bottom = x[BITS-1:0]; endfunction
"""


def yosys(*passes):
    """Runs passes of the newer Yosys, which is a Python package and reads the RTL."""
    script = "import sys; from pyosys import libyosys as ys; d = ys.Design(); [ys.run_pass(c, d) for c in sys.argv[1:]]"
    result = subprocess.run([str(PYTHON), "-c", script, *passes], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"Yosys: {result.stdout[-1000:]}")


def read_view(rtl, t, fast, folder):
    """The netlist of a view, flat, as JSON."""
    path = folder / f"{'fast' if fast else 'grid'}.json"
    yosys(f"read_slang --threads 1 --ignore-assertions --no-implicit-memories --top {TOP} -G Rows={t.size} -G Cols={t.size} -G Cell={t.cell} "
          f"-G Stages={t.stages} -G FastView={int(fast)} -F {rtl}/systole.f {rtl}/mxu/{TOP}.sv",
          "proc -norom", "flatten", "opt_expr", "opt_clean", "dffunmap", "opt_clean", "bmuxmap", "demuxmap", "bwmuxmap", "check -assert",
          f"write_json {path}")
    return json.loads(path.read_text())["modules"][TOP]


def find(nets, name, width, size):
    """The bits of a register, also of an element of an array [..] or [..][size], which is one net, element 0 uppermost."""
    element = re.fullmatch(r"(\w+)\[(\d+)\](?:\[(\d+)\])?", name)
    if not element:
        return nets.get(name, [])
    bits = nets.get(element[1], [])
    index = int(element[2]) if element[3] is None else int(element[2]) * size + int(element[3])
    low = len(bits) - (index + 1) * width
    return bits[low:low + width] if low >= 0 else []


def cut(module, registers, prefix, size):
    """Takes the registers out: ports for what they hold, and with _n for what they would. registers: (port, name, bits of an array's element)."""
    next_of = {}
    for name in [name for name, cell in module["cells"].items() if cell["type"].startswith("$")]:
        cell = module["cells"][name]
        if cell["type"] == "$dff":
            next_of.update(zip(cell["connections"]["Q"], cell["connections"]["D"]))
            del module["cells"][name]
        elif re.match(r"\$_?(a|s)?(l|d)?(dff|ff|latch|sr|mem)", cell["type"], re.I):
            raise RuntimeError(f"state in {name}, {cell['type']}")
    nets = {name.removeprefix(prefix): net["bits"] for name, net in module["netnames"].items()}
    seen = set()
    for port, name, width in registers:
        bits = find(nets, name, width, size)
        if not bits:
            raise RuntimeError(f"no register {prefix}{name}")
        missing = [bit for bit in bits if bit not in next_of]
        if missing:
            raise RuntimeError(f"{prefix}{name} is no register")
        if seen & set(bits):
            raise RuntimeError(f"{prefix}{name} is a register that was mapped before")
        seen.update(bits)
        module["ports"][port] = {"direction": "input", "bits": bits}
        module["ports"][port + "_n"] = {"direction": "output", "bits": [next_of[bit] for bit in bits]}
    used = {bit for cell in module["cells"].values() for bits in cell["connections"].values() for bit in bits} | {
        bit for port in module["ports"].values() for bit in port["bits"]}
    extra = sorted(name for name, bits in nets.items() if any(b in next_of and b not in seen and b in used for b in bits))
    if extra:
        raise RuntimeError(f"registers that are not in the map: {', '.join(extra[:5])}")
    for name, port in list(module["ports"].items()):  # the outputs are registers
        if name in ("sum_o", CLOCK):
            del module["ports"][name]
    return module


def inputs_of(module):
    return [(name, len(port["bits"])) for name, port in module["ports"].items()]


def array_inputs(t):
    bits, index = (16, log2(t.size)) if t.cell == BF16 else (8, log2(t.size))
    return [("enable_i", 1), ("vec_bank_i", 1), ("vec_i", bits * t.size), ("sum_i", 32 * t.size), ("wl_valid_i", 1), ("wl_bank_i", 1),
            ("wl_column_i", 1), ("wl_row_i", index), ("wl_data_i", bits * t.size)]


def declare(direction, ports):
    return [f"  {direction} [{width - 1}:0] {name}" for name, width in ports]


def wrappers(t, words, grid, widths):
    """Three modules with the same inputs: the fast view's step and then the map; the map and then the grid's step; and the bounds."""
    state = [("s_" + word.port, len(word.bits)) for word in words]
    ports = state + array_inputs(t)
    outputs = [(f"g{i}", widths[i]) for i in range(len(grid))] + [(f"pad_{word.port}", 1) for word in words]
    by_name = {word.name: word for word in words}

    # A register of the fast view from its free bits.
    lines = []
    for word in words:
        source = {bit: f"s_{word.port}[{i}]" for i, bit in enumerate(word.bits)}
        fill = f"s_{word.port}[{len(word.bits) - 1}]" if word.signed else "1'b0"
        lines.append(f"  wire [{word.width - 1}:0] {word.port} = {{{', '.join(source.get(b, fill) for b in reversed(range(word.width)))}}};")
    step = [f"  wire [{word.width - 1}:0] {word.port}_n;" for word in words]
    pins = [f".{name}({name})" for name, _ in array_inputs(t)]
    fast_pins = pins + [f".{w.port}({w.port}), .{w.port}_n({w.port}_n)" for w in words]
    step.append(f"  fast_step u_step ({', '.join(fast_pins)});")
    functions = FUNCTIONS.replace("BITS", str(sum_bits(t.size)))

    def module(name, outs, *parts):
        return "\n".join([f"module {name} (", ",\n".join(declare("input", ports) + declare("output", outs)), ");", functions, *lines,
                          *(line for part in parts for line in part), "endmodule", ""])

    def mapped(suffix, targets):
        return [f"  wire [31:0] ptr_at = ptr_q{suffix};"] + [
            f"  {target} {make(lambda name: by_name[name].port + suffix)};" for target, (_, make) in zip(targets, grid)]

    # Bits that the grid lacks. A sum's upper bits are bounded apart.
    pads = []
    for word in words:
        free, next_word = set(word.bits), f"{word.port}_n"
        rest = [f"{next_word}[{b}]" for b in range(word.width) if b not in free]
        if not rest or word.name.startswith("psum_q") and word.signed:
            pads.append(f"  assign pad_{word.port} = 1'b0;")
        elif word.signed:
            pads.append(f"  assign pad_{word.port} = {{{', '.join(rest)}}} != {{{len(rest)}{{{next_word}[{len(word.bits) - 1}]}}}};")
        else:
            pads.append(f"  assign pad_{word.port} = |{{{', '.join(rest)}}};")
    no_pads = [f"  assign pad_{word.port} = 1'b0;" for word in words]
    through_fast = module("through_fast", outputs, step, mapped("_n", [f"assign g{i} =" for i in range(len(grid))]), pads)
    grid_pins = pins + [f".r{i}(m{i}), .r{i}_n(g{i})" for i in range(len(grid))]
    through_grid = module("through_grid", outputs, mapped("", [f"wire [{widths[i] - 1}:0] m{i} =" for i in range(len(grid))]),
                          [f"  grid_step u_step ({', '.join(grid_pins)});"], no_pads)

    # int8: r products of at most 2 ** 14 each, so that a row's sums fit.
    bad, sums = [], [word for word in words if t.cell != BF16 and word.name.startswith(("psum_q", "prod_q"))]
    for word in sums:
        limit = (int(re.search(r"\d+", word.name)[0]) + 1 if word.name.startswith("psum_q") else 1) << 14
        for suffix in ("", "_n"):
            value = f"$signed({word.port}{suffix})"
            bad.append(f"  wire ok_{word.port}{suffix} = {value} <= 32'sd{limit} && {value} >= -32'sd{limit};")
    for word in sums:
        row, col = map(int, re.findall(r"\d+", word.name))
        if word.name.startswith("psum_q"):
            needs = [f"psum_q_{row}_{col}", *([f"psum_q_{row - 1}_{col}"] if row else []), *([f"prod_q_{row}_{col}"] if t.stages > 1 else [])]
        else:
            needs = [word.port]
        bad.append(f"  assign bad_{word.port} = {' && '.join('ok_' + need for need in needs)} && !ok_{word.port}_n;")
    bounds = [("bad_" + word.port, 1) for word in sums]
    modules = [through_fast, through_grid]
    if sums:
        modules += [module("bounds", bounds, step, bad), module("no_bounds", bounds, [f"  assign {name} = 1'b0;" for name, _ in bounds])]
    return modules


def abc_equal(folder, left, right):
    """Whether two combinational circuits are equal, and otherwise what yosys-abc says."""
    result = subprocess.run(["yosys-abc", "-c", f"cec -n {folder / left}.aig {folder / right}.aig"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    (folder / f"{left}.log").write_text(result.stdout)
    if "Networks are equivalent" in result.stdout:
        return True, ""
    differ = re.search(r"NOT EQUIVALENT.*", result.stdout)
    if not differ:
        raise RuntimeError(f"yosys-abc did not decide: {result.stdout[-500:]}")
    return False, re.sub(r"\s+", " ", differ[0])[:60]


def forgets(module, t, weights, folder):
    """With the enable high: the longest chain of the grid's registers; an error when one but the weights depends on itself."""
    source = folder / "forget.json"
    tied = json.loads(json.dumps(module))
    for cell in tied["cells"].values():
        for pin, bits in cell["connections"].items():
            cell["connections"][pin] = ["1" if b in tied["ports"]["enable_i"]["bits"] else b for b in bits]
    for port in tied["ports"].values():
        if port["direction"] == "output":
            port["bits"] = ["1" if b in tied["ports"]["enable_i"]["bits"] else b for b in port["bits"]]
    source.write_text(json.dumps({"modules": {"grid_step": tied}}))
    yosys(f"read_json {source}", "opt -full", "simplemap", "opt -full", f"write_json {source}")
    flat = json.loads(source.read_text())["modules"]["grid_step"]
    driver = {}
    for cell in flat["cells"].values():
        inputs = [bit for pin, bits in cell["connections"].items() if cell["port_directions"][pin] == "input" for bit in bits]
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "output":
                driver.update({bit: inputs for bit in bits})
    register = {bit: name for name, port in flat["ports"].items() if name + "_n" in flat["ports"] for bit in port["bits"]}
    needs = {}
    for name in {name for name in flat["ports"] if name + "_n" in flat["ports"]} - weights:
        # Bit by bit, as the stages of a shift register are one port.
        for bit, target in zip(flat["ports"][name]["bits"], flat["ports"][name + "_n"]["bits"]):
            found, stack, done = set(), [target], set()
            while stack:
                node = stack.pop()
                if node in done:
                    continue
                done.add(node)
                if node in register:
                    found.add(node)
                else:
                    stack += driver.get(node, [])
            needs[bit] = {other for other in found if register[other] not in weights}
    depth, pending = {}, dict(needs)
    while pending:
        ready = [bit for bit, others in pending.items() if all(other in depth for other in others)]
        if not ready:
            return f"registers that depend on themselves: {', '.join(sorted({register[b] for b in pending})[:5])}"
        for bit in ready:
            depth[bit] = 1 + max((depth[other] for other in pending.pop(bit)), default=0)
    longest = max(depth.values())
    return "" if longest == t.latency else f"the longest chain of registers is {longest}, the latency {t.latency}"


def prove(t):
    """(proved, what failed)."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rtl = ROOT / "rtl"
        if t.mutant:
            file, old, new = t.mutant
            rtl = folder / "rtl"
            shutil.copytree(ROOT / "rtl", rtl)
            text = (rtl / file).read_text()
            if text.count(old) != 1:
                raise RuntimeError(f"{file}: mutant wants exactly one {old!r}, found {text.count(old)}")
            (rtl / file).write_text(text.replace(old, new))
        words, grid = fast_words(t), grid_registers(t)
        kind = "bf16" if t.cell == BF16 else "int8"
        try:
            fast = cut(read_view(rtl, t, True, folder), [(word.port, word.name, word.width) for word in words], f"gen_{kind}.u_array.", t.size)
            cells = cut(read_view(rtl, t, False, folder), [(f"r{i}", name, 0) for i, (name, _) in enumerate(grid)],
                        "gen_grid.u_array.", t.size)
        except RuntimeError as error:
            return False, str(error)
        widths = [len(cells["ports"][f"r{i}"]["bits"]) for i in range(len(grid))]
        (folder / "steps.json").write_text(json.dumps({"modules": {"fast_step": fast, "grid_step": cells}}))
        modules = wrappers(t, words, grid, widths)
        (folder / "wrappers.v").write_text("\n".join(modules))
        tops = re.findall(r"(?m)^module (\w+)", "\n".join(modules))
        for top in tops:
            yosys(f"read_json {folder / 'steps.json'}", f"read_verilog {folder / 'wrappers.v'}", f"hierarchy -check -top {top}", "proc", "flatten",
                   "opt -full", "wreduce", "opt -full", "techmap", "aigmap", f"write_aiger {folder / top}.aig")
        for left, right in zip(tops[::2], tops[1::2]):
            equal, text = abc_equal(folder, left, right)
            if not equal:
                return False, f"{left}: {text}"
        weights = {f"r{i}" for i, (name, _) in enumerate(grid) if re.search(r"weight\d_q$", name)}
        text = forgets(cells, t, weights, folder)
        return not text, text


def run(t):
    """(passed, what to tell, seconds); what passed before, of the same sources by the same tools, is told again."""
    start = time.monotonic()
    texts = cache.uses(ROOT / "rtl")[TOP]
    kept = cache.Entry("views", pathlib.Path(__file__).read_text(), cache.version("yosys-abc", "-c", "version"),
                       cache.version(str(PYTHON), "-m", "pip", "freeze"), repr(t), *texts)
    with tempfile.TemporaryDirectory() as name:
        said = pathlib.Path(name) / "said"
        if kept.restore(said.parent):
            return True, f"{said.read_text()}, as before", time.monotonic() - start
        passed, text = decide(t)
        if passed:
            said.write_text(text)
            kept.store(said.parent, [said.name])
    return passed, text, time.monotonic() - start


def decide(t):
    try:
        proved, text = prove(t)
    except RuntimeError as error:
        return False, f"cannot be decided: {error}"
    if t.mutant:
        return not proved, f"caught: {text}" if not proved else "NOT CAUGHT"
    return proved, "proved" if proved else text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--long", action="store_true", help="also what is marked so in views.yaml")
    parser.add_argument("--only", default="", help="tasks whose name holds this")
    args = parser.parse_args()
    if not shutil.which("yosys-abc"):
        print("views: no yosys-abc; run scripts/setup.sh", file=sys.stderr)
        return 1

    plan = yaml.safe_load((HERE / "views.yaml").read_text())
    plan = {part: [entry for entry in entries if args.long or not entry.get("long")] for part, entries in plan.items()}
    tasks = [Task(p["cell"], p["size"], p["stages"]) for p in plan["proofs"]]
    tasks += [Task(m["at"]["cell"], m["at"]["size"], m["at"]["stages"], (m["file"], m["from"], m["to"])) for m in plan["mutants"]]
    tasks = [t for t in tasks if args.only in t.name]
    if not tasks:
        print(f"views: nothing to prove for {args.only!r}", file=sys.stderr)
        return 1
    start, failures = time.monotonic(), 0
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for t, (passed, text, seconds) in zip(tasks, pool.map(run, tasks)):
            failures += not passed
            print(f"{'ok  ' if passed else 'FAIL'} {t.name}: {text} ({seconds:.1f} s)", flush=True)
    mutants = sum(bool(t.mutant) for t in tasks)
    print(f"views: {len(tasks) - mutants} proofs, {mutants} mutants, {failures} failures, {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
