#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes models/mnist_cnn.tflite: the digits network of models/mnist_cnn.safetensors as TensorFlow Lite has it.

Usage: VENV/bin/python scripts/vectors/tflite_digits.py   (after pip install -r scripts/vectors/requirements.txt)

Weights, biases, scales of activations and zero points are those of the network. The model file keeps multipliers instead of the weights'
scales, so scales that give these multipliers back are put in. TensorFlow Lite requantises dense layers in double precision, so single
values may differ from the network by one step.
"""

import numpy as np
import run_network
import tflite_graph

OUTPUT = run_network.ROOT / "models" / "mnist_cnn.tflite"
schema = tflite_graph.schema
tflite_graph.OPS["reshape"] = (
    schema.BuiltinOperator.RESHAPE, schema.BuiltinOptions.ReshapeOptions, schema.ReshapeOptionsT, 1,
)


def build(network, arrays):
    tensors = {t["name"]: t for t in network["tensors"]}
    g = tflite_graph.Graph()
    index = {}

    def activation(name, shape):
        t = tensors[name]
        index[name] = g.tensor((1, *shape), t["scale"], t["zero_point"])
        g.tensors[index[name]].name = name

    def flatten(name, depth):
        t = tensors[name]
        flat = g.tensor((1, depth), t["scale"], t["zero_point"])
        shape = g.tensor((2,), [], [], np.array([1, depth], np.int32))
        g.operator("reshape", [index[name], shape], flat, newShape=[1, depth])
        return flat

    activation(network["input"], tensors[network["input"]]["shape"])
    for layer in network["layers"]:
        name, dense = layer["name"], layer["op"] == "dense"
        source, target = (tensors[t] for t in (layer["inputs"][0], layer["output"]))
        weights = arrays[f"{name}.weights"]
        relu = layer["clamp"][0] == target["zero_point"]
        options = {"fusedActivationFunction": tflite_graph.ACTIVATIONS["relu" if relu else "none"]}
        feed = index[source["name"]]
        if dense:
            weights = weights.reshape(len(weights), -1)
            if len(source["shape"]) > 1 and source["shape"][0] * source["shape"][1] > 1:
                feed = flatten(source["name"], weights.shape[1])
            activation(target["name"], (len(weights),))
        else:
            activation(target["name"], target["shape"])
            options.update(
                padding=tflite_graph.PADDINGS["same"], strideH=layer["stride"][0], strideW=layer["stride"][1],
                dilationHFactor=1, dilationWFactor=1,
            )
        g.weighted(
            layer["op"], feed, source["scale"], weights, run_network.weight_scales(layer, tensors, arrays),
            arrays[f"{name}.bias"], index[target["name"]], **options,
        )
        weights_index, bias_index = g.operators[-1].inputs[1:]
        g.tensors[weights_index].name, g.tensors[bias_index].name = f"{name}/weights", f"{name}/bias"
    return g.model([index[network["input"]]], [index[network["output"]]])


def main():
    OUTPUT.write_bytes(build(*run_network.read_model()))
    print(f"{OUTPUT.relative_to(run_network.ROOT)}: {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
