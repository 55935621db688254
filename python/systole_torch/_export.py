# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""PyTorch programs as StableHLO files."""

import pathlib

import jax
import torch

from . import _aten, _graph


def export(model, args=None, path=None, kwargs=None):
    """Writes a model as a StableHLO file that `systole run` and the C API take; gives the file's bytes.

    `model` is a torch.nn.Module with example arguments (tensors, or structures of them), or what torch.export.export gave. Weights are
    constants of the file. Products have the precision that torch.set_float32_matmul_precision says.
    """
    if isinstance(model, torch.nn.Module):
        if not isinstance(args, (tuple, list)):
            raise TypeError("a module needs example arguments as a tuple: export(model, (x,), path)")
        model = torch.export.export(model, tuple(args), kwargs, strict=False)
    if not isinstance(model, torch.export.ExportedProgram):
        raise TypeError(f"neither a torch.nn.Module nor what torch.export.export gives: {type(model).__name__}")
    # Beyond what torch.compile writes in terms of others, an exported program has operators that PyTorch itself composes.
    composed = {op: rule for op, rule in torch.export.default_decompositions().items() if _aten.find(op) is None}
    program = model.run_decompositions({**composed, **_graph.decompositions()})
    signature, module = program.graph_signature, program.graph_module
    if signature.buffers_to_mutate:
        raise ValueError(f"the program writes to {', '.join(signature.buffers_to_mutate.values())}, which a file cannot keep: "
                         "export model.eval()")
    if signature.user_inputs_to_mutate:
        raise ValueError(f"the program writes to its inputs ({', '.join(signature.user_inputs_to_mutate.values())}), which are not the "
                         "file's: return the new values")
    _graph.check(module.graph)
    if _graph.is_random(module.graph):
        raise ValueError("the program draws random numbers, which a file cannot: export model.eval()")

    kinds = torch.export.graph_signature.InputKind
    values, names, shapes = {}, [], []
    nodes = [node for node in module.graph.nodes if node.op == "placeholder"]
    for node, spec in zip(nodes, signature.input_specs, strict=True):
        if spec.kind != kinds.USER_INPUT:
            held = program.state_dict if spec.target in program.state_dict else program.constants
            values[node.name] = _graph.to_array(held[spec.target])
        elif isinstance(node.meta["val"], torch.Tensor):
            if not all(isinstance(n, int) for n in node.meta["val"].shape):
                raise ValueError(f"input '{node.name}' has open sizes, a file has none: export it without dynamic_shapes")
            names.append(node.name)
            shapes.append(jax.ShapeDtypeStruct(tuple(node.meta["val"].shape), _aten.dtype_of(node.meta["val"].dtype)))
        else:
            values[node.name] = spec.arg.value

    def compute(*given):
        inputs = {**values, **dict(zip(names, given, strict=True))}
        with jax.default_matmul_precision(_graph.precision()):
            return list(_graph.Interpreter(module).run(*(jax.numpy.asarray(inputs[n.name]) if hasattr(inputs[n.name], "shape")
                                                         else inputs[n.name] for n in nodes), enable_io_processing=False))

    # In the order of the model's arguments, those that it does not use too.
    exported = jax.export.export(jax.jit(compute, keep_unused=True), platforms=["tpu"])(*shapes)
    content = exported.mlir_module_serialized
    if path is not None:
        pathlib.Path(path).write_bytes(content)
    return content
