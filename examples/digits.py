# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Handwritten digits out of a folder with MNIST's four files, for the other examples."""

import gzip
import pathlib

import numpy as np


def read(folder, name, limit=None):
    """Images [n, 28, 28, 1] from 0 to 1 in float32, and labels [n] in int32, of the set "train" or "test"."""
    folder = pathlib.Path(folder)

    def content(path, header):
        if not path.exists():
            raise SystemExit(f"{path} does not exist: name the folder of MNIST's files with --digits")
        return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)

    labels = content(folder / f"{name}-labels-idx1-ubyte.gz", 8)[:limit]
    images = content(folder / f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28, 1)[:limit]
    return images.astype(np.float32) / 255, labels.astype(np.int32)
