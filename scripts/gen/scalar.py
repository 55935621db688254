# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/spec/scalar.rdl -> register block of the scalar unit (PeakRDL-regblock), header of its firmware, reference page."""

import pathlib
import tempfile

from . import common, csr, registers

SOURCE = "scalar.rdl"
BLOCK = "systole_scalar_regs"


def _export(root, folder: pathlib.Path) -> dict:
    """What the exporters write, by name of the file."""
    from peakrdl_regblock import RegblockExporter
    from peakrdl_regblock.cpuif.passthrough import PassthroughCpuif

    RegblockExporter().export(root, str(folder), cpuif_cls=PassthroughCpuif, module_name=BLOCK, package_name=f"{BLOCK}_pkg",
                              default_reset_activelow=True, err_if_bad_addr=True, err_if_bad_rw=True)
    return {path.name: csr.tidy(path.read_text()) for path in folder.iterdir()}


def header(root: pathlib.Path) -> str:
    """The firmware's header of the registers."""
    top = csr.elaborate(root / "docs" / "spec" / SOURCE).top
    out = [common.banner("//", SOURCE), "#ifndef SYSTOLE_SCALAR_REGS_H_\n#define SYSTOLE_SCALAR_REGS_H_\n"]
    for register in top.registers():
        name = f"REG_{register.inst_name.upper()}"
        out.append(f"#define {name} 0x{register.absolute_address:02X}u  // {csr.text(register)}")
        for field in register.fields():
            if field.inst_name == "value":
                continue
            value = f"{1 << field.low}u" if field.width == 1 else f"{field.low}  // lowest of {field.width} bits"
            out.append(f"#define {register.inst_name.upper()}_{field.inst_name.upper()} {value}")
    return "\n".join(out) + "\n\n#endif  // SYSTOLE_SCALAR_REGS_H_\n"


def generate(root: pathlib.Path) -> dict:
    tree = csr.elaborate(root / "docs" / "spec" / SOURCE)
    with tempfile.TemporaryDirectory() as folder:
        files = _export(tree, pathlib.Path(folder))
    comment = common.banner("//", SOURCE)
    return {
        f"rtl/gen/{BLOCK}_pkg.sv": f"{comment}\n{files[f'{BLOCK}_pkg.sv']}",
        f"rtl/gen/{BLOCK}.sv": f"{comment}\n{csr.regblock(files[f'{BLOCK}.sv'])}",
        "firmware/scalar/gen/regs.h": header(root),
        "docs/reference/scalar.md": registers.page(tree.top, "Registers of the scalar unit", SOURCE),
    }
