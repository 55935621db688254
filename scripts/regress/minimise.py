# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Makes a failing case smaller: fewer items, layers and descriptors, smaller shapes.

A generator records its decisions (tests/testing/choices.h). The case is repeated with some of them left out or made smaller; what fails
for the same cause and is smaller is kept, until nothing more can go or the budget is used up.
"""

import dataclasses
import time


@dataclasses.dataclass
class Budget:
    runs: int = 300
    seconds: float = 180


@dataclasses.dataclass
class Result:
    choices: list   # values; None if there is nothing to choose
    before: float   # sizes, in the generator's unit
    after: float
    text: str
    runs: int


def measure(case):
    """Smaller is simpler: work first, then the number of decisions, then their sum."""
    return case.size, len(case.choices), sum(value for value, _ in case.choices)


def without(case, spans):
    """The decisions with spans left out, and with each the decision to have one more."""
    drop = set()
    for first, last in spans:
        if first > 0 and case.choices[first - 1] == [1, 2]:
            first -= 1
        drop.update(range(first, last))
    return [value for index, (value, _) in enumerate(case.choices) if index not in drop]


def _candidates(case):
    """Lists of decisions to try, the boldest first."""
    spans = sorted((span for span in case.spans if span[1] > span[0]), key=lambda span: span[0])
    size = len(spans)
    while size >= 1:
        for first in range(0, len(spans), size):
            yield without(case, spans[first:first + size])
        size = size // 2
    values = [value for value, _ in case.choices]
    for keep in (len(values) // 2, len(values) * 3 // 4):  # what is behind the end is drawn, or not done
        yield values[:keep]
    for smaller in (lambda value, below: 0, lambda value, below: value // 2, lambda value, below: value - 1,
                    lambda value, below: below - 1 if below <= 4 else value):
        for index, (value, below) in enumerate(case.choices):
            other = smaller(value, below)
            if 0 <= other != value:
                yield values[:index] + [other] + values[index + 1:]


def minimise(case, attempt, budget, clock=time.monotonic):
    """case: of the failing run. attempt(choices): its Case if that fails for the same cause, else None."""
    begin, runs, before = clock(), 0, case.size
    if not case.choices:
        return Result(None, before, before, case.text, 0)
    seen = set()
    progress = True
    while progress:
        progress = False
        for candidate in _candidates(case):
            key = tuple(candidate)
            if key in seen:
                continue
            if runs >= budget.runs or clock() - begin > budget.seconds:
                progress = False
                break
            seen.add(key)
            runs += 1
            found = attempt(candidate)
            if found is not None and measure(found) < measure(case):
                case = found
                progress = True
                break  # its own candidates
    return Result([value for value, _ in case.choices], before, case.size, case.text, runs)
