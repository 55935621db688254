# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Operators of PyTorch's core ATen set as functions of jax: reductions, cumulations, orders."""

import jax
import jax.numpy as jnp

from ._aten import lowering


def _dims(x, dims):
    dims = range(x.ndim) if dims is None or dims == [] else [dims] if isinstance(dims, int) else dims
    return tuple(dims) if x.ndim else ()


def _reduction(function, inner=None):
    def lowered(node, x, dims=None, keepdim=False, **_):
        return function(x.astype(inner or node.dtype), axis=_dims(x, dims), keepdims=keepdim)
    return lowered


lowering("sum")(_reduction(jnp.sum))
lowering("mean")(_reduction(jnp.mean))
lowering("amax")(_reduction(jnp.max))
lowering("amin")(_reduction(jnp.min))
lowering("prod")(_reduction(jnp.prod))
lowering("any")(_reduction(jnp.any, jnp.bool_))
lowering("all")(_reduction(jnp.all, jnp.bool_))


@lowering("var.correction")
def _var(node, x, dims=None, *, correction=None, keepdim=False):
    return jnp.var(x, axis=_dims(x, dims), ddof=1 if correction is None else correction, keepdims=keepdim)


@lowering("var_mean.correction")
def _var_mean(node, x, dims=None, **keywords):
    return _var(node, x, dims, **keywords), jnp.mean(x, axis=_dims(x, dims), keepdims=keywords.get("keepdim", False))


@lowering("max.dim", "min.dim", "max.default", "min.default")
def _extreme(node, x, dim=None, keepdim=False):
    least = node.name.startswith("min")
    if dim is None:
        return (jnp.min if least else jnp.max)(x)
    if not x.ndim:
        return x, jnp.zeros((), jnp.int32)
    return ((jnp.min if least else jnp.max)(x, axis=dim, keepdims=keepdim),
            (jnp.argmin if least else jnp.argmax)(x, axis=dim, keepdims=keepdim))


lowering("argmax")(lambda node, x, dim=None, keepdim=False: jnp.argmax(x, axis=dim if x.ndim else None, keepdims=keepdim))
lowering("argmin")(lambda node, x, dim=None, keepdim=False: jnp.argmin(x, axis=dim if x.ndim else None, keepdims=keepdim))
lowering("cumsum")(lambda node, x, dim, **_: jnp.cumsum(x.astype(node.dtype), dim) if x.ndim else x)
lowering("cumprod")(lambda node, x, dim, **_: jnp.cumprod(x.astype(node.dtype), dim) if x.ndim else x)


@lowering("cummax", "cummin")
def _cumulative_extreme(node, x, dim):
    if not x.ndim:
        return x, jnp.zeros((), jnp.int32)
    least = node.name.startswith("cummin")

    def later(a, b):  # the later one of equals, and of not-a-numbers
        keep = (b[0] <= a[0] if least else b[0] >= a[0]) | jnp.isnan(b[0])
        keep &= ~jnp.isnan(a[0]) | jnp.isnan(b[0])
        return jnp.where(keep, b[0], a[0]), jnp.where(keep, b[1], a[1])
    return jax.lax.associative_scan(later, (x, jax.lax.broadcasted_iota(jnp.int32, x.shape, dim % x.ndim)), axis=dim % x.ndim)


@lowering("masked_scatter")
def _masked_scatter(node, x, mask, source):
    shape = jnp.broadcast_shapes(x.shape, mask.shape)
    x, mask = jnp.broadcast_to(x, shape), jnp.broadcast_to(mask, shape).reshape(-1)
    taken = jnp.take(source.reshape(-1), jnp.clip(jnp.cumsum(mask) - 1, 0, None), mode="clip")
    return jnp.where(mask, taken, x.reshape(-1)).reshape(x.shape)


@lowering("masked_scatter_backward")
def _masked_scatter_backward(node, grad, mask, sizes):
    count = 1
    for n in sizes:
        count *= n
    mask = jnp.broadcast_to(mask, grad.shape).reshape(-1)
    place = jnp.where(mask, jnp.cumsum(mask) - 1, count)  # beyond the end is dropped
    return jnp.zeros(count, grad.dtype).at[place].set(grad.reshape(-1), mode="drop").reshape(tuple(sizes))


@lowering("sort", "sort.stable")
def _sort(node, x, dim=-1, descending=False, **keywords):
    if "stable" in keywords and isinstance(dim, bool):
        dim, descending = -1, dim
    dim, descending = keywords.get("dim", dim), keywords.get("descending", descending)
    if not x.ndim:
        return x, jnp.zeros((), jnp.int32)
    order = jnp.argsort(x, axis=dim, stable=True, descending=descending)
    return jnp.take_along_axis(x, order, axis=dim), order


@lowering("topk")
def _topk(node, x, k, dim=-1, largest=True, sorted=True):  # noqa: A002: PyTorch's name
    if not x.ndim:
        return x, jnp.zeros((), jnp.int32)
    moved = jnp.moveaxis(x, dim, -1)
    if largest:
        values, indices = jax.lax.top_k(moved, k)
    else:
        indices = jnp.argsort(moved, axis=-1, stable=True)[..., :k]
        values = jnp.take_along_axis(moved, indices, axis=-1)
    return jnp.moveaxis(values, -1, dim), jnp.moveaxis(indices, -1, dim)


@lowering("median.dim", "median.default")
def _median(node, x, dim=None, keepdim=False):
    if dim is None:
        return jnp.sort(x.reshape(-1))[(x.size - 1) // 2]
    if not x.ndim:
        return x, jnp.zeros((), jnp.int32)
    order = jnp.argsort(x, axis=dim, stable=True)
    place = jax.lax.slice_in_dim(order, (x.shape[dim] - 1) // 2, (x.shape[dim] - 1) // 2 + 1, axis=dim)
    values = jnp.take_along_axis(x, place, axis=dim)
    return (values, place) if keepdim else (values.squeeze(dim), place.squeeze(dim))


@lowering("kthvalue")
def _kth(node, x, k, dim=-1, keepdim=False):
    if not x.ndim:
        return x, jnp.zeros((), jnp.int32)
    place = jax.lax.slice_in_dim(jnp.argsort(x, axis=dim, stable=True), k - 1, k, axis=dim % x.ndim)
    values = jnp.take_along_axis(x, place, axis=dim)
    return (values, place) if keepdim else (values.squeeze(dim), place.squeeze(dim))


@lowering("searchsorted")
def _searchsorted(node, edges, x, *, right=False, side=None, sorter=None, **_):
    if sorter is not None:
        edges = jnp.take_along_axis(edges, sorter, -1)
    x = jnp.asarray(x, edges.dtype) if not isinstance(x, jax.Array) else x
    if not x.ndim:
        return (edges <= x if right or side == "right" else edges < x).sum(-1)
    before = edges[..., None, :] <= x[..., None] if right or side == "right" else edges[..., None, :] < x[..., None]
    return before.sum(-1)


lowering("bucketize")(lambda node, x, edges, *, right=False, **_: _searchsorted(node, edges, x, right=right))
