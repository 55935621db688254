# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Makes a C++ simulation of the core, as the synthesiser reads it, with Yosys' CXXRTL.

  cxxrtl.py --preset 0 --name Nano --parts 8 --out FOLDER --depfile FILE

It writes CxxrtlNano.h, a class with the pins of a Verilated model, and the code in CxxrtlNano_0.cc and so on. Yosys writes one function
for the whole design, for which compilers take hours. This script cuts it into functions of some kilobytes each, in a fixed number of
files. Values that several of these functions use become members of the class.
"""

import argparse
import pathlib
import re
import sys

import design

FUNCTION_CHARACTERS = 12000


def split_function(text):
    """Splits the body of eval() into its local values (name to width) and its statements."""
    values, statements, lines = {}, [], []
    for line in text:
        declared = re.fullmatch(r"\tvalue<(\d+)> (\w+);", line)
        if declared:
            values[declared[2]] = int(declared[1])
            continue
        lines.append(line)
        if line.startswith("\t\t") or line.endswith("{"):
            continue
        # The statement before computes the index of a memory for this one, so the two stay together.
        if statements and any(name in statements[-1] for name in re.findall(r"\btmp_\d+\b", lines[0])):
            lines.insert(0, statements.pop())
        statements.append("\n".join(lines))
        lines = []
    if lines:
        raise ValueError(f"unexpected end of eval(): {lines[0][:80]}")
    return values, statements


OPENING, CLOSING = "([{<", ")]}>"


def matching(text, position, step):
    """The position of the bracket that matches the one at `position`: after it (step 1) or before it (step -1)."""
    depth = 0
    while True:
        depth += (text[position] in OPENING) - (text[position] in CLOSING)
        if depth == 0:
            return position
        position += step


def operand_begin(text, end):
    """The position where the operand that ends before `end` begins. A method is called on this operand."""
    while end > 0:
        if text[end - 1] in CLOSING:
            end = matching(text, end - 1, -1)
        elif re.match(r"[\w.:]", text[end - 1]):
            end -= 1
        else:
            break
    return end


def join(operands):
    """Concatenates expressions, as a tree."""
    if len(operands) == 1:
        return operands[0]
    half = (len(operands) + 1) // 2
    return f"{join(operands[:half])}.concat({join(operands[half:])})"


def balance(text):
    """Rewrites a.concat(b).concat(c).concat(d) as a.concat(b).concat(c.concat(d)). Types and work of a chain grow quadratically."""
    call, position = ".concat(", 0
    while (position := text.find(call, position)) >= 0:
        begin = operand_begin(text, position)
        operands, end = [text[begin:position]], position
        while text.startswith(call, end):
            last = matching(text, end + len(call) - 1, 1)
            operands.append(balance(text[end + len(call):last]))
            end = last + 1
        joined = join(operands)
        text = text[:begin] + joined + text[end:]
        position = begin + len(joined)
    return text


def group(statements):
    """Groups statements; each group becomes a function."""
    groups, length = [[]], 0
    for statement in statements:
        if length > FUNCTION_CHARACTERS:
            groups.append([])
            length = 0
        groups[-1].append(statement)
        length += len(statement)
    return groups


def uses(groups, values):
    """For each value, the functions that use it."""
    found = {name: set() for name in values}
    for number, statements in enumerate(groups):
        for name in set(re.findall(r"\b\w+", "\n".join(statements))) & values.keys():
            found[name].add(number)
    return found


def split(header, code, name, parts):
    """Returns the header and the files of code."""
    space = f"cxxrtl_design_{name.lower()}"
    code = [line for line in code.splitlines() if not re.match(r"\s*//", line)]
    header = re.sub(r"(?m)^\s*//.*\n", "", header)
    for old, new in (("CXXRTL_DESIGN_HEADER", f"CXXRTL_{name.upper()}_HEADER"), ("namespace cxxrtl_design", f"namespace {space}")):
        header = header.replace(old, new)
    begin = next(number for number, line in enumerate(code) if re.match(r"bool \w+::eval\(performer", line))
    end = code.index("}", begin)
    top = re.match(r"bool (\w+)::eval", code[begin])[1]
    values, statements = split_function(code[begin + 1:end])
    # The first statements, and the last one, handle convergence and the clock.
    clock = [statement for statement in statements if re.match(r"\tbool (converged|posedge)", statement)]
    edges = [re.search(r"bool (posedge_\w+)", statement)[1] for statement in clock if "posedge" in statement]
    if statements[-1] != "\treturn converged;" or any("converged" in statement for statement in statements[2:-1]):
        raise ValueError("eval() does more than expected")
    groups = group([balance(statement) for statement in statements[len(clock):-1]])
    found = uses(groups, values)
    arguments = ", ".join(f"bool {edge}" for edge in edges)
    members = [f"\tvalue<{width}> {value};" for value, width in values.items() if len(found[value]) > 1]
    members += [f"\tvoid eval_{number}({arguments});" for number in range(len(groups))]
    header = re.sub(rf"(struct {top} : public module {{\n)", lambda match: match[1] + "\n".join(members) + "\n", header, count=1)

    include = f'#include "Cxxrtl{name}_design.h"\nusing namespace cxxrtl_yosys;\nnamespace {space} {{\n'
    reset = next(number for number, line in enumerate(code) if re.match(rf"void {top}::reset", line))
    files = [[include] for _ in range(parts)]
    files[0] += code[reset:begin]
    files[0] += [f"bool {top}::eval(performer *) {{", *clock]
    files[0] += [f"\teval_{number}({', '.join(edges)});" for number in range(len(groups))]
    files[0] += ["\treturn converged;", "}"]
    for number, statements in enumerate(groups):
        own = [f"\tvalue<{width}> {value};" for value, width in values.items() if found[value] == {number}]
        files[number * parts // len(groups)] += [f"void {top}::eval_{number}({arguments}) {{", *own, *statements, "}"]
    return header, top, ["\n".join([*file, "}", ""]) for file in files]


def pin_type(width):
    for bits, name in ((8, "CData"), (16, "SData"), (32, "IData"), (64, "QData")):
        if width <= bits:
            return name
    return f"VlWide<{(width + 31) // 32}>"


def mangle(name):
    return "p_" + re.sub(r"\W", lambda match: f"_{ord(match[0]):x}_", name.replace("_", "__"))


def pins_header(name, ports):
    """A function that visits the pins of a model except its clock."""
    lines = [f"#ifndef PINS_{name.upper()}_H_", f"#define PINS_{name.upper()}_H_",
             "template <typename Model, typename Visitor> void ForEachPin(const Model& model, Visitor visit) {"]
    lines += [f"  visit(model.{port.name});" for port in ports if port.name != "clk_i"]
    return "\n".join([*lines, "}", "#endif", ""])


def model_header(name, top, ports):
    """A class with the interface of a Verilated model."""
    space = f"cxxrtl_design_{name.lower()}"
    lines = [f"#ifndef CXXRTL_{name.upper()}_H_", f"#define CXXRTL_{name.upper()}_H_", "#include <cstring>", "#include <memory>",
             '#include "verilated.h"', f'#include "Cxxrtl{name}_design.h"', f"class Cxxrtl{name} {{", " public:",
             f"  explicit Cxxrtl{name}(VerilatedContext*, const char*) {{}}"]
    lines += [f"  {pin_type(port.width)} {port.name}{{}};" for port in ports]
    lines += ["  // Until nothing changes.", "  void eval() {"]
    lines += [f"    Copy(design_->{mangle(port.name)}.data, {port.name});" for port in ports if port.input]
    lines += ["    design_->step();"]
    lines += [f"    Copy({port.name}, Value(design_->{mangle(port.name)}).data);" for port in ports if not port.input]
    lines += ["  }", "  void final() {}", " private:",
              "  template <typename To, typename From> static void Copy(To& to, const From& from) {",
              "    std::memcpy(&to, &from, sizeof(to) < sizeof(from) ? sizeof(to) : sizeof(from));", "  }",
              "  template <size_t Bits> static const cxxrtl::value<Bits>& Value(const cxxrtl::value<Bits>& value) { return value; }",
              "  template <size_t Bits> static const cxxrtl::value<Bits>& Value(const cxxrtl::wire<Bits>& wire) { return wire.curr; }",
              f"  std::unique_ptr<{space}::{top}> design_ = std::make_unique<{space}::{top}>();", "};", "#endif", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", type=int, required=True)
    parser.add_argument("--name", required=True, help="of the class, after Cxxrtl")
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--depfile", type=pathlib.Path)
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    stem = f"Cxxrtl{args.name}"
    core = design.Design(args.out / f"{stem}.log")
    core.read("systole_top", {"Preset": args.preset})
    core.run("flatten", "opt_clean", "opt -nodffe -nosdff", "check -assert")
    raw = args.out / "raw.cc"
    write = f"write_cxxrtl -header -noflatten -noproc -g0 {raw}"
    core.run(write)
    # If a part of a wire depends on another part, the wire would be evaluated twice in every step. Such wires are split
    # into bits.
    loops = re.search(r"contains feedback arcs through wires:\n((?:  \S+\n)*)", core.log())
    if loops:
        core.run("splitnets " + " ".join(f"w:{wire}" for wire in loops[1].split()), "opt_clean", write)
    ports = core.ports()
    header, top, files = split(raw.with_suffix(".h").read_text(), raw.read_text(), args.name, args.parts)
    (args.out / f"{stem}_design.h").write_text(header)
    (args.out / f"{stem}.h").write_text(model_header(args.name, top, ports))
    (args.out / f"Pins{args.name}.h").write_text(pins_header(args.name, ports))
    for number, text in enumerate(files):
        (args.out / f"{stem}_{number}.cc").write_text(text)
    if args.depfile:
        sources = sorted((design.ROOT / "rtl").rglob("*.sv"))
        args.depfile.write_text(f"{args.out / stem}_0.cc: {' '.join(map(str, sources))}\n")


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, ValueError) as error:
        sys.exit(f"cxxrtl: {error}")
