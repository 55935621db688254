# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""docs/figures/architecture.yaml -> the drawing of the architecture as SVG. Each module that a box names has to exist."""

import html
import pathlib

import yaml

SOURCE = "docs/figures/architecture.yaml"
FONT = "Helvetica, Arial, sans-serif"
LINES = {"data": "#333333", "control": "#b7791f"}
HEAD = 8  # pixels of an arrow's head


def _text(x: float, y: float, text: str, size: int, anchor: str = "middle", weight: str = "normal", fill: str = "#222222") -> str:
    return (f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{fill}">'
            f"{html.escape(text)}</text>")


def _box(box: dict, kinds: dict) -> list:
    x, y, width, height = box["at"]
    kind = kinds[box["kind"]]
    out = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{kind["fill"]}" stroke="{kind["stroke"]}" stroke-width="1.5">',
           f'<title>{html.escape(", ".join(box.get("modules", [box["title"]])))}</title></rect>']
    if box.get("frame"):
        return [*out, _text(x + 10, y + 19, box["title"], 14, "start", "bold")]
    middle = y + height / 2
    if "text" not in box:
        return [*out, _text(x + width / 2, middle + 5, box["title"], 14, weight="bold")]
    return [*out, _text(x + width / 2, middle - 4, box["title"], 14, weight="bold"), _text(x + width / 2, middle + 14, box["text"], 12)]


def _anchor(boxes: dict, where: str) -> tuple:
    name, side, percent = where.split(".", 2)
    if name not in boxes:
        raise ValueError(f"{SOURCE}: an arrow at {where}: there is no box {name}")
    x, y, width, height = boxes[name]["at"]
    part = float(percent) / 100
    return {"l": (x, y + height * part), "r": (x + width, y + height * part),
            "t": (x + width * part, y), "b": (x + width * part, y + height)}[side]


def _head(tip: tuple, before: tuple, colour: str) -> str:
    """A triangle at the end of a line that is horizontal or vertical there."""
    dx, dy = tip[0] - before[0], tip[1] - before[1]
    ux, uy = (dx > 0) - (dx < 0), (dy > 0) - (dy < 0)
    if abs(dx) > abs(dy):
        uy = 0
    else:
        ux = 0
    base = (tip[0] - HEAD * ux, tip[1] - HEAD * uy)
    half = HEAD / 2
    corners = [tip, (base[0] - half * uy, base[1] - half * ux), (base[0] + half * uy, base[1] + half * ux)]
    return f'<polygon points="{" ".join(f"{x:g},{y:g}" for x, y in corners)}" fill="{colour}"/>'


def _arrow(arrow: dict, boxes: dict) -> list:
    points = [_anchor(boxes, arrow["from"]), *map(tuple, arrow.get("via", [])), _anchor(boxes, arrow["to"])]
    # The ends stand straight on their boxes: a point on the way moves onto the line of its end.
    if not arrow.get("via"):
        (x0, y0), (x1, y1) = points
        points[1] = (x0, y1) if arrow["to"].split(".")[1] in "tb" else (x1, y0)
    colour = LINES[arrow.get("kind", "data")]
    line = " ".join(f"{x:g},{y:g}" for x, y in points)
    out = [f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"/>', _head(points[-1], points[-2], colour)]
    if arrow.get("both"):
        out.append(_head(points[0], points[1], colour))
    if "label" in arrow:
        x, y, text = arrow["label"]
        out.append(_text(x, y, text, 12, "start", fill=colour))
    return out


def draw(figure: dict, modules: set) -> str:
    for name, box in figure["boxes"].items():
        for module in box.get("modules", []):
            if module not in modules:
                raise ValueError(f"{SOURCE}: box {name} names {module}, which is not in rtl/")
    width, height = figure["size"]
    out = [f"<!-- Generated from {SOURCE} by scripts/generate.py: edit the source. -->",
           f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="{FONT}">',
           "<title>Architecture of Systole</title>", f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for box in figure["boxes"].values():
        out += _box(box, figure["kinds"])
    for arrow in figure["arrows"]:
        out += _arrow(arrow, figure["boxes"])
    return "\n".join([*out, "</svg>"]) + "\n"


def generate(root: pathlib.Path) -> dict:
    figure = yaml.safe_load((root / SOURCE).read_text())
    modules = {path.stem for path in (root / "rtl").rglob("*.sv")}
    return {SOURCE.replace(".yaml", ".svg"): draw(figure, modules)}
