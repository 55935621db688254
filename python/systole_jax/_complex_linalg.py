# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Factors and solutions of complex matrices, as programs of jax: Cholesky's, triangular ones, QR. All of it is elementwise, so that
nothing is rounded to bf16. The devices have operations for those of real matrices.
"""

import functools

import jax.numpy as jnp
from jax import lax


def _column(a, j):
    """Column j of matrices [..., m, n]: [..., m]."""
    return lax.dynamic_index_in_dim(a, j, a.ndim - 1, keepdims=False)


def _cholesky(a):
    n = a.shape[-1]
    rows = jnp.arange(n)
    a = jnp.tril(a)

    def step(j, a):
        """Divides column j by the root of its diagonal, and takes its outer product off what follows."""
        column = _column(a, j)
        root = jnp.sqrt(lax.dynamic_index_in_dim(column, j, column.ndim - 1).real)
        column = jnp.where(rows > j, column / root, jnp.where(rows == j, root, 0))
        rest = a - column[..., :, None] * jnp.conj(column)[..., None, :]
        return jnp.where(rows == j, column[..., :, None], jnp.where(rows > j, rest, a))

    factor = jnp.tril(lax.fori_loop(0, n, step, a)) if n else a
    fails = jnp.any(jnp.isnan(factor), (-2, -1), keepdims=True)  # not positive definite
    return jnp.where(fails, jnp.nan, factor)


def _triangular_solve(a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    a = jnp.conj(a) if conjugate_a else a
    if not left_side:  # x a = b is a^T x^T = b^T
        b, transpose_a = jnp.swapaxes(b, -1, -2), not transpose_a
    if transpose_a:
        a, lower = jnp.swapaxes(a, -1, -2), not lower
    n = a.shape[-1]
    rows = jnp.arange(n)

    def step(i, b):
        j = i if lower else n - 1 - i
        column = _column(a, j)[..., None]
        row = lax.dynamic_index_in_dim(b, j, b.ndim - 2)
        if not unit_diagonal:
            row = row / lax.dynamic_index_in_dim(column, j, column.ndim - 2)
        left = (rows > j if lower else rows < j)[:, None]
        return jnp.where(left, b - column * row, jnp.where((rows == j)[:, None], row, b))

    x = lax.fori_loop(0, n, step, b) if n else b
    return x if left_side else jnp.swapaxes(x, -1, -2)


def _reflected(v, factor, a):
    """a - factor v (v^H a)"""
    return a - factor[..., None, None] * v[..., :, None] * jnp.sum(jnp.conj(v)[..., :, None] * a, -2, keepdims=True)


def _geqrf(a):
    m, n = a.shape[-2:]
    rows, count = jnp.arange(m), min(m, n)

    def step(k, state):
        """The reflection I - t v v^H with v[k] = 1 whose adjoint leaves a real beta of column k."""
        a, taus = state
        column = _column(a, k)
        below = jnp.where(rows > k, column, 0)
        alpha = lax.dynamic_index_in_dim(column, k, column.ndim - 1, keepdims=False)
        largest = jnp.maximum(jnp.max(jnp.abs(below), -1), jnp.abs(alpha))
        scale = jnp.where(largest == 0, 1, largest)
        norm = scale * jnp.sqrt(jnp.sum(jnp.abs(jnp.where(rows >= k, column, 0) / scale[..., None]) ** 2, -1))
        none = (jnp.max(jnp.abs(below), -1) == 0) & (alpha.imag == 0)
        beta = jnp.where(none, alpha.real, jnp.where(alpha.real < 0, norm, -norm))
        tau = jnp.where(none, 0, (beta - alpha) / jnp.where(none, 1, beta))
        v = jnp.where(rows == k, 1, below / jnp.where(none, 1, alpha - beta)[..., None])
        reflected = jnp.where((rows >= k)[:, None] & (jnp.arange(n) > k), _reflected(v, jnp.conj(tau), a), a)
        stored = jnp.where(rows > k, v, jnp.where(rows == k, beta[..., None], column))
        return jnp.where(jnp.arange(n) == k, stored[..., :, None], reflected), jnp.where(jnp.arange(count) == k, tau[..., None], taus)

    taus = jnp.zeros(a.shape[:-2] + (count,), a.dtype)
    return lax.fori_loop(0, count, step, (a, taus)) if count else (a, taus)


def _householder_product(a, taus, **_):
    m, n = a.shape[-2:]
    rows, count = jnp.arange(m), taus.shape[-1]

    def step(i, q):
        k = count - 1 - i
        column = _column(a, k)
        v = jnp.where(rows > k, column, jnp.where(rows == k, 1, 0))
        return _reflected(v, _column(taus[..., None, :], k)[..., 0], q)

    q = jnp.broadcast_to(jnp.eye(m, n, dtype=a.dtype), a.shape)
    return lax.fori_loop(0, count, step, q) if count else q


def register():
    """For the platform "systole" and complex matrices; real ones are lowered as everywhere."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    def choose(program, several, real, context, *operands, **parameters):
        if not jnp.issubdtype(context.avals_in[0].dtype, jnp.complexfloating):
            return real(context, *operands, **parameters)
        return mlir.lower_fun(program, multiple_results=several)(context, *operands, **parameters)

    for primitive, program, several, real in (
        ("cholesky_p", _cholesky, False, "_cholesky_lowering"),
        ("triangular_solve_p", _triangular_solve, False, "_triangular_solve_lowering"),
        ("geqrf_p", _geqrf, True, "_geqrf_lowering_rule"),
        ("householder_product_p", _householder_product, False, "_householder_product_lowering"),
    ):
        if hasattr(linalg, primitive) and hasattr(linalg, real):
            rule = functools.partial(choose, program, several, getattr(linalg, real))
            mlir.register_lowering(getattr(linalg, primitive), rule, platform="systole")
