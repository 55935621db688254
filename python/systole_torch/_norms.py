# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Operators of PyTorch's core ATen set as functions of jax: norms, attention, samples of a grid, distances, bags of embeddings.

Sums are those of float32, for halves too.
"""

import functools
import math

import jax
import jax.numpy as jnp

from ._aten import Unsupported, is_half, lowering


@lowering("_softmax", "softmax.int")
def _softmax(node, x, dim, *_):
    if not x.ndim:
        return jnp.ones((), node.dtype)
    return jax.nn.softmax(x.astype(jnp.float32), dim).astype(node.dtype)


@lowering("_safe_softmax")
def _safe_softmax(node, x, dim, *rest):
    return jnp.where((x == -jnp.inf).all(dim, keepdims=True), 0, _softmax(node, x, dim))


@lowering("_log_softmax", "log_softmax.int")
def _log_softmax(node, x, dim, *_):
    if not x.ndim:
        return jnp.zeros((), node.dtype)
    return jax.nn.log_softmax(x.astype(jnp.float32), dim).astype(node.dtype)


def _moments(x, axes, eps):
    mean = x.mean(axes, keepdims=True)
    return mean, jax.lax.rsqrt(jnp.square(x - mean).mean(axes, keepdims=True) + eps)


@lowering("native_layer_norm")
def _layer_norm(node, x, shape, weight, bias, eps):
    wide = x.astype(jnp.float32)
    mean, factor = _moments(wide, tuple(range(x.ndim - len(shape), x.ndim)), eps)
    y = (wide - mean) * factor
    y = y if weight is None else y * weight
    return (y if bias is None else y + bias).astype(x.dtype), mean, factor


@lowering("native_group_norm")
def _group_norm(node, x, weight, bias, batch, channels, size, groups, eps):
    wide = x.astype(jnp.float32).reshape(batch, groups, -1)
    mean, factor = _moments(wide, (2,), eps)
    y = ((wide - mean) * factor).reshape(x.shape)
    shape = (1, channels) + (1,) * (x.ndim - 2)
    y = y if weight is None else y * weight.reshape(shape)
    return (y if bias is None else y + bias.reshape(shape)).astype(x.dtype), mean[..., 0], factor[..., 0]


def _batch_norm(x, weight, bias, mean, variance, training, momentum, eps):
    """The result, mean and 1/deviation that it has, and the new running mean and variance."""
    axes, shape = (0, *range(2, x.ndim)), (1, -1) + (1,) * (x.ndim - 2)
    wide = x.astype(jnp.float32)
    if not training:  # a factor and a summand for each channel
        scale = jax.lax.rsqrt(variance + eps)
        scale = scale if weight is None else scale * weight
        shift = -mean * scale if bias is None else bias - mean * scale
        nothing = jnp.zeros((0,), jnp.float32)
        return (wide * scale.reshape(shape) + shift.reshape(shape)).astype(x.dtype), nothing, nothing, mean, variance
    own_mean = wide.mean(axes)
    own_variance = jnp.square(wide - own_mean.reshape(shape)).mean(axes)
    if mean is not None:
        count = x.size // x.shape[1]
        mean = mean * (1 - momentum) + own_mean * momentum
        variance = variance * (1 - momentum) + own_variance * (momentum * count / max(count - 1, 1))
    factor = jax.lax.rsqrt(own_variance + eps)
    y = (wide - own_mean.reshape(shape)) * factor.reshape(shape)
    y = y if weight is None else y * weight.reshape(shape)
    return (y if bias is None else y + bias.reshape(shape)).astype(x.dtype), own_mean, factor, mean, variance


@lowering("_native_batch_norm_legit_functional")
def _batch_norm_functional(node, x, weight, bias, mean, variance, training, momentum, eps):
    return _batch_norm(x, weight, bias, mean, variance, training, momentum, eps)


@lowering("_native_batch_norm_legit_no_training")
def _batch_norm_inference(node, x, weight, bias, mean, variance, momentum, eps):
    return _batch_norm(x, weight, bias, mean, variance, False, momentum, eps)[:3]


@lowering("_native_batch_norm_legit.no_stats")
def _batch_norm_without_statistics(node, x, weight, bias, training, momentum, eps):
    return _batch_norm(x, weight, bias, None, None, training, momentum, eps)[:3]


@lowering("gelu")
def _gelu(node, x, approximate="none"):
    return jax.nn.gelu(x.astype(jnp.float32) if is_half(x.dtype) else x, approximate == "tanh").astype(x.dtype)


# Attention as PyTorch's CPU has it: (batch, heads, rows, width).
def _attend(q, k, v, mask, causal, scale):
    if q.shape[1] != k.shape[1]:  # heads that share keys and values
        k, v = (jnp.repeat(t, q.shape[1] // k.shape[1], axis=1) for t in (k, v))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32)
    scores = scores * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], jnp.bool_)), scores, -jnp.inf)
    if mask is not None:
        scores = jnp.where(mask, scores, -jnp.inf) if mask.dtype == jnp.bool_ else scores + mask
    # A row without anything to attend to has weights of zero.
    nothing = (scores == -jnp.inf).all(-1, keepdims=True)
    weights = jnp.where(nothing, 0, jax.nn.softmax(jnp.where(nothing, 0, scores), -1)).astype(v.dtype)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v), jax.scipy.special.logsumexp(scores, -1)


@lowering("_scaled_dot_product_flash_attention_for_cpu")
def _attention(node, q, k, v, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    if dropout_p:
        raise Unsupported("dropout within attention")
    return _attend(q, k, v, attn_mask, is_causal, scale)


@lowering("_scaled_dot_product_flash_attention_for_cpu_backward")
def _attention_backward(node, grad, q, k, v, out, logsumexp, dropout_p, is_causal, *, attn_mask=None, scale=None):
    return jax.vjp(lambda q, k, v: _attend(q, k, v, attn_mask, is_causal, scale)[0], q, k, v)[1](grad)


@lowering("_trilinear")
def _trilinear(node, a, b, c, expand_a, expand_b, expand_c, summed, unroll=1):
    expanded = [functools.reduce(jnp.expand_dims, sorted(axes), x) for x, axes in ((a, expand_a), (b, expand_b), (c, expand_c))]
    return (expanded[0] * expanded[1] * expanded[2]).sum(tuple(summed))


def _unnormalised(place, size, padding, aligned):
    place = (place + 1) / 2 * (size - 1) if aligned else ((place + 1) * size - 1) / 2
    if padding == 1:
        return jnp.clip(place, 0, size - 1)
    if padding == 2:  # reflected
        low, span = (0.0, size - 1.0) if aligned else (-0.5, float(size))
        if span == 0:
            return jnp.zeros_like(place)
        away = jnp.abs(place - low)
        turns = jnp.floor(away / span)
        rest = away - turns * span
        return jnp.clip(jnp.where(turns % 2 == 0, rest + low, span - rest + low), 0, size - 1)
    return place


def _sample(x, grid, mode, padding, aligned):
    if mode == 2:
        raise Unsupported("bicubic samples of a grid")
    height, width = x.shape[2:]
    column, row = (_unnormalised(grid[..., i], n, padding, aligned) for i, n in enumerate((width, height)))
    batch = jnp.arange(x.shape[0])[:, None, None]

    def at(row, column):
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        values = x[batch, :, jnp.clip(row, 0, height - 1).astype(jnp.int32), jnp.clip(column, 0, width - 1).astype(jnp.int32)]
        return jnp.where(inside[..., None], values, 0)
    if mode == 1:
        return jnp.moveaxis(at(jnp.round(row), jnp.round(column)), -1, 1)
    top, left = jnp.floor(row), jnp.floor(column)
    down, right = (row - top)[..., None], (column - left)[..., None]
    y = (at(top, left) * (1 - down) * (1 - right) + at(top, left + 1) * (1 - down) * right + at(top + 1, left) * down * (1 - right)
         + at(top + 1, left + 1) * down * right)
    return jnp.moveaxis(y, -1, 1)


lowering("grid_sampler_2d")(lambda node, x, grid, *how: _sample(x, grid, *how))


@lowering("grid_sampler_2d_backward")
def _sample_backward(node, grad, x, grid, mode, padding, aligned, mask):
    return jax.vjp(lambda x, grid: _sample(x, grid, mode, padding, aligned), x, grid)[1](grad)


def _distances(a, b, p):
    apart = jnp.abs(a[..., :, None, :] - b[..., None, :, :])
    if p == 2:
        return jnp.sqrt(jnp.square(apart).sum(-1))
    return apart.max(-1) if p == math.inf else jnp.power(jnp.power(apart, p).sum(-1), 1 / p)


lowering("_cdist_forward")(lambda node, a, b, p, mode=None: _distances(a, b, p))
lowering("_cdist_backward")(lambda node, grad, a, b, p, distances: jax.vjp(lambda a: _distances(a, b, p), a)[1](grad)[0])


@lowering("_embedding_bag", "_embedding_bag_forward_only")
def _embedding_bag(node, table, indices, offsets, scale_grad=False, mode=0, sparse=False, weights=None, with_last=False, padding=-1):
    bags = offsets.shape[0] - (1 if with_last else 0)
    if with_last:  # what comes behind the last offset is in no bag
        padding_free = jnp.arange(indices.shape[0]) < offsets[-1]
    else:
        padding_free = jnp.ones(indices.shape, jnp.bool_)
    bag = jnp.searchsorted(offsets[:bags], jnp.arange(indices.shape[0]), side="right") - 1
    rows = jnp.take(table, indices, axis=0, mode="clip")
    rows = rows if weights is None else rows * weights[:, None]
    counted = (indices != padding) & padding_free
    counts = jnp.zeros(bags, jnp.int32).at[bag].add(counted.astype(jnp.int32))
    if mode == 2:
        out = jnp.full((bags, table.shape[1]), -math.inf).at[bag].max(jnp.where(counted[:, None], rows, -math.inf))
        out = jnp.where(counts[:, None] > 0, out, 0)
    else:
        out = jnp.zeros((bags, table.shape[1]), table.dtype).at[bag].add(jnp.where(counted[:, None], rows, 0))
        out = out / jnp.maximum(counts, 1)[:, None] if mode == 1 else out
    return out, bag, counts, counts
