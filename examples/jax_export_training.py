#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes a training in JAX as files for `systole train`, which needs no Python: init.mlirbc, step.mlirbc, evaluate.mlirbc.

The network recognises digits; replace `init`, `step` and `evaluate` by functions of your own. The first argument and the first result of `step`
are the state, which `init` makes; the names of the other arguments tell what they are. docs/training.md has the rules.

python examples/jax_export_training.py --batch 100 FOLDER
"""

import argparse
import pathlib

import jax
from jax import export, lax, nn, numpy as jnp
import numpy as np

CONVOLUTIONS = {"conv1": ((3, 3, 1, 12), 1), "conv2": ((6, 6, 12, 24), 2), "conv3": ((6, 6, 24, 64), 2)}
DENSE = {"dense1": (7 * 7 * 64, 200), "dense2": (200, 10)}
EPSILON = 0.001


def init(seed):
    """He-uniform weights. dense2 has a bias; the other layers have a batch norm with an offset."""
    shapes = {name: shape for name, (shape, _) in CONVOLUTIONS.items()} | DENSE
    parameters, statistics = {}, {}
    for key, (name, shape) in zip(jax.random.split(jax.random.key(seed), len(shapes)), shapes.items()):
        limit = np.sqrt(6 / np.prod(shape[:-1])).astype(np.float32)
        parameters[name] = {"weights": jax.random.uniform(key, shape, minval=-limit, maxval=limit), "offset": jnp.zeros(shape[-1:])}
        if name != "dense2":
            statistics[name] = {"mean": jnp.zeros(shape[-1:]), "variance": jnp.ones(shape[-1:])}
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    return {"parameters": parameters, "statistics": statistics, "first": zeros, "second": zeros,
            "powers": {"first": jnp.float32(1), "second": jnp.float32(1)}}


def logits(parameters, statistics, images, training):
    """Results of dense2, and the statistics that a step leaves."""
    x = images[..., None].astype(jnp.float32) / 255
    left = {}

    def normed(name, z):
        mean, variance = statistics[name]["mean"], statistics[name]["variance"]
        if training:
            axes = tuple(range(z.ndim - 1))
            mean = z.mean(axes)
            variance = jnp.maximum((z * z).mean(axes) - mean * mean, 0)  # of one pass over z
            left[name] = {"mean": 0.9 * statistics[name]["mean"] + 0.1 * mean, "variance": 0.9 * statistics[name]["variance"] + 0.1 * variance}
        return nn.relu((z - mean) * lax.rsqrt(variance + EPSILON) + parameters[name]["offset"])

    for name, (_, stride) in CONVOLUTIONS.items():
        window = lax.conv_general_dilated(x, parameters[name]["weights"], (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = normed(name, window)
    x = normed("dense1", x.reshape(len(x), -1) @ parameters["dense1"]["weights"])
    return x @ parameters["dense2"]["weights"] + parameters["dense2"]["offset"], left


def adam(state, gradients, rate):
    powers = {"first": 0.9 * state["powers"]["first"], "second": 0.999 * state["powers"]["second"]}
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["first"], gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["second"], gradients)
    rate = rate * jnp.sqrt(1 - powers["second"]) / (1 - powers["first"])
    parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-7), state["parameters"], first, second)
    return {"parameters": parameters, "first": first, "second": second, "powers": powers}


def sgd(state, gradients, rate):
    first = jax.tree.map(lambda m, g: 0.9 * m + g, state["first"], gradients)
    parameters = jax.tree.map(lambda p, m: p - rate * m, state["parameters"], first)
    return {"parameters": parameters, "first": first, "second": state["second"], "powers": state["powers"]}


def step_with(optimiser):
    def step(state, images, labels, rate):
        labels = labels.astype(jnp.int32)

        def loss_of(parameters):
            values, statistics = logits(parameters, state["statistics"], images, training=True)
            chosen = nn.one_hot(labels, 10) * nn.log_softmax(values)
            return -chosen.sum(axis=1).mean(), (values, statistics)

        (loss, (values, statistics)), gradients = jax.value_and_grad(loss_of, has_aux=True)(state["parameters"])
        accuracy = (values.argmax(axis=1) == labels).astype(jnp.float32).mean()
        return optimiser(state, gradients, rate) | {"statistics": statistics}, {"loss": loss, "accuracy": accuracy}

    return step


def evaluate(state, images, labels):
    values, _ = logits(state["parameters"], state["statistics"], images, training=False)
    return {"right": values.argmax(axis=1) == labels.astype(jnp.int32)}


def export_training(folder, batch, optimiser):
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # no folders of this machine in the files
    seed, rate = jax.ShapeDtypeStruct((), jnp.uint32), jax.ShapeDtypeStruct((), jnp.float32)
    images = jax.ShapeDtypeStruct((batch, 28, 28), jnp.uint8)
    labels = jax.ShapeDtypeStruct((batch,), jnp.uint8)
    state = jax.eval_shape(init, seed)
    functions = {"init": (init, (seed,)), "step": (step_with(optimiser), (state, images, labels, rate)),
                 "evaluate": (evaluate, (state, images, labels))}
    folder.mkdir(parents=True, exist_ok=True)
    for name, (function, arguments) in functions.items():
        exported = export.export(jax.jit(function, keep_unused=True), platforms=["cpu"])(*arguments)
        path = folder / f"{name}.mlirbc"
        path.write_bytes(exported.mlir_module_serialized)
        print(f"{path}: {path.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--batch", type=int, default=100, help="images of a step (default: 100)")
    parser.add_argument("--optimiser", choices=("adam", "sgd"), default="adam")
    args = parser.parse_args()
    export_training(args.folder, args.batch, {"adam": adam, "sgd": sgd}[args.optimiser])


if __name__ == "__main__":
    main()
