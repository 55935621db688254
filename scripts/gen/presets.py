# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/spec/presets.yaml -> SystemVerilog package and check, C++ header, reference page."""

import pathlib
import re

from . import common

SOURCE = "presets.yaml"
MAX_AXI_BYTES = 128  # the widest data bus of AXI4
NAMED = {"Cell": "cells", "Memory": "memories"}  # parameters whose values have names


def _named(spec: dict, parameter: str) -> list:
    return spec[NAMED[parameter]]


def _constants(spec: dict) -> dict:
    """CellInt8, MemoryHbm, ...: the names of values, as rules say them."""
    return {f"{parameter}{common.camel(item['name'])}": item["id"] for parameter in NAMED for item in _named(spec, parameter)}


def _value(spec: dict, parameter: str, value) -> int:
    if parameter not in NAMED:
        return value
    ids = {item["name"]: item["id"] for item in _named(spec, parameter)}
    if value not in ids:
        raise ValueError(f"no {parameter} {value}; there are {', '.join(ids)}")
    return ids[value]


def word_bytes(core: dict) -> int:
    return core["Rows"] if core["Cell"] == "int8" else 4 * core["Cols"]


def broken_rule(spec: dict, preset: dict) -> str:
    """What the first rule says that this configuration breaks; empty if it is legal."""
    names = _constants(spec)
    for part in ("core", "chip"):
        for parameter in spec[part]:
            names[parameter["name"]] = _value(spec, parameter["name"], preset[part][parameter["name"]])
    names |= {"word_bytes": word_bytes(preset["core"]), "max": max, "pow2": lambda n: n > 0 and n & (n - 1) == 0}
    for rule in spec["rules"]:
        python = rule["holds"].replace("&&", " and ").replace("||", " or ")
        if not eval(python, {"__builtins__": {}}, names):  # pylint: disable=eval-used
            return rule["say"]
    return ""


def _sv_rule(spec: dict, holds: str) -> str:
    """A rule as an expression over the chip configuration c."""
    parts = {p["name"]: "c.Core." for p in spec["core"]} | {p["name"]: "c." for p in spec["chip"]}
    text = re.sub(r"\b\w+\b", lambda m: parts.get(m[0], "") + m[0], holds)
    text = text.replace("word_bytes", "word_bytes(c.Core)")
    return " || ".join(f"({term.strip()})" if "&&" in term else term.strip() for term in text.split("||"))


def _sv_functions(spec: dict) -> list:
    element = " : ".join([f"c.Cell == Cell{common.camel(cell['name'])} ? {cell['element_bytes']}" for cell in spec["cells"][1:]]
                         + [str(spec["cells"][0]["element_bytes"])])
    beat_bits = spec["hbm_beat_bits"]
    functions = (
        ("core_cfg_t", "int unsigned", "beat_bytes", "Bytes of a beat: what memory reads or writes in one cycle at most.", "c.BeatBytes"),
        ("core_cfg_t", "int unsigned", "axi_bytes", "Bytes of a beat of the host's AXI4 port: a beat, as far as AXI4 has such widths.",
         f"beat_bytes(c) < {MAX_AXI_BYTES} ? beat_bytes(c) : {MAX_AXI_BYTES}"),
        ("core_cfg_t", "int unsigned", "element_bytes", "Bytes of a weight or activation.", element),
        ("core_cfg_t", "int unsigned", "word_bytes",
         "Bytes of a unified buffer word and of a window: a vector of int8 activations, or a row of fp32 lanes.",
         "c.Cell == CellBf16 ? 4 * c.Cols : c.Rows"),
        ("core_cfg_t", "int unsigned", "tile_bytes", "Bytes of a weight tile.", "c.Rows * c.Cols * element_bytes(c)"),
        ("core_cfg_t", "int unsigned", "tile_windows", "Read windows of the weight loader (bf16), one for each row of a tile in a beat.",
         "c.Cell == CellBf16 ? c.BeatBytes / (2 * c.Cols) : 1"),
        ("core_cfg_t", "int unsigned", "num_windows", "Read windows: data setup, the vector unit's (bf16: two), the weight loader's (bf16).",
         "c.Cell == CellBf16 ? c.Segments + 2 + tile_windows(c) : c.Segments + 1"),
        ("chip_cfg_t", "int unsigned", "flit_bytes", "Bytes of a flit of the links: four cycles of a link, as far as a packet's length has bits; chips without links: 16.",
         "c.LinkBytes == 0 ? 16 : c.LinkBytes > 16 ? 64 : 4 * c.LinkBytes"),
        ("chip_cfg_t", "logic [AddrBits:0]", "memory_bytes", "Bytes of a core's own memory.",
         f"c.Memory == MemoryAxi ? (AddrBits + 1)'(c.DramBytes) : (AddrBits + 1)'(c.Core.BeatBytes) << {beat_bits}"),
    )
    out = []
    for type_name, result, function, doc, value in functions:
        out.append(f"  // {doc}")
        out.append(f"  function automatic {result} {function}({type_name} c);")
        out.append(f"    return {value};")
        out.append("  endfunction\n")
    return out


def _sv(spec: dict) -> str:
    out = [common.banner("//", SOURCE)]
    out.append("package systole_presets_pkg;\n")
    out.append("  localparam int unsigned AddrBits = 36;  // memory byte address")
    out.append("  localparam int unsigned UbAddrBits = 25;  // unified buffer byte address")
    out.append("  localparam int unsigned AccAddrBits = 13;  // accumulator row")
    out.append("  localparam int unsigned PcBits = 32;  // descriptor index")
    for parameter in NAMED:
        out.append(f"\n  // {parameter}: values.")
        for item in _named(spec, parameter):
            out.append(f"  localparam int unsigned {parameter}{common.camel(item['name'])} = {item['id']};  // {item['doc']}")
    out.append("\n  // One configuration of a core. Derived sizes come from the functions below.")
    out.append("  typedef struct packed {")
    for p in spec["core"]:
        out.append(f"    int unsigned {p['name']};  // {p['doc']}")
    out.append("  } core_cfg_t;\n")
    out.append("  // One configuration of a chip.")
    out.append("  typedef struct packed {")
    out.append("    core_cfg_t Core;")
    for p in spec["chip"]:
        out.append(f"    int unsigned {p['name']};  // {p['doc']}")
    out.append("  } chip_cfg_t;\n")
    for name, p in spec["presets"].items():
        out.append(f"  localparam int unsigned Preset{common.camel(name)} = {p['id']};  // {p['doc']}")
    presets = list(spec["presets"].items())
    known = " || ".join(f"id == Preset{common.camel(name)}" for name, _ in presets)
    out.append("\n  function automatic logic is_preset(int unsigned id);")
    out.append(f"    return {known};")
    out.append("  endfunction\n")
    out.append("  // If there is no such preset, another one: tops check is_preset, and that alone fails then.")
    out.append("  function automatic chip_cfg_t preset(int unsigned id);")
    out.append("    chip_cfg_t c;")
    out.append("    c = '0;")
    out.append("    case (id)")
    for name, p in presets[1:] + presets[:1]:
        out.append(f"      {'default' if p is presets[0][1] else 'Preset' + common.camel(name)}: begin")
        for part, prefix in (("core", "c.Core."), ("chip", "c.")):
            for q in spec[part]:
                value = p[part][q["name"]]
                text = f"{q['name']}{common.camel(value)}" if q["name"] in NAMED else value
                out.append(f"        {prefix}{q['name']} = {text};")
        out.append("      end")
    out.append("    endcase")
    out.append("    return c;")
    out.append("  endfunction\n")
    out.append("  function automatic core_cfg_t core_preset(int unsigned id);")
    out.append("    chip_cfg_t c;")
    out.append("    c = preset(id);")
    out.append("    return c.Core;")
    out.append("  endfunction\n")
    out += _sv_functions(spec)
    out.append("  function automatic logic pow2(int unsigned n);")
    out.append("    return n != 0 && (n & (n - 1)) == 0;")
    out.append("  endfunction")
    out.append("  function automatic int unsigned max(int unsigned a, int unsigned b);")
    out.append("    return a > b ? a : b;")
    out.append("  endfunction\n")
    out.append("  // The first rule that a configuration breaks (systole_cfg_check); 0: it is legal.")
    out.append("  function automatic int unsigned broken_rule(chip_cfg_t c);")
    for number, rule in enumerate(spec["rules"], 1):
        out.append(f"    if (!({_sv_rule(spec, rule['holds'])})) return {number};")
    out.append("    return 0;")
    out.append("  endfunction\n")
    out.append("endpackage\n")
    return "\n".join(out)


def _sv_check(spec: dict) -> str:
    out = [common.banner("//", SOURCE)]
    out.append("// Stops the elaboration of an illegal configuration and says what would be legal. No hardware.\n")
    out.append("module systole_cfg_check")
    out.append("  import systole_presets_pkg::*;")
    out.append("#(")
    out.append("    parameter chip_cfg_t Cfg = preset(PresetNano)")
    out.append(") ();")
    out.append("  localparam int unsigned Broken = broken_rule(Cfg);\n")
    for number, rule in enumerate(spec["rules"], 1):
        out.append(f"  if (Broken == {number}) begin : gen_rule{number}")
        out.append(f"    $fatal(1, \"illegal configuration: wanted: {rule['say']}\");")
        out.append("  end")
    out.append("endmodule\n")
    return "\n".join(out)


def _snake(name: str) -> str:
    return "".join("_" + ch.lower() if ch.isupper() else ch for ch in name).lstrip("_")


def _cpp_fields(parameters: list) -> list:
    return [f"  {p['name'] if p['name'] in NAMED else 'int64_t'} {_snake(p['name'])};  // {p['doc']}" for p in parameters]


def _cpp_values(parameters: list, values: dict) -> str:
    return ", ".join(f"{p['name']}::k{common.camel(values[p['name']])}" if p["name"] in NAMED else str(values[p["name"]])
                     for p in parameters)


def _cpp(spec: dict) -> str:
    out = [common.banner("//", SOURCE)]
    out.append("#ifndef SYSTOLE_GEN_PRESETS_H_\n#define SYSTOLE_GEN_PRESETS_H_\n")
    out.append("#include <array>\n#include <cstdint>\n#include <string_view>\n")
    out.append("namespace systole {\n")
    docs = {"Cell": "What multiplies and adds in the array, and with it the number format of the core.",
            "Memory": "What a chip's programs, weights and tensors lie in."}
    for parameter in NAMED:
        items = _named(spec, parameter)
        out.append(f"// {docs[parameter]}")
        out.append(f"enum class {parameter} : uint8_t {{")
        for item in items:
            out.append(f"  k{common.camel(item['name'])} = {item['id']},  // {item['doc']}")
        out.append("};\n")
    names = ", ".join(f'"{cell["name"]}"' for cell in spec["cells"])
    out.append(f"inline constexpr std::array<std::string_view, {len(spec['cells'])}> kCellNames = {{{names}}};\n")
    out.append("// One configuration of a core.")
    out.append("struct CoreConfig {")
    out += _cpp_fields([p for p in spec["core"] if p["name"] != "BeatBytes"])
    out.append("  int64_t beat;  // " + next(p["doc"] for p in spec["core"] if p["name"] == "BeatBytes"))
    out.append("")
    out.append("  constexpr int64_t beat_bytes() const { return beat; }")
    out.append("  // Bytes of a beat of the host's AXI4 port: a beat, as far as AXI4 has such widths.")
    out.append(f"  constexpr int64_t axi_bytes() const {{ return beat_bytes() < {MAX_AXI_BYTES} ? beat_bytes() : {MAX_AXI_BYTES}; }}")
    out.append("  constexpr std::string_view cell_name() const { return kCellNames[static_cast<int>(cell)]; }")
    out.append("  // Bytes of a weight or activation.")
    value = " : ".join([f"cell == Cell::k{common.camel(cell['name'])} ? {cell['element_bytes']}" for cell in spec["cells"][1:]]
                       + [str(spec["cells"][0]["element_bytes"])])
    out.append(f"  constexpr int64_t element_bytes() const {{ return {value}; }}")
    out.append("  // Bytes of a unified buffer word: a vector of int8 activations, or a row of fp32 lanes.")
    out.append("  constexpr int64_t word_bytes() const { return cell == Cell::kBf16 ? 4 * cols : rows; }")
    out.append("  // Read windows: data setup, the vector unit's (bf16: two), the weight loader's (bf16).")
    out.append("  constexpr int64_t num_windows() const {")
    out.append("    return cell == Cell::kBf16 ? segments + 2 + tile_windows() : segments + 1;")
    out.append("  }")
    out.append("  // Read windows of the weight loader (bf16), one for each row of a tile in a beat.")
    out.append("  constexpr int64_t tile_windows() const { return cell == Cell::kBf16 ? beat / (2 * cols) : 1; }")
    out.append("  constexpr int64_t macs_per_cycle() const { return rows * cols; }")
    out.append("  // Rows of one of the two accumulator banks: the largest block of a matmul.")
    out.append("  constexpr int64_t acc_bank_rows() const { return acc_rows / 2; }")
    out.append("  // Rows of a vector register (bf16).")
    out.append(f"  constexpr int vector_rows() const {{ return {spec['vector_steps']} * static_cast<int>(sublanes); }}")
    out.append("  constexpr int64_t tile_bytes() const { return rows * cols * element_bytes(); }")
    out.append("  // Bytes of a requantise parameter block (int8): int32 bias, int32 multiplier, int8 shift a column.")
    out.append("  constexpr int64_t param_block_bytes() const { return 9 * cols; }")
    out.append("};\n")
    out.append("// One configuration of a chip, but its core.")
    out.append("struct ChipConfig {")
    out += _cpp_fields(spec["chip"])
    out.append("};\n")
    out.append("// A chip with its core, by name.")
    out.append("struct Preset : CoreConfig {")
    out.append("  ChipConfig chip;")
    out.append("  std::string_view name;")
    out.append("  int id;")
    out.append("")
    out.append("  // Bytes of a core's own memory.")
    out.append("  constexpr uint64_t memory_bytes() const {")
    out.append(f"    return chip.memory == Memory::kAxi ? chip.dram_bytes : static_cast<uint64_t>(beat_bytes()) << {spec['hbm_beat_bits']};")
    out.append("  }")
    out.append("  // Bytes that a core reaches: its own memory, then the other core's.")
    out.append("  constexpr uint64_t reach_bytes() const { return memory_bytes() * chip.cores; }")
    out.append("  // Bytes of a flit of the links (docs/link.md).")
    out.append("  constexpr int64_t flit_bytes() const { return chip.link_bytes == 0 ? 16 : chip.link_bytes > 16 ? 64 : 4 * chip.link_bytes; }")
    out.append("};\n")
    core = [p for p in spec["core"] if p["name"] != "BeatBytes"] + [p for p in spec["core"] if p["name"] == "BeatBytes"]
    out.append(f"inline constexpr std::array<Preset, {len(spec['presets'])}> kPresets = {{{{")
    for name, p in spec["presets"].items():
        out.append(f'    {{{{{_cpp_values(core, p["core"])}}}, {{{_cpp_values(spec["chip"], p["chip"])}}}, "{name}", {p["id"]}}},')
    out.append("}};\n")
    out.append("// The preset of that name, or nullptr.")
    out.append("constexpr const Preset* FindPreset(std::string_view name) {")
    out.append("  for (const Preset& p : kPresets) {")
    out.append("    if (p.name == name) return &p;")
    out.append("  }")
    out.append("  return nullptr;")
    out.append("}\n")
    out.append("}  // namespace systole\n\n#endif  // SYSTOLE_GEN_PRESETS_H_\n")
    return "\n".join(out)


def _md(spec: dict) -> str:
    names = list(spec["presets"])
    out = ["# Presets", "", "Generated from `docs/spec/presets.yaml`. A preset is a chip with its core.", ""]
    for part, title in (("core", "core"), ("chip", "chip")):
        out.append(f"| {title} | " + " | ".join(f"`{n}`" for n in names) + " | meaning |")
        out.append("|---|" + "---:|" * len(names) + "---|")
        for p in spec[part]:
            row = " | ".join(str(spec["presets"][n][part][p["name"]]) for n in names)
            out.append(f"| `{p['name']}` | {row} | {p['doc']} |")
        out.append("")
    for n in names:
        out.append(f"- `{n}`: {spec['presets'][n]['doc']}")
    for title, items in (("Cells", "cells"), ("Memories", "memories")):
        out += ["", f"{title}:", ""]
        for item in spec[items]:
            out.append(f"- `{item['name']}`: {item['doc']}")
    out += ["", "A configuration is legal when (`systole_cfg_check` stops the elaboration of any other):", ""]
    for rule in spec["rules"]:
        out.append(f"- {rule['say']}.")
    return "\n".join(out) + "\n"


def load(root: pathlib.Path) -> dict:
    """The presets, and from the HBM's table the bits of a beat's number."""
    spec = common.load(root, SOURCE)
    spec["vector_steps"] = next(c["value"] for c in common.load(root, "vpu.yaml")["constants"] if c["name"] == "vector_steps")
    spec["hbm_beat_bits"] = common.load(root, "hbm.yaml")["address_map"]["beat_bits"]
    for name, preset in spec["presets"].items():
        for part in ("core", "chip"):
            wanted, given = {p["name"] for p in spec[part]}, set(preset.get(part) or ())
            if wanted != given:
                texts = [f"{text} {', '.join(sorted(names))}" for text, names in (("lacks", wanted - given), ("has unknown", given - wanted)) if names]
                raise ValueError(f"{SOURCE}: preset {name}: {part} {' and '.join(texts)}")
    return spec


def generate(root: pathlib.Path) -> dict:
    spec = load(root)
    for name, p in spec["presets"].items():
        if broken := broken_rule(spec, p):
            raise ValueError(f"preset {name}: wanted: {broken}")
    return {
        "rtl/gen/systole_presets_pkg.sv": _sv(spec),
        "rtl/gen/systole_cfg_check.sv": _sv_check(spec),
        "host/include/systole/gen/presets.h": _cpp(spec),
        "docs/reference/presets.md": _md(spec),
    }
