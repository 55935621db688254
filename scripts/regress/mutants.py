# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Single changes of SystemVerilog sources, found in the syntax tree (slang), and whether Yosys proves one equivalent."""

import dataclasses
import pathlib
import subprocess

from pyslang import syntax

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv" / "bin" / "python"
OPERATORS = {"+": "-", "-": "+", "&&": "||", "||": "&&", "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&": "|",
             "|": "&", "^": "|", "<<": ">>", ">>": "<<"}
LITERALS = {"'0": "'1", "'1": "'0", "1'b0": "1'b1", "1'b1": "1'b0"}
# Sizes, types and assertions are no behaviour of the hardware; the head of a loop would not elaborate.
SKIP = ("ImmediateAssertStatement", "ParameterDeclaration", "RangeDimensionSpecifier", "SimpleRangeSelect", "AscendingRangeSelect",
        "DescendingRangeSelect", "AnsiPortList", "TypedefDeclaration", "ForVariableDeclaration",
        "ParameterValueAssignment", "MultipleConcatenationExpression", "AttributeInstance", "ElabSystemTask", "PackageImportDeclaration")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """file: below rtl/. The bytes from `first` to before `last` of the file become `new`."""

    file: str
    first: int
    last: int
    new: str
    line: int
    column: int
    text: str  # what changes, for people

    def apply(self, rtl):
        path = rtl / self.file
        data = path.read_bytes()
        path.write_bytes(data[:self.first] + self.new.encode() + data[self.last:])

    @property
    def name(self):
        return f"{self.file}:{self.line}:{self.column}: {self.text}"


def _kind(node):
    return str(node.kind).rpartition(".")[2]


def find(rtl, file):
    """All mutants of a file."""
    path = rtl / file
    data = path.read_bytes()
    found = []

    def add(first, last, new, text):
        if data[first:last].decode() != new:
            found.append(Mutant(file, first, last, new, data[:first].count(b"\n") + 1, first - data.rfind(b"\n", 0, first), text))

    def tokens(node):
        """The bytes of a node without the blanks and comments before it."""
        begin, end = node.getFirstToken().range.start.offset, node.getLastToken().range.end.offset
        return begin, end, " ".join(data[begin:end].decode().split())

    def has_assertion(node):
        hits = []
        node.visit(lambda n: hits.append(n) if isinstance(n, syntax.SyntaxNode) and _kind(n) == "ImmediateAssertStatement" else None)
        return bool(hits)

    def walk(node):
        if not isinstance(node, syntax.SyntaxNode):
            return
        kind = _kind(node)
        if kind in SKIP or (kind.startswith("Always") and has_assertion(node)):
            return
        if kind == "ForLoopStatement":
            walk(node.statement)
            return
        if kind == "LoopGenerate":
            walk(node.block)
            return
        if kind == "IfGenerate":
            walk(node.block)
            walk(node.elseClause)
            return
        if kind.endswith("Expression") and hasattr(node, "operatorToken") and hasattr(node, "left") and "Assignment" not in kind:
            operator = str(node.operatorToken).split()[-1]
            if operator in OPERATORS:
                place = node.operatorToken.range
                add(place.start.offset, place.end.offset, OPERATORS[operator],
                    f"{operator} becomes {OPERATORS[operator]} in {tokens(node)[2][:60]}")
        elif kind in ("UnaryLogicalNotExpression", "UnaryBitwiseNotExpression"):
            place = node.operatorToken.range
            add(place.start.offset, place.end.offset, "", f"no {str(node.operatorToken).strip()} in {tokens(node)[2][:60]}")
        elif kind == "ConditionalPredicate":
            first, last, text = tokens(node)
            add(first, last, "1'b0", f"never {text[:60]}")
            add(first, last, "1'b1", f"always {text[:60]}")
        elif kind == "ExpressionStatement" and "Assignment" in _kind(node.expr):
            first, last, text = tokens(node)
            add(first, last, ";", f"without {text[:60]}")
        elif kind in ("UnbasedUnsizedLiteralExpression", "IntegerVectorExpression"):
            first, last, text = tokens(node)
            if text in LITERALS:
                add(first, last, LITERALS[text], f"{text} becomes {LITERALS[text]} in {tokens(node.parent)[2][:50]}")
        for child in node:
            walk(child)

    walk(syntax.SyntaxTree.fromFile(str(path)).root)
    return found


def equivalent(rtl, changed, unit, seconds):
    """True if Yosys proves by induction that both sources give the same hardware for all the unit's parameters. False: not proved."""
    for parameters in unit["parameters"]:
        top = pathlib.Path(unit["top"])
        options = " ".join(f"-G {name}={value}" for name, value in parameters.items())
        passes = []
        for name, folder in (("gold", rtl), ("gate", changed)):
            source = folder / top.relative_to("rtl") if top.parts[0] == "rtl" else ROOT / top
            passes += [f"read_slang --threads 1 --ignore-assertions --no-implicit-memories --top {top.stem} {options} -F {folder}/systole.f {source}",
                       "proc -norom", "flatten", "chformal -remove", "opt_expr", "opt_clean", "memory -nomap", "dffunmap", "opt_clean",
                       f"rename {top.stem} {name}", f"design -save {name}", "design -reset"]
        passes += ["design -copy-from gold gold", "design -copy-from gate gate", "equiv_make gold gate equiv", "hierarchy -top equiv",
                   "equiv_struct -icells", "opt_clean", "equiv_simple -undef -short", "equiv_induct -undef -seq 3", "equiv_status -assert"]
        script = "import sys; from pyosys import libyosys as ys; d = ys.Design(); [ys.run_pass(c, d) for c in sys.argv[1:]]"
        try:
            result = subprocess.run([str(PYTHON), "-c", script, *passes], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    check=False, timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        if result.returncode != 0:
            return False
    return True
