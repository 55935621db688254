# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/spec/vpu.yaml -> SystemVerilog package, C++ header, reference page."""

import pathlib

from . import common

SOURCE = "vpu.yaml"
# Operand kinds: what a register field may hold.
REG_KINDS = ["none", "sdst", "ssrc", "vdst", "vfrom", "vsrc", "vrow"]
IMM_KINDS = ["none", "value", "offset", "shift", "target", "limit"]


def _check(spec: dict) -> None:
    seen = {}
    classes = {c["id"] for c in spec["classes"]}
    for x in spec["instructions"]:
        for key in (x["name"], x["op"]):
            if key in seen:
                raise ValueError(f"instruction {x['name']}: {key} is taken by {seen[key]}")
            seen[key] = x["name"]
        if x["op"] >> 4 not in classes:
            raise ValueError(f"instruction {x['name']}: opcode 0x{x['op']:02X} has no class")
        if "c" in x["operands"] and "imm" in x["operands"]:
            raise ValueError(f"instruction {x['name']}: c and imm share bits")


def _kind(x: dict, field: str) -> str:
    return x["operands"].get(field, "none")


def _class(spec: dict, x: dict) -> dict:
    return next(c for c in spec["classes"] if c["id"] == x["op"] >> 4)


def _unused_mask(spec: dict, x: dict) -> int:
    """Bits that no field of the instruction uses."""
    used = 0
    for f in spec["fields"]:
        owner = f["name"][0] if f["name"] in ("am", "bm", "cm") else f["name"]
        if owner == "op" or owner in x["operands"]:
            used |= ((1 << f["bits"]) - 1) << f["lsb"]
    return ~used & ((1 << 64) - 1)


def _sv(spec: dict) -> str:
    out = [common.banner("//", SOURCE), "package systole_vpu_pkg;\n"]
    for c in spec["constants"]:
        out.append(f"  localparam int unsigned Vpu{common.camel(c['name'])} = {c['value']};  // {c['doc']}")
    out.append("")
    for b in spec["banks"]:
        out.append(f"  localparam logic [2:0] Bank{common.camel(b['name'])} = 3'd{b['id']};  // {b['doc']}")
    out.append(f"  localparam int unsigned NumBanks = {len(spec['banks'])};\n")
    for m in spec["modes"]:
        out.append(f"  localparam logic [1:0] Mode{common.camel(m['name'])} = 2'd{m['id']};  // {m['doc']}")
    out.append("\n  typedef enum logic [3:0] {")
    for i, c in enumerate(spec["classes"]):
        comma = "," if i < len(spec["classes"]) - 1 else ""
        out.append(f"    Class{common.camel(c['name'])} = 4'h{c['id']:X}{comma}  // {c['doc']}")
    out.append("  } vpu_class_e;\n")
    out.append("  typedef enum logic [7:0] {")
    ops = spec["instructions"]
    for i, x in enumerate(ops):
        comma = "," if i < len(ops) - 1 else ""
        out.append(f"    Vop{common.camel(x['name'])} = 8'h{x['op']:02X}{comma}  // {x['doc']}")
    out.append("  } vpu_op_e;\n")
    out.append("  // An instruction as it lies in memory; c and its mode share the immediate's place.")
    out.append("  typedef struct packed {")
    out.append("    logic signed [31:0] imm;  // [63:32]; c is [37:32], cm [39:38]")
    out.append("    logic [1:0] unused;  // [31:30]")
    for f in reversed(spec["fields"]):
        if f["lsb"] < 32:
            out.append(f"    logic [{f['bits'] - 1}:0] {f['name']};  // [{f['lsb'] + f['bits'] - 1}:{f['lsb']}] {f['doc']}")
    out.append("  } vpu_instr_t;\n")
    out.append("  function automatic logic [5:0] vpu_c(vpu_instr_t x);\n    return x.imm[5:0];\n  endfunction")
    out.append("  function automatic logic [1:0] vpu_cm(vpu_instr_t x);\n    return x.imm[7:6];\n  endfunction\n")
    out.append("  // What a register field of an instruction holds.")
    out.append("  typedef enum logic [2:0] {")
    docs = ["must be 0", "scalar destination", "scalar source", "vector destination", "vector source in d (store)",
            "vector source with a mode", "vector source, mode 0, not the destination"]
    for i, (k, doc) in enumerate(zip(REG_KINDS, docs)):
        out.append(f"    Kind{common.camel(k)} = 3'd{i}{',' if i < len(REG_KINDS) - 1 else ''}  // {doc}")
    out.append("  } vpu_kind_e;\n")
    out.append("  typedef struct packed {")
    out.append("    logic known;  // an opcode of the table")
    out.append("    vpu_kind_e d;\n    vpu_kind_e a;\n    vpu_kind_e b;\n    vpu_kind_e c;")
    out.append("    logic imm;  // the immediate is used")
    out.append("  } vpu_use_t;\n")
    out.append("  // Which fields an opcode uses.")
    out.append("  function automatic vpu_use_t vpu_use(logic [7:0] op);")
    out.append("    case (op)")
    groups = {}
    for x in ops:
        key = tuple(_kind(x, f) for f in "dabc") + ("1" if "imm" in x["operands"] else "0",)
        groups.setdefault(key, []).append(x["name"])
    for key, names in groups.items():
        labels = ", ".join(f"Vop{common.camel(n)}" for n in names)
        kinds = ", ".join(f"Kind{common.camel(k)}" for k in key[:4])
        out.append(f"      {labels}:\n        return {{1'b1, {kinds}, 1'b{key[4]}}};")
    out.append("      default: return '0;")
    out.append("    endcase")
    out.append("  endfunction\n")
    out.append("""  // Bank of a vector register: the unit that writes it; 5 and above: no such register.
  function automatic logic [2:0] vpu_bank(logic [5:0] v);
    return v[5:3];
  endfunction

  // High when a source's register number or mode is illegal.
  function automatic logic vpu_bad_source(vpu_kind_e kind, logic [5:0] r, logic [1:0] mode, logic [5:0] d,
                                          logic scalar_class);
    case (kind)
      KindNone: return r != '0 || mode != '0;
      KindSsrc: return r[5:4] != '0 || mode != (scalar_class ? 2'd0 : ModeScalar);
      KindVsrc:
      case (mode)
        ModeRow: return r[5:3] >= 3'(NumBanks);
        ModeRow0: return r[5:3] >= 3'(NumBanks) || r == d;
        ModeScalar: return r[5:4] != '0;
        default: return 1'b1;
      endcase
      KindVrow: return mode != ModeRow || r[5:3] >= 3'(NumBanks) || r == d;
      default: return 1'b1;
    endcase
  endfunction

  // High when an instruction is illegal whatever the registers hold (fault vector_program).
  function automatic logic vpu_illegal(vpu_instr_t x, vpu_use_t u);
    logic [3:0] cls;
    logic scalar_class, bad_d, bad_c;
    logic [5:0] dst;
    cls = x.op[7:4];
    scalar_class = cls == ClassScalar || cls == ClassControl;
    case (u.d)
      KindNone: bad_d = x.d != '0;
      KindSdst: bad_d = x.d[5:4] != '0;
      KindVfrom: bad_d = x.d[5:3] >= 3'(NumBanks);
      KindVdst:
      case (cls)
        ClassLoad: bad_d = x.d[5:3] > BankLoad1;
        ClassFloat, ClassSelect, ClassInteger, ClassConvert: bad_d = x.d[5:3] != BankAlu0 && x.d[5:3] != BankAlu1;
        default: bad_d = x.d[5:3] != BankX;
      endcase
      default: bad_d = 1'b1;
    endcase
    // Without a vector destination nothing can be the destination: number 63 is no register.
    dst = u.d == KindVdst ? x.d : 6'd63;
    if (u.imm) bad_c = 1'b0;
    else bad_c = vpu_bad_source(u.c, vpu_c(x), vpu_cm(x), dst, scalar_class) || x.imm[31:8] != '0;
    return !u.known || x.unused != '0 || bad_d || bad_c || vpu_bad_source(u.a, x.a, x.am, dst, scalar_class) ||
        vpu_bad_source(u.b, x.b, x.bm, dst, scalar_class);
  endfunction
""")
    out.append("endpackage\n")
    return "\n".join(out)


def _cpp(spec: dict) -> str:
    out = [common.banner("//", SOURCE)]
    out.append("#ifndef SYSTOLE_GEN_VPU_H_\n#define SYSTOLE_GEN_VPU_H_\n")
    out.append("#include <array>\n#include <cstdint>\n#include <string_view>\n")
    out.append("namespace systole::vpu {\n")
    for c in spec["constants"]:
        out.append(f"inline constexpr int k{common.camel(c['name'])} = {c['value']};  // {c['doc']}")
    out.append("\n// Banks of vector registers; the destination's bank names the unit that executes.")
    out.append("enum class Bank : uint8_t {")
    out += [f"  k{common.camel(b['name'])} = {b['id']},  // {b['doc']}" for b in spec["banks"]]
    out.append("};\n")
    out.append("// Modes of a vector source.")
    out.append("enum class Mode : uint8_t {")
    out += [f"  k{common.camel(m['name'])} = {m['id']},  // {m['doc']}" for m in spec["modes"]]
    out.append("};\n")
    out.append("// Classes of instructions: the high nibble of the opcode.")
    out.append("enum class Class : uint8_t {")
    out += [f"  k{common.camel(c['name'])} = 0x{c['id']:X},  // {c['doc']}" for c in spec["classes"]]
    out.append("};\n")
    out.append("enum class Op : uint8_t {")
    for x in spec["instructions"]:
        out.append(f"  k{common.camel(x['name'])} = 0x{x['op']:02X},  // {x['doc']}")
    out.append("};\n")
    out.append("// What a register field holds.")
    docs = ["must be 0", "scalar destination", "scalar source", "vector destination in a bank that the class writes",
            "vector register that is read (stores)", "vector source with a mode; mode 1 must not name the destination",
            "vector source, mode 0; must not be the destination"]
    out.append("enum class Kind : uint8_t {")
    out += [f"  k{common.camel(k)},  // {d}" for k, d in zip(REG_KINDS, docs)]
    out.append("};\n")
    docs = ["must be 0", "any value", "addend of an address or index; 0 if left out", "0..31", "instruction index",
            "0..63; 0, no limit, if left out"]
    out.append("enum class ImmKind : uint8_t {")
    out += [f"  k{common.camel(k)},  // {d}" for k, d in zip(IMM_KINDS, docs)]
    out.append("};\n")
    out.append("// Left out in text where it is 0.")
    out.append("constexpr bool IsOptional(ImmKind kind) {")
    out.append("  return kind == ImmKind::kOffset || kind == ImmKind::kLimit;\n}\n")
    out.append("// An instruction, unpacked. c and imm share bits: a word is decoded into both.")
    out.append("struct Instr {")
    out.append("  Op op = static_cast<Op>(0);")
    for f in spec["fields"]:
        if f["name"] != "op":
            out.append(f"  {'int32_t' if f['name'] == 'imm' else 'uint8_t'} {f['name']} = 0;  // {f['doc']}")
    out.append("")
    out.append("  constexpr uint64_t Encode() const {")
    out.append("    uint64_t w = static_cast<uint64_t>(op);")
    for f in spec["fields"]:
        if f["name"] not in ("op", "imm"):
            out.append(f"    w |= (uint64_t{{{f['name']}}} & 0x{(1 << f['bits']) - 1:X}) << {f['lsb']};")
    out.append("    return w | uint64_t{static_cast<uint32_t>(imm)} << 32;\n  }")
    out.append("  // Fields of the immediate's place: all of imm, and c and cm from its low bits.")
    out.append("  static constexpr Instr Decode(uint64_t w) {")
    out.append("    Instr r;\n    r.op = static_cast<Op>(w & 0xFF);")
    for f in spec["fields"]:
        if f["name"] not in ("op", "imm"):
            out.append(f"    r.{f['name']} = static_cast<uint8_t>((w >> {f['lsb']}) & 0x{(1 << f['bits']) - 1:X});")
    out.append("    r.imm = static_cast<int32_t>(w >> 32);\n    return r;\n  }")
    out.append("};\n")
    out.append("""// One operand in the assembler's order: the field ('d', 'a', 'b', 'c' or 'i' for the immediate).
struct Operand {
  char field;
  Kind kind;
};
struct OpInfo {
  std::string_view name;
  Op op;
  Class cls;
  Kind d, a, b, c;
  ImmKind imm;
  int num_operands;
  std::array<Operand, 4> operands;
  uint64_t unused;  // bits that must be 0
  std::string_view doc;
};
""")
    n = len(spec["instructions"])
    out.append(f"inline constexpr std::array<OpInfo, {n}> kOps = {{{{")
    for x in spec["instructions"]:
        kinds = ", ".join(f"Kind::k{common.camel(_kind(x, f))}" for f in "dabc")
        order = ", ".join(
            f"{{'{f[0]}', Kind::k{common.camel('none' if f == 'imm' else k)}}}" for f, k in x["operands"].items())
        cls = common.camel(_class(spec, x)["name"])
        out.append(f'    {{"{x["name"]}", Op::k{common.camel(x["name"])}, Class::k{cls}, {kinds},')
        out.append(f"     ImmKind::k{common.camel(_kind(x, 'imm'))}, {len(x['operands'])}, {{{{{order}}}}},")
        out.append(f'     0x{_unused_mask(spec, x):016X}, "{x["doc"]}"}},')
    out.append("}};\n")
    out.append("""// The instruction of that opcode or name, or nullptr.
constexpr const OpInfo* FindOp(uint8_t op) {
  for (const OpInfo& info : kOps) {
    if (static_cast<uint8_t>(info.op) == op) return &info;
  }
  return nullptr;
}
constexpr const OpInfo* FindOp(std::string_view name) {
  for (const OpInfo& info : kOps) {
    if (info.name == name) return &info;
  }
  return nullptr;
}
""")
    out.append("}  // namespace systole::vpu\n\n#endif  // SYSTOLE_GEN_VPU_H_\n")
    return "\n".join(out)


def _operand_text(field: str, kind: str) -> str:
    if field == "imm":
        return f"[{kind}]" if kind in ("offset", "limit") else kind
    return ("s" if kind.startswith("s") else "v") + field


def _md(spec: dict) -> str:
    out = ["# Vector instruction reference", "", "Generated from `docs/spec/vpu.yaml`. What instructions do to the bit, "
           "faults and timing: [vpu.md](../vpu.md).", "", "| constant | value | meaning |", "|---|---:|---|"]
    out += [f"| `{c['name']}` | {c['value']} | {c['doc']} |" for c in spec["constants"]]
    out += ["", "## Banks", "", "| id | registers | unit |", "|---:|---|---|"]
    size = next(c["value"] for c in spec["constants"] if c["name"] == "bank_regs")
    out += [f"| {b['id']} | `v{size * b['id']}`..`v{size * (b['id'] + 1) - 1}` | {b['doc']} |" for b in spec["banks"]]
    out += ["", "## Fields", "", "| bits | field | meaning |", "|---|---|---|"]
    out += [f"| {f['lsb'] + f['bits'] - 1}:{f['lsb']} | `{f['name']}` | {f['doc']} |" for f in spec["fields"]]
    out += ["", "| mode | in text | operand |", "|---:|---|---|"]
    text = {"row": "`v5`", "row0": "`v5.0`", "scalar": "`s5`"}
    out += [f"| {m['id']} | {text[m['name']]} | {m['doc']} |" for m in spec["modes"]]
    for c in spec["classes"]:
        out += ["", f"## `{c['name']}` (0x{c['id']:X}0): {c['doc']}", "", "| opcode | text | does |", "|---|---|---|"]
        for x in spec["instructions"]:
            if x["op"] >> 4 == c["id"]:
                ops = ", ".join(_operand_text(f, k) for f, k in x["operands"].items())
                doc = x["doc"].replace("|", "\\|")
                out.append(f"| 0x{x['op']:02X} | `{(x['name'] + ' ' + ops).strip()}` | {doc} |")
    return "\n".join(out) + "\n"


def generate(root: pathlib.Path) -> dict:
    spec = common.load(root, SOURCE)
    _check(spec)
    return {
        "rtl/gen/systole_vpu_pkg.sv": _sv(spec),
        "host/include/systole/gen/vpu.h": _cpp(spec),
        "docs/reference/vpu.md": _md(spec),
    }
