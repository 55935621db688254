# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""libsystole.so: where it is, its functions and structures as systole.h declares them, its errors as exceptions."""

from __future__ import annotations

import ctypes
import operator
import os
import pathlib
import typing
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

ABI_VERSION = 1  # SYSTOLE_ABI_VERSION of the header that this file follows
LIBRARY = f"libsystole.so.{ABI_VERSION}"


class Error(RuntimeError):
    """What the library refuses or fails to do; the message says what and where."""


class CancelledError(Error):
    """Stopped by an interrupt."""


class InvalidArgumentError(Error, ValueError):
    """An argument, an array or a model that makes no sense."""


class NotFoundError(Error, LookupError):
    """No such file or name."""


class FailedPreconditionError(Error):
    """Not now, or not with this device."""


class UnimplementedError(Error, NotImplementedError):
    """An operator, a version or a backend that there is not."""


class DataLossError(Error):
    """A damaged file."""


class ResourceExhaustedError(Error, MemoryError):
    """Memory of the host or of the device."""


class UnavailableError(Error, OSError):
    """A file or a port that cannot be used."""

    def __str__(self) -> str:
        return str(self.args[0])


class AbortedError(Error):
    """A fault of the core: cause, descriptor, address, cycle."""


class OutOfRangeError(Error, IndexError):
    """An index beyond the last."""


class InternalError(Error):
    """A mistake of the library itself."""


# By systole_status.
ERRORS: tuple[type[Error] | None, ...] = (
    None, CancelledError, InvalidArgumentError, NotFoundError, FailedPreconditionError, UnimplementedError, DataLossError,
    ResourceExhaustedError, UnavailableError, AbortedError, OutOfRangeError, InternalError)
for _error in (Error, *ERRORS):
    if _error is not None:
        _error.__module__ = "systole"  # where users know it from


class Array(ctypes.Structure):
    _fields_ = [("type", c_int), ("rank", c_int32), ("shape", POINTER(c_int64)), ("data", c_void_p), ("bytes", c_size_t)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("rank", c_int32), ("shape", POINTER(c_int64)), ("stacked", c_int32),
                ("quantised", c_int32), ("scale", c_float), ("zero_point", c_int32)]


class PresetInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("cell", c_char_p), ("rows", c_int32), ("cols", c_int32), ("memory_bytes", c_uint64)]


class Sized(ctypes.Structure):
    """A structure that begins with its size."""

    def __init__(self, *args: typing.Any, **kwargs: typing.Any) -> None:
        super().__init__(*args, **kwargs)
        self.struct_size = ctypes.sizeof(self)


class CompileOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("preset", c_char_p), ("batch", c_int64), ("refuse_host", c_int32),
                ("model_options", c_char_p)]


class ProgramInfo(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("preset", c_char_p), ("batch", c_int64), ("num_inputs", c_int32),
                ("num_outputs", c_int32), ("placement", c_char_p)]


Interrupt = ctypes.CFUNCTYPE(c_int, c_void_p)


class DeviceOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("backend", c_char_p), ("preset", c_char_p), ("seed", c_uint64), ("profile", c_int32),
                ("interrupt", Interrupt), ("user", c_void_p)]


class RunStats(Sized):
    _fields_ = [("struct_size", c_size_t), ("images", c_int64), ("runs", c_int64), ("cycles", c_uint64), ("host_cpu_seconds", c_double),
                ("saturated", c_int32)]


class LayerInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("op", c_char_p), ("program", c_int32), ("cycles", c_uint64), ("macs", c_int64)]


class EventInfo(ctypes.Structure):
    _fields_ = [("unit", c_char_p), ("name", c_char_p), ("program", c_int32), ("layer", c_int32), ("descriptor", c_uint32),
                ("head", c_uint64), ("start", c_uint64), ("end", c_uint64)]


# By the names of systole.h; the layouts are compared with it by tests/capi/python_test.py.
STRUCTURES: dict[str, type[ctypes.Structure]] = {
    "systole_array": Array, "systole_tensor": TensorInfo, "systole_preset": PresetInfo,
    "systole_compile_options": CompileOptions, "systole_program_info": ProgramInfo, "systole_device_options": DeviceOptions,
    "systole_run_stats": RunStats, "systole_layer": LayerInfo, "systole_event": EventInfo}

# Functions that return a status: their arguments.
FUNCTIONS: dict[str, tuple[typing.Any, ...]] = {
    "systole_get_preset": (c_int32, POINTER(PresetInfo)),
    "systole_program_load": (c_char_p, POINTER(CompileOptions), POINTER(c_void_p)),
    "systole_program_parse": (c_char_p, c_size_t, c_char_p, POINTER(CompileOptions), POINTER(c_void_p)),
    "systole_program_save": (c_void_p, c_char_p),
    "systole_program_close": (c_void_p,),
    "systole_program_get_info": (c_void_p, POINTER(ProgramInfo)),
    "systole_program_input": (c_void_p, c_int32, POINTER(TensorInfo)),
    "systole_program_output": (c_void_p, c_int32, POINTER(TensorInfo)),
    "systole_device_open": (POINTER(DeviceOptions), POINTER(c_void_p)),
    "systole_device_close": (c_void_p,),
    "systole_device_run": (c_void_p, c_void_p, POINTER(Array), c_int32, POINTER(Array), c_int32),
    "systole_device_get_stats": (c_void_p, POINTER(RunStats)),
    "systole_device_get_counters": (c_void_p, POINTER(c_uint64), c_int32),
    "systole_device_num_layers": (c_void_p, POINTER(c_int64)),
    "systole_device_layer_core": (c_void_p, c_int64, POINTER(c_int32)),
    "systole_device_event_core": (c_void_p, c_int64, POINTER(c_int32)),
    "systole_device_layer": (c_void_p, c_int64, POINTER(LayerInfo)),
    "systole_device_num_events": (c_void_p, POINTER(c_int64)),
    "systole_device_event": (c_void_p, c_int64, POINTER(EventInfo)),
    "systole_device_write_profile": (c_void_p, c_char_p, c_char_p),
}


RESULTS: tuple[tuple[str, tuple[typing.Any, ...], typing.Any], ...] = (
    ("systole_version", (), c_char_p), ("systole_error", (), c_char_p), ("systole_num_presets", (), c_int32),
    ("systole_num_counters", (), c_int32), ("systole_counter_name", (c_int32,), c_char_p))


def _open() -> ctypes.CDLL:
    """The library that SYSTOLE_LIBRARY names, else the one of this package, else the system's."""
    path = os.environ.get("SYSTOLE_LIBRARY")
    if not path:
        own = pathlib.Path(__file__).with_name(LIBRARY)
        path = str(own) if own.exists() else LIBRARY
    try:
        library = ctypes.CDLL(path)
        library.systole_abi_version.restype = c_int32
        found = library.systole_abi_version()
    except (OSError, AttributeError) as error:
        reason = ("this processor lacks instructions that it was built for: docs/install.md, Processors" if "ISA level" in str(error) else
                  "it needs SystemC and Abseil of the distribution that it was built on, docs/install.md; SYSTOLE_LIBRARY names another one")
        raise ImportError(f"systole: the library cannot be loaded: {error} ({reason})") from error
    if found != ABI_VERSION:
        raise ImportError(f"systole: {path} has ABI version {found}, this package needs {ABI_VERSION}")
    for name, arguments in FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = c_int
    for name, arguments, result in RESULTS:
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = result
    return library


_library = _open()


def number(name: str) -> int:
    """The result of a function that cannot fail."""
    return int(getattr(_library, name)())


def string(name: str, *arguments: typing.Any) -> str:
    """The same of one that returns a string."""
    found: bytes = getattr(_library, name)(*arguments)
    return found.decode()


def call(name: str, *arguments: typing.Any) -> None:
    """Calls a function that returns a status."""
    status: int = getattr(_library, name)(*arguments)
    if status == 0:
        return
    message = _library.systole_error().decode(errors="replace")
    raise ((ERRORS[status] if status < len(ERRORS) else None) or Error)(message)


Filled = typing.TypeVar("Filled", bound="ctypes.Structure | ctypes.c_int64")


def get(structure: type[Filled], name: str, *arguments: typing.Any) -> Filled:
    """The structure that a function fills."""
    out = structure()
    call(name, *arguments, ctypes.byref(out))
    return out


Text = typing.Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


@typing.overload
def text(given: None, what: str) -> None: ...
@typing.overload
def text(given: Text, what: str) -> bytes: ...
def text(given: Text | None, what: str) -> bytes | None:
    """A string for the library; None stays."""
    if given is None:
        return None
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if isinstance(given, str):
        given = os.fsencode(given)
    if not isinstance(given, bytes):
        raise TypeError(f"{what} is {type(given).__name__}, not a string")
    if b"\0" in given:
        raise ValueError(f"{what} holds a NUL character")
    return given


def integer(given: typing.SupportsIndex, what: str, low: int, high: int) -> int:
    """A whole number for the library: ctypes would cut it to its bits."""
    try:
        whole = operator.index(given)
    except TypeError:
        raise TypeError(f"{what} is {type(given).__name__}, not a whole number") from None
    if not low <= whole <= high:
        raise ValueError(f"{what} is {whole}, not {low} to {high}")
    return whole


def version() -> str:
    """Of the library that is loaded."""
    return string("systole_version")
