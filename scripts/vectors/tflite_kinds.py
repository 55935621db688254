#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes tests/data/tflite/kinds.json: small models of the kinds that files of TensorFlow Lite come in (uint8, several images, groups,
int4, IF and WHILE, ...), with seeded inputs and what TensorFlow Lite's reference kernels make of them.

Usage: VENV/bin/python scripts/vectors/tflite_kinds.py   (after pip install -r scripts/vectors/requirements.txt)
"""

import json
import math
import pathlib

import flatbuffers
import numpy as np
import tflite_detections
import tflite_graph
import tflite_wide
from ai_edge_litert import interpreter as tfl
from tflite_case import ACTIVATIONS, KIND, OP, SAME, VALID, NoOptions, schema, text

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "tests" / "data" / "tflite" / "kinds.json"
SEED = 20260746
f32 = np.float32

tflite_graph.TYPES[np.dtype(np.uint8)] = schema.TensorType.UINT8
for _name, _options, _version in (
    ("SVDF", "SVDF", 3), ("CAST", "Cast", 1), ("COS", "Cos", 1),
    ("FLOOR", None, 1), ("CEIL", None, 1), ("ROUND", None, 1), ("SIN", None, 1), ("POW", "Pow", 1),
    ("FLOOR_DIV", "FloorDiv", 2), ("FLOOR_MOD", "FloorMod", 2), ("GATHER_ND", "GatherNd", 2), ("TOPK_V2", "TopKV2", 2), ("IF", "If", 1),
    ("WHILE", "While", 1), ("CUMSUM", "Cumsum", 1), ("ONE_HOT", "OneHot", 1), ("ADD_N", "AddN", 1), ("BITWISE_XOR", "BitwiseXor", 1),
    ("DYNAMIC_UPDATE_SLICE", None, 1), ("RANGE", "Range", 1), ("RANK", "Rank", 1), ("REDUCE_ALL", "Reducer", 1),
    ("REDUCE_ANY", "Reducer", 1), ("SCATTER_ND", "ScatterNd", 1), ("SIGN", "Sign", 1), ("ZEROS_LIKE", "ZerosLike", 1),
):  # fmt: skip
    _kind = (getattr(KIND, f"{_options}Options"), getattr(schema, f"{_options}OptionsT")) if _options else (KIND.NONE, NoOptions)
    tflite_graph.OPS[_name.lower()] = (getattr(OP, _name), *_kind, _version)


class Net(tflite_graph.Graph):
    """A graph whose tensors remember scale, zero point and type."""

    def __init__(self, rng, dtype=np.int8):
        super().__init__()
        self.rng, self.dtype, self.feeds, self.outputs = rng, np.dtype(dtype), {}, []
        self.middle = 128 if self.dtype == np.uint8 else 0

    def scale(self, low=0.02, high=0.1):
        return float(f32(np.exp(self.rng.uniform(np.log(low), np.log(high)))))

    def q(self, index):
        quantization = self.tensors[index].quantization
        return quantization.scale[0], quantization.zeroPoint[0]

    def shape(self, index):
        return tuple(self.tensors[index].shape)

    def values(self, shape, dtype=None):
        dtype = np.dtype(dtype or self.dtype)
        info = np.iinfo(dtype)
        return self.rng.integers(info.min, info.max + 1, shape).astype(dtype)

    def input(self, shape, scale=None, zero=None, values=None, dtype=None):
        dtype = np.dtype(dtype or self.dtype)
        quantised = dtype.itemsize <= 2 and dtype != np.bool_ and (dtype != np.int16 or scale is not None)
        zero = (self.middle + int(self.rng.integers(-20, 20)) if dtype != np.int16 else 0) if zero is None else zero
        index = self.tensor(shape, [scale or self.scale()] if quantised else [], [zero] if quantised else [], dtype=dtype)
        self.feeds[index] = self.values(shape, dtype) if values is None else np.asarray(values, dtype)
        return index

    def constant(self, values, scales=(), zeros=(), dtype=np.int32, axis=0):
        values = np.asarray(values, dtype)
        index = self.tensor(values.shape, list(np.atleast_1d(scales)), list(np.atleast_1d(zeros)), values)
        self.tensors[index].quantization.quantizedDimension = axis
        return index

    def result(self, shape, scale=None, zero=None, dtype=None):
        dtype = np.dtype(dtype or self.dtype)
        if dtype != self.dtype and scale is None:
            return self.tensor(shape, [], [], dtype=dtype)
        zero = self.middle + int(self.rng.integers(-30, 30)) if zero is None else zero
        return self.tensor(shape, [scale or self.scale()], [zero], dtype=dtype)

    def add(self, op, inputs, output, **options):
        if "activation" in options:
            options["fusedActivationFunction"] = ACTIVATIONS[options.pop("activation")]
        self.operator(op, inputs, output, **options)
        return output

    def weights(self, source, shape, axis, zero, per_channel, bias=True, bias_shape=None, bias_scale=None, bias_values=None):
        """Weights, bias, and a scale for the result."""
        count, depth = shape[axis], int(np.prod(shape)) // shape[axis]
        scales = [self.scale(0.002, 0.02) for _ in range(count if per_channel else 1)]
        values = self.values(shape)
        operands = [source, self.constant(values, scales, [zero] * len(scales), self.dtype, axis if per_channel else 0)]
        spread = self.q(source)[0] * float(np.mean(scales)) * 75 * 90 * math.sqrt(depth)
        if bias:
            given = self.rng.integers(-20000, 20000, count) if bias_values is None else np.asarray(bias_values)
            of_bias = bias_scale or [float(f32(self.q(source)[0]) * f32(s)) for s in scales]
            operands.append(self.constant(given.reshape(bias_shape or (count,)), of_bias, [0] * len(np.atleast_1d(of_bias))))
        return operands, float(f32(spread / 50))

    def conv(self, source, filters, kernel=(3, 3), stride=(1, 1), padding=SAME, zero=None, per_channel=None, depthwise=False, groups=1, activation="none", multiplier=1, ties=False, **more):  # fmt: skip
        n, h, w, c = self.shape(source)
        unsigned = self.dtype == np.uint8
        zero = (int(self.rng.integers(0, 256)) if unsigned else 0) if zero is None else zero
        shape = (1, *kernel, c * multiplier) if depthwise else (filters, *kernel, c // groups)
        operands, scale = self.weights(source, shape, 3 if depthwise else 0, zero, not unsigned if per_channel is None else per_channel, **more)
        if ties:  # many sums lie halfway between two results
            scale = float(f32(f32(self.q(source)[0]) * f32(self.tensors[operands[1]].quantization.scale[0])) * f32(2**6))
        sizes = [-(-d // s) if padding == SAME else (d - k) // s + 1 for d, k, s in zip((h, w), kernel, stride)]
        target = self.result((n, *sizes, shape[3] if depthwise else filters), scale)
        options = {"depthMultiplier": multiplier} if depthwise else {}
        return self.add("depthwise" if depthwise else "conv2d", operands, target, padding=padding, strideH=stride[0], strideW=stride[1], dilationHFactor=1, dilationWFactor=1, activation=activation, **options)  # fmt: skip

    def dense(self, source, outputs, zero=None, **more):
        rows, depth = self.shape(source)
        zero = (int(self.rng.integers(0, 256)) if self.dtype == np.uint8 else 0) if zero is None else zero
        operands, scale = self.weights(source, (outputs, depth), 0, zero, False, **more)
        return self.add("dense", operands if len(operands) == 3 else [*operands, -1], self.result((rows, outputs), scale), activation="none")

    def like(self, source, shape):
        return self.result(shape, *self.q(source))

    def pool(self, op, source, kernel, stride, padding=VALID):
        n, h, w, c = self.shape(source)
        sizes = [-(-d // s) if padding == SAME else (d - k) // s + 1 for d, k, s in zip((h, w), kernel, stride)]
        return self.add(op, [source], self.like(source, (n, *sizes, c)), padding=padding, filterHeight=kernel[0], filterWidth=kernel[1], strideH=stride[0], strideW=stride[1], activation="none")  # fmt: skip

    def reshape(self, source, shape):
        return self.add("reshape", [source, self.constant(shape)], self.like(source, shape))

    def subgraph(self, outputs):
        graph = schema.SubGraphT()
        graph.tensors, graph.operators = self.tensors, self.operators
        graph.inputs, graph.outputs = list(self.feeds), outputs
        return graph


def packed(nets, signatures=()):
    """A model of several subgraphs, (net, outputs) each; signatures: (name, subgraph, input names, output names)."""
    model = schema.ModelT()
    model.version, model.subgraphs, model.operatorCodes, model.buffers = 3, [], [], [schema.BufferT()]
    for net, outputs in nets:
        for tensor in net.tensors:
            tensor.buffer += len(model.buffers) - 1 if tensor.buffer else 0
        for operator in net.operators:
            operator.opcodeIndex += len(model.operatorCodes)
        model.buffers += net.buffers[1:]
        model.operatorCodes += net.codes
        model.subgraphs.append(net.subgraph(outputs))
    model.signatureDefs = []
    for name, index, ins, outs in signatures:
        signature = schema.SignatureDefT()
        signature.signatureKey, signature.subgraphIndex = name, index
        for maps, names, tensors in (("inputs", ins, model.subgraphs[index].inputs), ("outputs", outs, model.subgraphs[index].outputs)):
            entries = []
            for label, tensor in zip(names, tensors):
                entry = schema.TensorMapT()
                entry.name, entry.tensorIndex = label, tensor
                entries.append(entry)
            setattr(signature, maps, entries)
        model.signatureDefs.append(signature)
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def interpreted(model, optimised=False):
    resolver = tfl.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if optimised else tfl.OpResolverType.BUILTIN_REF
    interpreter = tfl.Interpreter(model_content=model, num_threads=1, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    return interpreter


def finished(name, net, outputs, others=(), calls=1, adjust=None, **options):
    """The case of a net and the subgraphs that it calls. Several calls follow each other, with other inputs. `adjust` corrects the results."""
    outputs = outputs if isinstance(outputs, list) else [outputs]
    model = packed([(net, outputs), *others])
    interpreter = interpreted(model, **options)
    given, results = {index: [] for index in net.feeds}, [[] for _ in outputs]
    for call in range(calls):
        for index, value in net.feeds.items():
            value = value if call == 0 else np.roll(value, call)
            given[index].append(value)
            interpreter.set_tensor(index, value)
        interpreter.invoke()
        for values, index in zip(results, outputs):
            values.append(interpreter.get_tensor(index))
    results = [np.stack(values) if calls > 1 else values[0] for values in results]
    results = adjust(results) if adjust else results
    for values in results:
        if values.size > 4 and values.dtype != bool and len(np.unique(values)) == 1:
            raise ValueError(f"{name}: all results are equal")
    return {
        "name": name,
        "model": text(model),
        "calls": calls,
        "inputs": [text(b"".join(v.tobytes() for v in values)) for values in given.values()],
        "outputs": [text(values.tobytes()) for values in results],
        "shapes": [list(values.shape[1 if calls > 1 else 0 :]) for values in results],
    }


def of_uint8(rng):
    for zero in (121, 0, 255, 128, 3, 200):
        net = Net(rng, np.uint8)
        yield finished(f"uint8 conv zero {zero}", net, net.conv(net.input((1, 8, 8, 4)), 5, zero=zero, activation="relu6"))
        net = Net(rng, np.uint8)
        yield finished(f"uint8 depthwise zero {zero}", net, net.conv(net.input((1, 9, 8, 6)), 0, stride=(2, 1), zero=zero, depthwise=True, multiplier=1 + zero % 2))
        net = Net(rng, np.uint8)
        yield finished(f"uint8 dense zero {zero}", net, net.dense(net.input((1, 50)), 13, zero=zero))
    for depthwise in (False, True):
        net = Net(rng, np.uint8)
        yield finished(f"uint8 ties {depthwise}", net, net.conv(net.input((1, 20, 20, 3)), 8, (1, 1), depthwise=depthwise, bias_values=[0] * (3 if depthwise else 8), ties=True))
    net = Net(rng, np.uint8)
    yield finished("uint8 deep conv", net, net.conv(net.input((1, 5, 5, 70)), 40, zero=117))
    for kernel, stride, padding in (((2, 2), (1, 1), VALID), ((3, 3), (1, 1), SAME), ((7, 7), (7, 7), VALID), ((5, 4), (2, 3), VALID)):
        net = Net(rng, np.uint8)
        source = net.input((1, 7, 7, 20))
        yield finished(f"uint8 pools {kernel} {padding}", net, [net.pool(op, source, kernel, stride, padding) for op in ("avgpool", "maxpool")])
    net = Net(rng, np.uint8)
    source = net.input((1, 8, 8, 16), 0.03)
    yield finished("uint8 average of relu6", net, net.pool("avgpool", net.conv(source, 16, activation="relu6"), (8, 8), (8, 8)))
    net = Net(rng, np.uint8)
    sources = [net.input((1, 6, 5, c)) for c in (3, 4, 9)]
    yield finished("uint8 concatenation of scales", net, net.add("concatenation", sources, net.result((1, 6, 5, 16)), axis=3, activation="none"))
    for options in ({}, {"alignCorners": True}, {"halfPixelCenters": True}):
        for op in ("resize_bilinear", "resize_nearest"):
            net = Net(rng, np.uint8)
            source = net.input((1, 5, 7, 3))
            yield finished(f"uint8 {op} {options}", net, net.add(op, [source, net.constant([13, 10])], net.like(source, (1, 13, 10, 3)), **options))
    net = Net(rng, np.uint8)
    source = net.input((12, 20))
    yield finished("uint8 rows", net, [
        net.add("l2_normalization", [source], net.result((12, 20), 1 / 128, 128), activation="none"),
        net.add("softmax", [source], net.result((12, 20), 1 / 256, 0), beta=1.0),
        net.add("logistic", [source], net.result((12, 20), 1 / 256, 0)),
        net.add("relu6", [source], net.result((12, 20))),
    ])  # fmt: skip
    net = Net(rng, np.uint8)
    a, b = net.input((1, 4, 4, 6)), net.input((1, 4, 4, 6))
    yield finished("uint8 arithmetic", net, [net.add(op, [a, b], net.result((1, 4, 4, 6)), activation="none") for op in ("add", "sub", "mul")])
    net = Net(rng, np.uint8)
    source = net.input((1, 4, 5, 6))
    operands, scale = net.weights(source, (3, 3, 3, 6), 0, 90, False)
    operands = [net.constant((1, 8, 10, 3)), operands[1], source, operands[2]]
    yield finished("uint8 transposed conv", net, net.add("transpose_conv", operands, net.result((1, 8, 10, 3), scale), padding=SAME, strideH=2, strideW=2))
    net = Net(rng, np.uint8)
    x = net.conv(net.input((1, 16, 16, 3)), 8, stride=(2, 2), activation="relu6")
    for filters in (16, 24):
        x = net.conv(net.conv(x, 0, depthwise=True, activation="relu6"), filters, (1, 1), activation="relu6")
    x = net.conv(net.pool("avgpool", x, (8, 8), (8, 8)), 11, (1, 1))
    yield finished("uint8 mobilenet", net, net.add("softmax", [net.reshape(x, (1, 11))], net.result((1, 11), 1 / 256, 0), beta=0.05))
    net = Net(rng)
    yield finished("int8 dense with a zero point", net, net.dense(net.input((1, 50)), 13, zero=-17))


def of_images(rng):
    net = Net(rng)
    yield finished("3 images", net, net.conv(net.input((3, 6, 6, 4)), 5))
    net = Net(rng)
    x = net.input((4, 8, 8, 4))
    y = net.conv(x, 4, activation="relu")
    z = net.add("add", [y, x], net.result((4, 8, 8, 4)), activation="none")
    z = net.pool("maxpool", net.conv(z, 0, depthwise=True, stride=(2, 2)), (2, 2), (2, 2))
    bias = net.constant(net.values((4,)), [0.05], [3], np.int8)
    z = net.add("add", [z, bias], net.result((4, 2, 2, 4)), activation="none")
    whole = net.constant(net.values((1, 2, 2, 4)), [0.05], [3], np.int8)
    z = net.add("mul", [z, whole], net.result((4, 2, 2, 4)), activation="none")
    yield finished("4 images", net, [net.dense(net.reshape(z, (4, 16)), 7), y])
    net = Net(rng, np.uint8)
    x = net.conv(net.input((2, 6, 6, 8)), 12, (1, 1), activation="relu6")
    yield finished("2 images of uint8", net, net.pool("avgpool", x, (6, 6), (6, 6)))
    net = Net(rng)
    x = net.conv(net.input((3, 4, 4, 4)), 6)
    yield finished("3 images that become one", net, net.reshape(net.add("reduce_max", [x, net.constant([0])], net.like(x, (1, 4, 4, 6)), keepDims=True), (96,)))
    net = Net(rng)
    a, b = net.input((1, 2, 3, 4, 5)), net.input((1, 2, 3, 4, 5))
    yield finished("rank 5", net, net.add("add", [a, b], net.result((1, 2, 3, 4, 5)), activation="none"))
    net = Net(rng)
    x = net.input((1, 2, 3, 4, 5))
    y = net.add("strided_slice", [x, net.constant([0, 0, 1, 0, 0]), net.constant([1, 2, 3, 4, 5]), net.constant([1, 1, 1, 1, 1])], net.like(x, (1, 2, 2, 4, 5)))
    yield finished("part of rank 5", net, net.add("relu", [y], net.result((1, 2, 2, 4, 5))))


def of_weights(rng):
    for shape, filters, groups in (((1, 9, 8, 6), 6, 6), ((1, 6, 6, 4), 8, 4), ((1, 6, 6, 8), 12, 4), ((1, 5, 5, 32), 32, 2), ((1, 7, 6, 64), 96, 8), ((1, 5, 5, 20), 60, 5)):
        net = Net(rng)
        yield finished(f"{groups} groups of {shape[3]} to {filters}", net, net.conv(net.input(shape), filters, groups=groups))
    net = Net(rng)
    source, w = net.input((2, 16)), net.rng.integers(-8, 8, (9, 16)).astype(np.int8)
    scales = [net.scale(0.01, 0.1) for _ in range(9)]
    index = net.constant(w, scales, [0] * 9, np.int8)
    net.tensors[index].type = schema.TensorType.INT4
    flat = w.ravel() & 15
    net.buffers[net.tensors[index].buffer].data = (flat[0::2] | flat[1::2] << 4).astype(np.uint8)
    net.add("dense", [source, index, -1], net.result((2, 9)), activation="none")
    tflite_graph.OPS["dense"], kept = (*tflite_graph.OPS["dense"][:3], 7), tflite_graph.OPS["dense"]
    net.codes[-1].version = 7
    tflite_graph.OPS["dense"] = kept
    yield finished("int4 dense", net, net.operators[-1].outputs[0])
    net = Net(rng)
    yield finished("bias of another scale", net, net.conv(net.input((1, 6, 6, 4)), 4, bias_scale=[0.001] * 4))
    net = Net(rng)
    most = [2**31 - 1, -(2**31) + 1, -(2**31), 2147480000, 5, -5]
    source = net.input((1, 6, 6, 4), 0.05, 3)
    x = net.conv(source, 6, bias_values=most)
    net.tensors[net.operators[-1].inputs[1]].quantization.scale = [1e-9] * 6
    net.tensors[x].quantization.scale = [0.06]
    yield finished("biases near 2^31", net, net.conv(x, 3))
    net = Net(rng)
    source = net.input((1, 4, 4, 6))
    operands, scale = net.weights(source, (1, 3, 3, 6), 0, 0, True, bias_shape=(1, 1, 1, 1))
    operands = [net.constant((1, 8, 8, 1)), operands[1], source, operands[2]]
    yield finished("bias of rank 4", net, net.add("transpose_conv", operands, net.result((1, 8, 8, 1), scale), padding=SAME, strideH=2, strideW=2))
    for shapes, transposed in ((((1, 4, 5, 7), (7, 6)), False), (((3, 7), (6, 7)), True), (((2, 3, 7), (1, 7, 5)), False)):
        net = Net(rng)
        a, b = net.input(shapes[0]), net.constant(net.values(shapes[1]), [0.04], [5], np.int8)
        target = (*shapes[0][:-1], shapes[1][-2 if transposed else -1])
        yield finished(f"product with a constant {shapes}", net, net.add("batch_matmul", [a, b], net.result(target, 0.06), adjX=False, adjY=transposed))
    for kernel in (20, 17):
        net = Net(rng)
        source = net.input((1, 20, 20, 4))
        yield finished(f"average of {kernel} x {kernel}", net, net.conv(net.pool("avgpool", source, (kernel, kernel), (kernel, kernel)), 3, (1, 1)))


    for shape, slopes in (((1, 6, 5, 8), (1, 1, 8)), ((1, 5, 4, 6), (5, 4, 6))):
        net = Net(rng)
        x = net.conv(net.input(shape), shape[3])
        alpha = net.constant(net.values(slopes), 0.01, 0, np.int8)
        yield finished(f"prelu of slopes {slopes}", net, net.add("prelu", [x, alpha], net.result(shape)))


def of_moves(rng):
    def sliced(index, **masks):
        net = Net(rng)
        x = net.conv(net.input((1, 6, 6, 4)), 4)
        begin, end, stride = (net.constant(v) for v in zip(*index))
        target = np.zeros((1, 6, 6, 4))[masks.pop("key")].shape
        return finished(f"slice {index} {masks}", net, net.add("strided_slice", [x, begin, end, stride], net.like(x, target), **masks))

    yield sliced([(0, 0, 1), (1, 3, 1)], key=(Ellipsis, slice(1, 3)), ellipsisMask=1)
    yield sliced([(0, 1, 1), (0, 0, 1), (3, 0, -2)], key=(slice(0, 1), Ellipsis, slice(3, 0, -2)), ellipsisMask=2)
    yield sliced([(0, 0, 1), (0, 0, 1), (2, 5, 2)], key=(np.newaxis, slice(None), slice(2, 5, 2)), newAxisMask=1, beginMask=2, endMask=2)
    yield sliced([(0, 0, 1), (0, 0, 1), (1, 0, 1)], key=(Ellipsis, np.newaxis, 1), ellipsisMask=1, newAxisMask=2, shrinkAxisMask=4)
    net = Net(rng)
    x = net.input((1, 6, 6, 4))
    empty = net.constant(np.zeros((1, 6, 6, 0)), *net.q(x), np.int8)
    net.tensors[empty].buffer = 0
    yield finished("concatenation with nothing", net, net.conv(net.add("concatenation", [x, empty], net.like(x, (1, 6, 6, 4)), axis=3, activation="none"), 3))
    net = Net(rng)
    x = net.conv(net.input((1, 6, 6, 4)), 4)
    yield finished("an output twice", net, [x, x])
    net = Net(rng)
    x = net.conv(net.input((1, 6, 6, 4)), 4)
    yield finished("gather_nd", net, net.add("gather_nd", [x, net.constant([[0, 1, 5], [0, 3, 2]])], net.like(x, (2, 4))))
    net = Net(rng)
    x = net.conv(net.input((1, 6, 6, 8)), 8)
    yield finished("topk", net, net.add("topk_v2", [x, net.constant(np.array(3))], [net.like(x, (1, 6, 6, 3)), net.result((1, 6, 6, 3), dtype=np.int32)]))
    net = Net(rng, np.uint8)
    x = net.conv(net.input((1, 6, 6, 8)), 8)
    yield finished("topk of uint8", net, net.add("topk_v2", [x, net.constant(np.array(2))], [net.like(x, (1, 6, 6, 2)), net.result((1, 6, 6, 2), dtype=np.int32)]))


def of_types(rng):
    net = Net(rng)
    x = net.conv(net.input((1, 6, 6, 4)), 4)
    wide = net.result((1, 6, 6, 4), 0.0003, 0, np.int16)
    net.add("quantize", [x], wide)
    back = net.add("quantize", [wide], net.result((1, 6, 6, 4), 0.07))
    yield finished("quantize to int16 and back", net, [wide, back])
    net = Net(rng)
    source = net.input((1, 6, 6, 4), 0.0006, 0, dtype=np.int16)
    yield finished("input of int16", net, net.conv(net.add("quantize", [source], net.result((1, 6, 6, 4), 0.1, -5)), 3))
    for dtype in (np.int8, np.uint8):
        net = Net(rng, dtype)
        x = net.conv(net.input((1, 4, 4, 4)), 4)
        wide = net.add("cast", [x], net.result((1, 4, 4, 4), dtype=np.int32))
        outputs = [wide]
        for to in (np.float32, np.int64, bool, np.int16):
            outputs.append(net.add("cast", [wide], net.result((1, 4, 4, 4), dtype=to)))
        back = net.add("cast", [net.add("mul", [wide, net.constant(np.array(3))], net.result((1, 4, 4, 4), dtype=np.int32), activation="none")], net.like(x, (1, 4, 4, 4)))
        yield finished(f"cast {np.dtype(dtype)}", net, [*outputs, back])
    net = Net(rng)
    x = net.conv(net.input((1, 4, 4, 8)), 8)
    wide = net.add("cast", [x], net.result((1, 4, 4, 8), dtype=np.int32))
    outputs = [net.add(op, [wide, net.constant(np.array(by))], net.result((1, 4, 4, 8), dtype=np.int32)) for op, by in (("floor_div", 7), ("floor_div", -3), ("floor_mod", 5), ("pow", 3))]
    outputs.append(net.add("cumsum", [wide, net.constant(np.array(3))], net.result((1, 4, 4, 8), dtype=np.int32)))
    yield finished("integers", net, outputs)
    for op in ("sin", "cos", "floor", "ceil", "round"):
        net = Net(rng)
        real = net.add("dequantize", [net.input((1, 4, 4, 8))], net.result((1, 4, 4, 8), dtype=np.float32))
        changed = net.add(op, [real], net.result((1, 4, 4, 8), dtype=np.float32))
        # There are no reference kernels of all of them.
        yield finished(f"{op} between floats", net, net.add("quantize", [changed], net.result((1, 4, 4, 8), 0.04)), optimised=True)
    net = Net(rng)
    x = net.add("abs", [net.conv(net.input((1, 4, 4, 8)), 8)], net.result((1, 4, 4, 8), 0.05, -128))
    real = net.add("dequantize", [x], net.result((1, 4, 4, 8), dtype=np.float32))
    power = net.add("pow", [real, net.constant(np.array(1.7), dtype=np.float32)], net.result((1, 4, 4, 8), dtype=np.float32))
    yield finished("pow between floats", net, net.add("quantize", [power], net.result((1, 4, 4, 8), 0.5, -128)))
    net = Net(rng)
    x = net.reshape(net.conv(net.input((1, 1, 1, 4)), 1), ())
    yield finished("a result of rank 0", net, x)


def of_host(rng):
    """Operators of integers and truth values that no quantised kernel has."""

    def whole(name, *operands, shape=(3, 4), dtype=np.int32, high=50, **options):
        net = Net(rng)
        x = net.input((3, 4), dtype=np.int32, values=net.rng.integers(-high, high, (3, 4)))
        operands = [x if operand is None else net.constant(np.array(operand)) for operand in operands]
        return finished(f"{name} of integers", net, net.add(name, operands, net.result(shape, dtype=dtype), **options), optimised=True)

    yield whole("one_hot", None, 5, 1, 0, shape=(3, 4, 5), high=4, axis=-1)
    yield whole("add_n", None, None, [[1], [2], [3]] * np.ones((3, 4), np.int32))
    yield whole("bitwise_xor", None, [[7]])
    net = Net(rng)
    x = net.input((3, 4), dtype=np.int32, values=net.rng.integers(-9, 9, (3, 4)))
    zeros = net.add("zeros_like", [x], net.result((3, 4), dtype=np.int32))
    yield finished("zeros_like", net, net.add("sub", [zeros, x], net.result((3, 4), dtype=np.int32), activation="none"))
    yield whole("sign", None)
    net = Net(rng)
    updates = net.input((3, 2), dtype=np.int32, values=net.rng.integers(-9, 9, (3, 2)))
    operands = [net.constant([[1], [4], [0]]), updates, net.constant([6, 2])]
    yield finished("scatter_nd of integers", net, net.add("scatter_nd", operands, net.result((6, 2), dtype=np.int32)))
    for op in ("reduce_any", "reduce_all"):
        net = Net(rng)
        x = net.input((4, 3), dtype=bool, values=net.rng.random((4, 3)) < 0.6)
        yield finished(f"{op} of truth values", net, net.add(op, [x, net.constant([1])], net.result((4,), dtype=bool), keepDims=False))
    net = Net(rng)
    x = net.input((1, 5, 4))
    part = net.constant(net.values((1, 2, 4)), *net.q(x), np.int8)
    yield finished("dynamic_update_slice", net, net.add("dynamic_update_slice", [x, part, net.constant([0, 2, 0])], net.like(x, (1, 5, 4))))
    net = Net(rng)
    x = net.conv(net.input((1, 4, 4, 4)), 4)
    rank = net.add("rank", [x], net.result((), dtype=np.int32))
    numbers = net.add("range", [net.constant(np.array(0)), net.constant(np.array(4)), net.constant(np.array(1))], net.result((4,), dtype=np.int32))
    more = net.add("add", [numbers, rank], net.result((4,), dtype=np.int32), activation="none")
    yield finished("rank and range", net, [x, more])


def body(rng, scale, zero):
    net = Net(rng)
    count = net.input((), dtype=np.int32, values=0)
    image = net.input((1, 6, 6, 4), scale, zero)
    x = net.conv(image, 4)
    net.tensors[x].quantization.scale, net.tensors[x].quantization.zeroPoint = [scale], [zero]
    more = net.add("add", [count, net.constant(np.array(1))], net.result((), dtype=np.int32), activation="none")
    return net, [more, x]


def of_control(rng):
    net = Net(rng)
    x = net.conv(net.input((1, 6, 6, 4)), 4)
    scale, zero = net.q(x)
    count = net.input((), dtype=np.int32, values=1)
    condition = Net(rng)
    i = condition.input((), dtype=np.int32, values=0)
    condition.input((1, 6, 6, 4), scale, zero)
    go_on = condition.add("less", [i, condition.constant(np.array(4))], condition.result((), dtype=bool))
    outputs = net.add("while", [count, x], [net.result((), dtype=np.int32), net.like(x, (1, 6, 6, 4))], condSubgraphIndex=1, bodySubgraphIndex=2)
    yield finished("while", net, [*outputs], [(condition, [go_on]), body(rng, scale, zero)])
    for chosen in (False, True):
        net = Net(rng)
        x = net.conv(net.input((1, 6, 6, 4)), 4)
        which = net.input((1,), dtype=bool, values=[chosen])
        branches = []
        for filters in (2, 2):
            branch = Net(rng)
            branches.append((branch, [branch.conv(branch.input((1, 6, 6, 4), *net.q(x)), filters)]))
        result = net.like(x, (1, 6, 6, 2))
        for branch, outs in branches:
            branch.tensors[outs[0]].quantization.scale, branch.tensors[outs[0]].quantization.zeroPoint = [net.q(x)[0]], [net.q(x)[1]]
        net.add("if", [which, x], result, thenSubgraphIndex=1, elseSubgraphIndex=2)
        yield finished(f"if {chosen}", net, result, branches)


def of_signatures(rng):
    first, second = Net(rng), Net(rng)
    nets = [(first, [first.conv(first.input((1, 6, 6, 4)), 4)]), (second, [second.dense(second.input((1, 20)), 5)])]
    model = packed(nets, [("encode", 0, ["image"], ["code"]), ("decode", 1, ["code"], ["label"])])
    for index, (name, net, given, wanted) in enumerate((("encode", first, "image", "code"), ("decode", second, "code", "label"))):
        values = list(net.feeds.values())[0]
        result = interpreted(model).get_signature_runner(name)(**{given: values})[wanted]
        yield {
            "name": f"signature {name}", "model": text(model), "signature": name, "inputs": [text(values.tobytes())],
            "outputs": [text(result.tobytes())], "shapes": [list(result.shape)],
        }  # fmt: skip


def of_states(rng):
    """LSTMs and SVDFs, which keep their state from call to call."""
    for shape, units, time_major in (((1, 3, 6), 5, False), ((2, 1, 8), 4, False), ((4, 2, 5), 6, True)):
        net = Net(rng)
        source = net.input(shape)
        batch = shape[1] if time_major else shape[0]
        scale, zero = 0.006, int(rng.integers(-20, 20))

        def gates(depth, factor, bias):
            weights, biases = [], []
            for _ in range(4):
                of_weights = float(f32(3.0 / (factor * 5600 * math.sqrt(depth)) * rng.uniform(0.5, 2)))
                weights.append(net.constant(net.values((units, depth)), of_weights, 0, np.int8))
                if bias:
                    biases.append(net.constant(rng.integers(-20000, 20000, units), float(f32(of_weights * factor)), 0))
            return weights, biases

        of_input, biases = gates(shape[2], net.q(source)[0], True)
        of_state, _ = gates(units, scale, False)
        state = net.variable((batch, units), scale, zero, np.int8)
        cell = net.variable((batch, units), 2.0**-12, 0, np.int16)
        intermediates = [net.tensor((0,), [], [], dtype=np.float32) for _ in range(4)]
        intermediates.append(net.tensor((0,), [scale], [zero]))
        operands = [source, *of_input, *of_state, -1, -1, -1, *biases, -1, -1, state, cell, -1, -1, -1, -1]
        target = net.result((*shape[:2], units), scale, zero)
        net.add("lstm", operands, target, intermediates=intermediates, activation="tanh", cellClip=0.0, timeMajor=time_major)
        yield finished(f"lstm of {shape} in calls", net, target, calls=3)
    for batch, depth, units, rank, memory, bias in ((1, 7, 4, 2, 5, True), (2, 10, 3, 1, 8, False)):
        net = Net(rng)
        source = net.input((batch, depth))
        of_input, _ = net.q(source)
        features = net.constant(net.values((units * rank, depth)), 0.02, 0, np.int8)
        times = net.constant(rng.integers(-20000, 20000, (units * rank, memory)), 2.0**-15, 0, np.int16)
        of_state = float(f32(of_input * 0.02 * rng.uniform(0.5, 1)))
        state = net.variable((batch, units * rank * memory), of_state, 0, np.int16)
        biases = net.constant(rng.integers(-20000, 20000, units), of_state * 2.0**-15, 0) if bias else -1
        target = net.result((batch, units), of_state * 30, -9)
        net.add("svdf", [source, features, times, biases, state], target, rank=rank, fusedActivationFunction=1)
        yield finished(f"svdf of rank {rank} in calls", net, target, calls=6)
    net = Net(rng)
    source = net.input((3, 12))
    target = net.result((3, 12), 2.0**-16, -32768, np.int16)
    net.add("softmax", [source], target, beta=1.0)
    yield finished("softmax to int16", net, target)


def of_16_bits(rng):
    return tflite_wide.cases(rng, lambda rng: Net(rng, np.int16), finished)


def of_detections(rng):
    return tflite_detections.cases(lambda dtype: Net(rng, dtype), finished)


def main():
    rows = []
    for kind in (of_uint8, of_images, of_weights, of_moves, of_types, of_host, of_control, of_states, of_signatures, of_16_bits, of_detections):
        rng = np.random.default_rng([SEED, len(kind.__name__), *kind.__name__.encode()])
        rows += [json.dumps(case) for case in kind(rng)]
    OUTPUT.write_text('{"cases": [\n' + ",\n".join(rows) + "\n]}\n")
    print(f"{OUTPUT.relative_to(ROOT)}: {len(rows)} cases, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
