# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes a C++ source with the words of the firmware: FirmwareWords() of host/scalar/image.h, or a function of that name
and type that --function gives, in namespace systole::scalar."""

import argparse
import pathlib
import struct
import subprocess
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objcopy", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--function", default="FirmwareWords")
    parser.add_argument("elf", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        binary = pathlib.Path(folder) / "firmware.bin"
        subprocess.run([args.objcopy, "-O", "binary", str(args.elf), str(binary)], check=True)
        data = binary.read_bytes()
    words = struct.unpack(f"<{len(data) // 4}I", data)
    lines = [", ".join(f"0x{word:08x}" for word in words[i:i + 8]) for i in range(0, len(words), 8)]
    out = ['#include "host/scalar/image.h"\n', "namespace systole::scalar {\n",
           f"const std::vector<uint32_t>& {args.function}() {{", "  static const std::vector<uint32_t>& words = *new std::vector<uint32_t>{",
           ",\n".join(f"      {line}" for line in lines) + "};", "  return words;", "}\n", "}  // namespace systole::scalar\n"]
    args.output.write_text("\n".join(out))


if __name__ == "__main__":
    main()
