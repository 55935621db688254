# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes a C++ source with the texts of files: EmbeddedTexts() of a namespace, as its header declares it."""

import argparse
import pathlib


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--header", required=True)
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("sources", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    items = "".join(f'      {{"{path.name}", R"text({path.read_text()})text"}},\n' for path in sorted(args.sources))
    args.output.write_text(f'#include "{args.header}"\n\nnamespace {args.namespace} {{\n\n'
                           "const std::vector<Text>& EmbeddedTexts() {\n  static const std::vector<Text>& texts = *new std::vector<Text>{\n"
                           f"{items}  }};\n  return texts;\n}}\n\n}}  // namespace {args.namespace}\n")


if __name__ == "__main__":
    main()
