# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes the files that come from docs/spec: SystemVerilog packages, C++ headers and pages.

Each module in scripts/gen has a function generate(root) that returns {path below the root: text}.
--check writes nothing and fails when a file is missing, stale, or no longer generated.
"""

import argparse
import importlib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Folders that hold nothing but generated files.
GENERATED_FOLDERS = ("rtl/gen", "firmware/scalar/gen", "rtl/presets", "verif/tb/gen", "host/include/systole/gen", "docs/reference", "share/completions", "share/man")


def collect(root):
    """The text of every generated file, by path."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    files = {}
    for source in sorted(pathlib.Path(__file__).resolve().parent.glob("gen/*.py")):
        if source.stem.startswith("_"):
            continue
        module = importlib.import_module(f"gen.{source.stem}")
        if not hasattr(module, "generate"):
            continue  # shared by the others
        for path, text in module.generate(root).items():
            if path in files:
                raise ValueError(f"{path}: generated twice, the second time by {source.name}")
            files[path] = text
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when a file is not fresh, write nothing")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="root of the files (default: the project)")
    args = parser.parse_args()

    try:
        files = collect(args.root)
    except (ValueError, OSError) as error:
        print(f"generate: {error}", file=sys.stderr)
        return 1
    problems = []
    for path, text in sorted(files.items()):
        target = args.root / path
        if target.exists() and target.read_text() == text:
            continue
        if args.check:
            problems.append(f"{path}: {'stale' if target.exists() else 'missing'}")
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            print(f"generate: wrote {path}")
    for folder in GENERATED_FOLDERS:
        for target in sorted((args.root / folder).glob("*")):
            path = target.relative_to(args.root).as_posix()
            if path in files:
                continue
            if args.check:
                problems.append(f"{path}: nothing generates it")
            else:
                target.unlink()
                print(f"generate: deleted {path}")
    for problem in problems:
        print(f"generate: {problem}; run `make generate`", file=sys.stderr)
    if not problems:
        print(f"generate: {len(files)} files are fresh")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
