# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The float network, its training and the folding of its batch norms (JAX)."""

import dataclasses
import functools
import time

import digits
import jax
import jax.numpy as jnp
import numpy as np

BN_EPSILON = 1e-3
BN_MOMENTUM = 0.98
DROPOUT = 0.4


@dataclasses.dataclass(frozen=True)
class LayerSpec:
    """kernel 0 is a dense layer. normed: no bias of its own, then batch norm (no scale) and ReLU."""

    name: str
    filters: int
    kernel: int = 0
    stride: int = 1
    normed: bool = True


LAYERS = (
    LayerSpec("conv1", 12, 3, 1),
    LayerSpec("conv2", 24, 6, 2),
    LayerSpec("conv3", 64, 6, 2),
    LayerSpec("dense1", 200),
    LayerSpec("dense2", 10, normed=False),
)
IMAGE = (28, 28, 1)


def initialise(rng):
    """Weights [kh, kw, in, out] or [in, out], He-uniform; and the running statistics."""
    params, stats = {}, {}
    height, width, channels = IMAGE
    for spec in LAYERS:
        if spec.kernel:
            shape = (spec.kernel, spec.kernel, channels, spec.filters)
            height, width = -(-height // spec.stride), -(-width // spec.stride)
        else:
            shape = (height * width * channels, spec.filters)
            height = width = 1
        channels = spec.filters
        limit = np.sqrt(6.0 / np.prod(shape[:-1]))
        params[spec.name] = {
            "w": jnp.asarray(rng.uniform(-limit, limit, shape), jnp.float32),
            "b": jnp.zeros(spec.filters),
        }
        if spec.normed:
            stats[spec.name] = {"mean": jnp.zeros(spec.filters), "var": jnp.ones(spec.filters)}
    return params, stats


def linear(spec, x, weights):
    if not spec.kernel:
        return x.reshape(x.shape[0], -1) @ weights
    return jax.lax.conv_general_dilated(
        x, weights, (spec.stride, spec.stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def forward(params, stats, x, dropout_key=None):
    """Logits and new running statistics; trains (batch statistics, dropout) when a key is given."""
    new_stats = {}
    for spec in LAYERS:
        x = linear(spec, x, params[spec.name]["w"])
        if spec.normed:
            seen = stats[spec.name]
            if dropout_key is not None:
                axes = tuple(range(x.ndim - 1))
                batch = {"mean": x.mean(axes), "var": x.var(axes)}
                new_stats[spec.name] = jax.tree.map(
                    lambda old, new: BN_MOMENTUM * old + (1 - BN_MOMENTUM) * new, seen, batch
                )
                seen = batch
            x = (x - seen["mean"]) * jax.lax.rsqrt(seen["var"] + BN_EPSILON)
        x = x + params[spec.name]["b"]
        if spec.normed:
            x = jax.nn.relu(x)
        if spec.name == "dense1" and dropout_key is not None:
            x = jnp.where(jax.random.bernoulli(dropout_key, 1 - DROPOUT, x.shape), x / (1 - DROPOUT), 0.0)
    return x, new_stats


def loss_of(params, stats, x, labels, key):
    logits, new_stats = forward(params, stats, x, key)
    log_p = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(log_p, labels[:, None], 1).mean(), new_stats


@jax.jit
def step(params, stats, moments, count, rate, x, labels, key):
    """One Adam step."""
    (loss, stats), grads = jax.value_and_grad(loss_of, has_aux=True)(params, stats, x, labels, key)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], grads)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], grads)
    scale = rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    params = jax.tree.map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-7), params, first, second)
    return params, stats, (first, second), loss


def train(images, labels, seed, epochs, batch=100, peak_rate=2e-3):
    """Trains on uint8 images; returns the parameters and the running statistics."""
    rng = np.random.default_rng(seed)
    params, stats = initialise(rng)
    moments = (jax.tree.map(jnp.zeros_like, params),) * 2
    key = jax.random.key(seed)
    steps = len(images) // batch
    count = 0
    for epoch in range(epochs):
        start = time.time()
        moved = digits.augment(images, rng)[..., None] / np.float32(255)
        order = rng.permutation(len(images))
        total = 0.0
        for i in range(steps):
            pick = order[i * batch : (i + 1) * batch]
            rate = peak_rate * 0.5 * (1 + np.cos(np.pi * count / (epochs * steps))) + 1e-6
            count += 1
            params, stats, moments, loss = step(
                params, stats, moments, np.float32(count), np.float32(rate), moved[pick],
                labels[pick].astype(np.int32), jax.random.fold_in(key, count),
            )
            total += float(loss)
        print(f"epoch {epoch + 1}/{epochs}: loss {total / steps:.4f}, {time.time() - start:.0f} s", flush=True)
    return params, stats


def fold(params, stats):
    """The same network without batch norms: weights [out, kh, kw, in] and a bias, float64."""
    folded = {}
    for spec in LAYERS:
        weights = np.asarray(params[spec.name]["w"], np.float64)
        bias = np.asarray(params[spec.name]["b"], np.float64)
        if spec.normed:
            mean, var = (np.asarray(stats[spec.name][k], np.float64) for k in ("mean", "var"))
            gain = 1 / np.sqrt(var + BN_EPSILON)
            weights, bias = weights * gain, bias - mean * gain
        if weights.ndim == 2:
            weights = weights[None, None]
        folded[spec.name] = {"w": np.ascontiguousarray(np.moveaxis(weights, 3, 0)), "b": bias}
    return folded


@functools.partial(jax.jit, static_argnums=0)
def folded_layer(spec, x, weights, bias):
    weights = jnp.moveaxis(weights, 0, 3)
    x = linear(spec, x, weights if spec.kernel else weights[0, 0]) + bias
    return jax.nn.relu(x) if spec.normed else x


def run_folded(folded, images, batch=250):
    """All activations of the folded float network, a dict from layer name to [n, ...]."""
    outputs = {spec.name: [] for spec in LAYERS}
    for i in range(0, len(images), batch):
        x = images[i : i + batch, ..., None].astype(np.float32) / np.float32(255)
        for spec in LAYERS:
            layer = folded[spec.name]
            x = folded_layer(spec, x, layer["w"].astype(np.float32), layer["b"].astype(np.float32))
            outputs[spec.name].append(np.asarray(x))
    return {name: np.concatenate(parts) for name, parts in outputs.items()}
