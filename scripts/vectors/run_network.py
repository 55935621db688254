#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Runs models/mnist_cnn.safetensors on TensorFlow Lite's reference kernels and writes tests/data/numerics/tflite_network.json:
a CRC-32 of each layer's int8 outputs over all test digits in order.

Usage: VENV/bin/python scripts/vectors/run_network.py

Dense layers run as convolutions over the whole input, since the runtime's fully connected kernel rounds once. The runtime derives
multipliers itself; weight scales, which the model file does not keep, are taken back from its multipliers.
"""

import gzip
import json
import pathlib
import struct
import zlib

import numpy as np
import tflite_graph

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "models" / "mnist_cnn.safetensors"
DIGITS = ROOT / "tests" / "data" / "mnist" / "test-images-idx3-ubyte.gz"
OUTPUT = ROOT / "tests" / "data" / "numerics" / "tflite_network.json"
BATCH = 100
DTYPES = {"I8": np.int8, "I32": np.int32}


def read_model():
    data = MODEL.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    network = json.loads(header.pop("__metadata__")["systole.network"])
    arrays = {}
    for name, entry in header.items():
        begin, end = (8 + length + o for o in entry["data_offsets"])
        arrays[name] = np.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return network, arrays


def float_ranges(values):
    """The float32 at most 2 steps around each value, nearest first."""
    steps = [values.astype(np.float32)]
    for direction in (np.inf, -np.inf):
        step = steps[0]
        for _ in range(2):
            step = np.nextafter(step, np.float32(direction))
            steps.append(step)
    return steps


def weight_scales(layer, tensors, arrays):
    """float32 scales that give exactly the stored multipliers, or the closest there are."""
    source, target = (float(np.float32(tensors[t]["scale"])) for t in (layer["inputs"][0], layer["output"]))
    stored = arrays[f"{layer['name']}.multiplier"].astype(np.float64)
    factor = np.ldexp(stored, arrays[f"{layer['name']}.shift"].astype(int) - 31)
    best, error = None, None
    for candidate in float_ranges(factor * target / source):
        back, _ = np.frexp(candidate.astype(np.float64) * source / target)
        miss = np.abs(np.round(back * 2**31) - stored)
        if best is None:
            best, error = candidate, miss
        best, error = np.where(miss < error, candidate, best), np.minimum(miss, error)
    if error.max() != 0:
        raise ValueError(f"{layer['name']}: no scale gives the stored multiplier back")
    return best


def build(network, arrays):
    tensors = {t["name"]: t for t in network["tensors"]}
    g = tflite_graph.Graph()
    index = {}

    def activation(name):
        t = tensors[name]
        index[name] = g.tensor((BATCH, *t["shape"]), t["scale"], t["zero_point"])

    activation(network["input"])
    for layer in network["layers"]:
        name, dense = layer["name"], layer["op"] == "dense"
        source, target = (tensors[t] for t in (layer["inputs"][0], layer["output"]))
        activation(target["name"])
        weights = arrays[f"{name}.weights"]
        if dense:
            weights = weights.reshape(len(weights), *source["shape"])
        strides = [1, 1] if dense else layer["stride"]
        relu = layer["clamp"][0] == target["zero_point"]
        g.weighted(
            "conv2d", index[source["name"]], source["scale"], weights, weight_scales(layer, tensors, arrays),
            arrays[f"{name}.bias"], index[target["name"]],
            fusedActivationFunction=tflite_graph.ACTIVATIONS["relu" if relu else "none"],
            padding=tflite_graph.PADDINGS["valid" if dense else "same"],
            strideH=strides[0], strideW=strides[1], dilationHFactor=1, dilationWFactor=1,
        )
    outputs = [index[layer["output"]] for layer in network["layers"]]
    return g.model([index[network["input"]]], [outputs[-1]]), index[network["input"]], outputs


def main():
    network, arrays = read_model()
    images = np.frombuffer(gzip.decompress(DIGITS.read_bytes()), np.uint8, offset=16).reshape(-1, 28, 28, 1)
    images = (images.astype(np.int16) - 128).astype(np.int8)
    model, source, targets = build(network, arrays)
    digests = [0] * len(targets)
    for i in range(0, len(images), BATCH):
        for j, values in enumerate(tflite_graph.run(model, {source: images[i : i + BATCH]}, targets)):
            digests[j] = zlib.crc32(values.tobytes(), digests[j])
    names = [layer["name"] for layer in network["layers"]]
    report = {"images": len(images), "outputs_crc32": {n: f"{d:08x}" for n, d in zip(names, digests)}}
    OUTPUT.write_text(json.dumps(report, indent=2) + "\n")
    print(OUTPUT.read_text(), end="")


if __name__ == "__main__":
    main()
