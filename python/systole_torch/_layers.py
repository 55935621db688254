# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Operators of PyTorch's core ATen set as functions of jax: products, convolutions, windows, and their gradients.

Tensors are NCHW, as PyTorch has them. A gradient that PyTorch has as an operator of its own is that of the lowering of the operator.
"""

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ._aten import is_half, lowering

# Products. Sums are those of float32 for halves, too.
lowering("mm", "bmm", "matmul", "mv", "dot")(lambda node, a, b: jnp.matmul(a, b))


@lowering("addmm", "baddbmm", "addmv", "addbmm")
def _addmm(node, c, a, b, beta=1, alpha=1):
    product = jnp.matmul(a, b)
    if node.name.startswith("addbmm"):
        product = product.sum(0)
    product = product if alpha == 1 else product * jnp.asarray(alpha, product.dtype)
    if beta == 0:
        return product
    return product + (c if beta == 1 else c * jnp.asarray(beta, c.dtype))


def _spread(value, count):
    value = [value] if isinstance(value, int) else list(value)
    return value * count if len(value) == 1 else value


def _layout(spatial, kernel):
    letters = "DHW"[3 - spatial:]
    return jax.lax.conv_dimension_numbers((1,) * (spatial + 2), (1,) * (spatial + 2), ("NC" + letters, kernel + letters, "NC" + letters))


def _convolve(x, w, stride, padding, dilation, transposed, output_padding, groups):
    spatial = w.ndim - 2
    batched = x.ndim == w.ndim
    x = x if batched else x[None]
    stride, padding, dilation, output_padding = (_spread(v, spatial) for v in (stride, padding, dilation, output_padding))
    if not transposed:
        y = jax.lax.conv_general_dilated(x, w, stride, [(p, p) for p in padding], rhs_dilation=dilation,
                                         dimension_numbers=_layout(spatial, "OI"), feature_group_count=groups)
    else:
        # The gradient of a convolution: inputs spread by the stride, kernels turned and with their channels swapped within a group.
        inputs, outputs = w.shape[0], w.shape[1]
        w = jnp.flip(w, tuple(range(2, w.ndim)))
        w = w.reshape(groups, inputs // groups, outputs, *w.shape[2:]).swapaxes(1, 2).reshape(groups * outputs, inputs // groups, *w.shape[2:])
        pads = [((k - 1) * d - p, (k - 1) * d - p + o)
                for k, d, p, o in zip(w.shape[2:], dilation, padding, output_padding, strict=True)]
        y = jax.lax.conv_general_dilated(x, w, [1] * spatial, pads, lhs_dilation=stride, rhs_dilation=dilation,
                                         dimension_numbers=_layout(spatial, "OI"), feature_group_count=groups)
    return y if batched else y[0]


@lowering("convolution", "_convolution")
def _convolution(node, x, w, bias, stride, padding, dilation, transposed, output_padding, groups, *_):
    y = _convolve(x, w, stride, padding, dilation, transposed, output_padding, groups)
    return y if bias is None else y + bias.reshape((-1,) + (1,) * (w.ndim - 2))


@lowering("convolution_backward")
def _convolution_backward(node, grad, x, w, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask):
    _, pull = jax.vjp(lambda x, w: _convolve(x, w, stride, padding, dilation, transposed, output_padding, groups), x, w)
    to_x, to_w = pull(grad)
    axes = tuple(a for a in range(grad.ndim) if a != grad.ndim - w.ndim + 1)
    return (to_x if mask[0] else None, to_w if mask[1] else None, grad.sum(axes) if mask[2] else None)


# Windows.
def _window(x, size, stride, padding, dilation=1, ceil=False):
    """Of the spatial axes of x: sizes, strides, dilations, and pads with what `ceil` adds behind; None for the other axes."""
    spatial = len(size) if not isinstance(size, int) else x.ndim - 2 if x.ndim > 2 else 1
    size = _spread(size, spatial)
    stride = _spread(stride, spatial) if stride not in (None, []) else size
    padding, dilation = _spread(padding, spatial), _spread(dilation, spatial)
    pads = []
    for n, k, s, p, d in zip(x.shape[-spatial:], size, stride, padding, dilation, strict=True):
        reach = (k - 1) * d + 1
        count = (n + 2 * p - reach) // s + 1
        if ceil:
            count = -(-(n + 2 * p - reach) // s) + 1
            if (count - 1) * s >= n + p:  # the last window would start in the padding
                count -= 1
        pads.append((p, max(p, (count - 1) * s + reach - n - p)))
    lead = x.ndim - spatial
    ones = (1,) * lead
    return spatial, ones + tuple(size), ones + tuple(stride), ((0, 0),) * lead + tuple(pads), ones + tuple(dilation)


def _reduce(x, start, function, window):
    _, size, stride, pads, dilation = window
    return jax.lax.reduce_window(x, np.asarray(start, x.dtype), function, size, stride, pads, window_dilation=dilation)


def _max_pool(x, *arguments):
    start = -math.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min
    return _reduce(x, start, jax.lax.max, _window(x, *arguments))


def _max_pool_defaults(size, stride=None, padding=0, dilation=1, ceil_mode=False):
    return size, stride, padding, dilation, ceil_mode


def _max_pool_indices(x, *arguments):
    """Values and their places in the spatial plane."""
    spatial, size, stride, pads, dilation = _window(x, *arguments)
    values = _max_pool(x, *arguments)
    # Indices, where they are used: a comparison for each place in the window, the first of equals wins.
    padded = jnp.pad(x, pads, constant_values=-math.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min)
    places = functools.reduce(lambda a, n: a[..., None] * n + jnp.arange(n), x.shape[-spatial:], jnp.zeros((), jnp.int32))
    places = jnp.pad(jnp.broadcast_to(places, x.shape), pads)
    indices = found = None
    for offset in itertools.product(*(range(k) for k in size[-spatial:])):
        lead = x.ndim - spatial
        starts = [0] * lead + [o * d for o, d in zip(offset, dilation[-spatial:], strict=True)]
        ends = [n if i < lead else starts[i] + (values.shape[i] - 1) * stride[i] + 1 for i, n in enumerate(padded.shape)]
        there, place = (jax.lax.slice(t, starts, ends, stride) for t in (padded, places))
        if indices is None:
            indices, found = place, there
            continue
        better = (there > found) | (jnp.isnan(there) & ~jnp.isnan(found))
        indices, found = jnp.where(better, place, indices), jnp.where(better, there, found)
    return values, indices


lowering("max_pool2d_with_indices", "max_pool3d_with_indices")(
    lambda node, x, *arguments, **keywords: _max_pool_indices(x, *_max_pool_defaults(*arguments, **keywords)))


def _to_places(grad, x, indices, spatial):
    """What a gradient adds at places in the spatial plane of x."""
    lead = math.prod(x.shape[:-spatial])
    flat = jnp.zeros((lead, math.prod(x.shape[-spatial:])), grad.dtype)
    return flat.at[jnp.arange(lead)[:, None], indices.reshape(lead, -1)].add(grad.reshape(lead, -1)).reshape(x.shape)


@lowering("max_pool_backward")
def _max_pool_backward(node, grad, x, size, stride, padding, dilation, ceil_mode):
    arguments = (size, stride, padding, dilation, ceil_mode)
    if any(d != 1 for d in dilation):  # jax has no gradient of these
        return _to_places(grad, x, _max_pool_indices(x, *arguments)[1], len(size))
    return jax.vjp(lambda x: _max_pool(x, *arguments), x)[1](grad)[0]


@lowering("replication_pad1d_backward", "replication_pad2d_backward", "replication_pad3d_backward")
def _replication_backward(node, grad, x, padding):
    def pad(x):
        for i in range(len(padding) // 2):
            axis, (before, after) = x.ndim - 1 - i, padding[2 * i:2 * i + 2]
            n = x.shape[axis]
            x = jnp.take(x, jnp.clip(jnp.arange(n + before + after) - before, 0, n - 1), axis=axis)
        return x
    return jax.vjp(pad, x)[1](grad)[0]


def _average(x, size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    window = _window(x, size, stride, padding, 1, ceil_mode)
    spatial, sizes, _, pads, _ = window
    sums = _reduce(x.astype(jnp.float32) if is_half(x.dtype) else x, 0, jax.lax.add, window)
    if divisor_override:
        return (sums / divisor_override).astype(x.dtype)
    asked = _spread(padding, spatial)
    grown = any(pair[1] > p for pair, p in zip(pads[-spatial:], asked, strict=True))
    if not any(asked) and not grown:
        counts = float(math.prod(sizes))
    else:
        # What a window has of the input and, if that counts, of the padding that was asked for.
        lead = x.ndim - spatial
        there = jnp.ones(x.shape[lead:], sums.dtype)
        if count_include_pad:
            there = jnp.pad(there, [(p, p) for p in asked], constant_values=1)
            there = jnp.pad(there, [(0, pair[1] - p) for pair, p in zip(pads[-spatial:], asked, strict=True)])
        else:
            there = jnp.pad(there, pads[-spatial:])
        counts = jax.lax.reduce_window(there, np.zeros((), there.dtype), jax.lax.add, sizes[lead:], window[2][lead:], "VALID")
    return (sums / counts).astype(x.dtype)


lowering("avg_pool1d", "avg_pool2d", "avg_pool3d")(lambda node, x, *arguments, **keywords: _average(x, *arguments, **keywords))


@lowering("avg_pool2d_backward", "avg_pool3d_backward")
def _average_backward(node, grad, x, *arguments):
    return jax.vjp(lambda x: _average(x, *arguments), x)[1](grad)[0]


def _adaptive(x, sizes):
    for axis, out in zip(range(x.ndim - len(sizes), x.ndim), sizes, strict=True):
        n = x.shape[axis]
        starts = [i * n // out for i in range(out)]
        ends = [-(-(i + 1) * n // out) for i in range(out)]
        if n % out == 0:
            x = x.reshape(*x.shape[:axis], out, n // out, *x.shape[axis + 1:]).mean(axis + 1)
        else:
            x = jnp.concatenate([jax.lax.slice_in_dim(x, a, b, 1, axis).mean(axis, keepdims=True)
                                 for a, b in zip(starts, ends, strict=True)], axis)
    return x


lowering("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d")(
    lambda node, x, sizes: _adaptive(x, _spread(sizes, len(sizes))))
lowering("_adaptive_avg_pool2d_backward")(lambda node, grad, x: jax.vjp(lambda x: _adaptive(x, grad.shape[-2:]), x)[1](grad)[0])
lowering("_adaptive_avg_pool3d_backward")(lambda node, grad, x: jax.vjp(lambda x: _adaptive(x, grad.shape[-3:]), x)[1](grad)[0])


@lowering("adaptive_max_pool2d")
def _adaptive_max(node, x, sizes):
    flat = jnp.broadcast_to(jnp.arange(x.shape[-2] * x.shape[-1]).reshape(x.shape[-2:]), x.shape)
    for axis, out in zip((x.ndim - 2, x.ndim - 1), sizes, strict=True):
        n, values, places = x.shape[axis], [], []
        for i in range(out):
            there, place = (jax.lax.slice_in_dim(t, i * n // out, -(-(i + 1) * n // out), 1, axis) for t in (x, flat))
            best = jnp.argmax(there, axis, keepdims=True)
            values.append(jnp.take_along_axis(there, best, axis))
            places.append(jnp.take_along_axis(place, best, axis))
        x, flat = jnp.concatenate(values, axis), jnp.concatenate(places, axis)
    return x, flat


lowering("adaptive_max_pool2d_backward")(lambda node, grad, x, indices: _to_places(grad, x, indices, 2))


# Max pooling's gradient follows from its input alone, so that indices need not be computed and kept: the operator that stands in for
# PyTorch's in what is compiled.
torch.library.define("systole::max_pool_backward", "(Tensor grad, Tensor x, int[] size, int[] stride, int[] padding, int[] dilation, "
                                                   "bool ceil_mode) -> Tensor")


@torch.library.register_fake("systole::max_pool_backward")
def _max_pool_backward_fake(grad, x, size, stride, padding, dilation, ceil_mode):
    return torch.empty_like(x)


def max_pool_backward(grad, x, size, stride, padding, dilation, ceil_mode, indices):
    return torch.ops.systole.max_pool_backward(grad, x, size, stride, padding, dilation, ceil_mode)
