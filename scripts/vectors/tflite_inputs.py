# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Seeded inputs of models. tests/import/reference.cc makes the same ones."""

import numpy as np

AMPLITUDES = (128, 64, 32, 8)
RUNS = (1, 3, 16, 97)


def random_words(seed, count):
    """SplitMix64 (Steele, Lea, Flood 2014): the outputs behind a seed."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def values(seed, size):
    """`size` int8 values: noise of an amplitude around a centre, in runs of equal values. The seed chooses all of them."""
    words = random_words(seed, size + 1)
    choice = int(words[0])
    amplitude, run = AMPLITUDES[choice & 3], RUNS[choice >> 2 & 3]
    centre = 0 if amplitude == 128 else (choice >> 8 & 255) - 128
    noise = words[1 + np.arange(size) // run].astype(np.uint8).view(np.int8).astype(np.int32)
    return np.clip(centre + (noise * amplitude >> 7), -128, 127).astype(np.int8)
