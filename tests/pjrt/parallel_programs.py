# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Programs of eight devices as their users write them: pipelines, experts, rings, halos, divided weights, pmap in groups, several meshes.

PROGRAMS has functions of a list of eight devices; what they return is the same on every platform but for rounding.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def f32(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


def mesh_of(devices, *sizes):
    names = ("a", "b", "c")[:len(sizes)]
    return Mesh(np.array(devices).reshape(sizes), names)


def put(mesh, value, *axes):
    return jax.device_put(value, NamedSharding(mesh, P(*axes)))


@program
def pipeline(devices):
    """Four stages on each of two replicas; microbatches go round by ppermute, gradients come back the same way."""
    mesh = mesh_of(devices, 2, 4)
    weights, x = put(mesh, f32(4, 8, 8), "b"), put(mesh, f32(12, 4, 8, seed=1), None, "a")

    def stages(w, x):
        stage = lax.axis_index("b")

        def step(carry, i):
            here = jnp.where(stage == 0, x[jnp.minimum(i, 11)], carry)
            out = jnp.tanh(here @ w[0])
            return lax.ppermute(out, "b", [(s, (s + 1) % 4) for s in range(4)]), out

        start = lax.pcast(jnp.zeros(x.shape[1:]), ("a", "b"), to="varying")
        _, outs = lax.scan(step, start, jnp.arange(15))
        return lax.psum(jnp.where(stage == 3, outs[3:], 0), "b")

    run = jax.shard_map(stages, mesh=mesh, in_specs=(P("b"), P(None, "a")), out_specs=P(None, "a"))
    loss = lambda w, x: (run(w, x) ** 2).mean()
    return jax.jit(run)(weights, x), jax.jit(jax.value_and_grad(loss))(weights, x)


@program
def experts(devices):
    """Four experts, each on two devices; tokens choose unevenly, those beyond an expert's room pass by."""
    mesh = mesh_of(devices, 2, 4)
    room = 3
    x, router = put(mesh, f32(40, 6), ("a", "b")), f32(6, 4, seed=1)
    up, down = put(mesh, f32(4, 6, 10, seed=2), "b"), put(mesh, f32(4, 10, 6, seed=3), "b")

    def layer(x, router, up, down):
        shares = jax.nn.softmax(x @ router + jnp.arange(4.0))  # the last expert is wanted most
        chosen = shares.argmax(1)
        mine = jax.nn.one_hot(chosen, 4, dtype=jnp.int32)
        place = (jnp.cumsum(mine, 0) * mine).sum(1) - 1
        there = jnp.zeros((4, room, 6)).at[chosen, place].set(x, mode="drop")
        got = lax.all_to_all(there, "b", 0, 0)  # from each device of the row, for this expert
        out = jax.nn.relu(got.reshape(-1, 6) @ up[0]) @ down[0]
        back = lax.all_to_all(out.reshape(4, room, 6), "b", 0, 0)
        y = back.at[chosen, place].get(mode="fill", fill_value=0)
        return x + y * jnp.take_along_axis(shares, chosen[:, None], 1), lax.psum(mine.sum(0), ("a", "b"))

    run = jax.shard_map(layer, mesh=mesh, in_specs=(P(("a", "b")), P(), P("b"), P("b")), out_specs=(P(("a", "b")), P()))
    return jax.jit(run)(x, router, up, down), jax.jit(jax.grad(lambda *w: (run(x, *w)[0] ** 2).sum(), (0, 1, 2)))(router, up, down)


@program
def manual_and_automatic_axes(devices):
    """Manual over one axis, with constraints along the others inside; checked and unchecked."""
    mesh = mesh_of(devices, 2, 2, 2)
    x, w = put(mesh, f32(8, 6, 4), "a", "b"), put(mesh, f32(4, 10, seed=1), None, "c")

    def inside(x, w):
        y = lax.with_sharding_constraint(jnp.tanh(x @ w), NamedSharding(jax.sharding.get_abstract_mesh(), P(None, "b", "c")))
        return lax.psum(y.sum(0), "a"), y * lax.axis_index("a")

    results = []
    for check in (True, False):
        run = jax.shard_map(inside, mesh=mesh, in_specs=(P("a"), P()), out_specs=(P(), P("a")), axis_names={"a"}, check_vma=check)
        results.append(jax.jit(lambda x, w: run(x * 2, w)[0] + run(x, w)[1].mean(0))(x, w))
    return results, jax.jit(jax.grad(lambda w: (run(x, w)[1] ** 2).sum()))(w)


@program
def groups(devices):
    """pmap in groups of two and four, over axes inside of others."""
    x = f32(8, 12)
    pairs, halves = [[0, 1], [2, 3], [4, 5], [6, 7]], [[0, 2, 4, 6], [1, 3, 5, 7]]
    run = functools.partial(jax.pmap, axis_name="i", devices=devices)
    return (run(lambda v: lax.psum(v, "i", axis_index_groups=pairs))(x), run(lambda v: lax.pmax(v, "i", axis_index_groups=halves))(x),
            run(lambda v: lax.all_gather(v, "i", axis_index_groups=halves))(x), run(lambda v: lax.psum_scatter(v, "i", axis_index_groups=halves, tiled=True))(x),
            run(lambda v: lax.all_to_all(v.reshape(2, 6), "i", 0, 0, axis_index_groups=pairs))(x),
            run(lambda v: lax.ppermute(v, "i", [(0, 5), (5, 2), (2, 0)]))(x), run(lambda v, s: lax.pmean(v * s, "i") + lax.axis_index("i"), in_axes=(0, None))(x, 3.0),
            jax.vmap(run(lambda v: v / lax.psum(v, "i")), 1, 1)(x[:, :3, None] ** 2 + 1), run(lambda v: (lax.psum(1, "i"), lax.pmin(v.astype(jnp.bfloat16), "i").astype(jnp.float32)))(x))


@program
def layers(devices):
    """jit of shard_map of scan of checkpoint, with weights that are gathered layer by layer and gradients that are scattered."""
    mesh = mesh_of(devices, 8)
    weights, x = put(mesh, f32(3, 16, 16) / 4, None, "a"), put(mesh, f32(16, 16, seed=1), "a")

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(None, "a"), P("a")), out_specs=P())
    def loss(w, x):
        @jax.checkpoint
        def layer(x, w):
            return jax.jit(jnp.tanh)(x @ lax.all_gather(w, "a", tiled=True)), None

        return lax.pmean((lax.scan(layer, x, w)[0] ** 2).mean(), "a")

    @jax.jit
    def step(w, x):
        value, gradient = jax.value_and_grad(loss)(w, x)
        return w - gradient, value

    values = []
    for _ in range(2):
        weights, value = step(weights, x)
        values.append(value)
    assert weights.sharding.spec == P(None, "a"), weights.sharding
    return weights, values


@program
def ring_attention(devices):
    """Keys and values go round; shares of the softmax are corrected on the way."""
    mesh = mesh_of(devices, 8)
    q, k, v = (put(mesh, f32(2, 24, 8, seed=s), None, "a") for s in range(3))

    def ring(q, k, v):
        own, size = lax.axis_index("a"), q.shape[1]
        rows = own * size + jnp.arange(size)

        def step(i, state):
            k, v, top, total, out = state
            columns = (own - i) % 8 * size + jnp.arange(size)
            scores = jnp.where(rows[:, None] >= columns, jnp.einsum("bqd,bkd->bqk", q, k) / 8**0.5, -1e30)
            new = jnp.maximum(top, scores.max(-1))
            shares, old = jnp.exp(scores - new[..., None]), jnp.exp(top - new)
            out = out * old[..., None] + jnp.einsum("bqk,bkd->bqd", shares, v)
            k, v = (lax.ppermute(t, "a", [(d, (d + 1) % 8) for d in range(8)]) for t in (k, v))
            return k, v, new, total * old + shares.sum(-1), out

        start = (k, v, jnp.full_like(q[..., 0], -1e30), jnp.zeros_like(q[..., 0]), jnp.zeros_like(q))
        _, _, _, total, out = lax.fori_loop(0, 8, step, start)
        return out / total[..., None]

    run = jax.shard_map(ring, mesh=mesh, in_specs=P(None, "a"), out_specs=P(None, "a"))
    whole = jax.nn.softmax(jnp.where(np.tril(np.ones((24, 24), bool)), jnp.einsum("bqd,bkd->bqk", q, k) / 8**0.5, -1e30)) @ v
    got = jax.jit(run)(q, k, v)
    assert np.allclose(got, whole, atol=1e-4)
    return got, jax.jit(jax.grad(lambda q, k, v: (run(q, k, v) ** 2).sum(), (0, 1, 2)))(q, k, v)


@program
def heat(devices):
    """A plate in 4 x 2 parts that exchange their rims, until it changes no more."""
    mesh = mesh_of(devices, 4, 2)
    plate = put(mesh, f32(16, 12), "a", "b")

    def rim(u, axis, size, along):
        down = lax.ppermute(lax.slice_in_dim(u, -1, None, axis=along), axis, [(i, (i + 1) % size) for i in range(size)])
        up = lax.ppermute(lax.slice_in_dim(u, 0, 1, axis=along), axis, [(i, (i - 1) % size) for i in range(size)])
        return jnp.concatenate([down, u, up], along)

    def step(u):
        rows, columns = rim(u, "a", 4, 0), rim(u, "b", 2, 1)
        return u + 0.2 * (rows[:-2] + rows[2:] + columns[:, :-2] + columns[:, 2:] - 4 * u)

    def settle(u):
        change = lambda state: lax.pmax(jnp.abs(state[1]).max(), ("a", "b")) > 0.05
        return lax.while_loop(change, lambda state: (step(state[0]), step(state[0]) - state[0], state[2] + 1), (u, jnp.ones_like(u), 0))[::2]

    return jax.jit(jax.shard_map(settle, mesh=mesh, in_specs=P("a", "b"), out_specs=(P("a", "b"), P())))(plate)


@program
def divided_vocabulary(devices):
    """The loss over classes that are divided among devices: maxima and sums over them, labels looked up where they are."""
    mesh = mesh_of(devices, 2, 4)
    x, table, labels = put(mesh, f32(10, 6), "a"), put(mesh, f32(20, 6, seed=1), "b"), put(mesh, np.arange(10, dtype=np.int32) * 7 % 20, "a")

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=(P("a"), P("b"), P("a")), out_specs=P())
    def loss(x, table, labels):
        logits = x @ table.T
        top = lax.pmax(lax.stop_gradient(logits.max(1)), "b")
        total = lax.psum(jnp.exp(logits - top[:, None]).sum(1), "b")
        own = labels - lax.axis_index("b") * len(table)
        here = (own >= 0) & (own < len(table))
        right = lax.psum(jnp.where(here, jnp.take_along_axis(logits, jnp.clip(own, 0, len(table) - 1)[:, None], 1)[:, 0], 0), "b")
        return lax.pmean((jnp.log(total) + top - right).mean(), "a")

    return jax.jit(jax.value_and_grad(loss, (0, 1)))(x, table, labels)


@program
def explicit_axes(devices):
    """Types that have shardings: products whose sums are placed, and values that change theirs."""
    mesh = jax.make_mesh((4, 2), ("a", "b"), devices=devices, axis_types=(AxisType.Explicit, AxisType.Explicit))
    with jax.set_mesh(mesh):
        x, w = jax.device_put(f32(8, 6), P("a", "b")), jax.device_put(f32(6, 12, seed=1), P("b", None))

        @jax.jit
        def run(x, w):
            y = jnp.einsum("ij,jk->ik", x, w, out_sharding=P("a", None))
            assert jax.typeof(y).sharding.spec == P("a", None), jax.typeof(y)
            z = jax.sharding.reshard(jnp.tanh(y), P(None, "a"))
            return z.T @ jax.sharding.reshard(x, P(None, None)), y.sum(1)

        number = jax.jit(jax.grad(lambda s: (s * 1j).real + 2 * s))(jnp.float32(2))
        return number, run(x, w), jax.jit(jax.grad(lambda x, w: (jnp.einsum("ij,jk->ik", x, w, out_sharding=P("a", None)) ** 2).sum(), (0, 1)))(x, w)


@program
def own_numbers_of_steps(devices):
    """Loops and branches in which each device goes its own way; then a sum."""
    mesh = mesh_of(devices, 8)

    def inside(n, x):
        halved = lax.while_loop(lambda s: s[1] < n[0], lambda s: (s[0] / 2 + 1, s[1] + 1), (x, lax.pcast(0, "a", to="varying")))[0]
        chosen = lax.switch(lax.axis_index("a") % 3, [jnp.sin, lambda v: v * 2, lambda v: jnp.sort(v)], halved)
        return chosen, lax.psum(chosen, "a"), lax.all_gather(n, "a", tiled=True)[::-1]

    n, x = put(mesh, np.array([3, 0, 7, 1, 12, 5, 2, 4], np.int32), "a"), put(mesh, f32(40), "a")
    return jax.jit(jax.shard_map(inside, mesh=mesh, in_specs=P("a"), out_specs=(P("a"), P(), P("a"))))(n, x)


@program
def sums_along_a_line(devices):
    """A running sum over devices by doubling; the largest of all; a merge sort of eight parts."""
    mesh = mesh_of(devices, 8)

    def running(x):
        own = jnp.cumsum(x)
        total = own[-1]
        for step in (1, 2, 4):
            other = lax.ppermute(total, "a", [(i, i + step) for i in range(8 - step)])
            own, total = own + other, total + other
        return own, lax.top_k(lax.all_gather(lax.top_k(x, 3)[0], "a").reshape(-1), 3)[0][None]

    def exchange(x, step, keep):
        partner = [(i, i ^ step) for i in range(8)]
        both = jnp.sort(jnp.concatenate([x, lax.ppermute(x, "a", partner)]))
        low = (lax.axis_index("a") & step == 0) == keep
        return jnp.where(low, both[:x.size], both[x.size:])

    def order(x):
        place, x = lax.axis_index("a"), jnp.sort(x)
        for size in (2, 4, 8):
            step = size // 2
            while step:
                x = exchange(x, step, place & size == 0)
                step //= 2
        return x

    x = put(mesh, f32(40), "a")
    ordered = jax.jit(jax.shard_map(order, mesh=mesh, in_specs=P("a"), out_specs=P("a")))(x)
    assert np.array_equal(ordered, np.sort(x))
    return ordered, jax.jit(jax.shard_map(running, mesh=mesh, in_specs=P("a"), out_specs=(P("a"), P("a"))))(x)


@program
def several_meshes(devices):
    """Two stages on four devices each, with what goes between; arrays made of parts; a mesh in another order."""
    first, second = (Mesh(np.array(part).reshape(2, 2), ("a", "b")) for part in (devices[:4], devices[4:]))
    x = put(first, f32(8, 6), "a")
    h = jax.jit(lambda x, w: jnp.tanh(x @ w))(x, put(first, f32(6, 4, seed=1), None, "b"))
    y = jax.jit(lambda h, w: h @ w)(put(second, h, "a"), put(second, f32(4, 6, seed=2), "b"))
    assert {d for d in y.devices()} <= set(devices[4:])
    turned = NamedSharding(Mesh(np.array(devices)[::-1].reshape(4, 2), ("a", "b")), P("b", "a"))
    whole = f32(4, 8, seed=3)
    made = jax.make_array_from_callback((4, 8), turned, lambda index: whole[index])
    parts = jax.make_array_from_single_device_arrays((4, 8), turned, [jax.device_put(s.data * 2, s.device) for s in made.addressable_shards])
    alone = jax.device_put(made, SingleDeviceSharding(devices[3]))
    return y, jax.jit(lambda a, b: a + b.sum(0))(made, parts), alone + 1, [np.asarray(s.data) for s in made.addressable_shards]


@program
def every_type(devices):
    """Collectives of all types of numbers."""
    mesh, results = mesh_of(devices, 8), []
    run = lambda f, v, out=P("a"): jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("a"), out_specs=out, check_vma=False))(put(mesh, v, "a"))
    turn = [(i, (i + 3) % 8) for i in range(8)]
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16", "float32", "complex64"):
        v = np.asarray(np.arange(128).reshape(64, 2) % 7, dtype=jnp.dtype(dtype))
        results += [run(lambda v: lax.psum(v, "a"), v, P()), run(lambda v: lax.all_gather(v, "a"), v, P()), run(lambda v: lax.ppermute(v, "a", turn), v),
                    run(lambda v: lax.all_to_all(v, "a", 0, 1, tiled=True), v), run(lambda v: lax.psum_scatter(v, "a", tiled=True), v)]
        if dtype != "complex64":
            results += [run(lambda v: lax.pmax(v, "a"), v, P()), run(lambda v: lax.pmin(v, "a"), v, P())]
    truth = np.arange(64) % 5 < 2
    results += [run(lambda v: lax.all_gather(v, "a"), truth, P()), run(lambda v: lax.ppermute(v, "a", turn), truth), run(lambda v: lax.pmax(v.astype(jnp.int32), "a") > 0, truth, P())]
    return jax.tree.map(lambda r: r.astype(jnp.float32) if r.dtype in (jnp.bfloat16, jnp.float16) else r, results)


@program
def derivatives_through(devices):
    """Forward, reverse and second derivatives, and own ones, through shard_map."""
    mesh = mesh_of(devices, 4, 2)
    x, w = put(mesh, f32(8, 4), "a"), put(mesh, f32(4, 6, seed=1), None, "b")

    @jax.custom_vjp
    def scaled(v):
        return v * 3

    scaled.defvjp(lambda v: (v * 3, v), lambda v, g: (g * 3 + 0 * v,))
    run = jax.shard_map(lambda x, w: lax.psum((scaled(jnp.sin(x @ w)) ** 2).sum(), ("a", "b")), mesh=mesh, in_specs=(P("a"), P(None, "b")), out_specs=P())
    mapped = jax.shard_map(lambda x: jax.vmap(lambda r: r @ r + lax.pmean(r.sum(), "a"))(x), mesh=mesh, in_specs=P("a"), out_specs=P("a"))
    return (jax.jit(jax.grad(run, (0, 1)))(x, w), jax.jit(lambda x, w: jax.jvp(lambda x: mapped(x), (x,), (x,)))(x, w), jax.jit(mapped)(x),
            jax.jit(jax.grad(lambda x: (jax.grad(lambda x: mapped(jnp.cos(x)).sum())(x) ** 2).sum()))(x))


@program
def batches_with_names(devices):
    """vmap whose batch goes along an axis of the mesh, around constraints and shard_map."""
    mesh = mesh_of(devices, 4, 2)
    x = put(mesh, f32(4, 6, 8), "a")
    inner = lambda r: lax.with_sharding_constraint(jnp.tanh(r @ r.T), NamedSharding(mesh, P("b"))).sum(0)
    mapped = jax.shard_map(lambda r: lax.psum(r * 2, "b"), mesh=mesh, in_specs=P(None, "b"), out_specs=P())
    square = put(mesh, f32(4, 4, seed=1), "a", "b")
    slope = jax.grad(jax.shard_map(lambda r: jnp.sin(r.sum()), mesh=mesh, in_specs=P("b"), out_specs=P(), check_vma=False))
    return jax.vmap(slope, spmd_axis_name="a")(square), jax.jit(jax.vmap(inner, spmd_axis_name="a"))(x), jax.jit(jax.vmap(mapped, spmd_axis_name="a"))(x), jax.jit(jax.vmap(mapped))(x)
