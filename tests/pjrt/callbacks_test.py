#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Calls of Python from programs of jax, in loops, branches and gradients, on one device and several; programs that go to other processes.

Usage: .venv-jax/bin/python tests/pjrt/callbacks_test.py --build build [unittest's arguments]
"""

import argparse
import pathlib
import shutil
import sys
import tempfile
import unittest

import jax_test

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

PREPARED = """
from jax import lax
from jax.experimental import io_callback
x = jnp.arange(6, dtype=jnp.float32)
log = []
def note(*values): log.append([np.asarray(v).tolist() for v in values])
def done():
  jax.effects_barrier()
  print(log)
  log.clear()
f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
"""

CALLS = """
@jax.jit
def f(v):
  jax.debug.print("v={v} of {n}", v=v, n=v.size)
  jax.debug.callback(note, v[1], v.sum())
  return v * 2
f(x), f(x + 1); done()
jax.debug.print("eager {}", x[2])
@jax.jit
def f(v): return lax.fori_loop(0, 4, lambda i, c: (jax.debug.callback(note, i, c.sum(), ordered=True), c * 2)[1], v)
assert float(f(x)[1]) == 16; done()
@jax.jit
def f(v): return lax.scan(lambda c, e: (c + e, io_callback(lambda s: (note(s), np.float32(s * 2))[1], f32(), c.sum(), ordered=True)), v, jnp.ones((3, 6)))
print(f(x)[1]); done()
@jax.jit
def f(p, v): return lax.cond(p, lambda v: (jax.debug.callback(note, v.sum()), v * 2)[1], lambda v: v, v)
f(True, x), f(False, x); done()
@jax.jit
def f(p, v):
  lax.cond(p, lambda: jax.debug.callback(note, v.max()), lambda: None)
  return v + 1
f(True, x), f(False, x); done()
@jax.jit
def f(v):
  io_callback(lambda: note(), None)
  for i in range(3): jax.debug.print("{i}", i=v[i], ordered=True)
  return v
f(x), f(x); done()
sort = lambda a: np.sort(a)[::-1]
print(jax.jit(jax.vmap(lambda v: jax.pure_callback(sort, f32(3), v, vmap_method="sequential")))(x.reshape(2, 3)).tolist())
many = (jax.ShapeDtypeStruct((6,), jnp.bfloat16), jax.ShapeDtypeStruct((), jnp.int32), jax.ShapeDtypeStruct((6,), bool), f32(0, 3))
print([a.tolist() for a in jax.jit(lambda v: jax.pure_callback(lambda a: (a.astype(jnp.bfloat16), np.int32(a.sum()), a > 2, np.zeros((0, 3), np.float32)), many, v))(x)])
sine = jax.custom_jvp(lambda v: jax.pure_callback(np.sin, f32(6), v))
sine.defjvp(lambda p, t: (sine(p[0]), jnp.cos(p[0]) * t[0]))
print(np.abs(np.asarray(jax.jit(jax.grad(lambda v: sine(v).sum()))(x)) - np.cos(np.arange(6))).max() < 1e-6)
print(jax.pure_callback(lambda a: a + 1, f32(6), x).tolist())
jax.jit(lambda v: jax.debug.print("alone {}", v))(x[2])
jax.jit(lambda: jax.debug.print("nothing"))()
jax.jit(lambda k: (jax.debug.print("key {}", k), k)[1])(jax.random.key(3))
lax.scan(lambda c, e: (jax.debug.print("{}", e), (c, None))[1], None, x[:2])
jax.effects_barrier()
"""

CALLED = """v=[0. 1. 2. 3. 4. 5.] of 6
v=[1. 2. 3. 4. 5. 6.] of 6
[[1.0, 15.0], [2.0, 21.0]]
eager 2.0
[[0, 15.0], [1, 30.0], [2, 60.0], [3, 120.0]]
[30. 42. 54.]
[[15.0], [21.0], [27.0]]
[[15.0]]
[[5.0]]
0.0
1.0
2.0
0.0
1.0
2.0
[[], []]
[[2.0, 1.0, 0.0], [5.0, 4.0, 3.0]]
[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 15, [False, False, False, True, True, True], []]
True
[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
alone 2.0
nothing
key [0 3]
0.0
1.0"""

SHARED = """
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("d",))
y = jax.device_put(np.arange(16, dtype=np.float32).reshape(8, 2), NamedSharding(mesh, P("d")))
@jax.jit
def f(v):
  jax.debug.callback(note, v.sum())
  return v + io_callback(lambda a: (note(a[0]), np.float32(a.sum()))[1], f32(), v)
print(np.asarray(f(y))[7].tolist()); done()
f = jax.jit(jax.shard_map(lambda v: (jax.debug.callback(lambda a: log.append(a.shape), v), lax.psum(v, "d"))[1], mesh=mesh, in_specs=P("d"), out_specs=P()))
print(f(y).tolist()); done()
print(np.asarray(jax.jit(lambda v: jax.pure_callback(lambda a: (note(), a[::-1])[1], f32(8, 2), v) * 2)(y))[0].tolist()); done()
f = jax.jit(jax.shard_map(lambda v: io_callback(lambda a: (note(a.sum()), a * 2)[1], jax.ShapeDtypeStruct(v.shape, v.dtype), v, ordered=True), mesh=mesh,
                          in_specs=P("d"), out_specs=P("d"), check_vma=False))
print(np.asarray(f(y))[:2].tolist())
jax.effects_barrier()
print(sorted(log))
"""

ERRORS = """
def attempt(action):
  try: np.asarray(action()); print("no error")
  except Exception as error: print(type(error).__name__, "|", str(error).splitlines()[0].split(": ")[0], "|", [line for line in str(error).splitlines() if "Error: " in line or "END" in line][-1])
def bad(a): raise ValueError("my own")
attempt(lambda: jax.jit(lambda v: jax.pure_callback(bad, f32(6), v))(x))
attempt(lambda: jax.jit(lambda v: jax.pure_callback(lambda a: a[:2], f32(6), v))(x))
attempt(lambda: jax.jit(lambda v: jax.pure_callback(lambda a: (a, a), f32(6), v))(x))
attempt(lambda: jax.jit(lambda v: jax.pure_callback(lambda a: a.astype(complex), f32(6), v))(x))
attempt(lambda: jax.jit(lambda v: jax.pure_callback(lambda a: np.asarray(jnp.sin(jnp.asarray(a)) + 1), f32(6), v))(x))
def long(a): raise ValueError("\u00f6" * 20000 + "END\\0")
attempt(lambda: jax.jit(lambda v: jax.pure_callback(long, f32(6), v))(x))
def picky(a):
  if a[0] < 0: raise ValueError("below 0")
  return a
f = jax.jit(lambda v: io_callback(picky, f32(6), v, ordered=True))
attempt(lambda: f(x - 1))
attempt(lambda: f(x))
attempt(lambda: x + 1)
try: jax.effects_barrier()
except Exception: pass
"""

LATER = """
import gc, pathlib, sys
from systole_jax import _callbacks
for i in range(40):
  jax.jit(lambda v: jax.pure_callback(lambda a: a + i, f32(6), v) + 0 * i)(x)
  jax.clear_caches(); gc.collect()
jax.effects_barrier()
print(len(_callbacks._functions) < 20)
"""

KEPT = """
import pickle
from jax.experimental.serialize_executable import serialize
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
step = jax.jit(lambda p, v: (p - 0.1 * v.sum(0), (v @ v.T).sum()), donate_argnums=0)
sharding = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), P("d"))
p, v = (jax.ShapeDtypeStruct(s, jnp.float32, sharding=sharding) for s in ((8,), (8, 8)))
pickle.dump(serialize(step.lower(p, v).compile()), open(FILE, "wb"))
try: serialize(jax.jit(lambda v: jax.pure_callback(np.sin, f32(6), v)).lower(x).compile())
except Exception as error: print(error)
"""

LOADED = """
import pickle
from jax.experimental.serialize_executable import deserialize_and_load
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
sharding = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), P("d"))
put = lambda a: jax.device_put(a, sharding)
step = deserialize_and_load(*pickle.load(open(FILE, "rb")))
a = np.arange(64, dtype=np.float32).reshape(8, 8)
p = put(np.ones(8, np.float32))
got, product = step(p, put(a))
print(np.allclose(got, 1 - 0.1 * a.sum(0)), np.allclose(product, (a @ a.T).sum(), rtol=0.01), p.is_deleted(), got.sharding.spec)
whole = open(FILE, "rb").read()
place = whole.index(b"StableHLO_v")
for damaged in (whole.replace(b"systole program 1", b"systole program 2"), whole[:place + 40] + bytes([whole[place + 40] ^ 1]) + whole[place + 41:]):
  open(FILE, "wb").write(damaged)
  try: deserialize_and_load(*pickle.load(open(FILE, "rb"))); print("no error")
  except Exception as error: print(error)
"""


# Largest errors; of the gradient, beside differences.
FACTORS = """
rng = np.random.default_rng(1)
a = rng.standard_normal((5, 5)).astype(np.float32)
c = (a + 1j * rng.standard_normal((5, 5))).astype(np.complex64)
def show(name, *differences): print(name, max(float(np.abs(d).max()) for d in differences))
def eig(a):
  w, v = map(np.asarray, jnp.linalg.eig(a))
  return a @ v - v * w[..., None, :]
show("real", eig(a)), show("complex", eig(c))
print("batch", str(jnp.linalg.eigvals(rng.standard_normal((2, 3, 5, 5)).astype(np.float32)).shape).replace(" ", ""))
w, l, r = map(np.asarray, jax.lax.linalg.eig(a))
show("left", l.conj().T @ a - w[:, None] * l.conj().T)
t, z = map(np.asarray, jax.scipy.linalg.schur(a))
show("schur", z @ t @ z.T - a)
t, z = map(np.asarray, jax.jit(jax.scipy.linalg.schur, static_argnames="output")(a, output="complex"))
show("schur_complex", z @ t @ z.conj().T - a, np.tril(t, -1))
h, q = map(np.asarray, jax.scipy.linalg.hessenberg(a, calc_q=True))
show("hessenberg", q @ h @ q.T - a, np.tril(h, -2))
show("polynomial", np.sort(np.asarray(jnp.roots(jnp.array([1., -6., 11., -6.]))).real) - [1, 2, 3])
with jax.default_matmul_precision("highest"):
  g = np.asarray(jax.grad(lambda a: jnp.linalg.eigvals(a).real.max())(a))
w, l, r = jax.lax.linalg.eig(a)
k = np.asarray(w).real.argmax()
l, r = np.asarray(l)[:, k], np.asarray(r)[:, k]
show("gradient", (np.outer(l.conj(), r) / (l.conj() @ r)).real - g)
a[0, 0] = np.nan
print("nan", int(np.isnan(np.asarray(jnp.linalg.eigvals(a))).sum() == 5) + int(np.isnan(np.asarray(jnp.linalg.eig(a)[1])).all()))
"""


class Callbacks(unittest.TestCase):
    def value(self, code, **more):
        status, out, err = jax_test.run(PREPARED + code, **more)
        self.assertEqual(status, 0, err)
        return out

    def test_calls(self):
        for more in ({}, {"SYSTOLE_DEVICES": "2"}, {"JAX_PLATFORMS": "systole,cpu"}, {"SYSTOLE_BACKEND": "rtl"}):
            with self.subTest(more):
                self.assertEqual(self.value(CALLS, SYSTOLE_FALLBACK="error", **more), CALLED)

    def test_several_devices(self):
        for more in ({}, {"SYSTOLE_PROPAGATION": "none"}, {"SYSTOLE_PRESET": "minichip"}):
            self.assertEqual(self.value(SHARED, SYSTOLE_DEVICES="4", **more).splitlines(), [
                "[134.0, 135.0]", "[[120.0], [[0.0, 1.0]]]", "[[24.0, 28.0], [32.0, 36.0]]", "[(2, 2), (2, 2), (2, 2), (2, 2)]", "[28.0, 30.0]", "[[]]",
                "[[0.0, 2.0], [4.0, 6.0]]", "[[6.0], [22.0], [38.0], [54.0]]"])

    def test_errors(self):
        out = self.value(ERRORS).replace("jit_stage", "jit_sin").splitlines()  # what of it comes first
        self.assertEqual([
            "JaxRuntimeError | INTERNAL | ValueError: my own",
            "JaxRuntimeError | INTERNAL | ValueError: result 0 is float32[2] instead of float32[6]",
            "JaxRuntimeError | INTERNAL | ValueError: 2 results instead of 1",
            "JaxRuntimeError | INTERNAL | ValueError: result 0 is complex128[6] instead of float32[6]",
            "JaxRuntimeError | INTERNAL | jax.errors.JaxRuntimeError: FAILED_PRECONDITION: jit_sin: a callback computes with JAX on the device whose "
            "program waits for it; list cpu in JAX_PLATFORMS (systole,cpu), on which it computes then, or use numpy in it"],
            out[:5])
        self.assertRegex(out[5], "^JaxRuntimeError . INTERNAL . .*\u00f6END.*0$")
        self.assertEqual(out[6:], ["JaxRuntimeError | INTERNAL | ValueError: below 0", "no error", "no error"])

    def test_functions_of_programs_that_are_gone_are_forgotten(self):
        self.assertEqual(self.value(LATER), "True")

    def test_factors_of_matrices_that_are_not_symmetric(self):
        values = dict(line.split() for line in self.value(FACTORS).splitlines())
        self.assertEqual(values.pop("batch"), "(2,3,5)")
        self.assertEqual(values.pop("nan"), "2")
        self.assertEqual(sorted(values), ["complex", "gradient", "hessenberg", "left", "polynomial", "real", "schur", "schur_complex"])
        for name, error in values.items():
            self.assertLess(float(error), 1e-5, name)

    def test_programs_go_to_other_processes(self):
        # The scripts' processes, forked from this one, would also delete a TemporaryDirectory.
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        file = f"FILE = {str(folder / 'step')!r}\n"
        for devices in ("1", "4"):
            out = self.value(file + KEPT, SYSTOLE_DEVICES=devices)
            self.assertIn("a program with callbacks belongs to the process that made it and is not serialised", out)
            self.assertEqual(self.value(file + LOADED, SYSTOLE_DEVICES=devices).splitlines(), ["True True True P('d',)"] + 2 * [
                "INVALID_ARGUMENT: this is no program that this version of the plugin has serialised, or it is damaged"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = jax_test.BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
