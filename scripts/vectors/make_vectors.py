#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Makes tests/data/numerics/tflite.json: inputs and outputs of TensorFlow Lite's int8 reference kernels.

Usage: VENV/bin/python scripts/vectors/make_vectors.py   (after pip install -r scripts/vectors/requirements.txt)

Multipliers and clamps are not in the file: the tests derive them from the scales as docs/numerics.md says. This runtime's fully
connected kernel is an optimised one whichever resolver is chosen: it rounds once (the convolution twice) and takes negative halves
away from zero, where TensorFlow Lite's own single-rounding formula takes them up. So it checks the single mode, but for exact halves.
"""

import json
import pathlib

import numpy as np
import tflite_graph

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "tests" / "data" / "numerics" / "tflite.json"
SEED = 20240607
ROUNDINGS = {"conv2d": "double", "dense": "single"}


def flat(array):
    return [int(v) for v in np.asarray(array).ravel()]


def bytes_of(rng, shape):
    """int8 values, the extremes more often than by chance."""
    values = rng.integers(-128, 128, shape)
    extreme = rng.choice([-128, -127, 127], shape)
    return np.where(rng.random(shape) < 0.1, extreme, values).astype(np.int8)


def scale(rng, low, high):
    return float(np.float32(np.exp(rng.uniform(np.log(low), np.log(high)))))


def requantise_case(rng, op, channels):
    """A layer with weights of 0: output[c] = requantise(bias[c]), each channel with a scale of its own."""
    magnitude = np.exp2(rng.uniform(0, 31, channels))
    bias = np.clip(np.round(rng.choice([-1, 1], channels) * magnitude), -(2**31), 2**31 - 1).astype(np.int64)
    bias[:6] = [-(2**31), 2**31 - 1, 0, 1, -1, 2**30]
    aim = rng.uniform(0.4, 200, channels)  # size of the result
    factor = np.minimum(aim / np.maximum(np.abs(bias), 1), 2.0**20)
    factor = factor.astype(np.float32)
    if op == "conv2d":  # Powers of two for half of them, so that many results are halves before rounding.
        factor = np.where(rng.random(channels) < 0.5, np.exp2(np.round(np.log2(factor))), factor).astype(np.float32)
    return weighted_case(
        rng, f"requantise {ROUNDINGS[op]}", op, (1, 1, 1, 1), (channels, 1, 1, 1),
        source_scale=1.0, target_scale=1.0, weight_scales=factor,
        weights=np.zeros((channels, 1, 1, 1), np.int8), bias=bias.astype(np.int32), target_zero=3,
    )


def weighted_case(
    rng, name, op, shape, weight_shape, *, stride=(1, 1), dilation=(1, 1), padding="same", activation="none",
    source_scale=None, target_scale=None, weight_scales=None, weights=None, bias=None, target_zero=None,
):
    out = weight_shape[0]
    source = bytes_of(rng, shape)
    weights = bytes_of(rng, weight_shape) if weights is None else weights
    source_scale = source_scale or scale(rng, 0.002, 0.1)
    if weight_scales is None:
        weight_scales = np.array([scale(rng, 0.001, 0.02) for _ in range(out)], np.float32)
    depth = int(np.prod(weight_shape[1:]))
    spread = source_scale * float(np.mean(weight_scales)) * 75 * 75 * np.sqrt(depth)
    target_scale = target_scale or float(np.float32(spread / 60))
    source_zero = int(rng.integers(-128, 128))
    target_zero = int(rng.integers(-128, 128)) if target_zero is None else target_zero
    if bias is None:
        bias = rng.integers(-20000, 20000, out).astype(np.int32)

    feed, stored = source, weights
    if op == "conv2d":
        sizes = [
            -(-shape[1 + a] // stride[a]) if padding == "same"
            else (shape[1 + a] - dilation[a] * (weight_shape[1 + a] - 1) - 1) // stride[a] + 1
            for a in (0, 1)
        ]
        target_shape = (shape[0], *sizes, out)
        options = {
            "padding": tflite_graph.PADDINGS[padding], "strideH": stride[0], "strideW": stride[1],
            "dilationHFactor": dilation[0], "dilationWFactor": dilation[1],
        }
    else:
        target_shape, options = (shape[0], out), {}
        feed, stored = source.reshape(shape[0], depth), weights.reshape(out, depth)
    g = tflite_graph.Graph()
    source_index = g.tensor(feed.shape, source_scale, source_zero)
    target_index = g.tensor(target_shape, target_scale, target_zero)
    options["fusedActivationFunction"] = tflite_graph.ACTIVATIONS[activation]
    g.weighted(op, source_index, source_scale, stored, weight_scales, bias, target_index, **options)
    (target,) = tflite_graph.run(g.model([source_index], [target_index]), {source_index: feed}, [target_index])
    return {
        "name": name, "op": op, "activation": activation, "rounding": ROUNDINGS[op],
        "input": {"shape": shape, "scale": source_scale, "zero_point": source_zero, "data": flat(source)},
        "weights": {"shape": weight_shape, "scales": [float(s) for s in weight_scales], "data": flat(weights)},
        "bias": flat(bias), "stride": stride, "dilation": dilation,
        "padding": pads(shape, weight_shape[1:3], stride, dilation, padding) if op == "conv2d" else [0, 0, 0, 0],
        "output": {
            "shape": [int(d) for d in (target.shape if op == "conv2d" else (shape[0], 1, 1, out))],
            "scale": target_scale, "zero_point": target_zero, "data": flat(target),
        },
    }


def pads(shape, kernel, stride, dilation, padding):
    """[top, left, bottom, right] of TensorFlow's padding."""
    if padding == "valid":
        return [0, 0, 0, 0]
    before, after = [], []
    for a in (0, 1):
        size = shape[1 + a]
        total = max((-(-size // stride[a]) - 1) * stride[a] + dilation[a] * (kernel[a] - 1) + 1 - size, 0)
        before.append(total // 2)
        after.append(total - total // 2)
    return before + after


def pool_case(rng, name, op, shape, kernel, stride, padding, activation="none"):
    source = bytes_of(rng, shape)
    unit, zero = scale(rng, 0.01, 0.1), int(rng.integers(-60, 60))
    top, left, bottom, right = pads(shape, kernel, stride, (1, 1), padding)
    target_shape = (
        shape[0], (shape[1] + top + bottom - kernel[0]) // stride[0] + 1,
        (shape[2] + left + right - kernel[1]) // stride[1] + 1, shape[3],
    )
    g = tflite_graph.Graph()
    a = g.tensor(shape, unit, zero)
    b = g.tensor(target_shape, unit, zero)
    g.operator(
        op, [a], b, padding=tflite_graph.PADDINGS[padding], strideH=stride[0], strideW=stride[1],
        filterHeight=kernel[0], filterWidth=kernel[1], fusedActivationFunction=tflite_graph.ACTIVATIONS[activation],
    )
    (target,) = tflite_graph.run(g.model([a], [b]), {a: source}, [b])
    return {
        "name": name, "op": op, "activation": activation, "kernel": kernel, "stride": stride, "dilation": (1, 1),
        "padding": [top, left, bottom, right],
        "input": {"shape": shape, "scale": unit, "zero_point": zero, "data": flat(source)},
        "output": {"shape": target.shape, "scale": unit, "zero_point": zero, "data": flat(target)},
    }


def add_case(rng, name, shape, activation="none"):
    g = tflite_graph.Graph()
    units = [scale(rng, 0.005, 0.2), scale(rng, 0.005, 0.2)]
    units.append(float(np.float32((units[0] + units[1]) * rng.uniform(0.3, 1))))
    zeros = [int(z) for z in rng.integers(-128, 128, 3)]
    a, b, y = (g.tensor(shape, s, z) for s, z in zip(units, zeros))
    sources = [bytes_of(rng, shape), bytes_of(rng, shape)]
    g.operator("add", [a, b], y, fusedActivationFunction=tflite_graph.ACTIVATIONS[activation])
    (target,) = tflite_graph.run(g.model([a, b], [y]), {a: sources[0], b: sources[1]}, [y])
    sides = [
        {"shape": shape, "scale": s, "zero_point": z, "data": flat(v)}
        for s, z, v in zip(units, zeros, [*sources, target])
    ]
    return {"name": name, "op": "add", "activation": activation, "input": sides[0], "input2": sides[1],
            "output": sides[2]}


def cases(rng):
    yield requantise_case(rng, "conv2d", 4000)
    yield requantise_case(rng, "dense", 2000)

    def conv(name, shape, weights, **options):
        return weighted_case(rng, name, "conv2d", shape, weights, **options)

    yield conv("conv 3x3 same", (2, 7, 6, 3), (5, 3, 3, 3))
    yield conv("conv 6x6 same stride 2, ReLU", (1, 12, 12, 4), (6, 6, 6, 4), stride=(2, 2), activation="relu")
    yield conv("conv 3x2 valid stride 2x1, ReLU6", (1, 9, 8, 5), (4, 3, 2, 5), stride=(2, 1), padding="valid",
               activation="relu6", target_scale=0.05)
    yield conv("conv 3x3 same dilation 2x3", (1, 11, 13, 2), (3, 3, 3, 2), dilation=(2, 3))
    yield conv("conv 5x5 same stride 3x2, uneven padding", (1, 10, 9, 3), (4, 5, 5, 3), stride=(3, 2))
    yield conv("conv 1x1, deep", (1, 3, 3, 64), (8, 1, 1, 64))
    yield weighted_case(rng, "dense", "dense", (5, 1, 1, 70), (9, 1, 1, 70))
    yield weighted_case(rng, "dense, ReLU", "dense", (3, 2, 2, 33), (12, 1, 1, 132), activation="relu")
    yield pool_case(rng, "average 2x2 stride 2", "avgpool", (1, 8, 8, 5), (2, 2), (2, 2), "valid")
    yield pool_case(rng, "average 3x3 same, ReLU", "avgpool", (1, 7, 7, 4), (3, 3), (1, 1), "same", "relu")
    yield pool_case(rng, "average 4x6 same stride 2x3", "avgpool", (2, 9, 11, 3), (4, 6), (2, 3), "same")
    yield pool_case(rng, "average 7x7, global", "avgpool", (1, 7, 7, 16), (7, 7), (1, 1), "valid")
    yield pool_case(rng, "maximum 3x3 same stride 2", "maxpool", (1, 9, 8, 5), (3, 3), (2, 2), "same")
    yield pool_case(rng, "maximum 2x3 valid, ReLU6", "maxpool", (2, 6, 7, 3), (2, 3), (1, 2), "valid", "relu6")
    for i, activation in enumerate(("none", "none", "none", "relu", "relu6")):
        yield add_case(rng, f"add {i}, {activation}", (1, 6, 6, 8), activation)


def main():
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps(case, separators=(",", ":")) for case in cases(np.random.default_rng(SEED))]
    OUTPUT.write_text('{"cases":[\n' + ",\n".join(rows) + "\n]}\n")
    print(f"{OUTPUT.relative_to(ROOT)}: {len(rows)} cases, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
