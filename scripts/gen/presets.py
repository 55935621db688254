# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/spec/presets.yaml -> SystemVerilog package, C++ header, reference page."""

import pathlib

from . import common

SOURCE = "presets.yaml"
MAX_AXI_BYTES = 128  # the widest data bus of AXI4


def _cells(spec: dict) -> dict:
    return {cell["name"]: cell for cell in spec["cells"]}


def _word_bytes(p: dict) -> int:
    return p["Rows"] if p["Cell"] == "int8" else 4 * p["Cols"]


def _check(name: str, p: dict, cells: dict) -> None:
    def power_of_two(n):
        return n > 0 and n & (n - 1) == 0

    for key in ("Rows", "Cols", "UbBanks", "AccRows", "HbmPcs", "WfifoTiles"):
        if not power_of_two(p[key]):
            raise ValueError(f"preset {name}: {key} = {p[key]} is not a power of two")
    if p["Rows"] != p["Cols"] or not 8 <= p["Rows"] <= 256:
        raise ValueError(f"preset {name}: Rows must equal Cols and lie in 8..256")
    if p["Cell"] not in cells:
        raise ValueError(f"preset {name}: no cell {p['Cell']}; there are {', '.join(cells)}")
    if p["CellStages"] not in ((1,) if p["Cell"] == "int8" else (1, 2, 3, 4, 5)):
        raise ValueError(f"preset {name}: no {p['Cell']} cell of {p['CellStages']} stages")
    word, beat = _word_bytes(p), 16 * p["HbmPcs"]
    if p["UbBytes"] % (p["UbBanks"] * word):
        raise ValueError(f"preset {name}: UbBytes is not a whole number of bank words")
    if p["HbmPcs"] < 2 or p["AccRows"] > 8192 or p["UbBytes"] > 1 << 25:
        raise ValueError(f"preset {name}: a parameter exceeds what the ISA can address")
    if p["UbBanks"] * word < p["Segments"] * max(2 * word, beat):
        raise ValueError(f"preset {name}: too few banks for {p['Segments']} conflict-free segments")


def _sv(spec: dict) -> str:
    out = [common.banner("//", SOURCE)]
    out.append("package systole_presets_pkg;\n")
    out.append("  // Cells.")
    for cell in spec["cells"]:
        out.append(f"  localparam int unsigned Cell{common.camel(cell['name'])} = {cell['id']};  // {cell['doc']}")
    out.append("\n  // One configuration of the core. Derived sizes come from the functions below.")
    out.append("  typedef struct packed {")
    for p in spec["parameters"]:
        out.append(f"    int unsigned {p['name']};  // {p['doc']}")
    out.append("  } cfg_t;\n")
    out.append("  localparam int unsigned AddrBits = 36;  // HBM byte address")
    out.append("  localparam int unsigned UbAddrBits = 25;  // unified buffer byte address")
    out.append("  localparam int unsigned AccAddrBits = 13;  // accumulator row")
    out.append("  localparam int unsigned PcBits = 32;  // descriptor index\n")
    for name, p in spec["presets"].items():
        out.append(f"  localparam int unsigned Preset{common.camel(name)} = {p['id']};  // {p['doc']}")
    out.append("\n  function automatic cfg_t preset(int unsigned id);")
    out.append("    cfg_t c;")
    out.append("    c = '0;")
    out.append("    case (id)")
    for name, p in spec["presets"].items():
        out.append(f"      Preset{common.camel(name)}: begin")
        for q in spec["parameters"]:
            value = f"Cell{common.camel(p['Cell'])}" if q["name"] == "Cell" else p[q["name"]]
            out.append(f"        c.{q['name']} = {value};")
        out.append("      end")
    out.append("      default: c = '0;")
    out.append("    endcase")
    out.append("    return c;")
    out.append("  endfunction\n")
    functions = (
        ("beat_bytes", "Bytes of an HBM beat: the peak of all pseudo-channels in one cycle.", "16 * c.HbmPcs"),
        ("axi_bytes", "Bytes of a beat of the host's AXI4 port: an HBM beat, as far as AXI4 has such widths.",
         f"beat_bytes(c) < {MAX_AXI_BYTES} ? beat_bytes(c) : {MAX_AXI_BYTES}"),
        ("element_bytes", "Bytes of a weight or activation.",
         " : ".join([f"c.Cell == Cell{common.camel(cell['name'])} ? {cell['element_bytes']}" for cell in spec["cells"][1:]]
                    + [str(spec["cells"][0]["element_bytes"])])),
        ("word_bytes", "Bytes of a unified buffer word and of a window: a vector of int8 activations, or a row of fp32 lanes.",
         "c.Cell == CellBf16 ? 4 * c.Cols : c.Rows"),
        ("tile_bytes", "Bytes of a weight tile.", "c.Rows * c.Cols * element_bytes(c)"),
        ("num_windows", "Read windows: data setup, the vector unit's (bf16: two), the weight loader's (bf16).",
         "c.Cell == CellBf16 ? c.Segments + 3 : c.Segments + 1"),
    )
    for function, doc, value in functions:
        out.append(f"  // {doc}")
        out.append(f"  function automatic int unsigned {function}(cfg_t c);")
        out.append(f"    return {value};")
        out.append("  endfunction\n")
    out.append("endpackage\n")
    return "\n".join(out)


def _cpp(spec: dict) -> str:
    out = [common.banner("//", SOURCE)]
    out.append("#ifndef SYSTOLE_GEN_PRESETS_H_\n#define SYSTOLE_GEN_PRESETS_H_\n")
    out.append("#include <array>\n#include <cstdint>\n#include <string_view>\n")
    out.append("namespace systole {\n")
    out.append("// What multiplies and adds in the array, and with it the number format of the core.")
    out.append("enum class Cell : uint8_t {")
    for cell in spec["cells"]:
        out.append(f"  k{common.camel(cell['name'])} = {cell['id']},  // {cell['doc']}")
    out.append("};\n")
    names = ", ".join(f'"{cell["name"]}"' for cell in spec["cells"])
    out.append(f"inline constexpr std::array<std::string_view, {len(spec['cells'])}> kCellNames = {{{names}}};\n")
    out.append("// One configuration of the core.")
    out.append("struct Preset {")
    out.append("  std::string_view name;")
    out.append("  int id;")
    for p in spec["parameters"]:
        snake = "".join("_" + ch.lower() if ch.isupper() else ch for ch in p["name"]).lstrip("_")
        out.append(f"  {'Cell' if p['name'] == 'Cell' else 'int64_t'} {snake};  // {p['doc']}")
    out.append("")
    out.append("  // Bytes of an HBM beat: the peak of all pseudo-channels in one cycle; DMA alignment.")
    out.append("  constexpr int64_t beat_bytes() const { return 16 * hbm_pcs; }")
    out.append("  // Bytes of a beat of the host's AXI4 port: an HBM beat, as far as AXI4 has such widths.")
    out.append(f"  constexpr int64_t axi_bytes() const {{ return beat_bytes() < {MAX_AXI_BYTES} ? beat_bytes() : {MAX_AXI_BYTES}; }}")
    out.append("  constexpr std::string_view cell_name() const { return kCellNames[static_cast<int>(cell)]; }")
    out.append("  // Bytes of a weight or activation.")
    value = " : ".join([f"cell == Cell::k{common.camel(cell['name'])} ? {cell['element_bytes']}" for cell in spec["cells"][1:]]
                       + [str(spec["cells"][0]["element_bytes"])])
    out.append(f"  constexpr int64_t element_bytes() const {{ return {value}; }}")
    out.append("  // Bytes of a unified buffer word: a vector of int8 activations, or a row of fp32 lanes.")
    out.append("  constexpr int64_t word_bytes() const { return cell == Cell::kBf16 ? 4 * cols : rows; }")
    out.append("  // Read windows: data setup, the vector unit's (bf16: two), the weight loader's (bf16).")
    out.append("  constexpr int64_t num_windows() const { return cell == Cell::kBf16 ? segments + 3 : segments + 1; }")
    out.append("  constexpr int64_t macs_per_cycle() const { return rows * cols; }")
    out.append("  // Rows of one of the two accumulator banks: the largest block of a matmul.")
    out.append("  constexpr int64_t acc_bank_rows() const { return acc_rows / 2; }")
    out.append("  constexpr int64_t tile_bytes() const { return rows * cols * element_bytes(); }")
    out.append("  // Bytes of a requantise parameter block (int8): int32 bias, int32 multiplier, int8 shift a column.")
    out.append("  constexpr int64_t param_block_bytes() const { return 9 * cols; }")
    out.append("};\n")
    out.append(f"inline constexpr std::array<Preset, {len(spec['presets'])}> kPresets = {{{{")
    for name, p in spec["presets"].items():
        values = ", ".join(f"Cell::k{common.camel(p['Cell'])}" if q["name"] == "Cell" else str(p[q["name"]])
                           for q in spec["parameters"])
        out.append(f'    {{"{name}", {p["id"]}, {values}}},')
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
    out = ["# Presets", "", "Generated from `docs/spec/presets.yaml`.", ""]
    out.append("| parameter | " + " | ".join(f"`{n}`" for n in names) + " | meaning |")
    out.append("|---|" + "---:|" * len(names) + "---|")
    for p in spec["parameters"]:
        row = " | ".join(str(spec["presets"][n][p["name"]]) for n in names)
        out.append(f"| `{p['name']}` | {row} | {p['doc']} |")
    out.append("")
    for n in names:
        out.append(f"- `{n}`: {spec['presets'][n]['doc']}")
    out += ["", "Cells:", ""]
    for cell in spec["cells"]:
        out.append(f"- `{cell['name']}`: {cell['doc']}")
    return "\n".join(out) + "\n"


def generate(root: pathlib.Path) -> dict:
    spec = common.load(root, SOURCE)
    for name, p in spec["presets"].items():
        _check(name, p, _cells(spec))
    return {
        "rtl/gen/systole_presets_pkg.sv": _sv(spec),
        "host/include/systole/gen/presets.h": _cpp(spec),
        "docs/reference/presets.md": _md(spec),
    }
