# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes ResNet-50, MobileNetV2 or VGG16, or VGG16's first dense layer alone, with random int8 weights as a network file: for cycles,
not for classes.

    scripts/python scripts/train/random_networks.py resnet50 resnet50.safetensors
    build/bin/systole bench resnet50.safetensors --preset v1 --batch 8
"""

import argparse
import json
import math
import pathlib
import random
import struct
import zlib


def fixed(factor):
    """Multiplier and shift of a factor."""
    mantissa, exponent = math.frexp(factor)
    multiplier = round(mantissa * 2**31)
    return [multiplier // 2, exponent + 1] if multiplier == 2**31 else [multiplier, exponent]


class Network:
    def __init__(self, name, seed, shape, headless=False):
        self.name, self.random, self.headless = name, random.Random(seed), headless
        self.tensors, self.layers, self.stored = {}, [], {}
        self.last = self.tensor("input", shape, 0.05, 0)

    def tensor(self, name, shape, scale=0.1, zero_point=-128):
        self.tensors[name] = {"name": name, "shape": list(shape), "scale": scale, "zero_point": zero_point}
        return name

    def append(self, op, inputs, shape, quantised, **fields):
        name = f"{op}{len(self.layers) + 1}"
        self.last = self.tensor(f"{name}.out", shape, *quantised)
        self.layers.append({"name": name, "op": op, "inputs": inputs, "output": self.last, "clamp": [-128, 127], **fields})
        return name

    def weighted(self, name, filters, taps, size, shift):
        values = self.random
        multipliers = [values.randint(1 << 30, (1 << 31) - 1) for _ in range(filters)]
        biases = [values.randint(-1000, 1000) for _ in range(filters)]
        self.stored[f"{name}.weights"] = ("I8", [filters, *taps], values.randbytes(filters * size))
        self.stored[f"{name}.bias"] = ("I32", [filters], struct.pack(f"<{filters}i", *biases))
        self.stored[f"{name}.multiplier"] = ("I32", [filters], struct.pack(f"<{filters}i", *multipliers))
        self.stored[f"{name}.shift"] = ("I8", [filters], struct.pack("<b", shift) * filters)

    def conv(self, source, kernel, stride, filters, relu=True, depthwise=False):
        height, _, channels = self.tensors[source]["shape"]
        pad = kernel // 2
        side = (height + 2 * pad - kernel) // stride + 1
        name = self.append("depthwise" if depthwise else "conv2d", [source], (side, side, filters), (0.1, -128) if relu else (0.15, 5),
                           kernel=[kernel] * 2, stride=[stride] * 2, dilation=[1, 1], padding=[pad] * 4, rounding="double")
        depth = 1 if depthwise else channels
        size = kernel * kernel * depth
        self.weighted(name, filters, (kernel, kernel, depth), size, -int(math.log2(max(1, size**0.5 * 60))))
        return self.last

    def add(self, a, b, relu=True):
        scales = [self.tensors[t]["scale"] for t in (a, b)]
        twice = 2 * max(scales)
        result = (0.12, -128 if relu else 3)
        factors = [fixed(s / twice) for s in scales] + [fixed(twice / ((1 << 20) * result[0]))]
        self.append("add", [a, b], self.tensors[a]["shape"], result, rounding="double", requantise=factors)
        return self.last

    def pool(self, source, op, kernel, stride, pad=0):
        tensor = self.tensors[source]
        height, _, channels = tensor["shape"]
        side = (height + 2 * pad - kernel) // stride + 1
        self.append(op, [source], (side, side, channels), (tensor["scale"], tensor["zero_point"]), kernel=[kernel] * 2, stride=[stride] * 2,
                    padding=[pad] * 4)
        return self.last

    def dense(self, source, filters):
        size = math.prod(self.tensors[source]["shape"])
        name = self.append("dense", [source], (1, 1, filters), (0.1, -128), rounding="single")
        self.weighted(name, filters, (1, 1, size), size, -11)
        return self.last

    def head(self, source):
        if not self.headless:
            self.dense(self.pool(source, "avgpool", self.tensors[source]["shape"][0], 1), 1000)

    def write(self, path):
        description = json.dumps({"version": 1, "name": self.name, "input": "input", "output": self.last,
                                  "tensors": list(self.tensors.values()), "layers": self.layers})
        header, at = {}, 0
        for key, (dtype, shape, data) in self.stored.items():
            header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
            at += len(data)
        checksum = zlib.crc32(description.encode())
        for _, _, data in self.stored.values():
            checksum = zlib.crc32(data, checksum)
        header["__metadata__"] = {"systole.network": description, "systole.crc32": f"{checksum:08x}"}
        text = json.dumps(header).encode()
        with path.open("wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for _, _, data in self.stored.values():
                file.write(data)


def resnet50(net):
    x = net.pool(net.conv(net.last, 7, 2, 64), "maxpool", 3, 2, 1)
    for filters, blocks, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            stride = 1 if block else first
            short = x if block else net.conv(x, 1, stride, 4 * filters, relu=False)
            y = net.conv(net.conv(x, 1, 1, filters), 3, stride, filters)
            x = net.add(net.conv(y, 1, 1, 4 * filters, relu=False), short)
    net.head(x)


def mobilenetv2(net):
    x = net.conv(net.conv(net.last, 3, 2, 32), 3, 1, 32, depthwise=True)
    x = net.conv(x, 1, 1, 16, relu=False)
    for times, filters, blocks, first in ((6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            wide = net.tensors[x]["shape"][2] * times
            y = net.conv(net.conv(x, 1, 1, wide), 3, 1 if block else first, wide, depthwise=True)
            y = net.conv(y, 1, 1, filters, relu=False)
            x = net.add(y, x, relu=False) if block else y
    net.head(net.conv(x, 1, 1, 1280))


def vgg16(net):
    x = net.last
    for filters, layers in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(layers):
            x = net.conv(x, 3, 1, filters)
        x = net.pool(x, "maxpool", 2, 2)
    for filters in (4096, 4096, 1000):
        x = net.dense(x, filters)


def vgg16_dense(net):
    net.dense(net.last, 4096)


NETWORKS = {make.__name__: make for make in (resnet50, mobilenetv2, vgg16, vgg16_dense)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("output", type=pathlib.Path, help="network file (.safetensors)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=224, help="height and width of the image (224)")
    parser.add_argument("--headless", action="store_true", help="resnet50, mobilenetv2: without average pooling and the dense layer")
    args = parser.parse_args()
    size = (7, 7, 512) if args.network == "vgg16_dense" else (args.size, args.size, 3)
    net = Network(args.network, args.seed, size, args.headless)
    NETWORKS[args.network](net)
    net.write(args.output)


if __name__ == "__main__":
    main()
