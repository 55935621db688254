# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""RTL rules that need the elaborated syntax tree (slang), and slang's own: parts `processes` and `slang` of lint.py.

processes: what a clocked block hands to others is assigned with `<=`. IEEE 1800 leaves open the order in which processes run at an
edge, so a blocking assignment that another process, an assignment, an instance or a port reads means something else in each tool. In a
clocked block, blocking assignments belong to variables that are declared in the block. And no name becomes a net by being used: where it
stands before its declaration, tools disagree on what it is. And a module has at most 30 ports: more is a bundle that is missing.

And of two assignments to an unpacked array in a clocked block, the later one does not stand in a branch that assigns to another unpacked
array too: the last one counts, but Verilator 5.032 (Debian 13's) lets the first one win.
"""

import argparse
import dataclasses
import pathlib
import sys

from pyslang import TextDiagnosticClient, analysis, ast, driver

ROOT = pathlib.Path(__file__).resolve().parents[1]

# Simulation views: whole-array state of one process, which nothing else reads; not what is synthesised.
PRIVATE_VIEWS = ("rtl/mxu/systole_mxu_array_bf16_fast.sv", "rtl/mxu/systole_mxu_array_int8_fast.sv",
                 "verif/coverage/gen/systole_coverage_probe.sv")

# More ports than this are a bundle that is missing (rtl/chip/systole_bus_pkg.sv). Generated modules may have more: pins, for tools
# without structs, and what PeakRDL writes.
MAX_PORTS = 30

# slang's warnings that are off, and why.
SLANG_OFF = {
    "case-redundant-default": "house style: unique case with a default",
    "case-type": "decoders compare plain fields of an instruction word with enumeration values",
    "packed-array-conv": "a packed array is set from a vector of its width: the same bits, and sizes stay checked",
    "sign-conversion": "int parameters and genvars select bits everywhere; widths and signs of operators stay checked",
    "useless-cast": "a cast to a parameter's width is none at some values of the parameter",
}
# The same in one file that PeakRDL writes: its shift register of stalls may have a single bit, which it shifts by one.
SLANG_OFF_IN = {"rtl/gen/systole_csr_regs.sv": "[-Wshift-count-overflow]"}
FOREIGN, FOREIGN_MODULES = ".ibex/", "ibex_"  # not ours: its authors lint it


def modules(root):
    """Modules of the design: those whose file has the name, but not the packages."""
    return sorted(p for p in (root / "rtl").rglob("*.sv") if p.parent.name != "gen" and not p.stem.endswith("_pkg"))


def elaborate(root, files, parameters=()):
    """slang's driver and compilation of these modules, each a top with its default parameters."""
    words = ["slang", "--single-unit=false", "-Wextra", "-Wconversion", *(f"-Wno-{name}" for name in SLANG_OFF)]
    listing = root / "rtl" / "systole.f"
    ibex = root / "rtl" / "ibex" / "ibex.f"
    words += ["-F", str(listing)] if listing.exists() else []
    words += ["-F", str(ibex)] if ibex.exists() else []
    words += [str(path) for path in files]
    words += [word for path in files for word in ("--top", path.stem)]
    words += [f"-G {parameter}" for parameter in parameters]
    run = driver.Driver()
    run.addStandardArgs()
    if not run.parseCommandLine(" ".join(words)) or not run.processOptions() or not run.parseAllSources():
        raise ValueError(f"slang does not read {listing} and {len(files)} modules")
    return run, run.createCompilation()


@dataclasses.dataclass
class Process:
    """What one process reads and writes of the variables of modules."""

    symbol: object
    clocked: bool
    reads: set = dataclasses.field(default_factory=set)
    blocking: dict = dataclasses.field(default_factory=dict)  # variable -> (where, task that does it)
    nonblocking: dict = dataclasses.field(default_factory=dict)


def roots(expression):
    """The variables that an assignment to `expression` writes."""
    kind = expression.kind
    if kind in (ast.ExpressionKind.NamedValue, ast.ExpressionKind.HierarchicalValue):
        return [expression.symbol]
    if kind in (ast.ExpressionKind.ElementSelect, ast.ExpressionKind.RangeSelect, ast.ExpressionKind.MemberAccess):
        return roots(expression.value)
    if kind == ast.ExpressionKind.Conversion:
        return roots(expression.operand)
    if kind == ast.ExpressionKind.Concatenation:
        return [symbol for operand in expression.operands for symbol in roots(operand)]
    if kind == ast.ExpressionKind.Streaming:
        return [symbol for stream in expression.streams for symbol in roots(stream.operand)]
    if kind == ast.ExpressionKind.SimpleAssignmentPattern:
        return [symbol for element in expression.elements for symbol in roots(element)]
    return []


def module_variables(compilation):
    """Variables and nets of modules and packages: not those of blocks and subroutines. (Kept alive, a symbol is one Python object.)"""
    found = set()

    def visit(node):
        if isinstance(node, (ast.StatementBlockSymbol, ast.SubroutineSymbol, ast.ProceduralBlockSymbol)):
            return ast.VisitAction.Skip
        if isinstance(node, (ast.VariableSymbol, ast.NetSymbol)):
            found.add(node)
        return ast.VisitAction.Advance

    compilation.getRoot().visit(visit)
    return found


class Collector:
    """Fills a Process from a statement or expression, through the tasks and functions that it calls."""

    def __init__(self, process, variables, task=None, seen=()):
        self.process, self.variables, self.task, self.seen = process, variables, task, seen

    def write(self, expression, nonblocking, where):
        for symbol in roots(expression):
            if symbol in self.variables:
                kind = self.process.nonblocking if nonblocking else self.process.blocking
                kind.setdefault(symbol, (where, self.task))

    def __call__(self, node):
        if isinstance(node, ast.AssignmentExpression):
            self.write(node.left, node.isNonBlocking, node.sourceRange.start)
            if node.isCompound:
                node.left.visit(self)
            self.indices(node.left)
            node.right.visit(self)
            return ast.VisitAction.Skip
        if isinstance(node, ast.UnaryExpression) and node.op in (
                ast.UnaryOperator.Preincrement, ast.UnaryOperator.Predecrement,
                ast.UnaryOperator.Postincrement, ast.UnaryOperator.Postdecrement):
            self.write(node.operand, False, node.sourceRange.start)
        if isinstance(node, ast.CallExpression) and isinstance(node.subroutine, ast.SubroutineSymbol):
            called = node.subroutine
            for formal, actual in zip(called.arguments, node.arguments):
                if formal.direction == ast.ArgumentDirection.Ref:
                    self.write(actual, False, actual.sourceRange.start)
            if called not in self.seen:
                called.body.visit(Collector(self.process, self.variables, self.task or called.name, (*self.seen, called)))
        if isinstance(node, (ast.NamedValueExpression, ast.HierarchicalValueExpression)) and node.symbol in self.variables:
            self.process.reads.add(node.symbol)
        return ast.VisitAction.Advance

    def indices(self, left):
        """Reads of what stands in an assignment's target: indices."""
        kind = left.kind
        if kind == ast.ExpressionKind.ElementSelect:
            left.selector.visit(self)
        elif kind == ast.ExpressionKind.RangeSelect:
            left.left.visit(self)
            left.right.visit(self)
        elif kind == ast.ExpressionKind.Concatenation:
            for operand in left.operands:
                self.indices(operand)
        if kind in (ast.ExpressionKind.ElementSelect, ast.ExpressionKind.RangeSelect, ast.ExpressionKind.MemberAccess):
            self.indices(left.value)


class Overrides:
    """Finds assignments to unpacked arrays that Verilator 5.032 puts before earlier ones, in a clocked process."""

    def __init__(self):
        self.path = ()     # branches that are open: (statement, which branch)
        self.made = []     # (variable, branches, where) in the order of the text

    def visit(self, statement):
        kind = ast.StatementKind
        if statement.kind == kind.Conditional:
            self.branches(statement, [statement.ifTrue, statement.ifFalse])
        elif statement.kind == kind.Case:
            self.branches(statement, [*(item.stmt for item in statement.items), statement.defaultCase])
        elif statement.kind == kind.ExpressionStatement:
            expression = statement.expr
            if isinstance(expression, ast.AssignmentExpression) and expression.isNonBlocking:
                self.made += [(symbol, self.path, expression.sourceRange.start) for symbol in roots(expression.left)
                              if symbol.type.isUnpackedArray]
        elif statement.kind == kind.List:
            for part in statement.list:
                self.visit(part)
        elif hasattr(statement, "body"):  # a block, a loop
            self.visit(statement.body)
        elif hasattr(statement, "stmt"):  # behind a clock
            self.visit(statement.stmt)

    def branches(self, statement, branches):
        before = self.path
        for number, branch in enumerate(branches):
            if branch is not None:
                self.path = (*before, (statement.sourceRange.start.offset, number))
                self.visit(branch)
        self.path = before

    def found(self):
        """The later assignments: variable and place."""
        for i, (symbol, path, where) in enumerate(self.made):
            earlier = any(other is symbol and dict(path).items() >= dict(branches).items() and branches != path
                          for other, branches, _ in self.made[:i])
            if earlier and any(other is not symbol and branches == path for other, branches, _ in self.made):
                yield symbol, where


def processes_of(compilation):
    """All processes of the elaborated design (a port's connection and an initial value are one too), and the output ports' variables."""
    variables = module_variables(compilation)
    processes, outputs = [], set()

    def collect(node, where, clocked=False):
        process = Process(node, clocked)
        for part in where:
            part.visit(Collector(process, variables))
        processes.append(process)

    def visit(node):
        if isinstance(node, ast.ProceduralBlockSymbol):
            body = node.body
            clocked = node.procedureKind == ast.ProceduralBlockKind.AlwaysFF
            if node.procedureKind == ast.ProceduralBlockKind.Always and isinstance(body, ast.TimedStatement):
                timing = body.timing
                events = timing.events if timing.kind == ast.TimingControlKind.EventList else [timing]
                clocked = any(getattr(event, "edge", ast.EdgeKind.None_) != ast.EdgeKind.None_ for event in events)
            collect(node, [body], clocked)
            return ast.VisitAction.Skip
        if isinstance(node, ast.ContinuousAssignSymbol):
            collect(node, [node.assignment])
            return ast.VisitAction.Skip
        if isinstance(node, (ast.SubroutineSymbol, ast.StatementBlockSymbol)):
            return ast.VisitAction.Skip
        if isinstance(node, ast.InstanceSymbol):
            collect(node, [connection.expression for connection in node.portConnections if connection.expression is not None])
        if isinstance(node, ast.PortSymbol) and node.internalSymbol is not None and node.direction != ast.ArgumentDirection.In:
            outputs.add(node.internalSymbol)
        if node in variables and node.initializer is not None:
            collect(node, [node.initializer])
        return ast.VisitAction.Advance

    compilation.getRoot().visit(visit)
    return processes, outputs


def faults(compilation, manager, root):
    """(file, line, text) of each blocking assignment that is not the block's own."""
    processes, outputs = processes_of(compilation)
    users = {}
    for process in processes:
        for symbol in {*process.reads, *process.blocking, *process.nonblocking}:
            users.setdefault(symbol, []).append(process)
    found = set()

    def report(where, text):
        file = pathlib.Path(manager.getFullPath(where.buffer)).resolve()
        found.add((file.relative_to(root).as_posix() if file.is_relative_to(root) else file.as_posix(), manager.getLineNumber(where), text))

    def count_ports(node):
        if isinstance(node, ast.InstanceSymbol) and node.isModule and len(node.body.portList) > MAX_PORTS \
                and not node.definition.name.startswith(FOREIGN_MODULES) \
                and pathlib.Path(manager.getFullPath(node.definition.location.buffer)).parent.name != "gen":
            report(node.definition.location, f"{node.definition.name} has {len(node.body.portList)} ports, more than {MAX_PORTS}")
        return ast.VisitAction.Advance

    def find_overrides(node):
        if isinstance(node, ast.ProceduralBlockSymbol):
            if node.procedureKind == ast.ProceduralBlockKind.AlwaysFF:
                overrides = Overrides()
                overrides.visit(node.body)
                for symbol, where in overrides.found():
                    report(where, f"{symbol.name}, an unpacked array, assigned a second time in a branch that assigns to another one too: "
                           "Verilator 5.032 takes the first; use one assignment")
            return ast.VisitAction.Skip
        return ast.VisitAction.Advance

    compilation.getRoot().visit(count_ports)
    compilation.getRoot().visit(find_overrides)
    for symbol in users:
        if isinstance(symbol, ast.NetSymbol) and symbol.isImplicit:
            report(symbol.location, f"{symbol.name} is not declared here, and becomes a net of its own")
    for process in processes:
        if not process.clocked:
            continue
        for symbol, (where, task) in process.blocking.items():
            through = f", in {task}" if task else ""
            if symbol in outputs:
                text = f"output {symbol.name} driven by a blocking assignment{through}: use <="
            elif symbol in process.nonblocking:
                text = f"{symbol.name} assigned with both = and <={through}"
            elif any(user is not process for user in users[symbol]):
                text = f"{symbol.name}, which others use, driven by a blocking assignment{through}: use <="
            elif process.nonblocking:
                text = f"{symbol.name} assigned with = in a block that uses <= too{through}: declare it in the block"
            else:
                text = f"{symbol.name} assigned with = in a clocked block{through}: declare it in the block, or use <="
            # What only a view's one process knows is the view's own business.
            path = pathlib.Path(manager.getFullPath(where.buffer)).resolve().relative_to(root).as_posix()
            if not (path in PRIVATE_VIEWS and text.endswith(("declare it in the block", "or use <="))):
                report(where, text)
    return sorted(found)


def designs(root, tops):
    """The driver and the compilation of all modules, each alone with its default parameters, then of each (file of a module, parameters)."""
    files = modules(root)
    for chosen, parameters in [(files, ()), *(([path], parameters) for path, parameters in tops)]:
        yield elaborate(root, chosen, parameters)


def check_processes(root, tops):
    """The rules above; and nobody silences Verilator's."""
    problems = set()
    for run, compilation in designs(root, tops):
        problems |= {f"{file}:{line}: {text}" for file, line, text in faults(compilation, run.sourceManager, root)}
    silent = [*(root / "rtl").rglob("*.sv"), *(root / "rtl").rglob("*.vlt"), *(root / "verif").rglob("*.sv")]
    for path in silent:
        name = path.relative_to(root).as_posix()
        if name in PRIVATE_VIEWS:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if "lint_off" in line and "BLKSEQ" in line:
                problems.add(f"{name}:{number}: BLKSEQ switched off outside a private simulation view")
    return sorted(problems)


def check_slang(root, tops):
    """Warnings and errors of slang, its analysis of drivers and latches included."""
    problems = set()
    for run, compilation in designs(root, tops):
        analysis_of_drivers = analysis.AnalysisManager(run.analysisOptions)
        compilation.getAllDiagnostics()
        compilation.freeze()
        analysis_of_drivers.analyze(compilation)
        engine, client = run.diagEngine, TextDiagnosticClient()
        engine.clearClients()
        engine.addClient(client)
        client.showColors(False)
        client.showSourceLine(False)
        for found in (compilation.getAllDiagnostics(), analysis_of_drivers.getDiagnostics()):
            for diagnostic in found:
                engine.issue(diagnostic)
        problems |= {line.replace(f"{root}/", "") for line in client.getString().splitlines() if ": warning: " in line or ": error: " in line}
    return sorted(line for line in problems if not line.startswith(FOREIGN) and not line.endswith(SLANG_OFF_IN.get(line.partition(":")[0], "\0")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("processes", "slang"))
    parser.add_argument("tops", nargs="*", metavar="FILE:PARAMETER=VALUE,...", help="tops besides each module with its defaults")
    args = parser.parse_args()
    tops = [(ROOT / top.partition(":")[0], [word for word in top.partition(":")[2].split(",") if word]) for top in args.tops]
    problems = {"processes": check_processes, "slang": check_slang}[args.part](ROOT, tops)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
