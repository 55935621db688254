#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""A decoder with rotary places, gated units and a cache of keys and values that goes on with a prompt, letter by letter (random weights).

JAX_PLATFORMS=systole python examples/jax_decoder.py [--prompt TEXT]
JAX_PLATFORMS=systole,cpu python examples/jax_decoder.py --check     compares each token with jax's own CPU, whose operands are rounded alike
"""

import argparse
import functools
import time

import jax
import jax.numpy as jnp
import numpy as np

LETTERS, WIDTH, DEPTH, HEADS, CONTEXT = 256, 256, 4, 8, 64


def init(key):
    def matrix(m, n):
        nonlocal key
        key, one = jax.random.split(key)
        return jax.random.normal(one, (m, n)) / np.sqrt(m)

    return {"letters": matrix(LETTERS, WIDTH), "blocks": [
        {"q": matrix(WIDTH, WIDTH), "k": matrix(WIDTH, WIDTH), "v": matrix(WIDTH, WIDTH), "o": matrix(WIDTH, WIDTH), "gate": matrix(WIDTH, 3 * WIDTH),
         "up": matrix(WIDTH, 3 * WIDTH), "down": matrix(3 * WIDTH, WIDTH)} for _ in range(DEPTH)], "out": matrix(WIDTH, LETTERS)}


def norm(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def rotate(x, place):
    half = x.shape[-1] // 2
    angle = place * 10000.0 ** (-jnp.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)


@functools.partial(jax.jit, static_argnums=4, donate_argnums=1)
def step(params, cache, token, place, rounded):
    """The logits behind a token, and the cache with it. `rounded`: products of operands rounded to bf16, as the array takes them."""
    def product(x, w):
        if rounded:
            x, w = (jax.lax.reduce_precision(t, 8, 7) for t in (x, w))
        return jnp.matmul(x, w, precision="highest" if rounded else None)

    x = params["letters"][token]
    new = []
    for block, (keys, values) in zip(params["blocks"], cache):
        y = norm(x)
        q, k, v = (product(y[None], block[n])[0].reshape(HEADS, -1) for n in "qkv")
        keys = jax.lax.dynamic_update_index_in_dim(keys, rotate(k, place), place, 1)
        values = jax.lax.dynamic_update_index_in_dim(values, v, place, 1)
        scores = product(keys, rotate(q, place)[:, :, None])[..., 0] / np.sqrt(WIDTH // HEADS)
        scores = jnp.where(jnp.arange(CONTEXT) <= place, scores, -jnp.inf)
        mixed = product(jax.nn.softmax(scores)[:, None, :], values)[:, 0].reshape(1, -1)
        x = x + product(mixed, block["o"])[0]
        y = norm(x)[None]
        x = x + product(jax.nn.silu(product(y, block["gate"])) * product(y, block["up"]), block["down"])[0]
        new.append((keys, values))
    return product(norm(x)[None], params["out"])[0], new


def generate(params, prompt, count, rounded=False):
    cache = [(jnp.zeros((HEADS, CONTEXT, WIDTH // HEADS)),) * 2 for _ in range(DEPTH)]
    cache = jax.tree.map(jnp.copy, cache)
    tokens = list(prompt)
    for place in range(len(prompt) + count - 1):
        scores, cache = step(params, cache, tokens[place], place, rounded)
        if place >= len(prompt) - 1:
            tokens.append(int(jnp.argmax(scores)))
    return tokens


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompt", default="systole ")
    parser.add_argument("--count", type=int, default=24, help="letters to go on with")
    parser.add_argument("--check", action="store_true", help="compare with jax's CPU (JAX_PLATFORMS=systole,cpu)")
    args = parser.parse_args()
    prompt = list(args.prompt.encode())
    if len(prompt) + args.count > CONTEXT:
        raise SystemExit(f"prompt and count are more than {CONTEXT} letters")
    params = init(jax.random.key(0))
    size = sum(p.size for p in jax.tree.leaves(params))
    begin = time.time()
    tokens = generate(params, prompt, args.count)
    print(f"{size / 1e6:.1f} million parameters, {args.count / (time.time() - begin):.2f} letters a second on {jax.default_backend()}")
    print(tokens)
    if args.check:
        with jax.default_device(jax.devices("cpu")[0]):
            expected = generate(jax.device_put(params, jax.devices("cpu")[0]), prompt, args.count, rounded=True)
        if tokens != expected:
            raise SystemExit(f"the CPU says {expected}")
        print("equal to the CPU's")


if __name__ == "__main__":
    main()
