#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Recognises handwritten digits on a core, with NumPy arrays alone; on the RTL it says where the cycles go.

    python digits_numpy.py --backend rtl --preset nano --count 8 --page profile.html
"""

import argparse
import pathlib
import sys

import numpy as np
import systole


def main():
    share = pathlib.Path(__file__).resolve().parents[2]  # of an installation: PREFIX/share/systole
    if not (share / "digits").exists():  # of a built clone
        share = share / "build/share/systole"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="iss", choices=["iss", "rtl"], help="simulator, or RTL")
    parser.add_argument("--preset", default="edge", help="configuration of the core")
    parser.add_argument("--count", type=int, default=8, help="digits to recognise")
    parser.add_argument("--share", type=pathlib.Path, default=share, help="folder with the test digits in digits/")
    parser.add_argument("--model", type=pathlib.Path,
                        help="a .tflite of 28 x 28 images (default: models/mnist_cnn.tflite in there)")
    parser.add_argument("--page", type=pathlib.Path, help="write the profile of the last batch there (rtl)")
    args = parser.parse_args()

    images = np.fromfile(args.share / "digits/test-images-idx3-ubyte", np.uint8, offset=16)
    images = images.reshape(-1, 28, 28, 1)[:args.count]
    labels = np.fromfile(args.share / "digits/test-labels-idx1-ubyte", np.uint8, offset=8)[:args.count]

    program = systole.load(args.model or args.share / "models/mnist_cnn.tflite", preset=args.preset, batch=4)
    with systole.Device(args.backend, preset=args.preset, profile=args.backend == "rtl") as device:
        scores, = device.run(program, images.astype(np.float32) / 255)
        found = scores.argmax(axis=1)
        print("digits:", *found)
        print(f"{(found == labels).sum()} of {len(labels)} right on {args.backend}, {args.preset}")
        if args.backend == "rtl":
            vectors = device.counters["mxu_vectors"]
            print(f"{device.stats.cycles:,} cycles, {vectors:,} vectors through the array; of the last batch:")
            for layer in device.layers():
                print(f"  {layer.name:12} {layer.op:8} {layer.cycles:10,} cycles")
            longest = max(device.timeline(), key=lambda event: event.end - event.start)
            print(f"longest descriptor: {longest.name} on the {longest.unit}, {longest.end - longest.start:,} cycles")
            if args.page:
                device.write_profile(args.page)


if __name__ == "__main__":
    try:
        main()
    except (systole.Error, OSError) as error:
        sys.exit(f"digits_numpy: {error}")
