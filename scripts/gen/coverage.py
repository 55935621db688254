# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/spec/coverage.yaml -> probe that counts the bins of functional coverage, C++ header, reference page."""

import hashlib
import itertools
import pathlib

from . import common

SOURCE = "coverage.yaml"
FOLDER = "verif/coverage/gen"


class Value(int):
    """A value of `each` that has a name: {c} is the number, {c.name} the name."""

    name: str


def _values(given):
    if isinstance(given, int):
        return range(given)
    if isinstance(given, dict):
        values = []
        for name, number in given.items():
            value = Value(number)
            value.name = name
            values.append(value)
        return values
    return given


def _own_bins(point: dict) -> list:
    """[(name, condition)] of a point with bins."""
    bins = []
    variables = {name: _values(given) for name, given in point.get("each", {}).items()}
    for chosen in itertools.product(*variables.values()):
        words = dict(zip(variables, chosen))
        order = {name: list(variables[name]).index(value) for name, value in words.items()}
        if "if" in point and not eval(point["if"], {"__builtins__": {}}, order):  # of positions: the file is the project's own
            continue
        for name, condition in point["bins"].items():
            bins.append((str(name).format(**words), condition.format(**words)) if words else (str(name), condition))
    return bins


def points(spec: dict) -> list:
    """[{name, doc, bins: [(name, condition)], ...}] with all loops written out. Raises on what does not fit."""
    found = {}
    for point in spec["points"]:
        if point["name"] in found:
            raise ValueError(f"{SOURCE}: two points {point['name']}")
        if "cross" in point:
            sides = [found[name] for name in point["cross"]]
            for side in sides:
                if side["when"] != point["when"]:
                    raise ValueError(f"{SOURCE}: {point['name']} crosses {side['name']}, which is looked at in other cycles")
            bins = [(" x ".join(name for name, _ in pair), " && ".join(f"({condition})" for _, condition in pair))
                    for pair in itertools.product(*(side["bins"] for side in sides))]
        else:
            bins = _own_bins(point)
        names = [name for name, _ in bins]
        if len(set(names)) != len(names):
            raise ValueError(f"{SOURCE}: {point['name']} has two bins of one name")
        found[point["name"]] = {**point, "bins": bins}
    return list(found.values())


def version(spec: dict) -> str:
    """Changes with any bin: counts of different versions cannot be added."""
    return hashlib.sha256(repr([(p["name"], p["when"], p["bins"]) for p in points(spec)]).encode()).hexdigest()[:16]


def names(spec: dict) -> list:
    """[(point, bin)] in the order of the counts."""
    return [(point["name"], name) for point in points(spec) for name, _ in point["bins"]]


def _declaration(signal: dict) -> str:
    """An unpacked dimension stands behind the name."""
    kind, _, unpacked = signal["type"].partition("_t [")
    if unpacked:
        return f"    input {kind}_t {signal['name']} [{unpacked}"
    return f"    input {signal['type']} {signal['name']}"


def _indent(text: str, depth: int) -> list:
    return [" " * depth + line if line else "" for line in text.rstrip("\n").splitlines()]


def _sv(spec: dict) -> str:
    count = len(names(spec))
    out = [common.banner("//", SOURCE).rstrip(), "//",
           "// Counts the bins of functional coverage: bound into systole_node for simulation, where the test bench reads hits_q.",
           "// Docs: docs/regression.md. Test: tests/regress.", "",
           "// verilator lint_off WIDTH", "// verilator lint_off BLKSEQ",
           "module systole_coverage_probe", "  import systole_isa_pkg::*;", "  import systole_presets_pkg::*;",
           "#(", "    parameter core_cfg_t Cfg = core_preset(PresetNano)", ") (", "    input logic clk_i,", "    input logic rst_ni,",
           ",\n".join(_declaration(signal) for signal in spec["signals"]), ");",
           f"  logic [31:0] hits_q [{count}]  /* verilator public_flat_rd */;", *_indent(spec["declare"], 2), "",
           "  initial begin", "    hits_q = '{default: '0};", "    length = '{default: '0};", "    from   = '{default: '0};",
           "    op_before = '{default: '0};",
           "    {has_before, blocked, rd_before, wr_before, fault_before, fault_ever, ran} = '0;", "  end", "",
           "  always @(posedge clk_i) if (rst_ni) begin", *_indent(spec["before"], 4)]
    index = 0
    for point in points(spec):
        depth = 4
        if "loop" in point:
            variable = point["loop"].split()[0]
            out.append(f"    for (int unsigned {variable} = 0; {point['loop']}; {variable}++) begin")
            depth += 2
        out.append(" " * depth + f"if ({point['when']}) begin  // {point['name']}")
        out += _indent(point.get("let", ""), depth + 2)
        for _, condition in point["bins"]:
            out.append(" " * (depth + 2) + f"if ({condition}) hits_q[{index}] = hits_q[{index}] + 1;")
            index += 1
        out += [" " * d + "end" for d in range(depth, 3, -2)]
    out += [*_indent(spec["after"], 4), "  end", "endmodule", "",
            "bind systole_node systole_coverage_probe #(.Cfg(Cfg)) u_coverage (", "    .clk_i, .rst_ni,",
            ",\n".join(f"    .{signal['name']}({signal['is']})" for signal in spec["signals"]), ");", ""]
    return "\n".join(out)


def _header(spec: dict) -> str:
    return (common.banner("//", SOURCE) + "#ifndef SYSTOLE_COVERAGE_GEN_BINS_H_\n#define SYSTOLE_COVERAGE_GEN_BINS_H_\n\n"
            "namespace systole::coverage {\n\n// Counts of the probe, and what says which bins they are.\n"
            f"inline constexpr int kNumBins = {len(names(spec))};\n"
            f"inline constexpr char kVersion[] = \"{version(spec)}\";\n\n}}  // namespace systole::coverage\n\n"
            "#endif  // SYSTOLE_COVERAGE_GEN_BINS_H_\n")


def _page(spec: dict) -> str:
    out = ["<!--\n" + common.banner(" ", SOURCE) + "-->", "# Functional coverage", "",
           f"{len(names(spec))} bins in {len(spec['points'])} points. How they are counted and merged: [regression.md](../regression.md).",
           "", "| point | bins | what |", "|---|---:|---|"]
    out += [f"| `{point['name']}` | {len(point['bins'])} | {point['doc']} |" for point in points(spec)]
    return "\n".join(out) + "\n"


def generate(root: pathlib.Path) -> dict:
    spec = common.load(root, SOURCE)
    return {f"{FOLDER}/systole_coverage_probe.sv": _sv(spec), f"{FOLDER}/bins.h": _header(spec),
            "docs/reference/coverage.md": _page(spec)}
