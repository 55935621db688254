# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""docs/figures/*.json, timing diagrams as WaveJSON -> SVG.

The part of WaveJSON that they use: levels (0, 1), values (=, with data), the same again (.) and time that is left out (|).
"""

import html
import json
import pathlib

FOLDER = "docs/figures"
FONT = "Helvetica, Arial, sans-serif"
WIDTH, LEFT, TOP, ROW, GAP = 800, 150, 52, 24, 10  # GAP: of a signal without a name
HIGH, LOW = 5, 19  # of a level, below the top of its row
INK, GREY, BLUE = "#222222", "#999999", "#17497f"


class WaveError(ValueError):
    """A file that is no timing diagram."""


def _columns(path, signal, count):
    """The character of each cycle: 0, 1 or = with its text; None where time is left out."""
    wave, data, out, last = signal["wave"], list(signal.get("data", [])), [], None
    if len(wave) != count:
        raise WaveError(f"{path}: {signal['name']} has {len(wave)} cycles, the first signal {count}")
    for place, char in enumerate(wave):
        if char == "|":
            out.append(None)
            continue
        if char == "=":
            if not data:
                raise WaveError(f"{path}: {signal['name']}: no data for cycle {place}")
            last = data.pop(0)
        elif char in "01":
            last = int(char)
        elif char != "." or last is None:
            raise WaveError(f"{path}: {signal['name']}: {char!r} in cycle {place}: known are 0, 1, =, . and |")
        out.append(last)
    if data:
        raise WaveError(f"{path}: {signal['name']}: more data than cycles: {data}")
    return out


def _text(x, y, text, size, anchor="middle", fill=INK, weight="normal"):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" font-weight="{weight}">{html.escape(str(text))}</text>'


def _levels(columns, y, step):
    """The line of a signal, and a shade below what is high."""
    points, shades = [], []
    for place, level in enumerate(columns):
        if level is None:  # the level stays, unless a later cycle says something else
            level = columns[place - 1]
        height = y + (HIGH if level else LOW)
        x = LEFT + place * step
        points += [(x, height), (x + step, height)]
        if level:
            shades.append(f'<rect x="{x:g}" y="{y + HIGH}" width="{step:g}" height="{LOW - HIGH}" fill="#d6e6f7"/>')
    line = "".join(f"{'M' if number == 0 else 'L'}{x:g} {height:g}" for number, (x, height) in enumerate(points))
    return [*shades, f'<path d="{line}" fill="none" stroke="{BLUE}" stroke-width="1.6"/>']


def draw(path, diagram):
    signals = diagram["signal"]
    count = len(signals[0]["wave"])
    step = (WIDTH - LEFT - 14) / count
    bottom = TOP + sum(ROW if signal else GAP for signal in signals)
    height = bottom + 30
    out = [f"<!-- Generated from {path} by scripts/gen/timing.py (make generate): edit the source. -->",
           f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" font-family="{FONT}">',
           f"<title>{html.escape(diagram['head']['text'])}</title>", f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
           _text(16, 26, diagram["head"]["text"], 16, "start", weight="bold"), _text(16, height - 12, diagram["foot"]["text"], 12, "start")]
    for place in range(count + 1):
        x = LEFT + place * step
        out.append(f'<path d="M{x:g} {TOP}V{bottom}" stroke="#dddddd"/>')
    y = TOP
    for signal in signals:
        if not signal:
            y += GAP
            continue
        columns = _columns(path, signal, count)
        out.append(_text(LEFT - 8, y + 17, signal["name"], 13, "end"))
        if all(isinstance(value, str) or value is None for value in columns):
            out += [_text(LEFT + (place + 0.5) * step, y + 16, value, 12, fill=BLUE, weight="bold") for place, value in enumerate(columns) if value is not None]
        else:
            out += _levels(columns, y, step)
        y += ROW
    for place, char in enumerate(signals[0]["wave"]):
        if char == "|":
            x = LEFT + place * step
            out.append(f'<rect x="{x:g}" y="{TOP}" width="{step:g}" height="{bottom - TOP}" fill="#ffffff"/>')
            out += [f'<path d="M{side:g} {TOP}V{bottom}" stroke="{GREY}" stroke-dasharray="4 3"/>' for side in (x, x + step)]
    return "\n".join([*out, "</svg>"]) + "\n"


def generate(root: pathlib.Path) -> dict:
    files = {}
    for source in sorted((root / FOLDER).glob("*.json")):
        path = f"{FOLDER}/{source.name}"
        try:
            files[path.replace(".json", ".svg")] = draw(path, json.loads(source.read_text()))
        except (json.JSONDecodeError, KeyError, IndexError) as error:
            raise WaveError(f"{path}: no timing diagram: {error!r}") from error
    return files
