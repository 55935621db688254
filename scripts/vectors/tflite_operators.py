#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes tests/data/tflite/operators.json: models of one operator each, with seeded inputs and what TensorFlow Lite's reference kernels
make of them.

Usage: VENV/bin/python scripts/vectors/tflite_operators.py   (after pip install -r scripts/vectors/requirements.txt)
"""

import base64
import itertools
import json
import math
import pathlib
import zlib

import numpy as np
import tflite_graph
from ai_edge_litert import interpreter as tfl
import tflite_inputs

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "tests" / "data" / "tflite" / "operators.json"
SEED = 20260102
schema = tflite_graph.schema
OP, KIND = schema.BuiltinOperator, schema.BuiltinOptions
SAME, VALID = tflite_graph.PADDINGS["same"], tflite_graph.PADDINGS["valid"]
ACTIVATIONS = {**tflite_graph.ACTIVATIONS, "relu_n1_to_1": schema.ActivationFunctionType.RELU_N1_TO_1}


class NoOptions:
    """Options of operators that have none."""

    def Pack(self, builder):
        builder.StartObject(0)
        return builder.EndObject()


tflite_graph.TYPES[np.dtype(np.float32)] = schema.TensorType.FLOAT32
tflite_graph.TYPES[np.dtype(np.int64)] = schema.TensorType.INT64
tflite_graph.TYPES[np.dtype(bool)] = schema.TensorType.BOOL
tflite_graph.OPS.update(
    depthwise=(OP.DEPTHWISE_CONV_2D, KIND.DepthwiseConv2DOptions, schema.DepthwiseConv2DOptionsT, 3),
    sub=(OP.SUB, KIND.SubOptions, schema.SubOptionsT, 3),
    mul=(OP.MUL, KIND.MulOptions, schema.MulOptionsT, 2),
    mean=(OP.MEAN, KIND.ReducerOptions, schema.ReducerOptionsT, 2),
    softmax=(OP.SOFTMAX, KIND.SoftmaxOptions, schema.SoftmaxOptionsT, 2),
    logistic=(OP.LOGISTIC, KIND.NONE, NoOptions, 2),
    tanh=(OP.TANH, KIND.NONE, NoOptions, 2),
    hard_swish=(OP.HARD_SWISH, KIND.HardSwishOptions, schema.HardSwishOptionsT, 1),
    relu=(OP.RELU, KIND.NONE, NoOptions, 2),
    relu6=(OP.RELU6, KIND.NONE, NoOptions, 2),
    relu_n1_to_1=(OP.RELU_N1_TO_1, KIND.NONE, NoOptions, 1),
    quantize=(OP.QUANTIZE, KIND.QuantizeOptions, schema.QuantizeOptionsT, 2),
    dequantize=(OP.DEQUANTIZE, KIND.DequantizeOptions, schema.DequantizeOptionsT, 2),
    reshape=(OP.RESHAPE, KIND.ReshapeOptions, schema.ReshapeOptionsT, 1),
    squeeze=(OP.SQUEEZE, KIND.SqueezeOptions, schema.SqueezeOptionsT, 1),
    expand_dims=(OP.EXPAND_DIMS, KIND.ExpandDimsOptions, schema.ExpandDimsOptionsT, 1),
    pad=(OP.PAD, KIND.PadOptions, schema.PadOptionsT, 2),
    padv2=(OP.PADV2, KIND.PadV2Options, schema.PadV2OptionsT, 2),
    concatenation=(OP.CONCATENATION, KIND.ConcatenationOptions, schema.ConcatenationOptionsT, 2),
    transpose=(OP.TRANSPOSE, KIND.TransposeOptions, schema.TransposeOptionsT, 2),
    strided_slice=(OP.STRIDED_SLICE, KIND.StridedSliceOptions, schema.StridedSliceOptionsT, 2),
    resize_nearest=(OP.RESIZE_NEAREST_NEIGHBOR, KIND.ResizeNearestNeighborOptions, schema.ResizeNearestNeighborOptionsT, 3),
    resize_bilinear=(OP.RESIZE_BILINEAR, KIND.ResizeBilinearOptions, schema.ResizeBilinearOptionsT, 3),
)
for _name, _options, _version in (
    ("ABS", "Abs", 2), ("ARG_MAX", "ArgMax", 2), ("ARG_MIN", "ArgMin", 2), ("BATCH_MATMUL", "BatchMatMul", 2),
    ("BATCH_TO_SPACE_ND", "BatchToSpaceND", 2), ("BROADCAST_TO", None, 2), ("DEPTH_TO_SPACE", "DepthToSpace", 1), ("ELU", None, 1),
    ("EQUAL", "Equal", 2), ("EXP", "Exp", 2), ("FILL", "Fill", 3), ("GATHER", "Gather", 2), ("GELU", "Gelu", 2),
    ("GREATER", "Greater", 2), ("GREATER_EQUAL", "GreaterEqual", 2), ("L2_NORMALIZATION", "L2Norm", 2), ("LEAKY_RELU", "LeakyRelu", 2),
    ("LESS", "Less", 2), ("LESS_EQUAL", "LessEqual", 2), ("LOG", None, 2), ("LOGICAL_AND", "LogicalAnd", 1),
    ("LOGICAL_NOT", "LogicalNot", 1), ("LOGICAL_OR", "LogicalOr", 1), ("LOG_SOFTMAX", "LogSoftmax", 2), ("MAXIMUM", "MaximumMinimum", 2),
    ("MINIMUM", "MaximumMinimum", 2), ("MIRROR_PAD", "MirrorPad", 2), ("NEG", "Neg", 1), ("NOT_EQUAL", "NotEqual", 2), ("PRELU", None, 1),
    ("REDUCE_MAX", "Reducer", 2), ("REDUCE_MIN", "Reducer", 2), ("REDUCE_PROD", "Reducer", 1), ("REVERSE_V2", "ReverseV2", 3),
    ("RSQRT", None, 2), ("SELECT", "Select", 2), ("SELECT_V2", "SelectV2", 1), ("SLICE", "Slice", 2),
    ("SPACE_TO_BATCH_ND", "SpaceToBatchND", 2), ("SPACE_TO_DEPTH", "SpaceToDepth", 2), ("SPLIT", "Split", 2), ("SPLIT_V", "SplitV", 2),
    ("SQRT", None, 1), ("SQUARED_DIFFERENCE", "SquaredDifference", 2), ("SUM", "Reducer", 2), ("TILE", "Tile", 2),
    ("TRANSPOSE_CONV", "TransposeConv", 3), ("UNPACK", "Unpack", 2),
):  # fmt: skip
    _kind = (getattr(KIND, f"{_options}Options"), getattr(schema, f"{_options}OptionsT")) if _options else (KIND.NONE, NoOptions)
    tflite_graph.OPS[_name.lower()] = (getattr(OP, _name), *_kind, _version)


def text(data):
    return base64.b64encode(bytes(data)).decode()


class Case:
    """A model of one operator while it is built."""

    def __init__(self, rng, name):
        self.rng, self.name, self.graph, self.feeds, self.seeds = rng, name, tflite_graph.Graph(), {}, []

    def scale(self, low=0.005, high=0.2):
        return float(np.float32(np.exp(self.rng.uniform(np.log(low), np.log(high)))))

    def zero(self):
        return int(self.rng.integers(-128, 128))

    def bytes(self, shape):
        """int8 values, the extremes more often than by chance."""
        values = self.rng.integers(-128, 128, shape)
        extreme = self.rng.choice([-128, -127, 127], shape)
        return np.where(self.rng.random(shape) < 0.1, extreme, values).astype(np.int8)

    def input(self, shape, scale=None, zero=None, values=None):
        index = self.graph.tensor(shape, scale or self.scale(), self.zero() if zero is None else zero)
        self.feeds[index] = self.bytes(shape) if values is None else values.reshape(shape)
        return index

    def seeded_input(self, shape, scale):
        """A large one, of which the file has the seed only."""
        seed = next(s for s in itertools.count(SEED) if int(tflite_inputs.random_words(s, 1)[0]) & 15 == 0)  # plain noise
        self.seeds.append(seed)
        return self.input(shape, scale, values=tflite_inputs.values(seed, int(np.prod(shape))))

    def float_input(self, values):
        index = self.graph.tensor(values.shape, [], [], dtype=np.float32)
        self.feeds[index] = values
        return index

    def constant(self, values, scales=(), zeros=(), dtype=np.int32):
        values = np.asarray(values, dtype)
        return self.graph.tensor(values.shape, scales, zeros, values)

    def scale_of(self, index):
        return self.graph.tensors[index].quantization.scale[0]

    def like(self, index, shape):
        """A result with scale and zero point of another tensor."""
        q = self.graph.tensors[index].quantization
        return self.graph.tensor(shape, q.scale, q.zeroPoint)

    def plain_input(self, values):
        """Values without quantisation."""
        index = self.graph.tensor(values.shape, [], [], dtype=values.dtype)
        self.feeds[index] = values
        return index

    def result(self, shape, scale=None, zero=None, dtype=np.int8):
        if dtype != np.int8:
            return self.graph.tensor(shape, [], [], dtype=dtype)
        return self.graph.tensor(shape, scale or self.scale(), self.zero() if zero is None else zero)

    def finish(self, op, inputs, output, **options):
        if "activation" in options:
            options["fusedActivationFunction"] = ACTIVATIONS[options.pop("activation")]
        self.graph.operator(op, inputs, output, **options)
        outputs = output if isinstance(output, list) else [output]
        model = self.graph.model(list(self.feeds), outputs)
        # The reference kernel of SUM gives -1 for all int8 inputs; ELU has none.
        broken = op in ("sum", "elu")
        resolver = tfl.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if broken else tfl.OpResolverType.BUILTIN_REF
        results = tflite_graph.run(model, self.feeds, outputs, resolver)
        for index, values in zip(outputs, results):
            expected = tuple(self.graph.tensors[index].shape)
            if values.shape != expected:
                raise ValueError(f"{self.name}: result {values.shape}, declared {expected}")
            if values.size > 1 and len(np.unique(values)) == 1 and op != "fill":
                raise ValueError(f"{self.name}: all results are equal")
        values = np.concatenate([values.ravel() for values in results])
        result = {"name": self.name, "model": text(model)}
        if self.seeds:
            return {**result, "seeds": self.seeds, "crc32": f"{zlib.crc32(values.tobytes()):08x}"}
        return {**result, "inputs": [text(v.tobytes()) for v in self.feeds.values()], "output": text(values.tobytes())}


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


def pool(rng, name, op, shape, kernel, stride, padding, **options):
    case = Case(rng, name)
    source = case.input(shape, zero=int(rng.integers(-60, 60)))
    sizes = [positions(shape[1 + i], kernel[i], stride[i], 1, padding) for i in (0, 1)]
    return case.finish(
        op, [source], case.like(source, (shape[0], *sizes, shape[3])), padding=padding, filterHeight=kernel[0],
        filterWidth=kernel[1], strideH=stride[0], strideW=stride[1], **options,
    )


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


def table(rng, name, op, scale, zero):
    """All 256 inputs."""
    case = Case(rng, name)
    source = case.input((1, 256), scale, zero, np.arange(-128, 128).astype(np.int8))
    target = {"logistic": (1 / 256, -128), "tanh": (1 / 128, 0)}[op]
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


def cases(rng):
    def named(function, *args, **options):
        details = [str(a) for a in args] + [f"{k}={v}" for k, v in options.items()]
        return function(rng, f"{function.__name__} {' '.join(details)}", *args, **options)

    yield named(conv, (1, 7, 6, 3), (5, 3, 3, 3), activation="none")
    yield named(conv, (2, 8, 8, 4), (6, 3, 3, 4), stride=(2, 2), activation="relu", per_channel=False)
    yield named(conv, (1, 9, 8, 5), (4, 3, 2, 5), stride=(2, 1), padding=VALID, activation="relu6")
    yield named(conv, (1, 11, 13, 2), (3, 3, 3, 2), dilation=(2, 3), activation="relu_n1_to_1")
    yield named(conv, (1, 10, 9, 3), (4, 5, 5, 3), stride=(3, 2), activation="none")
    for multiplier in (1, 2, 3):
        yield named(conv, (1, 8, 7, 4), (1, 3, 3, 4 * multiplier), depthwise=True, activation="none")
    yield named(conv, (2, 9, 9, 3), (1, 5, 3, 6), depthwise=True, stride=(2, 2), activation="relu", per_channel=False)
    yield named(conv, (1, 12, 12, 1), (1, 4, 4, 8), depthwise=True, stride=(2, 1), padding=VALID, activation="relu6")
    yield named(conv, (1, 10, 11, 2), (1, 3, 3, 2), depthwise=True, dilation=(2, 2), activation="none")
    yield named(dense, (5, 70), 9, activation="none")
    yield named(dense, (3, 2, 2, 33), 12, activation="relu")
    yield named(dense, (1, 40), 600, ties=True, activation="none")
    yield named(dense, (4, 50), 16, per_channel=True, activation="relu6")
    yield named(dense, (2, 64), 32, bias=False, activation="none")
    for op in ("add", "sub", "mul"):
        for activation in ("none", "none", "relu", "relu6", "relu_n1_to_1"):
            yield named(binary, op, ((1, 6, 6, 8), (1, 6, 6, 8)), activation=activation)
        yield named(binary, op, ((1, 5, 4, 6), (6,)), constant=True, activation="none")
        yield named(binary, op, ((1, 5, 4, 6), (1, 5, 1, 1)), activation="none")
        yield named(binary, op, ((1, 1, 1, 7), (2, 3, 4, 7)), activation="none")
        yield named(binary, op, ((2, 30), (1, 1)), constant=True, activation="none")
    for op in ("avgpool", "maxpool"):
        yield named(pool, op, (1, 8, 8, 5), (2, 2), (2, 2), VALID, activation="none")
        yield named(pool, op, (1, 7, 7, 4), (3, 3), (1, 1), SAME, activation="relu")
        yield named(pool, op, (2, 9, 11, 3), (4, 6), (2, 3), SAME, activation="relu6")
        yield named(pool, op, (1, 6, 2, 16), (6, 2), (6, 2), VALID, activation="none")
    yield named(pool, "avgpool", (1, 25, 5, 16), (25, 5), (25, 5), VALID, activation="none")
    for keep in (True, False):
        yield named(mean, (1, 7, 5, 9), (1, 2), keep)
        yield named(mean, (1, 7, 7, 9), (2, 1), keep, same_scale=True)
        yield named(mean, (2, 3, 4, 5), (-1,), keep)
        yield named(mean, (3, 8, 6), (1,), keep)
        yield named(mean, (4, 6, 5), (0, 2), keep, same_scale=True)
    yield named(softmax, (1, 2), 0.0146)
    yield named(softmax, (200, 12), 0.18)
    yield named(softmax, (20, 64), 0.03, beta=2.0)
    yield named(softmax, (2, 3, 4, 10), 0.25, beta=0.5)
    yield named(softmax, (30, 5), 0.7)
    yield named(softmax, (3, 1001), 0.09)
    for scale in (0.011, 0.021, 0.037, 0.055, 0.083, 0.127):
        yield named(many_softmaxes, (30000, 10), scale)
    for op in ("logistic", "tanh"):
        for scale, zero in ((0.05, 3), (0.1, -20), (0.0071, 100), (0.2, 0), (0.0235, -128), (2.5, 127)):
            yield named(table, op, scale, zero)
    for op in ("relu", "relu6", "relu_n1_to_1", "quantize"):
        for i in range(3):
            yield rescale(rng, f"rescale {op} {i}", op)
    for i in range(2):
        yield quantize(rng, f"quantize {i}")
        yield dequantize(rng, f"dequantize {i}")
    yield named(reshape, "reshape", (1, 4, 6, 3), (1, 72))
    yield named(reshape, "reshape", (2, 12), (3, 2, 4))
    yield named(reshape, "squeeze", (1, 1, 6, 3), (6, 3), squeezeDims=[0, 1])
    yield named(reshape, "expand_dims", (6, 3), (6, 1, 3), axis=1)
    yield named(pad, (1, 5, 4, 3), ((0, 0), (1, 2), (3, 0), (0, 0)))
    yield named(pad, (2, 5), ((1, 0), (0, 4)), wide=True)
    yield named(pad, (1, 4, 4, 2), ((0, 0), (1, 1), (1, 1), (0, 3)), value=-77)
    yield named(concatenation, ((1, 4, 4, 3), (1, 4, 4, 5), (1, 4, 4, 1)), 3)
    yield named(concatenation, ((1, 3, 4, 2), (1, 5, 4, 2)), 1)
    yield named(concatenation, ((2, 7), (2, 9)), -1)
    yield named(transpose, (1, 4, 5, 6), (0, 3, 1, 2))
    yield named(transpose, (1, 4, 5, 6), (0, 2, 1, 3))
    yield named(transpose, (7, 9), (1, 0))
    yield named(transpose, (2, 3, 4, 5, 2), (4, 2, 0, 1, 3))
    yield named(strided_slice, (1, 8, 9, 4), (0, 1, 2, 0), (1, 7, 9, 3), (1, 2, 3, 1))
    yield named(strided_slice, (2, 8, 6), (0, -2, 5), (2, -8, 0), (1, -2, -1))
    yield named(strided_slice, (5, 6, 7), (9, 1, 3), (9, 5, 0), (1, 1, 2), begin_mask=1, end_mask=5)
    yield named(strided_slice, (5, 6, 7), (3, -1), (4, 0), (1, 1), shrink=3)
    yield named(strided_slice, (1, 6, 5, 4), (0, 2), (1, 5), (1, 1))
    for op in ("resize_nearest", "resize_bilinear"):
        for shape, size in (((1, 5, 7, 3), (10, 14)), ((1, 8, 6, 2), (5, 9)), ((2, 3, 4, 2), (1, 13)), ((1, 9, 9, 2), (4, 3))):
            yield named(resize, op, shape, size)
            yield named(resize, op, shape, size, align=True)
            yield named(resize, op, shape, size, half=True)
    for scale, zero in ((0.05, 3), (0.0235, -128), (0.0071, 100), (0.11, -20), (0.0031, 0), (0.19, 127), (1.3, 5), (1e-7, 9), (1.4e-8, -4)):
        for ratio in (0.37, 0.9, 1.8):
            yield named(hard_swish, scale, zero, ratio)

    pairs = (((1, 5, 4, 6), (1, 5, 4, 6)), ((2, 3, 4, 5), (5,)), ((3, 1, 4), (1, 6, 1)))
    for scale, zero, target in ((0.05, 3, (0.03, 4)), (0.02, -128, (0.02, -128)), (0.11, 100, (0.09, -17))):
        for op in ("abs", "gelu", "leaky_relu"):
            options = {"gelu": {"approximate": zero == 3}, "leaky_relu": {"alpha": float(np.float32(0.1 + scale))}}.get(op, {})
            yield named(function, op, scale, zero, target, **options)
    for scale, zero, target in ((0.03, -128, (0.05, -128)), (0.0004, -128, (0.2, -100)), (0.5, -20, (0.009, 7))):
        yield named(function, "rsqrt", scale, zero, target, first=zero)
        yield named(function, "log", scale, zero, target)
        yield named(function, "exp", min(10 * scale, 0.03), zero, (0.3, -100))
    for op in ("neg", "abs", "exp", "elu"):
        yield named(real_function, op)
    for op in ("log", "sqrt", "rsqrt"):
        yield named(real_function, op, low=0.1)
    for shapes in pairs:
        for op in ("maximum", "minimum"):
            yield named(alike, op, shapes)
        for op in ("add", "sub", "mul", "maximum", "minimum", "less"):
            yield named(integers, op, shapes)
        yield named(squared_difference, shapes)
        for op in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
            yield named(compare, op, shapes, same_scale=op in ("equal", "not_equal", "less_equal"))
        yield named(logical, "logical_and", shapes)
        yield named(logical, "logical_or", shapes)
    yield named(logical, "logical_not", ((4, 5),))
    for shapes in (((1, 5, 4, 6), (1, 1, 6)), ((2, 7), (7,)), ((1, 4, 4, 3), (4, 4, 3))):
        yield named(prelu, shapes)
    yield named(select, "select", ((3, 4), (3, 4), (3, 4)))
    yield named(select, "select", ((5,), (5, 4), (5, 4)))
    yield named(select, "select_v2", ((3, 1), (1, 4), (3, 4)))
    for keep in (True, False):
        for op in ("reduce_max", "reduce_min"):
            yield named(reduction, op, (2, 5, 4, 3), (1, 2), keep)
            yield named(reduction, op, (3, 8), (-1,), keep)
        yield named(reduction, "sum", (2, 5, 4, 3), (1, 2), keep, same_scale=False)
        yield named(reduction, "sum", (3, 8), (-1,), keep, same_scale=False)
    yield named(product, (3, 4), (0,))
    for op in ("arg_max", "arg_min"):
        for axis in (-1, 1):
            yield named(argument, op, (2, 5, 9), axis)
    for scale in (0.03, 0.2):
        yield named(rows, "log_softmax", (6, 11), scale)
        yield named(rows, "l2_normalization", (2, 5, 12), scale)
    yield named(batch_matmul, ((5, 7), (7, 4)))
    yield named(batch_matmul, ((2, 3, 4, 6), (2, 3, 6, 5)))
    yield named(batch_matmul, ((2, 3, 6, 4), (3, 5, 6)), left=True, right=True)
    yield named(batch_matmul, ((1, 2, 5, 8), (2, 2, 4, 8)), right=True)
    for kernel, stride in ((3, (2, 2)), (2, (2, 2)), (4, (2, 2)), (3, (1, 1)), (1, (2, 3)), (5, (3, 2))):
        for padding in (SAME, VALID):
            yield named(transpose_conv, (1, 4, 5, 3), (4, kernel, kernel, 3), stride, padding, bias=kernel != 4, per_channel=kernel != 5)
    yield named(grouped, (1, 6, 5, 6), (9, 3, 3, 2), activation="relu")
    yield named(moved, "slice", (2, 5, 6), ((0, 1, 2), (2, 3, -1)), (2, 3, 4))
    yield named(moved, "tile", (2, 3, 1), ((2, 1, 4),), (4, 3, 4))
    yield named(moved, "broadcast_to", (3, 1), ((2, 3, 4),), (2, 3, 4))
    yield named(moved, "reverse_v2", (2, 4, 3), ((1,),), (2, 4, 3))
    for mode in (schema.MirrorPadMode.REFLECT, schema.MirrorPadMode.SYMMETRIC):
        yield named(moved, "mirror_pad", (1, 4, 5, 2), (((0, 0), (2, 3), (1, 0), (0, 1)),), (1, 9, 6, 3), mode=mode)
    yield named(moved, "space_to_depth", (2, 4, 6, 3), (), (2, 2, 3, 12), blockSize=2)
    yield named(moved, "depth_to_space", (2, 2, 3, 12), (), (2, 4, 6, 3), blockSize=2)
    yield named(moved, "space_to_batch_nd", (1, 5, 4, 2), ((2, 3), ((1, 0), (1, 1))), (6, 3, 2, 2))
    yield named(moved, "space_to_batch_nd", (2, 7, 3), ((4,), ((0, 1),)), (8, 2, 3))
    yield named(moved, "batch_to_space_nd", (6, 3, 2, 2), ((2, 3), ((1, 0), (1, 1))), (1, 5, 4, 2))
    yield named(moved, "batch_to_space_nd", (8, 2, 3), ((4,), ((0, 1),)), (2, 7, 3))
    yield named(split, "split", (2, 6, 3), (1,), 1, (2, 2, 2), numSplits=3)
    yield named(split, "split_v", (2, 6, 3), ((1, 3, 2), 1), 1, (1, 3, 2), numSplits=3)
    yield named(split, "unpack", (2, 3, 4), (), 1, (0, 0, 0), num=3, axis=1)
    yield named(gather, (5, 4), (7,), 0)
    yield named(gather, (2, 6, 3), (2, 3), 1)
    yield named(gather, (20, 8), (1, 6), 0, constant=True)
    yield named(fill, (2, 3))
    yield named(reduction, "sum", (40, 3), (-1,), False)
    yield named(reduction, "sum", (30, 4, 5), (1, 2), True, same_scale=False)
    yield named(reduction, "sum", (300, 7), (1,), False, same_scale=False)
    yield named(conv, (3, 2, 9, 4), (5, 1, 3, 4), stride=(1, 2), activation="relu")
    yield named(conv, (2, 3, 6, 4), (1, 1, 2, 4), depthwise=True, activation="none")
    for op in ("logistic", "tanh"):  # as steep as a step
        for scale, zero in ((7.99, 1), (8.0, -3), (11.5, 20), (1000.0, 0)):
            yield named(table, op, scale, zero)
    yield named(gather, (3, 5, 4), (3, 2), 1, batch=1)
    yield named(gather, (2, 3, 6, 2), (2, 3, 4), 2, batch=2)
    yield named(gather, (2, 4, 5, 3), (2, 3, 2), 2, batch=1)


def main():
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps(case) for case in cases(np.random.default_rng(SEED))]
    OUTPUT.write_text('{"cases": [\n' + ",\n".join(rows) + "\n]}\n")
    print(f"{OUTPUT.relative_to(ROOT)}: {len(rows)} cases, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
