#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""An LSTM in Keras that learns to tell whether a sequence's numbers add up to more than zero.

JAX_PLATFORMS=systole KERAS_BACKEND=jax python examples/keras_lstm.py
"""

import argparse

import keras
import numpy as np
from keras import layers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--sequences", type=int, default=512)
    args = parser.parse_args()
    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(args.sequences, 16, 2)).astype(np.float32)
    y = (x.sum((1, 2)) > 0).astype(np.int32)
    model = keras.Sequential([keras.Input((16, 2)), layers.LSTM(24), layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=64, epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
