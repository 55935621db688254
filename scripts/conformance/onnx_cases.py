#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""ONNX's own backend tests on the simulated core.

The package `onnx` carries them: a model of one or a few nodes for every operator and many of its attributes, in their values computed with
NumPy, and models that PyTorch exported. Each is imported, compiled for a bf16 preset, run on the instruction-set simulator, and compared
with the golden model (to the bit) and with the case's results. What a case's outputs are compared by: integers and truth values exactly;
floats within the case's own tolerance and, for products of matrices at lower precisions, that of the precision.

  make conformance-onnx                              # all
  make conformance-onnx ARGS="--only gather,resize"  # those whose names hold one of these
  make conformance-onnx ARGS="--every 8"             # a sample of all
  make conformance-onnx ARGS="--failures"            # a line for each case that is not right
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import numpy_helper, version_converter

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "conformance.md"
# Of the largest value of an output: what the sum of a product may be off by, beyond a case's own tolerance. One pass of bf16 rounds both
# operands to 8 bits, three keep 16, six 24; functions are within some units in the last place of float32. The operands of the cases are
# about 1, so that a sum which cancels is off by as much as one that does not.
OF_LARGEST = {"default": 2.0**-6, "high": 2.0**-13, "highest": 2.0**-17}
LEAST_LARGEST = {"default": 1.0, "high": 1.0, "highest": 0.0}
HALVES = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
# A case whose results may be off by one step of the quantised type.
STEPS = ("qlinear", "quantizelinear", "dynamicquantizelinear")
LIMIT = 300  # seconds for one case


class Case:
    """A model with sets of inputs and outputs."""

    def __init__(self, name, kind, model, sets, rtol, atol):
        self.name, self.kind, self.model, self.sets, self.rtol, self.atol = name, kind, model, sets, rtol, atol


def read_values(folder, what, infos):
    values = []
    for i in range(len(list(folder.glob(f"{what}_*.pb")))):
        data = (folder / f"{what}_{i}.pb").read_bytes()
        if infos[i].type.HasField("tensor_type"):
            tensor = onnx.TensorProto()
            tensor.ParseFromString(data)
            values.append(numpy_helper.to_array(tensor))
        else:
            values.append(None)
    return values


def cases():
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            yield Case(case.name, "node", case.model, case.data_sets, case.rtol, case.atol)
    data = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    for kind in ("simple", "pytorch-operator", "pytorch-converted"):
        for folder in sorted((data / kind).iterdir()):
            if not (folder / "model.onnx").exists():
                continue
            model = onnx.load(folder / "model.onnx")
            if any(opset.domain == "" and opset.version < 7 for opset in model.opset_import):
                model = version_converter.convert_version(model, 7)
            sets = []
            for values in sorted(folder.glob("test_data_set_*")):
                sets.append((read_values(values, "input", model.graph.input), read_values(values, "output", model.graph.output)))
            yield Case(folder.name, kind, model, sets, 1e-3, 1e-7)


def open_dimensions(model, values):
    """What --dim has to say: the sizes that the case's inputs have."""
    dims = {}
    constants = {tensor.name for tensor in model.graph.initializer}
    infos = [info for info in model.graph.input if info.name not in constants] if len(values) < len(model.graph.input) else model.graph.input
    for info, value in zip(infos, values):
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value") and value is not None:
                dims[dim.dim_param or f"{info.name}[{axis}]"] = value.shape[axis]
    return [part for name, size in dims.items() for part in ("--dim", f"{name}={size}")]


def arrays(values):
    return [numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value for value in values]


def run_tool(args, case, number, folder, fix=False):
    """(JSON of the run or None, error, outputs) of a set of values. fix: inputs behind the first one are constants."""
    inputs = arrays(case.sets[number][0])
    file = folder / "model.onnx"
    file.write_bytes(case.model.SerializeToString())
    if any(not isinstance(value, (np.ndarray, np.generic)) or np.asarray(value).dtype == object for value in inputs):
        command = [args.tool, "info", file]
    else:
        command = [args.tool, "run", file, "--backend", "iss", "--preset", args.preset, "--check", file, "--json", "--quiet",
                   "--precision", args.precision, *open_dimensions(case.model, inputs)]
        constants = {tensor.name for tensor in case.model.graph.initializer}
        names = [info.name for info in case.model.graph.input]
        for i, (name, value) in enumerate(zip(names, inputs)):
            if name in constants:
                continue
            np.save(folder / f"in{i}.npy", np.asarray(value, order="C"))
            command += ["--fix" if fix and (i > 0 or len(inputs) == 1) else "--input", f"{name}={folder}/in{i}.npy"]
        for i, info in enumerate(case.model.graph.output):
            command += ["--output", f"{info.name}={folder}/out{i}.npy"]
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, f"takes more than {LIMIT} s", []
    if done.returncode != 0:
        error = " ".join(done.stderr.split())
        return None, f"ends with {done.returncode}: {error}" if done.returncode not in (1, 2) else error, []
    if "--json" not in command:
        return None, "was not refused", []
    got = [np.load(folder / f"out{i}.npy") for i in range(len(case.model.graph.output))]
    return json.loads(done.stdout), "", got


def difference(args, case, got, want):
    """("equal" | "within" | "wrong", why) of an output."""
    want = np.asarray(want)
    name = want.dtype.name
    if name == "bfloat16":
        want = want.astype(np.float32)
    if got.shape != want.shape or got.dtype != want.dtype:
        return "wrong", f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    if want.size == 0 or np.array_equal(got, want, equal_nan=want.dtype.kind == "f"):
        return "equal", ""
    wide_got, wide_want = got.astype(np.float64), want.astype(np.float64)
    if want.dtype.kind == "f":
        finite = np.abs(wide_want[np.isfinite(wide_want)])
        largest = max(finite.max() if finite.size else 0.0, LEAST_LARGEST[args.precision])
        share = max(OF_LARGEST[args.precision], HALVES.get(name, 0.0))
        near = np.isclose(wide_got, wide_want, rtol=max(case.rtol, HALVES.get(name, 0.0)), atol=max(case.atol, share * largest),
                          equal_nan=True)
    else:
        step = 1 if any(part in case.name for part in STEPS) and want.dtype.itemsize == 1 else 0
        near = np.abs(wide_got - wide_want) <= step
    if near.all():
        with np.errstate(invalid="ignore"):
            return "within", f"{np.nanmax(np.abs(wide_got - wide_want)):.2g}"
    at = tuple(np.argwhere(~near)[0]) if want.ndim else ()
    return "wrong", f"{got[at]} instead of {want[at]} ({int((~near).sum())} of {near.size})"


def judge(args, case):
    """(verdict, detail, whether inputs were fixed) of a case."""
    verdicts, fixed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (_, outputs) in enumerate(case.sets):
            report, error, got = run_tool(args, case, number, pathlib.Path(folder))
            if report is None and "depends on the model's inputs" in error:
                report, error, got = run_tool(args, case, number, pathlib.Path(folder), fix=True)
                fixed = 1
            if report is None:
                crash = error.startswith(("ends with", "takes more", "was not"))
                mismatch = "mismatch" in error
                return ("wrong" if crash or mismatch else "refused"), error, 0
            if args.seeded_fault and got[0].size and got[0].dtype.kind != "b":
                got[0].ravel()[0] += np.asarray(64, got[0].dtype)
            verdicts += [difference(args, case, g, w) for g, w in zip(got, arrays(outputs))]
    for verdict in ("wrong", "within"):
        found = [why for v, why in verdicts if v == verdict]
        if found:
            return verdict, found[0], fixed
    return "equal", "", fixed


def cause(detail):
    """A refusal in few words: the operators and why."""
    detail = re.sub(r"^systole: (error: )?\S*model\.onnx: ", "", detail)
    detail = re.sub(r"^\d+ obstacles: ", "", detail)
    if "type " in detail and re.search(r"type (double|string|complex|float8|u?int[24]|float[46])", detail):
        return "type " + re.search(r"type ((?:double|string|complex|float8|u?int[24]\b|float[46])\w*)", detail).group(1)
    if re.search(r": (a sequence|an optional value|a map)", detail):
        return re.search(r": (a sequence|an optional value|a map)", detail).group(1)
    detail = re.sub(r" '[^']*'", "", detail)
    return re.sub(r"-?\b\d+\b", "n", detail)[:110]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--preset", default="lite")
    parser.add_argument("--precision", default="highest", choices=sorted(OF_LARGEST))
    parser.add_argument("--only", default="", help="cases whose names hold one of these, with commas between")
    parser.add_argument("--every", type=int, default=1, help="only every n-th case")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--failures", action="store_true", help="a line for each case that is not equal or within the tolerance")
    parser.add_argument("--json", type=pathlib.Path, help="all verdicts")
    parser.add_argument("--page", action="store_true", help="write the table into docs/conformance.md")
    parser.add_argument("--least", type=float, help="fail below this share of cases that are right")
    parser.add_argument("--seeded-fault", action="store_true", help="change a value of every case, which must be seen")
    args = parser.parse_args()
    args.tool = args.build.resolve() / "bin" / "systole"
    chosen = [case for i, case in enumerate(cases()) if i % args.every == 0 and any(part in case.name for part in args.only.split(","))]
    if not chosen:
        sys.exit(f"conformance-onnx: no case has one of '{args.only}' in its name")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        judged = []
        for case, (verdict, detail, fixed) in zip(chosen, pool.map(lambda case: judge(args, case), chosen)):
            judged.append({"name": case.name, "kind": case.kind, "verdict": verdict, "detail": detail, "fixed": bool(fixed)})
            if len(judged) % 100 == 0:
                print(f"{len(judged)} of {len(chosen)} cases", file=sys.stderr)
    if args.json:
        args.json.write_text(json.dumps(judged, indent=1))
    if args.failures:
        for case in judged:
            if case["verdict"] in ("wrong", "refused"):
                print(f"{case['name']}: {case['verdict']}: {case['detail'][:300]}")
    table = tables(judged)
    print(table)
    if args.page:
        write_page(args, table)
    counts = collections.Counter(case["verdict"] for case in judged)
    right = counts["equal"] + counts["within"]
    print(f"{right} of {len(judged)} cases are right ({100 * right / len(judged):.1f} %), {counts['refused']} are refused, "
          f"{counts['wrong']} are wrong")
    if counts["wrong"] > 0 or (args.least is not None and 100 * right < args.least * len(judged)):
        sys.exit(f"conformance-onnx: {counts['wrong']} cases are wrong, {right} of {len(judged)} right")


def tables(judged):
    lines = ["| cases | equal | within tolerance | refused | wrong |", "|---|---:|---:|---:|---:|"]
    kinds = list(dict.fromkeys(case["kind"] for case in judged))
    for kind in kinds + (["all"] if len(kinds) > 1 else []):
        counts = collections.Counter(case["verdict"] for case in judged if kind in ("all", case["kind"]))
        lines.append(f"| {kind} | {counts['equal']} | {counts['within']} | {counts['refused']} | {counts['wrong']} |")
    causes = collections.Counter(cause(case["detail"]) for case in judged if case["verdict"] == "refused")
    if causes:
        lines += ["", "| refused | why |", "|---:|---|"]
        lines += [f"| {count} | {why} |" for why, count in sorted(causes.items(), key=lambda item: (-item[1], item[0]))]
    return "\n".join(lines)


def write_page(args, table):
    begin, end = "<!-- onnx: begin -->", "<!-- onnx: end -->"
    text = PAGE.read_text()
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    note = f"onnx {onnx.__version__}, preset `{args.preset}`, precision `{args.precision}`, on the instruction-set simulator:"
    PAGE.write_text(f"{head}{begin}\n\n{note}\n\n{table}\n\n{end}{tail}")


if __name__ == "__main__":
    main()
