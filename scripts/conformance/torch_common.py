# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""What the scripts that judge PyTorch programs begin with."""

import argparse
import os
import pathlib
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]


def begin(description):
    """The arguments; PyTorch is ready for programs on the simulator, from the package of the build folder."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--preset", default="lite")
    parser.add_argument("--only", default="", help="those whose names hold one of these, separated by commas")
    args = parser.parse_args()
    args.build = args.build.resolve()
    sys.path.insert(0, str(args.build / "python"))
    os.environ.update(SYSTOLE_PRESET=args.preset, SYSTOLE_BACKEND="iss")
    warnings.filterwarnings("ignore")
    import torch._dynamo

    torch._dynamo.config.allow_rnn = True
    return args


def is_asked(args, name):
    """Whether --only names it."""
    return not args.only or any(part in name for part in args.only.split(","))
