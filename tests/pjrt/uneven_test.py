#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Programs whose arrays the devices do not divide evenly (uneven_programs.py), against JAX's CPU on whole arrays.

Usage: .venv-jax/bin/python tests/pjrt/uneven_test.py --build build [unittest's arguments]
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
import uneven_programs, sweep
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
jax.config.update("jax_default_matmul_precision", "highest")
devices, cpu = jax.devices(), jax.devices("cpu")[0]
mesh = Mesh(np.array(devices).reshape((-1, 2) if FLAT is False else -1), ("d", "m") if FLAT is False else ("d",))

def known(axis):
  axes = tuple(a for a in (axis if isinstance(axis, tuple) else (axis,)) if a in mesh.axis_names)
  return axes[0] if len(axes) == 1 else axes or None

def divided(value, *axes): return lax.with_sharding_constraint(value, NamedSharding(mesh, P(*map(known, axes))))

def place(value, *axes):
  axes = [known(axis) for axis in axes]
  for d, axis in enumerate(axes):
    count = np.prod([mesh.shape[a] for a in (axis if isinstance(axis, tuple) else (axis,) if axis else ())], dtype=int)
    if value.shape[d] % count: axes[d] = None
  return jax.device_put(value, NamedSharding(mesh, P(*axes)))

def wanted(name):
  function, values = uneven_programs.PROGRAMS[name], uneven_programs.ARGUMENTS[name]
  with jax.default_device(cpu):
    return jax.jit(lambda *a: function(lambda v, *axes: v, *a))(*(jax.device_put(v, cpu) for v, *_ in values))

def got(name):
  function, values = uneven_programs.PROGRAMS[name], uneven_programs.ARGUMENTS[name]
  return jax.jit(lambda *a: function(divided, *a))(*(place(*v) for v in values))

sweep.sweep(uneven_programs.PROGRAMS, wanted, got, ONLY)
"""


class Uneven(unittest.TestCase):
    def sweep(self, devices, flat, **more):
        code = f"FLAT, ONLY = {flat}, {ONLY}\n{SWEEP}"
        status, out, err = jax_test.run(code, SYSTOLE_DEVICES=str(devices), SYSTOLE_PRESET="minichip", JAX_PLATFORMS="systole,cpu", SYSTOLE_REPORT="1", **more)
        if VERBOSE:
            print(out, err[-3000:])
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"^[1-9]\d* programs, 0 wrong$")
        self.assertNotIn("suggests nothing", err)
        self.assertIn("whole or in fewer tiles, as sizes are no multiples of the tiles: ", err)

    def test_two_devices(self):
        self.sweep(2, True)

    def test_four_devices(self):
        self.sweep(4, False)

    def test_eight_devices(self):
        self.sweep(8, True)
        self.sweep(8, False)

    def test_without_suggestions(self):
        self.sweep(8, False, SYSTOLE_PROPAGATION="none")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--show", action="store_true")
    args, rest = parser.parse_known_args()
    BUILD = jax_test.BUILD = args.build.resolve()
    ONLY, VERBOSE = args.only, args.show
    unittest.main(argv=[sys.argv[0], *rest])
