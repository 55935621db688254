#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The host's libraries and the C API built with g++, in BUILD/gcc without the RTL; the C example runs on the simulator.

Usage: scripts/python tests/install/gcc_test.py --build build [--jobs n]
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def folders():
    """What has no RTL in it, and needs none."""
    lists = [*ROOT.glob("host/*/CMakeLists.txt"), *(ROOT / f"{name}/CMakeLists.txt" for name in
             ("sim/iss", "verif/golden", "verif/hbm_model", "verif/dram_model"))]
    return sorted(path.parent.relative_to(ROOT).as_posix() for path in lists if path.parent.name != "pjrt")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", default="2")
    args = parser.parse_args()
    build = args.build.resolve() / "gcc"
    subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "--log-level=NOTICE", "-DCMAKE_CXX_COMPILER=g++",
                    f"-DSYSTOLE_FOLDERS={';'.join(folders())}"], check=True)
    subprocess.run(["ninja", "-C", build, "-j", args.jobs, "systole_c"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "digits"
        subprocess.run(["gcc", "-std=c99", "-I", ROOT / "host/include", ROOT / "examples/c/digits.c", "-o", program,
                        "-L", build / "lib", "-lsystole", f"-Wl,-rpath,{build / 'lib'}"], check=True)
        share = pathlib.Path(folder) / "share"
        (share / "digits").mkdir(parents=True)
        for name in ("test-images-idx3-ubyte", "test-labels-idx1-ubyte"):
            with open(share / "digits" / name, "wb") as file:
                subprocess.run(["gzip", "-dc", ROOT / f"tests/data/mnist/{name}.gz"], stdout=file, check=True)
        (share / "models").symlink_to(ROOT / "models")
        environment = {**os.environ, "SYSTOLE_SHARE": str(share)}
        right = subprocess.run([program, "iss", "edge", "100"], env=environment, capture_output=True, text=True, check=False)
        wrong = subprocess.run([program, "rtl", "edge"], env=environment, capture_output=True, text=True, check=False)
    print(right.stdout, right.stderr, sep="")
    if right.returncode != 0 or wrong.returncode != 1 or "this build has no rtl backend" not in wrong.stderr:
        print(f"gcc: FAILED: without RTL, the example ends with {wrong.returncode}: {wrong.stderr}")
        return 1
    if "99 of 100 right" not in right.stdout:  # as the simulator that clang builds
        print("gcc: FAILED: 99 of 100 digits should be right")
        return 1
    print("gcc: passed: the libraries build, the C example runs on the simulator, and is refused on the RTL, which is not built")
    return 0


if __name__ == "__main__":
    sys.exit(main())
