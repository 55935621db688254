#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Fetches the four int8 models of MLPerf Tiny from the benchmark's public repository (mlcommons/tiny, Apache-2.0).

Usage: scripts/python scripts/fetch_models.py FOLDER, then export SYSTOLE_MLPERF_TINY=FOLDER. Files that are there and right are kept.
"""

import argparse
import hashlib
import os
import pathlib
import sys
import urllib.request

# The commit whose files these are, then the newest one; the digest decides.
SOURCES = [f"https://github.com/mlcommons/tiny/raw/{version}/benchmark/training" for version in ("1afd2c9", "master")]
TIMEOUT_SECONDS = 60
# Our name, path in the repository, SHA-256.
MODELS = (
    ("ad_autoencoder_int8.tflite", "anomaly_detection/trained_models/ad01_int8.tflite",
     "87cf24194ef93d1d9b11a591d805526b98008e351655d29883c825c9c106ba24"),
    ("ic_resnet8_int8.tflite", "image_classification/trained_models/pretrainedResnet_quant.tflite",
     "3c002613d1b2475eb51dd78dfb85a546c8ae658dee71cf6ade43b022fe205415"),
    ("kws_dscnn_int8.tflite", "keyword_spotting/trained_models/kws_ref_model.tflite",
     "aeea436800704fce17b17292e4412630ad856e9d777c044c64ef748a880bd0ae"),
    ("vww_mobilenet025_96_int8.tflite", "visual_wake_words/trained_models/vww_96_int8.tflite",
     "597a384c8c2c8a1276f04702f25013b7838f2f814f1ca7c174d295b73e3d6b7b"),
)


class NotFound(Exception):
    """No source has the file, or they have another one."""


def digest(data):
    return hashlib.sha256(data).hexdigest()


def fetch(url):
    with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as reply:
        return reply.read()


def find(path, expected, sources):
    """The file of that digest, from the first source that has it."""
    problems = []
    for source in sources:
        try:
            data = fetch(f"{source}/{path}")
            if digest(data) == expected:
                return data
            problems.append(f"{source}/{path}: SHA-256 {digest(data)} instead of {expected}")
        except OSError as error:  # URLError is one
            problems.append(f"{source}/{path}: {error}")
    raise NotFound("; ".join(problems))


def place(folder, name, path, expected, sources):
    """Puts one model into the folder; what was done."""
    target = folder / name
    if target.exists() and digest(target.read_bytes()) == expected:
        return "there already"
    data = find(path, expected, sources)
    partial = target.with_suffix(".part")
    partial.write_bytes(data)
    os.replace(partial, target)
    return f"fetched, {len(data)} bytes"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--source", action="append", help="address of the repository's folder benchmark/training, instead of the public ones")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, path, expected in MODELS:
        try:
            print(f"{args.folder / name}: {place(args.folder, name, path, expected, args.source or SOURCES)}")
        except (OSError, NotFound) as error:
            print(f"fetch_models: {name}: {error}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
