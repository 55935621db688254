#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Builds one model, converts it to full int8 and runs it on the reference kernels of TensorFlow Lite.

Usage: convert.py --list          names of the models
       convert.py --reference NAME FOLDER   only the run, of a model that is converted
       convert.py NAME... FOLDER   writes NAME.tflite, and NAME.npz with the inputs (in0, ...) and the outputs (out0, ...)
Of several models those that fail are told and left out.
NAME is one of models.BUILDERS, or randomN for the random graph of seed N. Outputs are only there if TensorFlow Lite has a reference kernel for
each operator of the model; NAME.txt then says which it lacks.
"""

import os
import pathlib
import sys
import zlib

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="")
import flatbuffers  # noqa: E402
import keras  # noqa: E402
import models  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from ai_edge_litert import interpreter as litert  # noqa: E402
from ai_edge_litert import schema_py_generated as schema  # noqa: E402

CALIBRATION = 8  # samples that give the ranges
IMAGES = 2  # samples that are compared


def build(name):
    seed = zlib.crc32(name.encode())
    keras.utils.set_random_seed(seed)
    if name.startswith("random"):
        return models.settled(models.random_model(int(name.removeprefix("random"))), seed), seed
    return models.settled(models.BUILDERS[name](), seed), seed


def converted(net, seed):
    """The model in int8, as users convert it."""
    integer = any(integer for _, integer in models.shapes_of(net))
    converter = tf.lite.TFLiteConverter.from_keras_model(net)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    by_name = sorted(range(len(net.inputs)), key=lambda i: net.inputs[i].name)  # as the converter orders them
    converter.representative_dataset = lambda: ([sample[i] for i in by_name] for sample in models.samples(models.shapes_of(net), CALIBRATION, seed + 1))
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    if not integer:
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def quantised(values, detail):
    scale, zero = detail["quantization"]
    if detail["dtype"] != np.int8 or scale == 0:
        return values.astype(detail["dtype"])
    return np.clip(np.round(values / scale) + zero, -128, 127).astype(np.int8)


def known_versions(model):
    """The model with TILE and DEPTH_TO_SPACE in the version that the reference kernels are registered in; they only move values."""
    packed = schema.ModelT.InitFromPackedBuf(model, 0)
    known = {schema.BuiltinOperator.TILE: 2, schema.BuiltinOperator.DEPTH_TO_SPACE: 1}
    if not any(code.version > known.get(code.builtinCode, code.version) for code in packed.operatorCodes):
        return model
    for code in packed.operatorCodes:
        code.version = min(code.version, known.get(code.builtinCode, code.version))
    builder = flatbuffers.Builder(len(model))
    builder.Finish(packed.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def without_reference(model):
    """Operators of the model that the reference kernels do not have, or not right: they give -1 for every SUM of int8."""
    packed = schema.ModelT.InitFromPackedBuf(model, 0)
    missing = {schema.BuiltinOperator.ELU: "ELU", schema.BuiltinOperator.SUM: "SUM"}
    return sorted({missing[code.builtinCode] for code in packed.operatorCodes if code.builtinCode in missing})


def inner_tensors(model):
    """The int8 tensors that operators compute, by name: {name: index}. A converter's name lists what was fused; the
    first is the import's. Names that tensors share are left out."""
    subgraph = schema.ModelT.InitFromPackedBuf(model, 0).subgraphs[0]
    names = [tensor.name.decode().split(";")[0] for tensor in subgraph.tensors]
    computed = [index for op in subgraph.operators for index in op.outputs if subgraph.tensors[index].type == schema.TensorType.INT8]
    return {names[index]: index for index in computed if names.count(names[index]) == 1}


def reference(model, seed):
    """Inputs and outputs by index, and what operators compute by name, one row a sample."""
    missing = without_reference(model)
    resolver = litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if missing else litert.OpResolverType.BUILTIN_REF
    interpreter = litert.Interpreter(
        model_content=known_versions(model), num_threads=1, experimental_op_resolver_type=resolver, experimental_preserve_all_tensors=True
    )  # fmt: skip
    computed = inner_tensors(model)
    details = interpreter.get_input_details()
    shapes = [(detail["shape"], detail["dtype"] in (np.int32, np.int64)) for detail in details]
    values = {f"in{i}": [] for i in range(len(details))}
    values.update({f"out{i}": [] for i in range(len(interpreter.get_output_details()))})
    for sample in models.samples(shapes, IMAGES, seed + 2):
        interpreter.allocate_tensors()
        interpreter.reset_all_variables()
        for i, detail in enumerate(details):
            array = quantised(sample[i], detail)
            interpreter.set_tensor(detail["index"], array)
            values[f"in{i}"].append(array)
        interpreter.invoke()
        for i, detail in enumerate(interpreter.get_output_details()):
            values[f"out{i}"].append(interpreter.get_tensor(detail["index"]))
        for name, index in computed.items():
            values.setdefault(f"tensor {name}", []).append(interpreter.get_tensor(index))
    if missing:
        values = {key: rows for key, rows in values.items() if key.startswith("in")}
    return {key: np.stack(rows) for key, rows in values.items()}, missing


def write(name, folder, converted_before):
    path = folder / f"{name}.tflite"
    if not converted_before:
        path.write_bytes(converted(*build(name)))
    values, missing = reference(path.read_bytes(), zlib.crc32(name.encode()))
    (folder / f"{name}.txt").write_text(", ".join(missing))
    np.savez_compressed(folder / f"{name}.npz", **values)


def main():
    if sys.argv[1:] == ["--list"]:
        print(*models.BUILDERS)
        return
    *names, folder = [argument for argument in sys.argv[1:] if argument != "--reference"]
    for name in names:
        try:
            write(name, pathlib.Path(folder), "--reference" in sys.argv)
        except Exception as error:
            if len(names) == 1:
                raise
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
