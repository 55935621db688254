#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""PyTorch's own cases of its operators through torch.compile(backend="systole"), against PyTorch on the CPU.

PyTorch's wheel has them: its table of operators with sample inputs (torch/testing/_internal/common_methods_invocations.py). Each operator is
compiled for the simulated core with several of its samples in float32; types, shapes and values must agree, floats within 1e-4 of the value
or 1e-5 of the largest one. For operators that have gradients, those of the first sample are compared too. Products run at PyTorch's
default precision, "highest".

  make conformance-torch ARGS="--operators"                       # all
  make conformance-torch ARGS="--operators --only sort,gather"    # those whose names hold one of these
  make conformance-torch ARGS="--operators --every 8"             # a sample of all
  make conformance-torch ARGS="--operators --failures"            # a line for each operator that does not pass
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = 4
# Results that PyTorch does not define: memory as it was found.
# and vectors whose signs are free.
UP_TO_SIGN = {"linalg.eigh", "linalg.svd", "svd"}
UNDEFINED = re.compile(r"(new_)?empty(_like|_strided|_permuted)?$")


def difference(got, want):
    """Why two results are not the same, or None."""
    import torch
    from torch.utils import _pytree as pytree

    got, want = pytree.tree_leaves(got), pytree.tree_leaves(want)
    if len(got) != len(want):
        return f"{len(got)} results instead of {len(want)}"
    for g, w in zip(got, want, strict=True):
        if not isinstance(w, torch.Tensor):
            if g != w:
                return f"{g} instead of {w}"
            continue
        if g.dtype != w.dtype or g.shape != w.shape:
            return f"{g.dtype}{list(g.shape)} instead of {w.dtype}{list(w.shape)}"
        largest = float(w.detach().abs().nan_to_num(0, 0, 0).max()) if w.numel() and w.dtype.is_floating_point else 0.0
        near = torch.isclose(g, w, rtol=1e-4, atol=1e-5 * max(1.0, largest), equal_nan=True) if w.dtype.is_floating_point else g == w
        if not near.all():
            at = tuple(torch.nonzero(~near)[0].tolist())
            return f"values: {g[at].item()} instead of {w[at].item()} ({int((~near).sum())} of {near.numel()})"
    return None


def fresh(tree, gradients=False):
    """Copies of tensors, as some operators write to them."""
    import torch
    from torch.utils import _pytree as pytree

    def copied(x):
        y = x.detach().clone(memory_format=torch.preserve_format)
        return y.requires_grad_() if gradients and y.dtype.is_floating_point else y

    return pytree.tree_map_only(torch.Tensor, copied, tree)


def judge_sample(name, function, sample, gradients):
    """(verdict, detail) of one sample; None if PyTorch itself does not compute it."""
    import torch
    from torch.utils import _pytree as pytree

    def run(call):
        torch.manual_seed(0)
        arguments = fresh((sample.input, *sample.args), gradients)
        keywords = fresh(sample.kwargs, gradients)
        results = call(*arguments, **keywords)
        if not gradients:
            return results
        leaves = [x for x in pytree.tree_leaves((arguments, keywords)) if isinstance(x, torch.Tensor) and x.requires_grad]
        ends = [r for r in pytree.tree_leaves(results) if isinstance(r, torch.Tensor) and r.requires_grad]
        return results, torch.autograd.grad([(r * torch.linspace(0.5, 1.5, r.numel()).reshape(r.shape)).sum() for r in ends], leaves,
                                            allow_unused=True)

    try:
        want = run(function)
    except Exception:  # pylint: disable=broad-except
        return None
    torch._dynamo.reset()
    try:
        got = run(torch.compile(lambda *args, **kwargs: function(*args, **kwargs), backend="systole", dynamic=False))
    except Exception as error:  # pylint: disable=broad-except
        text = " ".join(str(error).split())
        found = re.search(r"Systole has nothing for (.*?)(?: \(|;| Set TORCH| While exec|$)", text)
        if found or "values beyond 32 bits" in text:
            return "refused", found.group(1) if found else "integers beyond 32 bits"
        return "fails", f"{type(error).__name__}: {text[:400]}"
    if any(isinstance(x, torch.Tensor) and x.layout != torch.strided for x in pytree.tree_leaves(want)):
        return None
    if name in UP_TO_SIGN:
        got, want = (pytree.tree_map_only(torch.Tensor, torch.abs, x) for x in (got, want))
    why = difference(got, want)
    return ("differs", why) if why else ("passes", "")


def judge(operator):
    """(verdict, detail) of an operator."""
    import torch

    if torch.float32 not in operator.supported_dtypes("cpu") or UNDEFINED.match(operator.name):
        return "not judged", ""
    torch.manual_seed(0)
    try:
        samples = list(operator.sample_inputs("cpu", torch.float32, requires_grad=False))[:SAMPLES]
    except Exception as error:  # pylint: disable=broad-except
        return "not judged", type(error).__name__
    runs = [(sample, False) for sample in samples]
    if operator.supports_autograd and samples and operator.name not in UP_TO_SIGN:
        runs.append((samples[0], True))
    judged = False
    for sample, gradients in runs:
        verdict = judge_sample(operator.name, operator.op, sample, gradients)
        if verdict is None:
            continue
        if verdict[0] != "passes":
            return (verdict[0], "gradient: " + verdict[1]) if gradients else verdict
        judged = True
    return ("passes", "") if judged else ("not judged", "")


def name_of(operator):
    return operator.name + (f" {operator.variant_test_name}" if operator.variant_test_name else "")


def worker(args):
    """Judges the operators from number `first` on; a line of JSON each on standard output."""
    warnings.filterwarnings("ignore")
    import torch
    import torch._dynamo
    from torch.testing._internal.common_methods_invocations import op_db

    torch._dynamo.config.allow_rnn = True
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for number, operator in enumerate(op_db):
        name = name_of(operator)
        if number < args.first or number % args.every or (args.only and not any(part in name for part in args.only.split(","))):
            continue
        print(json.dumps({"number": number, "name": name}), file=out)
        verdict, detail = judge(operator)
        print(json.dumps({"verdict": verdict, "detail": detail}), file=out)


def run_all(args, environment):
    """Operators with their verdicts; a process that ends is a verdict too."""
    first, judged, log = 0, [], args.build / "conformance_torch.log"
    while first is not None:
        command = [sys.executable, __file__, "--worker", "--first", str(first), "--only", args.only, "--every", str(args.every)]
        first, begun = None, None
        with open(log, "w", encoding="utf-8") as errors, \
                subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            for line in process.stdout:
                record = json.loads(line)
                if "name" in record:
                    begun = record
                    continue
                judged.append({**begun, **record})
                begun = None
                if len(judged) % 50 == 0:
                    print(f"{len(judged)} operators", file=sys.stderr)
        if begun is not None:
            judged.append({**begun, "verdict": "ends the process", "detail": f"exit code {process.returncode}"})
            first = begun["number"] + 1
        elif process.returncode != 0:
            sys.exit(f"conformance-torch: the operators cannot be run, exit code {process.returncode}:\n{log.read_text()[-2000:]}")
    return judged


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--preset", default="lite")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="only every n-th operator")
    parser.add_argument("--failures", action="store_true", help="a line for each operator that does not pass")
    parser.add_argument("--least", type=float, help="fail below this share of the operators that are judged")
    parser.add_argument("--json", type=pathlib.Path, help="all verdicts")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(args)
    args.build = args.build.resolve()
    environment = {**os.environ, "PYTHONPATH": str(args.build / "python"), "SYSTOLE_PRESET": args.preset, "SYSTOLE_BACKEND": "iss"}
    judged = [case for case in run_all(args, environment) if case["verdict"] != "not judged"]
    if not judged:
        sys.exit(f"conformance-torch: no operator has one of '{args.only}' in its name")
    if args.json:
        args.json.write_text(json.dumps(judged, indent=1))
    failed = [case for case in judged if case["verdict"] != "passes"]
    if args.failures:
        for case in failed:
            print(f"{case['verdict']:8} {case['name']}: {case['detail'][:160]}")
    counts = collections.Counter(case["verdict"] for case in judged)
    print(", ".join([f"{counts['passes']} of {len(judged)} operators pass", *(
        f"{n} {verdict}" for verdict, n in counts.most_common() if verdict != "passes")]))
    for cause, n in collections.Counter(case["detail"] for case in failed if case["verdict"] == "refused").most_common(12):
        print(f"  {n:3} refused: {cause[:100]}")
    wrong = [case for case in failed if case["verdict"] != "refused"]
    if args.least is not None and counts["passes"] < args.least * len(judged):
        sys.exit(f"conformance-torch: below {args.least:.1%}")
    if wrong:
        sys.exit(f"conformance-torch: {len(wrong)} operators are not right")


if __name__ == "__main__":
    main()
