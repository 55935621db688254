#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Functions of jax on the PJRT plugin against jax's own CPU, with products of full precision on both. An operation that would run on the
host is an error.

Usage: JAX_PLATFORMS=systole,cpu .venv-jax/bin/python tests/pjrt/functions_test.py [unittest's arguments]
"""

import os
import unittest

os.environ["SYSTOLE_FALLBACK"] = "error"
# The CPU runs each function once: its compiler is what takes time.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

jax.config.update("jax_default_matmul_precision", "highest")


def normal(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


X, Y, V, IMAGE, KERNEL = normal(6, 8), normal(8, 5), normal(33), normal(2, 9, 9, 3), normal(3, 3, 3, 4)
SQUARE = (X @ X.T + 6 * np.eye(6)).astype(np.float32)
Z, W = (X + 1j * X[::-1] ** 2).astype(np.complex64), (X[:, ::-1] - 0.7j * X).astype(np.complex64)
INDEX = np.random.default_rng(1).integers(0, 6, (7,)).astype(np.int32)
KEY = lambda: jax.random.key(1)
NHWC = ("NHWC", "HWIO", "NHWC")


def conv(image, kernel, stride=1, padding="SAME", **more):
    return lax.conv_general_dilated(image, kernel, (stride, stride), padding, dimension_numbers=NHWC, **more)


def adam(loss, weights, steps):
    """Weights behind so many steps."""

    def step(i, state):
        w, m, v = state
        g = jax.grad(loss)(w)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        at = 1 + i.astype(jnp.float32)
        return w - 0.05 * (m / (1 - 0.9**at)) / (jnp.sqrt(v / (1 - 0.99**at)) + 1e-8), m, v

    return lax.fori_loop(0, steps, step, (weights, jnp.zeros_like(weights), jnp.zeros_like(weights)))[0]


def rebuilt(values, vectors):
    return values, (vectors * values) @ jnp.conj(vectors.T)


def hermitian():
    return Z @ jnp.conj(Z.T) / 9 + 3 * jnp.eye(6)


def argmax_pool(image):
    """The largest of each window and its place: two operands, a region of several operations."""

    def larger(a, b):
        first = a[0] >= b[0]
        return jnp.where(first, a[0], b[0]), jnp.where(first, a[1], b[1])

    places = lax.broadcasted_iota(jnp.int32, image.shape, 1) * image.shape[2] + lax.broadcasted_iota(jnp.int32, image.shape, 2)
    return lax.reduce_window((jnp.asarray(image), places), (-jnp.inf, 0), larger, (1, 3, 2, 1), (1, 2, 2, 1), "SAME")


FUNCTIONS = {
    "softmax": lambda: nn.softmax(X), "gelu": lambda: nn.gelu(X), "erf": lambda: jax.scipy.special.erf(X),
    "lgamma": lambda: jax.scipy.special.gammaln(jnp.abs(X) + 0.1), "digamma": lambda: jax.scipy.special.digamma(jnp.abs(V) + 0.5),
    "betainc": lambda: jax.scipy.special.betainc(2.0, 3.0, jnp.abs(jnp.tanh(V))), "i0": lambda: jnp.i0(V), "i1e": lambda: jax.scipy.special.i1e(V),
    "sort": lambda: jnp.sort(V), "argsort": lambda: jnp.argsort(V), "top_k": lambda: lax.top_k(V, 5), "unique": lambda: jnp.unique(INDEX, size=7),
    "cumsum": lambda: jnp.cumsum(V), "cumprod": lambda: jnp.cumprod(V), "cummax": lambda: lax.cummax(V), "median": lambda: jnp.median(V),
    "percentile": lambda: jnp.percentile(V, 30), "var": lambda: jnp.var(X, 1), "std": lambda: jnp.std(X), "histogram": lambda: jnp.histogram(V, 8),
    "nanmean": lambda: jnp.nanmean(V), "logsumexp": lambda: nn.logsumexp(X, 0), "associative_scan": lambda: lax.associative_scan(jnp.add, V),
    "einsum": lambda: jnp.einsum("ij,jk->ki", X, Y), "tensordot": lambda: jnp.tensordot(X, Y, 1), "kron": lambda: jnp.kron(X, Y),
    "outer": lambda: jnp.outer(V, V), "det": lambda: jnp.linalg.det(SQUARE), "inv": lambda: jnp.linalg.inv(SQUARE),
    "solve": lambda: jnp.linalg.solve(SQUARE, X), "cholesky": lambda: jnp.linalg.cholesky(SQUARE), "qr": lambda: jnp.linalg.qr(SQUARE),
    "norm": lambda: jnp.linalg.norm(X), "slogdet": lambda: jnp.linalg.slogdet(SQUARE), "expm": lambda: jax.scipy.linalg.expm(SQUARE / 10),
    "take": lambda: jnp.take(X, INDEX, 0), "scatter_add": lambda: jnp.asarray(X).at[jnp.array(INDEX)].add(1.0),
    "segment_sum": lambda: jax.ops.segment_sum(jnp.ones(7), INDEX, 6), "bincount": lambda: jnp.bincount(INDEX, length=6),
    "conv": lambda: conv(IMAGE, KERNEL, 2), "conv_transpose": lambda: lax.conv_transpose(IMAGE, KERNEL, (2, 2), "SAME"),
    "conv_gradient": lambda: jax.grad(lambda k: jnp.sum(conv(IMAGE, k, 1, "VALID") ** 2))(KERNEL),
    "depthwise": lambda: conv(IMAGE, normal(3, 3, 1, 6), feature_group_count=3),
    "depthwise_gradient": lambda: jax.grad(lambda k: jnp.sum(conv(IMAGE, k, 2, feature_group_count=3) ** 2))(normal(3, 3, 1, 6)),
    "max_pool": lambda: lax.reduce_window(IMAGE, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    "max_pool_gradient": lambda: jax.grad(lambda x: jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2))(IMAGE),
    "average_pool": lambda: lax.reduce_window(IMAGE, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"),
    "bilinear": lambda: jax.image.resize(jnp.asarray(IMAGE), (2, 18, 18, 3), "bilinear"),
    "cubic": lambda: jax.image.resize(jnp.asarray(IMAGE), (2, 5, 5, 3), "cubic"),
    "fori_loop": lambda: lax.fori_loop(0, 10, lambda k, c: c * 1.1 + k, jnp.float32(1)),
    "scan": lambda: lax.scan(lambda c, a: (c + a.sum(), c), jnp.float32(0), X),
    "while_loop": lambda: lax.while_loop(lambda c: c[0] < 100, lambda c: (c[0] * 2, c[1] + 1), (1.0, 0)),
    "cond": lambda: lax.cond(V[0] > 0, lambda a: a + 1, lambda a: a - 1, V),
    "switch": lambda: lax.switch(2, [lambda a: a, lambda a: a * 2, lambda a: a * 3], V), "map": lambda: lax.map(lambda a: a @ a, X),
    "vmap": lambda: jax.vmap(jnp.dot)(X, X), "jacobian": lambda: jax.jacobian(lambda a: jnp.tanh(a @ Y))(X[0]),
    "hessian": lambda: jax.hessian(lambda a: jnp.sum(jnp.sin(a) ** 2))(V[:5]),
    "checkpoint": lambda: jax.grad(jax.checkpoint(lambda a: jnp.sum(jnp.sin(jnp.sin(a)))))(V),
    "random_normal": lambda: jax.random.normal(KEY(), (50,)), "randint": lambda: jax.random.randint(KEY(), (50,), 0, 100),
    "permutation": lambda: jax.random.permutation(KEY(), 20), "categorical": lambda: jax.random.categorical(KEY(), X),
    "random_gamma": lambda: jax.random.gamma(KEY(), 2.0, (5,)), "choice": lambda: jax.random.choice(KEY(), V, (5,)),
    "truncated_normal": lambda: jax.random.truncated_normal(KEY(), -1, 1, (9,)),
    "bitcast": lambda: lax.bitcast_convert_type(V, jnp.int32), "population_count": lambda: lax.population_count(INDEX), "clz": lambda: lax.clz(INDEX),
    "division": lambda: (INDEX - 3) // 2 + (INDEX - 3) % 4, "shifts": lambda: (INDEX << 3) >> 1, "u8": lambda: INDEX.astype(np.uint8) + np.uint8(250),
    "f16": lambda: X.astype(np.float16) * jnp.float16(1.3), "i16": lambda: INDEX.astype(np.int16) * np.int16(9999) // np.int16(7), "bf16_product": lambda: jnp.asarray(X, jnp.bfloat16) @ jnp.asarray(Y, jnp.bfloat16),
    "int8_product": lambda: lax.dot(INDEX.astype(np.int8), INDEX.astype(np.int8), preferred_element_type=jnp.int32),
    "int32_product": lambda: jnp.outer(INDEX, INDEX) @ (jnp.outer(INDEX, INDEX) * 123457 - 9),
    "u8_product": lambda: lax.dot(jnp.tile(INDEX.astype(np.uint8) + np.uint8(249), 50), jnp.ones(350, jnp.uint8) * 255, preferred_element_type=jnp.uint32),
    "int8_float_product": lambda: lax.dot(INDEX.astype(np.int8), INDEX.astype(np.int8) - np.int8(3), preferred_element_type=jnp.float32),
    "roll": lambda: jnp.roll(X, 2, 1), "flip": lambda: jnp.flip(X), "reflect": lambda: jnp.pad(X, ((1, 2), (0, 3)), mode="reflect"),
    "tile": lambda: jnp.tile(X, (2, 2)), "repeat": lambda: jnp.repeat(X, 2, 0), "meshgrid": lambda: jnp.meshgrid(V, V), "tril": lambda: jnp.tril(SQUARE),
    "diag": lambda: jnp.diag(V), "one_hot": lambda: nn.one_hot(INDEX, 6), "interp": lambda: jnp.interp(V, jnp.sort(V), V),
    "convolve": lambda: jnp.convolve(V, V[:5]), "polyval": lambda: jnp.polyval(V[:4], V), "digitize": lambda: jnp.digitize(V, jnp.sort(V[:6])),
    "attention": lambda: nn.dot_product_attention(IMAGE, IMAGE, IMAGE),
    "atan2": lambda: jnp.arctan2(V, V[::-1]), "asin": lambda: jnp.arcsin(jnp.tanh(X)), "mod": lambda: jnp.mod(V * 10, 0.75),
    "fmod": lambda: jnp.fmod(V * 1e6, V[::-1]), "lexsort": lambda: jnp.lexsort((INDEX, -INDEX % 3)), "sort_columns": lambda: jnp.sort(X, 0, descending=True),
    "quantile": lambda: jnp.quantile(X, jnp.array([0.1, 0.5, 0.9]), axis=1), "searchsorted": lambda: jnp.searchsorted(jnp.sort(V), X),
    "choice_p": lambda: jax.random.choice(KEY(), V, (6,), replace=False, p=nn.softmax(V)), "shuffle": lambda: jax.random.permutation(KEY(), X),
    "top_k_gradient": lambda: jax.grad(lambda a: jnp.sum(lax.top_k(a, 3)[0] ** 2))(X),
    "vmap_scan": lambda: jax.vmap(lambda row: lax.scan(lambda c, a: (0.9 * c + a, c * a), jnp.float32(0), row))(X),
    "vmap_while": lambda: jax.vmap(lambda a: lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 1 + jnp.abs(a), c[1] + 1), (a, 0)))(V),
    "adam": lambda: adam(lambda w: jnp.mean((jnp.tanh(X @ w) - X @ Y) ** 2), Y, 12),
    "cho_solve": lambda: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(SQUARE), X),
    "solve_triangular": lambda: jax.scipy.linalg.solve_triangular(SQUARE, X, trans="T", lower=True), "empty": lambda: jnp.concatenate([V[:0] * 2, V]),
    "nested_loops": lambda: lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, i + 1, lambda j, d: d * 0.5 + V[j], c), V),
    "unique_pairs": lambda: jnp.unique(jnp.stack([INDEX % 2, INDEX % 3], 1), axis=0, size=5), "nanmedian": lambda: jnp.nanmedian(jnp.where(X > 1, jnp.nan, X)),
    # Vectors are known but for their signs.
    "eigh": lambda: rebuilt(*jnp.linalg.eigh(SQUARE)), "eigvalsh": lambda: jnp.linalg.eigvalsh(jnp.stack([SQUARE, X[:, :6] + X[:, :6].T])),
    "eigh_odd": lambda: rebuilt(*jnp.linalg.eigh(SQUARE[:5, :5], UPLO="U")),
    "eigvalsh_gradient": lambda: jax.grad(lambda a: jnp.sum(jnp.linalg.eigvalsh(a) ** 2))(SQUARE), "svdvals": lambda: jnp.linalg.svdvals(X),
    "svd": lambda: (lambda u, s, v: (s, (u * s) @ v))(*jnp.linalg.svd(X, full_matrices=False)), "pinv": lambda: jnp.linalg.pinv(X),
    "lstsq": lambda: jnp.linalg.lstsq(X.T, V[:8])[0], "matrix_rank": lambda: jnp.linalg.matrix_rank(X), "condition": lambda: jnp.linalg.cond(SQUARE),
    "approx_max_k": lambda: lax.approx_max_k(X, 3), "approx_min_k": lambda: lax.approx_min_k(X, 2, reduction_dimension=0),
    "cumlogsumexp": lambda: lax.cumlogsumexp(V), "argmax_long": lambda: jnp.argmax(jnp.cos(jnp.arange(3000.0) * V[0]) * jnp.ones((2, 1)), 1),
    "categorical_long": lambda: jax.random.categorical(KEY(), jnp.tile(V, 40)), "nanargmin": lambda: jnp.nanargmin(jnp.where(X > 1, jnp.nan, X)),
    "argmax_pool": lambda: argmax_pool(IMAGE),
    "remat_policy": lambda: jax.grad(jax.checkpoint(lambda a: jnp.sum(jnp.tanh(a @ Y) ** 2), policy=jax.checkpoint_policies.dots_saveable))(X),
    # Complex numbers.
    "complex_arithmetic": lambda: (Z + W, Z - W, Z * W, Z / W, -Z, Z**3, jnp.conj(Z), Z == W, Z != Z, jnp.where(X > 0, Z, W), Z * (2 - 1j) + X),
    "complex_parts": lambda: (Z.real, Z.imag, jnp.abs(Z), jnp.angle(Z), jnp.sign(Z), lax.complex(X, X), Z.astype(jnp.float32), X.astype(jnp.complex64)),
    "complex_exponentials": lambda: (jnp.exp(Z), jnp.log(Z), jnp.sqrt(Z), lax.rsqrt(Z), jnp.power(Z, W), jnp.expm1(Z), jnp.log1p(Z)),
    "complex_trigonometry": lambda: (jnp.sin(Z), jnp.cos(Z), jnp.tan(Z), jnp.tanh(Z), jnp.sinh(Z), jnp.cosh(Z), nn.sigmoid(Z)),
    "complex_inverse_functions": lambda: (jnp.arcsin(Z), jnp.arccos(Z), jnp.arctan(Z), jnp.arcsinh(Z), jnp.arccosh(Z), jnp.arctanh(Z)),
    "complex_moves": lambda: (Z.T, Z.reshape(4, 12), jnp.flip(Z), jnp.roll(Z, 2, 1), jnp.pad(Z, 1), jnp.concatenate([Z, W]), jnp.tile(Z, (2, 1)),
                              Z[INDEX], Z[1:5:2], lax.dynamic_slice(Z, (INDEX[0], 1), (2, 3)), jnp.arange(6, dtype=jnp.complex64) * 1j),
    "complex_updates": lambda: (Z.at[INDEX].add(W[0]), Z.at[INDEX[0]].set(1j), lax.dynamic_update_slice(Z, W[:2], (INDEX[1], 0))),
    "complex_reductions": lambda: (jnp.sum(Z, 0), jnp.prod(Z, 1), jnp.mean(Z), jnp.cumsum(Z, 1), jnp.cumprod(Z, 0), jnp.var(Z), jnp.sort(Z, 0), jnp.max(Z)),
    "complex_products": lambda: (Z @ W.T, jnp.einsum("ij,ij->i", Z, W), jnp.convolve(Z[0], W[0]), Z.T @ X.astype(jnp.complex64)),
    "complex_convolution": lambda: conv(IMAGE * (1 + 2j), KERNEL * (1 - 1j), 2),
    "complex_scan": lambda: lax.scan(lambda c, z: (0.5j * c + z, c * z), jnp.zeros(8, jnp.complex64), Z),
    "complex_while": lambda: lax.while_loop(lambda c: jnp.abs(c[0]) < 100, lambda c: (c[0] * (1 + 1j), c[1] + 1), (Z[0, 0], 0)),
    "complex_cond": lambda: lax.cond(X[0, 0] > 0, lambda z: jnp.sin(z) @ W.T, lambda z: z @ Z.T, Z),
    "complex_vmap": lambda: jax.vmap(jnp.vdot)(Z, W), "complex_norm": lambda: jnp.linalg.norm(Z), "complex_det": lambda: jnp.linalg.det(Z[:, :6]),
    "complex_cholesky": lambda: jnp.linalg.cholesky(hermitian()), "complex_inverse": lambda: (jnp.linalg.inv(hermitian()), jnp.linalg.solve(hermitian(), Z)),
    "complex_triangular": lambda: [lax.linalg.triangular_solve(hermitian(), Z if left else Z.T, left_side=left, lower=left, transpose_a=True, conjugate_a=conjugate)
                                   for left in (False, True) for conjugate in (False, True)],
    "complex_qr": lambda: (jnp.linalg.qr(Z), jnp.linalg.qr(Z.T, mode="complete")), "complex_eigh": lambda: rebuilt(*jnp.linalg.eigh(hermitian())),
    "complex_svd": lambda: (lambda u, s, v: (s, (u * s) @ v))(*jnp.linalg.svd(Z, full_matrices=False)), "complex_expm": lambda: jax.scipy.linalg.expm(Z[:, :6] / 9),
    "complex_gradient": lambda: jax.grad(lambda z: jnp.sum(jnp.abs(jnp.sin(z) @ W.T + z[:, :6] / 3)))(Z),
    "complex_holomorphic": lambda: jax.grad(lambda z: jnp.sum(jnp.tanh(z) * z**2), holomorphic=True)(Z),
    "fft": lambda: [f(Z) for f in (jnp.fft.fft, jnp.fft.ifft, jnp.fft.fft2, jnp.fft.ifft2)], "fft_odd": lambda: jnp.fft.fft(V * 1j),
    "rfft": lambda: (jnp.fft.rfft(X), jnp.fft.rfft2(X), jnp.fft.rfftn(IMAGE), jnp.fft.rfft(V)), "fftn": lambda: jnp.fft.fftn(IMAGE * 1j, axes=(0, 1, 2)),
    "irfft": lambda: (jnp.fft.irfft(Z), jnp.fft.irfft(Z, 9), jnp.fft.irfft2(Z), jnp.fft.hfft(Z), jnp.fft.ihfft(X)),
    "fft_gradient": lambda: jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 3))(X), "fftfreq": lambda: jnp.fft.fftshift(jnp.fft.fftfreq(9)),
    "fft_convolve": lambda: jax.scipy.signal.fftconvolve(X, X[:3, :3]), "fft_two_steps": lambda: jnp.fft.fft(jnp.tile(Z.reshape(-1), 10) * jnp.exp(1j * jnp.arange(480) ** 2)),
    "fft_prime": lambda: jnp.fft.fft(jnp.pad(Z.reshape(-1), (0, 521 - 48))), "stft": lambda: jax.scipy.signal.stft(jnp.tile(V, 4), nperseg=32)[2],
}
OPERANDS = {name: globals()[name] for name in ("X", "Y", "V", "Z", "W", "IMAGE", "KERNEL", "SQUARE", "INDEX")}


def run(function, platform):
    """Its results, of operands that are not known when it is compiled."""

    def of_operands(operands):
        globals().update(operands)
        return function()

    try:
        with jax.default_device(jax.devices(platform)[0]):
            return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(of_operands)(OPERANDS))]
    finally:
        globals().update(OPERANDS)


class Functions(unittest.TestCase):
    def test_as_on_the_cpu(self):
        for name, function in FUNCTIONS.items():
            with self.subTest(name):
                for want, got in zip(run(function, "cpu"), run(function, "systole"), strict=True):
                    self.assertEqual((want.dtype, want.shape), (got.dtype, got.shape))
                    wide = np.complex128 if want.dtype == np.complex64 else np.float64
                    np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=2e-3, atol=1e-4)

    # Bytes of the same program twice.
    def test_the_same_bits_again(self):
        with jax.default_device(jax.devices("systole")[0]):
            runs = [np.asarray(jax.jit(lambda: nn.softmax(X @ Y))()).tobytes() for _ in range(2)]
        self.assertEqual(*runs)

    def test_what_is_not_there_is_named(self):
        with jax.default_device(jax.devices("systole")[0]):
            with self.assertRaisesRegex(Exception, "1048577 values: the largest length is 1048576"):
                np.asarray(jax.jit(lambda: jnp.abs(jnp.fft.fft(jnp.ones((1 << 20) + 1))))())


if __name__ == "__main__":
    unittest.main()
