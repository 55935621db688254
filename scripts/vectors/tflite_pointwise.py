# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Cases of functions, of pairs of values, of rows and of reductions."""

import numpy as np
from tflite_case import Case, schema


def binary(rng, name, op, shapes, constant=False, **options):
    case = Case(rng, name)
    a = case.input(shapes[0])
    if constant:
        b = case.constant(case.bytes(shapes[1]), [case.scale()], [case.zero()], np.int8)
    else:
        b = case.input(shapes[1])
    low, high = sorted((case.scale_of(a), case.scale_of(b)))
    scale = case.scale_of(a) * case.scale_of(b) * 90 if op == "mul" else (low + high) * float(rng.uniform(0.4, 1))
    target = case.result(np.broadcast_shapes(*shapes), float(np.float32(scale)), int(rng.integers(-60, 40)))
    return case.finish(op, [a, b], target, **options)


def mean(rng, name, shape, axes, keep, same_scale=False, values=None):
    case = Case(rng, name)
    source = case.input(shape, zero=int(rng.integers(-20, 20)), values=values)
    positive = [a % len(shape) for a in axes]
    target_shape = [1 if i in positive else d for i, d in enumerate(shape) if keep or i not in positive]
    scale = case.scale_of(source) * float(rng.uniform(0.05, 0.4))
    target = case.like(source, target_shape) if same_scale else case.result(target_shape, float(np.float32(scale)), int(rng.integers(-40, 40)))
    return case.finish("mean", [source, case.constant(axes)], target, keepDims=keep)


def softmax(rng, name, shape, scale, beta=1.0):
    case = Case(rng, name)
    source = case.input(shape, scale)
    return case.finish("softmax", [source], case.result(shape, 1 / 256, -128), beta=beta)


def many_softmaxes(rng, name, shape, scale):
    """So many that roundings which seldom matter do."""
    case = Case(rng, name)
    source = case.seeded_input(shape, scale)
    return case.finish("softmax", [source], case.result(shape, 1 / 256, -128), beta=1.0)


def table(rng, name, op, scale, zero, target=None):
    """All 256 inputs."""
    case = Case(rng, name)
    source = case.input((1, 256), scale, zero, np.arange(-128, 128).astype(np.int8))
    target = target or {"logistic": (1 / 256, -128), "tanh": (1 / 128, 0)}[op]
    return case.finish(op, [source], case.result((1, 256), *target))


def hard_swish(rng, name, scale, zero, ratio):
    """All 256 inputs."""
    case = Case(rng, name)
    source = case.input((1, 256), scale, zero, np.arange(-128, 128).astype(np.int8))
    return case.finish("hard_swish", [source], case.result((1, 256), float(np.float32(scale * ratio))))


def rescale(rng, name, op):
    case = Case(rng, name)
    source = case.input((1, 256), values=np.arange(-128, 128).astype(np.int8))
    target = case.result((1, 256), float(np.float32(case.scale_of(source) * rng.uniform(0.5, 2.5))), int(rng.integers(-100, 60)))
    return case.finish(op, [source], target)


def quantize(rng, name):
    case = Case(rng, name)
    scale, zero = case.scale(), case.zero()
    steps = rng.uniform(-300, 300, 500)
    steps[:100] = np.round(steps[:100]) + 0.5
    values = (np.float32(scale) * steps.astype(np.float32)).reshape(1, 500)
    return case.finish("quantize", [case.float_input(values)], case.result((1, 500), scale, zero))


def dequantize(rng, name):
    case = Case(rng, name)
    source = case.input((1, 256), values=np.arange(-128, 128).astype(np.int8))
    return case.finish("dequantize", [source], case.result((1, 256), dtype=np.float32))


def function(rng, name, op, scale, zero, target, first=-128, **options):
    """All inputs from `first` on."""
    case = Case(rng, name)
    values = np.arange(first, 128).astype(np.int8)
    source = case.input((1, values.size), scale, zero, values)
    return case.finish(op, [source], case.result((1, values.size), *target), **options)


def real_function(rng, name, op, low=-4.0):
    case = Case(rng, name)
    values = rng.uniform(low, 4, (1, 200)).astype(np.float32)
    return case.finish(op, [case.float_input(values)], case.result((1, 200), dtype=np.float32))


def alike(rng, name, op, shapes):
    """Two operands and a result of one scale and zero point."""
    case = Case(rng, name)
    a = case.input(shapes[0])
    q = case.graph.tensors[a].quantization
    b = case.input(shapes[1], q.scale[0], q.zeroPoint[0])
    return case.finish(op, [a, b], case.like(a, np.broadcast_shapes(*shapes)))


def integers(rng, name, op, shapes):
    case = Case(rng, name)
    sources = [case.plain_input(rng.integers(-50, 50, shape).astype(np.int32)) for shape in shapes]
    return case.finish(op, sources, case.result(np.broadcast_shapes(*shapes), dtype=bool if op == "less" else np.int32))


def quotient(rng, name, shapes):
    """Of floats, division by zero too."""
    case = Case(rng, name)
    values = [rng.normal(0, 2, shape).astype(np.float32) for shape in shapes]
    values[1].ravel()[:2] = 0
    sources = [case.float_input(v) for v in values]
    return case.finish("div", sources, case.result(np.broadcast_shapes(*shapes), dtype=np.float32), activation="none")


def squared_difference(rng, name, shapes):
    case = Case(rng, name)
    a, b = case.input(shapes[0]), case.input(shapes[1])
    scale = max(case.scale_of(a), case.scale_of(b)) ** 2 * float(rng.uniform(20, 150))
    return case.finish("squared_difference", [a, b], case.result(np.broadcast_shapes(*shapes), float(np.float32(scale))))


def prelu(rng, name, shapes):
    case = Case(rng, name)
    source = case.input(shapes[0])
    slope = case.constant(case.bytes(shapes[1]), [0.01], [case.zero()], np.int8)
    scale = float(np.float32(case.scale_of(source) * rng.uniform(0.7, 1.4)))
    return case.finish("prelu", [source, slope], case.result(shapes[0], scale))


def compare(rng, name, op, shapes, same_scale=False):
    case = Case(rng, name)
    few = [rng.integers(-3, 3, shape).astype(np.int8) if op.endswith("equal") else None for shape in shapes]
    scale, zero = case.scale(), int(rng.integers(-4, 4))
    a = case.input(shapes[0], scale, zero, few[0])
    b = case.input(shapes[1], scale if same_scale else 2 * scale, zero if same_scale else int(rng.integers(-4, 4)), few[1])
    return case.finish(op, [a, b], case.result(np.broadcast_shapes(*shapes), dtype=bool))


def logical(rng, name, op, shapes):
    case = Case(rng, name)
    sources = [case.plain_input(rng.integers(0, 2, shape).astype(bool)) for shape in shapes]
    return case.finish(op, sources, case.result(np.broadcast_shapes(*shapes), dtype=bool))


def select(rng, name, op, shapes):
    case = Case(rng, name)
    condition = case.plain_input(rng.integers(0, 2, shapes[0]).astype(bool))
    a = case.input(shapes[1])
    q = case.graph.tensors[a].quantization
    b = case.input(shapes[2], q.scale[0], q.zeroPoint[0])
    target = shapes[1] if op == "select" else np.broadcast_shapes(*shapes)
    return case.finish(op, [condition, a, b], case.like(a, target))


def reduction(rng, name, op, shape, axes, keep, same_scale=True):
    case = Case(rng, name)
    source = case.input(shape, zero=int(rng.integers(-20, 20)))
    positive = [a % len(shape) for a in axes]
    target_shape = [1 if i in positive else d for i, d in enumerate(shape) if keep or i not in positive]
    scale = case.scale_of(source) * float(rng.uniform(2, 4))
    target = case.like(source, target_shape) if same_scale else case.result(target_shape, float(np.float32(scale)), int(rng.integers(-40, 40)))
    return case.finish(op, [source, case.constant(axes)], target, keepDims=keep)


def product(rng, name, shape, axes):
    case = Case(rng, name)
    source = case.plain_input(rng.integers(1, 9, shape).astype(np.int32))
    target = [d for i, d in enumerate(shape) if i not in axes]
    return case.finish("reduce_prod", [source, case.constant(axes)], case.result(target, dtype=np.int32), keepDims=False)


def argument(rng, name, op, shape, axis):
    case = Case(rng, name)
    source = case.input(shape)
    target = [d for i, d in enumerate(shape) if i != axis % len(shape)]
    return case.finish(op, [source, case.constant(axis)], case.result(target, dtype=np.int32), outputType=schema.TensorType.INT32)


def rows(rng, name, op, shape, scale):
    case = Case(rng, name)
    target = {"log_softmax": (1 / 16, 127), "l2_normalization": (1 / 128, 0)}[op]
    return case.finish(op, [case.input(shape, scale)], case.result(shape, *target))
