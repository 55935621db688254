# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Cases of products and windows."""

import math

import numpy as np
from tflite_case import SAME, VALID, Case


def positions(size, kernel, stride, dilation, padding):
    extent = dilation * (kernel - 1) + 1
    return -(-size // stride) if padding == SAME else (size - extent) // stride + 1


def weighted(case, source, weights_shape, axis, per_channel, bias=True, factor=None):
    """Weights, bias and a scale for the result."""
    depth = int(np.prod(weights_shape)) // weights_shape[axis]
    count = weights_shape[axis]
    scales = [case.scale(0.001, 0.02) for _ in range(count if per_channel else 1)]
    if factor is not None:
        scales = [factor]
    weights = case.bytes(weights_shape)
    w = case.graph.tensor(weights_shape, scales, [0] * len(scales), weights)
    case.graph.tensors[w].quantization.quantizedDimension = axis if per_channel else 0
    operands = [source, w]
    spread = case.scale_of(source) * float(np.mean(scales)) * 75 * 75 * math.sqrt(depth)
    if bias:
        values = case.rng.integers(-20000, 20000, count).astype(np.int32)
        product = np.float32(case.scale_of(source)) * np.asarray(scales, np.float32)
        operands.append(case.graph.tensor((count,), product, [0] * len(scales), values))
    return operands, spread / 60


def conv(rng, name, shape, weights, stride=(1, 1), dilation=(1, 1), padding=SAME, depthwise=False, per_channel=True, **options):
    case = Case(rng, name)
    source = case.input(shape)
    operands, scale = weighted(case, source, weights, 3 if depthwise else 0, per_channel)
    sizes = [positions(shape[1 + i], weights[1 + i], stride[i], dilation[i], padding) for i in (0, 1)]
    target = case.result((shape[0], *sizes, weights[3 if depthwise else 0]), scale)
    if depthwise:
        options["depthMultiplier"] = weights[3] // shape[3]
    return case.finish(
        "depthwise" if depthwise else "conv2d", operands, target, padding=padding, strideH=stride[0], strideW=stride[1],
        dilationHFactor=dilation[0], dilationWFactor=dilation[1], **options,
    )


def dense(rng, name, shape, outputs, per_channel=False, bias=True, ties=False, **options):
    case = Case(rng, name)
    depth = shape[-1] if len(shape) < 4 else int(np.prod(shape[1:]))
    source = case.input(shape, 1.0 if ties else None)
    operands, scale = weighted(case, source, (outputs, depth), 0, per_channel, bias, 2.0**-6 if ties else None)
    if not bias:
        operands.append(-1)  # left out
    target = case.result((int(np.prod(shape)) // depth, outputs), 1.0 if ties else scale)
    return case.finish("dense", operands, target, **options)


def pool(rng, name, op, shape, kernel, stride, padding, **options):
    case = Case(rng, name)
    source = case.input(shape, zero=int(rng.integers(-60, 60)))
    sizes = [positions(shape[1 + i], kernel[i], stride[i], 1, padding) for i in (0, 1)]
    return case.finish(
        op, [source], case.like(source, (shape[0], *sizes, shape[3])), padding=padding, filterHeight=kernel[0],
        filterWidth=kernel[1], strideH=stride[0], strideW=stride[1], **options,
    )


def batch_matmul(rng, name, shapes, left=False, right=False):
    case = Case(rng, name)
    a, b = (case.input(shape, zero=int(rng.integers(-20, 20))) for shape in shapes)
    rows = shapes[0][-1 if left else -2]
    depth = shapes[0][-2 if left else -1]
    columns = shapes[1][-2 if right else -1]
    scale = case.scale_of(a) * case.scale_of(b) * 75 * 75 * math.sqrt(depth) / 60
    target = (*np.broadcast_shapes(shapes[0][:-2], shapes[1][:-2]), rows, columns)
    return case.finish("batch_matmul", [a, b], case.result(target, float(np.float32(scale))), adjX=left, adjY=right)


def transpose_conv(rng, name, shape, weights, stride, padding, bias=True, per_channel=True):
    case = Case(rng, name)
    source = case.input(shape)
    operands, scale = weighted(case, source, weights, 0, per_channel, bias)
    sizes = [(d - 1) * s + k if padding == VALID else d * s for d, s, k in zip(shape[1:3], stride, weights[1:3])]
    target = (shape[0], *sizes, weights[0])
    operands = [case.constant(target), operands[1], operands[0], *operands[2:]]
    return case.finish("transpose_conv", operands, case.result(target, scale), padding=padding, strideH=stride[0], strideW=stride[1])


def grouped(rng, name, shape, weights, **options):
    case = Case(rng, name)
    source = case.input(shape)
    operands, scale = weighted(case, source, weights, 0, True)
    target = case.result((*shape[:3], weights[0]), scale)
    return case.finish("conv2d", operands, target, padding=SAME, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1, **options)


def conv_3d(rng, name, shape, weights, stride=(1, 1, 1), dilation=(1, 1, 1), padding=SAME, bias=True):
    """Of floats."""
    case = Case(rng, name)
    operands = [case.float_input(rng.normal(0, 1, shape).astype(np.float32))]
    operands.append(case.constant(rng.normal(0, 0.3, weights), dtype=np.float32))
    if bias:
        operands.append(case.constant(rng.normal(0, 0.3, weights[4]), dtype=np.float32))
    sizes = [positions(shape[1 + i], weights[i], stride[i], dilation[i], padding) for i in range(3)]
    return case.finish(
        "conv_3d", operands, case.result((shape[0], *sizes, weights[4]), dtype=np.float32), padding=padding, activation="none",
        **{f"stride{axis}": stride[i] for i, axis in enumerate("DHW")}, **{f"dilation{axis}Factor": dilation[i] for i, axis in enumerate("DHW")},
    )  # fmt: skip


def lstm(rng, name, shape, units, cell_bits=14, clip=0.0, time_major=False, own_scales=True, steep=3.0):
    """As the converter writes one: 8 bits, cells of 16. `own_scales`: of state, hidden value and result, which the kernel does not mind.
    `steep`: what a gate is given is of this size."""
    case = Case(rng, name)
    source = case.input(shape, zero=int(rng.integers(-30, 30)))
    batch, steps = shape[:2] if not time_major else shape[1::-1]
    hidden_scale, hidden_zero = (float(np.float32(rng.uniform(0.004, 0.009))), int(rng.integers(-20, 20)))
    scale, zero = (float(np.float32(rng.uniform(0.004, 0.009))), int(rng.integers(-20, 20))) if own_scales else (hidden_scale, hidden_zero)

    def gates(depth, factor, bias):
        weights, biases = [], []
        for _ in range(4):
            of_weights = float(np.float32(steep / (factor * 5600 * math.sqrt(depth)) * rng.uniform(0.5, 2)))
            weights.append(case.constant(case.bytes((units, depth)), [of_weights], [0], np.int8))
            if bias:
                values = rng.integers(-20000, 20000, units)
                biases.append(case.constant(values, [float(np.float32(of_weights * factor))], [0]))
        return weights, biases

    of_input, biases = gates(shape[2], case.scale_of(source), True)
    of_state, _ = gates(units, scale, False)
    state = case.graph.variable((batch, units), scale, zero, np.int8)
    cell = case.graph.variable((batch, units), 2.0**-cell_bits, 0, np.int16)
    intermediates = [case.graph.tensor((0,), [], [], dtype=np.float32) for _ in range(4)]
    intermediates.append(case.graph.tensor((0,), hidden_scale, hidden_zero))
    operands = [source, *of_input, *of_state, -1, -1, -1, *biases, -1, -1, state, cell, -1, -1, -1, -1]
    target = case.result((*shape[:2], units)) if own_scales else case.result((*shape[:2], units), hidden_scale, hidden_zero)
    return case.finish("lstm", operands, target, intermediates=intermediates, activation="tanh", cellClip=clip, timeMajor=time_major)
