# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Handwritten digits: IDX files and the augmentation of the training set."""

import gzip
import pathlib
import struct

import numpy as np


def read_idx(path):
    """The array of bytes in a gzipped IDX file."""
    data = gzip.decompress(pathlib.Path(path).read_bytes())
    zeros, kind, rank = struct.unpack(">HBB", data[:4])
    if zeros != 0 or kind != 8:
        raise ValueError(f"{path}: not an IDX file of unsigned bytes")
    shape = struct.unpack(f">{rank}I", data[4 : 4 + 4 * rank])
    values = np.frombuffer(data, np.uint8, offset=4 + 4 * rank)
    if values.size != np.prod(shape):
        raise ValueError(f"{path}: {values.size} values, but the shape is {shape}")
    return values.reshape(shape)


def load(folder, part):
    """Images as uint8 [n, 28, 28] and labels as uint8 [n]; part is train or test."""
    folder = pathlib.Path(folder)
    return (
        read_idx(folder / f"{part}-images-idx3-ubyte.gz"),
        read_idx(folder / f"{part}-labels-idx1-ubyte.gz"),
    )


def augment(images, rng, degrees=12.0, zoom=0.12, shear=0.1, shift=2.0):
    """Each image moved by its own small random affine map, bilinear, float32 0..255."""
    n, height, width = images.shape
    angle = np.deg2rad(rng.uniform(-degrees, degrees, n))
    scale_y, scale_x = rng.uniform(1 - zoom, 1 + zoom, (2, n))
    slant = rng.uniform(-shear, shear, n)
    shift_y, shift_x = rng.uniform(-shift, shift, (2, n))
    cos, sin = np.cos(angle), np.sin(angle)
    mid_y, mid_x = (height - 1) / 2, (width - 1) / 2
    dy, dx = np.mgrid[0:height, 0:width].reshape(2, 1, -1) - np.array([[[mid_y]], [[mid_x]]])

    def column(values):
        return values[:, None]

    y = column(cos * scale_y) * dy + column((slant - sin) * scale_x) * dx + column(shift_y) + mid_y
    x = column((sin + slant) * scale_y) * dy + column(cos * scale_x) * dx + column(shift_x) + mid_x

    padded = np.zeros((n, height + 2, width + 2), np.float32)
    padded[:, 1:-1, 1:-1] = images
    flat = padded.reshape(n, -1)
    y, x = np.clip(y + 1, 0, height + 0.999), np.clip(x + 1, 0, width + 0.999)
    y0, x0 = y.astype(np.int64), x.astype(np.int64)
    fy, fx = (y - y0).astype(np.float32), (x - x0).astype(np.float32)
    corner = y0 * (width + 2) + x0

    def pixel(offset):
        return np.take_along_axis(flat, corner + offset, axis=1)

    top = pixel(0) * (1 - fx) + pixel(1) * fx
    bottom = pixel(width + 2) * (1 - fx) + pixel(width + 3) * fx
    return (top * (1 - fy) + bottom * fy).reshape(n, height, width)
