# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Breaks a unit's RTL at random places, one at a time, and counts how many of these mutants the unit's tests see: docs/regression.md.

Mutants that are not seen, and that Yosys proves to be the same hardware, do not count. Every result is kept: a campaign goes on where it
was, and more mutants are added to those there are.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time

import yaml

import job
import mutants
import plan
import variant

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def read_units():
    return {unit["name"]: unit for unit in yaml.safe_load((HERE / "units.yaml").read_text())["units"]}


def sites(build, unit):
    """All mutants, in files that the unit's models are made of."""
    files = sorted({path for pattern in unit["files"] for path in (ROOT / "rtl").glob(pattern)})
    models = [path for path in (build / "verilated").glob("*.d") if re.fullmatch(unit["models"], path.stem)]
    if not models:
        raise plan.PlanError(f"{build} has no models {unit['models']}: build {unit['program']} first")
    read = {pathlib.Path(word) for path in models for word in path.read_text().split()}
    files = [path for path in files if path in read]
    return [mutant for path in files for mutant in mutants.find(ROOT / "rtl", path.relative_to(ROOT / "rtl").as_posix())]


def run_tests(program, unit, timeout):
    words = [str(program), f"--gtest_filter={unit['tests']}", "--gtest_fail_fast", "--gtest_brief=1"]
    return job.run(words, timeout)


def judge(build, unit, mutant, timeout, proof_seconds):
    """{status: seen, missed, equivalent, or illegal (it does not build), ...}."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="systole_mutant_") as name:
        work = pathlib.Path(name)
        shutil.copytree(ROOT / "rtl", work / "rtl")
        mutant.apply(work / "rtl")
        row = {"mutant": mutant.name, "by": ""}
        try:
            program = variant.build(build, unit["program"], work, unit["models"])
        except variant.VariantError as error:
            row.update(status="illegal", by=str(error).strip().splitlines()[-1][:150])
        else:
            outcome = run_tests(program, unit, timeout)
            if outcome.status != "pass":
                row.update(status="seen", by=outcome.status)
            else:
                same = mutants.equivalent(ROOT / "rtl", work / "rtl", unit, proof_seconds)
                row.update(status="equivalent" if same else "missed")
    row["seconds"] = round(time.monotonic() - begin, 1)
    return row


def score(rows):
    seen = sum(row["status"] == "seen" for row in rows)
    missed = sum(row["status"] == "missed" for row in rows)
    return seen, missed, 100 * seen / (seen + missed) if seen + missed else 0.0


def campaign(args, unit):
    """The exit code."""
    results = args.output / f"{unit['name']}.json"
    data = json.loads(results.read_text()) if results.exists() else {}
    known = {row["mutant"]: row for row in data.get("rows", [])}
    all_sites = sites(args.build, unit)
    current = {mutant.name for mutant in all_sites}
    known = {name: row for name, row in known.items() if name in current}  # the RTL moves on
    random.Random(args.seed).shuffle(all_sites)
    chosen = [mutant for mutant in all_sites if mutant.name not in known][:max(0, args.mutants - len(known))]
    program = args.build / "bin" / unit["program"]
    if not program.exists():
        raise plan.PlanError(f"{program} is not there: build it first")
    base = run_tests(program, unit, 3600)
    if base.status != "pass":
        raise plan.PlanError(f"{unit['program']} fails on the RTL as it is ({base.status})")
    print(f"mutate: {unit['name']}: {len(all_sites)} mutants, {len(known)} judged, {len(chosen)} now; the tests take {base.seconds:.1f} s", flush=True)
    timeout = 10 * base.seconds + 60
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        futures = [pool.submit(judge, args.build, unit, mutant, timeout, args.proof_seconds) for mutant in chosen]
        try:
            for future in concurrent.futures.as_completed(futures):
                row = future.result()
                known[row["mutant"]] = row
                print(f"{row['status']:10} {row['seconds']:6.1f} s  {row['mutant']}", flush=True)
                part = results.with_suffix(".part")
                part.write_text(json.dumps({"unit": unit["name"], "sites": len(all_sites), "rows": list(known.values())}, indent=1) + "\n")
                part.replace(results)
        except BaseException:
            for future in futures:
                future.cancel()
            job.end_all()
            raise
    rows = list(known.values())
    seen, missed, percent = score(rows)
    count = {status: sum(row["status"] == status for row in rows) for status in ("equivalent", "illegal")}
    print(f"mutate: {unit['name']}: {seen} of {seen + missed} seen, {percent:.1f} %; {count['equivalent']} equivalent, "
          f"{count['illegal']} that do not build; {len(rows)} of {len(all_sites)} judged")
    for row in rows:
        if row["status"] == "missed":
            print(f"  not seen: {row['mutant']}")
    return 1 if percent < args.goal else 0


def main():
    units = read_units()
    parser = argparse.ArgumentParser(prog="make mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--unit", action="append", choices=list(units), help="default: all")
    parser.add_argument("--mutants", type=positive, default=40, help="to judge, with those that are judged already")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count() or 1)
    parser.add_argument("--goal", type=float, default=95.0, help="percent of the mutants that count; below: exit code 1")
    parser.add_argument("--proof-seconds", type=float, default=120, help="for each proof of equivalence")
    parser.add_argument("--output", type=pathlib.Path, help="folder of results (default: <build>/mutants)")
    parser.add_argument("--list", action="store_true", help="print the units and how many mutants each has")
    args = parser.parse_args()
    args.output = args.output or args.build / "mutants"
    chosen = [units[name] for name in args.unit or units]
    try:
        if args.list:
            for unit in chosen:
                print(f"{unit['name']:16} {len(sites(args.build, unit)):5} mutants  {unit['program']}")
            return 0
        args.output.mkdir(parents=True, exist_ok=True)
        return max(campaign(args, unit) for unit in chosen)
    except (plan.PlanError, OSError) as error:
        print(f"mutate: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nmutate: ended; what is judged is kept", file=sys.stderr)
        return 130


def positive(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
