#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""A perceptron of two layers in JAX, trained by gradient descent on digits.

JAX_PLATFORMS=systole python examples/jax_mlp.py --digits FOLDER
"""

import argparse

import digits
import jax
import jax.numpy as jnp


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (m, n)) * jnp.sqrt(2 / m), jnp.zeros(n)) for k, m, n in zip(keys, sizes, sizes[1:])]


def logits(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss(params, x, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits(params, x)), y[:, None], axis=1))


@jax.jit
def step(params, x, y, rate):
    value, gradient = jax.value_and_grad(loss)(params, x, y)
    return value, jax.tree.map(lambda p, g: p - rate * g, params, gradient)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digits", required=True, metavar="FOLDER", help="MNIST's files; the test set is enough")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--images", type=int, default=2000, help="of the set, the last fifth to judge by")
    args = parser.parse_args()
    images, labels = digits.read(args.digits, "test", args.images)
    images = images.reshape(len(images), -1)
    split = len(images) * 4 // 5
    params = init(jax.random.key(0), (784, 128, 10))
    for epoch in range(args.epochs):
        for first in range(0, split - 63, 64):
            value, params = step(params, images[first:first + 64], labels[first:first + 64], 0.1)
        right = jnp.mean(jnp.argmax(logits(params, images[split:]), axis=1) == labels[split:])
        print(f"epoch {epoch + 1}: loss {value:.4f}, right {100 * right:.1f} %", flush=True)


if __name__ == "__main__":
    main()
