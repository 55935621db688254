# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Operators of PyTorch's core ATen set as functions of jax: shapes, moves, indices."""

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ._aten import Unsupported, divide, highest, lowering, lowest

# Shapes and moves.
lowering("alias", "detach", "lift_fresh_copy", "lift_fresh", "contiguous", "_conj", "_neg_view", "clone", "view_of")(
    lambda node, x, **_: x)
lowering("_to_copy", "to", "convert_element_type", "copy", "type_as")(
    lambda node, x, *rest, **_: jnp.broadcast_to(rest[0], x.shape).astype(node.dtype) if rest and isinstance(rest[0], jax.Array)
    else x.astype(node.dtype))
lowering("view.default", "_unsafe_view", "reshape", "view_copy.default", "_reshape_alias")(
    lambda node, x, size, *_: jnp.reshape(x, tuple(size)))
lowering("permute")(lambda node, x, dims: jnp.transpose(x, dims))
lowering("transpose.int")(lambda node, x, a, b: jnp.swapaxes(x, a, b) if x.ndim else x)
lowering("t")(lambda node, x: x.T)
lowering("unsqueeze")(lambda node, x, dim: jnp.expand_dims(x, dim))
lowering("cat")(lambda node, parts, dim=0: jnp.concatenate(
    [p.astype(node.dtype) for p in parts if p.shape != (0,)] or [p.astype(node.dtype) for p in parts], dim))
lowering("stack")(lambda node, parts, dim=0: jnp.stack([p.astype(node.dtype) for p in parts], dim))
lowering("repeat")(lambda node, x, counts: jnp.tile(x, tuple(counts)))
lowering("flip")(lambda node, x, dims: jnp.flip(x, tuple(dims)) if x.ndim else x)
lowering("roll")(lambda node, x, shifts, dims=(): jnp.roll(x, tuple(shifts), tuple(dims) or None))
lowering("tril")(lambda node, x, k=0: jnp.tril(x, k))
lowering("triu")(lambda node, x, k=0: jnp.triu(x, k))
lowering("diagonal")(lambda node, x, offset=0, dim1=0, dim2=1: jnp.diagonal(x, offset, dim1, dim2))
lowering("sym_size.int")(lambda node, x, dim: x.shape[dim])
lowering("sym_numel")(lambda node, x: x.size)


@lowering("expand")
def _expand(node, x, size, **_):
    lead = len(size) - x.ndim
    return jnp.broadcast_to(x, tuple(x.shape[i - lead] if n == -1 else n for i, n in enumerate(size)))


@lowering("squeeze")
def _squeeze(node, x, dims=None):
    if dims is None:
        return jnp.squeeze(x)
    dims = [dims] if isinstance(dims, int) else dims
    return jnp.squeeze(x, tuple(d for d in dims if x.ndim and x.shape[d] == 1))


@lowering("select.int")
def _select(node, x, dim, index):
    return jax.lax.index_in_dim(x, index if index >= 0 else index + x.shape[dim], dim, keepdims=False)


def _bounds(x, dim, start, end):
    size = x.shape[dim]
    start, end = (0 if start is None else start), (size if end is None else end)
    start, end = (n + size if n < 0 else n for n in (start, end))
    return max(0, min(start, size)), max(min(max(start, 0), size), min(end, size))


@lowering("slice.Tensor")
def _slice(node, x, dim=0, start=None, end=None, step=1):
    start, end = _bounds(x, dim, start, end)
    return jax.lax.slice_in_dim(x, start, end, step, dim)


@lowering("slice_scatter")
def _slice_scatter(node, x, values, dim=0, start=None, end=None, step=1):
    start, end = _bounds(x, dim, start, end)
    return x.at[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)].set(values.astype(x.dtype))


@lowering("select_scatter")
def _select_scatter(node, x, values, dim, index):
    return x.at[(slice(None),) * (dim % x.ndim) + (index,)].set(values.astype(x.dtype))


@lowering("diagonal_scatter")
def _diagonal_scatter(node, x, values, offset=0, dim1=0, dim2=1):
    places = jnp.diagonal(jnp.arange(x.size).reshape(x.shape), offset, dim1, dim2)
    return x.reshape(-1).at[places].set(values.astype(x.dtype)).reshape(x.shape)


lowering("broadcast_in_dim")(lambda node, x, shape, dims: jax.lax.broadcast_in_dim(x, tuple(shape), tuple(dims)))


@lowering("split_with_sizes")
def _split(node, x, sizes, dim=0):
    return jnp.split(x, [sum(sizes[:i + 1]) for i in range(len(sizes) - 1)], dim)


@lowering("split.Tensor")
def _split_equal(node, x, size, dim=0):
    return _split(node, x, [min(size, x.shape[dim] - i) for i in range(0, x.shape[dim], size)], dim)


@lowering("unbind.int")
def _unbind(node, x, dim=0):
    return [jax.lax.index_in_dim(x, i, dim, keepdims=False) for i in range(x.shape[dim])]


@lowering("unfold")
def _unfold(node, x, dim, size, step):
    x = x if x.ndim else x.reshape(1)
    if not node.operands[0].ndim:
        return x[:size]
    starts = np.arange(0, x.shape[dim] - size + 1, step)
    taken = jnp.take(x, jnp.asarray(starts[:, None] + np.arange(size)), axis=dim)  # (..., starts, size, ...)
    return jnp.moveaxis(taken, dim % x.ndim + 1, -1)


def _strided_indices(size, stride, offset):
    indices = np.full((), offset or 0, np.int64)
    for n, step in zip(size, stride, strict=True):
        indices = indices[..., None] + np.arange(n) * step
    return jnp.asarray(indices, jnp.int32)


@lowering("view.dtype")
def _view_as(node, x, dtype):
    if x.dtype.itemsize != jnp.dtype(node.dtype).itemsize or node.operands[0].dtype == torch.int64 or dtype == torch.int64:
        raise Unsupported("a view of a type of another size")
    return jax.lax.bitcast_convert_type(x, node.dtype)


def _refuse_views(node):
    """Strides are those of what a tensor lies in: known here only of one that lies densely."""
    if not node.operands[0].is_contiguous() or node.operands[0].storage_offset():
        raise Unsupported("strides of a view")


@lowering("as_strided")
def _as_strided(node, x, size, stride, offset=None):
    like = node.operands[0]
    order = sorted(range(x.ndim), key=lambda d: -like.stride(d))  # as it lies in memory
    if not like.is_contiguous() and not like.storage_offset() and like.permute(order).is_contiguous():
        return jnp.reshape(jnp.transpose(x, order), -1)[_strided_indices(size, stride, offset)]
    _refuse_views(node)
    if list(size) == list(x.shape) and not offset:
        dense = [int(np.prod(x.shape[i + 1:])) for i in range(x.ndim)]
        if all(n == 1 or a == b for n, a, b in zip(size, stride, dense, strict=True)):
            return x
    return jnp.reshape(x, -1)[_strided_indices(size, stride, offset)]


@lowering("as_strided_scatter")
def _as_strided_scatter(node, x, values, size, stride, offset=None):
    _refuse_views(node)
    return jnp.reshape(x, -1).at[_strided_indices(size, stride, offset)].set(values.astype(x.dtype)).reshape(x.shape)


@lowering("constant_pad_nd")
def _pad(node, x, pad, value=0):
    pairs = [(0, 0, 0)] * x.ndim
    for i in range(len(pad) // 2):
        pairs[x.ndim - 1 - i] = (pad[2 * i], pad[2 * i + 1], 0)
    return jax.lax.pad(x, jnp.asarray(value, x.dtype), pairs)


# Indices. Those below zero count from the end.
lowering("index_select")(lambda node, x, dim, index: jnp.take(x, index, axis=dim) if x.ndim else x)
lowering("embedding")(lambda node, table, index, *_: jnp.take(table, index, axis=0, mode="clip"))


def _places(indices):
    return tuple(slice(None) if i is None else i for i in indices)


@lowering("index.Tensor", "_unsafe_index.Tensor")
def _index(node, x, indices):
    if any(i is not None and i.dtype == jnp.bool_ for i in indices):
        raise Unsupported("a mask as an index, whose result has a size that depends on values")
    return x[_places(indices)]


@lowering("index_put", "_unsafe_index_put")
def _index_put(node, x, indices, values, accumulate=False):
    masks = [i for i in indices if i is not None and i.dtype == jnp.bool_]
    if masks:
        if len(indices) > 1 or values.ndim > 0 and values.size > 1:
            raise Unsupported("a mask as one of several indices")
        mask = masks[0].reshape(masks[0].shape + (1,) * (x.ndim - masks[0].ndim))
        value = values.reshape(()).astype(x.dtype)
        return jnp.where(mask, x + value if accumulate else value, x)
    at = x.at[_places(indices)]
    return at.add(values.astype(x.dtype)) if accumulate else at.set(values.astype(x.dtype))


def _along(x, dim, index):
    """Places of x that index names along dim, for gather and scatter."""
    grid = list(jnp.meshgrid(*(jnp.arange(n) for n in index.shape), indexing="ij", sparse=True)) if index.ndim else []
    if grid:
        grid[dim] = index
    return tuple(grid)


@lowering("put")
def _put(node, x, index, values, accumulate=False):
    at = x.reshape(-1).at[index.reshape(-1)]
    return (at.add if accumulate else at.set)(values.reshape(-1).astype(x.dtype)).reshape(x.shape)


lowering("take")(lambda node, x, index: x.reshape(-1)[index])
lowering("gather")(lambda node, x, dim, index, **_: x[_along(x, dim, index)] if x.ndim else x)


@lowering("scatter.src", "scatter.value", "scatter_add", "scatter.reduce", "scatter.value_reduce", "scatter_reduce.two")
def _scatter(node, x, dim, index, values, reduce=None, include_self=True):
    if reduce is None and node.name.startswith("scatter_add"):
        reduce = "add"
    values = jnp.asarray(values, x.dtype)
    values = values[tuple(slice(n) for n in index.shape)] if values.ndim else jnp.broadcast_to(values, index.shape)
    places = _along(x, dim, index)
    if reduce is not None and not include_self:
        start = {"sum": 0, "prod": 1, "amax": lowest(x.dtype), "amin": highest(x.dtype), "mean": 0}[reduce]
        x = x.at[places].set(jnp.asarray(start, x.dtype))
    at = x.at[places]
    if reduce == "mean":
        counts = (jnp.ones if include_self else jnp.zeros)(x.shape, x.dtype).at[places].add(jnp.ones(index.shape, x.dtype))
        return divide(at.add(values), jnp.maximum(counts, 1), None if jnp.issubdtype(x.dtype, jnp.floating) else "floor")
    return {None: at.set, "add": at.add, "sum": at.add, "multiply": at.multiply, "prod": at.multiply, "amax": at.max,
            "amin": at.min}[reduce](values)
