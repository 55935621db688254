# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Cases of operators that move values, and of resizing."""

import numpy as np
from tflite_case import Case


def reshape(rng, name, op, shape, target, **options):
    case = Case(rng, name)
    source = case.input(shape)
    operands = [source] if op == "squeeze" else [source, case.constant(target if op == "reshape" else options.pop("axis"))]
    return case.finish(op, operands, case.like(source, target), **options)


def pad(rng, name, shape, pads, value=None, wide=False):
    case = Case(rng, name)
    source = case.input(shape)
    operands = [source, case.constant(pads, dtype=np.int64 if wide else np.int32)]
    if value is not None:
        q = case.graph.tensors[source].quantization
        operands.append(case.constant([value], q.scale, q.zeroPoint, np.int8))
    target = case.like(source, [d + sum(p) for d, p in zip(shape, pads)])
    return case.finish("pad" if value is None else "padv2", operands, target)


def concatenation(rng, name, shapes, axis):
    case = Case(rng, name)
    scale, zero = case.scale(), case.zero()
    sources = [case.input(shape, scale, zero) for shape in shapes]
    target = list(shapes[0])
    target[axis] = sum(shape[axis] for shape in shapes)
    return case.finish("concatenation", sources, case.result(target, scale, zero), axis=axis, activation="none")


def transpose(rng, name, shape, permutation):
    case = Case(rng, name)
    source = case.input(shape)
    target = case.like(source, [shape[p] for p in permutation])
    return case.finish("transpose", [source, case.constant(permutation)], target)


def strided_slice(rng, name, shape, begin, end, stride, begin_mask=0, end_mask=0, shrink=0):
    case = Case(rng, name)
    source = case.input(shape)
    index = []
    for i, size in enumerate(shape):
        if i >= len(begin):
            index.append(slice(None))
        elif shrink >> i & 1:
            index.append(begin[i])
        else:
            first, last = (None if mask >> i & 1 else v[i] for mask, v in ((begin_mask, begin), (end_mask, end)))
            index.append(slice(first, last, stride[i]))
    target = np.zeros(shape)[tuple(index)].shape
    operands = [source, *(case.constant(v) for v in (begin, end, stride))]
    return case.finish(
        "strided_slice", operands, case.like(source, target), beginMask=begin_mask, endMask=end_mask, ellipsisMask=0,
        newAxisMask=0, shrinkAxisMask=shrink, offset=False,
    )


def resize(rng, name, op, shape, size, align=False, half=False):
    case = Case(rng, name)
    source = case.input(shape)
    target = case.like(source, (shape[0], *size, shape[3]))
    return case.finish(op, [source, case.constant(size)], target, alignCorners=align, halfPixelCenters=half)


def moved(rng, name, op, shape, constants, target, **options):
    """An input and constants that say where its values go."""
    case = Case(rng, name)
    source = case.input(shape)
    return case.finish(op, [source, *(case.constant(c) for c in constants)], case.like(source, target), **options)


def split(rng, name, op, shape, constants, along, sizes, **options):
    case = Case(rng, name)
    source = case.input(shape)
    shapes = [[s if i == along else d for i, d in enumerate(shape) if s or i != along] for s in sizes]
    operands = [case.constant(c) for c in constants]
    operands.insert(1 if op == "split" else 0, source)
    return case.finish(op, operands, [case.like(source, s) for s in shapes], **options)


def gather(rng, name, shape, indices, axis, constant=False, batch=0):
    case = Case(rng, name)
    values = rng.integers(0, shape[axis], indices).astype(np.int32)
    source = case.constant(case.bytes(shape), [0.1], [3], np.int8) if constant else case.input(shape)
    target = [*shape[:axis], *indices[batch:], *shape[axis + 1 :]]
    return case.finish("gather", [source, case.plain_input(values)], case.like(source, target), axis=axis, batchDims=batch)


def fill(rng, name, shape):
    case = Case(rng, name)
    value = case.constant(rng.integers(-50, 50, ()), [0.1], [3], np.int8)
    return case.finish("fill", [case.constant(shape), value], case.like(value, shape))
