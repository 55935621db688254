#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Programs over several devices: values against one device, against numpy, and against the golden model to the bit; what ends, and what
is refused.

Usage: .venv-jax/bin/python tests/pjrt/devices_test.py --build build [unittest's arguments]
"""

import argparse
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import jax_test

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

PREPARED = """
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
devices = jax.devices()
mesh = Mesh(np.array(devices).reshape(-1, 2), ("d", "m"))
S = lambda *axes: NamedSharding(mesh, P(*axes))
rng = np.random.default_rng(0)
f32 = lambda *shape: rng.normal(size=shape).astype(np.float32)
x = np.arange(64, dtype=np.float32).reshape(16, 4)
def same(a, b): assert np.array_equal(np.asarray(a), np.asarray(b)), (a, b)
"""

# Functions and how their arguments are divided. CONSTRAIN is with_sharding_constraint, or nothing on one device.
FUNCTIONS = """
def constrain(value, *axes): return lax.with_sharding_constraint(value, S(*axes)) if divided else value
conv = lambda x, k, stride=1, **more: lax.conv_general_dilated(x, k, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), **more)
A, B, C = f32(16, 8), f32(8, 12), f32(12, 4)
image, kernel, numbers = f32(8, 6, 6, 4), f32(3, 3, 4, 6), rng.integers(0, 8, size=16).astype(np.int32)
functions = {
  "sums": (lambda x: (x.sum(0), x.max(), x.mean(1)), (A, "d", "m")),
  "from five": (lambda x: lax.reduce(x, np.float32(5), lax.add, (0,)), (A, "d")),
  "argmax": (lambda x: (x.argmax(0), jnp.cumsum(x, 1)), (A, "d", "m")),
  "sorted": (lambda x: (jnp.sort(x, 0), lax.top_k(x, 3)[0]), (A, "d", "m")),
  "moves": (lambda x: (x[3:9, 1:7] * 2, x[::-1], jnp.roll(x, 3, 0), jnp.pad(x, ((1, 2), (3, 0))), jnp.concatenate([x, 2 * x])), (A, "d", "m")),
  "shapes": (lambda x: (x.reshape(-1), x.reshape(2, 8, 8) * 2, x.T @ x), (A, "d", "m")),
  "counted": (lambda x: x + jnp.arange(16.0)[:, None] + constrain(jnp.arange(8.0), "m"), (A, "d", "m")),
  "places": (lambda x, i: (x[i], x.at[i].add(1.5), lax.dynamic_slice(x, (i[0], 1), (4, 4))), (A, "d", "m"), (numbers, "d")),
  "rows": (lambda e, i, g: jax.grad(lambda e: (e[i] * g).sum())(e), (A, "m"), (numbers, "d"), (f32(16, 8), "d")),
  "perceptron": (lambda w, v, x: jax.grad(lambda w, v: ((jax.nn.relu(x @ w) @ v) ** 2).mean(), (0, 1))(w, v), (B, None, "m"), (C, "m"), (A, "d")),
  "divided weights": (lambda w, x: jax.grad(lambda w: jnp.tanh(x @ w).sum())(w), (B, "d", "m"), (A, "d")),
  "convolution": (lambda x, k: (conv(x, k), jax.grad(lambda k: (conv(x, k, 2) ** 2).sum())(k)), (image, "d"), (kernel, None, None, None, "m")),
  "rows of images": (lambda x, k: conv(x, k), (f32(8, 8, 8, 4), None, "d"), (kernel,)),
  "channels": (lambda x, k: conv(x, k, feature_group_count=4), (image, "d", None, None, "m"), (f32(3, 3, 1, 8),)),
  "pool": (lambda x: jax.grad(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum())(x), (image, "d")),
  "norm": (lambda x: (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-3), (A, "d")),
  "attention": (lambda q, k, v: jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k)), v), *[(f32(4, 6, 2, 8), "d", None, "m")] * 3),
  "loops": (lambda x: (lax.fori_loop(0, 3, lambda i, v: jnp.tanh(v @ x.T @ x) + i, x), lax.scan(lambda c, r: (c + r, c * r), x[0], x)), (A, "d", "m")),
  "branches": (lambda x, i: lax.switch(i, [lambda x: x.sum(0), lambda x: x.max(0), lambda x: x[3]], x), (A, "d", "m"), (np.int32(1),)),
  "factors": (lambda x: (jnp.linalg.cholesky(x @ jnp.swapaxes(x, 1, 2) + 8 * jnp.eye(4)), jnp.linalg.qr(x[0])[1]), (f32(8, 4, 4), "d")),
  "random": (lambda k, x: (jnp.where(jax.random.bernoulli(k, 0.5, (16, 8)), x, 0), constrain(jax.random.normal(k, (16, 8)), "d", "m")),
             (np.array([1, 2], np.uint32),), (A, "d")),
  "uneven": (lambda x: (jnp.exp(constrain(x[:10], "d")).mean(), jax.nn.softmax(constrain(x[:13, :7] @ x[:13, :7].T, "d", "m"))), (A, "d")),
  "complex numbers": (lambda z, w: (z @ w * 1j, jnp.fft.fft(z, axis=0), jnp.abs(z), constrain(jnp.exp(z), "m"), z.sum(0) + 2j, z[::-1].T),
                      ((A + 1j * A[::-1]).astype(np.complex64), "d", "m"), ((B - 2j * B).astype(np.complex64), "m")),
  "again": (lambda x: constrain(constrain(x * 2, "m", "d") + 1, None, ("d", "m")), (A, ("d", "m"))),
  "entropy": (lambda x, i: jax.grad(lambda x: -jnp.take_along_axis(jax.nn.log_softmax(x), i[:, None], 1).mean())(x), (A, "d"), (numbers, "d")),
  "given back": (lambda x, y: (y, x * 2), (A, "d"), (A, "m")),
  "tiles inside": (lambda x: jax.shard_map(lambda x: lax.psum(x * 2, "d") @ x.T, mesh=mesh, in_specs=P("d"), out_specs=P(None, "d"), axis_names={"d"})(x + 1) * 3
                   if divided else ((x + 1).reshape(len(devices) // 2, -1, 8).sum(0) * 2) @ (x + 1).T * 3, (A, "d", "m")),
}
for name, (function, *arguments) in functions.items():
  divided = False
  wanted = jax.tree.leaves(jax.jit(function)(*(value for value, *_ in arguments)))
  divided = True
  got = jax.tree.leaves(jax.jit(lambda *a: function(*a))(*(jax.device_put(value, S(*axes)) for value, *axes in arguments)))
  for a, b in zip(wanted, got):
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape, name
    assert np.allclose(a, b, rtol=1e-4, atol=1e-4 * max(1, np.abs(a).max(initial=0))), (name, np.abs(a - b).max())
print(len(functions), "functions")
"""

COLLECTIVES = """
n = len(devices) // 2
y = f32(16 * n, 6)
parts = y.reshape(n, -1, 6)
def on_d(function, out=P("d"), **more):
  return np.asarray(jax.jit(jax.shard_map(function, mesh=mesh, in_specs=P("d"), out_specs=out, **more))(y))
close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
close(on_d(lambda v: lax.psum(v, "d"), P()), parts.sum(0))
close(on_d(lambda v: lax.pmean(v, ("d", "m")), P(), check_vma=False), parts.mean(0))
same(on_d(lambda v: lax.pmax(v, "d"), P()), parts.max(0))
same(on_d(lambda v: lax.all_gather(v, "d", tiled=True), P(), check_vma=False), y)
same(on_d(lambda v: lax.all_gather(v, "d", axis=1), P(), check_vma=False), parts.transpose(1, 0, 2))
close(on_d(lambda v: lax.psum_scatter(v, "d", tiled=True)), parts.sum(0))
same(on_d(lambda v: lax.ppermute(v, "d", [(i, (i + 1) % n) for i in range(n)])), np.roll(parts, 1, 0).reshape(y.shape))
same(on_d(lambda v: lax.ppermute(v, "d", [(0, n - 1)])).reshape(parts.shape)[-1], parts[0])
same(on_d(lambda v: lax.ppermute(v, "d", [(0, n - 1)]))[:8 if n > 1 else 0], np.zeros((8 if n > 1 else 0, 6)))
same(on_d(lambda v: lax.all_to_all(v, "d", 0, 1, tiled=True)),
     np.concatenate([np.concatenate([p[i * (16 // n):(i + 1) * (16 // n)] for p in parts], 1) for i in range(n)]))
same(on_d(lambda v: v * 0 + lax.axis_index("d")), np.repeat(np.arange(n), 16)[:, None] * np.ones(6))
same(on_d(lambda v: lax.pbroadcast(v, "d", n - 1), check_vma=False), np.tile(parts[-1], (n, 1)))
close(on_d(lambda v: lax.while_loop(lambda c: lax.psum(jnp.abs(c).sum(), ("d", "m")) < 1e4, lambda c: c * 2, v), check_vma=False) / y, (on_d(
  lambda v: lax.while_loop(lambda c: lax.psum(jnp.abs(c).sum(), ("d", "m")) < 1e4, lambda c: c * 2, v), check_vma=False) / y)[0, 0] * np.ones(y.shape))
k = len(devices)
z = f32(k, 3)
close(jax.pmap(lambda v: lax.psum(v, "i"), axis_name="i")(z), np.tile(z.sum(0), (k, 1)))
close(jax.pmap(lambda v, w: lax.pmean(v * w, "i"), axis_name="i", in_axes=(0, None))(z, np.float32(2)), np.tile(2 * z.mean(0), (k, 1)))
same(jax.pmap(lambda v: v + lax.axis_index("i"), axis_name="i")(z), z + np.arange(k, dtype=np.float32)[:, None])
half = [list(range(k // 2)), list(range(k // 2, k))]
close(jax.pmap(lambda v: lax.psum(v, "i", axis_index_groups=half), axis_name="i")(z)[0], z[:k // 2].sum(0))
close(jax.pmap(lambda v: lax.psum(v, "i"), axis_name="i", devices=devices[-2:])(z[:2])[1], z[:2].sum(0))
y = (y + 1j * y[::-1]).astype(np.complex64)
parts = y.reshape(n, -1, 6)
close(on_d(lambda v: lax.psum(v * 1j, "d"), P()), 1j * parts.sum(0))
close(on_d(lambda v: lax.psum_scatter(v, "d", tiled=True)), parts.sum(0))
same(on_d(lambda v: lax.all_gather(v, "d", tiled=True), P(), check_vma=False), y)
same(on_d(lambda v: lax.ppermute(v, "d", [(i, (i + 1) % n) for i in range(n)])), np.roll(parts, 1, 0).reshape(y.shape))
print("done")
"""

ARRAYS = """
for axes in [(), ("d",), ("m",), ("d", "m"), (("d", "m"),), (None, "d"), (("m", "d"), None)]:
  a = jax.device_put(x, S(*axes))
  same(a, x)
  same(jax.device_put(a, S("m", None)), x)
  c = jax.device_put(jax.device_put(a, S("d")), devices[-1])
  assert c.devices() == {devices[-1]}
  same(jax.device_put(c, S(None, "m")), x)
f = jax.jit(lambda v: v + 1, donate_argnums=0)
a = jax.device_put(x, S("d"))
b = f(a)
assert a.is_deleted() and b.sharding == S("d"), b.sharding
same(b, x + 1)
assert jax.jit(lambda v: v.sum(0))(jax.device_put(x, S("d", "m"))).sharding.is_equivalent_to(S("m"), 1)
assert jax.jit(lambda v: v * 2, out_shardings=S(None, "m"))(jax.device_put(x, S("d"))).sharding.spec == P(None, "m")
key = jax.random.key(3)
for shape, axes in (((16, 8), ("d", "m")), ((17, 8), (None, "m"))):
  same(jax.jit(lambda k: jax.random.normal(k, shape), out_shardings=S(*axes))(key), jax.random.normal(key, shape))
order = np.array(devices)[::-1]
turned = NamedSharding(Mesh(order, ("q",)), P("q"))
same(jax.jit(lambda v: v * 2 + v.sum())(jax.device_put(x, turned)), x * 2 + x.sum())
few = NamedSharding(Mesh(order[:2], ("q",)), P("q"))
same(jax.jit(lambda v: v.sum(0))(jax.device_put(x, few)), x.sum(0))
text = jax.jit(lambda v: v + 1).lower(jax.device_put(x, S("d"))).compile().as_text()
assert "num_partitions=%d" % len(devices) in text, text
print("done")
"""

DEATH = """
import os, signal, subprocess
f = lambda n: jax.jit(lambda v: (v * n).sum(0))(jax.device_put(x, S("d", "m")))
same(f(2), 2 * x.sum(0))
children = [int(p) for p in subprocess.run(["ps", "-o", "pid=", "--ppid", str(os.getpid())], capture_output=True, text=True).stdout.split()]
mine = [p for p in children if os.path.exists(f"/proc/{p}/cmdline") and b"_propagation" in open(f"/proc/{p}/cmdline", "rb").read()]
assert len(mine) == 1, mine
os.kill(mine[0], signal.SIGKILL)
same(f(3), 3 * x.sum(0))
same(f(4), 4 * x.sum(0))
print("done")
"""

KERAS = """
import keras
from keras import layers
def learn(distribution):
  keras.utils.set_random_seed(1)
  keras.distribution.set_distribution(distribution)
  model = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(6, 3, padding="same"), layers.BatchNormalization(), layers.Activation("relu"),
                            layers.Flatten(), layers.Dense(16, activation="relu", name="hidden"), layers.Dropout(0.3), layers.Dense(8, name="last")])
  model.compile(optimizer=keras.optimizers.Adam(0.01), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
  history = model.fit(images, labels, batch_size=16, epochs=2, verbose=0, shuffle=False)
  return history.history["loss"], [np.asarray(v.value) for v in model.trainable_variables], model
images, labels = f32(64, 8, 8, 1), rng.integers(0, 8, size=64).astype(np.int32)
names = [f"systole:{d.id}" for d in devices]
loss, weights, model = learn(keras.distribution.DataParallel(devices=names))
grid = keras.distribution.DeviceMesh((len(names) // 2, 2), ["batch", "model"], names)
layout = keras.distribution.LayoutMap(grid)
layout[".*hidden/kernel"] = (None, "model")
layout[".*hidden/bias"] = ("model",)
layout[".*last/kernel"] = ("model", None)
model_loss, model_weights, model = learn(keras.distribution.ModelParallel(layout_map=layout, batch_dim_name="batch"))
kernel = model.get_layer("hidden").kernel.value
assert kernel.sharding.spec == P(None, "model"), kernel.sharding
one_loss, one_weights, _ = learn(None)
for other, values in ((loss, weights), (model_loss, model_weights)):
  assert np.allclose(one_loss, other, rtol=0.02), (one_loss, other)
  assert all(np.abs(a - b).mean() < 0.01 for a, b in zip(one_weights, values))
print("done")
"""


class Devices(unittest.TestCase):
    def value(self, code, devices=8, **more):
        status, out, err = jax_test.run(PREPARED + code, SYSTOLE_DEVICES=str(devices), **more)
        self.assertEqual(status, 0, err)
        return out, err

    def error(self, code, **more):
        status, _, err = jax_test.run(code, **more)
        self.assertEqual(status, 1, err)
        return err

    def test_coordinates(self):
        out, _ = self.value("print(devices[5], [(*d.coords, d.core_on_chip) for d in devices])")
        self.assertEqual(out, "SystoleDevice(id=5, coords=(0,1,0), core_on_chip=1) [(0, 0, 0, 0), (0, 0, 0, 1), (1, 0, 0, 0), (1, 0, 0, 1), "
                              "(0, 1, 0, 0), (0, 1, 0, 1), (1, 1, 0, 0), (1, 1, 0, 1)]")

    def test_functions_on_tiles(self):
        for devices, propagation in ((8, "shardy"), (8, "none"), (2, "shardy"), (4, "none")):
            out, err = self.value(FUNCTIONS, devices, SYSTOLE_PROPAGATION=propagation, SYSTOLE_FALLBACK="error")
            self.assertRegex(out, "^2[0-9] functions$")
            self.assertNotIn("suggests nothing", err)

    def test_collectives(self):
        for devices in (2, 4, 8):
            self.assertEqual(self.value(COLLECTIVES, devices)[0], "done")

    def test_collectives_over_links(self):
        """On linked chips, by simulator and RTL: the same values as through the host."""
        report = {"SYSTOLE_PRESET": "minichip", "SYSTOLE_REPORT": "1"}
        first = COLLECTIVES.split("close(on_d(lambda v: lax.while")[0] + 'print("done")'  # loops of eight cores take the RTL minutes
        for devices, backend, code in ((8, "iss", COLLECTIVES), (2, "rtl", COLLECTIVES), (8, "rtl", first)):
            out, err = self.value(code, devices, SYSTOLE_BACKEND=backend, **report)
            self.assertEqual(out, "done")
            self.assertIn("over the links", err)
        out, err = self.value(FUNCTIONS, 8, **report)
        self.assertRegex(out, "^2[0-9] functions$")
        self.assertIn("over the links", err)

    def test_arrays(self):
        for devices in (4, 8):
            self.assertEqual(self.value(ARRAYS, devices)[0], "done")

    def test_keras(self):
        self.assertEqual(self.value(KERAS, 4, KERAS_BACKEND="jax")[0], "done")

    def test_to_the_bit(self):
        """Every program of several devices, as Shardy has it, against the golden model of as many processes."""
        folder = self.folder()
        self.value(FUNCTIONS + COLLECTIVES, 4, SYSTOLE_DUMP=str(folder))
        checked, suggested = self.check(folder, 4)
        self.assertGreater(checked, 40)
        self.assertGreater(suggested, 20)

    def test_compared_in_the_process(self):
        """SYSTOLE_CHECK compares every run, and says of what it cannot."""
        code = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
spread = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), P("d"))
x = jax.device_put(np.random.default_rng(1).standard_normal((16, 8), np.float32), spread)
step = jax.jit(lambda x: jnp.tanh(x @ x.T) @ x - x.mean(), donate_argnums=0)
for _ in range(3): x = step(x)
"""
        def told(script):
            environment = jax_test.environment(SYSTOLE_DEVICES="4", SYSTOLE_CHECK="1")
            done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=600)
            return done.stderr

        err = told(code)
        self.assertRegex(err, "SYSTOLE_CHECK: [0-9]+ runs, [0-9]+ values equal to the golden model; 0 runs not compared")
        self.assertGreaterEqual(int(re.search("CHECK: ([0-9]+) runs", err)[1]), 3)
        err = told(code + "jax.jit(lambda v: jax.pure_callback(np.sin, v, v) + 1)(np.ones(4, np.float32))")
        self.assertRegex(err, "SYSTOLE_CHECK: jit__lambda is not compared with the golden model: .*call")
        self.assertIn("; 1 runs not compared", err)

    def test_model_parallelism(self):
        """The example: equal to one device but for the order of sums, and to the golden model of as many processes to the bit."""
        script = f"""
import runpy, sys
sys.argv = ["jax_model_parallel.py"]
runpy.run_path("{ROOT}/examples/jax_model_parallel.py", run_name="__main__")"""
        for devices, preset in ((8, "minichip"), (4, "mini")):
            folder = self.folder()
            out, err = self.value(script, devices, SYSTOLE_PRESET=preset, SYSTOLE_DUMP=str(folder), SYSTOLE_REPORT="1")
            lines = out.splitlines()
            self.assertEqual([line.split()[0] for line in lines], ["transformer", "experts", "pipeline", "embedding"])
            for line in lines:
                loss, one, count, equal, difference = re.search("loss ([0-9.]+) .* devices, ([0-9.]+) on one; ([0-9,]+) derivatives, ([0-9,]+) equal.*"
                                                                "difference ([0-9.e-]+) of", line).groups()
                self.assertAlmostEqual(float(loss), float(one), 5)
                self.assertLess(float(difference), 1e-4)
                if line.startswith(("pipeline", "embedding")):  # no sum is divided
                    self.assertEqual(count, equal, line)
            self.assertNotIn("computes the whole of", err)
            self.assertEqual(self.check(folder, devices)[0], 4)

    def folder(self):
        # The script's process, forked from this one, would also delete a TemporaryDirectory.
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def check(self, folder, devices):
        """How many of the dumped programs are of several devices, and how many have suggestions; all are equal to the golden model."""
        checked = suggested = 0
        for path in sorted(folder.glob("program_????.mlirbc")):
            shardy = folder / f"{path.stem}.shardy.mlirbc"
            path = shardy if shardy.exists() else path
            words = [BUILD / "bin/systole", "run", path, "--random", "1", "--backend", "iss", "--preset", "mini", "--quiet", "--check", path]
            done = subprocess.run([*words, "--devices", str(devices)], capture_output=True, text=True, check=False)
            if "leave --devices out" in done.stderr:
                continue
            if "give --devices 2" in done.stderr:  # pmap of two
                done = subprocess.run([*words, "--devices", "2"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{path}: {done.stdout}{done.stderr}")
            self.assertIn("0 mismatches", done.stdout)
            checked += 1
            suggested += path == shardy
        return checked, suggested

    def test_the_process_of_shardy_may_end(self):
        out, err = self.value(DEATH)
        self.assertEqual(out, "done")
        self.assertRegex(err, "systole: jit__lambda: Shardy suggests nothing .its process ended.; arrays are divided as the operands")
        self.assertEqual(err.count("suggests nothing"), 1)

    def test_what_it_tells(self):
        code = "jax.jit(lambda v: (v.sum(0), v[::-1]))(jax.device_put(x, S('d')))"
        _, err = self.value(code, SYSTOLE_REPORT="1", SYSTOLE_FALLBACK="error", SYSTOLE_PROPAGATION="none")
        self.assertIn("2 collectives through the host's memory (80 bytes of each device): hlo.all_gather 1, hlo.all_reduce 1", err)
        self.assertIn("every device computes the whole of: hlo.reverse 1", err)
        _, err = self.value(code + "\n" + code)
        self.assertEqual(err.count("the devices exchange values through the host's memory"), 1)

    def test_several_processes_are_refused(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            place = f"127.0.0.1:{free.getsockname()[1]}"
        code = f"""
import sys, jax
jax.distributed.initialize("{place}", 2, int(sys.argv[1]))
try:
  jax.devices()
except RuntimeError as error:
  print(error)
"""
        both = [subprocess.Popen([sys.executable, "-c", code, str(i)], env=jax_test.environment(), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True) for i in range(2)]
        for process in both:
            out, err = process.communicate(timeout=120)
            self.assertRegex(out, "jax.distributed with 2 processes: the devices are those of one process .SYSTOLE_DEVICES.; leave "
                                  "jax.distributed.initialize out", err)

    def test_one_process_of_jax_distributed(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            place = f"127.0.0.1:{free.getsockname()[1]}"
        code = f"import jax; jax.distributed.initialize('{place}', 1, 0); import jax.numpy as jnp; print(len(jax.devices()), jnp.arange(3) + 1)"
        done = subprocess.run([sys.executable, "-c", code], env=jax_test.environment(), capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "1 [1 2 3]"), done.stderr)

    def test_errors(self):
        self.assertIn("SYSTOLE_PROPAGATION: propagation = 'gspmd' is not shardy or none", self.error("jax.devices()", SYSTOLE_PROPAGATION="gspmd"))
        err = self.error("""
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("d",))
f = jax.shard_map(lambda v: jax.lax.cond(jax.lax.axis_index("d") < 1, lambda v: jax.lax.psum(v, "d"), lambda v: v * 2, v), mesh=mesh,
                  in_specs=P("d"), out_specs=P("d"), check_vma=False)
np.asarray(jax.jit(f)(np.ones((4, 2), np.float32)))""", SYSTOLE_DEVICES="4")
        self.assertRegex(err, r"FAILED_PRECONDITION: .*process 1, 2, 3 of its group never comes to this hlo.all_reduce")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = jax_test.BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
