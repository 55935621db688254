#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""ResNet-50 of keras.applications with random weights: classifies random images, and trains for some steps.

JAX_PLATFORMS=systole KERAS_BACKEND=jax python examples/keras_resnet50.py [--size 224] [--images 1] [--steps 1]
"""

import argparse
import time

import keras
import numpy as np


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=224, help="pixels of a side, at least 32")
    parser.add_argument("--images", type=int, default=1)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=1, help="of training")
    parser.add_argument("--save", help="file (.npz) for the classes' shares and the losses")
    args = parser.parse_args()
    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)
    images = rng.uniform(-1, 1, (args.images, args.size, args.size, 3)).astype(np.float32)
    labels = rng.integers(0, args.classes, args.images)
    model = keras.applications.ResNet50(weights=None, input_shape=(args.size, args.size, 3), classes=args.classes)
    began = time.time()
    shares = model.predict(images, verbose=0)
    print(f"classes {shares.argmax(1).tolist()}, largest share {shares.max():.5f}, {time.time() - began:.1f} s")
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="sparse_categorical_crossentropy")
    losses = []
    for step in range(args.steps):
        began = time.time()
        losses.append(float(model.train_on_batch(images, labels)))
        print(f"step {step + 1}: loss {losses[-1]:.4f}, {time.time() - began:.1f} s")
    if args.save:
        np.savez(args.save, shares=shares, losses=losses)


if __name__ == "__main__":
    main()
