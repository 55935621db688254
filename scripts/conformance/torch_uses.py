#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""What PyTorch's users do around a compiled model: memory that is shared, strides, in-place operations, threads, files.

Each case is a function here; its results must be those of PyTorch without torch.compile. `make conformance-torch ARGS="--uses"`.
"""

import pathlib
import subprocess
import sys
import tempfile
import threading

from torch_common import begin, is_asked


def cases():
    """Name, and a function that gets a compiler of functions and gives values."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    def case(function):
        found.append((function.__name__, function))
        return function

    found = []

    @case
    def results_share_memory(compiled):
        def f(x):
            y = x + 1
            return y, y[0], y.t()
        a, b, c = compiled(f)(torch.zeros(2, 2))
        b.fill_(7)
        return a, b, c

    @case
    def strides_of_results(compiled):
        image = torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last)
        y = compiled(lambda x: x * 2)(image)
        return y, torch.tensor(y.stride()), y.permute(0, 2, 3, 1).view(-1, 3)

    @case
    def views_after_a_break(compiled):
        def f(x):
            y = x.t() + 1
            torch._dynamo.graph_break()
            return y.as_strided((2,), (1,))
        return compiled(f)(torch.arange(12.0).view(3, 4))

    @case
    def results_are_changed_in_place(compiled):
        m = nn.Linear(3, 2)
        loss = compiled(lambda x: m(x).square().mean())(torch.ones(4, 3))
        loss /= 2
        loss.backward()
        return loss, m.weight.grad

    @case
    def inputs_are_changed_in_place(compiled):
        x = torch.zeros(2, 2)
        y = compiled(lambda a: (a.add_(1), a.view(-1))[1])(x)
        y.mul_(5)
        return x, y

    @case
    def rows_without_attention(compiled):
        q = torch.randn(1, 2, 3, 4).requires_grad_()
        mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
        y = compiled(F.scaled_dot_product_attention)(q, q, q, mask)
        y.square().sum().backward()
        return y, q.grad

    @case
    def floor_division(compiled):
        return (compiled(lambda x: x // 3)(torch.arange(-9, 9)), compiled(lambda x: x // 0.1)(torch.tensor([1.0, 0.3, 5.0, -0.7])),
                compiled(lambda x: x // -0.3)(torch.linspace(-4, 4, 41)), compiled(lambda x: x % 3)(torch.arange(-9, 9)))

    @case
    def numbers_that_change(compiled):
        f = compiled(lambda x, s: x * s + s)
        return f(torch.ones(2), 1.5), f(torch.ones(2), 2.5), f(torch.ones(2), 3.25)

    @case
    def encoder_in_inference(compiled):
        torch.manual_seed(1)
        m = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
        with torch.no_grad():
            return compiled(m)(torch.ones(1, 2, 8))

    @case
    def last_offset_of_bags(compiled):
        torch.manual_seed(1)
        m = nn.EmbeddingBag(10, 3, include_last_offset=True)
        with torch.no_grad():
            return compiled(m)(torch.arange(8), torch.tensor([0, 5, 8]))

    @case
    def tensors_without_dimensions(compiled):
        x = torch.tensor(3.0)
        return (compiled(lambda x: x.softmax(0))(x), compiled(lambda x: x.sort())(x)[0], compiled(lambda x: x.flip(0))(x),
                compiled(lambda x: x.topk(1)[0])(x))

    @case
    def weights_are_written_to(compiled):
        w = torch.ones(4)
        f = compiled(lambda a: a * w)
        values = [f(torch.ones(4))]
        w.data.mul_(3)
        values.append(f(torch.ones(4)))
        w.numpy()[0] = 9
        return *values, f(torch.ones(4))

    @case
    def three_steps_of_training(compiled):
        torch.manual_seed(1)
        m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5))
        x, run, optimizer = torch.randn(4, 3, 8, 8), compiled(m), torch.optim.SGD(m.parameters(), 0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            run(x).square().mean().backward()
            optimizer.step()
        return [v.float() for v in m.state_dict().values()]

    @case
    def threads(compiled):
        torch.manual_seed(1)
        m, x = nn.Linear(8, 4), torch.randn(3, 8)
        f, results = compiled(m), []
        with torch.no_grad():
            f(x)

        def run():
            with torch.no_grad():
                for _ in range(20):
                    results.append(f(x).clone())
        workers = [threading.Thread(target=run) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return len(results), results[0], results[-1]

    return found


def check_file(args, folder):
    """Inputs of an exported file: all of them, in the order of the model's arguments."""
    import numpy as np
    import systole_torch
    import torch

    class Model(torch.nn.Module):
        def forward(self, x, unused, a):
            return 3 * x - a

    file = folder / "model.mlirbc"
    systole_torch.export(Model(), (torch.zeros(2), torch.zeros(3), torch.zeros(2)), file)
    command = [args.build / "bin/systole", "run", file, "--backend", "iss", "--preset", args.preset, "-o", folder / "y.npy"]
    for i, value in enumerate((np.full(2, 10.0), np.zeros(3), np.ones(2))):
        np.save(folder / f"{i}.npy", value.astype(np.float32))
        command += ["-i", f"arg{i}={folder / f'{i}.npy'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip()
    got = np.load(folder / "y.npy").tolist()
    return None if got == [29.0, 29.0] else f"{got} instead of [29.0, 29.0]"


def main():
    args = begin(__doc__)
    import torch
    from torch.utils import _pytree as pytree

    failed = count = 0
    for name, function in cases():
        if not is_asked(args, name):
            continue
        count += 1
        torch._dynamo.reset()
        try:
            torch.manual_seed(0)
            want = pytree.tree_leaves(function(lambda f: f))
            torch.manual_seed(0)
            got = pytree.tree_leaves(function(lambda f: torch.compile(f, backend="systole")))
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5, equal_nan=True)
            print(f"{name}: equal", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}", flush=True)
    if is_asked(args, "inputs of a file"):
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            problem = check_file(args, pathlib.Path(folder))
        print(f"inputs of a file: {problem or 'equal'}", flush=True)
        failed += problem is not None
    print(f"{count - failed} of {count} uses pass")
    sys.exit(f"conformance-torch: {failed} uses are not right" if failed else 0)


if __name__ == "__main__":
    main()
