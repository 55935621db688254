# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Asynchronous pins: part `pins` of lint.py.

An input that follows no clock of its module says so in a comment behind its declaration, `// asynchronous`. It goes nowhere but into the
d_i of a systole_prim_sync, or into an input of another module that says the same. In a module of fpga/ that no other one instantiates,
a board's top, each input is a pin: it says `// clock` or `// asynchronous`.
"""

import re

SYNCHRONISER = "systole_prim_sync"
INPUT = re.compile(r"^\s*input\s+(?:wire|logic)\b[^,;/]*?\b(\w+),?[ ]*(?://[ ]*(.*))?$", re.MULTILINE)
INSTANCE = re.compile(r"\b(\w+)\s+(?:#\s*\((?:[^()]|\([^()]*\))*\)\s*)?(u_\w+)\s*\(")


def bare(text):
    """Without comments."""
    return re.sub(r"//[^\n]*", "", text)


def arguments(text, begin):
    """What is in the parentheses that open at `begin`, and where they end."""
    depth = 0
    for at in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin + 1:at], at
    raise ValueError(f"parenthesis {begin} is not closed")


def instances(text):
    """(module, {port: expression}) of each, and the text without them."""
    found, rest, end = [], [], 0
    for match in INSTANCE.finditer(text):
        if match.start() < end:
            continue
        inside, close = arguments(text, match.end() - 1)
        ports = {}
        for port in re.finditer(r"\.(\w+)\s*(\()?", inside):
            ports[port[1]] = arguments(inside, port.end() - 1)[0] if port[2] else port[1]
        found.append((match[1], ports))
        rest.append(text[end:match.start()])
        end = close
    return found, "".join(rest) + text[end:]


def inputs(text):
    """{input: what its comment says} of the module's head."""
    head = text[:text.index(");")]
    return {match[1]: match[2] or "" for match in INPUT.finditer(head)}


def check(root):
    """Problems, `file: what`."""
    modules = {path.stem: path for folder in ("rtl", "fpga") for path in sorted((root / folder).rglob("*.sv")) if not path.stem.endswith("_pkg")}
    texts = {module: path.read_text() for module, path in modules.items()}
    used = {other for text in texts.values() for other, _ in instances(bare(text))[0]}
    asynchronous = {(module, port) for module, text in texts.items() for port, says in inputs(text).items() if says.startswith("asynchronous")}
    problems = []
    for module, text in texts.items():
        file = modules[module].relative_to(root).as_posix()
        if file.startswith("fpga/") and module not in used:
            problems += [f"{file}: pin {port} says neither `// clock` nor `// asynchronous`" for port, says in inputs(text).items()
                         if not says.startswith(("clock", "asynchronous"))]
        body = bare(text)
        body = body[body.index(");") + 2:]
        inside, rest = instances(body)
        for port in sorted(port for owner, port in asynchronous if owner == module):
            names = re.compile(rf"\b{port}\b")
            if names.search(rest):
                problems.append(f"{file}: {port} is asynchronous, and is used without a {SYNCHRONISER}")
            for other, ports in inside:
                problems += [f"{file}: {port} is asynchronous, and {to} of {other} is not" for to, expression in ports.items()
                             if names.search(expression) and (other, to) != (SYNCHRONISER, "d_i") and (other, to) not in asynchronous]
    return problems
