#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Programs of eight devices (parallel_programs.py, sharded_programs.py) against eight devices of JAX's CPU.

Usage: .venv-jax/bin/python tests/pjrt/parallel_test.py --build build [unittest's arguments]
"""

import argparse
import pathlib
import sys
import unittest

import jax_test

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

# Products in six passes.
SWEEP = f"""
import sys
sys.path.insert(0, {str(ROOT / "tests" / "pjrt")!r})
import parallel_programs, sharded_programs, sweep
PROGRAMS = {{**parallel_programs.PROGRAMS, **sharded_programs.PROGRAMS}}
jax.config.update("jax_default_matmul_precision", "highest")
def wanted(name):
  with jax.default_device(jax.devices("cpu")[0]): return PROGRAMS[name](jax.devices("cpu"))

sweep.sweep(PROGRAMS, wanted, lambda name: PROGRAMS[name](jax.devices()), ONLY)
"""


class Parallel(unittest.TestCase):
    def test_programs(self):
        for preset in ("minichip", "mini"):  # over links, and through the host
            status, out, err = jax_test.run(f"ONLY = {ONLY}\n{SWEEP}", SYSTOLE_DEVICES="8", SYSTOLE_PRESET=preset, JAX_PLATFORMS="systole,cpu", SYSTOLE_FALLBACK="error",
                                            XLA_FLAGS="--xla_force_host_platform_device_count=8")
            if VERBOSE:
                print(out, err[-3000:])
            self.assertEqual(status, 0, err)
            self.assertRegex(out, r"^[1-9]\d* programs, 0 wrong$")
            self.assertNotIn("suggests nothing", err)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--show", action="store_true")
    args, rest = parser.parse_known_args()
    BUILD = jax_test.BUILD = args.build.resolve()
    ONLY, VERBOSE = args.only, args.show
    unittest.main(argv=[sys.argv[0], *rest])
