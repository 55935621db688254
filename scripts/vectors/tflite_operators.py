#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes tests/data/tflite/operators.json: models of one operator each, with seeded inputs and what TensorFlow Lite's reference kernels
make of them.

Usage: VENV/bin/python scripts/vectors/tflite_operators.py   (after pip install -r scripts/vectors/requirements.txt)
"""

import json
import pathlib

import numpy as np
from tflite_case import SAME, SEED, VALID, schema
from tflite_moves import concatenation, fill, gather, moved, pad, reshape, resize, split, strided_slice, transpose
from tflite_pointwise import (quotient, alike, argument, binary, compare, dequantize, function, hard_swish, integers, logical, many_softmaxes, mean, prelu, product, quantize, real_function, reduction, rescale, rows, select, softmax, squared_difference, table)
from tflite_products import conv_3d, lstm, batch_matmul, conv, dense, grouped, pool, transpose_conv
from tflite_variables import kept_constant, stream

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "tests" / "data" / "tflite" / "operators.json"


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
    for shapes in pairs:
        yield named(quotient, shapes)
    yield named(conv_3d, (1, 4, 5, 6, 3), (3, 3, 3, 3, 4))
    yield named(conv_3d, (2, 5, 6, 7, 2), (2, 3, 2, 2, 3), stride=(2, 1, 3), padding=VALID, bias=False)
    yield named(conv_3d, (1, 6, 7, 8, 2), (2, 3, 2, 2, 5), dilation=(2, 1, 3))
    yield named(lstm, (1, 12, 16), 20, own_scales=False)
    yield named(lstm, (1, 7, 5), 9)
    yield named(lstm, (3, 6, 4), 8, cell_bits=11)
    yield named(lstm, (5, 2, 6), 7, time_major=True)
    yield named(lstm, (1, 30, 3), 6, cell_bits=15, clip=0.75, steep=6.0)
    yield named(lstm, (2, 9, 4), 5, cell_bits=9, clip=10.0, steep=40.0)
    yield named(lstm, (1, 1, 4), 6, cell_bits=12)
    yield named(kept_constant, (2, 5))
    yield named(stream, 3, 4)
    for scale, zero in ((2.0578320026397705, 6), (4.4, -3), (6.2, 10), (0.31, 127)):
        yield named(table, "logistic", scale, zero)
        yield named(table, "tanh", scale, zero)
        yield named(table, "tanh", scale, zero, (0.013, -20))


def main():
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps(case) for case in cases(np.random.default_rng(SEED))]
    OUTPUT.write_text('{"cases": [\n' + ",\n".join(rows) + "\n]}\n")
    print(f"{OUTPUT.relative_to(ROOT)}: {len(rows)} cases, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
