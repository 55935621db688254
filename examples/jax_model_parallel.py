#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Models that several devices share: loss and gradient of each on all devices, and on one.

SYSTOLE_DEVICES=8 JAX_PLATFORMS=systole python examples/jax_model_parallel.py

transformer  a block cut by heads and hidden columns, two sums over the devices forward and two backward (Megatron)
experts      a mixture of experts, one on each device: tokens go to their expert and back (all_to_all)
pipeline     a stage on each device; microbatches go from stage to stage (ppermute)
embedding    a table cut by rows: each device looks up the rows that it has
"""

import argparse
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

def values(seed, *shape):
    return (np.random.default_rng(seed).normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


class Transformer:
    """Nothing but the parameters' shardings says that it is cut; jit does the rest."""

    def __init__(self, n, size):
        self.width, self.heads, self.length = 16 * size, n, 8 * size
        d, f = self.width, 4 * self.width
        self.params = {"qkv": values(1, 3, self.heads, d, d // self.heads), "out": values(2, self.heads, d // self.heads, d),
                       "up": values(3, d, f), "bias": values(4, f), "down": values(5, f, d)}
        self.shardings = {"qkv": P(None, "m"), "out": P("m"), "up": P(None, "m"), "bias": P("m"), "down": P("m")}
        self.data = (values(6, 2, self.length, d), values(7, 2, self.length, d))
        self.data_shardings = (P(), P())

    @staticmethod
    def block(p, x):
        q, k, v = jnp.einsum("bld,chde->cbhle", norm(x), p["qkv"])
        scores = jnp.einsum("bhqe,bhke->bhqk", q, k) / np.sqrt(q.shape[-1])
        mixed = jnp.einsum("bhqk,bhke->bhqe", jax.nn.softmax(scores), v)
        x = x + jnp.einsum("bhle,hed->bld", mixed, p["out"])
        return x + jax.nn.relu(norm(x) @ p["up"] + p["bias"]) @ p["down"]

    def step(self, mesh):
        return jax.value_and_grad(lambda p, x, y: ((self.block(p, x) - y) ** 2).mean())


class Experts:
    """Each device has an expert and a share of the tokens. A router chooses an expert for each token; of a device's tokens an expert
    takes the first `capacity` that chose it, the others pass unchanged."""

    def __init__(self, n, size):
        d, f, tokens = 16 * size, 32 * size, 8 * size
        self.n, self.capacity = n, max(1, 2 * tokens // n)
        self.params = {"router": values(1, d, n), "up": values(2, n, d, f), "down": values(3, n, f, d)}
        self.shardings = {"router": P(), "up": P("m"), "down": P("m")}
        self.data = (values(4, n, tokens, d), values(5, n, tokens, d))
        self.data_shardings = (P("m"), P("m"))

    def send(self, router, x):
        """Of a device's tokens: [expert, capacity, d], and the weights [token, expert, capacity] with which they come back."""
        gates = jax.nn.softmax(x @ router)
        chosen = jax.nn.one_hot(gates.argmax(-1), self.n)
        place = jnp.cumsum(chosen, 0) * chosen - 1
        where = jax.nn.one_hot(place.astype(jnp.int32), self.capacity) * chosen[..., None]
        return jnp.einsum("tec,td->ecd", where, x), where * gates[..., None]

    @staticmethod
    def expert(up, down, x):
        return jax.nn.relu(x @ up) @ down

    def step(self, mesh):
        def shared(p, x, y):  # a device's
            parts, weights = self.send(p["router"], x[0])
            mine = lax.all_to_all(parts, "m", 0, 0, tiled=True)  # [device, capacity, d] of this device's expert
            back = lax.all_to_all(self.expert(p["up"][0], p["down"][0], mine), "m", 0, 0, tiled=True)
            return (x[0] + jnp.einsum("tec,ecd->td", weights, back))[None]

        def alone(p, x, y):
            parts, weights = jax.vmap(functools.partial(self.send, p["router"]))(x)
            back = jax.vmap(self.expert, (0, 0, 1), 1)(p["up"], p["down"], parts)
            return x + jnp.einsum("gtec,gecd->gtd", weights, back)

        whole = alone
        if mesh is not None:
            whole = jax.shard_map(shared, mesh=mesh, in_specs=(self.shardings, P("m"), P("m")), out_specs=P("m"))
        return jax.value_and_grad(lambda p, x, y: ((whole(p, x, y) - y) ** 2).mean())


class Pipeline:
    """Stage i is on device i. In each turn a device computes what it has and hands it on; after n - 1 turns all work."""

    def __init__(self, n, size):
        d, self.n, self.count = 16 * size, n, 2 * n
        self.params = {"w": values(1, n, d, d), "b": values(2, n, d)}
        self.shardings = {"w": P("m"), "b": P("m")}
        self.data = (values(3, self.count, 4 * size, d), values(4, self.count, 4 * size, d))
        self.data_shardings = (P(), P())

    @staticmethod
    def stage(w, b, x):
        return x + jnp.tanh(x @ w + b)

    def step(self, mesh):
        ring = [(i, i + 1) for i in range(self.n - 1)]

        def shared(p, x):
            first, last = lax.axis_index("m") == 0, lax.axis_index("m") == self.n - 1

            def turn(state, i):
                own = jnp.where(first, x[jnp.minimum(i, self.count - 1)], state)
                own = self.stage(p["w"][0], p["b"][0], own)
                return lax.ppermute(own, "m", ring), jnp.where(last, own, 0)

            start = lax.pcast(jnp.zeros_like(x[0]), "m", to="varying")
            _, results = lax.scan(turn, start, jnp.arange(self.count + self.n - 1))
            return lax.psum(results[self.n - 1:], "m")

        def alone(p, x):
            def one(microbatch):
                return lax.scan(lambda x, own: (self.stage(*own, x), None), microbatch, (p["w"], p["b"]))[0]

            return lax.map(one, x)

        whole = alone
        if mesh is not None:
            whole = jax.shard_map(shared, mesh=mesh, in_specs=(self.shardings, P()), out_specs=P())
        return jax.value_and_grad(lambda p, x, y: ((whole(p, x) - y) ** 2).mean())


class Embedding:
    """Rows of a table, by their numbers; their gradient is computed where they are."""

    def __init__(self, n, size):
        rows, d, count = 64 * n * size, 16 * size, 24
        self.params = {"table": values(1, rows, d)}
        self.shardings = {"table": P("m")}
        self.data = (np.random.default_rng(2).integers(0, rows, count).astype(np.int32), values(3, count, d))
        self.data_shardings = (P(), P())

    def step(self, mesh):
        return jax.value_and_grad(lambda p, ids, y: ((p["table"][ids] - y) ** 2).mean())


MODELS = {"transformer": Transformer, "experts": Experts, "pipeline": Pipeline, "embedding": Embedding}


def run(model, devices):
    mesh = Mesh(np.array(devices), ("m",)) if len(devices) > 1 else None

    def put(tree, specs):
        if mesh is None:
            return jax.device_put(tree, devices[0])
        return jax.tree.map(lambda value, spec: jax.device_put(value, NamedSharding(mesh, spec)), tree, specs)

    data = [put(value, spec) for value, spec in zip(model.data, model.data_shardings)]
    return jax.tree.map(np.asarray, jax.jit(model.step(mesh))(put(model.params, model.shardings), *data))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)}; all by default")
    parser.add_argument("--size", type=int, default=2, help="a factor of all widths and lengths (default: 2)")
    args = parser.parse_args()
    if unknown := set(args.models) - set(MODELS):
        parser.error(f"no model {', '.join(sorted(unknown))}; there are {', '.join(MODELS)}")
    devices = jax.devices()
    if len(devices) not in (2, 4, 8, 16):
        parser.error(f"{len(devices)} devices; 2, 4, 8 or 16 divide the models (SYSTOLE_DEVICES=8)")
    for name in args.models or MODELS:
        model = MODELS[name](len(devices), args.size)
        (loss, gradient), (one_loss, one_gradient) = run(model, devices), run(model, devices[:1])
        pairs = list(zip(jax.tree.leaves(gradient), jax.tree.leaves(one_gradient)))
        equal = sum(int((a.view(np.int32) == b.view(np.int32)).sum()) for a, b in pairs)
        count = sum(a.size for a, _ in pairs)
        most = max(np.abs(a - b).max() / np.abs(b).max() for a, b in pairs)
        print(f"{name:11}  loss {loss:.6f} on {len(devices)} devices, {one_loss:.6f} on one; {count:,} derivatives, {equal:,} equal to the "
              f"bit, largest difference {most:.1g} of the largest", flush=True)


if __name__ == "__main__":
    main()
