# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Operators of PyTorch's linear algebra as functions of jax. Matrices are the last two dimensions."""

import jax
import jax.numpy as jnp

from ._aten import Unsupported, lowering


def _info(x):
    return jnp.zeros(x.shape[:-2], jnp.int32)


def _transposed(x):
    return jnp.swapaxes(x, -1, -2)


def _symmetric(x):
    """The symmetric matrix that has the lower triangle of x."""
    return jnp.tril(x) + _transposed(jnp.tril(x, -1))


@lowering("linalg_cholesky_ex")
def _cholesky(node, x, *, upper=False, check_errors=False):
    lower = jnp.linalg.cholesky(x)
    return (_transposed(lower) if upper else lower), _info(x)


@lowering("cholesky_solve")
def _cholesky_solve(node, b, factor, upper=False):
    return jax.scipy.linalg.cho_solve((factor, not upper), b)


@lowering("cholesky_inverse")
def _cholesky_inverse(node, factor, upper=False):
    identity = jnp.broadcast_to(jnp.eye(factor.shape[-1], dtype=factor.dtype), factor.shape)
    return jax.scipy.linalg.cho_solve((factor, not upper), identity)


@lowering("linalg_inv_ex")
def _inverse(node, x, *, check_errors=False):
    return jnp.linalg.inv(x), _info(x)


def _factors(x):
    """The factors of PyTorch's LU, whose pivots count from one, and the permutation of the rows."""
    factors, pivots, permutation = jax.lax.linalg.lu(x)
    return factors, pivots + 1, permutation


@lowering("linalg_lu_factor_ex")
def _lu(node, x, *, pivot=True, check_errors=False):
    if not pivot:
        raise Unsupported("factors without pivots")
    return *_factors(x)[:2], _info(x)


@lowering("linalg_lu")
def _lu_parts(node, x, *, pivot=True):
    if not pivot:
        raise Unsupported("factors without pivots")
    return _lu_unpack(node, *_factors(x)[:2])


@lowering("linalg_pinv.atol_rtol_tensor")
def _pseudo_inverse(node, x, *, atol=None, rtol=None, hermitian=False):
    x = _symmetric(x) if hermitian else x
    u, values, v = jnp.linalg.svd(x, full_matrices=False)
    largest = values[..., :1] if values.shape[-1] else values
    absolute = jnp.asarray(0.0 if atol is None else atol)[..., None]
    default = max(x.shape[-2:]) * jnp.finfo(x.dtype).eps
    relative = jnp.asarray(rtol)[..., None] if rtol is not None else jnp.where(absolute > 0, 0.0, default)
    kept = values > jnp.maximum(absolute, relative * largest)
    inverse = jnp.where(kept, 1 / jnp.where(kept, values, 1), 0)
    return jnp.matmul(_transposed(v) * inverse[..., None, :], _transposed(u))


@lowering("_linalg_solve_ex")
def _solve(node, a, b, *, left=True, check_errors=False):
    vector = b.ndim == 1 or b.ndim == a.ndim - 1 and b.shape == a.shape[:-1]
    right = b[..., None] if vector else b
    x = jnp.linalg.solve(a, right) if left else _transposed(jnp.linalg.solve(_transposed(a), _transposed(right)))
    return (x[..., 0] if vector else x), *_factors(a)[:2], _info(a)


def _sign(permutation):
    """Whether a permutation is even: 1, or odd: -1."""
    n = permutation.shape[-1]
    later = jnp.arange(n)[:, None] < jnp.arange(n)
    inversions = ((permutation[..., :, None] > permutation[..., None, :]) & later).sum((-1, -2))
    return 1 - 2 * (inversions % 2)


@lowering("_linalg_det")
def _determinant(node, x):
    factors, pivots, permutation = _factors(x)
    return jnp.prod(jnp.diagonal(factors, axis1=-2, axis2=-1), -1) * _sign(permutation), factors, pivots


@lowering("_linalg_slogdet")
def _log_determinant(node, x):
    factors, pivots, permutation = _factors(x)
    diagonal = jnp.diagonal(factors, axis1=-2, axis2=-1)
    return jnp.prod(jnp.sign(diagonal), -1) * _sign(permutation), jnp.log(jnp.abs(diagonal)).sum(-1), factors, pivots


@lowering("linalg_qr")
def _qr(node, x, mode="reduced"):
    if mode == "r":
        return jnp.zeros((0,), x.dtype), jnp.linalg.qr(x, mode="r")
    return tuple(jnp.linalg.qr(x, mode=mode))


@lowering("_linalg_svd")
def _svd(node, x, full_matrices=False, compute_uv=True, *, driver=None):
    if not compute_uv:
        nothing = jnp.zeros((0,), x.dtype)
        return nothing, jnp.linalg.svd(x, compute_uv=False), nothing
    return tuple(jnp.linalg.svd(x, full_matrices=full_matrices))


@lowering("_linalg_eigh")
def _eigh(node, x, uplo="L", compute_v=True):
    if not x.shape[-1]:
        return jnp.zeros(x.shape[:-1], x.dtype), x
    values, vectors = jnp.linalg.eigh(_symmetric(x if uplo.upper() == "L" else _transposed(x)), symmetrize_input=False)
    return values, vectors


@lowering("linalg_lu_solve")
def _lu_solve(node, factors, pivots, b, *, left=True, adjoint=False):
    permutation = jax.lax.linalg.lu_pivots_to_permutation(pivots - 1, factors.shape[-1])
    lead = jnp.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
    factors, b = (jnp.broadcast_to(x, lead + x.shape[-2:]) for x in (factors, b))
    permutation = jnp.broadcast_to(permutation, lead + permutation.shape[-1:])
    if not left:  # X A = B is A' X' = B'
        return _transposed(_lu_solve(node, factors, pivots, _transposed(b), adjoint=not adjoint))
    solve = jax.lax.linalg.triangular_solve
    if not adjoint:
        b = jnp.take_along_axis(b, permutation[..., None], -2)
        return solve(factors, solve(factors, b, left_side=True, lower=True, unit_diagonal=True), left_side=True, lower=False)
    b = solve(factors, b, left_side=True, lower=False, transpose_a=True)
    b = solve(factors, b, left_side=True, lower=True, transpose_a=True, unit_diagonal=True)
    return jnp.take_along_axis(b, jnp.argsort(permutation, -1)[..., None], -2)


@lowering("linalg_solve_triangular")
def _solve_triangular(node, a, b, *, upper, left=True, unitriangular=False):
    lead = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(x, lead + x.shape[-2:]) for x in (a, b))
    return jax.lax.linalg.triangular_solve(a, b, left_side=left, lower=not upper, unit_diagonal=unitriangular)


@lowering("triangular_solve")
def _old_solve_triangular(node, b, a, upper=True, transpose=False, unitriangular=False):
    lead = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(x, lead + x.shape[-2:]) for x in (a, b))
    return jax.lax.linalg.triangular_solve(a, b, left_side=True, lower=not upper, transpose_a=transpose,
                                           unit_diagonal=unitriangular), a


lowering("linalg_matrix_exp")(lambda node, x: jax.scipy.linalg.expm(x))


@lowering("lu_unpack")
def _lu_unpack(node, factors, pivots, unpack_data=True, unpack_pivots=True):
    rows, columns = factors.shape[-2:]
    inner = min(rows, columns)
    lower = jnp.tril(factors[..., :, :inner], -1) + jnp.eye(rows, inner, dtype=factors.dtype)
    permutation = jax.lax.linalg.lu_pivots_to_permutation(pivots - 1, rows)
    matrix = _transposed(jax.nn.one_hot(permutation, rows, dtype=factors.dtype))
    nothing = jnp.zeros((0,), factors.dtype)
    return (matrix if unpack_pivots else nothing, lower if unpack_data else nothing,
            jnp.triu(factors[..., :inner, :]) if unpack_data else nothing)
