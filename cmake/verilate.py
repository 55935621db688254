# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Runs Verilator and prepares its output for the build.

Verilator chooses the names of its C++ files itself. This gathers them in three files with fixed names, of the hot code, of the code
that runs once and of tracing, leaves files that did not change untouched (an edited comment compiles nothing), and writes a depfile.
"""

import argparse
import filecmp
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RTL = pathlib.Path(__file__).resolve().parents[1] / "rtl"


def read_inputs(folder, prefix):
    """The files that Verilator read, its program first. The make rule that it writes does not tell blanks in names from those between."""
    rule = (folder / f"{prefix}__ver.d").read_text().replace("\\\n", " ")
    names = re.findall(r'^S .* "(.*)"$', (folder / f"{prefix}__verFiles.dat").read_text(), re.M)
    return list(dict.fromkeys(name for name in (rule.split(" : ", 1)[1].split()[0], *names) if pathlib.Path(name).is_file()))


def escaped(name):
    """As a make rule has it."""
    return re.sub(r"([ #\\])", r"\\\1", str(name)).replace("$", "$$")


def install(source, destination):
    """Copies changed files and deletes the ones that are no longer generated; True when anything changed."""
    changed = False
    destination.mkdir(parents=True, exist_ok=True)
    wanted = {path.name: path for path in source.iterdir() if path.suffix in (".h", ".cpp")}
    for path in destination.iterdir():
        if path.name not in wanted:
            path.unlink()
            changed = True
    for name, path in wanted.items():
        target = destination / name
        if not target.exists() or not filecmp.cmp(path, target, shallow=False):
            shutil.copyfile(path, target)
            changed = True
    return changed


# What releases of Verilator write for the same, as one of them does. Each entry: pattern in the generated code, replacement.
COVERAGE_NAMES = (
    (r"\bstd::atomic<uint32_t>", "uint32_t"),  # up to 5.01x
    (r"\.fetch_add\(1, std::memory_order_relaxed\)", " += 1"),
    (r"\+\+\((vlSymsp->__Vcoverage\[\d+\])\);", r"\1 += 1;"),  # later ones
    (r"\bvlSelfRef\.", "vlSelf->"),
)
# The counters of a coverage build live as long as the program, over all instances of the model, and are written at its end
# into the folder that SYSTOLE_COVERAGE_DIR names. Toggles count from the fifth evaluation of an instance on: before, a signal that
# never moves again may leave the value it had by chance. From 5.03x on a macro counts a word's toggles.
COVERAGE_EDITS = (
    (r"\buint32_t __Vcoverage(\[\d+\]);",
     r"uint32_t __Vevaluations = 0, __Vcount_toggles = 0;\n    static inline uint32_t __Vcoverage\1, __Vuncounted\1;"),
    (r"(Vtogcov__[^;{}]*\{\s*vlSymsp->__Vcoverage\[\d+\] \+= )1;|(\bVL_COV_TOGGLE_CHG_\w+\(\d+, )vlSymsp->__Vcoverage\b",
     lambda found: f"{found[1]}vlSymsp->__Vcount_toggles;" if found[1] else
     f"{found[2]}(vlSymsp->__Vcount_toggles ? vlSymsp->__Vcoverage : vlSymsp->__Vuncounted)"),
    (r"(::eval_step\(\) \{\n)", r"\1    vlSymsp->__Vcount_toggles = ++vlSymsp->__Vevaluations > 4;\n"),
    (r"\*(count(?:32)?p) = 0;((?:.|\n)*?\);\n)", r"const uint32_t kept = *\1;\2    *\1 = kept;\n"),
    (r"(\b(\w+)::~\2\(\) \{\n)( *delete vlSymsp;)", r"\1    systole_write_coverage_at_exit<\2>();\n\3"),
)
COVERAGE_WRITER = """
#include <cstdlib>
#include <memory>
#include <string>
#include <unistd.h>
#include "verilated_cov.h"
template <typename Model>
void systole_write_coverage_at_exit() {
    struct Writer {
        ~Writer() {
            const char* const folder = std::getenv("SYSTOLE_COVERAGE_DIR");
            if (!folder) return;
            VerilatedContext context;
            Model model{&context};
            const std::string file = std::string{folder} + "/" + model.modelName() + "." + std::to_string(getpid()) + ".dat";
            context.coveragep()->write(file.c_str());
        }
    };
    static Writer writer;
}
"""


# What includes the header of a model's class is compiled again when its ports change. Signals inside are in other headers, which the build
# tool does not wait for: they are for the model's own files, and for those that say so (INSIDE of systole_verilate).
GUARD = """
#ifndef SYSTOLE_MODEL_INSIDE
#error "this header is for the model's own files: INSIDE of systole_verilate() opens it"
#endif
"""


def guard_inside(folder, prefix):
    """Closes every header but the class's and what that includes; at their ends, where no line of theirs moves. (From 5.03x on the class's
    header may include that of a package.)"""
    open_, left = set(), [f"{prefix}.h"]
    while left:
        name = left.pop()
        if name not in open_ and (folder / name).is_file():
            open_.add(name)
            left += re.findall(r'^#include "([^"]+)"', (folder / name).read_text(), re.M)
    for path in sorted(folder.glob("*.h")):
        if path.name not in open_:
            path.write_text(path.read_text() + GUARD)


def name_from_the_root(folder):
    """Messages name a source file as it is called in the project: the same project elsewhere has the same code, which the compiler cache
    knows."""
    for path in sorted(folder.glob("*.cpp")):
        text = path.read_text()
        edited = text.replace(f'"{RTL.parent}/', '"')
        if edited != text:
            path.write_text(edited)


# Assertions are always on: none of the hundreds looks at the switch in each cycle.
ASSERT_SWITCH = re.compile(r"\bif \(vlSymsp->_vm_contextp__->assertOn\(\)\) \{")


def keep_assertions_on(folder):
    """Takes the run-time switch of assertions out of the generated code."""
    for path in sorted(folder.glob("*.cpp")):
        text = path.read_text()
        edited = ASSERT_SWITCH.sub("{", text)
        if edited != text:
            path.write_text(edited)


# Verilator 5.006 cannot count toggles of an unpacked struct, which the registers are in: it compares a member with itself, and of vectors
# writes C++ that is none. What is in them is counted where it comes from and where it goes.
REGISTERS = re.compile(r"\b\w+_regs_pkg::\w+__(?:in|out)_t\s+\w+\b|^\s*(?:decoded_reg_strb|field_combo|field_storage)_t\s+\w+;")


def leave_registers_out(file, sources):
    """Writes the lines that declare such structs as what Verilator's coverage leaves out, of the design and of other sources."""
    lines = ["`verilator_config"]
    for path in (*sorted(RTL.rglob("*.sv")), *sources):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if REGISTERS.search(line):
                lines.append(f'coverage_off -file "{path}" -lines {number}')
    file.write_text("\n".join(lines) + "\n")


# One bit's toggle in the generated code, whose last value is kept in a variable of its own; and what it looks like, without blanks, where a
# bit of `X` is compared with that of `T` (the first group is its mask, the second its shift).
TOGGLE = re.compile(r" *if \((?P<condition>[^{};]*)\) \{\n *vlSymsp->__Vcoverage\[(?P<point>\d+)\] \+= vlSymsp->__Vcount_toggles;\n"
                    r" *(?P<last>vlSelf->[^=;]*?)\s*= [^;]*;\n *\}\n")
SIGNAL = re.compile(r"vlSelf->\w+(?:\[\w+\])*")
BITS = tuple(map(re.compile, (
    r"\((\w+)&\(X\^T\)\)()",
    r"\((\w+)&\(\(IData\)\(X\)\^\(IData\)\(T\)\)\)()",
    r"\((\w+)&\(\(IData\)\(\(X>>(\w+)\)\)\^\(IData\)\(\(T>>\2\)\)\)\)",
    r"()(?:\(IData\)\()?\(\(X\^T\)>>(\w+)\)\)?")))


def toggled_bit(condition, last):
    """(signal, variable of its last value, bit), or None where the condition is none of BITS."""
    condition, last = re.sub(r"\s", "", condition), re.sub(r"\s", "", last)
    signals = [name for name in SIGNAL.findall(condition) if name != last]
    if len(set(signals)) != 1 or not SIGNAL.fullmatch(last):
        return None
    shape = SIGNAL.sub(lambda name: "T" if name[0] == last else "X", condition)
    for bits in BITS:
        match = bits.fullmatch(shape)
        if match:
            mask, shift = (int(text.rstrip("UL"), 0) if text else None for text in match.groups())
            if mask is not None and mask & (mask - 1):
                return None
            return signals[0], last, (mask.bit_length() - 1 if mask else 0) + (shift or 0)
    return None


def count_words(text):
    """Counts the toggles of a signal's bits together, where they stand one after the other and so do their points: hardly any moves most
    of the time, and Verilator compares each."""
    out, at = [], 0
    run, key = [], None  # (match, bit); what they share

    def flush():
        nonlocal run
        if len(run) == 1:
            out.append(run[0][0][0])
        elif run:
            signal, last, base = key
            mask = sum(1 << bit for _, bit in run)
            out.append(f"    if (const uint64_t toggled = 0x{mask:x}ULL & ({signal} ^ {last})) {{\n        {last} ^= toggled;\n"
                       "        for (uint64_t rest = toggled; rest; rest &= rest - 1)\n"
                       f"            vlSymsp->__Vcoverage[{base} + __builtin_ctzll(rest)] += vlSymsp->__Vcount_toggles;\n    }}\n")
        run = []

    for match in TOGGLE.finditer(text):
        found = toggled_bit(match["condition"], match["last"])
        this = found and (*found[:2], int(match["point"]) - found[2])
        if not run or match.start() != at or this != key or this is None:
            flush()
            out.append(text[at:match.start()])
        key = this
        run.append((match, found and found[2]))
        at = match.end()
    flush()
    return "".join([*out, text[at:]])


def collect_coverage(folder, prefix):
    """Edits the generated code of a coverage build."""
    counts = [0] * len(COVERAGE_EDITS)
    for path in sorted(folder.glob("*.h")) + sorted(folder.glob("*.cpp")):
        text = path.read_text()
        for pattern, replacement in COVERAGE_NAMES:
            text = re.sub(pattern, replacement, text)
        for index, (pattern, replacement) in enumerate(COVERAGE_EDITS):
            text, count = re.subn(pattern, replacement, text)
            counts[index] += count
        text = count_words(text)
        if path.name == f"{prefix}.cpp":
            text = COVERAGE_WRITER + text
        path.write_text(text)
    for (pattern, _), count in zip(COVERAGE_EDITS, counts):
        if count == 0:
            raise ValueError(f"coverage build: this Verilator does not generate {pattern!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verilator", required=True)
    parser.add_argument("--dir", required=True, type=pathlib.Path, help="folder of the generated files")
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--depfile", required=True, type=pathlib.Path)
    parser.add_argument("--target", required=True, help="output that the depfile names")
    parser.add_argument("--inside", action="store_true", help="other files may include the headers of what is inside")
    parser.add_argument("arguments", nargs="+", help="arguments of Verilator, after --")
    args = parser.parse_args()

    args.dir.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=args.dir.parent) as temporary:
        scratch = pathlib.Path(temporary)
        coverage = "--coverage-line" in args.arguments
        registers = scratch / "registers.vlt"
        if coverage:
            leave_registers_out(registers, [pathlib.Path(word) for word in args.arguments if word.endswith(".sv") and pathlib.Path(word).is_file()])
            args.arguments.insert(0, str(registers))  # before what it is about
        result = subprocess.run([args.verilator, "--Mdir", str(scratch), *args.arguments], check=False)
        registers.unlink(missing_ok=True)
        if result.returncode != 0:
            return result.returncode
        if coverage:  # whose reports look for the files
            collect_coverage(scratch, args.prefix)
        else:
            name_from_the_root(scratch)
        keep_assertions_on(scratch)
        if not args.inside:
            guard_inside(scratch, args.prefix)
        inputs = read_inputs(scratch, args.prefix)
        generated = sorted(path.name for path in scratch.glob("*.cpp"))
        parts = {"fast": [], "slow": [], "trace": []}
        for name in generated:
            part = "slow" if name.endswith(("__Slow.cpp", "__Syms.cpp")) else "trace" if "__Trace__" in name else "fast"
            parts[part].append(name)
        for part, names in parts.items():
            lines = [f'#include "{name}"\n' for name in names]
            (scratch / f"{args.prefix}_{part}.cpp").write_text("".join(lines))
        changed = install(scratch, args.dir)

    # The build tool knows only these of the generated files.
    if changed:
        for part in parts:
            (args.dir / f"{args.prefix}_{part}.cpp").touch()
        if args.inside:
            (args.dir / f"{args.prefix}.h").touch()
    args.depfile.write_text(f"{escaped(args.target)}: " + " \\\n  ".join(map(escaped, inputs)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
