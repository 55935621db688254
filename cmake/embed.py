# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes a C++ source with the texts of the kernels: systole::kernels::EmbeddedTexts()."""

import argparse
import pathlib


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("sources", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    items = "".join(f'      {{"{path.name}", R"text({path.read_text()})text"}},\n' for path in sorted(args.sources))
    args.output.write_text('#include "host/kernels/kernels.h"\n\nnamespace systole::kernels {\n\n'
                           "const std::vector<Text>& EmbeddedTexts() {\n  static const std::vector<Text>& texts = *new std::vector<Text>{\n"
                           f"{items}  }};\n  return texts;\n}}\n\n}}  // namespace systole::kernels\n")


if __name__ == "__main__":
    main()
