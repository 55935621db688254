# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""What a regression runs: suites of suites.yaml, cut into jobs of some fresh seeds each.

A job is one call of a test program. Jobs come in rounds, one of each suite a round, so that a run that ends early has seen all suites.
"""

import dataclasses
import itertools
import pathlib
import re

import yaml

KINDS = ("programs", "matmuls", "convolutions", "networks", "training", "stalls", "faults", "units", "directed")


class PlanError(Exception):
    """A wrong option or suite; the message names it."""


@dataclasses.dataclass(frozen=True)
class Suite:
    """program: in <build>/bin. args: of the program. tests: GoogleTest filter. cases: seeds a job; 0: as many as the tests have by
    themselves. once: one job a run, with the tests' own seeds. timeout: seconds a job. waves: arguments that record a waveform."""

    name: str
    kind: str
    program: str
    preset: str = ""
    args: tuple = ()
    tests: str = "*"
    cases: int = 0
    once: bool = False
    timeout: int = 600
    waves: tuple = ()


@dataclasses.dataclass(frozen=True)
class Job:
    """One call of a suite's program, with seeds from `seed` on (None: the tests' own)."""

    suite: Suite
    seed: int | None

    @property
    def name(self):
        return self.suite.name if self.seed is None else f"{self.suite.name}.{self.seed}"


def read_suites(path):
    """The suites of a file; PlanError names what is wrong."""
    path = pathlib.Path(path)
    try:
        given = yaml.safe_load(path.read_text())["suites"]
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise PlanError(f"{path}: no list of suites: {error}") from error
    if not isinstance(given, list) or not all(isinstance(row, dict) for row in given):
        raise PlanError(f"{path}: suites is no list of suites")
    fields = {field.name for field in dataclasses.fields(Suite)}
    suites = []
    for row in given:
        row = {key: tuple(map(str, value)) if isinstance(value, list) else value for key, value in row.items()}
        for name in row.keys() - fields:
            raise PlanError(f"{path}: suite {row.get('name', '?')}: no field {name} ({', '.join(sorted(fields))})")
        for name in {"name", "kind", "program"} - row.keys():
            raise PlanError(f"{path}: suite {row.get('name', '?')}: no {name}")
        suite = Suite(**row)
        if suite.kind not in KINDS:
            raise PlanError(f"{path}: suite {suite.name}: no kind {suite.kind} ({', '.join(KINDS)})")
        if any(suite.name == other.name for other in suites):
            raise PlanError(f"{path}: two suites {suite.name}")
        suites.append(suite)
    return suites


def choose(suites, presets=(), pattern="", kinds=()):
    """Those of these presets and kinds whose names the regular expression finds. PlanError if none is left."""
    known = {suite.preset for suite in suites if suite.preset}
    for preset in presets:
        if preset not in known:
            raise PlanError(f"no suite runs on preset {preset} ({', '.join(sorted(known))})")
    for kind in kinds:
        if kind not in KINDS:
            raise PlanError(f"no kind {kind} ({', '.join(KINDS)})")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise PlanError(f"--filter {pattern}: {error}") from error
    chosen = [suite for suite in suites if (not presets or suite.preset in presets) and (not kinds or suite.kind in kinds)
              and compiled.search(suite.name)]
    if not chosen:
        raise PlanError(f"no suite matches (there are {', '.join(suite.name for suite in suites)})")
    return chosen


def jobs(suites, first_seed, seeds=None):
    """Yields jobs: without `seeds` for ever, else until each suite has that many cases."""
    for turn in itertools.count():
        left = False
        for suite in suites:
            if suite.once:
                if turn == 0:
                    yield Job(suite, None)
                continue
            a_job = max(1, suite.cases)
            if seeds is not None and turn * a_job >= seeds:
                continue
            left = True
            yield Job(suite, first_seed + turn * a_job)
        if not left:
            return
