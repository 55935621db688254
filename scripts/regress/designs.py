# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Faults as designers make them, found in the syntax tree of a module: docs/regression.md.

priority      two events in one cycle: the other one wins, or one of them is lost
count         a counter's end one step early or late: what it is compared with, what it is loaded with
flush         what a reset or a start clears: a condition lacks a term, a register is left out
late          a status bit rises or falls one cycle late, a condition acts one cycle late
synchroniser  an asynchronous pin without its synchroniser
"""

import re

from pyslang import syntax

KINDS = ("priority", "count", "flush", "late", "synchroniser")
COMPARISONS = ("EqualityExpression", "InequalityExpression", "LessThanExpression", "LessThanEqualExpression", "GreaterThanExpression",
               "GreaterThanEqualExpression")
ASSIGNMENTS = ("NonblockingAssignmentExpression", "AssignmentExpression")
JOINS = {"LogicalOrExpression": "||", "LogicalAndExpression": "&&", "BinaryOrExpression": "|", "BinaryAndExpression": "&"}
CLEARS = re.compile(r"rst|clear|flush|start")  # ports of instances
SYNCHRONISER = "systole_prim_sync"
NUMBER = "{number}"  # in the text of a mutant: its number


def kind_of(node):
    return str(node.kind).rpartition(".")[2]


def nodes(node, *kinds):
    """The node and all below it of these kinds."""
    hits = []
    node.visit(lambda n: hits.append(n) if isinstance(n, syntax.SyntaxNode) and kind_of(n) in kinds else None)
    return hits


def text_of(node):
    """The source of a node in one line, without comments."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", str(node), flags=re.DOTALL)
    return " ".join(text.split())


def plain(node):
    """Without parentheses and casts around it."""
    while True:
        kind = kind_of(node)
        if kind == "ParenthesizedExpression":
            node = node.expression
        elif kind == "CastExpression":
            node = node.right
        else:
            return node


def base(node):
    """The name of the variable that an expression names whole or in part; None if it is another expression."""
    node = plain(node)
    match = re.match(r"[A-Za-z_]\w*", text_of(node))
    return match[0] if match and kind_of(node) in ("IdentifierName", "IdentifierSelectName", "ScopedName", "ElementSelectExpression") else None


def terms(node, join):
    """Operands of a chain of one operator."""
    node = node.expression if kind_of(node) == "ParenthesizedExpression" else node
    if kind_of(node) != join:
        return [node]
    return [*terms(node.left, join), *terms(node.right, join)]


def targets(statement):
    """Names of what a statement assigns."""
    found = set()
    for assignment in nodes(statement, *ASSIGNMENTS):
        left = assignment.left
        parts = list(left.expressions) if kind_of(left) == "ConcatenationExpression" else [left]
        found |= {base(part) for part in parts if isinstance(part, syntax.SyntaxNode)} - {None}
    return found


def constant(node):
    """Whether it is known before the hardware runs: literals, and names that begin with a capital letter, with operators between."""
    text = re.sub(r"\b\w+_t'|\$\w+|\bint unsigned'|\bint'|\d*'s?[bdh][0-9a-fA-F_]+", " ", text_of(node))
    return all(name[0].isupper() or name[0].isdigit() for name in re.findall(r"\w+(?:\.\w+)*", re.sub(r"::\s*", "", text)))


def zero(node):
    return re.fullmatch(r"\(?(?:'0|\d+'[bdh]0+|0)\)?", text_of(node)) is not None


def is_reset(node):
    return re.search(r"\b!?\(?(?:\w+_)?rst_?n\w*|\brst_i\b", text_of(node)) is not None


def predicate(node):
    """The expression of a condition; None where it is a pattern or has more parts."""
    conditions = [c for c in node.predicate.conditions if isinstance(c, syntax.SyntaxNode)]
    return conditions[0].expr if len(conditions) == 1 and conditions[0].matchesClause is None else None


def number(node):
    """The value of a literal or of a sum of some; None of anything else."""
    if kind_of(node) == "AddExpression":
        left, right = number(node.left), number(node.right)
        return None if left is None or right is None else left + right
    match = re.fullmatch(r"(?:\d*'s?([bdh]))?([0-9a-fA-F_]+)", text_of(node))
    return match and int(match[2].replace("_", ""), {"b": 2, "h": 16}.get(match[1], 10))


def needs(condition):
    """{expression: what it must be} for a condition: a constant's text, or the least and the largest number."""
    values, ranges = {}, {}
    for part in terms(condition, "LogicalAndExpression"):
        part = part.expression if kind_of(part) == "ParenthesizedExpression" else part
        if kind_of(part) not in COMPARISONS:
            continue
        left, value = text_of(part.left), number(part.right)
        low, high = ranges.get(left, (0, float("inf")))
        if kind_of(part) == "EqualityExpression":
            if constant(part.right):
                values[left] = text_of(part.right)
            if value is not None:
                ranges[left] = value, value
        elif value is not None and kind_of(part) == "GreaterThanEqualExpression":
            ranges[left] = max(low, value), high
        elif value is not None and kind_of(part) == "LessThanEqualExpression":
            ranges[left] = low, min(high, value)
    return values, ranges


def exclusive(one, two):
    """Whether two conditions need different values of one expression, so that they are never both true."""
    (our_values, our_ranges), (values, ranges) = needs(one), needs(two)
    ours, theirs = ({text_of(part) for part in terms(condition, "LogicalAndExpression")} for condition in (one, two))
    return (any(f"!{text}" in theirs for text in ours) or any(f"!{text}" in ours for text in theirs) or any(values.get(left, text) != text for left, text in our_values.items())
            or any(left in ranges and (high < ranges[left][0] or ranges[left][1] < low) for left, (low, high) in our_ranges.items()))


def counters(tree):
    """Names of what the module counts: operands of sums that go into registers, and what these sums are assigned to."""
    found = set()
    for assignment in nodes(tree, *ASSIGNMENTS):
        for total in nodes(assignment.right, "AddExpression", "SubtractExpression"):
            names = {base(total.left), base(total.right)} - {None}
            names = {name for name in names if not name[0].isupper()}
            if names:
                found |= {name for name in names if name.endswith("_q")} | targets(assignment)
    for function in nodes(tree, "FunctionDeclaration"):
        for total in nodes(function, "AddExpression", "SubtractExpression"):
            found |= {name for name in (base(total.left),) if name and not name[0].isupper()}
    return found


def sums(node, names):
    """Whether an expression is a counter, or a counter plus or minus something."""
    node = plain(node)
    if kind_of(node) in ("AddExpression", "SubtractExpression"):
        return sums(node.left, names) or sums(node.right, names)
    return base(node) in names


def single_bits(tree):
    """Names of variables and ports of one bit, and those of them that are outputs."""
    bits, outputs = set(), set()
    for port in nodes(tree, "ImplicitAnsiPort"):
        if re.fullmatch(r"(?:input|output) (?:logic|wire)", text_of(port.header)) and not list(port.declarator.dimensions):
            bits.add(str(port.declarator.name).split()[-1])
            if text_of(port.header).startswith("output"):
                outputs.add(str(port.declarator.name).split()[-1])
    for declaration in nodes(tree, "DataDeclaration"):
        if text_of(declaration.type) == "logic":
            bits |= {str(d.name).split()[-1] for d in declaration.declarators if isinstance(d, syntax.SyntaxNode) and not list(d.dimensions)}
    return bits, outputs


def clears(statement):
    """Whether it is an assignment of a constant in a branch that does nothing else, as a reset or the start of a program."""
    return (kind_of(statement.expr) == "NonblockingAssignmentExpression" and constant(statement.expr.right)
            and kind_of(_branch(statement).parent) in ("ConditionalStatement", "ElseClause") and sets_constants(_branch(statement)))


def _branch(statement):
    return statement.parent.parent if kind_of(statement.parent) == "SyntaxList" else statement.parent if kind_of(
        statement.parent) == "SequentialBlockStatement" else statement


def sets_constants(statement):
    """Whether all that a statement does is to give registers constants."""
    found = nodes(statement, "NonblockingAssignmentExpression")
    return bool(found) and not nodes(statement, "ConditionalStatement", "CaseStatement", "ForLoopStatement") and all(
        constant(assignment.right) for assignment in found)


class Finder:
    """Mutants of a module. Calls add(node, new, text, kind, statement, beside, at) for each: `beside` are items that come before the
    item that begins at `at`, with NUMBER in their names."""

    def __init__(self, tree, source, start, add):
        """source(node): its text; start(node): where that begins."""
        self.source, self.start, self.add = source, start, add
        self.counters = counters(tree)
        self.bits, self.outputs = single_bits(tree)
        self.clocks = [name for name in ("clk_i", "clk") if re.search(rf"\binput\s+logic\s+{name}\b", str(tree))]

    def visit(self, node, item):
        """A node in an item of the module, or in none before which there is place."""
        kind = kind_of(node)
        if kind == "ConditionalStatement":
            self.conditional(node, item)
        elif kind == "SequentialBlockStatement":
            self.block(node)
        elif kind in ASSIGNMENTS:
            self.assigned(node)
            if kind_of(node.parent) == "ContinuousAssign" or kind_of(node.parent.parent) == "ContinuousAssign":
                self.driven(node, item)
            elif kind == "NonblockingAssignmentExpression":
                self.registered(node, item)
            elif text_of(node.left).endswith(".next"):
                self.read(node, item)
        elif kind == "ConditionalExpression":
            self.choice(node)
        elif kind in COMPARISONS:
            self.compared(node)
        elif kind == "NamedPortConnection":
            self.connection(node)
        elif kind == "HierarchyInstantiation":
            self.instance(node)

    # Two events in one cycle.

    def conditional(self, node, item):
        """An if statement, in the item of a module."""
        condition = predicate(node)
        if condition is None:
            return
        other = self._else_if(node)
        if other is not None and not is_reset(condition) and text_of(node.statement) != text_of(other.statement) and not exclusive(condition, predicate(other)) and targets(node.statement) & targets(other.statement):
            rest = f" {self.source(other.elseClause)}" if other.elseClause is not None else ""
            first, second = self.source(node.predicate), self.source(other.predicate)
            self.add(node, f"if ({second}) begin {self.source(other.statement)} end else if ({first}) begin {self.source(node.statement)} end{rest}",
                     f"{text_of(other.predicate)[:40]} before {text_of(node.predicate)[:40]}", "priority", True)
        if sets_constants(node.statement):
            self._dropped(condition, "flush")
            self._late(condition, node.statement, item)

    @staticmethod
    def _else_if(node):
        clause = node.elseClause
        if clause is None or kind_of(clause.clause) != "ConditionalStatement" or predicate(clause.clause) is None:
            return None
        return clause.clause

    def block(self, node):
        """Statements in a row: the earlier one of two that assign the same wins."""
        items = [item for item in node.items if isinstance(item, syntax.SyntaxNode)]
        for number, later in enumerate(items):
            if kind_of(later) != "ConditionalStatement":
                continue
            for earlier in items[:number]:
                if (kind_of(earlier) == "ConditionalStatement" and earlier.elseClause is None and targets(earlier.statement) & targets(later.statement)
                        and text_of(earlier.statement) != text_of(later.statement) and not (predicate(earlier) and predicate(later) and exclusive(predicate(earlier), predicate(later)))):
                    self.add(later, f"if (!({self.source(earlier.predicate)})) begin {self.source(later)} end",
                             f"{text_of(earlier.predicate)[:40]} before {text_of(later.predicate)[:40]}", "priority", True)

    def assigned(self, node):
        """The right side of an assignment to a register."""
        name = base(node.left)
        for outer, inner in (("LogicalOrExpression", "LogicalAndExpression"), ("LogicalAndExpression", "LogicalOrExpression"),
                             ("BinaryOrExpression", "BinaryAndExpression"), ("BinaryAndExpression", "BinaryOrExpression")):
            for hit in nodes(node.right, outer):
                for kept, event in ((hit.left, hit.right), (hit.right, hit.left)):
                    parts = terms(kept, inner)
                    others = [self.source(part) for part in parts if text_of(part) != text_of(node.left)]
                    if name and len(parts) > 1 and len(others) == len(parts) - 1:
                        rest = f" {JOINS[inner]} ".join(f"({part})" for part in others)
                        self.add(hit, f"((({self.source(event)}) {JOINS[outer]} ({self.source(node.left)})) {JOINS[inner]} ({rest}))",
                                 f"{' '.join(others)[:40]} before {text_of(event)[:40]}", "priority")
        self._sums_lost(node)
        self._loaded(node.right, name)
        if kind_of(node) == "NonblockingAssignmentExpression":
            self._reset_terms(node.right)

    def _sums_lost(self, node):
        """(clear ? 0 : count) + event becomes clear ? 0 : count + event."""
        for total in nodes(node.right, "AddExpression", "BinaryOrExpression"):
            left = total.left
            if kind_of(left) != "ParenthesizedExpression" or kind_of(left.expression) != "ConditionalExpression":
                continue
            choice = left.expression
            if zero(choice.left) == zero(choice.right):
                continue
            sign = "+" if kind_of(total) == "AddExpression" else "|"
            one, two = (self.source(side) if zero(side) else f"({self.source(side)}) {sign} ({self.source(total.right)})"
                        for side in (choice.left, choice.right))
            self.add(total, f"(({self.source(choice.predicate)}) ? ({one}) : ({two}))", f"{text_of(total.right)[:40]} is lost in a clear", "priority")

    def choice(self, node):
        """A conditional expression."""
        condition = predicate(node)
        if condition is None:
            return
        inner = node.right
        if kind_of(inner) == "ConditionalExpression" and predicate(inner) is not None and not is_reset(condition) \
                and not constant(condition) and not constant(predicate(inner)) and not exclusive(condition, predicate(inner)):
            self.add(node, f"(({self.source(inner.predicate)}) ? ({self.source(inner.left)}) : ({self.source(node.predicate)}) ? "
                     f"({self.source(node.left)}) : ({self.source(inner.right)}))",
                     f"{text_of(inner.predicate)[:40]} before {text_of(node.predicate)[:40]}", "priority")
        event = {base(name) for name in nodes(node.left, "IdentifierName")} & {base(name) for name in nodes(node.right, "IdentifierName")}
        if kind_of(plain(node.left)) == "IdentifierName" and event and not constant(node.left) and nodes(node.right, "AddExpression"):
            self.add(node.left, "'0", f"{text_of(node.left)[:40]} is lost where {text_of(condition)[:40]}", "priority")
        if zero(node.left):
            self._dropped(condition, "flush")

    # Ends of counters.

    def compared(self, node):
        for count, end in ((node.left, node.right), (node.right, node.left)):
            if not sums(count, self.counters) or sums(end, self.counters):
                continue
            operator = text_of(node.operatorToken)
            # The count itself moves: its end may be the largest value that there is.
            for sign in "+-":
                if (sign, text_of(end)) in (("+", "'0"), ("-", "'1")):  # the next step from there is the other end
                    continue
                moved = f"(({self.source(count)}) {sign} 2'sd1)"
                sides = (moved, self.source(end)) if count is node.left else (self.source(end), moved)
                self.add(node, f"(({sides[0]}) {operator} ({sides[1]}))", f"{text_of(count)[:30]} {sign} 1 in {text_of(node)[:50]}", "count")
            return

    def _loaded(self, node, name):
        """What a counter is loaded with."""
        node = node.expression if kind_of(node) == "ParenthesizedExpression" else node
        if kind_of(node) == "ConditionalExpression":
            self._loaded(node.left, name)
            self._loaded(node.right, name)
        elif name in self.counters and constant(node) and re.search(r"[A-Z]\w+|'[dh]", text_of(node)):
            for sign in "+-":
                self.add(node, f"(({self.source(node)}) {sign} 2'sd1)", f"{name} is loaded with {text_of(node)[:40]} {sign} 1", "count")

    # What is cleared.

    def _dropped(self, condition, kind):
        for join in ("LogicalOrExpression", "BinaryOrExpression"):
            parts = terms(condition, join)
            if len(parts) > 1:
                for part in parts:
                    rest = f" {JOINS[join]} ".join(f"({self.source(other)})" for other in parts if other is not part)
                    self.add(condition, f"({rest})", f"without the term {text_of(part)[:40]}", kind)

    def _reset_terms(self, node):
        """reset_n && value, reset_n ? value : 0."""
        parts = terms(node, "LogicalAndExpression")
        if len(parts) > 1:
            for part in parts:
                if is_reset(part) or kind_of(part) == "UnaryLogicalNotExpression":
                    rest = " && ".join(f"({self.source(other)})" for other in parts if other is not part)
                    self.add(node, f"({rest})", f"without the term {text_of(part)[:40]}", "flush")
        if kind_of(node) == "ConditionalExpression" and predicate(node) is not None and is_reset(predicate(node)) and zero(node.right):
            self.add(node, f"({self.source(node.left)})", f"without {text_of(node.predicate)[:40]}", "flush")

    def connection(self, node):
        """A port of an instance: what clears it."""
        if not CLEARS.search(str(node.name)) or node.expr is None:
            return
        hits = nodes(node.expr, "LogicalAndExpression", "LogicalOrExpression")
        if not hits:
            return
        join = kind_of(hits[0])
        parts = terms(hits[0], join)
        for part in parts:
            rest = f" {JOINS[join]} ".join(f"({self.source(other)})" for other in parts if other is not part)
            self.add(hits[0], f"({rest})", f"{text_of(node.name)} without the term {text_of(part)[:40]}", "flush")

    # A cycle late.

    def _delayed(self, node, item, clock, bits=""):
        """A register beside the item that has an expression's value of one cycle ago: its name and what add() is given for it."""
        name = "systole_late_" + NUMBER
        return name, (f"logic {bits}{name}; always_ff @(posedge {clock}) {name} <= ({self.source(node)}); ", self.start(item))

    def _late(self, condition, statement, item):
        """The branch of a status bit acts one cycle late."""
        if item is None or is_reset(condition) or not targets(statement) <= self.bits:
            return
        name, beside = self._delayed(condition, item, item_clock(item))
        self.add(condition, name, f"{text_of(condition)[:60]}: a cycle late", "late", False, *beside)

    def registered(self, node, item):
        """A status bit that takes an expression in each cycle."""
        name = base(node.left)
        if item is None or name not in self.bits or text_of(node.left) != name or constant(node.right):
            return
        late, beside = self._delayed(node.right, item, item_clock(item))
        self.add(node.right, late, f"{name}: a cycle late", "late", False, *beside)

    def driven(self, node, item):
        """An output of one bit."""
        name = base(node.left)
        if item is None or not self.clocks or name not in self.outputs or text_of(node.left) != name or constant(node.right):
            return
        late, beside = self._delayed(node.right, item, self.clocks[0])
        value = self.source(node.right)
        self.add(node.right, f"(({value}) || {late})", f"{name} falls a cycle late", "late", False, *beside)
        self.add(node.right, f"(({value}) && {late})", f"{name} rises a cycle late", "late", False, *beside)

    def read(self, node, item):
        """What a register that is read shows."""
        if item is None or not self.clocks or constant(node.right):
            return
        late, beside = self._delayed(node.right, item, self.clocks[0], f"[$bits({self.source(node.right)})-1:0] ")
        self.add(node.right, late, f"{text_of(node.left)}: a cycle late", "late", False, *beside)

    # Asynchronous pins.

    def instance(self, node):
        if text_of(node.type) != SYNCHRONISER:
            return
        for instance in nodes(node, "HierarchicalInstance"):
            ports = {str(port.name).split()[-1]: text_of(port.expr) if port.expr is not None else str(port.name).split()[-1]
                     for port in nodes(instance, "NamedPortConnection")}
            self.add(node, f"assign {ports['q_o']} = {ports['d_i']};", f"{ports['d_i']} without its synchroniser", "synchroniser", True)


def item_clock(item):
    return re.search(r"posedge\s+(\w+)", str(item))[1]
