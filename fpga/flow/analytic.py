# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""A coarse global placement of a mapped netlist: where a cell would like to be, not which site it takes.

Two steps take turns: wires as springs, solved as a sparse linear system (each net by its bounding box: springs to the two outermost pins), and
a look-ahead that cuts the device into halves again and again and moves cells on when a half is fuller than the density. Springs to where
the look-ahead put a cell get stronger with each turn, so that both meet.
"""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

# What a cell takes of a tile, in lookup tables. Flip-flops share slices with lookup tables.
AREA = {"LUT4": 1.0, "CCU2C": 2.0, "TRELLIS_FF": 0.6, "TRELLIS_DPR16X4": 6.0}
TILE = 8 * 1.6
BLOCKS = ("MULT18X18D", "DP16KD")
FREE = ("PFUMX", "L6MUX21")  # part of the slice of what feeds them
CLOCKS = ("CLK", "CLKA", "CLKB", "CLK0", "WCK")
# Nets of more pins lie all over the device wherever their cells are.
LARGEST_NET = 600
ANCHOR = 0.14  # growth of the springs to the look-ahead's places, a turn
FIXED = 1e3


class Placement:
    """x, y: a position for each cell in names, in tiles."""

    def __init__(self, cells, width, height):
        self.names = [name for name, cell in cells.items() if cell["type"] in AREA or cell["type"] in BLOCKS + FREE]
        self.index = {name: number for number, name in enumerate(self.names)}
        self.kind = np.array([cells[name]["type"] for name in self.names])
        self.area = np.array([AREA.get(kind, 0.0) for kind in self.kind])
        self.size = (float(width), float(height))
        ends = {}
        for number, name in enumerate(self.names):
            for port, bits in cells[name]["connections"].items():
                for bit in bits if port not in CLOCKS else ():
                    if isinstance(bit, int):
                        ends.setdefault(bit, set()).add(number)
        nets = [sorted(pins) for pins in ends.values() if 2 <= len(pins) <= LARGEST_NET]
        self.degree = np.array([len(pins) for pins in nets])
        self.first = np.concatenate([[0], np.cumsum(self.degree)[:-1]])
        self.pins = np.concatenate(nets)
        self.net = np.repeat(np.arange(len(nets)), self.degree)
        random = np.random.default_rng(1)
        self.x = self.size[0] / 2 + random.normal(0, 5, len(self.names))
        self.y = self.size[1] / 2 + random.normal(0, 5, len(self.names))

    def length(self, x, y):
        """Of all nets: half the perimeter of their bounding boxes."""
        total = 0
        for place in (x, y):
            at = place[self.pins]
            total += (np.maximum.reduceat(at, self.first) - np.minimum.reduceat(at, self.first)).sum()
        return total

    def _solve(self, at, stiffness, anchor):
        """Positions on one axis in which all springs are in balance."""
        order = np.lexsort((at[self.pins], self.net))
        pins = self.pins[order]
        low, high = pins[self.first], pins[self.first + self.degree - 1]
        ends = [(low, high, self.degree)]
        lows, highs, degrees = (np.repeat(value, self.degree) for value in (low, high, self.degree))
        inner = (pins != lows) & (pins != highs)
        ends += [(pins[inner], outer[inner], degrees[inner]) for outer in (lows, highs)]
        a, b, degree = (np.concatenate(part) for part in zip(*ends))
        spring = 2.0 / (degree - 1) / np.maximum(np.abs(at[a] - at[b]), 0.7)
        count = len(at)
        matrix = scipy.sparse.coo_matrix((-spring, (a, b)), shape=(count, count)).tocsr()
        matrix = matrix + matrix.T
        diagonal = -np.asarray(matrix.sum(1)).ravel() + stiffness + 1e-6
        result, _ = scipy.sparse.linalg.cg(matrix + scipy.sparse.diags(diagonal), stiffness * anchor + 1e-6 * at, x0=at, rtol=1e-4, maxiter=150,
                                           M=scipy.sparse.diags(1 / diagonal))
        return result

    def _look_ahead(self, density):
        """Positions near the present ones in which no part of the device is fuller than the density, if it need not be."""
        place = [self.x.copy(), self.y.copy()]
        parts = [(np.nonzero(self.area > 0)[0], (0.0, 0.0), self.size)]
        while parts:
            cells, low, high = parts.pop()
            if len(cells) == 0:
                continue
            extent = (high[0] - low[0], high[1] - low[1])
            if extent[0] * extent[1] <= 9:
                for axis in (0, 1):
                    order = np.argsort(place[axis][cells], kind="stable")
                    place[axis][cells[order]] = low[axis] + extent[axis] * (np.arange(len(cells)) + 0.5) / len(cells)
                continue
            axis = 0 if extent[0] >= extent[1] else 1
            middle = (low[axis] + high[axis]) / 2
            at = place[axis]
            order = cells[np.argsort(at[cells], kind="stable")]
            filled = np.cumsum(self.area[order])
            room = extent[0] * extent[1] * TILE / 2
            room *= max(density, filled[-1] / (2 * room))
            left = min(max(self.area[order[at[order] < middle]].sum(), filled[-1] - room), room)
            cut = int(np.searchsorted(filled, left + 1e-9))
            for half, begin, end in ((order[:cut], low[axis], middle), (order[cut:], middle, high[axis])):
                bounds = [list(low), list(high)]
                bounds[0][axis], bounds[1][axis] = begin, end
                parts.append((half, tuple(bounds[0]), tuple(bounds[1])))
                least, most = (at[half].min(), at[half].max()) if len(half) else (begin, end)
                if least < begin or most > end:
                    begin, end = max(begin, min(least, end)), min(end, most) if most > begin else end
                    at[half] = begin + (at[half] - least) / max(most - least, 1e-9) * (end - begin)
        return place

    def run(self, turns, density, choose):
        """Places in so many turns. choose(x, y) -> {cell number: (x, y)}: the sites of blocks; those of the last turn are returned. Cells that
        it names before anything is placed (choose(None, None)) stay there."""
        fixed = choose(None, None)
        wanted = None
        for turn in range(turns):
            for axis, name in enumerate(("x", "y")):
                at = getattr(self, name)
                stiffness, anchor = np.zeros(len(at)), at.copy()
                if wanted is not None:
                    anchor = wanted[axis].copy()
                    stiffness = ANCHOR * turn / np.maximum(np.abs(anchor - at), 1.0)
                for cell, site in fixed.items():
                    stiffness[cell], anchor[cell] = FIXED, site[axis]
                for _ in range(2 if turn else 5):
                    at = self._solve(at, stiffness, anchor)
                setattr(self, name, np.clip(at, 1, self.size[axis] - 1))
            wanted = self._look_ahead(density)
            chosen = choose(self.x, self.y)
            for cell, site in chosen.items():
                wanted[0][cell], wanted[1][cell] = site[0], site[1]
        return chosen, self.length(*wanted)
