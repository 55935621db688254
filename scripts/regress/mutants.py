# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Single changes of SystemVerilog sources, found in the syntax tree (slang)."""

import dataclasses
import functools

from pyslang import syntax

import designs

OPERATORS = {"+": "-", "-": "+", "&&": "||", "||": "&&", "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&": "|",
             "|": "&", "^": "|", "<<": ">>", ">>": "<<"}
LITERALS = {"'0": "'1", "'1": "'0", "1'b0": "1'b1", "1'b1": "1'b0"}
# Sizes, types and assertions are no behaviour of the hardware; the head of a loop would not elaborate.
SKIP = ("ImmediateAssertStatement", "ParameterDeclaration", "RangeDimensionSpecifier", "SimpleRangeSelect", "AscendingRangeSelect",
        "DescendingRangeSelect", "AnsiPortList", "TypedefDeclaration", "ForVariableDeclaration",
        "ParameterValueAssignment", "MultipleConcatenationExpression", "AttributeInstance", "ElabSystemTask", "PackageImportDeclaration")
# Places in which an expression is a constant of the elaboration, or names a piece of the hierarchy.
CONSTANT = ("ParameterDeclaration", "TypeParameterDeclaration", "VariableDimension", "ParameterValueAssignment", "TypedefDeclaration",
            "SimpleRangeSelect")
ITEMS = ("AlwaysFFBlock", "AlwaysCombBlock", "ContinuousAssign")
GENERATE = ("LoopGenerate", "IfGenerate", "CaseGenerate")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """file: below the project. The bytes from `first` to before `last` of the file, an expression or a statement, become `new`."""

    file: str
    first: int
    last: int
    new: str
    line: int
    column: int
    text: str            # what changes, for people
    statement: bool      # an expression otherwise
    constant: bool       # the tools need its value before the hardware runs: no switch can choose it (schema.py)
    kind: str = "operator"
    beside: str = ""     # items of the module that come before the one that begins at the byte `at`, with designs.NUMBER in their names
    at: int = 0

    def apply(self, root):
        path = root / self.file
        data = path.read_bytes()
        changed = data[:self.first] + self.new.replace(designs.NUMBER, "0").encode() + data[self.last:]
        path.write_bytes(changed[:self.at] + self.beside.replace(designs.NUMBER, "0").encode() + changed[self.at:])

    @property
    def name(self):
        kind = "" if self.kind == "operator" else f"{self.kind}: "
        return f"{self.file.removeprefix('rtl/')}:{self.line}:{self.column}: {kind}{self.text}"


@dataclasses.dataclass(frozen=True)
class _Here:
    """Where in the tree."""

    constant: bool = False
    driven: bool = False        # in a continuous assignment or a generated block, where what an index picks is one driver
    finder: designs.Finder = None  # of the module
    item: syntax.SyntaxNode = None  # of the module, before which there is place for others that know the same names


def _kind(node):
    return str(node.kind).rpartition(".")[2]


def _nodes(node, *kinds):
    """The node and all below it of these kinds."""
    hits = []
    node.visit(lambda n: hits.append(n) if isinstance(n, syntax.SyntaxNode) and _kind(n) in kinds else None)
    return hits


@functools.cache
def _constant_functions(root):
    """Names of the functions that are called for constants: of types, parameters and generated blocks."""
    calls, needed = {}, set()
    for path in sorted((root / "rtl").rglob("*.sv")):
        tree = syntax.SyntaxTree.fromFile(str(path)).root
        for function in _nodes(tree, "FunctionDeclaration"):
            called = {str(call.left).strip().rpartition(":")[2] for call in _nodes(function, "InvocationExpression")}
            calls.setdefault(str(function.prototype.name).strip(), set()).update(called)
        for place in _nodes(tree, *CONSTANT, *GENERATE):
            heads = {"LoopGenerate": ("initialExpr", "stopExpr", "iterationExpr"), "IfGenerate": ("condition",), "CaseGenerate": ("condition",)}
            for part in [getattr(place, name) for name in heads[_kind(place)]] if _kind(place) in heads else [place]:
                needed |= {str(call.left).strip().rpartition(":")[2] for call in _nodes(part, "InvocationExpression")}
    while True:
        more = set().union(*(calls.get(name, set()) for name in needed)) - needed if needed else set()
        if not more:
            return frozenset(needed & set(calls))
        needed |= more


def find(root, file):
    """All mutants of a file below the project's folder."""
    path = root / file
    data = path.read_bytes()
    functions = _constant_functions(root)
    found, taken = [], set()

    def tokens(node):
        """The bytes of a node without the blanks and comments before it."""
        begin, end = node.getFirstToken().range.start.offset, node.getLastToken().range.end.offset
        return begin, end, " ".join(data[begin:end].decode().split())

    def source(node):
        begin, end, _ = tokens(node)
        return data[begin:end].decode()

    def add(node, new, text, constant, at=None, statement=False, kind="operator", beside=("", 0)):
        first, last, _ = tokens(node)
        if data[first:last].decode() != new and (first, last, new) not in taken:
            taken.add((first, last, new))
            place = first if at is None else at
            found.append(Mutant(file, first, last, new, data[:place].count(b"\n") + 1, place - data.rfind(b"\n", 0, place), text,
                                statement, constant, kind, *beside))

    def walk(node, here):
        if not isinstance(node, syntax.SyntaxNode):
            return
        kind = _kind(node)
        if kind in SKIP or (kind.startswith("Always") and _nodes(node, "ImmediateAssertStatement")):
            return
        if kind == "ModuleDeclaration":
            def add_design(node, new, text, kind, statement=False, beside="", at=0):
                add(node, new, text, here.constant or kind == "synchroniser", statement=statement, kind=kind, beside=(beside, at))
            here = dataclasses.replace(here, finder=designs.Finder(node, source, lambda node: tokens(node)[0], add_design))
        elif kind in ITEMS:
            here = dataclasses.replace(here, item=node if _kind(node.parent) in ("ModuleDeclaration", "GenerateBlock") else None)
        elif kind in ("SequentialBlockStatement", "FunctionDeclaration") and _nodes(node, "DataDeclaration"):
            here = dataclasses.replace(here, item=None)  # items do not know its variables
        if kind == "ForLoopStatement":
            walk(node.statement, dataclasses.replace(here, item=None))
            return
        if kind == "LoopGenerate":
            walk(node.block, dataclasses.replace(here, driven=True))
            return
        if kind == "IfGenerate":
            walk(node.block, dataclasses.replace(here, driven=True))
            walk(node.elseClause, dataclasses.replace(here, driven=True))
            return
        if kind == "FunctionDeclaration" and str(node.prototype.name).strip() in functions:
            here = dataclasses.replace(here, constant=True)
        elif kind == "ScopedName" or (kind == "ElementSelect" and _in_port(node)):
            here = dataclasses.replace(here, constant=True)
        elif kind == "ContinuousAssign":
            here = dataclasses.replace(here, driven=True)
        if kind == "CaseGenerate":
            walk(node.condition, dataclasses.replace(here, constant=True))
            for item in node.items:
                walk(item, dataclasses.replace(here, driven=True))
            return
        if kind == "CastExpression":
            walk(node.left, dataclasses.replace(here, constant=True))
            walk(node.right, here)
            return
        if here.finder and not here.constant:
            here.finder.visit(node, here.item)
        if "Assignment" in kind and hasattr(node, "operatorToken") and hasattr(node, "left"):
            if str(node.left).split()[-1] == "unused":  # what lint wants read: no hardware
                return
            walk(node.left, dataclasses.replace(here, constant=here.constant or here.driven))
            walk(node.right, here)
            return
        if kind.endswith("Expression") and hasattr(node, "operatorToken") and hasattr(node, "left"):
            operator = str(node.operatorToken).split()[-1]
            if operator in OPERATORS:
                add(node, f"(({source(node.left)}) {OPERATORS[operator]} ({source(node.right)}))",
                    f"{operator} becomes {OPERATORS[operator]} in {tokens(node)[2][:60]}", here.constant, node.operatorToken.range.start.offset)
        elif kind in ("UnaryLogicalNotExpression", "UnaryBitwiseNotExpression"):
            # What is not negated stays one bit wide.
            operand = source(node.operand)
            add(node, f"(|({operand}))" if "Logical" in kind else f"({operand})",
                f"no {str(node.operatorToken).strip()} in {tokens(node)[2][:60]}", here.constant)
        elif kind == "ConditionalPredicate":
            text = tokens(node)[2]
            add(node, "1'b0", f"never {text[:60]}", here.constant)
            add(node, "1'b1", f"always {text[:60]}", here.constant)
        elif kind == "ExpressionStatement" and "Assignment" in _kind(node.expr):
            add(node, ";", f"without {tokens(node)[2][:60]}", here.constant, statement=True, kind="flush" if designs.clears(node) else "operator")
        elif kind in ("UnbasedUnsizedLiteralExpression", "IntegerVectorExpression"):
            text = tokens(node)[2]
            if text in LITERALS:
                add(node, LITERALS[text], f"{text} becomes {LITERALS[text]} in {tokens(node.parent)[2][:50]}", here.constant)
        for child in node:
            walk(child, here)

    walk(syntax.SyntaxTree.fromFile(str(path)).root, _Here())
    return found


def _in_port(node):
    while node is not None and _kind(node) not in ("NamedPortConnection", "OrderedPortConnection", "InvocationExpression"):
        node = node.parent
    return node is not None and _kind(node) != "InvocationExpression"
