# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/spec/isa.yaml -> SystemVerilog package, C++ header, reference page."""

import pathlib

from . import common

SOURCE = "isa.yaml"


def _layout(spec: dict, op: dict) -> list:
    """Fields of a descriptor with their positions, header first."""
    lsb, out = 0, []
    for f in spec["header"] + op["fields"]:
        count = f.get("count", 1)
        out.append(dict(f, lsb=lsb, count=count, signed=f.get("signed", False)))
        lsb += f["bits"] * count
    if lsb > spec["descriptor_bits"]:
        raise ValueError(f"descriptor {op['name']} has {lsb} bits")
    # The assembler writes a flag and a field alike, and wait_mask and post_mask without their ending.
    names = {f["name"].removesuffix("_mask") for f in out}
    for flag in op.get("flags", []):
        if flag["name"] in names:
            raise ValueError(f"{op['name']}: '{flag['name']}' is both a flag and a field")
    return out


def _width(spec: dict, op: dict) -> int:
    last = _layout(spec, op)[-1]
    return last["lsb"] + last["bits"] * last["count"]


def _cells_of(spec: dict, item: dict) -> list:
    """Numbers of the cells that have an operation or a flag."""
    named = item.get("cells", [cell["name"] for cell in spec["cells"]])
    return [cell["id"] for cell in spec["cells"] if cell["name"] in named]


def _cell_mask(spec: dict, item: dict) -> int:
    return sum(1 << number for number in _cells_of(spec, item))


def _flag_mask(spec: dict, op: dict, number: int) -> int:
    """Bits of the flags that an operation has with this cell."""
    return sum(1 << f["bit"] for f in op.get("flags", []) if number in _cells_of(spec, f))


def _sv_field(f: dict) -> str:
    if f["count"] > 1:
        return f"logic [{f['count'] - 1}:0][{f['bits'] - 1}:0] {f['name']}"
    sign = "signed " if f["signed"] else ""
    return f"logic {sign}[{f['bits'] - 1}:0] {f['name']}"


def _sv_has(spec: dict, op: dict) -> str:
    cells = _cells_of(spec, op)
    if op.get("links"):
        if len(cells) != len(spec["cells"]):
            raise ValueError(f"{op['name']}: both cells and links")
        return "links"
    if len(cells) == len(spec["cells"]):
        return "1'b1"
    return " || ".join(f"kind == {number}" for number in cells)


def _sv(spec: dict) -> str:
    bits = spec["descriptor_bits"]
    out = [common.banner("//", SOURCE), "package systole_isa_pkg;\n"]
    out.append(f"  localparam int unsigned IsaVersion = {spec['version']};")
    out.append(f"  localparam int unsigned DescBits = {bits};")
    out.append(f"  localparam int unsigned NumFlags = {spec['num_flags']};")
    out.append(f"  localparam int unsigned PeerFlags = {spec['peer_flags']};  // the last ones: two cores' chips post them to the other core")
    out.append(f"  localparam int unsigned LinkFlags = {spec['link_flags']};  // those before: in chips with links only packets post them")
    out.append(f"  localparam int unsigned FlagBits = {spec['flag_bits']};")
    out.append(f"  localparam int unsigned NumQueues = {len(spec['queues'])};\n")
    out.append(f"  typedef logic [{bits - 1}:0] desc_t;\n")
    for q in spec["queues"]:
        out.append(f"  localparam int unsigned Queue{common.camel(q['name'])} = {q['id']};  // {q['doc']}")
    out.append("\n  typedef enum logic [7:0] {")
    ops = spec["opcodes"]
    for i, op in enumerate(ops):
        comma = "," if i < len(ops) - 1 else ""
        out.append(f"    Op{common.camel(op['name'])} = 8'h{op['opcode']:02X}{comma}  // {op['doc']}")
    out.append("  } opcode_e;\n")
    out.append("  typedef enum logic [3:0] {")
    faults = spec["faults"]
    for i, f in enumerate(faults):
        comma = "," if i < len(faults) - 1 else ""
        out.append(f"    Fault{common.camel(f['name'])} = 4'd{f['code']}{comma}  // {f['doc']}")
    out.append("  } fault_e;\n")
    header = {"name": "header", "fields": []}
    for op in [header] + ops:
        layout = _layout(spec, op)
        unused = bits - _width(spec, op)
        out.append("  typedef struct packed {")
        if unused:
            out.append(f"    logic [{unused - 1}:0] unused;")
        for f in reversed(layout):
            out.append(f"    {_sv_field(f)};  // [{f['lsb']}] {f['doc']}")
        out.append(f"  }} {op['name']}_desc_t;\n")
    for op in ops:
        for f in op.get("flags", []):
            name = common.camel(op["name"]) + common.camel(f["name"])
            out.append(f"  localparam int unsigned Flag{name} = {f['bit']};  // {f['doc']}")
    out.append("")
    out.append("  // High when a core of this cell, of a chip with links or without, has the opcode.")
    out.append("  function automatic logic has_opcode(logic [7:0] opcode, int unsigned kind, logic links);")
    out.append("    case (opcode)")
    for op in ops:
        out.append(f"      Op{common.camel(op['name'])}: return {_sv_has(spec, op)};")
    out.append("      default: return 1'b0;")
    out.append("    endcase")
    out.append("  endfunction\n")
    out.append("  // Queue of an opcode; NumQueues = the sequencer itself or unknown.")
    out.append("  function automatic logic [2:0] queue_of(logic [7:0] opcode);")
    out.append("    case (opcode)")
    for op in ops:
        if op["queue"] != "none":
            out.append(
                f"      Op{common.camel(op['name'])}: return 3'(Queue{common.camel(op['queue'])});")
    out.append("      default: return 3'(NumQueues);")
    out.append("    endcase")
    out.append("  endfunction\n")
    out.append("  // High when a bit or flag that the opcode does not use with this cell is set; 0 for an opcode that it lacks.")
    out.append("  function automatic logic unused_bits_set(desc_t d, int unsigned kind, logic links);")
    out.append("    logic [7:0] flags;  // used")
    out.append("    logic       bits;")
    out.append("    case (d[7:0])")
    for op in ops:
        width = _width(spec, op)
        high = f"d[{bits - 1}:{width}] != '0" if width < bits else "1'b0"
        masks = {number: _flag_mask(spec, op, number) for number in _cells_of(spec, op)}
        values = sorted(set(masks.values()))
        flags = f"8'h{values[-1]:02X}"
        if len(values) > 1:
            flags = " : ".join([f"kind == {number} ? 8'h{mask:02X}" for number, mask in list(masks.items())[:-1]]
                               + [f"8'h{list(masks.values())[-1]:02X}"])
        out.append(f"      Op{common.camel(op['name'])}: begin")
        out.append(f"        bits  = {high};")
        out.append(f"        flags = {flags};")
        out.append("      end")
    out.append("      default: begin")
    out.append("        bits  = 1'b0;")
    out.append("        flags = 8'hFF;")
    out.append("      end")
    out.append("    endcase")
    out.append("    return has_opcode(d[7:0], kind, links) && (bits || (d[15:8] & ~flags) != '0);")
    out.append("  endfunction\n")
    out.append("endpackage\n")
    return "\n".join(out)


def _cpp_type(f: dict) -> str:
    size = 32 if f["bits"] <= 32 else 64
    return f"int{size}_t" if f["signed"] else f"uint{size}_t"


def _cpp(spec: dict) -> str:
    out = [common.banner("//", SOURCE)]
    out.append("#ifndef SYSTOLE_GEN_ISA_H_\n#define SYSTOLE_GEN_ISA_H_\n")
    out.append("#include <array>\n#include <cstdint>\n#include <string_view>\n\n#include \"systole/gen/presets.h\"\n")
    out.append("namespace systole::isa {\n")
    out.append(f"inline constexpr int kVersion = {spec['version']};")
    out.append(f"inline constexpr int kDescriptorBits = {spec['descriptor_bits']};")
    out.append(f"inline constexpr int kDescriptorBytes = {spec['descriptor_bits'] // 8};")
    out.append(f"inline constexpr int kNumFlags = {spec['num_flags']};")
    out.append("// From this one on, a chip with two cores posts to the other core's.")
    out.append(f"inline constexpr int kFirstPeerFlag = {spec['num_flags'] - spec['peer_flags']};")
    out.append("// From this one to that one, only packets post the flags of a chip with links.")
    out.append(f"inline constexpr int kFirstLinkFlag = {spec['num_flags'] - spec['peer_flags'] - spec['link_flags']};")
    out.append(f"inline constexpr int kNumLinkFlags = {spec['link_flags']};")
    out.append(f"inline constexpr uint32_t kFlagMax = {(1 << spec['flag_bits']) - 1};")
    out.append(f"inline constexpr int kNumQueues = {len(spec['queues'])};\n")
    out.append("// A descriptor as it lies in memory: little endian, bit 0 of word 0 first.")
    out.append(f"using Descriptor = std::array<uint64_t, {spec['descriptor_bits'] // 64}>;\n")
    out.append("enum class Queue : uint8_t {")
    for q in spec["queues"]:
        out.append(f"  k{common.camel(q['name'])} = {q['id']},  // {q['doc']}")
    out.append(f"  kNone = {len(spec['queues'])},  // the sequencer itself")
    out.append("};\n")
    names = ", ".join(f'"{q["name"]}"' for q in spec["queues"])
    out.append(f"inline constexpr std::array<std::string_view, {len(spec['queues'])}> kQueueNames = {{{names}}};\n")
    out.append("enum class Opcode : uint8_t {")
    for op in spec["opcodes"]:
        out.append(f"  k{common.camel(op['name'])} = 0x{op['opcode']:02X},  // {op['doc']}")
    out.append("};\n")
    out.append("enum class Fault : uint8_t {")
    for f in spec["faults"]:
        out.append(f"  k{common.camel(f['name'])} = {f['code']},  // {f['doc']}")
    out.append("};\n")
    out.append("struct FaultInfo {\n  std::string_view name;\n  std::string_view doc;\n};")
    out.append(f"inline constexpr std::array<FaultInfo, {len(spec['faults'])}> kFaults = {{{{")
    for f in spec["faults"]:
        out.append(f'    {{"{f["name"]}", "{f["doc"]}"}},')
    out.append("}};\n")
    out.append("""// Reads or writes `bits` bits from bit `lsb` on.
constexpr uint64_t GetBits(const Descriptor& d, int lsb, int bits) {
  uint64_t v = d[lsb / 64] >> (lsb % 64);
  if (lsb % 64 + bits > 64) v |= d[lsb / 64 + 1] << (64 - lsb % 64);
  return bits == 64 ? v : v & ((uint64_t{1} << bits) - 1);
}
constexpr int64_t GetSignedBits(const Descriptor& d, int lsb, int bits) {
  return static_cast<int64_t>(GetBits(d, lsb, bits) << (64 - bits)) >> (64 - bits);
}
constexpr void PutBits(Descriptor& d, int lsb, int bits, uint64_t value) {
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  value &= mask;
  d[lsb / 64] = (d[lsb / 64] & ~(mask << (lsb % 64))) | (value << (lsb % 64));
  if (lsb % 64 + bits > 64) {
    const int low = 64 - lsb % 64;
    d[lsb / 64 + 1] = (d[lsb / 64 + 1] & ~(mask >> low)) | (value >> low);
  }
}
""")
    out.append("// What every descriptor begins with.")
    out.append("struct Header {")
    for f in spec["header"]:
        size = 8 if f["bits"] <= 8 else 16 if f["bits"] <= 16 else 32
        out.append(f"  uint{size}_t {f['name']} = 0;  // {f['doc']}")
    out.append("};\n")
    for op in spec["opcodes"]:
        layout = _layout(spec, op)
        body = layout[len(spec["header"]):]
        name = common.camel(op["name"])
        out.append(f"// {op['doc']}.")
        out.append(f"struct {name} {{")
        out.append(f"  static constexpr Opcode kOpcode = Opcode::k{name};")
        for f in op.get("flags", []):
            out.append(f"  static constexpr uint8_t k{common.camel(f['name'])} = {1 << f['bit']};  // {f['doc']}")
        out.append(f"  Header header = {{static_cast<uint8_t>(kOpcode)}};")
        for f in body:
            if f["count"] > 1:
                out.append(f"  std::array<{_cpp_type(f)}, {f['count']}> {f['name']} = {{}};  // {f['doc']}")
            else:
                out.append(f"  {_cpp_type(f)} {f['name']} = 0;  // {f['doc']}")
        out.append("")
        out.append("  constexpr Descriptor Encode() const {")
        out.append("    Descriptor d{};")
        for f in layout:
            ref = f"header.{f['name']}" if f in layout[:len(spec["header"])] else f["name"]
            for i in range(f["count"]):
                src = f"{ref}[{i}]" if f["count"] > 1 else ref
                out.append(f"    PutBits(d, {f['lsb'] + i * f['bits']}, {f['bits']}, static_cast<uint64_t>({src}));")
        out.append("    return d;")
        out.append("  }")
        out.append(f"  static constexpr {name} Decode(const Descriptor& d) {{")
        out.append(f"    {name} r;")
        for f in layout:
            in_header = f in layout[:len(spec["header"])]
            ref = f"r.header.{f['name']}" if in_header else f"r.{f['name']}"
            ctype = f"decltype({ref})"
            get = "GetSignedBits" if f["signed"] else "GetBits"
            for i in range(f["count"]):
                dst = f"{ref}[{i}]" if f["count"] > 1 else ref
                ctype = _cpp_type(f) if f["count"] > 1 else f"decltype({ref})"
                out.append(f"    {dst} = static_cast<{ctype}>({get}(d, {f['lsb'] + i * f['bits']}, {f['bits']}));")
        out.append("    return r;")
        out.append("  }")
        out.append("  // True when every field fits its width: Decode(Encode()) gives the same back.")
        out.append("  constexpr bool Fits() const {")
        out.append(f"    const {name} r = Decode(Encode());")
        terms = []
        for f in body:
            for i in range(f["count"]):
                suffix = f"[{i}]" if f["count"] > 1 else ""
                terms.append(f"r.{f['name']}{suffix} == {f['name']}{suffix}")
        out.append("    (void)r;")
        out.append("    return " + (" &&\n           ".join(terms) if terms else "true") + ";")
        out.append("  }")
        out.append("};\n")
    out.append("// Tables for the assembler and the disassembler.")
    out.append("""struct FieldInfo {
  std::string_view name;
  int lsb;
  int bits;
  int count;
  bool is_signed;
  std::string_view doc;
};
struct FlagInfo {
  std::string_view name;
  int bit;
  std::string_view doc;
  uint8_t cells;  // bit n: cores of cell n have it

  constexpr bool Has(Cell cell) const { return (cells >> static_cast<int>(cell) & 1) != 0; }
};
struct OpInfo {
  std::string_view name;
  Opcode opcode;
  Queue queue;
  std::string_view doc;
  const FieldInfo* fields;
  int num_fields;
  const FlagInfo* flags;
  int num_flags;
  int width;      // bits used; the rest must be zero
  uint8_t cells;  // bit n: cores of cell n have it
  bool links;     // only cores of chips with links have it

  // with_links: the chip has links.
  constexpr bool Has(Cell cell, bool with_links) const {
    return (cells >> static_cast<int>(cell) & 1) != 0 && (!links || with_links);
  }
  // Bits of the flags that it has on cores of this cell.
  constexpr uint8_t FlagMask(Cell cell) const {
    int mask = 0;
    for (int i = 0; i < num_flags; ++i) mask |= flags[i].Has(cell) ? 1 << flags[i].bit : 0;
    return static_cast<uint8_t>(mask);
  }
};
""")
    for op in spec["opcodes"]:
        name = common.camel(op["name"])
        body = _layout(spec, op)[len(spec["header"]):]
        if body:
            out.append(f"inline constexpr FieldInfo k{name}Fields[] = {{")
            for f in body:
                sign = "true" if f["signed"] else "false"
                out.append(f'    {{"{f["name"]}", {f["lsb"]}, {f["bits"]}, {f["count"]}, {sign}, "{f["doc"]}"}},')
            out.append("};")
        if op.get("flags"):
            out.append(f"inline constexpr FlagInfo k{name}Flags[] = {{")
            for f in op["flags"]:
                out.append(f'    {{"{f["name"]}", {f["bit"]}, "{f["doc"]}", {_cell_mask(spec, f)}}},')
            out.append("};")
    out.append(f"inline constexpr std::array<OpInfo, {len(spec['opcodes'])}> kOps = {{{{")
    for op in spec["opcodes"]:
        name = common.camel(op["name"])
        nf, ng = len(op["fields"]), len(op.get("flags", []))
        out.append(
            f'    {{"{op["name"]}", Opcode::k{name}, Queue::k{common.camel(op["queue"])}, "{op["doc"]}",\n'
            f'     {f"k{name}Fields" if nf else "nullptr"}, {nf}, {f"k{name}Flags" if ng else "nullptr"}, {ng}, {_width(spec, op)}, {_cell_mask(spec, op)}, {"true" if op.get("links") else "false"}}},')
    out.append("}};\n")
    out.append("// The operation of that opcode on a core of that preset, or nullptr.")
    out.append("constexpr const OpInfo* FindOp(uint8_t opcode, const Preset& preset) {")
    out.append("  for (const OpInfo& op : kOps) {")
    out.append("    if (static_cast<uint8_t>(op.opcode) == opcode && op.Has(preset.cell, preset.chip.link_bytes != 0)) return &op;")
    out.append("  }")
    out.append("  return nullptr;")
    out.append("}\n")
    out.append("// The operation of that opcode on any core, or nullptr.")
    out.append("constexpr const OpInfo* FindOp(uint8_t opcode) {")
    out.append("  for (const OpInfo& op : kOps) {")
    out.append("    if (static_cast<uint8_t>(op.opcode) == opcode) return &op;")
    out.append("  }")
    out.append("  return nullptr;")
    out.append("}\n")
    out.append("}  // namespace systole::isa\n\n#endif  // SYSTOLE_GEN_ISA_H_\n")
    return "\n".join(out)


def _md_cells(item: dict) -> str:
    if item.get("links"):
        return " Chips with links only."
    return f" Cell {', '.join(item['cells'])} only." if "cells" in item else ""


def _md(spec: dict) -> str:
    out = ["# Descriptor reference", "",
           f"Generated from `docs/spec/isa.yaml`, ISA version {spec['version']}. A descriptor has "
           f"{spec['descriptor_bits']} bits; what it does is told in [isa.md](../isa.md).", ""]
    out += ["## Queues", "", "| id | queue | work |", "|---:|---|---|"]
    out += [f"| {q['id']} | `{q['name']}` | {q['doc']} |" for q in spec["queues"]]
    out += ["", "## Header", "", "| bits | field | meaning |", "|---|---|---|"]
    for f in _layout(spec, {"name": "header", "fields": []}):
        out.append(f"| {f['lsb'] + f['bits'] - 1}:{f['lsb']} | `{f['name']}` | {f['doc']} |")
    for op in spec["opcodes"]:
        out += ["", f"## `{op['name']}` (0x{op['opcode']:02X}, queue {op['queue']})", "", op["doc"] + "." + _md_cells(op), ""]
        if op.get("flags"):
            out += ["| flag | bit | meaning |", "|---|---:|---|"]
            out += [f"| `{f['name']}` | {f['bit']} | {f['doc']}{_md_cells(f)} |" for f in op["flags"]] + [""]
        if op["fields"]:
            out += ["| bits | field | signed | meaning |", "|---|---|---|---|"]
            for f in _layout(spec, op)[len(spec["header"]):]:
                top = f["lsb"] + f["bits"] * f["count"] - 1
                name = f"{f['name']}[{f['count']}]" if f["count"] > 1 else f["name"]
                out.append(f"| {top}:{f['lsb']} | `{name}` | {'yes' if f['signed'] else ''} | {f['doc']} |")
    out += ["", "## Faults", "", "| code | name | cause |", "|---:|---|---|"]
    out += [f"| {f['code']} | `{f['name']}` | {f['doc']} |" for f in spec["faults"]]
    return "\n".join(out) + "\n"


def generate(root: pathlib.Path) -> dict:
    spec = common.load(root, SOURCE)
    spec["cells"] = common.load(root, "presets.yaml")["cells"]
    return {
        "rtl/gen/systole_isa_pkg.sv": _sv(spec),
        "host/include/systole/gen/isa.h": _cpp(spec),
        "docs/reference/isa.md": _md(spec),
    }
