# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Programs of eight devices that jit divides, as users write them: training with divided weights, caches, orders, quantised tables, metrics.

PROGRAMS has functions of a list of eight devices; what they return is the same on every platform but for rounding.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from parallel_programs import f32, mesh_of, put

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@program
def divided_training(devices):
    """Weights, gradients and moments in eighths, batch too: AdamW with a schedule, clipping by the norm of all, donated state."""
    mesh = mesh_of(devices, 8)
    S = lambda *axes: NamedSharding(mesh, P(*axes))
    shapes = {"embed": (40, 16), "up": (2, 16, 64), "down": (2, 64, 16), "scale": (2, 16), "bias": (8,), "head": (16, 8)}
    places = {"embed": S("a"), "up": S(None, None, "a"), "down": S(None, "a"), "scale": S(None, "a"), "bias": S(), "head": S("a")}
    params = {n: jax.device_put(f32(*s, seed=i) / 4, places[n]) for i, (n, s) in enumerate(shapes.items())}
    zeros = lambda: jax.tree.map(lambda p: jax.device_put(jnp.zeros_like(p), p.sharding), params)
    state = {"params": params, "m": zeros(), "v": zeros(), "step": jax.device_put(jnp.int32(0), S())}
    tokens, labels = (np.arange(16 * 5, dtype=np.int32).reshape(16, 5) * 7 % 40, np.arange(16, dtype=np.int32) % 8)
    data = tuple(jax.device_put(d, S("a")) for d in (tokens, labels))

    def logits(p, tokens):
        def layer(x, w):
            scale, up, down = w
            x = x * lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5) * (1 + scale)
            return x + jax.nn.gelu(x @ up) @ down, None

        x, _ = lax.scan(jax.checkpoint(layer), p["embed"][tokens], (p["scale"], p["up"], p["down"]))
        return x.mean(1) @ p["head"] + p["bias"]

    def loss(p, tokens, labels):
        z = logits(p, tokens)
        return -jnp.take_along_axis(jax.nn.log_softmax(z), labels[:, None], 1).mean(), (z.argmax(1) == labels).mean()

    outs = {"params": places, "m": places, "v": places, "step": S()}

    @functools.partial(jax.jit, donate_argnums=0, out_shardings=(outs, S()))
    def step(state, tokens, labels):
        (value, right), grads = jax.value_and_grad(loss, has_aux=True)(state["params"], tokens, labels)
        norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g * jnp.minimum(1, 0.5 / norm), grads)
        t = state["step"] + 1
        rate = 0.05 * jnp.minimum(t / 2, 1) * (1 + jnp.cos(t / 8)) / 2
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g**2, state["v"], grads)
        change = lambda p, m, v: p - rate * (m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.99**t)) + 1e-3) + 0.01 * p)
        return {"params": jax.tree.map(change, state["params"], m, v), "m": m, "v": v, "step": t}, (value, right, norm)

    told = []
    for _ in range(3):
        before, (state, values) = state, step(state, *data)
        told.append(values)
        assert all(leaf.is_deleted() for leaf in jax.tree.leaves(before)), "the state was donated"
    for name, value in state["params"].items():
        assert value.sharding == places[name], (name, value.sharding)
    assert state["m"]["up"].addressable_shards[3].data.shape == (2, 16, 8)
    return state, told


@program
def accumulated_gradients(devices):
    """Microbatches in a scan inside of shard_map; the sum over devices behind it, whole and in parts, of bf16 too."""
    mesh = mesh_of(devices, 8)
    w, x, y = put(mesh, f32(12, 8)), put(mesh, f32(64, 12, seed=1), "a"), put(mesh, f32(64, 8, seed=2), "a")

    def step(scatter, w, x, y):
        own = lax.pcast(w, "a", to="varying")

        def add(total, batch):
            value, grad = jax.value_and_grad(lambda w: ((jnp.tanh(batch[0] @ w) - batch[1]) ** 2).mean())(own)
            return jax.tree.map(jnp.add, total, (value, grad)), value

        start = lax.pcast((jnp.zeros(()), jnp.zeros_like(w)), "a", to="varying")
        (value, grad), values = lax.scan(add, start, (x.reshape(4, 2, 12), y.reshape(4, 2, 8)))
        if scatter:
            part = lax.psum_scatter(grad.reshape(8, 12), "a") / 32
            grad = lax.all_gather(part, "a").reshape(12, 8)
        else:
            grad = lax.pmean(grad, "a") / 4
        return w - grad, lax.pmean(value, "a") / 4, values, lax.psum((w > 0).astype(jnp.bfloat16), "a").astype(jnp.float32)

    results = []
    for scatter in (False, True):
        run = jax.shard_map(functools.partial(step, scatter), mesh=mesh, in_specs=(P(), P("a"), P("a")), out_specs=(P(), P(), P("a"), P()), check_vma=not scatter)
        results.append(jax.jit(run)(w, x, y))
    return results


@program
def cache_of_a_decoder(devices):
    """Tokens one after the other; keys and values in a cache that is divided by batch and heads, and donated."""
    mesh = mesh_of(devices, 2, 4)
    S = lambda *axes: NamedSharding(mesh, P(*axes))
    heads, size, length, words = 4, 8, 12, 24
    table, out = put(mesh, f32(words, heads * size)), put(mesh, f32(heads * size, words, seed=1), None, "b")
    qkv = put(mesh, f32(3, heads * size, heads, size, seed=2) / 4, None, None, "b")
    cache = jax.device_put(jnp.zeros((2, 4, length, heads, size)), S(None, "a", None, "b"))

    @functools.partial(jax.jit, donate_argnums=0)
    def decode(cache, token, at):
        x = table[token]
        q, k, v = jnp.einsum("bd,cdhs->cbhs", x, qkv)
        cache = lax.dynamic_update_slice(cache, jnp.stack([k, v])[:, :, None], (0, 0, at, 0, 0))
        keys, values = cache
        scores = jnp.einsum("bhs,blhs->bhl", q, keys) / size**0.5
        shares = jax.nn.softmax(jnp.where(jnp.arange(length) <= at, scores, -1e9))
        z = x + jnp.einsum("bhl,blhs->bhs", shares, values).reshape(len(token), -1)
        return cache, (z @ out).argmax(-1).astype(jnp.int32)

    token, tokens = put(mesh, np.array([1, 5, 9, 2], np.int32), "a"), []
    for at in range(4):
        cache, token = decode(cache, token, jnp.int32(at))
        tokens.append(token)

    @jax.jit
    def rest(cache, token):
        def step(state, at):
            cache, token = decode(*state, at)
            return (cache, token), token

        (cache, _), tokens = lax.scan(step, (cache, token), jnp.arange(4, length))
        return cache, tokens

    return tokens, rest(cache, token)


@program
def orders(devices):
    """Sorts, places, quantiles and shuffles along dimensions that are divided."""
    mesh = mesh_of(devices, 4, 2)
    x, v, w = put(mesh, f32(16, 24), "a", "b"), put(mesh, f32(64, seed=1), ("a", "b")), put(mesh, np.arange(64, dtype=np.int32) * 37 % 11, "a")
    key = jax.random.key(3)

    @jax.jit
    def sort(x, v, w):
        keys, places = lax.sort((w, jnp.arange(64)), num_keys=1)
        return (jnp.sort(x, 0), jnp.argsort(x, 1), jnp.sort(v, descending=True), lax.top_k(v, 5), keys, places, jnp.lexsort((v, w)), jnp.median(x, 0),
                jnp.quantile(v, jnp.array([0.1, 0.9])), jnp.searchsorted(jnp.sort(v), x[0]), jnp.cumsum(x, 0), lax.cummax(v), jnp.unique(w, size=12, fill_value=-1),
                jnp.bincount(w, length=11), jnp.histogram(v, 7)[0], jnp.nonzero(w > 8, size=20, fill_value=64)[0], jnp.partition(v, 9)[9])

    @jax.jit
    def shuffle(x, v):
        one, two, three = jax.random.split(key, 3)
        return (jax.random.permutation(one, x), jax.random.permutation(one, x, 1, independent=True), jax.random.choice(two, v, (10,), replace=False),
                jax.random.categorical(three, x), x[jax.random.permutation(two, 16)[:8]])

    return sort(x, v, w), shuffle(x, v)


@program
def quantised_weights(devices):
    """int8 weights with a scale for each column, divided; whole sums of integers, wrapped sums of bytes, and bf16 activations."""
    mesh = mesh_of(devices, 2, 4)
    w = f32(32, 24)
    scale = np.abs(w).max(0) / 127
    q, scale = put(mesh, np.round(w / scale).astype(np.int8), "b"), put(mesh, scale.astype(np.float32))
    x = put(mesh, f32(8, 32, seed=1), "a", "b")

    @jax.jit
    def run(x, q, scale):
        top = jnp.abs(x).max(1, keepdims=True) / 127
        small = jnp.clip(jnp.round(x / top), -127, 127).astype(jnp.int8)
        sums = lax.dot_general(small, q, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
        return sums, sums * top * scale, q.sum(0, dtype=jnp.int8), (x.astype(jnp.bfloat16) * 2).astype(jnp.float32), q.astype(jnp.int32).max(0)

    return run(x, q, scale)


@program
def sequences_in_parts(devices):
    """Attention whose tokens are divided outside and whose heads inside: two all_to_all; weights come layer by layer in a loop."""
    mesh = mesh_of(devices, 8)
    x, qkv, out = put(mesh, f32(2, 32, 16), None, "a"), put(mesh, f32(2, 16, 3 * 16, seed=1) / 4, None, "a"), put(mesh, f32(2, 16, 16, seed=2) / 4, None, "a")
    heads, size = 8, 2

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(None, "a"), P(None, "a"), P(None, "a")), out_specs=P(None, "a"))
    def model(x, qkv, out):
        def layer(i, x):
            whole = lax.all_gather(qkv[i], "a", axis=0, tiled=True)
            q, k, v = jnp.split((x @ whole).reshape(2, 4, 3 * heads, size), 3, 2)
            q, k, v = (lax.all_to_all(t, "a", 2, 1, tiled=True) for t in (q, k, v))  # all tokens of a head
            scores = jnp.einsum("bqhs,bkhs->bhqk", q, k) / size**0.5
            shares = jax.nn.softmax(jnp.where(np.tril(np.ones((32, 32), bool)), scores, -1e9))
            y = lax.all_to_all(jnp.einsum("bhqk,bkhs->bqhs", shares, v), "a", 1, 2, tiled=True)
            return x + y.reshape(2, 4, 16) @ lax.all_gather(out[i], "a", axis=0, tiled=True)

        return lax.fori_loop(0, 2, layer, x)

    return jax.jit(model)(x, qkv, out), jax.jit(jax.grad(lambda *a: (model(*a) ** 2).sum(), (0, 1, 2)))(x, qkv, out)


@program
def several_results(devices):
    """Results whole, divided, of other axes and as they come, of arguments of which some are donated; numbers and truth values between."""
    mesh = mesh_of(devices, 4, 2)
    S = lambda *axes: NamedSharding(mesh, P(*axes))
    places = ({"whole": S(), "rows": S("a"), "both": S("b", "a")}, None, [S(("a", "b")), S(None, "b")])

    @functools.partial(jax.jit, static_argnames="power", donate_argnames=("old", "count"), out_shardings=places)
    def update(old, x, count, *, power):
        new = old * 0.5 + x**power
        large = jnp.abs(new).max() > 3
        kept = lax.cond(large, lambda n: n / jnp.abs(n).max(), lambda n: n, new)
        return {"whole": kept.sum(0), "rows": kept, "both": kept.T}, (count + large, large, kept > 0), [new.reshape(-1), jax.nn.one_hot(new.argmax(1), 16)]

    old, x, count = put(mesh, f32(8, 16), "a"), put(mesh, f32(8, 16, seed=1), None, "b"), put(mesh, np.int32(4))
    results = []
    for power in (1, 2, 2):
        named, other, more = update(old, x, count, power=power)
        for value, place in zip(jax.tree.leaves((named, more)), jax.tree.leaves((places[0], places[2]))):
            assert value.sharding.is_equivalent_to(place, value.ndim), (value.sharding, place)
        results.append((jax.tree.map(np.asarray, named), other[1:], more))
        old, count = named["rows"] + 0, other[0]
    return results, old, count


@program
def measures(devices):
    """What an evaluation counts: a confusion matrix, sums by class, running statistics, and a loop until all have converged."""
    mesh = mesh_of(devices, 8)
    scores, labels = put(mesh, f32(48, 6), "a"), put(mesh, np.arange(48, dtype=np.int32) * 5 % 6, "a")

    @jax.jit
    def measure(scores, labels):
        guess = scores.argmax(1)
        matrix = jnp.zeros((6, 6), jnp.int32).at[labels, guess].add(1)
        by_class = jax.ops.segment_sum(scores, labels, 6), jax.ops.segment_max(scores[:, 0], labels, 6)
        top = (lax.top_k(scores, 3)[1] == labels[:, None]).any(1).mean()
        weights = jnp.where(labels == 2, 0.0, 1.0)
        return matrix, by_class, top, jnp.average(scores, 0, weights), jnp.nanmean(jnp.where(scores > 1.5, jnp.nan, scores)), jnp.corrcoef(scores, rowvar=False)

    @jax.jit
    def means(x):
        def step(state):
            centres, _, turns = state
            near = ((x[:, None] - centres) ** 2).sum(-1).argmin(1)
            mine = jax.nn.one_hot(near, 3)
            new = (mine.T @ x) / jnp.maximum(mine.sum(0), 1)[:, None]
            return new, jnp.abs(new - centres).max(), turns + 1

        return lax.while_loop(lambda s: (s[1] > 1e-4) & (s[2] < 20), step, (x[:3], jnp.inf, 0))

    return measure(scores, labels), means(scores)


@program
def images_in_stripes(devices):
    """Convolutions, pools and resizes of images that are divided by rows, by batch and by channels; batch statistics over all."""
    mesh = mesh_of(devices, 2, 4)
    x, k, l = put(mesh, f32(4, 16, 12, 8), "a", "b"), put(mesh, f32(3, 3, 8, 16, seed=1) / 8), put(mesh, f32(1, 1, 16, 8, seed=2) / 4, None, None, None, "b")
    conv = functools.partial(lax.conv_general_dilated, padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    @jax.jit
    def net(k, l, x):
        y = conv(x, k, (1, 1))
        y = (y - y.mean((0, 1, 2))) * lax.rsqrt(y.var((0, 1, 2)) + 1e-3)
        y = lax.with_sharding_constraint(jax.nn.relu(y), NamedSharding(mesh, P("a", None, None, "b")))
        z = conv(y, l, (2, 2))
        pooled = lax.reduce_window(z, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return pooled, jax.image.resize(pooled, (4, 8, 6, 8), "bilinear"), jnp.flip(x, 1)[:, ::2]

    return net(k, l, x), jax.jit(jax.grad(lambda *w: (net(*w, x)[1] ** 2).sum(), (0, 1)))(k, l)
