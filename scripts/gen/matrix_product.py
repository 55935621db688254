# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""docs/figures/matrix_product*.svg: a matrix product in the weight-stationary array, cycle by cycle (docs/matrix_product.md).

The drawing shows the registers of a model of systole_mxu_array_grid with int8 cells of one stage: 3 x 3 cells, two passes, one tile each.
The model is clocked as the RTL is; what leaves it is compared with the product before anything is drawn.
"""

import html

FOLDER = "docs/figures"
FONT = "Helvetica, Arial, sans-serif"
ROWS = COLS = 3
LATENCY = ROWS + COLS + 1  # array_latency of one stage
PASS = COLS + 2  # vectors of a pass: the shortest that runs back to back
A = ((1, 2, 0, 3, 1, 2), (2, 0, 1, 1, 3, 0), (0, 3, 2, 2, 0, 1), (3, 1, 1, 0, 2, 2), (1, 0, 3, 1, 1, 3))
B = ((1, 2, 3), (0, 1, 2), (2, 0, 1), (1, 3, 0), (2, 1, 1), (0, 2, 3))
FIRST, LAST = -2, 2 * PASS + LATENCY - 1  # cycles that are drawn; 0 is the cycle in which the first vector enters
STILLS = (0, 2, 4, 7, 11)
SECONDS = 1.6  # a cycle of the animation

PASSES = ({"fill": "#d6e6f7", "ink": "#17497f"}, {"fill": "#fbe3c2", "ink": "#8a4b00"})
GREY, INK, LINE = "#777777", "#222222", "#999999"


class Grid:
    """The registers of the grid. Values are (pass, number), or None where nothing of a vector is."""

    def __init__(self):
        self.weights = [[[None, None] for _ in range(COLS)] for _ in range(ROWS)]
        self.act = [[None] * COLS for _ in range(ROWS)]
        self.sums = [[None] * COLS for _ in range(ROWS)]
        self.skew = [[None] * row for row in range(ROWS)]  # the oldest last
        self.deskew = [[None] * (COLS - column) for column in range(COLS)]
        self.accumulators = [[None] * COLS for _ in range(PASS)]

    def clock(self, cycle):
        """One edge, behind the cycle: every register takes what stands at its input."""
        vector, tile, left = vector_of(cycle), tile_row_of(cycle), self.leaves(cycle)
        act, sums = [row[:] for row in self.act], [row[:] for row in self.sums]
        for row in range(ROWS):
            entering = None if vector is None else (vector[0], A[vector[1]][vector[0] * ROWS + row])
            line = [entering, *self.skew[row]]
            act[row][0] = line[-1]
            self.skew[row] = line[:-1]
            for column in range(COLS):
                if column:
                    act[row][column] = self.act[row][column - 1]
                sums[row][column] = self.sum_of(row, column)
        for column in range(COLS):
            self.deskew[column] = [self.sums[ROWS - 1][column], *self.deskew[column][:-1]]
        leaving = vector_of(cycle - LATENCY)
        if leaving is not None:
            for column in range(COLS):
                before = self.accumulators[leaving[1]][column] if leaving[0] else (0, 0)
                self.accumulators[leaving[1]][column] = (leaving[0], before[1] + left[column][1])
        self.act, self.sums = act, sums
        if tile is not None:
            for column in range(COLS):
                self.weights[tile[1]][column][tile[0]] = B[tile[0] * ROWS + tile[1]][column]

    def sum_of(self, row, column):
        act = self.act[row][column]
        if act is None:
            return None
        above = self.sums[row - 1][column] if row else (act[0], 0)
        if above is None or above[0] != act[0]:
            raise ValueError("matrix_product: a sum meets an activation of another vector")
        weight = self.weights[row][column][act[0]]
        if weight is None:
            raise ValueError(f"matrix_product: the weight of row {row}, column {column} is used before it is written")
        return (act[0], above[1] + act[1] * weight)

    def leaves(self, cycle):
        """What stands at the outputs, which the accumulators take at the end of the cycle."""
        return None if vector_of(cycle - LATENCY) is None else [line[-1] for line in self.deskew]


def vector_of(cycle):
    """(pass, row of A) of the vector that enters in a cycle."""
    return divmod(cycle, PASS) if 0 <= cycle < 2 * PASS else None


def tile_row_of(cycle):
    """(pass, row) of the weights that are written in a cycle: the first two cycles before a pass's first vector enters."""
    for index in range(2):
        row = cycle - (index * PASS - 2)
        if 0 <= row < ROWS:
            return index, row
    return None


def _text(x, y, text, size=12, anchor="middle", weight="normal", fill=INK):
    """A text; what the whole drawing has is left out."""
    attributes = {"font-size": (size, 12), "text-anchor": (anchor, "middle"), "font-weight": (weight, "normal"), "fill": (fill, INK)}
    own = "".join(f' {name}="{value}"' for name, (value, usual) in attributes.items() if value != usual)
    return f'<text x="{x:g}" y="{y:g}"{own}>{html.escape(str(text))}</text>'


def _register(x, y, value, width=34, height=22):
    kind = PASSES[value[0]] if value else {"fill": "#ffffff", "ink": GREY}
    out = [f'<rect x="{x:g}" y="{y:g}" width="{width}" height="{height}" rx="3" fill="{kind["fill"]}" stroke="{LINE}"/>']
    if value:
        out.append(_text(x + width / 2, y + height / 2 + 4.5, value[1], 13, fill=kind["ink"], weight="bold"))
    return out


def _line(x0, y0, x1, y1):
    return f'<path d="M{x0:g} {y0:g}L{x1:g} {y1:g}" stroke="{LINE}" fill="none" marker-end="url(#head)"/>'


LEFT, TOP, CELL, STEP_X, STEP_Y = 232, 84, (98, 72), 126, 98  # of the cells


def _static():
    """Frames, names and lines, which no cycle changes."""
    out = [_text(16, 24, "Weight-stationary product, 3 x 3 int8 cells of one stage", 16, "start", "bold")]
    out += [_text(16, TOP + 8, "vector", 12, "start", fill=GREY), _text(16, TOP + 22, "enters", 12, "start", fill=GREY),
            _text(96, TOP - 4, "skew", 12, "start", fill=GREY)]
    for row in range(ROWS):
        y = TOP + row * STEP_Y + CELL[1] / 2
        out.append(_line(96 + 40 * row, y, LEFT - 3, y))
        for column in range(COLS - 1):
            x = LEFT + column * STEP_X + CELL[0]
            out.append(_line(x, y, x + STEP_X - CELL[0] - 3, y))
    for column in range(COLS):
        x = LEFT + column * STEP_X + CELL[0] / 2
        for row in range(ROWS):
            y = TOP + row * STEP_Y + CELL[1]
            out.append(_line(x, y, x, y + STEP_Y - CELL[1] - 3))
    bottom = TOP + ROWS * STEP_Y
    out.append(_text(LEFT - 10, bottom + 16, "deskew", 12, "end", fill=GREY))
    out.append(_text(LEFT - 10, bottom + 2 * 28 + 16, "sums leave", 12, "end", fill=GREY))
    x = LEFT + COLS * STEP_X + 6
    out.append(_text(x, TOP - 12, "accumulators", 12, "start", "bold"))
    for row in range(PASS):
        out.append(_text(x, TOP + 15 + row * 28, row, 12, "start", fill=GREY))
    out += [_text(x, TOP + 178, "in a cell:", 12, "start", "bold"), _text(x, TOP + 196, "a  activation", 12, "start"),
            _text(x, TOP + 212, "s  partial sum", 12, "start"), _text(x, TOP + 228, "w  weights of bank 0 | 1", 12, "start")]
    for index, kind in enumerate(PASSES):
        out.append(f'<rect x="{x}" y="{TOP + 244 + 22 * index}" width="16" height="16" rx="3" fill="{kind["fill"]}" stroke="{LINE}"/>')
        out.append(_text(x + 22, TOP + 257 + 22 * index, f"pass {index}: bank {index}", 12, "start"))
    return out


def _cell(grid, row, column, written):
    x, y = LEFT + column * STEP_X, TOP + row * STEP_Y
    out = [f'<rect x="{x}" y="{y}" width="{CELL[0]}" height="{CELL[1]}" rx="5" fill="#f4f4f4" stroke="#3c7d46" stroke-width="1.5"/>']
    out += [_text(x + 11, y + 19, "a", 11, fill=GREY), *_register(x + 20, y + 5, grid.act[row][column], 26, 20),
            _text(x + 55, y + 19, "s", 11, fill=GREY), *_register(x + 64, y + 5, grid.sums[row][column], 30, 20),
            _text(x + 11, y + 54, "w", 11, fill=GREY)]
    act = grid.act[row][column]
    for bank in range(2):
        weight = grid.weights[row][column][bank]
        used = act is not None and act[0] == bank
        if written == (bank, row):
            weight = B[bank * ROWS + row][column]
        kind = PASSES[bank] if used else {"fill": "#ffffff", "ink": INK}
        dash = ' stroke-dasharray="3 2"' if written == (bank, row) else ""
        out.append(f'<rect x="{x + 20 + 38 * bank}" y="{y + 36}" width="36" height="26" rx="3" fill="{kind["fill"]}" '
                   f'stroke="{PASSES[bank]["ink"] if used or dash else LINE}"{dash}/>')
        if weight is not None:
            out.append(_text(x + 38 + 38 * bank, y + 54, weight, 14, fill=kind["ink"], weight="bold" if used else "normal"))
    return out


def _says(cycle):
    """The captions of a cycle, and whether its weights are on their way."""
    vector, tile = vector_of(cycle), tile_row_of(cycle)
    first = f"Vector {vector[1]} of pass {vector[0]} enters." if vector else ("No vector enters." if cycle < 0 else "No more vectors enter.")
    second = f"Row {tile[1]} of tile {tile[0]} is written into bank {tile[0]}." if tile else "No weights are written."
    leaving = vector_of(cycle - LATENCY)
    third = f"The sums of vector {leaving[1]}, pass {leaving[0]}, leave." if leaving else "No sums leave."
    return [first, second, third]


def _frame(grid, cycle):
    vector, tile = vector_of(cycle), tile_row_of(cycle)
    out = [_text(784, 24, f"cycle {cycle}", 16, "end", "bold"), _text(16, 46, "  ".join(_says(cycle)), 13, "start")]
    if tile is not None:
        out.append(_text(LEFT - 10, TOP - 12, f"tile {tile[0]}, row {tile[1]}", 12, "end", fill=PASSES[tile[0]]["ink"]))
        for column in range(COLS):
            out += _register(LEFT + column * STEP_X + 31, TOP - 28, (tile[0], B[tile[0] * ROWS + tile[1]][column]), 36, 22)
    for row in range(ROWS):
        y = TOP + row * STEP_Y + CELL[1] / 2 - 11
        out += _register(60, y, (vector[0], A[vector[1]][vector[0] * ROWS + row]) if vector else None)
        for place, value in enumerate(grid.skew[row]):
            out += _register(102 + 40 * place, y, value)
        for column in range(COLS):
            out += _cell(grid, row, column, tile)
    bottom = TOP + ROWS * STEP_Y
    for column in range(COLS):
        line = grid.deskew[column]
        for place, value in enumerate(line):
            out += _register(LEFT + column * STEP_X + 32, bottom + 28 * (COLS - len(line) + place), value)
    x = LEFT + COLS * STEP_X + 6
    leaving = vector_of(cycle - LATENCY)
    for row in range(PASS):
        for column in range(COLS):
            out += _register(x + 16 + 40 * column, TOP + 28 * row, grid.accumulators[row][column])
        if leaving is not None and leaving[1] == row:
            out.append(f'<rect x="{x + 13}" y="{TOP + 28 * row - 3}" width="120" height="28" rx="4" fill="none" stroke="{PASSES[leaving[0]]["ink"]}" '
                       'stroke-width="2"/>')
    return out


def _svg(body, title, style=""):
    size = (800, TOP + ROWS * STEP_Y + COLS * 28 + 8)
    return "\n".join([
        "<!-- Generated by scripts/gen/matrix_product.py (make generate). -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}" font-family="{FONT}" font-size="12" '
        f'text-anchor="middle" fill="{INK}">',
        f"<title>{html.escape(title)}</title>{style}",
        f'<defs><marker id="head" markerWidth="7" markerHeight="7" refX="5" refY="3" orient="auto"><path d="M0 0L6 3L0 6z" fill="{LINE}"/></marker></defs>',
        f'<rect width="{size[0]}" height="{size[1]}" rx="8" fill="#ffffff"/>', *_static(), *body, "</svg>"]) + "\n"


def states():
    """(cycle, grid) of every cycle that is drawn; the product is checked at the end."""
    grid = Grid()
    for cycle in range(FIRST, LAST + 2):
        yield cycle, grid
        grid.clock(cycle)
    for row, sums in enumerate(grid.accumulators):
        for column, found in enumerate(sums):
            if found is None or found[1] != sum(A[row][k] * B[k][column] for k in range(2 * ROWS)):
                raise ValueError(f"matrix_product: row {row}, column {column}: {found} is not the product")


def generate(root):  # pylint: disable=unused-argument
    frames = {cycle: "".join(_frame(grid, cycle)) for cycle, grid in states()}
    count = len(frames)
    style = ("<style>.f{visibility:hidden;animation:f " + f"{count * SECONDS:g}s step-end infinite" + "}.f.still{visibility:visible}"
             + f"@keyframes f{{0%{{visibility:visible}}{100 / count:.4f}%{{visibility:hidden}}}}"
             + "@media (prefers-reduced-motion:reduce){.f{animation:none}}</style>")
    groups = [f'<g class="f{" still" if cycle == STILLS[2] else ""}" style="animation-delay:{(index - count) * SECONDS:g}s">{frame}</g>'
              for index, (cycle, frame) in enumerate(frames.items())]
    files = {f"{FOLDER}/matrix_product.svg": _svg(groups, "A matrix product in the systolic array, animated", style)}
    for cycle in STILLS:
        files[f"{FOLDER}/matrix_product_{cycle}.svg"] = _svg([frames[cycle]], f"A matrix product in the systolic array: cycle {cycle}")
    return files
