# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""firmware/scalar/boot.S -> boot ROM of the scalar unit, through the assembler of riscv64-unknown-elf."""

import pathlib
import shutil
import struct
import subprocess
import tempfile

from . import scalar

SOURCE = "firmware/scalar/boot.S"
PREFIX = "riscv64-unknown-elf-"
WORDS = 256  # RomWords of systole_scalar_pkg
BASE = 0x10000000


def words(root: pathlib.Path) -> list:
    """The ROM's words."""
    if not shutil.which(f"{PREFIX}gcc"):
        raise ValueError(f"{PREFIX}gcc is missing ({SOURCE}): run scripts/setup.sh")
    registers = scalar.header(root)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "gen").mkdir()
        (folder / "gen/regs.h").write_text(registers.replace("u  //", "  //").replace("u\n", "\n"))
        for file in ("boot.S", "boot.h"):
            shutil.copy(root / "firmware/scalar" / file, folder / file)
        compiled = subprocess.run([f"{PREFIX}gcc", "-march=rv32im", "-mabi=ilp32", "-nostdlib", "-nostartfiles", f"-Wl,-Ttext={BASE:#x}",
                                   "-Wl,--build-id=none", "-I", str(folder), "-o", str(folder / "boot.elf"), str(folder / "boot.S")],
                                  capture_output=True, text=True, check=False)
        if compiled.returncode:
            raise ValueError(f"{SOURCE}: {compiled.stderr.strip()}")
        subprocess.run([f"{PREFIX}objcopy", "-O", "binary", "-j", ".text", str(folder / "boot.elf"), str(folder / "boot.bin")], check=True)
        data = (folder / "boot.bin").read_bytes()
    if len(data) > 4 * WORDS:
        raise ValueError(f"{SOURCE}: {len(data)} bytes do not fit the ROM's {4 * WORDS}")
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def generate(root: pathlib.Path) -> dict:
    code = words(root)
    out = ["// SPDX-FileCopyrightText: Systole contributors", "// SPDX-License-Identifier: Apache-2.0",
           f"// Generated from {SOURCE} by scripts/generate.py: edit the source.\n",
           "// Boot ROM of the scalar unit: two words a cycle, a cycle after their address.\n",
           "module systole_boot_rom (",
           "    input  logic        clk_i,",
           "    input  logic [7:0]  instr_i,",
           "    output logic [31:0] instr_o,",
           "    input  logic [7:0]  data_i,",
           "    output logic [31:0] data_o",
           ");",
           f"  localparam int unsigned Words = {len(code)};", "  localparam int unsigned Bits = $clog2(Words);",
           "  localparam logic [31:0] Rom [Words] = '{"]
    for i in range(0, len(code), 8):
        line = ", ".join(f"32'h{word:08X}" for word in code[i:i + 8])
        out.append(f"      {line}{',' if i + 8 < len(code) else ''}")
    out += ["  };\n",
            "  // Beyond the code: 0, no instruction.",
            "  always_ff @(posedge clk_i) begin",
            "    instr_o <= 32'(instr_i) < Words ? Rom[Bits'(instr_i)] : '0;",
            "    data_o  <= 32'(data_i) < Words ? Rom[Bits'(data_i)] : '0;",
            "  end",
            "endmodule\n"]
    return {"rtl/gen/systole_boot_rom.sv": "\n".join(out)}
