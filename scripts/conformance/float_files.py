# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Compares float TensorFlow Lite files on the simulator with LiteRT's interpreter and with the golden model, on seeded inputs: images of soft
blobs, two tones with noise, or numbers in -1..1. Prints a line a file: the largest error as a share of the output's largest value (at
least 1). Needs ai-edge-litert and numpy; docs/tflite.md has the results.

    python scripts/conformance/float_files.py --precision highest model.tflite other.tflite
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from ai_edge_litert.interpreter import Interpreter

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = 1000  # an input that is longer is sound
RATE = 16000


def stretched(values, axis, size):
    """Linear interpolation along an axis, from end to end."""
    places = np.linspace(0, values.shape[axis] - 1, size)
    low = np.floor(places).astype(int)
    share = (places - low).reshape([-1 if i == axis else 1 for i in range(values.ndim)])
    high = np.minimum(low + 1, values.shape[axis] - 1)
    return np.take(values, low, axis) * (1 - share) + np.take(values, high, axis) * share


def values_for(generator, shape, dtype):
    shape = tuple(int(size) for size in shape)
    if dtype.kind in "iu":
        return generator.integers(0, 8, shape).astype(dtype)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if len(shape) == 4 and shape[3] <= 4 and shape[1] > 8:
        blobs = generator.uniform(0, 1, (shape[0], 7, 7, shape[3]))
        return stretched(stretched(blobs, 1, shape[1]), 2, shape[2]).astype(dtype)
    if max(shape, default=1) > SAMPLES and np.prod(shape) == max(shape):
        time = np.arange(max(shape)) / RATE
        tones = 0.3 * np.sin(2 * np.pi * 440 * time) + 0.2 * np.sin(2 * np.pi * 1230 * time)
        return (tones + 0.01 * generator.standard_normal(time.size)).reshape(shape).astype(dtype)
    return generator.uniform(-1, 1, shape).astype(dtype)


def name_of(detail):
    return detail["name"].split(";")[0]


def compare(file, args):
    """The largest error, whether every value is the golden model's, and how many values there are."""
    reference = Interpreter(str(file))
    if args.input_shape:
        reference.resize_tensor_input(reference.get_input_details()[0]["index"], [int(size) for size in args.input_shape.split(",")])
    reference.allocate_tensors()
    generator = np.random.default_rng(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        words = [args.build / "bin/systole", "run", file, "--backend", "iss", "--preset", args.preset, "--precision", args.precision,
                 "--check", file, "--json", "--quiet"]
        if args.input_shape:
            words += ["--input-shape", args.input_shape]
        for i, detail in enumerate(reference.get_input_details()):
            values = values_for(generator, detail["shape"], np.dtype(detail["dtype"]))
            reference.set_tensor(detail["index"], values)
            np.save(f"{folder}/input{i}.npy", values)
            words += ["--input", f"{name_of(detail)}={folder}/input{i}.npy"]
        names = {}
        for i, detail in enumerate(reference.get_output_details()):
            name = name_of(detail)
            names[name] = names.get(name, 0) + 1
            suffix = f".{names[name] - 1}" if names[name] > 1 else ""
            words += ["--output", f"{name}{suffix}={folder}/output{i}.npy"]
        done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip().splitlines()[0])
        reference.invoke()
        error = 0.0
        for i, detail in enumerate(reference.get_output_details()):
            theirs = reference.get_tensor(detail["index"]).astype(float)
            ours = np.load(f"{folder}/output{i}.npy").astype(float)
            if ours.shape != theirs.shape:
                raise RuntimeError(f"output {name_of(detail)}: {ours.shape}, not {theirs.shape}")
            error = max(error, float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())))
    check = json.loads(done.stdout)["check"]
    return error, check["bit_exact"], check["values"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--preset", default="lite")
    parser.add_argument("--precision", default="default", choices=("default", "high", "highest"))
    parser.add_argument("--input-shape", default="", help="of the only input, as systole run takes it")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    failed = 0
    for file in args.files:
        try:
            error, exact, values = compare(file, args)
        except (RuntimeError, ValueError) as problem:
            print(f"{file.name}: {problem}")
            failed += 1
            continue
        failed += not exact
        print(f"{file.name}: error {error:.2g}, golden model: {values} values {'equal' if exact else 'DIFFER'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
