# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Breaks a unit's RTL at random places, one at a time, and counts how many of these mutants the tests see: docs/regression.md.

The unit is built with many mutants inside, of which each run of its tests has one.
Mutants that are not seen, and that are proved to be the same hardware (equivalence.py), do not count. Every result is kept: a campaign goes on where it
was, and more mutants are added to those there are.
"""

import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import random
import re
import sys
import tempfile
import time

import yaml

import designs
import equivalence
import job
import mutants
import plan
import schema
import variant

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def read_units():
    """{name: unit}, each with its runs in place of their names."""
    data = yaml.safe_load((HERE / "units.yaml").read_text())
    for unit in data["units"]:
        unit["sites"] = data["runs"][unit.get("sites", unit["runs"][0])]
        unit["runs"] = [data["runs"][name] for name in unit["runs"]]
    return {unit["name"]: unit for unit in data["units"]}


def sites(build, unit):
    """All mutants, in files that the models of the unit's first run, or of that which it names for this, are made of."""
    files = sorted({path for pattern in unit["files"] for path in ROOT.glob(pattern)})
    run = unit["sites"]
    models = [path for path in (build / "verilated").glob("*.d") if re.fullmatch(run["models"], path.stem)]
    if not models:
        raise plan.PlanError(f"{build} has no models {run['models']}: build {run['program']} first")
    read = {pathlib.Path(word) for path in models for word in path.read_text().split()}
    files = [path for path in files if path in read]
    if not files:
        raise plan.PlanError(f"{unit['name']}: no model {run['models']} reads {' '.join(unit['files'])}")
    return [mutant for path in files for mutant in mutants.find(ROOT, path.relative_to(ROOT).as_posix())]


def content(mutant):
    """Of the file that it changes: a result is good for that."""
    return hashlib.sha256((ROOT / mutant.file).read_bytes()).hexdigest()[:16]


def run_tests(program, run, timeout, number=0):
    words = [str(program), *run.get("arguments", []), f"--gtest_filter={run['tests']}", "--gtest_fail_fast", "--gtest_brief=1"]
    return job.run(words, timeout, variables={schema.VARIABLE: str(number), "SYSTOLE_LONG": "1"})


def what_saw(run, outcome):
    """For people: the test, or how the program ended."""
    failed = re.search(r"\[  FAILED  \] (\w[\w/.]*)", outcome.output)
    return f"{run['program']}: {failed[1] if failed else outcome.status}"


def proofs(args, unit, missed, keep):
    """Calls keep(mutant, status) for each of the mutants that no test saw: equivalent, illegal or missed."""
    def prove(mutant):
        try:
            return "equivalent" if prover.equivalent(mutant, args.proof_seconds) else "missed"
        except equivalence.IllegalError:
            return "illegal"

    with tempfile.TemporaryDirectory(prefix="systole_proof_") as name, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        prover = equivalence.Prover(unit, pathlib.Path(name), copy_sources)
        # The first one alone: it reads the unit as it is, for all.
        for some in (missed[:1], missed[1:]):
            futures = {pool.submit(prove if args.proof_seconds else lambda mutant: "missed", mutant): mutant for mutant in some}
            for future in concurrent.futures.as_completed(futures):
                keep(futures[future], future.result())


def copy_sources(work):
    schema.copy_sources(ROOT, work)


def base_run(program, run):
    """Of the RTL as it is. The guards alone must change nothing."""
    base = run_tests(program, run, 3600)
    if base.status != "pass":
        raise plan.PlanError(f"{run['program']} fails without a mutant, by the RTL or by the guards of the mutants ({base.status}):\n"
                             f"{base.output[-2000:]}")
    return base.seconds


def result(mutant, status, by="", seconds=0.0):
    return {"mutant": mutant.name, "content": content(mutant), "status": status, "by": by, "seconds": round(seconds, 1)}


def judge_batch(args, unit, batch, keep):
    """Builds the unit with all mutants of a batch, and calls keep(row) for each, {mutant, status: seen, missed, equivalent, refused, ...}."""
    numbered = dict(enumerate(batch, 1))

    def row(number, status, by="", seconds=0.0):
        keep(result(numbered[number], status, by, seconds))

    with tempfile.TemporaryDirectory(prefix="systole_schema_") as name, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        built = schema.Schema(args.build, ROOT, numbered, pathlib.Path(name))
        left = list(numbered)
        for run in unit["runs"][:args.runs]:
            begin = time.monotonic()
            program = built.build(run)
            for number in [number for number in left if number in built.refused]:
                row(number, "refused")
            left = [number for number in left if number not in built.refused]
            middle = time.monotonic()
            seconds = base_run(program, run)
            print(f"mutate: {unit['name']}: {run['program']} with {len(built.numbered)} mutants: {middle - begin:.0f} s to build; "
                  f"the tests take {seconds:.1f} s, for {len(left)} mutants", flush=True)
            futures = {pool.submit(run_tests, program, run, 3 * seconds + 5, number): number for number in left}
            left = []
            try:
                for future in concurrent.futures.as_completed(futures):
                    outcome = future.result()
                    if outcome.status == "pass":
                        left.append(futures[future])
                    else:
                        row(futures[future], "seen", what_saw(run, outcome), outcome.seconds)
            except BaseException:
                for future in futures:
                    future.cancel()
                job.end_all()
                raise
            if not left:
                return
    for number in left:  # a proof takes long: what ends it loses no tests
        row(number, "missed")
    if args.proof_seconds:
        proofs(args, unit, [numbered[number] for number in left], lambda mutant, status: keep(result(mutant, status)))


def judge_rebuilt(args, unit, mutant):
    """The row of one mutant, for which the programs are built."""
    begin = time.monotonic()
    row = result(mutant, "missed")
    with tempfile.TemporaryDirectory(prefix="systole_mutant_") as name:
        work = pathlib.Path(name)
        copy_sources(work)
        mutant.apply(work)
        try:
            for run in unit["runs"][:args.runs]:
                program = variant.build(args.build, run["program"], work, run["models"], schema.FLAGS)
                outcome = run_tests(program, run, args.timeout)
                if outcome.status != "pass":
                    row.update(status="seen", by=what_saw(run, outcome))
                    break
        except variant.VariantError as error:
            row.update(status="illegal", by=str(error).strip().splitlines()[-1][:150])
    if row["status"] == "missed":
        proofs(args, unit, [mutant], lambda _, status: row.update(status=status))
    row["seconds"] = round(time.monotonic() - begin, 1)
    return row


def score(rows):
    seen = sum(row["status"] == "seen" for row in rows)
    missed = sum(row["status"] == "missed" for row in rows)
    return seen, missed, 100 * seen / (seen + missed) if seen + missed else 100.0


def interval(seen, counted):
    """Percent between which the score of all mutants lies, with 95 % confidence, by that of a sample (Wilson)."""
    if not counted:
        return 0.0, 100.0
    z, part = 1.96, seen / counted
    middle, half = part + z * z / (2 * counted), z * math.sqrt(part * (1 - part) / counted + z * z / (4 * counted * counted))
    return tuple(100 * (middle + side) / (1 + z * z / counted) for side in (-half, half))


class Results:
    """The rows of a unit, in a file that is whole at any time."""

    def __init__(self, path, unit, current):
        """current: {name: content} of the mutants that there are; rows of others are left out, for the RTL moves on."""
        self.path, self.unit, self.sites = path, unit, len(current)
        rows = json.loads(path.read_text())["rows"] if path.exists() else []
        self.rows = {row["mutant"]: row for row in rows if current.get(row["mutant"]) == row.get("content")}

    def keep(self, row):
        self.rows[row["mutant"]] = row
        print(f"{row['status']:10} {row['seconds']:6.1f} s  {row['mutant']}", flush=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({"unit": self.unit, "sites": self.sites, "rows": list(self.rows.values())}, indent=1) + "\n")
        part.replace(self.path)


def campaign(args, unit):
    """The exit code."""
    everything = sites(args.build, unit)
    results = Results(args.output / f"{unit['name']}.json", unit["name"], {mutant.name: content(mutant) for mutant in everything})
    everything = [mutant for mutant in everything if mutant.kind in args.kinds]
    kinds = {mutant.name: mutant.kind for mutant in everything}
    again = {name for name, row in results.rows.items() if args.again and row["status"] == "missed" and name in kinds}
    free = [mutant for mutant in everything if args.rebuild or not mutant.constant]
    random.Random(args.seed).shuffle(free)
    judged = results.rows.keys() & kinds.keys() - again
    fresh = [mutant for mutant in free if mutant.name not in results.rows]
    if args.mutants:
        fresh = fresh[:max(0, args.mutants - len(results.rows.keys() & kinds.keys()))]
    chosen = [mutant for mutant in free if mutant.name in again] + fresh
    print(f"mutate: {unit['name']}: {len(everything)} mutants, {len(everything) - len(free)} of them in constants, {len(judged)} judged, "
          f"{len(chosen)} now", flush=True)
    if args.prove:
        missed = [mutant for mutant in free if results.rows.get(mutant.name, {}).get("status") == "missed"]
        proofs(args, unit, missed, lambda mutant, status: results.keep(result(mutant, status)))
    elif args.rebuild:
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for row in pool.map(lambda mutant: judge_rebuilt(args, unit, mutant), chosen):
                results.keep(row)
    else:
        for first in range(0, len(chosen), args.batch):
            judge_batch(args, unit, chosen[first:first + args.batch], results.keep)
    rows = [row for name, row in results.rows.items() if name in kinds]
    seen, missed, percent = score(rows)
    count = {status: sum(row["status"] == status for row in rows) for status in ("equivalent", "refused", "illegal")}
    low, high = interval(seen, seen + missed)
    print(f"mutate: {unit['name']}: {seen} of {seen + missed} seen, {percent:.1f} % ({low:.1f} to {high:.1f}); {count['equivalent']} equivalent, "
          f"{count['illegal'] + count['refused']} that do not build; {len(rows)} of {len(everything)} judged, "
          f"{len(everything) - len(free)} in constants")
    for kind in args.kinds if len(args.kinds) > 1 else ():
        of_kind = [row for row in rows if kinds[row["mutant"]] == kind]
        if of_kind:
            print(f"  {kind:12} {score(of_kind)[0]} of {sum(score(of_kind)[:2])} seen, {len(of_kind)} judged")
    for row in rows:
        if row["status"] == "missed":
            print(f"  not seen: {row['mutant']}")
    return 1 if percent < args.goal else 0


def main():
    units = read_units()
    parser = argparse.ArgumentParser(prog="make mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--unit", action="append", choices=list(units), help="default: all")
    parser.add_argument("--mutants", type=number_or_all, default=60, help="to judge, with those that are judged already; `all`")
    parser.add_argument("--kinds", type=kinds, default=("operator", *designs.KINDS), help=f"of mutants, with commas between: operator (a single operator, "
                        f"condition, constant or assignment), {', '.join(designs.KINDS)}; `design`: all but operator; default: all")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count() or 1)
    parser.add_argument("--goal", type=not_negative, default=95.0, help="percent of the mutants that count; below: exit code 1")
    parser.add_argument("--proof-seconds", type=not_negative, default=60, help="of the processor, for each step of a proof of equivalence; 0: none")
    parser.add_argument("--batch", type=positive, default=150, help="mutants in one build")
    parser.add_argument("--runs", type=positive, help="only the first so many runs of each unit: the later ones build whole cores")
    parser.add_argument("--again", action="store_true", help="judge again what was missed: the tests are better now")
    parser.add_argument("--prove", action="store_true", help="only try to prove what was missed equivalent; no test runs")
    parser.add_argument("--rebuild", action="store_true", help="build each mutant by itself, also those in constants: slow")
    parser.add_argument("--timeout", type=not_negative, default=300, help="seconds for a run of the tests, with --rebuild")
    parser.add_argument("--output", type=pathlib.Path, help="folder of results (default: <build>/mutants)")
    parser.add_argument("--list", action="store_true", help="print the units and how many mutants each has")
    args = parser.parse_args()
    args.output = args.output or args.build / "mutants"
    chosen = [units[name] for name in args.unit or units]
    try:
        if args.list:
            for unit in chosen:
                found = [mutant for mutant in sites(args.build, unit) if mutant.kind in args.kinds]
                print(f"{unit['name']:16} {len(found):5} mutants  {' '.join(run['program'] for run in unit['runs'])}")
            return 0
        args.output.mkdir(parents=True, exist_ok=True)
        return max(campaign(args, unit) for unit in chosen)
    except (plan.PlanError, variant.VariantError, OSError) as error:
        print(f"mutate: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nmutate: ended; what is judged is kept", file=sys.stderr)
        return 130


def number_or_all(text):
    return 0 if text == "all" else positive(text)


def kinds(text):
    known = ("operator", *designs.KINDS)
    chosen = designs.KINDS if text == "design" else tuple(text.split(","))
    if unknown := [kind for kind in chosen if kind not in known]:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is none of {', '.join(known)}, design")
    return chosen


def positive(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def not_negative(text):
    if not re.fullmatch(r"\d+(\.\d+)?", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 on")
    return float(text)


if __name__ == "__main__":
    sys.exit(main())
