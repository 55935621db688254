# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Converts what torch.export.save wrote into a StableHLO file: python -m systole_torch model.pt2"""

import argparse
import pathlib
import sys

import torch

from . import export


def main():
    parser = argparse.ArgumentParser(prog="python -m systole_torch", description=__doc__.split(":", maxsplit=1)[0] + ".")
    parser.add_argument("model", type=pathlib.Path, help="file of torch.export.save (.pt2)")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="where to write it; default: the model's name with .mlirbc")
    parser.add_argument("--precision", choices=("highest", "high", "medium"), default="highest",
                        help="of products of float32: six, three or one pass of bf16 (default: highest)")
    args = parser.parse_args()
    output = args.output or args.model.with_suffix(".mlirbc")
    if not args.model.is_file():
        sys.exit(f"systole_torch: {args.model}: {'is no file' if args.model.exists() else 'no such file'}")
    try:
        program = torch.export.load(args.model)
    except Exception as error:  # pylint: disable=broad-except
        sys.exit(f"systole_torch: {args.model}: is not a program that torch.export.save wrote: {str(error).splitlines()[0]}")
    torch.set_float32_matmul_precision(args.precision)
    try:
        export(program, path=output)
    except (ArithmeticError, NotImplementedError, ValueError, OSError) as error:
        sys.exit(f"systole_torch: {args.model}: {error}")
    print(f"{output}: systole run {output} --random 1")


if __name__ == "__main__":
    main()
