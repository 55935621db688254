# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Programs whose arrays the devices do not divide evenly, at their arguments, inside and at their results.

PROGRAMS has functions of `c` and arrays. `c(value, *axes)` constrains a value to a sharding on the mesh's axes "d" and "m", or leaves it
as it is. ARGUMENTS has the arrays of each and the axes that divide them, where they do so evenly.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PROGRAMS, ARGUMENTS = {}, {}
_rng = np.random.default_rng(5)


def f32(*shape):
    return _rng.normal(size=shape).astype(np.float32)


def fixed(*shape):
    """The same numbers each time."""
    return np.cos(np.arange(np.prod(shape)), dtype=np.float32).reshape(shape)


def program(*arguments):
    def add(function):
        PROGRAMS[function.__name__] = function
        ARGUMENTS[function.__name__] = [a if isinstance(a, tuple) else (a,) for a in arguments]
        return function

    return add


A, B, V = (f32(16, 8), "d", "m"), (f32(24, 10), "d"), (f32(48), "d")
IMAGE, KERNEL = (f32(2, 16, 14, 3), None, "d"), f32(3, 3, 3, 4)
PLACES = (_rng.integers(0, 13, size=5).astype(np.int32),)
KEY = (np.array([3, 4], np.uint32),)


@program(A)
def elementwise(c, x):
    return jnp.exp(c(x[:13], "d")), c(x[:13, :7], "d", "m") * 2 + 1, jnp.tanh(c(x[:15, 1:], "m", "d"))


@program(A)
def fewer_than_devices(c, x):
    return c(x[:1], "d") * 3, c(x[:3, :1], "d", "m") + 1, c(x[:5, :3], ("d", "m")).sum(), c(x[:0], "d") + 1, c(x[:, :0], "d", "m").sum(1)


@program(A)
def sums(c, x):
    y = c(x[:13, :7], "d", "m")
    return y.sum(0), y.mean(1), y.max(), y.min(0), jnp.prod(y, 1), y.var(0), jnp.linalg.norm(y), jnp.cov(y)


@program(A)
def sums_between_constraints(c, x):
    return c(c(x[:14], "d").sum(0)[:7], "m"), c(c(x[:13], "d").sum(1), "d") + 1, c(c(x[:10, :6], "m", "d").T.sum(0), "d")


@program(A)
def places_of_the_largest(c, x):
    y = c(x[:13, :7], "d", "m")
    return y.argmax(0), y.argmin(1), y.argmax(), jnp.nanargmax(y, 0), lax.top_k(y, 3), lax.top_k(y.T, 5)[1]


@program(A)
def truth_values(c, x):
    y = c(x[:11, :5], "d", "m") > 0
    return y.any(0), y.all(1), y.sum(), jnp.count_nonzero(y, 1), ~y ^ (c(x[:11, :5], "m") < 1), jnp.where(y, 1, 2)


@program(A)
def shares(c, x):
    y = c(x[:13, :7], "d", "m")
    return jax.nn.softmax(y, 0), jax.nn.log_softmax(y, 1), jax.scipy.special.logsumexp(y, 0), jax.nn.standardize(y, 0)


@program(A, B, V)
def shapes(c, x, y, v):
    return (x.reshape(-1) * 2, c(x[:6], "d").reshape(-1), x.reshape(4, 32), y.reshape(10, 24) + 1,
            y.reshape(6, 40), y.reshape(5, 4, 12), v.reshape(3, 16) * 2, v.reshape(16, 3), v.reshape(2, 3, 8), c(v[:45], "d").reshape(9, 5))


@program(A, B, V)
def shapes_to_divided(c, x, y, v):
    return (c(x.reshape(-1), ("d", "m")) + 1, c(y.reshape(10, 24), "m", "d") * 2, c(y.reshape(15, 16), "d", "m") - 1, c(v.reshape(3, 16), "d") * 2,
            c(v.reshape(6, 8), "d", "m"), c(c(v[:30], "d").reshape(5, 6), "d", "m") + 1, c(c(v[:12], "d").reshape(3, 1, 4), "m", None, "d"))


@program(A, B)
def orders(c, x, y):
    return c(x[:13], "d").T, c(c(x[:13, :7], "d", "m").T, "d", "m") * 2, jnp.swapaxes(c(y[:21].reshape(7, 3, 10), "d", "m"), 0, 2), y.T[::2].T


@program(A, B)
def joined(c, x, y):
    return (jnp.concatenate([x, x[:5]]), jnp.concatenate([c(x[:5], "d"), c(x[3:10], "d"), x[:1]]), jnp.concatenate([x, y[:16]], 1),
            jnp.stack([x[:7], x[9:]], 1), c(jnp.concatenate([x, y[:, :8]]), "d", "m") * 2, jnp.hstack([c(x[:, :3], "d", "m"), x]),
            jnp.vstack([x[i] for i in range(5)]), c(jnp.tile(x[:3], (3, 2)), "d", "m"))


@program(A, V)
def slices(c, x, v):
    return (x[3:], x[1::3], x[::-2], c(x[2:15:4, 1:], "d", "m") * 2, v[5:44:3], c(v[7:], "d")[::-1], lax.slice(x, (1, 2), (14, 7), (2, 3)),
            x[-1], x[5, 2:], c(x[:, 3:6], "d", "m").sum(1), jnp.split(x, [3, 7]), jnp.array_split(v, 5))


@program(A)
def padded(c, x):
    return (jnp.pad(x, ((1, 2), (3, 0))), c(jnp.pad(x[:13], ((2, 0), (0, 1))), "d", "m") + 1, lax.pad(x, np.float32(7), ((-3, 2, 1), (0, -2, 2))),
            lax.pad(c(x[:5], "d"), np.float32(0), ((0, 0, 2), (1, 1, 0))), jnp.pad(c(x[:11], "d"), ((2, 3), (1, 1)), "edge"),
            jnp.pad(x, ((3, 4), (0, 0)), "reflect"), jnp.pad(c(x[:7], "d"), ((4, 3), (0, 0)), "wrap"))


@program(A, (np.int32(9),), (np.int32(2),))
def dynamic_slices(c, x, i, j):
    return (lax.dynamic_slice(x, (i, j), (5, 3)), lax.dynamic_slice(c(x[:13], "d"), (j, 0), (13, 8)), c(lax.dynamic_slice(x, (j, i), (9, 4)), "d", "m") * 2,
            lax.dynamic_update_slice(x, x[:5, :3] * 2, (i, j)), lax.dynamic_update_slice(c(x[:13, :7], "d", "m"), c(x[:5], "d")[:, :3], (i, j)),
            lax.dynamic_index_in_dim(x, i, 0), x.at[i].set(3), lax.dynamic_slice(x, (i + 90, -j), (16, 2)))


@program(A, B, PLACES)
def gathers(c, x, y, i):
    z = c(x[:13], "d", "m")
    return (z[i], c(z[i], "d"), z[:, i % 7], z[i, i % 7], c(x[:13, :7], "d", "m")[i[:, None], i[None] % 7], jnp.take(z, i + 10, axis=0, mode="fill"),
            jnp.take(x, i + 12, axis=0, mode="clip"), jnp.take(x, i - 20, axis=0, mode="wrap"), jnp.take_along_axis(z, i[:, None] % 13, 0),
            jnp.take_along_axis(c(x[:5], "d"), i[:, None] % 8, 1), c(y[:21], "d")[c(i, "d")], jnp.choose(i % 2, [x[:5, 0], x[5:10, 1]], mode="clip"))


@program(A, PLACES, f32(5, 8))
def scatters(c, x, i, u):
    z, u = c(x[:13], "d", "m"), c(u, "d")
    return (z.at[i].add(u), z.at[i].set(1), z.at[i].max(u), z.at[i].min(u), z.at[i].mul(u), c(z.at[i].add(u), "m", "d"), x.at[i + 9].add(u),
            z.at[:, i % 8].add(1), z.at[i, i % 8].add(2), jnp.zeros((11, 8)).at[i - 3].add(u), c(jnp.zeros((13, 8)), "d").at[i].add(u),
            z.at[3:9].set(u[:1]), z.at[::2, 1].add(5), jax.ops.segment_sum(u, i % 3, 3), jax.ops.segment_max(c(x[:5], "d"), jnp.sort(i), 13))


@program((f32(16, 6), "d"), PLACES)
def gradients_of_gathers(c, e, i):
    return (jax.grad(lambda e: (c(e[:13], "d")[i] ** 2).sum())(e), jax.grad(lambda e: (c(e[i], "d") * e[:5]).sum())(e),
            jax.grad(lambda e: jnp.take_along_axis(jax.nn.log_softmax(c(e[:5], "d", "m")), i[:, None] % 6, 1).sum())(e))


def conv(x, k, stride=1, padding="SAME", **more):
    return lax.conv_general_dilated(x, k, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **more)


@program(IMAGE, KERNEL)
def convolutions_with_halos(c, x, k):
    y = c(x[:, :13, :11], None, "d", "m")
    return (conv(x, k), conv(x, k, 2), conv(x, k, padding="VALID"), conv(y, k), c(conv(y, k, 2), None, "d", "m") + 1, conv(x, k, rhs_dilation=(2, 2)),
            conv(y, k, padding=((2, 1), (0, 3))), conv(x, k, lhs_dilation=(2, 2), padding=((1, 2), (1, 2))), conv(y, fixed(5, 5, 3, 2), 3))


@program(IMAGE, KERNEL)
def gradients_of_convolutions(c, x, k):
    loss = lambda x, k: (c(conv(c(x[:, :13], None, "d"), k, 2), None, "d", "m") ** 2).sum()
    return jax.grad(loss, (0, 1))(x, k), jax.grad(lambda x, k: (conv(x, k) ** 2).mean(), (0, 1))(x, k)


@program((f32(16, 6, 6, 4), "d"), f32(3, 3, 4, 5))
def uneven_channels_and_batches(c, x, k):
    k, y = c(k, None, None, None, "d"), c(x[:13], "d")
    return (conv(y, k), c(conv(x, k), "d", None, None, "m"), conv(c(x[..., :3], None, None, None, "d"), k[:, :, :3]), jax.grad(lambda k: (conv(y, k) ** 2).sum())(k),
            conv(y, c(fixed(3, 3, 1, 12), None, None, None, "m"), feature_group_count=4), conv(c(x[..., :3], "m", None, None, "d"), fixed(3, 3, 1, 3), feature_group_count=3),
            jax.grad(lambda k: (conv(y, k, feature_group_count=4) ** 2).sum())(fixed(3, 3, 1, 4)))


@program((f32(3, 32, 5), None, "d"), f32(4, 5, 6), f32(7, 5, 5), V)
def lines(c, x, k, t, v):
    one = lambda x, k, **more: lax.conv_general_dilated(x, k, dimension_numbers=("NWC", "WIO", "NWC"), **more)
    return (one(c(x[:, :29], None, "d"), k, window_strides=(1,), padding="SAME"), one(x, k, window_strides=(3,), padding=((3, 0),)),
            lax.conv_transpose(x, t, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")), jnp.convolve(c(v[:37], "d"), v[:5]), jnp.correlate(v, v[:7], "same"))


@program((f32(2, 16, 13, 3), None, "d"))
def pools(c, x):
    y = c(x[:, :13], None, "d", "m")
    pool = lambda x, f, at, size=3, stride=2, padding="SAME": lax.reduce_window(x, at, f, (1, size, size, 1), (1, stride, stride, 1), padding)
    return (pool(x, lax.max, -jnp.inf), pool(y, lax.max, -jnp.inf), pool(y, lax.add, 0.0) / 9, pool(x, lax.add, 0.0, 2, 2, "VALID"),
            jax.grad(lambda x: (pool(c(x[:, :13], None, "d"), lax.max, -jnp.inf) ** 2).sum())(x), jax.grad(lambda x: (pool(x, lax.add, 0.0) ** 2).sum())(x))


@program(A, V)
def sorted_values(c, x, v):
    y = c(x[:13, :7], "d", "m")
    return (jnp.sort(y, 0), jnp.argsort(y, 1), jnp.sort(y, None), jnp.sort(x, 0), lax.sort((c(v[:45], "d"), v[:45] * 2), num_keys=1), jnp.median(y, 0),
            jnp.percentile(y, 30, axis=1), jnp.lexsort((v[:45] > 0, c(v[:45], "d"))), jnp.unique(jnp.round(c(v[:45], "d")), size=9), jnp.partition(y, 3, 0))


@program(A, V)
def found_places(c, x, v):
    s = jnp.sort(v)
    return (jnp.searchsorted(s, c(v[:7], "d")), jnp.digitize(c(v[:13], "d"), jnp.array([-1.0, 0, 1])), jnp.interp(c(v[:13], "d"), s, v), jnp.histogram(c(v[:45], "d"), 7)[0],
            jnp.bincount(jnp.abs(c(v[:45], "d") * 3).astype(int), length=11), jnp.nonzero(x[:13, 0] > 0, size=6))


@program(A, V)
def running_sums(c, x, v):
    y = c(x[:13, :7], "d", "m")
    return (jnp.cumsum(y, 0), jnp.cumprod(y, 1), lax.cummax(y, 0), lax.cummin(x, 0), lax.cumlogsumexp(y, 0, reverse=True), jnp.cumsum(c(v[:45], "d")),
            jnp.diff(v, 2), jnp.diff(y, axis=0), jnp.cumsum(x, 0), lax.associative_scan(jnp.multiply, c(v[:13], "d")), jnp.trapezoid(y, axis=0))


@program((f32(16, 15), "d"), (f32(16, 8) + 1j * f32(16, 8), "d", "m"))
def transforms(c, x, z):
    y = c(z[:15], "d", "m")
    return (jnp.fft.fft(y, axis=0), jnp.fft.fft(z, axis=0), jnp.fft.rfft(c(x[:13], "d"), axis=0), jnp.fft.irfft(y, 9, axis=0), jnp.fft.fft2(y[:, :6]),
            jnp.fft.ifft(c(x, "m"), axis=1), jnp.fft.fftshift(y, 0), jnp.fft.fft(c(y, None, "d"), axis=1))


@program((f32(16, 8) + 1j * f32(16, 8), "d", "m"))
def complex_numbers(c, z):
    y = c(z[:13, :7], "d", "m")
    return y * 1j, jnp.exp(y), y @ y.T, y.sum(0), jnp.abs(y), y.conj().T, jnp.concatenate([y, z[:, :7]]), y[::-1], jnp.cumsum(y, 0), y.at[3].add(1j), jnp.sort(y.real, 0)


@program(KEY)
def random_numbers(c, k):
    return (c(jax.random.normal(k, (13, 7)), "d", "m"), c(jax.random.uniform(k, (45,)), "d"), c(jax.random.bits(k, (11, 3)), "m", "d"), jax.random.permutation(k, 13),
            jax.random.categorical(k, c(jnp.ones((13, 5)), "d")), jax.random.randint(k, (9,), 0, 100) + c(jnp.arange(9), "d"), jax.random.choice(k, 17, (5,)),
            c(jax.random.split(k, 7), "d"), jax.random.gamma(k, 2.0, (6,)) + c(jnp.zeros(6), "d"), c(jax.random.truncated_normal(k, -1, 1, (5, 9)), "d", "m"))


@program(KEY, A)
def dropout(c, k, x):
    y = c(x[:13], "d", "m")
    keep = jax.random.bernoulli(k, 0.7, y.shape)
    return jnp.where(keep, y / 0.7, 0), jax.grad(lambda y: jnp.where(keep, c(y, "d") ** 2, 0).sum())(y)


@program(A, B)
def products(c, x, y):
    a, b = c(x[:13, :7], "d", "m"), c(y[:7, :5], "m", "d")
    return (a @ b, c(a @ b, "d", "m"), c(x[:, :7], "m", "d") @ b, a.T @ a, a @ a.T, jnp.einsum("ij,kj->ikj", a, a), jnp.outer(a[0], b[0]), jnp.kron(a[:3, :2], b[:2, :3]),
            jnp.vdot(a, a), jnp.tensordot(c(y[:21].reshape(3, 7, 10), "d", "m"), b, ((1,), (0,))), jnp.matvec(a, a[0]))


@program((f32(12, 6, 5), "d"), (f32(12, 5, 7), "d"))
def batches_of_products(c, x, y):
    a, b = c(x[:9], "d", "m"), c(y[:9], "d")
    return a @ b, c(a @ b, None, "d", "m"), jnp.einsum("bij,bjk->ki", a, b), jnp.einsum("bij,cjk->bcik", x[:3], c(y[:5], "d"))


@program((_rng.integers(-9, 9, (16, 8)).astype(np.int8), "d", "m"), f32(16, 8).astype(jnp.bfloat16))
def other_types(c, i, h):
    j, g = c(i[:13], "d", "m"), c(h[:13], "d", "m")
    return (lax.dot(j, j.T, preferred_element_type=jnp.int32), j // 3, j % 5, j.sum(0), j.astype(jnp.float32).mean(), g * 2, lax.dot(g, g.T, preferred_element_type=jnp.float32), g.sum(0),
            jnp.left_shift(j, 1), lax.population_count(j), jnp.max(j, 1), j.astype(jnp.uint8), j.astype(bool), c(i[:5].astype(jnp.float16), "d") + 1)


@program((_rng.integers(0, 255, (16, 8)).astype(np.uint8), "d", "m"), A)
def same_bits(c, b, x):
    return lax.bitcast_convert_type(c(b[:13].reshape(13, 2, 4), "d", "m"), jnp.int32), lax.bitcast_convert_type(c(x[:13, :7], "d", "m"), jnp.uint8), lax.bitcast_convert_type(x[:7], jnp.int32)


@program((f32(12, 4, 4), "d"))
def matrices(c, x):
    spd = c(jnp.einsum("bij,bkj->bik", x, x)[:9] + 4 * jnp.eye(4), "d")
    return (jnp.linalg.cholesky(spd), jnp.linalg.solve(spd, c(x[:9], "d")), lax.linalg.triangular_solve(spd, c(x[:9], "d"), left_side=True, lower=True),
            jnp.linalg.inv(spd), jnp.linalg.det(spd), jnp.linalg.eigvalsh(spd), jnp.abs(jnp.linalg.qr(c(x[:9], "d"))[1]), jnp.linalg.svd(spd, compute_uv=False))


@program(A)
def whole_matrix(c, x):
    a = c(x[:7, :7] @ x[:7, :7].T, "d", "m") + 4 * jnp.eye(7)
    return jnp.linalg.cholesky(a), jnp.linalg.solve(a, c(x[:7, 0], "d")), jnp.linalg.inv(c(a, "d")), jnp.linalg.eigvalsh(a), jnp.trace(a), jnp.diag(a), jnp.tril(a), jnp.triu(c(x[:13], "d"), 1)


@program(A)
def scans(c, x):
    step = lambda carry, row: (jnp.tanh(carry + row), carry * row)
    return (lax.scan(step, c(x[0, :7], "d"), c(x[:13, :7], "d", "m")), lax.scan(step, x[0], x, reverse=True), lax.map(lambda r: r.sum() * r, c(x[:11], "d")),
            lax.scan(lambda s, r: (c(s + r, "d"), c(s, "d").sum()), c(x[0, :5], "d"), x[:, :5]), lax.fori_loop(0, 3, lambda i, v: c(v @ v.T @ v * 0.01 + i, "d", "m"), c(x[:13, :7], "d", "m")))


@program(A, (np.int32(1),))
def branches(c, x, i):
    y = c(x[:13], "d", "m")
    return (lax.cond(i > 0, lambda y: c(y * 2, "d"), lambda y: c(y + 1, "m"), y), lax.switch(i, [lambda y: y.sum(0), lambda y: y[5], lambda y: c(y[3], "d")], y),
            lax.while_loop(lambda v: v[0].sum() < 50, lambda v: (v[0] + c(v[0], "d") ** 2, v[1] + 1), (c(x[:7] ** 2, "d"), 0)), lax.select(i > 0, y, c(y + 1, "d")))


@program(A)
def mapped(c, x):
    return jax.vmap(lambda r: jnp.sort(r) @ r)(c(x[:13], "d")), jax.vmap(jnp.outer)(c(x[:5], "d"), c(x[5:10], "m")), jax.vmap(lambda r: r * 2, 1, 1)(c(x[:13, :7], "d", "m")), jnp.vectorize(lambda a, b: a + b)(c(x[:5], "d"), x[0])


@program((f32(16, 9), "d"), f32(9, 15), f32(15, 5))
def perceptron(c, x, w, v):
    def loss(w, v):
        h = jax.nn.gelu(c(c(x[:13], "d") @ c(w, None, "m"), "d", "m"))
        return ((h @ c(v, "m")) ** 2).mean()

    return loss(w, v), jax.grad(loss, (0, 1))(w, v), jax.grad(jax.checkpoint(loss))(w, v), jax.jvp(loss, (w, v), (w, v)), jax.hessian(lambda s: loss(s * w, v))(jnp.float32(1))


@program((f32(16, 5, 12), "d"), f32(12, 36), f32(12, 12))
def attention(c, x, w, o):
    b = c(x[:5], "d", "m")
    q, k, v = (c(a.reshape(5, 5, 3, 4), "d", None, "m") for a in jnp.split(b @ w, 3, -1))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2
    scores = jnp.where(jnp.tril(jnp.ones((5, 5), bool)), scores, -1e9)
    y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(c(scores, "d", "m")), v).reshape(5, 5, 12) @ o
    return c(b + y, "d"), jax.nn.dot_product_attention(q, k, v, is_causal=True)


@program((f32(16, 6, 12), "d", "m"), f32(12))
def normalised(c, x, scale):
    y = c(x[:13], "d", "m")
    layer = (y - y.mean(-1, keepdims=True)) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-5) * c(scale, "d")
    batch = (y - y.mean((0, 1))) * lax.rsqrt(y.var((0, 1)) + 1e-5)
    return layer, batch, c(layer, None, "d", "m"), y / jnp.linalg.norm(y, axis=0)


@program((f32(16, 6), "d"), (_rng.integers(0, 13, (16, 3)).astype(np.int32), "d"))
def tables(c, e, i):
    table, one = c(e[:13], "d", "m"), jax.nn.one_hot(c(i[:11], "d"), 13)
    loss = lambda e: -(jax.nn.log_softmax(c(c(e[:13], "d")[i[:, 0]] @ e[:13].T, "d", "m")) * jax.nn.one_hot(i[:, 1], 13)).mean()
    return table[i], table[c(i[:11], "d")], c(one, "d", None, "m") @ table, jax.value_and_grad(loss)(e)


@program(A, V)
def moved(c, x, v):
    y = c(x[:13, :7], "d", "m")
    return jnp.roll(y, 3, 0), jnp.roll(x, (1, -2), (0, 1)), jnp.flip(y), jnp.repeat(y, 3, 0), jnp.repeat(c(x[:5], "d"), np.array([1, 0, 2, 3, 1]), 0, total_repeat_length=7), jnp.rot90(y), jnp.roll(v, 5), jnp.ravel(y)[::7], c(jnp.flip(y, 1), "m", "d")


@program(A)
def widened(c, x):
    a, b = c(x[:13, :1], "d"), c(x[:1, :7], None, "m")
    return a + b, c(a * b, "m", "d"), jnp.broadcast_to(a, (3, 13, 5)) + c(jnp.arange(5.0), "d"), a[:, :, None] * b[None], jnp.squeeze(a) - 1, jnp.expand_dims(c(x[:5, 0], "d"), (0, 2))


@program(A)
def counted(c, x):
    return (c(jnp.arange(13), "d") * 2, c(jnp.linspace(0, 1, 9), "d"), c(jnp.eye(7, 5), "d", "m"), jnp.meshgrid(c(jnp.arange(5.0), "d"), jnp.arange(3.0)), x[:13] + c(jnp.arange(13.0), "d")[:, None],
            c(jnp.full((11, 3), 2.5), "d", "m"), c(lax.iota(np.uint8, 13), "d"), c(jnp.indices((5, 7)), None, "d", "m"))


@program((f32(2, 10, 12, 3), None, "d"))
def resized(c, x):
    y = c(x[:, :9, :7], None, "d", "m")
    return jax.image.resize(y, (2, 13, 11, 3), "bilinear"), jax.image.resize(x, (2, 5, 6, 3), "nearest"), c(jax.image.resize(y, (2, 18, 14, 3), "nearest"), None, "d"), jax.scipy.ndimage.map_coordinates(y[0, :, :, 0], [jnp.ones(5) * 2.5, jnp.arange(5.0)], 1)


@program((f32(16, 9), "d"), f32(9, 20), f32(5, 20))
def recurrent(c, x, w, r):
    def step(state, row):
        h, m = state
        i, f, g, o = jnp.split(row @ w + h @ r, 4, -1)
        m = jax.nn.sigmoid(f) * m + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = c(jax.nn.sigmoid(o) * jnp.tanh(m), "d")
        return (h, m), h

    seq = jnp.broadcast_to(c(x[:7], "d"), (4, 7, 9))
    loss = lambda seq: lax.scan(step, (jnp.zeros((7, 5)), jnp.zeros((7, 5))), seq)[1].sum()
    return lax.scan(step, (jnp.zeros((7, 5)), jnp.zeros((7, 5))), seq)[1], jax.grad(loss)(seq)


@program(A)
def barriers(c, x):
    y, z = lax.optimization_barrier((c(x[:13], "d"), c(x[:5, :3], "m", "d")))
    return y + 1, z * 2, lax.reduce_precision(y, 5, 10), lax.stop_gradient(c(z, "d"))


@program(A)
def own_reductions(c, x):
    y = c(x[:13, :7], "d", "m")
    pair = lambda a, b: (jnp.where(a[0] > b[0], a[0], b[0]), jnp.where(a[0] > b[0], a[1], b[1]))
    return (lax.reduce((y, jnp.broadcast_to(c(jnp.arange(13), "d")[:, None], (13, 7))), (-jnp.inf, 0), pair, (0,)), lax.reduce(y, np.float32(3), lax.add, (0, 1)),
            lax.reduce(y, np.float32(1), lambda a, b: a * b + 0.0, (1,)), lax.reduce_window(y, 0.0, lax.add, (4, 1), (1, 1), ((3, 0), (0, 0))), lax.reduce_xor(jnp.abs(y * 9).astype(jnp.int32), (0,)))


@program((f32(12, 6), "d"), (f32(3, 6, 4),), (np.array([5, 0, 7], np.int32),))
def experts(c, x, w, sizes):
    chosen = (x.sum(1) > 0).astype(jnp.int32) + (x[:, 0] > 1)
    mixed = jnp.einsum("te,tf,efo->to", jax.nn.one_hot(chosen, 3), c(x, "d"), c(w, "d"))
    return lax.ragged_dot(c(x, "d"), w, sizes), mixed, c(lax.ragged_dot(x[:11], w, sizes), "d")


@jax.custom_vjp
def _cube(x):
    return x**3


_cube.defvjp(lambda x: (x**3, x), lambda x, g: (3 * x**2 * g,))


@program(A)
def own_gradients(c, x):
    return jax.grad(lambda x: _cube(c(x[:13], "d", "m")).sum())(x), jax.linearize(lambda x: jnp.sin(c(x[:7], "d")), x)[1](x), jax.vjp(lambda x: c(x[:5], "d") @ x[:5].T, x)[1](jnp.ones((5, 5)))


@program(A)
def nested_programs(c, x):
    inner = jax.jit(lambda y: c(y * 2, "d").sum(0))
    return inner(c(x[:13], "d")), inner(x[:13]) + inner(c(x[2:15], "m")), jax.jit(lambda y: (inner(y), c(y, "m", "d")))(c(x[:13, :7], "d", "m"))


@program(B)
def selected(c, y):
    z = c(y[:21], "d", "m")
    return jnp.where(z > 0, z, c(y[2:23], "m")), jnp.clip(z, -1, 1), jnp.maximum(z, c(y[:1], None, "d")), jnp.select([z > 1, z < -1], [z, -z], 0), jnp.sign(z) * jnp.floor(z), jnp.isnan(z / 0).sum()


@program((f32(6, 10, 7), None, "d"))
def middle_dimensions(c, x):
    y = c(x[:, :9], "m", "d")
    return y.sum(1), y.transpose(1, 2, 0), y.reshape(54, 7), y.reshape(6, 63), jnp.concatenate([y, x], 1), y[:, ::2], jnp.cumsum(y, 1), jnp.einsum("abc,adc->bd", y, x), c(y, None, "d", "m") + c(y, "d", None, "m")


@program(A)
def updates_in_a_loop(c, x):
    def body(i, state):
        cache, total = state
        return lax.dynamic_update_slice(cache, c(x[:1, :7] * i, None, "m"), (i, 0)), total + cache[i].sum()

    return lax.fori_loop(0, 5, body, (c(x[:13, :7], "d", "m"), jnp.float32(0)))


@program(V)
def as_results(c, v):
    return [c(v[:k].reshape(-1), "d") for k in (1, 2, 3, 5, 7, 9, 11, 13, 17, 31, 47)], [c(v[:k], ("d", "m")) * 2 for k in (4, 6, 12, 20)]


@program(A)
def other_order(c, x):
    y = c(x[:12], ("m", "d"))
    return y + c(x[:12], ("d", "m")), c(y[:10], ("m", "d")).sum(), c(y, "m", "d").T @ c(y, "d", "m"), c(c(c(x[:6], "d"), "m"), None, ("d", "m"))


@program((f32(16, 6), "d"), (f32(16, 6), "d"))
def distances(c, x, y):
    a, b = c(x[:13], "d"), c(y[:11], "m")
    d = ((a[:, None] - b[None]) ** 2).sum(-1)
    return d, d.argmin(1), jnp.exp(-d) @ b, jnp.linalg.norm(a[:, None] - b[None], axis=-1).min(), jnp.cross(a[:, :3], y[:13, :3])


@program(A)
def optimiser(c, x):
    w = c(x[:13, :7], "d", "m")
    state = (w, jnp.zeros_like(w), jnp.zeros_like(w))

    def step(i, state):
        w, m, v = state
        g = jax.grad(lambda w: (jnp.tanh(w @ w.T) ** 2).sum())(w)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        return c(w - 0.01 * m / (jnp.sqrt(v) + 1e-3), "d", "m"), m, v

    return lax.fori_loop(0, 3, step, state)
