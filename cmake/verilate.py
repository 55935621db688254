# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Runs Verilator and prepares its output for the build.

Verilator chooses the names of its C++ files itself. This gathers them in two files with fixed names, one of the hot code and one of
the code that runs once, leaves files that did not change untouched (an edited comment compiles nothing), and writes a depfile.
"""

import argparse
import filecmp
import pathlib
import shutil
import subprocess
import sys
import tempfile


def read_inputs(verilator_depfile):
    """The files that Verilator read: right-hand side of its make rule."""
    text = verilator_depfile.read_text().replace("\\\n", " ")
    names = text.split(" : ", 1)[1].split()
    return [name for name in names if pathlib.Path(name).is_absolute() or pathlib.Path(name).exists()]


def install(source, destination):
    """Copies changed files and deletes the ones that are no longer generated; True when anything changed."""
    changed = False
    destination.mkdir(parents=True, exist_ok=True)
    wanted = {path.name: path for path in source.iterdir() if path.suffix in (".h", ".cpp")}
    for path in destination.iterdir():
        if path.name not in wanted:
            path.unlink()
            changed = True
    for name, path in wanted.items():
        target = destination / name
        if not target.exists() or not filecmp.cmp(path, target, shallow=False):
            shutil.copyfile(path, target)
            changed = True
    return changed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verilator", required=True)
    parser.add_argument("--dir", required=True, type=pathlib.Path, help="folder of the generated files")
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--depfile", required=True, type=pathlib.Path)
    parser.add_argument("--target", required=True, help="output that the depfile names")
    parser.add_argument("arguments", nargs="+", help="arguments of Verilator, after --")
    args = parser.parse_args()

    args.dir.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=args.dir.parent) as temporary:
        scratch = pathlib.Path(temporary)
        result = subprocess.run([args.verilator, "--Mdir", str(scratch), *args.arguments], check=False)
        if result.returncode != 0:
            return result.returncode
        inputs = read_inputs(scratch / f"{args.prefix}__ver.d")
        generated = sorted(path.name for path in scratch.glob("*.cpp"))
        parts = {"fast": [], "slow": []}
        for name in generated:
            parts["slow" if name.endswith("__Slow.cpp") or name.endswith("__Syms.cpp") else "fast"].append(name)
        for part, names in parts.items():
            lines = [f'#include "{name}"\n' for name in names]
            (scratch / f"{args.prefix}_{part}.cpp").write_text("".join(lines))
        changed = install(scratch, args.dir)

    # The build tool knows only these of the generated files.
    if changed:
        for name in (f"{args.prefix}_fast.cpp", f"{args.prefix}_slow.cpp", f"{args.prefix}.h"):
            (args.dir / name).touch()
    args.depfile.write_text(f"{args.target}: " + " \\\n  ".join(inputs) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
