#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Draws the layers of measured models (bench_models.json of `systole bench MODEL...`): cycles and HBM bytes.

Usage: .venv/bin/python scripts/plot_models.py REPORT --output PICTURE.svg
"""

import argparse
import json
import pathlib
import sys

FIELDS = ("section", "model", "name", "cycles", "ideal_cycles", "expected_cycles", "hbm_read_bytes", "hbm_write_bytes", "least_hbm_bytes")


class Failure(Exception):
    """What is wrong with the report."""


def read(path):
    """The records of each model, by name: its layers, and the whole."""
    try:
        records = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Failure(f"{path}: {error}") from None
    if not isinstance(records, list) or not records:
        raise Failure(f"{path}: no report of measured models")
    models = {}
    for record in records:
        missing = [field for field in FIELDS if not isinstance(record, dict) or field not in record]
        if missing:
            raise Failure(f"{path}: no report of measured models, a record has no '{missing[0]}'")
        if record["cycles"] is None:
            raise Failure(f"{path}: no cycles; only the RTL has them")
        layers, whole = models.setdefault(record["model"], ([], []))
        (layers if record["section"] == "layer" else whole).append(record)
    for name, (layers, whole) in models.items():
        if not layers or len(whole) != 1:
            raise Failure(f"{path}: {name} is not whole")
    return models


def bars(axes, groups, title):
    """Groups of bars: (label, values)."""
    width = 0.8 / len(groups)
    for index, (label, values) in enumerate(groups):
        left = [layer - 0.4 + width * index for layer in range(len(values))]
        axes.bar(left, values, width=width, align="edge", label=label)
    axes.set_title(title, fontsize=9)
    axes.set_xticks(range(len(groups[0][1])))
    axes.tick_params(labelsize=7)
    axes.legend(fontsize=7)


def draw(models):
    import matplotlib  # only where there is something to draw

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "systole"  # the same report, the same file
    matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text
    from matplotlib import pyplot as plt

    figure, rows = plt.subplots(len(models), 2, figsize=(13, 3.1 * len(models)), squeeze=False, constrained_layout=True)
    for axes, (name, (layers, (whole,))) in zip(rows, models.items()):
        share = whole["ideal_cycles"] / whole["cycles"]
        error = whole["expected_cycles"] / whole["cycles"] - 1
        bars(axes[0], [("ideal", [r["ideal_cycles"] for r in layers]),
                       ("expected", [r["expected_cycles"] for r in layers]),
                       ("measured", [r["cycles"] for r in layers])],
             f"{name} on {whole['preset']}: {whole['cycles']:,} cycles, {share:.1%} of ideal, prediction {error:+.1%}")
        axes[0].set_ylabel("cycles of the layer", fontsize=8)
        moved = whole["hbm_read_bytes"] + whole["hbm_write_bytes"]
        bars(axes[1], [("least", [r["least_hbm_bytes"] for r in layers]),
                       ("moved", [r["hbm_read_bytes"] + r["hbm_write_bytes"] for r in layers])],
             f"HBM: {moved:,} bytes, {moved / whole['least_hbm_bytes']:.2f} times the least")
        axes[1].set_ylabel("bytes of the layer", fontsize=8)
    return figure


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True, help="picture: .svg or .png")
    args = parser.parse_args(words)
    if args.output.suffix not in (".svg", ".png"):
        parser.error(f"--output {args.output}: a picture is .svg or .png")
    try:
        figure = draw(read(args.report))
        args.output.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(args.output, dpi=120, metadata={"Date": None} if args.output.suffix == ".svg" else None)
    except Failure as failure:
        print(f"plot_models: {failure}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"plot_models: {args.output}: cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
