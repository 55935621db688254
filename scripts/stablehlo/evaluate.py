# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Compares imported programs with jax on the CPU: lowers the programs of programs.py with products of full precision, computes each on random
values with jax and with the host's evaluation of the imported module, and compares the results. Needs jax.

    python scripts/stablehlo/evaluate.py --run build/bin/stablehlo_run --folder build/stablehlo_values
"""

import argparse
import pathlib
import subprocess
import sys

import compare
import jax
import numpy as np
import programs



PRODUCTS_OF_BF16 = ("matmul_default", "matmul_high", "matmul_BF16_BF16_F32", "mlp_bf16")


def values_for(generator, argument):
    """Random values of an argument: small whole numbers serve as indices, words as keys."""
    shape, dtype = argument.shape, np.dtype(argument.dtype)
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(bool)
    if dtype == np.uint32:
        return generator.integers(0, 2 ** 32, shape, dtype=np.uint32)
    if dtype.kind in "iu":
        return generator.integers(0, 3, shape).astype(dtype)
    return (generator.uniform(0.1, 0.9, shape)).astype(dtype)


def largest_error(ours, theirs):
    """0 for equal values; relative to the largest number of the tensor, at least 1; infinite where one is not a number or whole numbers differ."""
    if ours.tobytes() == theirs.tobytes():
        return 0.0
    if theirs.dtype.kind in "iub":
        return np.inf
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    if not np.isfinite(ours[~same]).all() or not np.isfinite(theirs[~same]).all():
        return np.inf
    scale = max(1.0, np.abs(theirs[np.isfinite(theirs)]).max(initial=0))
    return np.abs(ours - theirs)[~same].max(initial=0) / scale


def tolerance(name, dtype):
    """Of the largest number of a tensor. Programs of PRODUCTS_OF_BF16 round the operands of products, which jax on a CPU does not."""
    if name in PRODUCTS_OF_BF16:
        return 1e-2
    return 2e-2 if np.dtype(dtype).itemsize == 2 else 2e-4


def check(args, name, function, arguments, options):
    """(outcome, detail) of a program."""
    generator = np.random.default_rng(len(name))
    inputs = jax.tree.map(lambda a: values_for(generator, a), arguments, is_leaf=lambda a: hasattr(a, "dtype"))
    options = {k: v for k, v in options.items() if k != "donate_argnums"}
    with jax.default_matmul_precision("highest"):
        jitted = jax.jit(function, keep_unused=True, **options)
        module = compare.lowered(function, arguments, {**options, "keep_unused": True})
        theirs = [np.asarray(r) for r in jax.tree.leaves(jitted(*inputs))]
    artifact, source, result = (args.folder / f"{name}.{suffix}" for suffix in ("mlirbc", "in", "out"))
    artifact.write_bytes(compare.serialised(module))
    source.write_bytes(b"".join(np.asarray(a).tobytes() for a in jax.tree.leaves(inputs)))
    ran = subprocess.run([args.run, artifact, source, result], stderr=subprocess.PIPE, text=True, check=False, timeout=300)
    if ran.returncode != 0:
        return "refused" if "UNIMPLEMENTED" in ran.stderr else "failed", ran.stderr.strip().replace("\n", ";")
    data, worst = result.read_bytes(), 0.0
    if len(data) != sum(t.nbytes for t in theirs):
        return "different", "another size"
    for value in theirs:
        ours, data = np.frombuffer(data[:value.nbytes], value.dtype).reshape(value.shape), data[value.nbytes:]
        worst = max(worst, largest_error(ours, value) / tolerance(name, value.dtype))
    return "equal" if worst == 0 else "close" if worst <= 1 else "different", f"{worst:.2g} of the tolerance"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", required=True, help="the program stablehlo_run")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="for artifacts and values")
    parser.add_argument("--only", default="", help="part of the names of the programs to run")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    outcomes = {}
    for name, function, arguments, options in programs.all_programs():
        if args.only not in name:
            continue
        try:
            outcome, detail = check(args, name, function, arguments, options)
        except Exception as error:  # pylint: disable=broad-exception-caught
            outcome, detail = "no reference", str(error).split("\n", maxsplit=1)[0]
        outcomes.setdefault(outcome, []).append(name)
        if outcome not in ("equal", "close"):
            print(f"{name}: {outcome}: {detail}"[:250], flush=True)
    print(", ".join(f"{len(names)} {outcome}" for outcome, names in sorted(outcomes.items())))
    sys.exit(1 if "different" in outcomes or "failed" in outcomes else 0)


if __name__ == "__main__":
    main()
