#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""make conformance: models as users build them, converted to int8 by TensorFlow, compared with TensorFlow Lite's reference kernels.

Every output of the simulated core, for every sample, must equal that of the reference kernels, and every tensor in HBM the golden model's.
TensorFlow lives in an environment of its own, which this makes: build/conformance/tf. The table goes to docs/conformance.md.
"""

import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys
import textwrap
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
PAGE = ROOT / "docs" / "conformance.md"
PRESETS = ("nano", "mini", "edge", "v1")
LIMIT = 1800  # seconds for one step of one model


class Failed(Exception):
    """A step of a model failed; the message is its reason."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def environment(folder):
    """The Python of TensorFlow's environment, which is made when it is not there or out of date."""
    wanted, home = (HERE / "requirements.txt").read_text(), folder / "tf"
    stamp = home / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        say(f"conformance: installing TensorFlow into {home} (once, some minutes)")
        steps = ([sys.executable, "-m", "venv", "--clear", home], [home / "bin" / "pip", "-q", "install", "-r", HERE / "requirements.txt"])
        for step in steps:
            if subprocess.run(step).returncode != 0:
                sys.exit(f"conformance: error: {' '.join(map(str, step))} failed")
        stamp.write_text(wanted)
    return home / "bin" / "python"


def reason(text):
    """The line of a program's output that says most."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"error|Error|abort|Aborted|terminate|failed", line)]
    return (errors or lines or ["no output"])[-1][:300]


def run(command, log):
    """The output of a program. Failed with its reason if it fails."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise Failed(f"took more than {LIMIT} s") from None
    log.write_text(done.stdout + done.stderr)
    if done.returncode < 0:
        raise Failed(f"ends with signal {-done.returncode}")
    if done.returncode != 0:
        raise Failed(done.stderr.strip().removeprefix("systole: error: ") if "systole" in str(command[0]) else reason(done.stderr))
    return done.stdout


def compare(what, got, wanted):
    if got.size != wanted.size:
        raise Failed(f"{what}: {got.shape}, the reference kernels {wanted.shape}")
    offset = 128 if wanted.dtype == np.uint8 else 0
    got, wanted = got.ravel().astype(np.float64) + offset, wanted.ravel().astype(np.float64)
    different = np.flatnonzero(got != wanted)
    if different.size:
        at = different[0]
        raise Failed(f"{what}: {different.size} of {got.size} values differ, first [{at}]: {got[at]:g}, reference {wanted[at]:g}")


def convert_drawn(names, args, python):
    """Random graphs that are not there yet, many in one process: TensorFlow takes longer to start than a small model to convert.
    What fails there is converted alone, which tells the reason."""
    folder, several = args.build / "conformance" / "models", 25
    missing = [name for name in names if re.fullmatch(r"random\d+", name) and not (args.resume and (folder / f"{name}.npz").exists())]
    for name in missing:
        for ending in ("tflite", "npz"):
            (folder / f"{name}.{ending}").unlink(missing_ok=True)
    for first in range(0, len(missing), several):
        some = missing[first : first + several]
        say(f"conformance: converting {some[0]} to {some[-1]}")
        try:
            run([python, HERE / "convert.py", *some, folder], folder / "converted.log")
        except Failed as failure:
            say(f"conformance: {failure}")
    return set(missing)


class Model:
    def __init__(self, name, args, python, converted):
        self.name, self.args, self.python, self.folder = name, args, python, args.build / "conformance" / "models"
        self.converted = converted  # just before
        self.file, self.values = self.folder / f"{name}.tflite", self.folder / f"{name}.npz"
        self.row = {"model": name}

    def convert(self):
        if (self.args.resume or self.converted) and self.values.exists():
            return
        keep = ["--reference"] if self.args.resume and self.file.exists() else []
        for path in (self.values,) if keep else (self.file, self.values):
            path.unlink(missing_ok=True)
        try:
            run([self.python, HERE / "convert.py", *keep, self.name, self.folder], self.folder / f"{self.name}.log")
        except Failed as failure:
            where = "reference kernels" if self.file.exists() else "TensorFlow's converter"
            raise Failed(f"{where}: {failure}") from None

    def compile(self):
        program = self.folder / f"{self.name}.tpu"
        out = run([self.args.systole, "compile", self.file, "-o", program, "--preset", self.args.preset, "--keep-intermediates",
                   "--json"], self.folder / f"{self.name}.compile.log")  # fmt: skip
        self.info = json.loads(out)
        self.program = program
        shares = {share["runs_on"]: share for share in self.info["shares"]}
        self.row["operators"] = len(self.info["operators"])
        self.row["placement"] = {unit: [share["operators"], share["macs_share"], share["bytes_share"]] for unit, share in shares.items()}
        self.row["expected"] = self.info["expected_cycles"]
        macs = sum(share["macs"] for unit, share in shares.items() if unit in ("array", "vector unit"))
        programs = self.info.get("programs", [self.info])
        self.row["ideal"] = sum(layer["ideal_cycles"] for program in programs for layer in program["layers"])
        self.row["macs"] = macs

    def execute(self):
        arrays = np.load(self.values)
        command = [self.args.systole, "run", self.program, "--backend", self.args.backend, "--check", self.file, "--json", "--quiet"]
        for i, tensor in enumerate(self.info["inputs"]):
            path = self.folder / f"{self.name}.in{i}.npy"
            np.save(path, arrays[f"in{i}"])
            command += ["--input", f"{tensor['name']}={path}"]
        outputs = [self.folder / f"{self.name}.out{i}.npy" for i in range(len(self.info["outputs"]))]
        tensors = self.folder / f"{self.name}.tensors"
        command += ["--tensors", tensors]
        for tensor, path in zip(self.info["outputs"], outputs):
            command += ["--output", f"{tensor['name']}={path}"]
        result = json.loads(run(command, self.folder / f"{self.name}.run.log"))
        self.row["tensors"] = len(result["check"]["tensors"])
        if result["cycles"]:
            self.row["cycles"] = result["cycles"] // result["images"]
        if "out0" not in arrays:
            missing = (self.folder / f"{self.name}.txt").read_text()
            self.row["note"] = f"golden model; none of {missing}"
            return
        self.row["inner"] = 0
        for entry in json.loads((tensors / "index.json").read_text()):
            if f"tensor {entry['name']}" in arrays:
                compare(f"tensor '{entry['name']}'", np.load(tensors / entry["file"]), arrays[f"tensor {entry['name']}"])
                self.row["inner"] += 1
        for i, path in enumerate(outputs):
            compare(f"output {i}", np.load(path), arrays[f"out{i}"])

    def judge(self):
        begin = time.monotonic()
        try:
            for step in (self.convert, self.compile, self.execute):
                step()
            self.row["result"] = "equal"
        except Failed as failure:
            self.row["result"] = str(failure)
        self.row["seconds"] = round(time.monotonic() - begin, 1)
        return self.row


def share(placement, unit, index):
    return placement.get(unit, [0, 0.0, 0.0])[index]


def cells(row):
    if "placement" not in row:
        return [row["model"], *[""] * 8]
    placement = row["placement"]
    device = [sum(share(placement, unit, k) for unit in ("array", "vector unit")) for k in range(3)]
    cycles = row.get("cycles", row["expected"])
    return [
        row["model"], str(row["operators"]), f"{device[0]} / {share(placement, 'nowhere', 0)} / {share(placement, 'host', 0)}",
        f"{100 * device[1]:.1f} %", f"{100 * share(placement, 'host', 2):.1f} %", f"{row['macs']:,}", f"{cycles:,}",
        f"{100 * row['ideal'] / cycles:.0f} %" if cycles else "",
        str(row.get("inner", "")),
    ]  # fmt: skip


def number_of_equal(rows):
    return sum(row["result"] == "equal" for row in rows)


def other_runs(folder):
    """A table of the runs on other presets and backends."""
    lines = []
    for path in sorted(folder.glob("rows_*.json")):
        preset, backend = path.stem.split("_")[1:]
        if (preset, backend) == ("edge", "iss"):
            continue
        rows = list(json.loads(path.read_text()).values())
        failed = ", ".join(row["model"] for row in rows if row["result"] != "equal")
        lines.append(f"| {preset} | {backend} | {len(rows)} | {number_of_equal(rows)} | {failed} |")
    if not lines:
        return []
    return ["", "## Other presets, and the RTL", "", "| preset | backend | models | equal | not equal |", "|---|---|---:|---:|---|", *lines]


def page(rows, args, folder):
    """The page with these results: what stands above its first heading of the second order is not this script's, and stays."""
    equal = number_of_equal(rows)
    lines = [
        PAGE.read_text().split("\n## ", 1)[0].rstrip(),
        "",
        f"## {args.preset}, {args.backend}: {equal} of {len(rows)} equal",
        "",
        f"Measured on {datetime.date.today().isoformat()}. The columns of the table are:",
        "",
        "| column | meaning |",
        "|---|---|",
        "| operators | on the device / nowhere (the bytes stay as they lie) / on the host |",
        "| host bytes | the share of the bytes of results that the host computes |",
        f"| cycles | of one image, {'measured' if args.backend != 'iss' else 'expected by the cost model'} |",
        "| ideal | the share of the cycles that the array alone needs |",
        "| inner | intermediate tensors that were compared |",
        "",
        "| model | all | operators | MACs on the array | host bytes | MACs | cycles | ideal | inner | result |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    drawn = [row for row in rows if re.fullmatch(r"random\d+", row["model"])]
    for row in rows:
        if row in drawn and row["result"] == "equal":
            continue
        text = row["result"] if row["result"] != "equal" or "note" not in row else f"equal ({row['note']})"
        text = text.replace("|", "\\|").replace(str(ROOT) + "/", "").replace(str(args.build) + "/", "")
        text = re.sub(r"\s+", " ", text)
        text = text if len(text) < 300 else text[:297] + "..."
        lines.append("| " + " | ".join([*cells(row), text]) + " |")
    if drawn:
        text = (
            f"{len(drawn)} of the models are random graphs. {number_of_equal(drawn)} of them are equal, with "
            f"{sum(row.get('operators', 0) for row in drawn):,} operators and {sum(row.get('inner', 0) for row in drawn):,} intermediate tensors. "
            "The table lists a random graph only if it is not equal."
        )
        lines += ["", *textwrap.wrap(text, 119)]
    lines += other_runs(folder)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="", help="only models whose names hold one of these words, separated by commas")
    parser.add_argument("--random", type=int, default=12, metavar="N", help="so many random graphs")
    parser.add_argument("--preset", default="edge", choices=PRESETS)
    parser.add_argument("--backend", default="iss", choices=("iss", "rtl"))
    parser.add_argument("--resume", action="store_true", help="keep models that are converted, and rows of models that were equal")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    args = parser.parse_args()
    args.build = args.build.resolve()
    args.systole = args.build / "bin" / "systole"
    if not args.systole.exists():
        sys.exit(f"conformance: error: {args.systole} is not there: make build first")
    folder = args.build / "conformance"
    (folder / "models").mkdir(parents=True, exist_ok=True)
    python = environment(folder)
    listed = subprocess.run([python, HERE / "convert.py", "--list"], capture_output=True, text=True)
    if listed.returncode != 0:
        sys.exit(f"conformance: error: {reason(listed.stderr)}")
    names = listed.stdout.split() + [f"random{seed}" for seed in range(1, args.random + 1)]
    words = [word for word in args.models.split(",") if word]
    names = [name for name in names if not words or any(word in name for word in words)]
    if not names:
        sys.exit(f"conformance: error: no model has '{args.models}' in its name")
    store = folder / f"rows_{args.preset}_{args.backend}.json"
    rows = json.loads(store.read_text()) if store.exists() else {}
    converted = convert_drawn(names, args, python)
    for i, name in enumerate(names):
        if args.resume and rows.get(name, {}).get("result") == "equal":
            continue
        say(f"conformance: {i + 1} of {len(names)}: {name}")
        rows[name] = Model(name, args, python, name in converted).judge()
        say(f"conformance: {name}: {rows[name]['result']} ({rows[name]['seconds']} s)")
        store.write_text(json.dumps(rows, indent=1))
    known = {name: None for name in listed.stdout.split()}
    ordered = [rows[name] for name in known if name in rows]
    ordered += [rows[name] for name in sorted(rows.keys() - known.keys(), key=lambda name: int(name.removeprefix("random")))]
    if (args.preset, args.backend) == ("edge", "iss"):
        PAGE.write_text(page(ordered, args, folder))
    failed = [name for name in names if rows[name]["result"] != "equal"]
    print(f"{len(names) - len(failed)} of {len(names)} equal" + (f"; not: {' '.join(failed)}" if failed else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
