# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Summaries of the runs of an output folder, a JSON file each, and their trends as SVG."""

import io
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHOWN = 60  # runs in a chart


def recorded_cycles():
    """{preset: cycles of the network and of its training step} of the recorded counts."""
    try:
        rows = json.loads((ROOT / "tests" / "data" / "counts.json").read_text())
    except (OSError, ValueError) as error:
        print(f"regress: tests/data/counts.json: {error}")
        return {}
    totals = {}
    for row in rows:
        if row["section"] in ("model", "training"):
            totals[row["preset"]] = totals.get(row["preset"], 0) + row["cycles"]
    return totals


def write(folder, summary):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{summary['id']}.json").write_text(json.dumps(summary, indent=1) + "\n")


def read(folder):
    """All summaries, the oldest first. A file that is none is left out with a word."""
    rows = []
    for path in sorted(folder.glob("*.json")):
        try:
            row = json.loads(path.read_text())
            row["id"], row["jobs"], row["functional"]
            rows.append(row)
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"regress: {path}: no summary of a run: {error}")
    return rows


def charts(rows):
    """SVG texts; none for a single run."""
    rows = rows[-SHOWN:]
    if len(rows) < 2:
        return []
    units = sorted({unit for row in rows for unit in row.get("speeds", {})})
    presets = sorted({preset for row in rows for preset in row.get("cycles", {})})
    return [
        _chart("Coverage, %", rows, {"functional": lambda r: r["functional"], "lines": lambda r: r.get("line"),
                                     "toggles": lambda r: r.get("toggle")}, top=100),
        _chart("Jobs and failures", rows, {"jobs": lambda r: r["jobs"], "failed": lambda r: r["failed"], "causes": lambda r: r["causes"]}),
        _chart("Simulated cycles a second", rows, {unit: lambda r, u=unit: r.get("speeds", {}).get(u) for unit in units}),
        _chart("Recorded cycles of the models (counts.json), against the first run", rows,
               {preset: lambda r, p=preset: _ratio(rows, r, p) for preset in presets}),
    ]


def _ratio(rows, row, preset):
    first = next((r["cycles"][preset] for r in rows if r.get("cycles", {}).get(preset)), None)
    now = row.get("cycles", {}).get(preset)
    return now / first if first and now else None


def _chart(title, rows, lines, top=None):
    import matplotlib  # takes a second: only where there is something to draw
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import MaxNLocator
    figure, axes = pyplot.subplots(figsize=(5.6, 2.9))
    axes.set_title(title, fontsize=10, loc="left")
    for name, value in lines.items():
        values = [value(row) for row in rows]
        if any(v is not None for v in values):
            axes.plot(range(len(rows)), [float("nan") if v is None else v for v in values], marker="o", markersize=3, label=name)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick < len(rows)])
    axes.set_xticklabels([rows[int(tick)]["id"][:10] for tick in axes.get_xticks()], fontsize=7)
    axes.tick_params(axis="y", labelsize=7)
    axes.set_ylim(bottom=0, top=top)
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend(fontsize=7, loc="best")
    figure.tight_layout()
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    svg = text.getvalue()
    return svg[svg.index("<svg"):]
