# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Reads of a program file (.tpu) what a host needs to run it: descriptors, data, tensors. Format: docs/program_file.md."""

import dataclasses
import struct
import zlib

import numpy as np

MAGIC = b"SYSTOLE\x1a"
VERSION = 4
DESCRIPTOR_BYTES = 64
INPUT, OUTPUT = 1, 2  # bits of a tensor's role
TYPES = {0: np.dtype("<i1"), 1: np.dtype("<i4"), 2: np.dtype("<u2"), 3: np.dtype("<f4")}  # bf16 as the 16 bits that it has


@dataclasses.dataclass
class Tensor:
    """Where a tensor lies in the memory. An image has lines of w x channels elements, which are `pitch` bytes apart."""

    name: str
    type: np.dtype
    role: int
    shape: tuple  # n, h, w, channels
    address: int
    pitch: int
    image_pitch: int

    def lines(self):
        """(address, image, line) of each line."""
        for n in range(self.shape[0]):
            for h in range(self.shape[1]):
                yield self.address + n * self.image_pitch + h * self.pitch, n, h

    @property
    def line_bytes(self):
        return self.shape[2] * self.shape[3] * self.type.itemsize


@dataclasses.dataclass
class Program:
    preset: str
    address: int
    memory_bytes: int  # it touches nothing at or above this address
    descriptors: bytes
    data: list  # (name, address, bytes)
    tensors: list

    @property
    def length(self):
        return len(self.descriptors) // DESCRIPTOR_BYTES


class _Reader:
    def __init__(self, content):
        self.content, self.at = content, 0

    def take(self, size):
        self.at += size
        if self.at > len(self.content):
            raise ValueError("it ends too early")
        return self.content[self.at - size:self.at]

    def numbers(self, form):
        return struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))

    def number(self, form):
        return self.numbers(form)[0]

    def string(self):
        return self.take(self.number("I")).decode()

    def skip(self, size):
        """A list of records of one size."""
        self.take(self.number("I") * size)


def _tensor(reader):
    name = reader.string()
    kind, role, *shape = reader.numbers("BB4q")
    address, pitch, image_pitch, _, _ = reader.numbers("Qqqfi")
    return Tensor(name, TYPES[kind], role, tuple(shape), address, pitch, image_pitch)


def read(path):
    """The Program of a file. ValueError, with the file's name, of what is none."""
    content = path.read_bytes()
    try:
        return _parse(content)
    except (ValueError, KeyError, struct.error) as error:
        raise ValueError(f"{path}: no program file of version {VERSION}: {error}") from error


def _parse(content):
    if content[:8] != MAGIC:
        raise ValueError("it does not begin with the name of the format")
    if len(content) < 24 or zlib.crc32(content[:-4]) != struct.unpack("<I", content[-4:])[0]:
        raise ValueError("its checksum is wrong")
    reader = _Reader(content[8:-4])
    version, _, size = reader.numbers("IIQ")
    if version != VERSION:
        raise ValueError(f"it has version {version}")
    if size != len(content):
        raise ValueError("it has another size than it says")
    preset = reader.string()
    address, memory_bytes = reader.numbers("QQ")
    # What moves a program: this host leaves it where it is.
    reader.skip(1 + 8 + 8)  # parts of the memory
    reader.skip(4 + 4)  # relocations
    descriptors = reader.take(reader.number("I") * DESCRIPTOR_BYTES)
    if reader.number("I") != 0:
        raise ValueError("it has loops, which only a scalar unit runs")
    reader.skip(5 * 4 + 8)  # steps
    data = []
    for _ in range(reader.number("I")):
        name = reader.string()
        place, size = reader.numbers("QQ")
        data.append((name, place, reader.take(size)))
    tensors = [_tensor(reader) for _ in range(reader.number("I"))]
    return Program(preset, address, memory_bytes, descriptors, data, tensors)
