#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""jax's own cases of its operations on the PJRT plugin, against jax on the CPU.

jax's wheel has them: the harnesses of every primitive (jax/_src/internal_test_util/test_harnesses.py) and the table of elementwise
operations (lax_test_util.py). Each is run on both platforms from the same random arguments; types, shapes and values must agree, within the
harness's tolerance, or 1e-5 of fp32 and of the size of complex64, 1e-3 of f16, 1e-2 of bf16; integers and truth values exactly. Products run at precision "highest".

  make conformance-jax                              # all
  make conformance-jax ARGS="--only gather,sort"    # those whose names hold one of these
  make conformance-jax ARGS="--every 8"             # a sample of all
  make conformance-jax ARGS="--failures"            # a line for each case that does not pass
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAST = {"float32": 1e-5, "float16": 1e-3, "bfloat16": 1e-2, "complex64": 1e-5}


def cases():
    """(name, group, function, arguments of a random state, tolerance) of every case."""
    import numpy as np
    from jax import lax
    from jax._src.internal_test_util import lax_test_util, test_harnesses

    for h in test_harnesses.all_harnesses:
        if h.filter("cpu"):
            yield h.fullname, h.group_name, h.dyn_fun, h.dyn_args_maker, h.params.get("tol")
    for record in lax_test_util.lax_ops():
        for dtype in record.dtypes:
            for shape in [(3,), (2, 3, 4), (1, 200)]:

                def arguments(random, record=record, dtype=dtype, shape=shape):
                    rng = record.rng_factory(random)
                    return [rng(shape, dtype) for _ in range(record.nargs)]

                name = f"lax_{record.op}_{np.dtype(dtype).name}_{'x'.join(map(str, shape))}"
                tol = record.tol
                yield name, f"lax_{record.op}", getattr(lax, record.op), arguments, tol if isinstance(tol, float) else None


def tolerance(dtype, given):
    if isinstance(given, dict):
        given = max((float(v) for k, v in given.items() if str(k) == dtype.name or getattr(k, "__name__", "") == dtype.name), default=None)
    return max(LEAST.get(dtype.name, 0.0), given or 0.0)


def difference(got, want, given):
    """Why two results are not the same, or None."""
    import jax
    import numpy as np

    got, want = jax.tree.leaves(got), jax.tree.leaves(want)
    if len(got) != len(want):
        return f"{len(got)} results instead of {len(want)}"
    for g, w in zip(got, want):
        if jax.dtypes.issubdtype(w.dtype, jax.dtypes.prng_key):
            g, w = jax.random.key_data(g), jax.random.key_data(w)
        g, w = np.asarray(g), np.asarray(w)
        if g.dtype != w.dtype or g.shape != w.shape:
            return f"{g.dtype}{list(g.shape)} instead of {w.dtype}{list(w.shape)}"
        tol = tolerance(w.dtype, given)
        if w.dtype.name in LEAST:
            wide = np.complex128 if w.dtype == np.complex64 else np.float64
            wide_g, wide_w = g.astype(wide), w.astype(wide)
            near = np.isclose(wide_g, wide_w, rtol=tol, atol=tol, equal_nan=True)
        else:
            near = g == w
        if not near.all():
            at = np.argwhere(~near)[0] if w.ndim else ()
            return f"values: {g[tuple(at)]} instead of {w[tuple(at)]} ({int((~near).sum())} of {near.size})"
    return None


def judge(function, make, given, name):
    """(verdict, detail) of a case."""
    import jax
    import numpy as np

    random = np.random.RandomState(zlib.crc32(name.encode()) & 0x7FFFFFFF)
    try:
        arguments = make(random)
    except Exception as error:  # pylint: disable=broad-except
        return "not on the CPU", type(error).__name__

    def run(platform):
        with jax.default_device(jax.devices(platform)[0]):
            return jax.block_until_ready(jax.jit(function)(*arguments))

    try:
        want = run("cpu")
    except Exception as error:  # pylint: disable=broad-except
        return "not on the CPU", type(error).__name__
    try:
        got = run("systole")
    except Exception as error:  # pylint: disable=broad-except
        return "refused", " ".join(str(error).split())[:600]
    why = difference(got, want, given)
    return ("differs", why) if why else ("passes", "")


def worker(args):
    """Judges the cases from number `first` on; a line of JSON each on standard output."""
    os.environ.update(JAX_PLATFORMS="systole,cpu", SYSTOLE_REPORT="1")
    import jax

    jax.config.update("jax_default_matmul_precision", "highest")
    report = open(args.report, "r", encoding="utf-8", errors="replace")  # pylint: disable=consider-using-with
    os.dup2(os.open(args.report, os.O_WRONLY | os.O_APPEND), 2)
    for number, (name, group, function, make, given) in enumerate(cases()):
        if number < args.first or number % args.every or (args.only and not any(part in name for part in args.only.split(","))):
            continue
        print(json.dumps({"number": number, "name": name, "group": group}), flush=True)
        sys.stderr.flush()
        report.read()
        verdict, detail = judge(function, make, given, name)
        sys.stderr.flush()
        host = sum(int(n) for n in re.findall(r"(\d+) operations on the host", report.read()))
        print(json.dumps({"verdict": verdict, "detail": detail, "host": host}), flush=True)


def run_all(args):
    """Cases with their verdicts; a process that ends is a verdict too."""
    first, judged = 0, []
    while first is not None:
        args.report.write_text("")
        command = [sys.executable, __file__, "--worker", "--first", str(first), "--report", args.report, "--only", args.only,
                   "--every", str(args.every)]
        environment = {**os.environ, "PYTHONPATH": str(args.build / "python"), "SYSTOLE_PRESET": args.preset}
        first, begun = None, None
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                record = json.loads(line)
                if "name" in record:
                    begun = record
                else:
                    judged.append({**begun, **record})
                    begun = None
                    if len(judged) % 100 == 0:
                        print(f"{len(judged)} cases", file=sys.stderr)
        if begun is not None:
            judged.append({**begun, "verdict": "ends the process", "detail": f"exit code {process.returncode}", "host": 0})
            first = begun["number"] + 1
        elif process.returncode != 0:
            sys.exit(f"conformance-jax: the cases cannot be run, exit code {process.returncode}:\n{args.report.read_text()[-2000:]}")
    return judged


def cause(case):
    """A case that does not pass, in few words."""
    detail = case["detail"]
    if case["verdict"] == "refused":
        found = re.search(r"(?:type|element) '?(!?\w*(?:complex|f8|f64|i2|i4)\w*)", detail)
        if "complex" in detail:
            return "type complex"
        if found:
            return f"type {found.group(1)}"
        found = re.search(r"calls of '(\w+)'|(stablehlo\.\w+|chlo\.\w+) at", detail)
        if found:
            return found.group(1) or found.group(2)
        return re.sub(r"\b\d+\b", "n", detail)[:90]
    if case["verdict"] == "differs":
        return f"{case['group']}: {'values' if detail.startswith('values') else detail}"
    return f"{case['group']}: {detail}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--preset", default="mini")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="only every n-th case")
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--least", type=float, help="fail below this share of the cases that run on the CPU")
    parser.add_argument("--json", type=pathlib.Path, help="all verdicts")
    parser.add_argument("--report", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(args)
    args.build = args.build.resolve()
    args.report = args.build / "conformance_jax.log"
    judged = [case for case in run_all(args) if case["verdict"] != "not on the CPU"]
    if not judged:
        sys.exit(f"conformance-jax: no case has one of '{args.only}' in its name")
    if args.json:
        args.json.write_text(json.dumps(judged, indent=1))
    failed = [case for case in judged if case["verdict"] != "passes"]
    if args.failures:
        for case in failed:
            print(f"{case['name']}: {case['verdict']}: {case['detail']}")
    causes = collections.Counter((case["verdict"], cause(case)) for case in failed)
    print("| cases | verdict | cause |\n|---:|---|---|")
    for (verdict, why), count in causes.most_common():
        print(f"| {count} | {verdict} | {why} |")
    supported = [case for case in judged if not (case["verdict"] == "refused" and cause(case).startswith("type "))]
    passed = len(judged) - len(failed)
    alone = sum(case["verdict"] == "passes" and case["host"] == 0 for case in judged)
    print(f"{passed} of {len(judged)} cases pass ({100 * passed / len(judged):.1f} %), {100 * passed / max(1, len(supported)):.1f} % of the "
          f"{len(supported)} of supported types; {alone} without an operation on the host")
    if args.least is not None and 100 * passed < args.least * len(judged):
        sys.exit(f"conformance-jax: less than {args.least} %")
    return None


if __name__ == "__main__":
    main()
