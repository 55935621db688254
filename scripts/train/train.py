#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Trains the digit network, folds and quantises it, writes the model file and a report of its accuracy.

Usage: python3 -m venv VENV && VENV/bin/pip install -r scripts/train/requirements.txt
       VENV/bin/python scripts/train/train.py --data FOLDER

FOLDER holds {train,test}-{images-idx3,labels-idx1}-ubyte.gz. The same seed, versions and kind of machine give the same file.
"""

import argparse
import json
import pathlib
import sys
import time
import zlib

import digits
import float_net
import model_file
import numpy as np
import quantise

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOAT_GOAL = 0.985
LOSS_GOAL = 0.003


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder of the gzipped IDX files")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--epochs", default=25, type=int)
    parser.add_argument("--output", default=ROOT / "models" / "mnist_cnn.safetensors", type=pathlib.Path)
    return parser.parse_args()


def crc32(array):
    return f"{zlib.crc32(np.ascontiguousarray(array).tobytes()):08x}"


def evaluate(folded, layers, images, labels):
    """The report: accuracies, and a digest of every layer's int8 outputs over the test images in order."""
    float_logits = float_net.run_folded(folded, images)[layers[-1].name]
    int8_outputs = quantise.run(layers, images)
    float_labels = float_logits.argmax(1)
    int8_labels = int8_outputs[layers[-1].name].reshape(len(images), -1).argmax(1)
    return {
        "test_images": len(images),
        "float_accuracy": float((float_labels == labels).mean()),
        "int8_accuracy": float((int8_labels == labels).mean()),
        "int8_agrees_with_float": float((int8_labels == float_labels).mean()),
        "labels_crc32": crc32(int8_labels.astype(np.uint8)),
        "outputs_crc32": {name: crc32(values) for name, values in int8_outputs.items()},
    }


def main():
    args = parse_arguments()
    start = time.time()
    images, labels = digits.load(args.data, "train")
    test_images, test_labels = digits.load(args.data, "test")
    params, stats = float_net.train(images, labels, args.seed, args.epochs)
    folded = float_net.fold(params, stats)
    activations = float_net.run_folded(folded, images)
    layers = quantise.quantise(float_net.LAYERS, folded, activations, float_net.IMAGE)
    print(f"trained and quantised in {time.time() - start:.0f} s")
    report = {"seed": args.seed, "epochs": args.epochs, "train_images": len(images)}
    report |= evaluate(folded, layers, test_images, test_labels)

    model_file.write(args.output, args.output.stem, layers)
    report["model_crc32"] = f"{zlib.crc32(args.output.read_bytes()):08x}"
    text = json.dumps(report, indent=2) + "\n"
    args.output.with_suffix(".report.json").write_text(text)
    print(text, end="")
    if report["float_accuracy"] < FLOAT_GOAL:
        sys.exit(f"float accuracy is below {FLOAT_GOAL}")
    if report["int8_accuracy"] < report["float_accuracy"] - LOSS_GOAL:
        sys.exit(f"int8 loses more than {LOSS_GOAL} against float")


if __name__ == "__main__":
    main()
