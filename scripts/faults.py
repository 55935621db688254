# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""Fault campaign: turns single bits of the running chip until there are so many, and prints what became of them.

Batches with fresh seeds go on where the results' file ends. docs/faults.md.
"""

import argparse
import collections
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUTCOMES = ("masked", "corrected", "reported", "silent")
Z = 1.96  # of a confidence of 95 %


def interval(hits, count):
    """Wilson's interval of a share at 95 %."""
    share, square = hits / count, Z * Z / count
    middle = (share + square / 2) / (1 + square)
    half = Z * math.sqrt(share * (1 - share) / count + square / 4 / count) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def read(path):
    """The heads and flips of a results' file; a batch that was cut off does not count."""
    heads, flips, batch = [], [], []
    if path.exists():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                item = json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"{path}:{number}: {error}; --fresh starts anew") from None
            if "end" in item:
                heads.append(item["end"])
                flips += batch
                batch = []
            elif "structure" in item:
                batch.append(item)
            else:
                batch = []
    return heads, flips


def group_sizes(flips):
    """With how many flips of a structure a run begins, so that about every other one has to be looked at in parts."""
    counts = collections.Counter(flip["structure"] for flip in flips)
    others = collections.Counter(flip["structure"] for flip in flips if flip["outcome"] != "masked")
    return {name: max(1, min(32, round(0.7 * (count + 1) / (others[name] + 0.5)))) for name, count in counts.items() if count >= 10}


def run_batch(args, seed, flips, known):
    command = [str(args.binary), "--preset", args.preset, "--seed", str(seed), "--flips", str(flips), "--jobs", str(args.jobs)]
    command += ["--group", str(args.group)] if args.group else ["--groups", json.dumps(group_sizes(known))]
    if args.only:
        command += ["--only", args.only]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(f"{' '.join(command)}: {done.stderr.strip() or f'status {done.returncode}'}")
    # A chip with a turned bit may print what it likes.
    lines = [line for line in done.stdout.splitlines() if line.startswith(('{"preset":', '{"structure":'))]
    if len(lines) != flips + 1 or not lines[0].startswith('{"preset":'):
        raise ValueError(f"{' '.join(command)}: {len(lines)} lines of results for {flips} flips")
    return json.loads(lines[0]), lines[1:]


def rows(heads, flips):
    """Of each structure and of all: name, bits, counts of outcomes, what reported."""
    counts = collections.defaultdict(collections.Counter)
    causes = collections.defaultdict(collections.Counter)
    for flip in flips:
        counts[flip["structure"]][flip["outcome"]] += 1
        if flip["outcome"] == "reported":
            causes[flip["structure"]][flip["detail"]] += 1
    bits = heads[0]["bits"]
    return [(name, bits[name], counts[name], causes[name]) for name in sorted(counts, key=lambda n: -counts[n]["silent"] / sum(counts[n].values()))]


def table(heads, flips):
    out = ["| structure | bits | flips | masked | corrected | reported | silent | 95 % | reported by |", "|---|--:|--:|--:|--:|--:|--:|--:|---|"]
    weighted = total_bits = 0
    for name, bits, counts, causes in rows(heads, flips):
        count = sum(counts.values())
        low, high = interval(counts["silent"], count)
        shares = " | ".join(f"{100 * counts[o] / count:.1f} %" for o in OUTCOMES)
        named = ", ".join(f"{cause} {n}" for cause, n in causes.most_common(4))
        out.append(f"| {name} | {bits:,} | {count:,} | {shares} | {100 * low:.1f} to {100 * high:.1f} | {named} |")
        weighted += bits * counts["silent"] / count
        total_bits += bits
    seconds, copies = (sum(head.get(key, 0) for head in heads) for key in ("cpu_seconds", "copies"))
    if copies:
        out.append(f"\n{copies:,} runs, {sum(head['early'] for head in heads):,} of them ended early; {len(flips) / seconds:.1f} flips a second of processor time.")
    out.append(f"\n{len(flips):,} flips; of a random bit of these structures {100 * weighted / total_bits:.2f} % is silent corruption.")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="nano", help="nano or minichip")
    parser.add_argument("--flips", type=int, default=100000, help="in all, those of earlier calls counted")
    parser.add_argument("--batch", type=int, default=1000, help="flips of one seed")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--group", type=int, default=0, help="flips that a run begins with; default: by what became of earlier ones")
    parser.add_argument("--only", default="", help="one structure")
    parser.add_argument("--results", type=pathlib.Path, help="file; default: build/reports/faults_PRESET.jsonl")
    parser.add_argument("--binary", type=pathlib.Path, help="default: build/bin/fault_campaign_PRESET")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--table", action="store_true", help="only print the table of what there is")
    args = parser.parse_args()
    args.binary = args.binary or ROOT / f"build/bin/fault_campaign_{args.preset}"
    path = args.results or ROOT / f"build/reports/faults_{args.preset}.jsonl"
    try:
        if args.fresh:
            path.unlink(missing_ok=True)
        heads, flips = read(path)
        while not args.table and len(flips) < args.flips:
            seed = 1 + max((head["seed"] for head in heads), default=0)
            head, lines = run_batch(args, seed, min(args.batch, args.flips - len(flips)), flips)
            if heads and (heads[0]["model"], heads[0]["bits"]) != (head["model"], head["bits"]):
                raise ValueError(f"{path} has results of another state of the RTL: --fresh forgets them")
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write("\n".join([json.dumps({"begin": seed}), *lines, json.dumps({"end": head})]) + "\n")
            heads.append(head)
            flips += [json.loads(line) for line in lines]
            print(f"{len(flips)} of {args.flips} flips", file=sys.stderr, flush=True)
        if not flips:
            raise ValueError(f"{path}: no results yet")
        print(f"`{args.preset}`, programs of {heads[0]['cycles']} cycles\n\n{table(heads, flips)}")
    except (OSError, ValueError) as error:
        print(f"faults: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("faults: stopped; the next call goes on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
