# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/spec/csr.rdl -> register block and package (PeakRDL-regblock), C header (PeakRDL-cheader), reference page, IP-XACT file; C++ header.

The SystemVerilog package and the C++ header with the names that the project uses are written here, from the same elaborated description.
"""

import pathlib
import re
import tempfile

from . import common, registers

SOURCE = "csr.rdl"
BLOCK = "systole_csr_regs"
ADDRESS_BITS = 12
INCREMENT_BITS = 10


def elaborate(path: pathlib.Path):
    try:
        import systemrdl
        from peakrdl_regblock import udps
    except ImportError as error:
        raise SystemExit(f"generate: {error.name} is missing (docs/spec/{path.name}): run scripts/setup.sh, then scripts/python") from error
    compiler = systemrdl.RDLCompiler()
    for property_ in udps.ALL_UDPS:
        compiler.register_udp(property_)
    try:
        compiler.compile_file(str(path))
        return compiler.elaborate()
    except systemrdl.RDLCompileError as error:
        raise SystemExit(f"generate: docs/spec/{path.name}: {error}") from error


def tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines()) + "\n"


def regblock(text: str) -> str:
    """A register block of PeakRDL as it is kept. Each field has an always_comb of its own that drives its members of `field_combo`, an unpacked
    struct: IEEE 1800-2017 allows that (9.2.2.2: longest static prefixes are compared), Verilator from 5.032 on compares the whole variable."""
    text, count = re.subn(r"(    field_combo_t field_combo;\n)((?:.|\n)*\n)(?=    //-+\n    // Write response\n)",
                          r"    // verilator lint_off MULTIDRIVEN\n\1\2    // verilator lint_on MULTIDRIVEN\n\n", text)
    if count != 1:
        raise SystemExit("generate: PeakRDL-regblock writes its blocks otherwise than scripts/gen/csr.py expects")
    return text


def _export(root, folder: pathlib.Path) -> dict:
    """What the exporters write, by name of the file."""
    from peakrdl_cheader.exporter import CHeaderExporter
    from peakrdl_regblock import RegblockExporter
    from peakrdl_regblock.cpuif.axi4lite import AXI4Lite_Cpuif_flattened

    # A read's answer is a register: the clock does not wait for its multiplexer. (Not its fan-in too: Verilator refuses that form.)
    RegblockExporter().export(root, str(folder), cpuif_cls=AXI4Lite_Cpuif_flattened, module_name=BLOCK, package_name=f"{BLOCK}_pkg",
                              retime_read_response=True,
                              address_width=ADDRESS_BITS, default_reset_activelow=True, err_if_bad_addr=True, err_if_bad_rw=True)
    CHeaderExporter().export(root, str(folder / "systole_csr.h"))
    return {path.name: tidy(path.read_text()) for path in folder.iterdir()}


def _registers(top):
    return [child for child in top.children() if not child.external]


def _counters(top):
    return top.get_child_by_name("counters")


def _scalar(top):
    return top.get_child_by_name("scalar")


def _links(top):
    return top.get_child_by_name("links")


def text(node) -> str:
    return " ".join((node.get_property("desc") or "").split())


def _sv(top) -> str:
    counters = list(_counters(top).children())
    out = [common.banner("//", SOURCE), "package systole_csr_pkg;\n"]
    out.append(f"  localparam int unsigned CsrAddrBits = {ADDRESS_BITS};")
    out.append(f"  localparam int unsigned NumCounters = {len(counters)};")
    out.append(f"  localparam int unsigned CtrIncBits = {INCREMENT_BITS};  // a counter grows by less than 1024 a cycle: bytes of a beat")
    for i, counter in enumerate(counters):
        out.append(f"  localparam int unsigned Ctr{common.camel(counter.inst_name)} = {i};  // {text(counter)}")
    most = ", ".join(str(counter.get_property("most_a_cycle", default=1)) for counter in counters)
    out.append(f"\n  // What each may grow by in a cycle, at most.\n  localparam int unsigned CtrMost [NumCounters] = '{{{most}}};")
    out.append("\n  // Registers of the scalar unit, by word.")
    scalar = _scalar(top)
    for register in scalar.children():
        out.append(f"  localparam logic [2:0] Scalar{common.camel(register.inst_name)} = {register.address_offset // 4};  // {text(register)}")
    out.append("\n  // Registers of the links, by word.")
    for register in _links(top).children():
        out.append(f"  localparam logic [2:0] Links{common.camel(register.inst_name)} = {register.address_offset // 4};  // {text(register)}")
    out.append("\nendpackage\n")
    return "\n".join(out)


def _access(register) -> str:
    field = next(iter(register.fields()))
    if not field.is_sw_writable:
        return "ro"
    return "wo" if not field.is_sw_readable else "w1c" if field.get_property("onwrite") else "rw"


def _cpp(top) -> str:
    out = [common.banner("//", SOURCE)]
    out.append("#ifndef SYSTOLE_GEN_CSR_H_\n#define SYSTOLE_GEN_CSR_H_\n")
    out.append("#include <array>\n#include <cstdint>\n#include <string_view>\n")
    out.append("namespace systole::csr {\n")
    for register in _registers(top):
        name = common.camel(register.inst_name)
        out.append(f"inline constexpr uint32_t k{name} = 0x{register.absolute_address:03X};  // {_access(register)}: {text(register)}")
        for field in register.fields():
            if field.inst_name == "value":
                continue
            field_name = f"k{name}{common.camel(field.inst_name)}"
            if field.width == 1:
                out.append(f"inline constexpr uint32_t {field_name} = 1u << {field.low};  // {text(field)}")
            else:
                out.append(f"inline constexpr int {field_name}Lsb = {field.low};  // {text(field)}")
    counters = list(_counters(top).children())
    out.append(f"\ninline constexpr uint32_t kCounterBase = 0x{_counters(top).absolute_address:03X};  // 64 bits each")
    out.append("enum class Counter : uint8_t {")
    for i, counter in enumerate(counters):
        out.append(f"  k{common.camel(counter.inst_name)} = {i},  // {text(counter)}")
    out.append("};")
    out.append(f"inline constexpr int kNumCounters = {len(counters)};")
    out.append(f"inline constexpr std::array<std::string_view, {len(counters)}> kCounterNames = {{")
    out += [f'    "{counter.inst_name}",' for counter in counters]
    out.append("};\n")
    out.append("// Of the scalar unit; 0 in chips without one.")
    for register in _scalar(top).children():
        name = f"kScalar{common.camel(register.inst_name)}"
        out.append(f"inline constexpr uint32_t {name} = 0x{register.absolute_address:03X};  // {_access(register)}: {text(register)}")
    out.append("\n// Of the links, in the first core's block; 0 in chips without links.")
    for register in _links(top).children():
        name = f"kLinks{common.camel(register.inst_name)}"
        out.append(f"inline constexpr uint32_t {name} = 0x{register.absolute_address:03X};  // {_access(register)}: {text(register)}")
    out.append("")
    out.append("}  // namespace systole::csr\n\n#endif  // SYSTOLE_GEN_CSR_H_\n")
    return "\n".join(out)


def generate(root: pathlib.Path) -> dict:
    tree = elaborate(root / "docs" / "spec" / SOURCE)
    with tempfile.TemporaryDirectory() as folder:
        files = _export(tree, pathlib.Path(folder))
    comment = common.banner("//", SOURCE)
    return {
        "rtl/gen/systole_csr_pkg.sv": _sv(tree.top),
        f"rtl/gen/{BLOCK}_pkg.sv": f"{comment}\n{files[f'{BLOCK}_pkg.sv']}",
        f"rtl/gen/{BLOCK}.sv": f"{comment}\n{regblock(files[f'{BLOCK}.sv'])}",
        "host/include/systole/gen/csr.h": _cpp(tree.top),
        "host/include/systole/gen/systole_csr.h": f"{comment}\n{files['systole_csr.h']}",
        "docs/reference/csr.md": registers.page(tree.top, "Registers", SOURCE),
        "docs/reference/csr.xml": registers.ipxact(tree.top, SOURCE),
    }
