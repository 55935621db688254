#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""PyTorch models of torchvision and transformers on the simulated core, by each way that leads there, against PyTorch on the CPU.

Weights are random: PyTorch's own initialisation, and something added so that none is zero. Four columns, each the largest error beside the largest value:

  compile     torch.compile(model, backend="systole"), forward
  gradients   the same model in training: gradients of all weights
  StableHLO   systole_torch.export, then `systole run --check`: equal to the golden model to the bit besides
  ONNX        torch.onnx.export, then `systole run --check` at precision "highest"

  make conformance-torch                                   # all models
  make conformance-torch ARGS="--only resnet18,gpt2"       # those whose names hold one of these
"""

import copy
import pathlib
import re
import subprocess
import sys
import tempfile

from torch_common import begin, is_asked

LIMIT = 2e-5  # of the largest value: what six passes of bf16, and another order of sums, may differ by in networks of these depths
LIMIT_GRADIENTS = 2e-3


def models():
    """Name, module and inputs. Sizes are such that the simulator takes seconds."""
    import torch
    import torchvision.models as vision
    import transformers
    from torch import nn

    torch.manual_seed(0)
    image = torch.randn(1, 3, 64, 64)
    pair = torch.randn(2, 3, 64, 64)
    words = torch.randint(0, 100, (2, 12))

    class Logits(nn.Module):
        """The first result of a model of transformers."""

        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, tokens):
            return self.model(tokens, return_dict=False)[0]

    class Speech(nn.Module):
        def __init__(self):
            super().__init__()
            self.front = nn.Conv1d(16, 32, 5, stride=2, padding=2)
            self.lstm = nn.LSTM(32, 48, num_layers=2, bidirectional=True, batch_first=True)
            self.out = nn.Linear(96, 29)

        def forward(self, x):
            y = torch.relu(self.front(x)).transpose(1, 2)
            return self.out(self.lstm(y)[0]).log_softmax(-1)

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.ModuleList(nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(4, b), nn.SiLU())
                                      for a, b in ((3, 16), (16, 32), (32, 64)))
            self.up = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, stride=2) for a, b in ((64, 32), (32, 16)))
            self.join = nn.ModuleList(nn.Sequential(nn.Conv2d(2 * a, a, 3, padding=1), nn.GroupNorm(4, a), nn.SiLU()) for a in (32, 16))
            self.out = nn.Conv2d(16, 3, 1)

        def forward(self, x):
            levels = []
            for i, block in enumerate(self.down):
                x = block(x if i == 0 else nn.functional.max_pool2d(x, 2))
                levels.append(x)
            for up, join, level in zip(self.up, self.join, levels[-2::-1], strict=True):
                x = join(torch.cat([up(x), level], 1))
            return self.out(x)

    small = {"attn_implementation": "eager"}
    yield "perceptron", lambda: nn.Sequential(nn.Flatten(), nn.Linear(12288, 64), nn.GELU(), nn.Dropout(0.0), nn.Linear(64, 10)), (pair,)
    yield "resnet18", lambda: vision.resnet18(num_classes=10), (pair,)
    yield "mobilenet_v3_small", lambda: vision.mobilenet_v3_small(num_classes=10, dropout=0.0), (pair,)
    yield "efficientnet_b0", lambda: vision.efficientnet_b0(num_classes=10, dropout=0.0, stochastic_depth_prob=0.0), (pair,)
    yield "convnext_tiny", lambda: vision.ConvNeXt([vision.convnext.CNBlockConfig(a, b, n) for a, b, n in (
        (32, 64, 2), (64, 128, 2), (128, None, 2))], num_classes=10), (image,)
    yield "shufflenet_v2", lambda: vision.shufflenet_v2_x0_5(num_classes=10), (pair,)
    yield "vit", lambda: vision.VisionTransformer(image_size=64, patch_size=16, num_layers=3, num_heads=4, hidden_dim=64, mlp_dim=128,
                                                  num_classes=10), (pair,)
    yield "swin", lambda: vision.SwinTransformer(patch_size=[4, 4], embed_dim=32, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4],
                                                 num_classes=10, stochastic_depth_prob=0.0), (image,)
    yield "unet", UNet, (pair,)
    yield "speech", Speech, (torch.randn(2, 16, 24),)
    yield "bert", lambda: Logits(transformers.BertModel(transformers.BertConfig(
        vocab_size=100, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, **small))), (words,)
    yield "gpt2", lambda: Logits(transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=100, n_embd=64, n_layer=2, n_head=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False,
        **small))), (words,)
    yield "llama", lambda: Logits(transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=100, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128,
        use_cache=False, **small))), (words,)


def error(got, want):
    """The largest difference beside the largest value."""
    if got.shape != want.shape:
        raise ValueError(f"shape {list(got.shape)} instead of {list(want.shape)}")
    return float((got.double() - want.double()).abs().max() / want.double().abs().max().clamp_min(1e-30))


def by_compile(model, inputs):
    import torch

    torch._dynamo.reset()
    return error(torch.compile(model, backend="systole")(*inputs), model(*inputs))


def by_gradients(model, inputs):
    import torch

    torch._dynamo.reset()
    other = copy.deepcopy(model)
    for m, call in ((model, torch.compile(model, backend="systole")), (other, other)):
        m.train()
        y = call(*inputs)
        (y * torch.linspace(-1, 1, y.numel()).reshape(y.shape)).sum().backward()
    pairs = [(a.grad, b.grad) for a, b in zip(model.parameters(), other.parameters(), strict=True) if b.grad is not None]
    largest = max(float(b.abs().max()) for _, b in pairs)
    return max(float((a - b).abs().max()) for a, b in pairs) / largest


def run_file(args, file, inputs, options):
    """The first output of a file that `systole run` has run and checked."""
    import numpy as np
    import torch

    command = [args.build / "bin/systole", "run", file, "--backend", "iss", "--preset", args.preset, "--check", file, "-o",
               file.with_suffix(".out.npy"), *options]
    for i, x in enumerate(inputs):
        np.save(file.with_suffix(f".{i}.npy"), x.numpy())
        command += ["-i", file.with_suffix(f".{i}.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-400:])
    if not re.search(r"\b0 mismatches", done.stdout):
        raise RuntimeError(f"not equal to the golden model: {done.stdout.strip()[-200:]}")
    return torch.from_numpy(np.load(file.with_suffix(".out.npy")))


def by_stablehlo(args, model, inputs, folder):
    import systole_torch

    file = folder / "model.mlirbc"
    systole_torch.export(model, inputs, file)
    narrow = [x.int() if x.dtype.is_signed and not x.dtype.is_floating_point else x for x in inputs]
    return error(run_file(args, file, narrow, []), model(*inputs))


def by_onnx(args, model, inputs, folder):
    import torch

    file = folder / "model.onnx"
    torch.onnx.export(model, inputs, file, dynamo=True, verbose=False, external_data=False)
    return error(run_file(args, file, inputs, ["--precision", "highest"]), model(*inputs))


def main():
    args = begin(__doc__)
    import torch

    failed = count = 0
    print(f"{'model':20} {'weights':>9} {'compile':>9} {'gradients':>9} {'StableHLO':>9} {'ONNX':>9}", flush=True)
    for name, make, inputs in models():
        if not is_asked(args, name):
            continue
        torch.manual_seed(1)
        model = make().eval()
        with torch.no_grad():
            for weight in model.parameters():
                weight.add_(torch.randn_like(weight), alpha=0.02)
        count += 1
        cells, notes = [], []
        with tempfile.TemporaryDirectory() as folder:
            ways = (("compile", LIMIT, lambda: by_compile(model, inputs)),
                    ("gradients", LIMIT_GRADIENTS, lambda: by_gradients(copy.deepcopy(model), inputs)),
                    ("StableHLO", LIMIT, lambda: by_stablehlo(args, model, inputs, pathlib.Path(folder))),
                    ("ONNX", LIMIT, lambda: by_onnx(args, model, inputs, pathlib.Path(folder))))
            for way, limit, run in ways:
                try:
                    with torch.set_grad_enabled(way == "gradients"):
                        off = run()
                    cells.append(f"{off:9.1e}")
                    if not off <= limit:
                        notes.append(f"{way}: beyond {limit:.0e}")
                except Exception as problem:  # pylint: disable=broad-except
                    cells.append(f"{'fails':>9}")
                    notes.append(f"{way}: {type(problem).__name__}: {' '.join(str(problem).split())[:400]}")
        print(f"{name:20} {sum(p.numel() for p in model.parameters()):9} {' '.join(cells)}", flush=True)
        for note in notes:
            print(f"  {note}", flush=True)
        failed += bool(notes)
    if not count:
        sys.exit(f"conformance-torch: no model has one of '{args.only}' in its name")
    print(f"{count - failed} of {count} models pass")
    sys.exit(f"conformance-torch: {failed} models are not right" if failed else 0)


if __name__ == "__main__":
    main()
