#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes tests/data/tflite/detections.json: calls of TFLite_Detection_PostProcess with random options, of which the file has the seeds of
the inputs and a CRC-32 of what TensorFlow Lite's kernel makes of them. Also the SSD models of tflite_kinds.py.

The kernel leaves what it does not detect as memory has it; these elements count as 0. It takes no int8: a call of int8 has the results of
the same numbers as uint8.

Usage: VENV/bin/python scripts/vectors/tflite_detections.py [--calls N]   (after pip install -r scripts/vectors/requirements.txt)
"""

import argparse
import functools
import json
import pathlib
import zlib

import numpy as np
import tflite_graph
import tflite_inputs
from flatbuffers import flexbuffers
from tflite_case import OP

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "tests" / "data" / "tflite" / "detections.json"
SEED = 20261130
schema = tflite_graph.schema
f32 = np.float32
tflite_graph.TYPES[np.dtype(np.uint8)] = schema.TensorType.UINT8


def flexbuffer(options):
    builder = flexbuffers.Builder()
    with builder.Map():
        for name, value in options.items():
            builder.Key(name)
            (builder.Bool if isinstance(value, bool) else builder.Int if isinstance(value, int) else builder.Float)(value)
    return bytes(builder.Finish())


def add(graph, operands, options):
    """The operator; the indices of its four results, whose shapes follow from the options."""
    rows = options["max_detections"] * options["max_classes_per_detection"]
    results = [graph.tensor(shape, [], [], dtype=np.float32) for shape in ((1, rows, 4), (1, rows), (1, rows), (1,))]
    code, operator = schema.OperatorCodeT(), schema.OperatorT()
    code.builtinCode = code.deprecatedBuiltinCode = OP.CUSTOM
    code.customCode, code.version = "TFLite_Detection_PostProcess", 1
    graph.codes.append(code)
    operator.opcodeIndex, operator.inputs, operator.outputs = len(graph.codes) - 1, operands, results
    operator.customOptions = np.frombuffer(flexbuffer(options), np.uint8)
    graph.operators.append(operator)
    for index, name in zip(results, ("", ":1", ":2", ":3")):
        graph.tensors[index].name = f"TFLite_Detection_PostProcess{name}"
    return results


def cleared(options, classes, results):
    """The results with zeros where the kernel writes nothing."""
    most, each = options["max_detections"], options["max_classes_per_detection"]
    if options.get("use_regular_nms", False):
        written = np.arange(most * each) < most
    else:
        written = (np.arange(most)[:, None] < results[3][0]) & (np.arange(each) < classes)
    written = written.reshape(1, -1)
    return [np.where(written[..., None], results[0], f32(0)), np.where(written, results[1], f32(0)), np.where(written, results[2], f32(0)), results[3]]


def draw(rng):
    """A call: options and what the operands are made from."""
    number = lambda low, high: int(rng.integers(low, high + 1))
    regular = bool(rng.integers(0, 2))
    options = {"max_detections": number(1, 14), "max_classes_per_detection": int(rng.choice([1, 1, 2, 3, 6]))}
    if rng.random() < 0.6:
        options["detections_per_class"] = number(1, 12)
    if regular or rng.random() < 0.5:
        options["use_regular_nms"] = regular
    options |= {
        "nms_score_threshold": float(rng.choice([-1e-8, 1e-8, 1e-8, 0.25, 0.5])),
        "nms_iou_threshold": float(rng.choice([0.1, 0.3, 0.5, 0.6, 1.0])),
        "num_classes": number(1, 24),
    }
    free = rng.random() < 0.3
    options |= {name: float(f32(rng.uniform(0.5, 12))) if free else given for name, given in (("y_scale", 10.0), ("x_scale", 10.0), ("h_scale", 5.0), ("w_scale", 5.0))}
    boxes, scores = rng.choice(["u8", "i8", "f32"]), rng.choice(["u8", "i8", "f32"])
    return {
        "options": options,
        "anchors": number(1, 90),
        "code": int(rng.choice([4, 4, 4, 7])),
        "background": number(0, 1),
        "boxes": str(boxes),
        "scores": str(scores),
        "scales": [float(f32(rng.uniform(0.01, 0.1))), 1 / 256, float(f32(rng.uniform(0.003, 0.006)))],
        "zeros": [number(100, 156), number(0, 5), 0],  # of uint8
        "same_anchors": bool(rng.random() < 0.3),
        "seed": number(0, 2**32),
    }


def operand(call, which, shape):
    """Boxes, scores or anchors as uint8 or as floats."""
    kind = call["scores" if which == 1 else "boxes"]
    size = int(np.prod(shape))
    first = call["seed"] + 2 * which
    high, low = (tflite_inputs.values(first + k, size).astype(np.int64).reshape(shape) for k in (0, 1))
    if which == 2 and call["same_anchors"]:
        high[:], low[:] = high[0], low[0]
    if kind != "f32":
        return (high + 128).astype(np.uint8)
    number = high + low / 256
    if which == 0:
        return (number / 16).astype(f32)
    if which == 1:
        return ((number + 129) / 256).astype(f32)
    return np.concatenate([(number[:, :2] + 128) / 256, (number[:, 2:] + 129) / 512], 1).astype(f32)


def reference(call):
    options = call["options"]
    shapes = ((1, call["anchors"], call["code"]), (1, call["anchors"], options["num_classes"] + call["background"]), (call["anchors"], 4))
    values = [operand(call, which, shape) for which, shape in enumerate(shapes)]
    graph = tflite_graph.Graph()
    operands = []
    for which, value in enumerate(values):
        quantised = value.dtype == np.uint8
        operands.append(graph.tensor(value.shape, [call["scales"][which]] if quantised else [], [call["zeros"][which]] if quantised else [], value if which == 2 else None, value.dtype))
    results = add(graph, operands, options)
    model = graph.model(operands[:2], results)
    got = tflite_graph.run(model, dict(zip(operands[:2], values)), results)
    got = cleared(options, options["num_classes"], got)
    if any(np.isnan(v).any() for v in got):
        raise ValueError("a result is not a number")
    return got


def with_scale(net, result, scale):
    """Gives the result of the last convolution this scale, by the scales of its weights."""
    source, weights, bias = (net.tensors[index].quantization for index in net.operators[-1].inputs)
    target = net.tensors[result].quantization
    factor = scale / target.scale[0]
    weights.scale = [float(f32(s * factor)) for s in weights.scale]
    bias.scale = [float(f32(source.scale[0]) * f32(s)) for s in weights.scale]
    target.scale, target.zeroPoint = [float(f32(scale))], [net.middle - 3]


def ssd(net, of_floats):
    """An SSD of two feature maps: boxes and scores of 3 anchors at each place; `of_floats`: dequantised, as converters of int8 write it."""
    classes, places = 5, (8, 4)
    conv = functools.partial(net.conv, zero=net.middle)  # weights around zero
    biases = lambda count: net.rng.integers(-300, 300, count)
    x = conv(net.input((1, 32, 32, 3)), 8, stride=(2, 2), activation="relu6", bias_values=biases(8))
    maps = []
    for before, filters in ((8, 12), (12, 16)):
        x = conv(x, 0, depthwise=True, stride=(2, 2), bias_values=biases(before))
        x = conv(x, filters, (1, 1), bias_values=biases(filters))
        maps.append(x)
    operands = []
    for width, scale in ((4, 0.06), (classes + 1, 0.05)):
        parts = []
        for source, side in zip(maps, places):
            head = conv(source, 3 * width, (1, 1), bias_values=biases(3 * width))
            with_scale(net, head, 5 * scale)
            parts.append(net.reshape(head, (1, 3 * side * side, width)))
        operands.append(net.add("concatenation", parts, net.like(parts[0], (1, 3 * sum(s * s for s in places), width)), axis=1, activation="none"))
    operands[1] = net.add("logistic", [operands[1]], net.result(net.shape(operands[1]), 1 / 256, net.middle - 128))
    anchors = np.concatenate([
        [(y + 0.5) / side, (x + 0.5) / side, size, size * ratio]
        for side in places for y in range(side) for x in range(side) for size, ratio in ((1 / side, 1), (1.4 / side, 0.6), (1.6 / side, 1.3))
    ]).reshape(-1, 4).astype(f32)  # fmt: skip
    if of_floats:
        operands = [net.add("dequantize", [q], net.tensor(net.shape(q), [], [], dtype=f32)) for q in operands]
        operands.append(net.constant(anchors, dtype=f32))
    else:
        scale = float(f32(anchors.max() / 250))
        operands.append(net.constant(np.clip(np.rint(anchors / scale) + 2, 0, 255), scale, 2, np.uint8))
    return operands, classes


def cases(net_of, finished):
    """Whole models."""
    common = {"nms_score_threshold": 0.3, "nms_iou_threshold": 0.6, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
    for dtype, of_floats, regular, most, each in ((np.uint8, False, False, 10, 1), (np.uint8, False, True, 20, 1), (np.int8, True, False, 8, 3), (np.int8, True, True, 12, 1)):
        net = net_of(dtype)
        operands, classes = ssd(net, of_floats)
        options = {"max_detections": most, "max_classes_per_detection": each, "detections_per_class": 6, "use_regular_nms": regular, "num_classes": classes, **common}
        results = add(net, operands, options)
        name = f"{np.dtype(dtype).name} ssd {'regular' if regular else 'fast'}"
        yield finished(name, net, results, adjust=functools.partial(cleared, options, classes))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=400, help="how many (default: %(default)s)")
    args = parser.parse_args()
    rng = np.random.default_rng(SEED)
    rows = []
    for _ in range(args.calls):
        call = draw(rng)
        results = reference(call)
        digest = zlib.crc32(b"".join(value.tobytes() for value in results))
        rows.append(json.dumps({**call, "found": int(results[3][0]), "crc32": f"{digest:08x}"}))
    OUTPUT.write_text('{"calls": [\n' + ",\n".join(rows) + "\n]}\n")
    print(f"{OUTPUT.relative_to(ROOT)}: {len(rows)} calls, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
