#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes tests/data/tflite/stream.json: a model that keeps its last samples in a variable, and what TensorFlow Lite's interpreter gives for a stream.

Each run joins the kept samples and the new one, convolves all of them, and keeps the last. The outputs are those of runs one after the other,
of which the first finds the variable's first value.
Usage: tflite_stream.py, in the environment of `make conformance`.
"""

import json
import pathlib

import numpy as np
from ai_edge_litert import interpreter as tfl
from tflite_case import text
from tflite_graph import PADDINGS
from tflite_variables import Graph, model

OUTPUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "tflite" / "stream.json"
SEED, RUNS, STEPS, CHANNELS, FILTERS = 11, 6, 3, 4, 8


def build(rng):
    graph, scale, zero = Graph(), 0.05, -7
    kept_shape, all_shape = (1, STEPS, 1, CHANNELS), (1, STEPS + 1, 1, CHANNELS)
    graph.operator("call_once", [], [], initSubgraphIndex=1)
    source = graph.tensor((1, 1, 1, CHANNELS), scale, zero)
    handle = graph.handle()
    kept = graph.tensor(kept_shape, scale, zero)
    graph.operator("quantize", [graph.read(handle, kept_shape)], kept)
    joined = graph.tensor(all_shape, scale, zero)
    graph.operator("concatenation", [kept, source], joined, axis=1)
    weights = graph.tensor((FILTERS, STEPS + 1, 1, CHANNELS), 0.02, 0, rng.integers(-127, 128, (FILTERS, STEPS + 1, 1, CHANNELS)).astype(np.int8))
    bias = graph.tensor((FILTERS,), scale * 0.02, 0, rng.integers(-500, 500, FILTERS).astype(np.int32))
    result = graph.tensor((1, 1, 1, FILTERS), 0.15, 4)
    graph.operator("conv2d", [joined, weights, bias], result, padding=PADDINGS["valid"], strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1)
    last = graph.tensor(kept_shape, scale, zero)
    bounds = [graph.tensor((4,), [], [], np.asarray(v, np.int32)) for v in ((0, 1, 0, 0), (1, STEPS + 1, 1, CHANNELS), (1, 1, 1, 1))]
    graph.operator("strided_slice", [joined, *bounds], last)
    real = graph.tensor(kept_shape, [], [], dtype=np.float32)
    graph.operator("dequantize", [last], real)
    graph.operator("assign_variable", [handle, real], [])
    return model(graph, [source], [result], rng.normal(0, 2, kept_shape).astype(np.float32)), source, result


def main():
    rng = np.random.default_rng(SEED)
    file, source, result = build(rng)
    given = rng.integers(-128, 128, (RUNS, 1, 1, 1, CHANNELS)).astype(np.int8)
    interpreter = tfl.Interpreter(model_content=file, num_threads=1, experimental_op_resolver_type=tfl.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    outputs = []
    for sample in given:
        interpreter.set_tensor(source, sample)
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(result).copy())
    case = {"model": text(file), "inputs": text(given.tobytes()), "outputs": text(np.stack(outputs).tobytes()), "runs": RUNS}
    OUTPUT.write_text(json.dumps(case, indent=1) + "\n")
    print(f"{OUTPUT}: {RUNS} runs, {len(file)} bytes of model")


if __name__ == "__main__":
    main()
