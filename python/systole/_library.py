# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""libsystole.so: where it is, its functions and structures as systole.h declares them, its errors as exceptions."""

import ctypes
import operator
import os
import pathlib
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

    def __str__(self):
        return str(self.args[0])


class AbortedError(Error):
    """A fault of the core: cause, descriptor, address, cycle."""


class OutOfRangeError(Error, IndexError):
    """An index beyond the last."""


class InternalError(Error):
    """A mistake of the library itself."""


ERRORS = (None, CancelledError, InvalidArgumentError, NotFoundError, FailedPreconditionError, UnimplementedError, DataLossError,
          ResourceExhaustedError, UnavailableError, AbortedError, OutOfRangeError, InternalError)  # by systole_status


class Array(ctypes.Structure):
    _fields_ = [("type", c_int), ("rank", c_int32), ("shape", POINTER(c_int64)), ("data", c_void_p), ("bytes", c_size_t)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("rank", c_int32), ("shape", POINTER(c_int64)), ("stacked", c_int32),
                ("quantised", c_int32), ("scale", c_float), ("zero_point", c_int32)]


class PresetInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("cell", c_char_p), ("rows", c_int32), ("cols", c_int32), ("memory_bytes", c_uint64)]


class Sized(ctypes.Structure):
    """A structure that begins with its size."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.struct_size = ctypes.sizeof(self)


class CompileOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("preset", c_char_p), ("batch", c_int64), ("refuse_host", c_int32)]


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
STRUCTURES = {"systole_array": Array, "systole_tensor": TensorInfo, "systole_preset": PresetInfo,
              "systole_compile_options": CompileOptions, "systole_program_info": ProgramInfo, "systole_device_options": DeviceOptions,
              "systole_run_stats": RunStats, "systole_layer": LayerInfo, "systole_event": EventInfo}

# Functions that return a status: their arguments.
FUNCTIONS = {
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
    "systole_device_layer": (c_void_p, c_int64, POINTER(LayerInfo)),
    "systole_device_num_events": (c_void_p, POINTER(c_int64)),
    "systole_device_event": (c_void_p, c_int64, POINTER(EventInfo)),
    "systole_device_write_profile": (c_void_p, c_char_p, c_char_p),
}


def _open():
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
        raise ImportError(f"systole: the library cannot be loaded: {error}; install the package from the built tree "
                          "(build/python), or name the library in SYSTOLE_LIBRARY") from error
    if found != ABI_VERSION:
        raise ImportError(f"systole: {path} has ABI version {found}, this package needs {ABI_VERSION}")
    for name, arguments in FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = c_int
    for name, arguments, result in (("systole_version", (), c_char_p), ("systole_error", (), c_char_p),
                                    ("systole_num_presets", (), c_int32), ("systole_num_counters", (), c_int32),
                                    ("systole_counter_name", (c_int32,), c_char_p)):
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = result
    return library


_library = _open()


def value(name, *arguments):
    """The result of a function that cannot fail."""
    result = getattr(_library, name)(*arguments)
    return result.decode() if isinstance(result, bytes) else result


def call(name, *arguments):
    """Calls a function that returns a status."""
    status = getattr(_library, name)(*arguments)
    if status == 0:
        return
    message = _library.systole_error().decode(errors="replace")
    raise (ERRORS[status] if status < len(ERRORS) else Error)(message)


def get(structure, name, *arguments):
    """The structure that a function fills."""
    out = structure()
    call(name, *arguments, ctypes.byref(out))
    return out


def text(string, what):
    """A string for the library; None stays."""
    if string is None:
        return None
    if isinstance(string, os.PathLike):
        string = os.fspath(string)
    if isinstance(string, str):
        string = os.fsencode(string)
    if not isinstance(string, bytes):
        raise TypeError(f"{what} is {type(string).__name__}, not a string")
    if b"\0" in string:
        raise ValueError(f"{what} holds a NUL character")
    return string


def integer(number, what, low, high):
    """A whole number for the library: ctypes would cut it to its bits."""
    number = operator.index(number)
    if not low <= number <= high:
        raise ValueError(f"{what} is {number}, not {low} to {high}")
    return number


def version():
    """Of the library that is loaded."""
    return value("systole_version")
