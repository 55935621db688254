# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Calls of Python from programs: jax.debug.print, jax.debug.callback, jax.pure_callback and io_callback.

A program has a custom_call with the number of a function. When it comes there, the library calls CALL with this number and the places of
operands and results; the function gets copies. It runs while the program waits, with arrays of the CPU platform if there is one
(JAX_PLATFORMS=systole,cpu), else with arrays of numpy.
"""

import contextlib
import ctypes
import functools
import itertools
import pathlib
import traceback
import weakref

import numpy as np

_functions = {}  # by number
_numbers = itertools.count()


class _Kept:
    """What jax keeps as long as it has the program; while it runs, the library keeps it."""


def _forget(library):
    """Functions of programs that are gone."""
    for number, made in list(_functions.items()):
        if made.kept() is None and not library.systole_call_is_used(number):
            del _functions[number]


@functools.cache
def _library():
    library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "libsystole_pjrt.so"))
    library.systole_call_is_used.argtypes, library.systole_call_is_used.restype = [ctypes.c_uint64], ctypes.c_int
    return library


class _Function:
    def __init__(self, function, avals_in, avals_out, tokens, kept):
        self.function, self.avals_in, self.avals_out, self.tokens, self.kept = function, avals_in, avals_out, tokens, weakref.ref(kept)

    def call(self, operands, results):
        arrays = []
        for i, aval in enumerate(self.avals_in, self.tokens):
            array = np.empty(aval.shape, aval.dtype)
            if array.size:
                ctypes.memmove(array.ctypes.data, operands[i], array.nbytes)
            arrays.append(array)
        values = self.function(*arrays)
        if len(values) != len(self.avals_out):
            raise ValueError(f"{len(values)} results instead of {len(self.avals_out)}")
        for i, (value, aval) in enumerate(zip(values, self.avals_out)):
            array = np.asarray(value)
            if array.shape != aval.shape or not np.can_cast(array.dtype, aval.dtype, "same_kind"):
                raise ValueError(f"result {i} is {array.dtype}{list(array.shape)} instead of {aval.dtype}{list(aval.shape)}")
            array = array.astype(aval.dtype, order="C")
            if array.size:
                ctypes.memmove(results[i + self.tokens], array.ctypes.data, array.nbytes)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p,
                  ctypes.c_size_t)
def CALL(number, operands, results, error, error_bytes):
    try:
        _functions[number].call(operands, results)
        return 0
    except BaseException:  # whatever it is, the program ends with it
        text = traceback.format_exc().replace("\0", "\\0").encode(errors="replace")[-(error_bytes - 1):]
        text = text.decode(errors="ignore").encode()  # whole characters
        ctypes.memmove(error, text + b"\0", len(text) + 1)
        return 1


def _on_cpu(function):
    """Gives the function arrays of jax on the CPU, as other platforms do."""

    def call(*arrays):
        import jax

        cpu, context = _cpu(), contextlib.nullcontext()
        if cpu is not None:
            arrays = jax.device_put(arrays, cpu)
            context = jax.default_device(cpu)
        with context:
            return [np.asarray(value) for value in function(*arrays)]

    return call


def _cpu():
    from jax._src import xla_bridge

    try:
        return xla_bridge.local_devices(backend="cpu")[0]
    except RuntimeError:
        return None


def _emit(context, function, operands, *, effect, token=None):
    """The results of the call, and the token behind it."""
    from jax._src import core, sharding_impls
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo

    tokens = [] if token is None else [token]
    _forget(_library())
    number, kept = next(_numbers), _Kept()
    avals_in, avals_out = (list(map(core.physical_aval, avals)) for avals in (context.avals_in, context.avals_out))
    _functions[number] = _Function(_on_cpu(function), avals_in, avals_out, len(tokens), kept)
    context.module_context.add_keepalive(kept)
    # Of whole arrays on several devices one calls for all; in shard_map each does.
    whole = isinstance(context.module_context.axis_context, sharding_impls.ShardingContext)
    once = whole and context.module_context.axis_context.num_devices > 1
    types = [value.type for value in tokens] + [ir.RankedTensorType.get(aval.shape, mlir.dtype_to_ir_type(aval.dtype)) for aval in avals_out]
    call = hlo.CustomCallOp(types, [*tokens, *operands],
                            call_target_name=ir.StringAttr.get("systole_effect_call" if effect else "systole_pure_call"),
                            has_side_effect=ir.BoolAttr.get(effect), api_version=mlir.i32_attr(2), called_computations=ir.ArrayAttr.get([]),
                            backend_config=ir.StringAttr.get(f"{number}{' once' * once}"))
    results = list(call.results)
    return results[len(tokens):], results[0] if tokens else None


def _emit_in_order(context, function, operands, effect, is_ordered):
    from jax._src.interpreters import mlir

    if not is_ordered:
        return _emit(context, function, operands, effect=True)[0]
    results, token = _emit(context, function, operands, effect=True, token=context.tokens_in.get(effect))
    context.set_tokens_out(context.tokens_in.update_tokens(mlir.TokenSet({effect: token})))
    return results


def _pure_callback(context, *operands, callback, **_):
    return _emit(context, callback, operands, effect=False)[0]


def _io_callback(context, *operands, callback, ordered, **_):
    from jax._src import callback as jax_callback

    return _emit_in_order(context, callback, operands, jax_callback._OrderedIOEffect, ordered)


def _debug_callback(context, *operands, callback, effect, **_):
    from jax._src import effects

    def call(*arrays):
        callback(*arrays)
        return ()

    return _emit_in_order(context, call, operands, effect, effects.ordered_effects.contains(effect))


def _printer(fmt, in_tree, static_args, np_printoptions, has_placeholders, logging_record, **_):
    from jax._src import debugging

    text = functools.partial(debugging._format_print_callback, fmt, dict(np_printoptions), has_placeholders, logging_record)
    return debugging._make_flat_callback(in_tree, text, static_args)


def _debug_print(context, *operands, ordered, **more):
    from jax._src import debugging

    effect = debugging.ordered_debug_effect if ordered else debugging.debug_effect
    return _debug_callback(context, *operands, callback=_printer(**more), effect=effect)


def _without_cpu(primitive, callback_of):
    """Outside of programs jax wants a CPU platform for these; numpy does without."""
    usual = primitive.impl

    def call(*arrays, **more):
        if _cpu() is not None:
            return usual(*arrays, **more)
        callback_of(**more)(*map(np.asarray, arrays))
        return ()

    primitive.def_impl(call)


def register():
    """For the platform "systole" alone, as far as this version of jax has them."""
    from jax._src import callback, debugging
    from jax._src.interpreters import mlir

    for module, name, rule in ((callback, "pure_callback_p", _pure_callback), (callback, "io_callback_p", _io_callback),
                               (debugging, "debug_callback_p", _debug_callback), (debugging, "debug_print_p", _debug_print)):
        if hasattr(module, name):
            mlir.register_lowering(getattr(module, name), rule, platform="systole", cacheable=False)
    _without_cpu(debugging.debug_callback_p, lambda callback, **_: callback)
    if hasattr(debugging, "debug_print_p"):
        _without_cpu(debugging.debug_print_p, _printer)


def address():
    return ctypes.cast(CALL, ctypes.c_void_p).value
