# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""What jax leaves to each platform, as programs of jax: eigenvalues of symmetric and Hermitian matrices (and by them jnp.linalg.svd,
pinv, lstsq), approx_max_k."""

import jax.numpy as jnp
import numpy as np
from jax import lax

MOST_SWEEPS = 20


def _turns(first):
    """The rows (or columns) of the next round of pairs: the first one stays, the others go round."""
    order = np.arange(2 * first)
    top, bottom = order[:first], order[first:]
    return np.concatenate([top[:1], bottom[:1], top[1:-1], bottom[1:], top[-1:]]) if first > 1 else order


def _squares(a):
    return (a * jnp.conj(a)).real


def _rotate(c, s, top, bottom):
    return c * top - s * bottom, s * top + c * bottom


def _round(state, order):
    """Rotates the pairs (i, i + half) at once, so that their elements off the diagonal vanish."""
    a, v = state
    half = a.shape[-1] // 2
    diagonal = jnp.diagonal(a, axis1=-2, axis2=-1).real
    p, q = diagonal[..., :half], diagonal[..., half:]
    r = jnp.diagonal(a[..., :half, half:], axis1=-2, axis2=-1)
    if jnp.iscomplexobj(r):  # turned so that r is real
        turn = jnp.where(r == 0, 1, jnp.sign(r))
        whole = jnp.concatenate([jnp.ones_like(turn), turn], -1)
        a = a * jnp.conj(whole)[..., None, :] * whole[..., None]
        v = v * jnp.conj(whole)[..., None, :]
        r = jnp.abs(r)
    tiny = jnp.abs(r) <= 1e-9 * jnp.sqrt(jnp.abs(p)) * jnp.sqrt(jnp.abs(q))
    tau = (q - p) / (2 * jnp.where(tiny, 1, r))
    t = jnp.where(tiny, 0, jnp.where(tau >= 0, 1, -1) / (jnp.abs(tau) + jnp.sqrt(1 + tau * tau)))
    c = 1 / jnp.sqrt(1 + t * t)
    s = t * c
    columns = _rotate(c[..., None, :], s[..., None, :], a[..., :half], a[..., half:])
    a = jnp.concatenate(columns, -1)
    a = jnp.concatenate(_rotate(c[..., None], s[..., None], a[..., :half, :], a[..., half:, :]), -2)
    v = jnp.concatenate(_rotate(c[..., None, :], s[..., None, :], v[..., :half], v[..., half:]), -1)
    return a[..., order, :][..., order], v[..., order]


def _eigh(x, *, lower, sort_eigenvalues=True, subset_by_index=None, **_):
    """Jacobi's method, all pairs of a round at once; elementwise, so that nothing is rounded to bf16."""
    n = x.shape[-1]
    half, strict = (jnp.tril(x), jnp.tril(x, -1)) if lower else (jnp.triu(x), jnp.triu(x, 1))
    x = half + jnp.conj(jnp.swapaxes(strict, -1, -2))
    if jnp.iscomplexobj(x):
        x = jnp.where(jnp.eye(n, dtype=bool), x.real, x)
    if n > 1:
        even = n + n % 2
        a = jnp.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, even - n)] * 2)
        v = jnp.broadcast_to(jnp.eye(even, dtype=x.dtype), a.shape)
        order = _turns(even // 2)
        norm = jnp.sqrt(jnp.sum(_squares(a), (-2, -1)))
        outside = 1 - jnp.eye(even, dtype=x.real.dtype)

        def goes_on(state):
            sweeps, a, _ = state
            left = jnp.sqrt(jnp.sum(_squares(a) * outside, (-2, -1)))
            return (sweeps < MOST_SWEEPS) & jnp.any(left > 2e-7 * norm)

        def sweep(state):
            sweeps, a, v = state
            a, v = lax.fori_loop(0, even - 1, lambda _, pair: _round(pair, order), (a, v))
            return sweeps + 1, a, v

        _, a, v = lax.while_loop(goes_on, sweep, (0, a, v))
        w, v = jnp.diagonal(a, axis1=-2, axis2=-1)[..., :n].real, v[..., :n, :n]
    else:
        w, v = x[..., 0].real, jnp.ones_like(x)
    if sort_eigenvalues:
        rank = jnp.argsort(w, -1)
        w, v = jnp.take_along_axis(w, rank, -1), jnp.take_along_axis(v, rank[..., None, :], -1)
    first, end = subset_by_index or (0, n)
    return v[..., first:end], w[..., first:end]


def _approx_top_k(context, operand, *, reduction_dimension, is_max_k, **_):
    """The exact ones: as many as jax asks for."""
    from jax._src.interpreters import mlir

    axis = reduction_dimension % len(context.avals_in[0].shape)
    count = context.avals_out[0].shape[axis]

    def top(x):
        values, places = lax.top_k(jnp.moveaxis(x if is_max_k else -x, axis, -1), count)
        return jnp.moveaxis(values if is_max_k else -values, -1, axis), jnp.moveaxis(places, -1, axis)

    return mlir.lower_fun(top, multiple_results=True)(context, operand)


def register():
    """For the platform "systole" alone. What a version of jax has elsewhere stays as it is."""
    from jax._src import dispatch
    from jax._src.interpreters import mlir
    from jax._src.lax import ann, linalg, parallel

    mlir.register_lowering(linalg.eigh_p, mlir.lower_fun(_eigh, multiple_results=True), platform="systole")
    mlir.register_lowering(ann.approx_top_k_p, _approx_top_k, platform="systole")
    if hasattr(dispatch, "_tpu_gpu_device_put_lowering"):  # in programs too, with its sharding
        mlir.register_lowering(dispatch.device_put_p, dispatch._tpu_gpu_device_put_lowering, platform="systole")
    if hasattr(parallel, "_pbroadcast_lowering"):
        mlir.register_lowering(parallel.pbroadcast_p, parallel._pbroadcast_lowering, platform="systole")
