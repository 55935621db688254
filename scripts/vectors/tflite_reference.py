#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Runs .tflite models on TensorFlow Lite's reference kernels and writes tests/data/tflite/NAME.json: for each seeded input a CRC-32 of
the outputs (and the values, when they are few), and for each operator one of its results over all inputs.

Usage: VENV/bin/python scripts/vectors/tflite_reference.py MODEL.tflite ...   (after pip install -r scripts/vectors/requirements.txt)
"""

import argparse
import json
import pathlib
import zlib

import tflite_graph
import tflite_inputs
from ai_edge_litert import __version__ as litert_version

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "data" / "tflite"
SEED = 20260101
MAX_VALUES = 16  # more outputs than these are digested only


def operator_results(model):
    """The index of each operator's result, in order."""
    graph = tflite_graph.schema.ModelT.InitFromPackedBuf(model, 0).subgraphs[0]
    return [int(operator.outputs[0]) for operator in graph.operators]


def reference(path, count):
    model = path.read_bytes()
    interpreter = tflite_graph.tfl.Interpreter(
        model_content=model, num_threads=1, experimental_op_resolver_type=tflite_graph.tfl.OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )
    interpreter.allocate_tensors()
    (source,) = interpreter.get_input_details()
    (target,) = interpreter.get_output_details()
    results = operator_results(model)
    digests = [0] * len(results)
    rows = []
    for i in range(count):
        size = int(source["shape"].prod())
        interpreter.set_tensor(source["index"], tflite_inputs.values(SEED + i, size).reshape(source["shape"]))
        interpreter.invoke()
        for k, index in enumerate(results):
            digests[k] = zlib.crc32(interpreter.get_tensor(index).tobytes(), digests[k])
        output = interpreter.get_tensor(target["index"])
        row = {"seed": SEED + i, "crc32": f"{zlib.crc32(output.tobytes()):08x}"}
        if output.size <= MAX_VALUES:
            row["values"] = [int(v) for v in output.ravel()]
        rows.append(row)
    distinct = len({row["crc32"] for row in rows})
    print(f"{path.name}: {count} inputs, {distinct} different outputs, {len(results)} operators")
    return {
        "model": path.name, "model_crc32": f"{zlib.crc32(model):08x}", "runtime": f"ai-edge-litert {litert_version}, BUILTIN_REF",
        "input": [int(d) for d in source["shape"]], "output": [int(d) for d in target["shape"]],
        "operators_crc32": [f"{d:08x}" for d in digests], "outputs": rows,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--inputs", type=int, default=64, help="inputs for each model (default: %(default)s)")
    args = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in args.models:
        result = reference(path, args.inputs)
        rows = ",\n".join(f"  {json.dumps(row)}" for row in result.pop("outputs"))
        fields = "".join(f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in result.items())
        (FOLDER / f"{path.stem}.json").write_text(f'{{\n{fields} "outputs": [\n{rows}\n ]\n}}\n')


if __name__ == "__main__":
    main()
