#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""A small decoder (Transformer) in JAX that learns a text letter by letter with Adam, then goes on with it by itself.

JAX_PLATFORMS=systole python examples/jax_transformer.py [TEXT]
"""

import argparse
import functools
import pathlib

import jax
import jax.numpy as jnp
import numpy as np


def init(key, letters, width, depth, context):
    def matrix(key, m, n):
        return jax.random.normal(key, (m, n)) / jnp.sqrt(m)

    keys = iter(jax.random.split(key, 3 + 4 * depth))
    return {
        "letters": matrix(next(keys), letters, width), "places": 0.1 * matrix(next(keys), context, width), "out": matrix(next(keys), width, letters),
        "blocks": [{"qkv": matrix(next(keys), width, 3 * width), "mix": matrix(next(keys), width, width), "up": matrix(next(keys), width, 4 * width),
                    "down": matrix(next(keys), 4 * width, width)} for _ in range(depth)]}


def norm(x):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)


def attention(x, block, heads):
    places, width = x.shape
    q, k, v = jnp.split(x @ block["qkv"], 3, axis=-1)
    q, k, v = (t.reshape(places, heads, width // heads).swapaxes(0, 1) for t in (q, k, v))
    scores = q @ k.swapaxes(1, 2) / np.sqrt(width // heads)
    scores = jnp.where(jnp.tril(jnp.ones((places, places), bool)), scores, -1e9)
    return (jax.nn.softmax(scores) @ v).swapaxes(0, 1).reshape(places, width) @ block["mix"]


def logits(params, tokens, heads):
    x = params["letters"][tokens] + params["places"][:len(tokens)]
    for block in params["blocks"]:
        x = x + attention(norm(x), block, heads)
        x = x + jax.nn.gelu(norm(x) @ block["up"]) @ block["down"]
    return norm(x) @ params["out"]


def loss(params, batch, heads):
    scores = jax.nn.log_softmax(jax.vmap(lambda t: logits(params, t, heads))(batch[:, :-1]))
    return -jnp.mean(jnp.take_along_axis(scores, batch[:, 1:, None], axis=2))


@functools.partial(jax.jit, static_argnums=4)
def step(params, moments, batch, time, heads):
    value, gradient = jax.value_and_grad(loss)(params, batch, heads)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradient)
    second = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g * g, moments[1], gradient)
    params = jax.tree.map(lambda p, a, b: p - 3e-3 * (a / (1 - 0.9**time)) / (jnp.sqrt(b / (1 - 0.99**time)) + 1e-8), params, first, second)
    return value, params, (first, second)


@functools.partial(jax.jit, static_argnums=3)
def next_letter(params, tokens, count, heads):
    return jnp.argmax(logits(params, tokens, heads)[count - 1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__), help="a text file (default: this script)")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--generate", type=int, default=40, help="letters to go on with")
    args = parser.parse_args()
    text = args.text.read_text()
    letters = sorted(set(text))
    data = np.array([letters.index(c) for c in text], np.int32)
    context, heads = 32, 4
    params = init(jax.random.key(0), len(letters), 64, 2, context)
    moments = tuple(jax.tree.map(jnp.zeros_like, params) for _ in range(2))
    rng = np.random.default_rng(0)
    for time in range(1, args.steps + 1):
        starts = rng.integers(0, len(data) - context - 1, 16)
        batch = np.stack([data[s:s + context + 1] for s in starts])
        value, params, moments = step(params, moments, batch, float(time), heads)
        if time % 10 == 0 or time == 1:
            print(f"step {time}: loss {value:.4f}", flush=True)
    tokens = list(data[:16])
    for _ in range(args.generate):
        window = tokens[-context:]
        padded = np.array(window + [0] * (context - len(window)), np.int32)
        tokens.append(int(next_letter(params, padded, len(window), heads)))
    print(repr("".join(letters[t] for t in tokens)))


if __name__ == "__main__":
    main()
