# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Post-training int8 quantisation and its integer evaluation; docs/numerics.md is the specification."""

import dataclasses
import math

import numpy as np

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def round_half_away(x):
    x = np.asarray(x, np.float64)
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An activation tensor of one image."""

    name: str
    shape: tuple  # height, width, channels
    scale: np.float32
    zero_point: int


@dataclasses.dataclass(frozen=True)
class Layer:
    name: str
    op: str  # conv2d or dense
    input: Tensor
    output: Tensor
    kernel: tuple
    stride: tuple
    padding: tuple  # top, left, bottom, right
    clamp: tuple
    weights: np.ndarray  # int8 [out, kh, kw, in]
    bias: np.ndarray  # int32 [out]
    multiplier: np.ndarray  # int32 [out]
    shift: np.ndarray  # int8 [out]


def quantise_multiplier(real):
    """A positive real factor as (multiplier, shift)."""
    if real == 0:
        return 0, 0
    fraction, exponent = math.frexp(real)
    multiplier = int(round_half_away(fraction * 2**31))
    if multiplier == 2**31:
        multiplier, exponent = 2**30, exponent + 1
    if exponent < -31:
        return 0, 0
    if exponent > 30:
        raise ValueError(f"factor {real} is too large")
    return multiplier, exponent


def activation_range(values):
    """Scale (float32) and zero point that cover the values and zero."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    scale = np.float32((high - low) / 255)
    return scale, int(np.clip(round_half_away(-128 - low / float(scale)), -128, 127))


def same_padding(size, kernel, stride):
    """Padding before and after along one axis, as TensorFlow's `same`."""
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def quantise_layer(spec, source, folded, outputs):
    """The int8 form of one folded float layer; `outputs` are its float activations on training data."""
    scale, zero_point = activation_range(outputs)
    shape = outputs.shape[1:] if outputs.ndim == 4 else (1, 1, outputs.shape[1])
    target = Tensor(f"{spec.name}.out", shape, scale, zero_point)
    weights, bias = folded["w"], folded["b"]

    peak = np.abs(weights).max(axis=(1, 2, 3))
    weight_scale = np.where(peak > 0, peak / 127, 1.0).astype(np.float32)
    q_weights = round_half_away(weights / weight_scale[:, None, None, None].astype(np.float64))
    bias_scale = float(source.scale) * weight_scale.astype(np.float64)
    q_bias = round_half_away(bias / bias_scale)
    if np.abs(q_bias).max() > INT32_MAX:
        raise ValueError(f"{spec.name}: a bias does not fit in int32")
    factors = [quantise_multiplier(s / float(scale)) for s in bias_scale]

    top, bottom = same_padding(source.shape[0], spec.kernel, spec.stride) if spec.kernel else (0, 0)
    left, right = same_padding(source.shape[1], spec.kernel, spec.stride) if spec.kernel else (0, 0)
    return Layer(
        name=spec.name,
        op="conv2d" if spec.kernel else "dense",
        input=source,
        output=target,
        kernel=weights.shape[1:3],
        stride=(spec.stride, spec.stride),
        padding=(top, left, bottom, right),
        clamp=(zero_point if spec.normed else -128, 127),
        weights=np.clip(q_weights, -127, 127).astype(np.int8),
        bias=q_bias.astype(np.int32),
        multiplier=np.array([m for m, _ in factors], np.int32),
        shift=np.array([s for _, s in factors], np.int8),
    )


def quantise(specs, folded, activations, image_shape):
    """All layers; `activations` maps a layer's name to its float outputs on training data."""
    source = Tensor("image", image_shape, np.float32(1 / 255), -128)
    layers = []
    for spec in specs:
        layers.append(quantise_layer(spec, source, folded[spec.name], activations[spec.name]))
        source = layers[-1].output
    return layers


def requantise(x, multiplier, shift):
    """Double rounding; x is int64 [..., c] within int32, multiplier and shift are [c]."""
    multiplier, shift = multiplier.astype(np.int64), shift.astype(np.int64)
    x = np.clip(x << np.maximum(shift, 0), INT32_MIN, INT32_MAX)
    x = (x * multiplier + 2**30) >> 31
    right = np.maximum(-shift, 0)
    mask = (np.int64(1) << right) - 1
    return (x >> right) + ((x & mask) > (mask >> 1) + (x < 0))


def run_layer(layer, x):
    """int8 outputs [n, oh, ow, c] of int8 inputs [n, h, w, c]."""
    if layer.op == "dense":
        x = x.reshape(len(x), 1, 1, -1)
    top, left, bottom, right = layer.padding
    x = np.pad(
        x.astype(np.float64) - layer.input.zero_point, ((0, 0), (top, bottom), (left, right), (0, 0))
    )
    view = np.lib.stride_tricks.sliding_window_view(x, layer.kernel, axis=(1, 2))
    view = view[:, :: layer.stride[0], :: layer.stride[1]]  # n, oh, ow, in, kh, kw
    patches = np.moveaxis(view, 3, 5).reshape(*view.shape[:3], -1)
    # Doubles hold these integers exactly (below 2^53) and multiply fast.
    sums = (patches @ layer.weights.reshape(len(layer.weights), -1).T.astype(np.float64)).astype(np.int64)
    sums += layer.bias
    if np.abs(sums).max() > INT32_MAX:
        raise ValueError(f"{layer.name}: a sum does not fit in int32")
    y = requantise(sums, layer.multiplier, layer.shift) + layer.output.zero_point
    return np.clip(y, *layer.clamp).astype(np.int8)


def run(layers, images, batch=250):
    """int8 activations of uint8 images, a dict from layer name to [n, h, w, c]."""
    outputs = {layer.name: [] for layer in layers}
    for i in range(0, len(images), batch):
        x = (images[i : i + batch, ..., None].astype(np.int16) - 128).astype(np.int8)
        for layer in layers:
            x = run_layer(layer, x)
            outputs[layer.name].append(x)
    return {name: np.concatenate(parts) for name, parts in outputs.items()}
