# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes a C++ source that defines a string: the digest of files' names and contents. Leaves an equal one alone."""

import argparse
import hashlib
import pathlib


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True, help="what the files' names are relative to")
    parser.add_argument("--header", required=True)
    parser.add_argument("--name", required=True, help="namespace::kName")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    digest = hashlib.sha256()
    for path in sorted(args.files):
        digest.update(f"{path.relative_to(args.root)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    space, _, name = args.name.rpartition("::")
    text = (f'#include "{args.header}"\n\nnamespace {space} {{\n\n'
            f'const char {name}[] = "{digest.hexdigest()}";\n\n}}  // namespace {space}\n')
    if not args.output.exists() or args.output.read_text() != text:
        args.output.write_text(text)


if __name__ == "__main__":
    main()
