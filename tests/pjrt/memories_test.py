#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Arrays in the host's memory (pinned_host), and what jax tells of compiled programs: their text, costs and memory.

Usage: .venv-jax/bin/python tests/pjrt/memories_test.py --build build [unittest's arguments]
"""

import argparse
import pathlib
import sys
import unittest

import jax_test

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

PREPARED = """
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
devices = jax.devices()
mesh = Mesh(np.array(devices), ("d",))
device = NamedSharding(mesh, P("d"))
host = device.with_memory_kind("pinned_host")
x = np.arange(64, dtype=np.float32).reshape(8, 8)
def same(a, b, kind):
  assert np.array_equal(np.asarray(a), b), (a, b)
  assert a.sharding.memory_kind == kind, a.sharding
def used(): return sum(d.memory_stats()["bytes_in_use"] for d in devices)
"""

ARRAYS = """
assert [m.kind for m in devices[-1].addressable_memories()] == ["device", "pinned_host", "unpinned_host"]
assert devices[0].default_memory().kind == "device"
ids = [m.__repr__() for d in devices for m in d.addressable_memories()]
assert len(set(ids)) == 3 * len(devices), ids
before = used()
a = jax.device_put(x, host)
assert used() == before, used()
same(a, x, "pinned_host")
b = jax.device_put(a, device)
assert used() == before + x.nbytes, used()
same(b, x, "device")
same(jax.device_put(b, host), x, "pinned_host")
unpinned = device.with_memory_kind("unpinned_host")
same(jax.device_put(x, unpinned), x, "unpinned_host"), same(jax.device_put(jax.device_put(b, unpinned), device), x, "device")
same(jax.jit(lambda v: v + 1, out_shardings=unpinned)(b), x + 1, "unpinned_host")
z = (x + 1j).astype(np.complex64)
same(jax.device_put(jax.device_put(z, host), device), z, "device")
other = SingleDeviceSharding(devices[-1], memory_kind="pinned_host")
same(jax.device_put(b, other), x, "pinned_host")
same(jax.device_put(jax.device_put(x, other), SingleDeviceSharding(devices[0], memory_kind="device")), x, "device")
"""

PROGRAMS = """
a = jax.device_put(x, host)
there = lambda v: jax.device_put(v, host)
here = lambda v: jax.device_put(v, device)
same(jax.jit(lambda v: here(v) * 2)(a), x * 2, "device")
same(jax.jit(lambda v: here(v) * 2, out_shardings=host)(a), x * 2, "pinned_host")
same(jax.jit(lambda v: there(here(v) * 2))(a), x * 2, "pinned_host")
one, two = jax.jit(lambda v: (here(v) + 1, here(v) - 1), out_shardings=(host, device))(a)
same(one, x + 1, "pinned_host"), same(two, x - 1, "device")
step = jax.jit(lambda v: here(v) + 1, donate_argnums=0, out_shardings=host)
for _ in range(3): a = step(a)
same(a, x + 3, "pinned_host")
# Gradients of moves go the other way, into the same tiles.
back = jax.jit(jax.grad(lambda v: jax.jit(lambda v: jax.device_put(v, device, src=host))(v).sum()))(a)
same(back, np.ones_like(x), "pinned_host"), same(jax.jit(lambda v: there(here(v)))(a), x + 3, "pinned_host")
for value in (back, jax.jit(lambda v: there(here(v)))(a)): assert value.sharding.is_equivalent_to(host, 2), value.sharding
# A state that is on the device while a step uses it.
def update(w, m, g):
  m = 0.9 * here(m) + g
  return w - 0.1 * m, there(m)
update = jax.jit(update, donate_argnums=(0, 1), out_shardings=(device, host))
w, m = jax.device_put(x, device), jax.device_put(x * 0, host)
for _ in range(2): w, m = update(w, m, x)
assert np.allclose(w, x - 0.1 * (x + 1.9 * x)), w
assert m.sharding.memory_kind == "pinned_host" and np.allclose(m, 1.9 * x)
"""

OFFLOAD = """
from jax.ad_checkpoint import checkpoint_name, checkpoint_policies
layer = lambda x, w: checkpoint_name(jnp.tanh(x @ w), "h")
policy = checkpoint_policies.save_and_offload_only_these_names(names_which_can_be_saved=[], names_which_can_be_offloaded=["h"],
                                                               offload_src="device", offload_dst="pinned_host")
def loss(function): return lambda ws, x: (lax.scan(lambda x, w: (function(x, w), None), x, ws)[0] ** 2).sum()
ws = np.random.default_rng(0).normal(size=(3, 8, 8)).astype(np.float32)
v = jax.device_put(x / 64, device)
wanted = jax.jit(jax.grad(loss(layer)))(ws, v)
got = jax.jit(jax.grad(loss(jax.checkpoint(layer, policy=policy))))(ws, v)
assert np.abs(wanted).max() > 0.1 and np.allclose(got, wanted, rtol=1e-5, atol=1e-5)
from jax.experimental.compute_on import compute_on
def mixed(v):
  with compute_on("device_host"): w = v + 1
  return w * 2
assert np.array_equal(jax.jit(mixed)(v), (x / 64 + 1) * 2)
"""

# Moves by jax.memory.Space: in loops, branches, shard_map, gradients; donation.
SPACES = """
import warnings
Space = jax.memory.Space
a, b = jax.device_put(x, host), jax.device_put(x, device)
same(jax.device_put(b, Space.Host), x, "pinned_host"), same(jax.device_put(a, Space.Device), x, "device")
up, down = (lambda v: jax.device_put(v, Space.Host)), (lambda v: jax.device_put(v, Space.Device))
same(jax.jit(lambda v: up(v * 2))(b), x * 2, "pinned_host"), same(jax.jit(lambda v: down(v) * 2)(a), x * 2, "device")
same(jax.jit(lambda v: down(up(v * 2)) + 1)(b), x * 2 + 1, "device"), same(jax.jit(lambda v: v)(a), x, "pinned_host")
tree = jax.jit(lambda v: {"here": v + 1, "there": up(v), "number": up(v.sum())})(b)
same(tree["here"], x + 1, "device"), same(tree["there"], x, "pinned_host"), same(tree["number"], 2016, "pinned_host")
whole = NamedSharding(mesh, P(), memory_kind="pinned_host")
same(jax.jit(lambda v: v + 1, out_shardings=whole)(b), x + 1, "pinned_host"), same(jax.jit(jax.vmap(lambda v: up(v + 1)))(b), x + 1, "pinned_host")
same(jax.jit(lambda v: lax.cond(v[0, 1] > 0, lambda v: up(v * 2), lambda v: up(v * 3), v))(b), x * 2, "pinned_host")
tiles = lambda f, spec: jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("d"), out_specs=spec))
same(tiles(lambda v: down(v) * 2, P("d"))(a), x * 2, "device"), same(tiles(lambda v: up(lax.psum(v.sum(0), "d")), P())(b), x.sum(0), "pinned_host")
# Layers' weights on the host, each on the device while it is used; what each layer gives goes to the host.
ws = jax.device_put(np.random.default_rng(1).normal(size=(3, 8, 8)).astype(np.float32), whole)
def layers(ws, v, move): return lax.scan(lambda v, w: (jnp.tanh(v @ move(w)), up(v) if move is down else v), v, ws)
last, stacked = jax.jit(lambda ws, v: layers(ws, v, down))(ws, b / 64)
last_here, stacked_here = jax.jit(lambda ws, v: layers(ws, v, lambda w: w))(jax.device_put(ws, whole.with_memory_kind("device")), b / 64)
same(last, np.asarray(last_here), "device"), same(stacked, np.asarray(stacked_here), "pinned_host")
slope = jax.jit(jax.grad(lambda ws, v: (layers(ws, v, down)[0] ** 2).sum()))
same(slope(ws, b / 64), np.asarray(slope(jax.device_put(ws, whole.with_memory_kind("device")), b / 64)), "pinned_host")
assert np.abs(slope(ws, b / 64)).min(axis=(1, 2)).min() > 0
# A donated array is no more, whether a result can take its place or is in the other memory.
def donated(function, kind, sharding):
  v = jax.device_put(x, sharding)
  with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    same(jax.jit(function, donate_argnums=0)(v), x + 1, kind)
  assert v.is_deleted() and not found, (sharding, found)
donated(lambda v: up(down(v) + 1), "pinned_host", host), donated(lambda v: up(v + 1), "pinned_host", device), donated(lambda v: down(v) + 1, "device", host)
m = jax.jit(lambda v: up(v * 2)).lower(b).compile().memory_analysis()
assert (m.host_output_size_in_bytes, m.output_size_in_bytes) == (x.nbytes // len(devices), 0), m
# Policies of checkpoint change no bit.
name = jax.ad_checkpoint.checkpoint_name
layer = lambda v, w: name(jnp.tanh(name(v @ w, "product")), "output")
loss = lambda f: jax.jit(jax.grad(lambda ws, v: (lax.scan(lambda v, w: (f(v, w), None), v, ws)[0] ** 2).sum()))
policies, ws = jax.checkpoint_policies, jax.device_put(ws, whole.with_memory_kind("device"))
wanted = np.asarray(loss(layer)(ws, b / 64))
for saved, moved in (["product"], ["output"]), ([], ["product", "output"]):
  offload = policies.save_and_offload_only_these_names(names_which_can_be_saved=saved, names_which_can_be_offloaded=moved, offload_src="device", offload_dst="pinned_host")
  same(loss(jax.checkpoint(layer, policy=offload))(ws, b / 64), wanted, "device")
same(loss(jax.checkpoint(layer, policy=policies.offload_dot_with_no_batch_dims("device", "pinned_host")))(ws, b / 64), wanted, "device")
"""

# Each takes 0.4 of what values may have; six are there.
LARGE = """
size = int(0.2 * devices[0].memory_stats()["bytes_limit"]) // 4096
first = jax.jit(lambda v: v[0, :4] * 2)
arrays = [jax.device_put(np.full((size, 1024), i, np.float32), SingleDeviceSharding(devices[0], memory_kind=KIND)) for i in range(3)]
try:
  fill = jax.jit(lambda i: jnp.full((size, 1024), i), out_shardings=arrays[0].sharding)
  arrays += [fill(jnp.float32(i)) for i in range(3)]
  for i, a in enumerate(arrays): assert np.asarray(first(a)).tolist() == [2.0 * (i % 3)] * 4
  print("done")
except Exception as error: print(" ".join(str(error).split()))
"""

ERRORS = """
def attempt(action):
  try: action(); print("no error")
  except Exception as error: print(" ".join(str(error).split()))
attempt(lambda: jax.device_put(x, SingleDeviceSharding(devices[0], memory_kind="attic")))
rows = len(devices) * (devices[0].memory_stats()["bytes_limit"] // 4096)
big = jax.device_put(np.zeros((rows, 1024), np.float32), device)
attempt(lambda: jax.jit(lambda v: v + 1)(big).block_until_ready())
print(float(jnp.sum(jnp.ones(3))))
"""

TEXT = """
put = lambda *shape: jax.device_put(np.ones(shape, np.float32), device)
def text(f, *a): return jax.jit(f).lower(*a).compile().as_text()
print(text(lambda v, w: jnp.tanh(v.T @ v) * w, put(8, 4), np.float32(2)))
print(text(lambda z: (z * 1j, lax.fori_loop(0, z.size, lambda i, c: c + 1, 0)), np.ones(3, np.complex64)))
sums = jax.shard_map(lambda a, b: (lax.psum(a, "d"), lax.psum(b.T, "d"), lax.all_gather(b, "d"), lax.all_gather(a * 2, "d")), mesh=mesh, in_specs=P("d"), out_specs=P(), check_vma=False)
print(text(sums, put(8, 4), put(8, 6)))
f = jax.jit(lambda v: v @ v.T).lower(np.ones((8, 4), np.float32)).compile()
print(f.cost_analysis())
"""


NEEDS = """
def show(f, *a, **how):
  m = jax.jit(f, **how).lower(*a).compile().memory_analysis()
  parts = "argument", "output", "alias", "temp", "generated_code", "host_output"
  print(*(getattr(m, part + "_size_in_bytes") for part in parts), m.peak_memory_in_bytes)
put = lambda *shape: jax.device_put(np.ones(shape, np.float32), device)
show(lambda v: v + 1, put(64, 16))
show(lambda v, u: lax.dynamic_update_slice(v, u, (0, 0)), np.ones((64, 16), np.float32), np.ones((1, 16), np.float32), donate_argnums=0)
show(lambda v: (v @ v) @ v.T, np.ones((64, 64), np.float32))
show(lambda v: (v + 1, v * 2), put(64, 16), out_shardings=(device, host))
show(lambda z: z * 2, np.ones(8, np.complex64))
"""


class Memories(unittest.TestCase):
    def value(self, code, devices=1, **more):
        status, out, err = jax_test.run(PREPARED + code, SYSTOLE_DEVICES=str(devices), **more)
        self.assertEqual(status, 0, err)
        return out

    def test_values(self):
        for more in ({"devices": 1}, {"devices": 4}, {"devices": 4, "SYSTOLE_PRESET": "minichip"}):
            self.value(ARRAYS + PROGRAMS + OFFLOAD + SPACES, SYSTOLE_FALLBACK="error", **more)

    def test_arrays_on_the_host_leave_the_memory_to_programs(self):
        self.assertEqual(self.value("KIND = 'pinned_host'" + LARGE), "done")
        self.assertRegex(self.value("KIND = 'device'" + LARGE), "RESOURCE_EXHAUSTED: jit__lambda: .*no room for .* in the device's memory")

    def test_errors(self):
        for devices in (1, 2):
            out = self.value(ERRORS, devices).splitlines()
            self.assertRegex(out[0], "can address the following memory kinds: device, pinned_host, unpinned_host. Got memory kind: attic")
            self.assertRegex(out[1], "RESOURCE_EXHAUSTED: jit__lambda: node 'add.*' at .*no room for .* bytes in the device's memory")
            self.assertEqual(out[2:], ["3.0"])

    def test_text_and_costs(self):
        out = self.value(TEXT, 4, SYSTOLE_PRESET="minichip")
        for pattern in (r"num_partitions=4", r" = f32\[4,4\]\{1,0\} all-reduce\(.*replica_groups=\{\{0,1,2,3\}\}.*to_apply=", r" = f32\[4,4\]\S* tanh\(", r" multiply\(",
                        r" = \(f32\[2,4\]\{1,0\}, f32\[6,2\]\{1,0\}\) all-reduce\(", r" = \(f32\[4,2,6\]\{2,1,0\}, f32\[4,2,4\]\{2,1,0\}\) all-gather\(",
                        'custom_call_target="hlo.matrix_product"', r"<script>:\d+:\d+ .*dot_general", r"c64\[3\]\{0\} custom-call\(.*complex.join",
                        'custom_call_target="hlo.while"', "hlo.add"):
            self.assertRegex(out, pattern)
        self.assertRegex(out, r"'flops': 512\.0")
        self.assertRegex(out, r"'bytes accessed': [1-9]")

    def test_needs(self):
        """Each device's arguments, results, donated memory, temporaries, code, results on the host, and the most at a time."""
        for devices, part in ((1, 4096), (4, 1024)):
            rows = [[int(word) for word in line.split()] for line in self.value(NEEDS, devices).splitlines()]
            plain, donated, products, on_host, numbers = rows
            self.assertEqual(plain[:4] + plain[5:], [part, part, 0, 0, 0, 2 * part])
            self.assertEqual(donated[:4] + donated[5:], [4096 + 64, 4096, 4096, 0, 0, 4096 + 64])
            self.assertEqual(products[:3], [16384, 16384, 0])
            self.assertGreaterEqual(products[3], 8192)
            self.assertLessEqual(products[3], 5 * 16384)
            self.assertGreaterEqual(products[6], 2 * 16384)
            self.assertLessEqual(products[6], 2 * 16384 + products[3])
            self.assertEqual(on_host[:3] + on_host[5:6], [part, part, 0, part])
            self.assertEqual(numbers[:2], [64, 64])
            for row in rows:
                self.assertGreater(row[4], 100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = jax_test.BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
