# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/spec/hbm.yaml -> SystemVerilog package, C++ header, reference page."""

import pathlib

from . import common

SOURCE = "hbm.yaml"


def _forward(spec: dict) -> dict:
    """(name, bit) -> mask over the bits of k, for every bit of every field."""
    masks = {}
    for s in spec["address_map"]["slices"]:
        for b in range(s["bits"]):
            masks[s["name"], b] = 1 << (s["lsb"] + b)
    for h in spec["address_map"]["hashes"]:
        masks[h["name"], h["bit"]] = sum(1 << b for b in h["xor"])
    return masks


def _inverse(masks: dict, bits: int) -> list:
    """For each bit of k the fields' bits whose XOR it is (Gauss over GF(2)). Raises if the map is not one-to-one."""
    keys = list(masks)
    if len(keys) != bits:
        raise ValueError(f"hbm.yaml: the map has {len(keys)} bits of fields for {bits} bits of k")
    rows = [[masks[key], 1 << i] for i, key in enumerate(keys)]
    for b in range(bits):
        pivot = next((r for r in range(b, bits) if rows[r][0] >> b & 1), None)
        if pivot is None:
            raise ValueError("hbm.yaml: the address map is not one-to-one")
        rows[b], rows[pivot] = rows[pivot], rows[b]
        for r in range(bits):
            if r != b and rows[r][0] >> b & 1:
                rows[r][0] ^= rows[b][0]
                rows[r][1] ^= rows[b][1]
    return [[keys[i] for i in range(bits) if rows[b][1] >> i & 1] for b in range(bits)]


def _geometry(spec: dict) -> dict:
    g = {x["name"]: x["value"] for x in spec["geometry"]}
    g["banks"] = g["bank_groups"] * g["banks_per_group"]
    g["cols"] = g["page_bytes"] // g["burst_bytes"]
    return g


def _widths(spec: dict) -> dict:
    g = _geometry(spec)
    w = {"bank": common.clog2(g["banks"]), "row": common.clog2(g["rows"]), "col": common.clog2(g["cols"]), "group": 1}
    masks = _forward(spec)
    for name, bits in w.items():
        if [b for n, b in sorted(masks) if n == name] != list(range(bits)):
            raise ValueError(f"hbm.yaml: field {name} must have the bits 0..{bits - 1}")
    return w


def _sv(spec: dict) -> str:
    g, w, masks = _geometry(spec), _widths(spec), _forward(spec)
    bits = spec["address_map"]["beat_bits"]
    out = [common.banner("//", SOURCE), "package systole_hbm_pkg;\n"]
    out.append("  // Geometry of a pseudo-channel.")
    for x in spec["geometry"]:
        if x["name"] in ("rows", "page_bytes"):
            continue  # RowBits and ColBits say it
        out.append(f"  localparam int unsigned {common.camel(x['name'])} = {x['value']};  // {x['doc']}")
    out.append("  localparam int unsigned Banks = BankGroups * BanksPerGroup;")
    out.append(f"  localparam int unsigned BankBits = {w['bank']};  // {{bank group, bank}}")
    out.append(f"  localparam int unsigned BgBits = {common.clog2(g['bank_groups'])};")
    out.append(f"  localparam int unsigned RowBits = {w['row']};")
    out.append(f"  localparam int unsigned ColBits = {w['col']};")
    out.append(f"  localparam int unsigned BeatBits = {bits};  // of a beat's number: capacity is 2**BeatBits beats\n")
    for bus in ("row", "col"):
        cmds = spec["commands"][bus]
        cmd_bits = common.clog2(len(cmds))
        out.append(f"  typedef enum logic [{cmd_bits - 1}:0] {{")
        for i, c in enumerate(cmds):
            comma = "," if i < len(cmds) - 1 else ""
            out.append(f"    {common.camel(bus)}{common.camel(c['name'])} = {cmd_bits}'d{c['code']}{comma}  // {c['doc']}")
        out.append(f"  }} {bus}_cmd_e;\n")
    out.append("  // Timing in cycles; HbmTiming holds the table's values.")
    out.append("  typedef struct packed {")
    for t in spec["timings"]:
        out.append(f"    logic [15:0] {t['name'].lower()};  // {t['doc']}")
    out.append("  } timing_t;\n")
    out.append("  localparam timing_t HbmTiming = '{")
    for i, t in enumerate(spec["timings"]):
        comma = "," if i < len(spec["timings"]) - 1 else ""
        out.append(f"    {t['name'].lower()}: 16'd{t['value']}{comma}")
    out.append("  };\n")
    out.append("  // Refreshes of a bank that may be owed or done in advance.")
    out.append(f"  localparam int unsigned HbmRefreshPostpone = {spec['refresh_postpone']};\n")
    out.append("  // Where a beat lives.")
    out.append("  typedef struct packed {")
    out.append("    logic                group;  // half of the pseudo-channels")
    out.append("    logic [BankBits-1:0] bank;   // {bank group, bank}")
    out.append("    logic [RowBits-1:0]  row;")
    out.append("    logic [ColBits-1:0]  col;")
    out.append("  } loc_t;\n")
    out.append("  // Address map: k is the byte address divided by the bytes of a beat.")
    out.append("  function automatic loc_t locate(logic [BeatBits-1:0] k);")
    out.append("    loc_t l;")
    for s in spec["address_map"]["slices"]:
        out.append(f"    l.{s['name']} = k[{s['lsb'] + s['bits'] - 1}:{s['lsb']}];")
    for h in spec["address_map"]["hashes"]:
        index = "" if w[h["name"]] == 1 else f"[{h['bit']}]"
        mask = masks[h["name"], h["bit"]]
        out.append(f"    l.{h['name']}{index} = ^(k & {bits}'h{mask:07X});  // {h['doc']}")
    out.append("    return l;")
    out.append("  endfunction\n")
    out.append("  // The group alone.")
    out.append("  function automatic logic group_of(logic [BeatBits-1:0] k);")
    out.append(f"    return ^(k & {bits}'h{masks['group', 0]:07X});")
    out.append("  endfunction\n")
    out.append("  // What happened this cycle, for the performance counters. A command counts once a pseudo-channel.")
    out.append("  typedef struct packed {")
    out.append("    logic       rd_beat;     // a read response was delivered")
    out.append("    logic       wr_beat;     // a write was accepted")
    out.append("    logic [7:0] columns;     // RD and WR commands")
    out.append("    logic [7:0] activates;   // ACT commands (columns - activates are row hits)")
    out.append("    logic [7:0] refreshing;  // pseudo-channels in which a refresh keeps requests waiting")
    out.append("  } perf_t;\n")
    out.append("endpackage\n")
    return "\n".join(out)


def _cpp(spec: dict) -> str:
    g, masks = _geometry(spec), _forward(spec)
    bits = spec["address_map"]["beat_bits"]
    inverse = _inverse(masks, bits)
    out = [common.banner("//", SOURCE)]
    out.append("#ifndef SYSTOLE_GEN_HBM_H_\n#define SYSTOLE_GEN_HBM_H_\n")
    out.append("#include <array>\n#include <cstdint>\n#include <string_view>\n")
    out.append("namespace systole::hbm {\n")
    for x in spec["geometry"]:
        out.append(f"inline constexpr int k{common.camel(x['name'])} = {x['value']};  // {x['doc']}")
    out.append("inline constexpr int kBanks = kBankGroups * kBanksPerGroup;")
    out.append("inline constexpr int kCols = kPageBytes / kBurstBytes;")
    out.append(f"inline constexpr int kBeatBits = {bits};  // capacity is 2^kBeatBits beats")
    out.append(f"inline constexpr int kClockPs = {spec['clock_ps']};\n")
    for bus in ("row", "col"):
        out.append(f"enum class {common.camel(bus)}Cmd : uint8_t {{")
        for c in spec["commands"][bus]:
            out.append(f"  k{common.camel(c['name'])} = {c['code']},  // {c['doc']}")
        out.append("};\n")
    out.append("// Timing in cycles; the defaults are the table's values.")
    out.append("struct Timing {")
    for t in spec["timings"]:
        out.append(f"  int {t['name']} = {t['value']};  // {t['doc']}")
    out.append("};\n")
    n = len(spec["timings"])
    out.append("struct TimingField {\n  std::string_view name;\n  int Timing::*value;\n};")
    out.append(f"inline constexpr std::array<TimingField, {n}> kTimingFields = {{{{")
    out += [f'    {{"{t["name"]}", &Timing::{t["name"]}}},' for t in spec["timings"]]
    out.append("}};")
    out.append(f"inline constexpr int kRefreshPostpone = {spec['refresh_postpone']};  // of a bank, owed or in advance\n")
    out.append("// Where a beat lives: `group` is the lower or upper half of the pseudo-channels, `bank` {bank group, bank}.")
    out.append("struct Location {\n  uint32_t group, bank, row, col;\n};\n")
    out.append("inline constexpr int BeatBytes(int pcs) { return kPhyBytes * pcs; }")
    out.append("inline constexpr uint64_t CapacityBytes(int pcs) {")
    out.append("  return static_cast<uint64_t>(BeatBytes(pcs)) << kBeatBits;\n}\n")
    out.append("// Address map: k is the byte address divided by the bytes of a beat.")
    out.append("inline Location Locate(uint32_t k) {")
    terms = {}
    for s in spec["address_map"]["slices"]:
        terms[s["name"]] = [f"(k >> {s['lsb']} & 0x{(1 << s['bits']) - 1:X}u)"]
    for h in spec["address_map"]["hashes"]:
        term = f"static_cast<uint32_t>(__builtin_parity(k & 0x{masks[h['name'], h['bit']]:07X}u))"
        terms.setdefault(h["name"], []).append(f"({term} << {h['bit']})" if h["bit"] else term)
    out.append("  Location l;")
    for name in ("group", "bank", "row", "col"):
        out.append(f"  l.{name} = " + " |\n           ".join(terms[name]) + ";")
    out.append("  return l;\n}\n")
    out.append("// The beat at a location: the inverse of Locate.")
    out.append("inline uint32_t BeatAt(const Location& l) {")
    slices = spec["address_map"]["slices"]
    out.append("  uint32_t k = " + " | ".join(f"l.{x['name']} << {x['lsb']}" for x in slices) + ";")
    sliced = {x["lsb"] + i for x in slices for i in range(x["bits"])}
    for b in sorted(set(range(bits)) - sliced):
        per_field = {}
        for name, bit in inverse[b]:
            per_field[name] = per_field.get(name, 0) | 1 << bit
        expr = " ^\n                             ".join(f"__builtin_parity(l.{n} & 0x{m:X}u)" for n, m in per_field.items())
        out.append(f"  k |= static_cast<uint32_t>({expr})\n       << {b};")
    out.append("  return k;\n}\n")
    out.append("}  // namespace systole::hbm\n\n#endif  // SYSTOLE_GEN_HBM_H_\n")
    return "\n".join(out)


def _md(spec: dict) -> str:
    g = _geometry(spec)
    out = ["<!--", common.banner(" ", SOURCE).rstrip(), "-->", "# HBM: geometry, address map, commands, timing\n"]
    out.append("How the controller uses this: [../hbm.md](../hbm.md).\n")
    out.append("## Geometry\n\n| quantity | value | meaning |\n|---|---|---|")
    out += [f"| {x['name']} | {x['value']} | {x['doc']} |" for x in spec["geometry"]]
    size = g["banks"] * g["rows"] * g["page_bytes"] >> 20
    out.append(f"\nA pseudo-channel holds {size} MiB; HbmPcs of them hold 2^{spec['address_map']['beat_bits']} beats of 16 x HbmPcs bytes.\n")
    out.append("## Address map\n\nk = byte address / (16 x HbmPcs); address bits above k are ignored.\n")
    out.append("| field | bits of k | meaning |\n|---|---|---|")
    for s in spec["address_map"]["slices"]:
        out.append(f"| {s['name']} | {s['lsb'] + s['bits'] - 1}:{s['lsb']} | {s['doc']} |")
    for h in spec["address_map"]["hashes"]:
        out.append(f"| {h['name']}[{h['bit']}] | XOR of {', '.join(str(b) for b in h['xor'])} | {h['doc']} |")
    for bus in ("row", "col"):
        out.append(f"\n## Commands of the {'row' if bus == 'row' else 'column'} bus\n\n| code | command | meaning |\n|---|---|---|")
        out += [f"| {c['code']} | {c['name'].upper()} | {c['doc']} |" for c in spec["commands"][bus]]
    out.append(f"\n## Timing\n\nCycles of {spec['clock_ps']} ps. D: configs/HBM2_8Gb_x128.ini of DRAMsim3, the same quantity. R:\n"
               "src/dram/impl/HBM2.cpp of Ramulator 2, preset HBM2_2Gbps.\n")
    out.append("| name | cycles | from, to | source |\n|---|---|---|---|")
    out += [f"| {t['name']} | {t['value']} | {t['doc']} | {t['source']} |" for t in spec["timings"]]
    out.append(f"\nAt most {spec['refresh_postpone']} refreshes of a bank may be owed at any time, or done in advance.\n")
    return "\n".join(out)


def generate(root: pathlib.Path) -> dict:
    """Path relative to the root -> text."""
    spec = common.load(root, SOURCE)
    return {
        "rtl/gen/systole_hbm_pkg.sv": _sv(spec),
        "host/include/systole/gen/hbm.h": _cpp(spec),
        "docs/reference/hbm.md": _md(spec),
    }
