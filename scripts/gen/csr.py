# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/spec/csr.yaml -> SystemVerilog package, C++ header, reference page."""

import pathlib

from . import common

SOURCE = "csr.yaml"


def _sv(spec: dict) -> str:
    out = [common.banner("//", SOURCE), "package systole_csr_pkg;\n"]
    for r in spec["registers"]:
        name = common.camel(r["name"])
        out.append(f"  localparam logic [11:0] Csr{name} = 12'h{r['offset']:03X};  // {r['access']}: {r['doc']}")
        if "reset" in r:
            out.append(f"  localparam logic [31:0] Csr{name}Reset = 32'h{r['reset']:08X};")
        for f in r.get("fields", []):
            out.append(f"  localparam int unsigned Csr{name}{common.camel(f['name'])}Lsb = {f['lsb']};  // {f['doc']}")
            if f["bits"] > 1:
                out.append(f"  localparam int unsigned Csr{name}{common.camel(f['name'])}Bits = {f['bits']};")
    c = spec["counters"]
    out.append(f"\n  localparam logic [11:0] CsrCounterBase = 12'h{c['base']:03X};")
    out.append(f"  localparam int unsigned NumCounters = {len(c['list'])};")
    out.append("  localparam int unsigned CtrIncBits = 10;  // a counter grows by less than 1024 a cycle: bytes of a beat")
    for i, x in enumerate(c["list"]):
        out.append(f"  localparam int unsigned Ctr{common.camel(x['name'])} = {i};  // {x['doc']}")
    out.append("\nendpackage\n")
    return "\n".join(out)


def _cpp(spec: dict) -> str:
    out = [common.banner("//", SOURCE)]
    out.append("#ifndef SYSTOLE_GEN_CSR_H_\n#define SYSTOLE_GEN_CSR_H_\n")
    out.append("#include <array>\n#include <cstdint>\n#include <string_view>\n")
    out.append("namespace systole::csr {\n")
    for r in spec["registers"]:
        name = common.camel(r["name"])
        out.append(f"inline constexpr uint32_t k{name} = 0x{r['offset']:03X};  // {r['access']}: {r['doc']}")
        for f in r.get("fields", []):
            fname = f"k{name}{common.camel(f['name'])}"
            if f["bits"] == 1:
                out.append(f"inline constexpr uint32_t {fname} = 1u << {f['lsb']};  // {f['doc']}")
            else:
                out.append(f"inline constexpr int {fname}Lsb = {f['lsb']};  // {f['doc']}")
    c = spec["counters"]
    out.append(f"\ninline constexpr uint32_t kCounterBase = 0x{c['base']:03X};  // 64 bits each")
    out.append("enum class Counter : uint8_t {")
    for i, x in enumerate(c["list"]):
        out.append(f"  k{common.camel(x['name'])} = {i},  // {x['doc']}")
    out.append("};")
    out.append(f"inline constexpr int kNumCounters = {len(c['list'])};")
    out.append(f"inline constexpr std::array<std::string_view, {len(c['list'])}> kCounterNames = {{")
    out += [f'    "{x["name"]}",' for x in c["list"]]
    out.append("};\n")
    out.append("}  // namespace systole::csr\n\n#endif  // SYSTOLE_GEN_CSR_H_\n")
    return "\n".join(out)


def _md(spec: dict) -> str:
    out = ["# Control and status registers", "", "Generated from `docs/spec/csr.yaml`. 32-bit registers on AXI4-Lite; "
           "an access to any other offset answers SLVERR.", "",
           "| offset | register | access | reset | meaning |", "|---|---|---|---|---|"]
    for r in spec["registers"]:
        reset = f"0x{r['reset']:08X}" if "reset" in r else ""
        out.append(f"| 0x{r['offset']:03X} | `{r['name']}` | {r['access']} | {reset} | {r['doc']} |")
        for f in r.get("fields", []):
            top = f["lsb"] + f["bits"] - 1
            bits = f"{top}:{f['lsb']}" if f["bits"] > 1 else f"{top}"
            out.append(f"| | `{r['name']}.{f['name']}` [{bits}] | | | {f['doc']} |")
    c = spec["counters"]
    out += ["", "## Counters", "", "64 bits, low half first; reading the low half latches the high half; `start` clears them.", "",
            "| offset | counter | meaning |", "|---|---|---|"]
    for i, x in enumerate(c["list"]):
        out.append(f"| 0x{c['base'] + 8 * i:03X} | `{x['name']}` | {x['doc']} |")
    return "\n".join(out) + "\n"


def generate(root: pathlib.Path) -> dict:
    spec = common.load(root, SOURCE)
    return {
        "rtl/gen/systole_csr_pkg.sv": _sv(spec),
        "host/include/systole/gen/csr.h": _cpp(spec),
        "docs/reference/csr.md": _md(spec),
    }
