# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes a quantised network as a model file; docs/network.md has the schema."""

import json
import pathlib
import struct
import zlib

import numpy as np

DTYPES = {np.dtype(np.int8): "I8", np.dtype(np.int32): "I32"}


def describe(name, layers):
    """The value of `systole.network`."""

    def tensor(t):
        return {
            "name": t.name,
            "shape": [int(d) for d in t.shape],
            "scale": float(t.scale),
            "zero_point": t.zero_point,
        }

    return {
        "version": 1,
        "name": name,
        "input": layers[0].input.name,
        "output": layers[-1].output.name,
        "tensors": [tensor(layers[0].input)] + [tensor(layer.output) for layer in layers],
        "layers": [
            {
                "name": layer.name,
                "op": layer.op,
                "inputs": [layer.input.name],
                "output": layer.output.name,
                **(
                    {
                        "kernel": list(layer.kernel),
                        "stride": list(layer.stride),
                        "dilation": [1, 1],
                        "padding": list(layer.padding),
                    }
                    if layer.op == "conv2d"
                    else {}
                ),
                "clamp": list(layer.clamp),
                "rounding": "double",
            }
            for layer in layers
        ],
    }


def serialise(name, layers):
    tensors = {
        f"{layer.name}.{field}": getattr(layer, field)
        for layer in layers
        for field in ("weights", "bias", "multiplier", "shift")
    }
    header, data = {}, b""
    for key, array in sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):
        raw = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
        header[key] = {
            "dtype": DTYPES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    network = json.dumps(describe(name, layers), separators=(",", ":"))
    checksum = zlib.crc32(data, zlib.crc32(network.encode()))
    metadata = {"systole.network": network, "systole.crc32": f"{checksum:08x}"}
    text = json.dumps({"__metadata__": metadata, **header}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def write(path, name, layers):
    pathlib.Path(path).write_bytes(serialise(name, layers))
