# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Graphs that torch.compile hands over as programs of the device."""

import collections
import functools
import threading

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


_MOST_PLACES = 16  # of one storage
_ARRAY = object()  # stands for an input that is no size


def _same_bytes(a, b):
    return a.dtype == b.dtype and np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8))


def _storage_of(tensor):
    return StorageWeakRef(tensor.untyped_storage()).cdata


class Residents:
    """Arrays on the device of tensors that live on the host: weights from call to call, activations from forward to backward.

    A tensor is the same as before if its bytes are: they are compared with a copy, so that no way of writing to it goes unseen.
    """

    def __init__(self):
        self._lock = threading.Lock()
        # By storage: a weak reference to it; by place in it, newest last: value on the host, array on the device.
        self._kept = {}

    @staticmethod
    def _place(tensor):
        storage = StorageWeakRef(tensor.untyped_storage())
        return storage, (tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype)

    def put(self, tensor):
        """The array of a tensor."""
        storage, place = self._place(tensor)
        value = _graph.to_array(tensor)
        with self._lock:
            kept = self._kept.get(storage.cdata, (None, {}))[1].get(place)
        if kept is not None and _same_bytes(kept[0], value):
            return kept[1]
        value = np.array(value)  # which may share its bytes with the tensor
        array = jax.device_put(value, device())
        self._keep(storage, place, (value, array))
        return array

    def keep(self, tensor, value, array):
        """Notes that a tensor has the value of an array."""
        storage, place = self._place(tensor)
        self._keep(storage, place, (value, array))

    def _keep(self, storage, place, kept):
        """Of a tensor that is read in slices, the last ones stay."""
        with self._lock:
            places = self._kept.setdefault(storage.cdata, (storage, {}))[1]
            places.pop(place, None)
            places[place] = kept
            if len(places) > _MOST_PLACES:
                del places[next(iter(places))]

    def forget(self):
        """Lets go of what belongs to tensors that are no more."""
        with self._lock:
            for key in [key for key, kept in self._kept.items() if kept[0].expired()]:
                del self._kept[key]


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
        self._sharing = collections.Counter(_storage_of(r) for r in self._results if isinstance(r, torch.Tensor))
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
        # Numbers are part of the program. A token of PyTorch's order of effects is None.
        sizes = tuple(_ARRAY if isinstance(x, torch.Tensor) else x for x in inputs)
        arrays = [_residents.put(x) for x in inputs if isinstance(x, torch.Tensor)]
        # PyTorch's generator decides the key.
        key = np.array(torch.randint(0, 2**31, (2,)), np.uint32) if self._random else None
        with jax.default_device(device()):
            results = self._function(sizes)(key, arrays)
        shared = {}  # memory of results that are views of each other, by the storage of the graph's tensors
        return [self._tensor(value, wanted, shared) for value, wanted in zip(results, self._results, strict=True)]

    def _tensor(self, value, wanted, shared):
        if value is None or not isinstance(wanted, torch.Tensor):
            return value.item() if isinstance(value, jax.Array) else value
        host = np.asarray(value)
        tensor = _graph.to_tensor(host, wanted)
        key = _storage_of(wanted)
        if self._sharing[key] > 1 and isinstance(wanted.storage_offset(), int):
            elements = wanted.untyped_storage().nbytes() // wanted.element_size()
            memory = shared.setdefault(key, torch.empty(int(elements), dtype=wanted.dtype))
            tensor = memory.as_strided(tensor.shape, tensor.stride(), wanted.storage_offset()).copy_(tensor)
        if wanted.dtype != torch.int64:
            _residents.keep(tensor, host, value)
        return tensor
