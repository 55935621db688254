# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Proves that the two views of the array are equal: the grid of cells, and the fast view, which multiplies a whole vector at once.

Both are read from the RTL as gates and registers. The proofs hold for all values of registers and inputs:

- vector: a vector gives the same sums in both views after the array's latency, whatever vectors come before and after it. The proof unrolls
  the steps with the enable high from the vector's entry on. Each view starts with its own arbitrary register values, and the fast view with
  an arbitrary pointer. In each step, each weight has an arbitrary value of its own in each view. The exceptions are the steps in which the
  array's contract forbids writes: from a cell's last legal write before the vector to its first legal write after it. The window is the
  narrower one of writes by row and by column.
- weights: a step writes the same weights into both views, with the enable high or low.
- hold: with the enable low, all registers except the weights keep their values, so only steps with the enable high count.

yosys-abc decides the first two by combinational equivalence. A product stands for unknown bits that are equal if the operands are equal.
The proof thus does not depend on the width and order in which a view multiplies its operands, and decides no more than it has to.

Each mutant of views.yaml, in either view, must break the proof.
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


@dataclasses.dataclass(frozen=True)
class Task:
    """One proof, or one mutant: (file, text that occurs once in it, replacement)."""

    cell: int
    size: int
    stages: int
    buses: int = 1
    mutant: tuple = ()

    @property
    def name(self):
        text = f"{'bf16' if self.cell == BF16 else 'int8'} {self.size}x{self.size}, {self.stages} stages"
        if self.buses > 1:
            text += f", {self.buses} load buses"
        if self.mutant:
            text += f", mutant: {pathlib.Path(self.mutant[0]).name}: {self.mutant[1]} -> {self.mutant[2]}"
        return text

    @property
    def row_cycles(self):
        return max(1, self.stages - 1)

    @property
    def latency(self):
        return 1 + (self.stages > 1) + self.size * self.row_cycles + self.size

    @property
    def slots(self):
        """The number of slots in the rings of the fast view."""
        return 1 << (self.latency - 1).bit_length()

    def window(self, row, column):
        """The first and last step in which the weight of a cell must not change, for a vector that enters in step 0 and uses the weight."""
        size = self.size // self.buses  # of a block; a vector reaches row 0 and column 0 of the block in step `reached`
        reached = row // size * size * self.row_cycles + column // size * size
        row, column = row % size, column % size
        first, last = row * self.row_cycles, row * self.row_cycles + size
        if self.cell == BF16:  # bf16 weights may also be written by column
            first, last = max(first, column), min(last, 1 + (size - 1) * self.row_cycles + column)
        return reached + first + 1, reached + last

    def weight_words(self):
        """For each weight: bank, row, column, and its bits in the grid and in the fast view, as numbers, or None where a bit is 0."""
        if self.cell == BF16:  # a bf16 operand has 19 bits in the grid
            grid = range(19)
            fast = [{**{b: b for b in range(8)}, **{16 + b: 8 + b for b in range(10)}, 31: 18}.get(b) for b in range(32)]
        else:
            grid, fast = range(8), [min(b, 7) for b in range(16)]
        kind = "bf16" if self.cell == BF16 else "int8"
        for bank in range(2):
            for r in range(self.size):
                for c in range(self.size):
                    yield bank, r, c, f"gen_row[{r}].gen_column[{c}].gen_{kind}.u_cell.weight{bank}_q", grid, fast


FALSE, TRUE = 0, 1


class Graph:
    """An and-inverter graph. A literal is twice the number of a node, plus one if it is inverted. Each node exists once."""

    def __init__(self):
        self.nodes = [None]  # per node: its two literals, or the name of a variable
        self.known = {}

    def make(self, key):
        if key not in self.known:
            self.known[key] = 2 * len(self.nodes)
            self.nodes.append(key)
        return self.known[key]

    def variable(self, *name):
        return self.make(name)

    def land(self, a, b):
        if a > b:
            a, b = b, a
        if a == FALSE or a ^ b == 1:
            return FALSE
        if a == TRUE or a == b:
            return b
        return self.make((a, b))

    def lor(self, a, b):
        return self.land(a ^ 1, b ^ 1) ^ 1

    def mux(self, a, b, s):
        if s <= TRUE or a == b:
            return b if s == TRUE else a
        if a ^ b == 1:
            return self.lxor(a, s)
        return self.lor(self.land(s, b), self.land(s ^ 1, a))

    def lxor(self, a, b):
        if a > b:
            a, b = b, a
        if a <= TRUE:
            return a ^ b
        sign, a, b = (a ^ b) & 1, a & ~1, b & ~1
        return FALSE ^ sign if a == b else self.land(self.land(a, b) ^ 1, self.land(a ^ 1, b ^ 1) ^ 1) ^ sign

    def product(self, a, b, bits):
        """The product of two's complement words, lowest bit first."""
        a, b = sorted(tuple(self.without_copies_of_sign(word)) for word in (a, b))
        return [self.variable("product", a, b, min(i, len(a) + len(b) - 1)) for i in range(bits)]

    @staticmethod
    def without_copies_of_sign(word):
        while len(word) > 1 and word[-1] == word[-2]:
            word = word[:-1]
        return word

    def blif(self, path, outputs):
        """Writes the logic of the outputs as BLIF. Returns the nodes that are its variables."""
        order, stack, done = [], [lit >> 1 for lit in outputs], {0}
        while stack:
            node = stack[-1]
            children = [] if node == 0 or isinstance(self.nodes[node][0], str) else [lit >> 1 for lit in self.nodes[node]]
            rest = [child for child in children if child not in done]
            if rest:
                stack += rest
            else:
                stack.pop()
                if node not in done:
                    done.add(node)
                    order.append(node)
        variables = {node for node in order if isinstance(self.nodes[node][0], str)}
        lines = [".names n0"]
        for node in order:
            if node not in variables:
                a, b = self.nodes[node]
                lines.append(f".names n{a >> 1} n{b >> 1} n{node}\n{1 - (a & 1)}{1 - (b & 1)} 1")
        lines += [f".names n{lit >> 1} o{i}\n{1 - (lit & 1)} 1" for i, lit in enumerate(outputs)]
        path.write_text("\n".join(lines))
        return variables


class View:
    """The netlist of a view: gates, and registers by name."""

    def __init__(self, rtl, t, fast, folder):
        path = folder / f"{'fast' if fast else 'grid'}.json"
        yosys(f"read_slang --threads 1 --ignore-assertions --no-implicit-memories --top {TOP} -G Rows={t.size} -G Cols={t.size} "
              f"-G Cell={t.cell} -G Stages={t.stages} -G LoadBuses={t.buses} -G FastView={int(fast)} -F {rtl}/systole.f {rtl}/mxu/{TOP}.sv",
              "proc -norom", "flatten", "opt_expr", "opt_clean", "dffunmap", "opt_clean", "bmuxmap", "demuxmap", "bwmuxmap", "check -assert",
              "wreduce", "opt_expr", "opt_clean", "techmap * t:$mul %d", "opt_expr -mux_undef", "opt_clean", f"write_json {path}")
        module = json.loads(path.read_text())["modules"][TOP]
        self.name = "fast" if fast else "grid"
        self.gates, self.next, self.products = {}, {}, {}
        for name, cell in module["cells"].items():
            if cell["type"] == "$mul":
                self.multiplier(cell["connections"], cell["parameters"])
                continue
            pins = {pin: bits[0] for pin, bits in cell["connections"].items()}
            if cell["type"] == "$_DFF_P_":
                self.next[pins["Q"]] = pins["D"]
            elif cell["type"] in ("$_AND_", "$_OR_", "$_XOR_", "$_NOT_", "$_MUX_"):
                self.gates[pins["Y"]] = (cell["type"], *(pins[pin] for pin in "ABS" if pin in pins))
            elif cell["type"] != "$scopeinfo":
                raise RuntimeError(f"{name} is a {cell['type']}")
        self.inputs = {bit: (name, i) for name, port in module["ports"].items() if port["direction"] == "input"
                       for i, bit in enumerate(port["bits"])}
        self.sums = module["ports"]["sum_o"]["bits"]
        prefix = "gen_grid.u_array." if not fast else "gen_bf16.u_array." if t.cell == BF16 else "gen_int8.u_array."
        self.nets = {name.removeprefix(prefix): net["bits"] for name, net in module["netnames"].items()}
        self.weights = {}  # register bit: (bank, row, column, bit)
        for bank, r, c, name, grid, words in t.weight_words():
            if fast:  # element 0 of an array is the uppermost one
                index, bits = (bank * t.size + r) * t.size + c, self.nets["weight_q"]
                bits = bits[len(bits) - (index + 1) * len(words):][:len(words)]
            else:
                bits, words = self.nets.get(name, []), list(grid)
            # Yosys may have removed the registers of bits that are always 0.
            if len(bits) != len(words) or not all(word is None or isinstance(bit, str) or bit in self.next for bit, word in zip(bits, words)):
                raise RuntimeError(f"{self.name}: no registers of weight {bank}, {r}, {c}")
            self.weights.update({bit: (bank, r, c, word) for bit, word in zip(bits, words) if bit in self.next or word is not None})
        self.control = self.controls()

    def multiplier(self, pins, parameters):
        sign = [] if int(parameters["A_SIGNED"], 2) else ["0"]
        if parameters["A_SIGNED"] != parameters["B_SIGNED"]:
            raise RuntimeError("a product of a signed and an unsigned number")
        a, b = pins["A"] + sign, pins["B"] + sign
        for i, bit in enumerate(pins["Y"]):
            self.gates[bit] = ("$mul", *a, *b)
            self.products[bit] = (len(a), i)

    def controls(self):
        """Gates that depend only on the pointer and the enable. They are evaluated first: they show which others are not needed."""
        control = {bit for bit in self.nets.get("ptr_q", [])} | {bit for bit, (name, _) in self.inputs.items() if name == "enable_i"}
        control |= {"0", "1", "x"}
        known, stack = {}, [bit for bit in self.gates]
        while stack:
            bit = stack[-1]
            if bit in known or bit not in self.gates:
                known.setdefault(bit, bit in control)
                stack.pop()
                continue
            rest = [child for child in self.gates[bit][1:] if child not in known]
            if rest:
                stack += rest
            else:
                known[bit] = all(known[child] for child in self.gates[bit][1:])
                stack.pop()
        return {bit for bit, yes in known.items() if yes}


class Steps:
    """The values of a view's bits in each step. leaf(view, bit, step): the value of an input, or of a register in step 0; else None."""

    def __init__(self, graph, view, leaf):
        self.graph, self.view, self.leaf = graph, view, leaf
        self.values = {}

    def value(self, bit, step):
        values, stack = self.values, [(bit, step)]
        while stack:
            at = stack[-1]
            if at in values:
                stack.pop()
                continue
            value, needs = self.try_one(*at)
            if needs is None:
                values[at] = value
                stack.pop()
            else:
                stack.append(needs)
        return values[bit, step]

    def try_one(self, bit, step):
        """Returns (value, None), or (None, the bit and step that must be known first)."""
        graph, values, view = self.graph, self.values, self.view
        if isinstance(bit, str):
            return (TRUE if bit == "1" else FALSE if bit == "0" else graph.variable("x", view.name)), None
        gate = view.gates.get(bit)
        if gate is None:
            value = self.leaf(view, bit, step)
            if value is not None:
                return value, None
            before = (view.next[bit], step - 1)
            return (values[before], None) if before in values else (None, before)
        kind, *pins = gate
        if kind == "$_MUX_":
            s = values.get((pins[2], step))
            if s is None:
                return None, (pins[2], step)
            if s <= TRUE:
                chosen = (pins[1] if s else pins[0], step)
                return (values[chosen], None) if chosen in values else (None, chosen)
        elif kind in ("$_AND_", "$_OR_"):
            enough = FALSE if kind == "$_AND_" else TRUE
            for pin in sorted(pins, key=lambda pin: pin not in view.control and not isinstance(pin, str)):
                value = values.get((pin, step))
                if value is None:
                    return None, (pin, step)
                if value == enough:
                    return enough, None
        for pin in pins:
            if (pin, step) not in values:
                return None, (pin, step)
        operands = [values[pin, step] for pin in pins]
        if kind == "$mul":
            width, i = view.products[bit]
            return graph.product(operands[:width], operands[width:], i + 1)[i], None
        if kind == "$_NOT_":
            return operands[0] ^ 1, None
        return {"$_AND_": graph.land, "$_OR_": graph.lor, "$_XOR_": graph.lxor, "$_MUX_": graph.mux}[kind](*operands), None


def yosys(*passes):
    """Runs passes of the newer Yosys, a Python package that can read the RTL."""
    script = "import sys; from pyosys import libyosys as ys; d = ys.Design(); [ys.run_pass(c, d) for c in sys.argv[1:]]"
    result = subprocess.run([str(PYTHON), "-c", script, *passes], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"Yosys: {result.stdout[-1000:]}")


def equal(graph, pairs, folder):
    """Empty if the literals of each pair are equal, otherwise the answer of yosys-abc."""
    pairs = [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]
    if not pairs:
        return ""
    paths = [folder / "left.blif", folder / "right.blif"]
    variables = set().union(*(graph.blif(path, [pair[side] for pair in pairs]) for side, path in enumerate(paths)))
    for path in paths:
        head = [".model m", ".inputs " + " ".join(f"n{node}" for node in sorted(variables)),
                ".outputs " + " ".join(f"o{i}" for i in range(len(pairs)))]
        path.write_text("\n".join([*head, path.read_text(), ".end", ""]))
    result = subprocess.run(["yosys-abc", "-c", f"cec -n {paths[0]} {paths[1]}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    if "Networks are equivalent" in result.stdout:
        return ""
    differ = re.search(r"NOT EQUIVALENT.*", result.stdout)
    if not differ:
        raise RuntimeError(f"yosys-abc did not decide: {result.stdout[-500:]}")
    return re.sub(r"\s+", " ", differ[0])[:60]


def leaves(t, graph, view, bank, pointer):
    """Leaves while a vector passes: the enable is high, the vector uses the weights of `bank`, the fast pointer starts at `pointer`."""
    pointer_bits = {bit: i for i, bit in enumerate(view.nets.get("ptr_q", []))}

    def leaf(view, bit, step):
        if bit in view.inputs:
            name, i = view.inputs[bit]
            if name == "enable_i":
                return TRUE
            return bank if name == "vec_bank_i" and step == 0 else graph.variable("input", name, i, step)
        if bit in view.weights:
            of, r, c, word = view.weights[bit]
            if word is None:
                return FALSE
            first, last = t.window(r, c)
            if of == bank and first <= step <= last:
                return graph.variable("weight", r, c, word)
            return graph.variable("other weight", view.name, of, r, c, word, step)
        if step > 0:
            return None
        i = pointer_bits.get(bit, 32)
        return pointer >> i & 1 if 1 << i < t.slots else graph.variable("register", view.name, bit)

    return leaf


def vector(t, graph, grid, fast, folder):
    for bank in (FALSE, TRUE):
        steps = Steps(graph, grid, leaves(t, graph, grid, bank, 0))
        wanted = [steps.value(bit, t.latency) for bit in grid.sums]
        first = None
        for pointer in range(t.slots):
            steps = Steps(graph, fast, leaves(t, graph, fast, bank, pointer))
            sums = [steps.value(bit, t.latency) for bit in fast.sums]
            first = first or sums
            if sums != first:
                return "vector: it depends on the pointer"
        text = equal(graph, list(zip(wanted, first)), folder)
        if text:
            return f"vector: {text}"
    return ""


def weights(t, graph, grid, fast, folder):
    def leaf(view, bit, step):
        if bit in view.inputs:
            return graph.variable("input", *view.inputs[bit], step)
        if bit in view.weights and step == 0:
            return FALSE if view.weights[bit][3] is None else graph.variable("weight", *view.weights[bit])
        return graph.variable("register", view.name, bit) if step == 0 else None

    steps = {view.name: Steps(graph, view, leaf) for view in (grid, fast)}
    of_grid = {word: steps["grid"].value(bit, 1) for bit, word in grid.weights.items()}
    pairs = [(of_grid[word] if word[3] is not None else FALSE, steps["fast"].value(bit, 1)) for bit, word in fast.weights.items()]
    text = equal(graph, pairs, folder)
    return f"weights: {text}" if text else ""


def hold(graph, view):
    def leaf(view, bit, step):
        if bit in view.inputs:
            name, i = view.inputs[bit]
            return FALSE if name == "enable_i" else graph.variable("input", name, i, step)
        return graph.variable("register", view.name, bit) if step == 0 else None

    steps = Steps(graph, view, leaf)
    moved = [bit for bit in view.next if bit not in view.weights and steps.value(bit, 1) != steps.value(bit, 0)]
    names = sorted({name for name, bits in view.nets.items() if set(bits) & set(moved)})
    return f"hold: {view.name}: {', '.join(names[:5])}" if moved else ""


def prove(t):
    """Returns (proved, what failed)."""
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
        graph = Graph()
        grid, fast = View(rtl, t, False, folder), View(rtl, t, True, folder)
        text = hold(graph, grid) or hold(graph, fast) or weights(t, graph, grid, fast, folder) or vector(t, graph, grid, fast, folder)
        return not text, text


def run(t):
    """Returns (passed, message, seconds). A result that passed with the same sources and tools comes from the cache."""
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


def task(where, mutant=()):
    return Task(where["cell"], where["size"], where["stages"], where.get("buses", 1), mutant)


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
    tasks = [task(p) for p in plan["proofs"]]
    tasks += [task(m["at"], (m["file"], m["from"], m["to"])) for m in plan["mutants"]]
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
