# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""PyTorch programs on Systole's cores.

    model = torch.compile(model, backend="systole")       # forward, and backward if gradients are wanted
    systole_torch.export(model, (x,), "model.mlirbc")     # a StableHLO file for `systole run`

PyTorch finds the backend by its name when this package is installed; where it is only on the path, `import systole_torch` registers it.
The programs run through jax on the device that the plugin systole_jax brings, so its variables hold: SYSTOLE_BACKEND=iss|rtl,
SYSTOLE_PRESET=v2|lite|..., SYSTOLE_REPORT=1. torch.set_float32_matmul_precision says how exact products of float32 are: "highest"
(PyTorch's default) in six passes of bf16, "high" in three, "medium" in one.
"""

import torch
from torch._dynamo.backends.common import aot_autograd

from ._export import export
from ._graph import decompositions
from ._program import Program

__all__ = ["backend", "export"]

_compile = None


def backend(module, inputs, **options):
    """What torch.compile calls with a graph and its inputs; gives a function that computes it on a device."""
    global _compile
    if options:
        raise TypeError(f"backend systole has no options: {', '.join(options)}")
    if _compile is None:
        _compile = aot_autograd(fw_compiler=Program.of, bw_compiler=Program.of, inference_compiler=Program.of,
                                decompositions=decompositions())
    # PyTorch has operators of oneDNN for recurrent layers on a CPU; without it they are composed of those that all devices have.
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        return _compile(module, inputs)
    finally:
        torch._C._set_mkldnn_enabled(before)


# In inference on a CPU PyTorch has one operator for a whole encoder layer.
torch.backends.mha.set_fastpath_enabled(False)

if "systole" not in torch._dynamo.list_backends(exclude_tags=()):
    torch._dynamo.register_backend(backend, "systole")
