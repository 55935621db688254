#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""A PyTorch model that is trained and evaluated on a bf16 core: torch.compile does it, nothing else is Systole's.

  make torch ARGS="examples/torch_mnist.py --digits tests/data/mnist"
"""

import argparse
import gzip
import pathlib

import torch
from torch import nn


def digits(folder, kind, count):
    """Images (count, 1, 28, 28) in 0 to 1 and labels, from files as MNIST comes."""
    def read(name, header):
        path = folder / name
        content = path.read_bytes() if path.exists() else gzip.decompress(path.with_name(name + ".gz").read_bytes())
        return torch.frombuffer(bytearray(content[header:]), dtype=torch.uint8)
    images = read(f"{kind}-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28)[:count].float() / 255
    return images, read(f"{kind}-labels-idx1-ubyte", 8)[:count].long()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digits", type=pathlib.Path, required=True, help="folder of test-images-idx3-ubyte and its like")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--save", type=pathlib.Path, help="write the trained model as a StableHLO file")
    args = parser.parse_args()

    # Four fifths of the digits to learn from, the others to be judged by.
    images, labels = digits(args.digits, "test", 10000)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(1))
    learn, judge = order[: len(order) * 4 // 5], order[len(order) * 4 // 5 :]

    torch.manual_seed(1)
    torch.set_float32_matmul_precision("medium")  # one pass of bf16, as training on a TPU
    model = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Flatten(), nn.Linear(32 * 7 * 7, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    compiled = torch.compile(model, backend="systole")

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        batches = learn[torch.randperm(len(learn))].split(args.batch)
        for batch in batches:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(compiled(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            right = sum(int((compiled(images[part]).argmax(1) == labels[part]).sum()) for part in judge.split(500))
        print(f"epoch {epoch + 1}: loss {total / len(batches):.4f}, {100 * right / len(judge):.2f} % of {len(judge)} digits", flush=True)

    if args.save:
        import systole_torch

        systole_torch.export(model, (images[:1],), args.save)
        print(f"wrote {args.save}: systole run {args.save} --random 1 --check {args.save}")


if __name__ == "__main__":
    main()
