#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The network of keras_mnist.py, trained on several cores at once: each step's batch is divided among them.

SYSTOLE_DEVICES=8 JAX_PLATFORMS=systole KERAS_BACKEND=jax python examples/keras_mnist_distributed.py --digits FOLDER
"""

import argparse

import digits
import jax
import keras
from keras_mnist import network


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digits", required=True, metavar="FOLDER", help="MNIST's files")
    parser.add_argument("--train", default="train", choices=("train", "test"), help="the set to learn from")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--images", type=int, help="of the set, the first ones")
    parser.add_argument("--test", type=int, metavar="IMAGES", help="of the test set, the first ones; 0: none")
    parser.add_argument("--goal", type=float, help="exit with an error below so many per cent of right test digits")
    args = parser.parse_args()
    keras.utils.set_random_seed(1)

    devices = jax.devices()
    strategy = keras.distribution.DataParallel(devices=[f"{d.platform}:{d.id}" for d in devices])
    keras.distribution.set_distribution(strategy)
    replicas = len(devices)
    BATCH_SIZE = 64 * replicas  # 64 digits on each core
    print(f"{replicas} cores of {devices[0].device_kind}, batches of {BATCH_SIZE}")

    images, labels = digits.read(args.digits, args.train, args.images)
    steps = len(labels) // BATCH_SIZE
    if steps == 0:
        raise SystemExit(f"{len(labels)} digits are less than a batch of {BATCH_SIZE}")
    images, labels = images[:steps * BATCH_SIZE], labels[:steps * BATCH_SIZE]  # whole batches
    model = network()
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    # More cores take fewer steps an epoch, so the rate falls more slowly than on one.
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch: 0.01 * (0.6 if replicas == 1 else 0.7)**epoch)
    model.fit(images, labels, batch_size=BATCH_SIZE, epochs=args.epochs, callbacks=[schedule], verbose=2)

    test, right = digits.read(args.digits, "test", args.test), 0
    if not len(test[1]):
        return
    whole = max(1, len(test[1]) // (25 * replicas)) * 25 * replicas
    _, right = model.evaluate(test[0][:whole], test[1][:whole], batch_size=25 * replicas, verbose=0)
    print(f"right: {100 * right:.2f} % of {min(whole, len(test[1]))} test digits")
    if args.goal and 100 * right < args.goal:
        raise SystemExit(f"below {args.goal} %")


if __name__ == "__main__":
    main()
