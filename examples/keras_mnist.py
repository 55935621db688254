#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""A convolutional network for digits in Keras: batch normalisation, dropout, Adam with a schedule of its rate.

JAX_PLATFORMS=systole KERAS_BACKEND=jax python examples/keras_mnist.py --digits FOLDER
"""

import argparse

import digits
import keras
from keras import layers


def network():
    def block(filters, size, stride):
        return [layers.Conv2D(filters, size, strides=stride, padding="same", use_bias=False),
                layers.BatchNormalization(scale=False, momentum=0.9), layers.Activation("relu")]

    return keras.Sequential([
        keras.Input((28, 28, 1)), *block(12, 3, 1), *block(24, 6, 2), *block(64, 6, 2), layers.Flatten(),
        layers.Dense(200, use_bias=False), layers.BatchNormalization(scale=False, momentum=0.9), layers.Activation("relu"),
        layers.Dropout(0.4), layers.Dense(10, activation="softmax")])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digits", required=True, metavar="FOLDER", help="MNIST's files")
    parser.add_argument("--train", default="train", choices=("train", "test"), help="the set to learn from")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--images", type=int, help="of the set, the first ones")
    parser.add_argument("--test", type=int, metavar="IMAGES", help="of the test set, the first ones; 0: none")
    parser.add_argument("--goal", type=float, help="exit with an error below so many per cent of right test digits")
    parser.add_argument("--save", metavar="FILE.keras", help="the trained network")
    args = parser.parse_args()
    keras.utils.set_random_seed(1)
    images, labels = digits.read(args.digits, args.train, args.images)
    test = digits.read(args.digits, "test", args.test)
    model = network()
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch: 0.0001 + 0.01 * 0.4**epoch)
    model.fit(images, labels, batch_size=args.batch, epochs=args.epochs, callbacks=[schedule], verbose=2)
    if args.save:
        model.save(args.save)
    if not len(test[1]):
        return
    _, right = model.evaluate(*test, batch_size=250, verbose=0)
    print(f"right: {100 * right:.2f} % of {len(test[1])} test digits")
    if args.goal and 100 * right < args.goal:
        raise SystemExit(f"below {args.goal} %")


if __name__ == "__main__":
    main()
