#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Draws the loss and the accuracy of a training run (train.json of `systole train`) as train.svg and train.png.

Usage: .venv/bin/python scripts/plot_train.py REPORT [--output FOLDER]
"""

import argparse
import json
import pathlib
import sys
import warnings

SMOOTHING = 0.9
FIELDS = ("preset", "backend", "batch", "optimiser", "rate", "test_digits", "curve")


class Failure(Exception):
    """What is wrong with the report."""


def read(path):
    try:
        report = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Failure(f"{path}: {error}") from None
    missing = [field for field in FIELDS if not isinstance(report, dict) or field not in report]
    if missing:
        raise Failure(f"{path}: no report of a training run, it has no '{missing[0]}'")
    if not report["curve"]:
        raise Failure(f"{path}: no steps")
    return report


def smooth(values):
    """Exponential mean, without the pull to 0 at the start."""
    mean, weight, means = 0.0, 0.0, []
    for value in values:
        mean = SMOOTHING * mean + (1 - SMOOTHING) * value
        weight = SMOOTHING * weight + 1 - SMOOTHING
        means.append(mean / weight)
    return means


def draw(report):
    # Takes a second, and bad reports are told at once.
    # Debian's Matplotlib, where another one lies beside it; nothing here is drawn in three dimensions.
    warnings.filterwarnings("ignore", message="Unable to import Axes3D")
    import matplotlib  # pylint: disable=import-outside-toplevel
    from matplotlib import pyplot as plt  # pylint: disable=import-outside-toplevel

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "systole"  # the same report, the same file
    curve = report["curve"]
    steps = [point["step"] for point in curve]
    # A loss that is no number is null.
    losses = [float("nan") if point["loss"] is None else point["loss"] for point in curve]
    tests = [point for point in curve if point["test_right"] >= 0]

    figure, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(8, 6), height_ratios=(3, 2), constrained_layout=True)
    top.plot(steps, losses, color="tab:blue", alpha=0.35, linewidth=1, label="batch")
    top.plot(steps, smooth(losses), color="tab:blue", linewidth=2, label="mean")
    if min(losses) > 0:
        top.set_yscale("log")
    top.set_ylabel("loss (cross-entropy)")
    top.grid(True, which="both", alpha=0.25)
    top.legend(loc="upper right")
    top.set_title(f"Digits network, {report['optimiser']} {report['rate']:g} falling to 0, {report['batch']} digits a step: "
                  f"{report['backend']}, {report['preset']}", fontsize=10)

    bottom.plot(steps, [100 * point["right"] for point in curve], color="tab:green", alpha=0.35, linewidth=1, label="training batch")
    if tests:
        percent = [100 * point["test_right"] / report["test_digits"] for point in tests]
        bottom.plot([point["step"] for point in tests], percent, color="tab:red", marker="o", label=f"{report['test_digits']:,} test digits")
        bottom.annotate(f"{percent[-1]:.2f} %", (tests[-1]["step"], percent[-1]), textcoords="offset points", xytext=(-6, -14), ha="right")
    bottom.set_ylabel("right answers, %")
    bottom.set_xlabel("step")
    bottom.set_ylim(max(0, min(100 * point["right"] for point in curve[len(curve) // 20 :]) - 5), 101)
    bottom.grid(True, alpha=0.25)
    bottom.legend(loc="lower right")
    return figure


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, help="folder of the pictures, the report's by default")
    args = parser.parse_args(words)
    folder = args.output or args.report.parent
    try:
        figure = draw(read(args.report))
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / "train.svg", metadata={"Date": None})
        figure.savefig(folder / "train.png", dpi=120)
    except (Failure, OSError) as error:
        print(f"plot_train: {error}", file=sys.stderr)
        return 1
    print(f"loss curve:    {folder / 'train.svg'}, {folder / 'train.png'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
