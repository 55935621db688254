# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Graphs that torch.compile hands over as programs of the device."""

import functools

import jax
import numpy as np
import torch
from functorch.compile import make_boxed_func
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils import _pytree as pytree

from . import _graph


@functools.cache
def device():
    """The device that programs run on."""
    try:
        return jax.devices("systole")[0]
    except RuntimeError as error:
        raise RuntimeError(f"no device of Systole: JAX_PLATFORMS, if it is set, has to name systole, and the package systole_jax has to be "
                           f"on the path ({error})") from None


_ARRAY = object()  # stands for an input that is no size


def _same_bytes(a, b):
    return a.dtype == b.dtype and np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8))


class Residents:
    """Arrays on the device of tensors that live on the host: weights from call to call, activations from forward to backward.

    A tensor is the same as before if its bytes are: they are compared with a copy, so that no way of writing to it goes unseen.
    """

    def __init__(self):
        self._kept = {}  # by storage and place in it: (weak reference to the storage, value on the host, array on the device)

    @staticmethod
    def _place(tensor):
        storage = StorageWeakRef(tensor.untyped_storage())
        return storage, (storage.cdata, tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype)

    def put(self, tensor):
        """The array of a tensor."""
        storage, place = self._place(tensor)
        value = _graph.to_array(tensor)
        kept = self._kept.get(place)
        if kept is not None and _same_bytes(kept[1], value):
            return kept[2]
        value = np.array(value)  # which may share its bytes with the tensor
        array = jax.device_put(value, device())
        self._kept[place] = (storage, value, array)
        return array

    def keep(self, tensor, value, array):
        """Notes that a tensor has the value of an array."""
        storage, place = self._place(tensor)
        self._kept[place] = (storage, value, array)

    def forget(self):
        """Lets go of what belongs to tensors that are no more."""
        for place in [place for place, kept in self._kept.items() if kept[0].expired()]:
            del self._kept[place]


_residents = Residents()


class Program:
    """A graph whose inputs are tensors and sizes, and whose results are tensors."""

    def __init__(self, module):
        _graph.check(module.graph)
        self._module = module
        self._random = _graph.is_random(module.graph)
        output = next(node for node in module.graph.nodes if node.op == "output")
        self._results = [node.meta["val"] if isinstance(node, torch.fx.Node) else node for node in pytree.tree_leaves(
            output.args[0], is_leaf=lambda x: x is None)]
        self._jitted = {}

    @classmethod
    def of(cls, module, inputs):
        """The function that PyTorch wants of a compiler."""
        return make_boxed_func(cls(module))

    def _function(self, sizes):
        """The program for some sizes, where shapes are open, at the precision of the moment."""
        key = (sizes, _graph.precision())
        if key not in self._jitted:
            def compute(key, arrays):
                arrays = iter(arrays)
                inputs = [next(arrays) if size is _ARRAY else size for size in sizes]
                with jax.default_matmul_precision(_graph.precision()):
                    return list(_graph.Interpreter(self._module, key).run(*inputs, enable_io_processing=False))
            self._jitted[key] = jax.jit(compute)
        return self._jitted[key]

    def __call__(self, *inputs):
        _residents.forget()
        # A token of PyTorch's order of effects is None.
        sizes = tuple(_ARRAY if isinstance(x, torch.Tensor) else x if x is None else int(x) for x in inputs)
        arrays = [_residents.put(x) for x in inputs if isinstance(x, torch.Tensor)]
        # PyTorch's generator decides the key.
        key = np.array(torch.randint(0, 2**31, (2,)), np.uint32) if self._random else None
        with jax.default_device(device()):
            results = self._function(sizes)(key, arrays)
        return [self._tensor(value, wanted) for value, wanted in zip(results, self._results, strict=True)]

    @staticmethod
    def _tensor(value, wanted):
        if value is None or not isinstance(wanted, torch.Tensor):
            return int(value) if isinstance(value, jax.Array) else value
        host = np.asarray(value)
        tensor = _graph.to_tensor(host, wanted.dtype)
        if wanted.dtype != torch.int64:
            _residents.keep(tensor, host, value)
        return tensor
