# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The worst paths of a routed design, from the delays (SDF) that the router wrote: it reports one path only.

A path ends at a pin with a set-up time; paths that differ in bits of the same registers count once.
"""

import collections
import re

CELL = re.compile(r'\(CELL\s*\(CELLTYPE "([^"]*)"\)\s*\(INSTANCE ([^)]*)\)(.*?)(?=\n  \(CELL|\Z)', re.S)
TRIPLE = r"\(([-\d.]*):[-\d.]*:([-\d.]*)\)"
PATH = re.compile(rf"\(IOPATH (\(\w+ [^)]+\)|\S+) (\S+) {TRIPLE}")
WIRE = re.compile(rf"\(INTERCONNECT (\S+) (\S+) {TRIPLE}")
SETUP = re.compile(rf"\((?:SETUPHOLD|SETUP) (?:\(\w+ ([^)]+)\)|(\S+)) \((?:posedge|negedge) ([^)]+)\) {TRIPLE}")


def plain(name):
    """Without the escapes of the file."""
    return name.replace("\\", "").strip()


def base(name):
    """A cell's name without what the mapper appended, and without bit numbers: paths between the same registers are one."""
    name = re.sub(r"(_(LUT4|PFUMX|L6MUX21|CCU2C|TRELLIS_\w+|DP16KD|MULT18X18D).*|\$.*)$", "", name)
    return re.sub(r"\[\d+\]|\.\d+", "", name)


class Design:
    """Pins as nodes; arcs through cells and wires."""

    def __init__(self, text):
        self.out = collections.defaultdict(list)  # pin -> [(pin, ns, through a cell)]
        self.starts = {}  # pin -> clock to output, ns
        self.ends = {}  # pin -> set-up, ns
        self.types = {}
        clocked = []
        for kind, instance, body in CELL.findall(text):
            cell = plain(instance)
            if not cell:
                for source, target, low, high in WIRE.findall(body):
                    self.out[plain(source)].append((plain(target), float(high or low) / 1000, False))
                continue
            self.types[cell] = kind
            # A path from a clock begins there; the router writes an edge with it, or not.
            clocks = {clock for _, _, clock, _, _ in SETUP.findall(body)}
            for source, target, low, high in PATH.findall(body):
                delay = float(high or low) / 1000
                if source.startswith("(") or source in clocks:
                    clocked.append((f"{cell}/{plain(target)}", delay))
                else:
                    self.out[f"{cell}/{plain(source)}"].append((f"{cell}/{plain(target)}", delay, True))
            for edge, pin, _, low, high in SETUP.findall(body):
                self.ends[f"{cell}/{plain(edge or pin)}"] = float(high or low or 0) / 1000
        for pin, delay in clocked:
            self.starts[pin] = max(delay, self.starts.get(pin, 0.0))

    def arrivals(self):
        """Pins in topological order with (ns, logic levels, previous pin)."""
        degree = collections.Counter(target for arcs in self.out.values() for target, _, _ in arcs)
        best = {pin: (delay, 0, None) for pin, delay in self.starts.items()}
        ready = [pin for pin in self.out if degree[pin] == 0]
        while ready:
            pin = ready.pop()
            time, levels, _ = best.get(pin, (None, 0, None))
            for target, delay, cell in self.out.get(pin, ()):
                if time is not None and time + delay > best.get(target, (-1.0,))[0]:
                    best[target] = (time + delay, levels + cell, pin)
                degree[target] -= 1
                if degree[target] == 0:
                    ready.append(target)
        return best

    def worst(self, number):
        """[{ns, levels, routing_ns, from, to}] of the worst paths between different registers."""
        best = self.arrivals()
        ends = sorted(((best[pin][0] + setup, pin) for pin, setup in self.ends.items() if pin in best), reverse=True)
        found, seen = [], set()
        for total, pin in ends:
            routing, node = 0.0, pin
            while best[node][2] is not None:
                previous = best[node][2]
                if previous.rsplit("/", 1)[0] != node.rsplit("/", 1)[0]:
                    routing += best[node][0] - best[previous][0]
                node = previous
            first, last = node.rsplit("/", 1)[0], pin.rsplit("/", 1)[0]
            if (base(first), base(last)) in seen:
                continue
            seen.add((base(first), base(last)))
            found.append({"ns": round(total, 2), "levels": best[pin][1], "routing_ns": round(routing, 2), "from": first, "to": last})
            if len(found) == number:
                break
        return found
