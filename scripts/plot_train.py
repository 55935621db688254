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
SHARES = ("accuracy", "right")  # results that are drawn in percent
COLORS = ("tab:blue", "tab:orange", "tab:purple", "tab:brown")
FIELDS = ("program", "preset", "backend", "batch", "recipe", "test_samples", "curve")


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
    names = list(curve[0]["metrics"])
    shares = [name for name in names if name in SHARES]
    others = [name for name in names if name not in SHARES]
    tests = [point for point in curve if point["test"].get("right") is not None]
    both = bool(others) and bool(shares or tests)

    figure, axes = plt.subplots(1 + both, 1, sharex=True, squeeze=False, figsize=(8, 6 if both else 4),
                                height_ratios=(3, 2) if both else (1,), constrained_layout=True)
    top, bottom = axes[0][0], axes[-1][0]
    top.set_title(f"{pathlib.Path(report['program']).name}, rate {report['recipe']['rate']:g} falling to 0, {report['batch']} samples a step: "
                  f"{report['backend']}, {report['preset']}", fontsize=10)
    bottom.set_xlabel("step")
    for color, name in zip(COLORS, others):
        # A value that is no number is null.
        values = [float("nan") if point["metrics"][name] is None else point["metrics"][name] for point in curve]
        top.plot(steps, values, color=color, alpha=0.35, linewidth=1)
        top.plot(steps, smooth(values), color=color, linewidth=2, label=f"{name}, mean")
        if min((v for v in values if v == v), default=0) > 0 and len(others) == 1:
            top.set_yscale("log")
            top.set_ylabel(name)
    if others:
        top.grid(True, which="both", alpha=0.25)
        top.legend(loc="upper right")
    if not (shares or tests):
        return figure
    for color, name in zip(("tab:green", "tab:olive"), shares):
        bottom.plot(steps, [100 * (point["metrics"][name] or 0) for point in curve], color=color, alpha=0.35, linewidth=1, label=f"{name} of the batch")
    if tests:
        percent = [100 * point["test"]["right"] for point in tests]
        bottom.plot([point["step"] for point in tests], percent, color="tab:red", marker="o", label=f"{report['test_samples']:,} test samples")
        bottom.annotate(f"{percent[-1]:.2f} %", (tests[-1]["step"], percent[-1]), textcoords="offset points", xytext=(-6, -14), ha="right")
    bottom.set_ylabel("right answers, %")
    seen = [100 * (point["metrics"][name] or 0) for name in shares for point in curve[len(curve) // 20 :]]
    bottom.set_ylim(max(0, min(seen, default=5) - 5), 101)
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
