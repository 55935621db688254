# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/spec/link.yaml -> SystemVerilog package, C++ header, reference page."""

import pathlib

from . import common

SOURCE = "link.yaml"


def _constants(spec: dict) -> dict:
    c = {x["name"]: x["value"] for x in spec["constants"]}
    if c["packet_flits"] != c["payload_flits"] + 1 or c["slice_bytes"] * 8 != spec["head_bits"] + 8 * c["crc_bytes"]:
        raise ValueError("link.yaml: head and CRC together take a slice, which is a packet's flit beside its payload")
    return c


def _places(spec: dict, name: str) -> list:
    """(field, lowest bit), in order."""
    found, lsb = [], 0
    for field in spec[name]:
        found.append((field, lsb))
        lsb += field["bits"]
    if lsb > spec["head_bits"]:
        raise ValueError(f"link.yaml: {name} has {lsb} bits, more than {spec['head_bits']}")
    return found


def _add_send(spec: dict) -> None:
    """The head's fields that a core says."""
    spec["send"] = [field for field in spec["head"] if field["name"] not in ("vc", "src_x", "src_y", "seq")]


def _crc(state: int, data: bytes, polynomial: int) -> int:
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (polynomial if state & 1 else 0)
    return state


def _crc_rows(spec: dict) -> list:
    """For each bit of the CRC the bits of a slice, XORed with the CRC so far in its lowest bits, whose XOR it becomes."""
    bits = 8 * _constants(spec)["slice_bytes"]
    columns = [_crc(0, (1 << i).to_bytes(bits // 8, "little"), spec["crc"]["polynomial"]) for i in range(bits)]
    return [sum((column >> row & 1) << i for i, column in enumerate(columns)) for row in range(32)]


def _residue(spec: dict) -> int:
    """The CRC's register after any slice with its own CRC, from start; a slice's number changes the start alone, which cancels."""
    polynomial, start = spec["crc"]["polynomial"], spec["crc"]["start"]
    data = bytes(range(12))
    return _crc(start, data + (_crc(start, data, polynomial) ^ 0xFFFFFFFF).to_bytes(4, "little"), polynomial)


def _struct(spec: dict, name: str, bits: int, type_name: str) -> list:
    places = _places(spec, name)
    used = sum(field["bits"] for field, _ in places)
    out = ["  typedef struct packed {"]
    if used < bits:
        out.append(f"    logic [{bits - used - 1}:0] zero;")
    for field, lsb in reversed(places):
        width = "kind_e" if field["name"] == "kind" else "logic" if field["bits"] == 1 else f"logic [{field['bits'] - 1}:0]"
        out.append(f"    {width} {field['name']};  // [{lsb}+:{field['bits']}] {field['doc']}")
    return [*out, f"  }} {type_name};\n"]


def _enum(spec: dict, name: str, prefix: str, type_name: str, bits: int) -> list:
    items = spec[name]
    out = [f"  typedef enum logic [{bits - 1}:0] {{"]
    for i, x in enumerate(items):
        comma = "," if i < len(items) - 1 else ""
        out.append(f"    {prefix}{common.camel(x['name'])} = {bits}'d{x['id']}{comma}  // {x['doc']}")
    return [*out, f"  }} {type_name};\n"]


def package(spec: dict) -> str:
    """The SystemVerilog package; proofs have one of smaller fields."""
    _add_send(spec)
    widths = {f["name"]: f["bits"] for f in spec["head"] + spec["control"] + spec["info"]}
    out = [common.banner("//", SOURCE), "package systole_link_pkg;\n"]
    for x in spec["constants"]:
        out.append(f"  localparam int unsigned {common.camel(x['name'])} = {x['value']};  // {x['doc']}")
    for name in ("length", "dst_x", "address", "seq", "nack", "limit0", "identity"):
        named = {"dst_x": "coordinate", "limit0": "credit"}.get(name, name)
        out.append(f"  localparam int unsigned {common.camel(named)}Bits = {widths[name]};")
    out.append(f"  localparam int unsigned HeadBits = {spec['head_bits']};\n")
    out += _enum(spec, "kinds", "Kind", "kind_e", widths["kind"])
    out += _enum(spec, "tags", "Tag", "tag_e", 2)
    out += _enum(spec, "causes", "Cause", "cause_e", 2)
    for x in spec["codes"]:
        out.append(f"  localparam logic [7:0] Code{common.camel(x['name'])} = 8'h{x['value']:02X};  // {x['doc']}")
    out.append("")
    out += _struct(spec, "head", spec["head_bits"], "head_t")
    out += _struct(spec, "control", spec["head_bits"], "control_t")
    out += _struct(spec, "info", 8, "info_t")
    out.append("  // What a core says of a packet that it sends; the rest of the head is the router's and the link's.")
    out += _struct(spec, "send", sum(f["bits"] for f in spec["send"]), "send_t")
    out.append("  // What happened on a link this cycle, for the performance counters.")
    out += _struct(spec, "events", sum(f["bits"] for f in spec["events"]), "events_t")
    out.append("  // CRC-32C of a slice: bit i becomes the XOR of the bits in row i of the slice, whose lowest bits are XORed with the CRC so far.")
    out.append(f"  localparam logic [31:0] CrcStart = 32'h{spec['crc']['start']:08X};")
    out.append(f"  localparam logic [31:0] CrcResidue = 32'h{_residue(spec):08X};  // after a slice's own CRC")
    out.append("  localparam logic [31:0][127:0] CrcRows = {")
    rows = list(reversed(_crc_rows(spec)))
    for i, row in enumerate(rows):
        text = f"{row:032X}"
        out.append(f"    128'h{'_'.join(text[k:k + 8] for k in range(0, 32, 8))}{',' if i < 31 else ''}")
    out.append("  };\n")
    out.append("endpackage\n")
    return "\n".join(out)


def _cpp(spec: dict) -> str:
    out = [common.banner("//", SOURCE), "#ifndef SYSTOLE_GEN_LINK_H_\n#define SYSTOLE_GEN_LINK_H_\n", "#include <cstdint>\n",
           "namespace systole::link {\n"]
    for x in spec["constants"]:
        out.append(f"inline constexpr int k{common.camel(x['name'])} = {x['value']};  // {x['doc']}")
    out.append(f"inline constexpr int kHeadBytes = {spec['head_bits'] // 8};")
    out.append(f"inline constexpr uint32_t kCrcPolynomial = 0x{spec['crc']['polynomial']:08X}u;  // reflected")
    out.append(f"inline constexpr uint32_t kCrcStart = 0x{spec['crc']['start']:08X}u;  // XORed with the slice's number\n")
    for name, title in (("kinds", "Kind"), ("tags", "Tag"), ("causes", "Cause")):
        out.append(f"enum class {title} : uint8_t {{")
        out += [f"  k{common.camel(x['name'])} = {x['id']},  // {x['doc']}" for x in spec[name]]
        out.append("};\n")
    for x in spec["codes"]:
        out.append(f"inline constexpr uint8_t k{common.camel(x['name'])} = 0x{x['value']:02X};  // {x['doc']}")
    out.append("\n// A field: its lowest bit and its bits, bit 0 the lowest of byte 0.\nstruct Field {\n  int lsb, bits;\n};")
    for name in ("head", "send", "control", "info", "events"):
        out.append(f"namespace {name} {{")
        for field, lsb in _places(spec, name):
            out.append(f"inline constexpr Field k{common.camel(field['name'])} = {{{lsb}, {field['bits']}}};  // {field['doc']}")
        out.append(f"}}  // namespace {name}")
    out.append("\n}  // namespace systole::link\n\n#endif  // SYSTOLE_GEN_LINK_H_\n")
    return "\n".join(out)


def _md(spec: dict) -> str:
    out = ["<!--", common.banner(" ", SOURCE).rstrip(), "-->", "# Links: packets, control words, symbols\n",
           "How they are used: [../link.md](../link.md).\n", "## Sizes\n", "| quantity | value | meaning |\n|---|---|---|"]
    out += [f"| {x['name']} | {x['value']} | {x['doc']} |" for x in spec["constants"]]
    for name, title in (("head", "Head of a packet"), ("control", "Head of a CTRL packet"), ("info", "Info of a training set"),
                        ("events", "Events of a link")):
        out += [f"\n## {title}\n", "| bits | field | meaning |\n|---|---|---|"]
        out += [f"| {lsb + f['bits'] - 1}:{lsb} | {f['name']} | {f['doc']} |" for f, lsb in _places(spec, name)]
    for name, title in (("kinds", "Kinds of packets"), ("tags", "Tags of a lane"), ("causes", "Causes of a link that is down")):
        out += [f"\n## {title}\n", "| code | name | meaning |\n|---|---|---|"]
        out += [f"| {x['id']} | {x['name'].upper()} | {x['doc']} |" for x in spec[name]]
    out += ["\n## Codes of symbols\n", "| byte | name | meaning |\n|---|---|---|"]
    out += [f"| 0x{x['value']:02X} | {x['name']} | {x['doc']} |" for x in spec["codes"]]
    out.append(f"\n## CRC\n\nCRC-32C, polynomial 0x{spec['crc']['polynomial']:08X} (reflected): of the bytes of a slice of all flits in order. It\n"
               "starts from all ones XOR the slice's number, is inverted, and stands in the last four bytes, lowest byte\nfirst.\n")
    return "\n".join(out)


def generate(root: pathlib.Path) -> dict:
    """Path relative to the root -> text."""
    spec = common.load(root, SOURCE)
    _constants(spec)
    _add_send(spec)
    return {
        "rtl/gen/systole_link_pkg.sv": package(spec),
        "host/include/systole/gen/link.h": _cpp(spec),
        "docs/reference/link.md": _md(spec),
    }
