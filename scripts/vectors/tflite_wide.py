# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Models with activations of 16 bits and weights of 8, for tflite_kinds.py: an operator each, and a network."""

import numpy as np
import tflite_graph
from tflite_case import OP, SAME, VALID, schema

f32 = np.float32
VERSIONS = {  # in which the kernels take 16 bits
    "conv2d": 6, "depthwise": 3, "dense": 5, "transpose_conv": 3, "batch_matmul": 2, "add": 2, "sub": 2, "mul": 2, "maximum": 2,
    "minimum": 2, "avgpool": 2, "maxpool": 2, "mean": 2, "sum": 2, "reduce_max": 2, "softmax": 2, "logistic": 2, "tanh": 2, "relu": 2,
    "relu6": 2, "leaky_relu": 2, "gelu": 2, "exp": 2, "log": 2, "abs": 2, "rsqrt": 2, "resize_bilinear": 3, "concatenation": 2, "pad": 2,
    "transpose": 2, "strided_slice": 2, "split": 2, "pack": 2, "mirror_pad": 2, "gather": 2, "quantize": 2, "reshape": 1,
}  # fmt: skip
tflite_graph.OPS["pack"] = (OP.PACK, schema.BuiltinOptions.PackOptions, schema.PackOptionsT, 3)


class Wide:
    """A graph of values of 16 bits; `net` is a tflite_kinds.Net of int16."""

    def __init__(self, net):
        self.net, self.rng = net, net.rng

    def input(self, shape, scale=None, values=None):
        return self.net.input(shape, scale or self.net.scale(0.0001, 0.001), 0, values)

    def result(self, shape, scale=None):
        return self.net.result(shape, scale or self.net.scale(0.0001, 0.001), 0)

    def like(self, source, shape):
        return self.net.result(shape, *self.net.q(source))

    def add(self, op, inputs, output, **options):
        kept = tflite_graph.OPS[op]
        tflite_graph.OPS[op] = (*kept[:3], VERSIONS[op])
        self.net.add(op, inputs, output, **options)
        tflite_graph.OPS[op] = kept
        return output

    def weighted(self, source, shape, axis, depth, per_channel=True, bias=True):
        """Weights and bias, and a scale for the result."""
        count = shape[axis]
        scales = [self.net.scale(0.002, 0.02) for _ in range(count if per_channel else 1)]
        weights = self.net.constant(self.net.values(shape, np.int8), scales, [0] * len(scales), np.int8, axis if per_channel else 0)
        spread = self.net.q(source)[0] * float(np.mean(scales)) * 75 * 19000 * depth**0.5
        operands = [source, weights]
        if bias:
            of_bias = [float(f32(self.net.q(source)[0]) * f32(s)) for s in scales]
            values = self.rng.integers(-(1 << 27), 1 << 27, count)
            operands.append(self.net.constant(values, of_bias, [0] * len(of_bias), np.int64))
        return operands, float(f32(spread / 11000))

    def conv(self, source, filters, kernel=(3, 3), stride=(1, 1), dilation=(1, 1), padding=SAME, groups=1, depthwise=False, activation="none", **more):
        n, h, w, c = self.net.shape(source)
        shape = (1, *kernel, filters) if depthwise else (filters, *kernel, c // groups)
        operands, scale = self.weighted(source, shape, 3 if depthwise else 0, kernel[0] * kernel[1] * (1 if depthwise else c // groups), **more)
        extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
        sizes = [-(-d // s) if padding == SAME else (d - k) // s + 1 for d, k, s in zip((h, w), extent, stride)]
        options = {"depthMultiplier": filters // c} if depthwise else {}
        return self.add("depthwise" if depthwise else "conv2d", operands, self.result((n, *sizes, filters), scale), padding=padding,
                        strideH=stride[0], strideW=stride[1], dilationHFactor=dilation[0], dilationWFactor=dilation[1], activation=activation,
                        **options)  # fmt: skip

    def dense(self, source, outputs, keep=False, **more):
        shape = self.net.shape(source)
        operands, scale = self.weighted(source, (outputs, shape[-1]), 0, shape[-1], **more)
        target = self.result((*shape[:-1], outputs) if keep else (int(np.prod(shape[:-1])), outputs), scale)
        return self.add("dense", operands if len(operands) == 3 else [*operands, -1], target, activation="none", keepNumDims=keep)

    def pool(self, op, source, kernel, stride, padding=VALID, activation="none"):
        n, h, w, c = self.net.shape(source)
        sizes = [-(-d // s) if padding == SAME else (d - k) // s + 1 for d, k, s in zip((h, w), kernel, stride)]
        return self.add(op, [source], self.like(source, (n, *sizes, c)), padding=padding, filterHeight=kernel[0], filterWidth=kernel[1],
                        strideH=stride[0], strideW=stride[1], activation=activation)  # fmt: skip


def cases(rng, make, finished):
    def case(name, build, optimised=False):
        wide = Wide(make(rng))
        outputs = build(wide)
        return finished(f"16 bits {name}", wide.net, outputs, optimised=optimised)

    yield case("conv", lambda b: b.conv(b.input((1, 8, 7, 5)), 6, activation="relu"))
    yield case("conv of stride 2", lambda b: b.conv(b.input((1, 9, 8, 4)), 7, (3, 2), (2, 1), padding=VALID, activation="relu6", per_channel=False))
    yield case("conv of dilation 2", lambda b: b.conv(b.input((1, 9, 9, 3)), 4, dilation=(2, 2)))
    yield case("conv of groups", lambda b: b.conv(b.input((1, 6, 6, 6)), 9, groups=3))
    yield case("conv of two images", lambda b: b.conv(b.input((2, 5, 5, 4)), 6, (1, 1)))
    yield case("depthwise", lambda b: b.conv(b.input((1, 9, 8, 6)), 6, stride=(2, 2), depthwise=True))
    yield case("depthwise of multiplier 2", lambda b: b.conv(b.input((1, 6, 6, 5)), 10, depthwise=True, activation="relu_n1_to_1"))
    yield case("dense", lambda b: b.dense(b.input((3, 70)), 12))
    yield case("dense of one scale", lambda b: b.dense(b.input((2, 4, 33)), 9, keep=True, per_channel=False))
    yield case("dense without bias", lambda b: b.dense(b.input((1, 300)), 40, bias=False))

    def transposed(b):
        source = b.input((1, 4, 5, 6))
        operands, scale = b.weighted(source, (5, 3, 3, 6), 0, 24)
        return b.add("transpose_conv", [b.net.constant((1, 8, 10, 5)), operands[1], source, operands[2]], b.result((1, 8, 10, 5), scale),
                     padding=SAME, strideH=2, strideW=2)  # fmt: skip

    yield case("transposed conv", transposed)
    for shapes, x, y in ((((2, 5, 8), (2, 8, 6)), False, False), (((3, 1, 5, 8), (4, 7, 8)), False, True), (((6, 5), (6, 4)), True, False)):

        def product(b, shapes=shapes, x=x, y=y):
            left, right = (b.input(shape) for shape in shapes)
            a, c = (np.zeros(shape).swapaxes(-1, -2) if turn else np.zeros(shape) for shape, turn in zip(shapes, (x, y)))
            return b.add("batch_matmul", [left, right], b.result((a @ c).shape, b.net.q(left)[0] * b.net.q(right)[0] * 40000), adjX=x, adjY=y)

        yield case(f"product {shapes}", product)
    for op in ("add", "sub", "mul"):
        for shapes in (((1, 10, 20, 8), (1, 10, 20, 8)), ((2, 3, 4, 7), (7,))):

            def binary(b, op=op, shapes=shapes):
                left, right = b.input(shapes[0]), b.input(shapes[1])
                scale = b.net.q(left)[0] * b.net.q(right)[0] * 20000 if op == "mul" else (b.net.q(left)[0] + b.net.q(right)[0]) * 0.8
                more = {} if op == "mul" else {"potScaleInt16": False}
                return b.add(op, [left, right], b.result(shapes[0], scale), activation="relu" if len(shapes[1]) == 1 else "none", **more)

            yield case(f"{op} {shapes[1]}", binary)

    def extremes(b):
        left = b.input((1, 4, 5, 6))
        right = b.input((1, 4, 5, 6), b.net.q(left)[0])
        return [b.add(op, [left, right], b.like(left, (1, 4, 5, 6))) for op in ("maximum", "minimum")]

    yield case("extremes", extremes)
    for op in ("avgpool", "maxpool"):
        yield case(f"{op} SAME", lambda b, op=op: b.pool(op, b.input((1, 7, 8, 5)), (3, 3), (2, 2), SAME, "relu"))
        yield case(f"{op} VALID", lambda b, op=op: b.pool(op, b.input((2, 6, 6, 3)), (6, 5), (1, 1)))

    def reduced(b, op, factor, keep):
        source = b.input((1, 7, 6, 9))
        shape = (1, 1, 1, 9) if keep else (1, 9)
        target = b.like(source, shape) if factor is None else b.result(shape, b.net.q(source)[0] * factor)
        return b.add(op, [source, b.net.constant([1, 2])], target, keepDims=keep)

    yield case("mean", lambda b: reduced(b, "mean", 0.3, False))
    yield case("mean of one scale", lambda b: reduced(b, "mean", None, True))
    yield case("sum", lambda b: reduced(b, "sum", 9, False), optimised=True)  # the reference kernel of SUM gives -1
    yield case("maximum over an image", lambda b: reduced(b, "reduce_max", None, True))
    for op in ("logistic", "tanh"):
        for scale in (0.00031, 2.0**-12, 0.0019):
            yield case(f"{op} of scale {scale}", lambda b, op=op, scale=scale: b.add(op, [b.input((5, 200), scale)], b.result((5, 200), 2.0**-15)))
    for classes, beta in ((10, 1.0), (1000, 1.0), (7, 0.3)):
        yield case(f"softmax of {classes}", lambda b, classes=classes, beta=beta: b.add(
            "softmax", [b.input((4, classes), 0.0003)], b.result((4, classes), 2.0**-15), beta=beta))  # fmt: skip
    for op, factor, options in (("relu", 0.5, {}), ("relu6", 0.5, {}), ("leaky_relu", 0.9, {"alpha": 0.13}), ("abs", 1.0, {}), ("abs", 1.7, {})):
        yield case(f"{op} by {factor}", lambda b, op=op, factor=factor, options=options: b.add(
            op, [source := b.input((1, 5, 200))], b.result((1, 5, 200), b.net.q(source)[0] * factor), **options))  # fmt: skip
    for op, scale, result, options in (("gelu", 0.0003, 0.0003, {"approximate": False}), ("gelu", 0.0002, 0.0002, {"approximate": True}),
                                       ("exp", 0.0001, 0.001, {})):  # fmt: skip
        yield case(f"{op} {options}", lambda b, op=op, scale=scale, result=result, options=options: b.add(
            op, [b.input((1, 5, 200), scale)], b.result((1, 5, 200), result), **options))  # fmt: skip
    for op, scale, low in (("log", 0.0004, -32768), ("rsqrt", 0.0003, 0)):
        yield case(op, lambda b, op=op, scale=scale, low=low: b.add(
            op, [b.input((1, 5, 200), 0.0005, b.rng.integers(low, 32768, (1, 5, 200)))], b.result((1, 5, 200), scale)))  # fmt: skip
    for options in ({}, {"alignCorners": True}, {"halfPixelCenters": True}):

        def resized(b, options=options):
            source = b.input((1, 5, 7, 3))
            return b.add("resize_bilinear", [source, b.net.constant([13, 10])], b.like(source, (1, 13, 10, 3)), **options)

        yield case(f"resize_bilinear {options}", resized)

    def moves(b):
        x = b.input((1, 4, 6, 4))
        like, constant = b.like, b.net.constant
        halves = b.add("split", [constant(np.array(3)), x], [like(x, (1, 4, 6, 2)), like(x, (1, 4, 6, 2))], numSplits=2)
        return [
            b.add("concatenation", [halves[1], x], like(x, (1, 4, 6, 6)), axis=3, activation="none"),
            b.add("pad", [x, constant([[0, 0], [1, 2], [0, 1], [0, 0]])], like(x, (1, 7, 7, 4))),
            b.add("mirror_pad", [x, constant([[0, 0], [1, 1], [2, 1], [0, 0]])], like(x, (1, 6, 9, 4)), mode=0),
            b.add("transpose", [x, constant([0, 3, 1, 2])], like(x, (1, 4, 4, 6))),
            b.add("strided_slice", [x, constant([0, 3, 1, 0]), constant([1, 0, 6, 4]), constant([1, -1, 2, 1])], like(x, (1, 3, 3, 4))),
            b.add("pack", [halves[0], halves[1]], like(x, (1, 2, 4, 6, 2)), axis=1, valuesCount=2),
            b.add("gather", [x, constant([2, 0, 3])], like(x, (1, 4, 6, 3)), axis=3, batchDims=0),
            b.add("quantize", [x], b.result((1, 4, 6, 4), b.net.q(x)[0] * 1.3)),
        ]

    yield case("moves", moves)

    def network(b):
        x = b.conv(b.input((1, 12, 12, 3)), 8, stride=(2, 2), activation="relu")
        y = b.conv(b.conv(x, 8, depthwise=True, activation="relu6"), 8, (1, 1))
        x = b.add("add", [x, y], b.result((1, 6, 6, 8), b.net.q(x)[0] + b.net.q(y)[0]), activation="none", potScaleInt16=False)
        x = b.add("mean", [x, b.net.constant([1, 2])], b.like(x, (1, 8)), keepDims=False)
        x = b.dense(x, 5)
        return b.add("softmax", [x], b.result((1, 5), 2.0**-15), beta=1.0)

    yield case("network", network)
