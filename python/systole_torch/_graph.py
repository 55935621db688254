# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Graphs of torch.fx with ATen's operators as functions of jax."""

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.utils import _pytree as pytree

from . import _aten, _layers, _linalg, _moves, _norms, _orders  # noqa: F401: each registers its lowerings

# What a graph may have and a program need not do: checks of sizes, which the tracing of the graph has made, and of factorisations, whose
# results are not-a-numbers where there is none.
_CHECKS = {"_assert_tensor_metadata", "_assert_async", "_assert_scalar", "sym_constrain_range", "sym_constrain_range_for_size",
           "_linalg_check_errors"}

# Operators whose rules write to tensors.
_NOT_FUNCTIONAL = {"aten::complex"}

# PyTorch's way of computing a product of float32, and how exact it is here: passes of bf16 on the array.
PRECISIONS = {"highest": "highest", "high": "high", "medium": "default"}


def decompositions():
    """What is written in terms of other operators before it gets here: all that PyTorch has a rule for, and no lowering is known of."""
    table = {op: rule for op, rule in torch._decomp.decomposition_table.items()
             if isinstance(op, torch._ops.OpOverload) and _aten.find(op) is None and op._schema.name not in _NOT_FUNCTIONAL}
    table[torch.ops.aten.max_pool2d_with_indices_backward.default] = _layers.max_pool_backward
    table[torch.ops.aten.max_pool3d_with_indices_backward.default] = _layers.max_pool_backward
    return table


def precision():
    """The precision of products that torch.set_float32_matmul_precision has set."""
    return PRECISIONS[torch.get_float32_matmul_precision()]


def _where(node):
    """The line of the user's program that a node comes from."""
    lines = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines() if line.strip(" ^~")]
    return f" ({lines[-1]})" if lines else ""


def _is_check(node):
    """Whether a node is a check in the order of effects: with_effects(token, check, ...)."""
    return (node.target is torch.ops.higher_order.with_effects and isinstance(node.args[1], torch._ops.OpOverload)
            and node.args[1]._schema.name.split("::")[1] in _CHECKS)


def check(graph):
    """Raises NotImplementedError that names all that has no lowering, each kind once."""
    missing = {}
    for node in graph.nodes:
        values = [v for v in pytree.tree_leaves(node.meta.get("val")) if isinstance(v, torch.Tensor)]
        for value in values:
            if value.dtype not in _aten.DTYPES or value.dtype == torch.float64 and value.ndim:
                missing.setdefault(f"type {str(value.dtype).removeprefix('torch.')}", _where(node))
            if value.layout != torch.strided:
                missing.setdefault(f"layout {str(value.layout).removeprefix('torch.')}", _where(node))
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
            if _aten.find(node.target) is None and node.target._schema.name.split("::")[1] not in _CHECKS:
                missing.setdefault(str(node.target), _where(node))
        elif node.op == "call_function" and isinstance(node.target, torch._ops.HigherOrderOperator) and not _is_check(node):
            kind = node.args[1] if node.target is torch.ops.higher_order.with_effects else ""
            missing.setdefault(f"{node.target.name()} {kind}".strip(), _where(node))
    if missing:
        raise NotImplementedError("Systole has nothing for " + "; ".join(what + where for what, where in missing.items()))


class Interpreter(torch.fx.Interpreter):
    """Computes a graph on jax arrays; `key` is that of all its random numbers, None for a graph without."""

    def __init__(self, module, key=None):
        super().__init__(module, garbage_collect_values=False)
        self._key = key

    def _next_key(self):
        self._key, key = jax.random.split(self._key)
        return key

    def get_attr(self, target, args, kwargs):
        value = super().get_attr(target, args, kwargs)
        return to_array(value) if isinstance(value, torch.Tensor) else value

    def run_node(self, node):
        if node.op == "call_function" and _is_check(node):
            return self.fetch_args_kwargs_from_env(node)[0][:1]  # the token
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            return super().run_node(node)
        lowering = _aten.find(node.target)
        if lowering is None:
            return None
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        with_types = pytree.tree_map_only(torch.fx.Node, lambda n: n.meta.get("val"), list(node.args))
        results = [v for v in pytree.tree_leaves(node.meta.get("val")) if isinstance(v, torch.Tensor)]
        try:
            with jax.named_scope(node.name):
                value = lowering(_aten.Node(_aten.name_of(node.target), results, with_types, self._next_key), *args, **kwargs)
        except _aten.Unsupported as error:
            raise NotImplementedError(f"Systole has nothing for {error}: {node.target}{_where(node)}") from None
        return _typed(value, node.meta.get("val"))


def _typed(value, wanted):
    """The result of an operator with the types that PyTorch gives it."""
    if isinstance(wanted, torch.Tensor):
        return jnp.asarray(value, _aten.dtype_of(wanted.dtype))
    if isinstance(wanted, (list, tuple)):
        return [_typed(v, w) if v is not None else None for v, w in zip(value, wanted)]  # noqa: B905: a result that nobody asks for
    return value


def is_random(graph):
    """Whether a graph draws random numbers. Dropout that keeps all does not."""
    for node in graph.nodes:
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload) and _aten.find(node.target) in _aten.RANDOM:
            if node.target is not torch.ops.aten.native_dropout.default or (node.args[1] != 0 and node.args[2] is not False):
                return True
    return False


def to_array(tensor):
    """The value of a tensor as NumPy has it, in the type that it has on a device."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype == torch.float64:
        tensor = tensor.to(torch.float32)
    if tensor.dtype == torch.int64:
        narrow = tensor.to(torch.int32)
        if not torch.equal(narrow.to(torch.int64), tensor):
            raise OverflowError("an int64 tensor has values beyond 32 bits, which integers have on the device")
        tensor = narrow
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(jnp.bfloat16)
    return tensor.contiguous().numpy()


def to_tensor(array, like):
    """The reverse: a tensor with data of its own, with the type and the strides of `like`."""
    if like.dtype == torch.bfloat16:
        source = torch.from_numpy(np.array(array, copy=True).reshape(-1).view(np.int16)).view(torch.bfloat16)
    else:
        source = torch.from_numpy(np.array(array, copy=True).reshape(-1))
    source = source.reshape(array.shape)
    strides = [int(n) for n in like.stride()]
    # Along what is expanded there is one element.
    expanded = [d for d, n in enumerate(array.shape) if n > 1 and strides[d] == 0]
    for d in expanded:
        source = source.narrow(d, 0, 1)
    tensor = torch.empty_strided(source.shape, strides, dtype=like.dtype)
    with torch.no_grad():
        tensor.copy_(source)
    return tensor.expand(array.shape) if expanded else tensor
