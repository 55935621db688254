# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Devices: runs, and what they cost."""

from __future__ import annotations

import collections.abc
import ctypes
import threading
import types
import typing

import numpy as np
import numpy.typing as npt

from . import _library as lib
from ._program import BFLOAT16, DTYPES, TYPE_NAMES, Program, Tensor

# What the iss counts too: it has no time, so that every other counter is None there, like Stats.cycles.
UNTIMED = frozenset(("descriptors", "load_bytes", "weight_bytes", "store_bytes", "send_bytes", "fetch_bytes",
                     "mxu_vectors", "hbm_read_beats", "hbm_write_beats", "mxu_nan", "mxu_inf", "vector_nan", "vector_inf"))


class Stats(typing.NamedTuple):
    """What the last run of a device cost."""
    images: int
    runs: int  # of the device's programs
    cycles: int | None  # None on the iss, which has no time
    host_cpu_seconds: float
    saturated: bool  # a sum went beyond int32


class Layer(typing.NamedTuple):
    """A layer's share of the last batch."""
    name: str
    op: str
    program: int
    cycles: int
    macs: int
    core: int = 0  # of a program on several devices


class Event(typing.NamedTuple):
    """A descriptor of the last batch, in cycles since its program's start."""
    unit: str
    name: str
    program: int
    layer: int  # index into layers(); -1: none
    descriptor: int
    head: int  # it was the next of its unit
    start: int  # its flags were there, its unit began
    end: int  # complete
    core: int = 0  # of a program on several devices


def _accepted(tensor: Tensor) -> tuple[str, ...]:
    """Types of NumPy that an input takes."""
    if tensor.type == "int8" and tensor.scale is not None:
        return "int8", "uint8", "float32"
    return (tensor.type,)


def _array(values: npt.ArrayLike, tensor: Tensor, position: int) -> tuple[npt.NDArray[typing.Any], int]:
    """An array for the library, and its type; the caller keeps it alive."""
    try:
        given = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"input {position} {tensor.name!r}: {error}") from None
    if tensor.type == "bfloat16" and given.dtype.itemsize == 2 and given.dtype.kind in "uV":
        return np.ascontiguousarray(given.view(np.uint16)).reshape(given.shape), BFLOAT16
    accepted = _accepted(tensor)
    for name in accepted:
        kind = TYPE_NAMES.index(name)
        if name != "bfloat16" and given.dtype.newbyteorder("=") == DTYPES[kind]:
            return np.ascontiguousarray(given, dtype=DTYPES[kind]).reshape(given.shape), kind
    wanted = " or ".join((", ".join(accepted[:-1]), accepted[-1]) if accepted[1:] else accepted)
    if tensor.type == "bfloat16":
        wanted = "uint16, the bits of bfloat16"
    raise TypeError(f"input {position} {tensor.name!r}: an array of {given.dtype}, give {wanted}")


def _describe(array: npt.NDArray[typing.Any], kind: int) -> lib.Array:
    return lib.Array(type=kind, rank=array.ndim, shape=(ctypes.c_int64 * array.ndim)(*array.shape), data=array.ctypes.data,
                     bytes=array.nbytes)


def _images(shape: tuple[int, ...], tensor: Tensor) -> int:
    """Images in a stack; an array that is none is left to the library to refuse."""
    if len(shape) == len(tensor.shape) + 1:
        return shape[0]
    return shape[0] if tensor.shape[:1] == (1,) and len(shape) == len(tensor.shape) else 1


class Device:
    """A core: backend "iss" (instruction-set simulator), "rtl" (the Verilated core) or "serial:PORT" (a board).

    profile: record every descriptor's times (rtl). seed: of what unwritten memory holds. May be used as a context. It belongs to its
    process: it can be neither pickled nor copied.
    """

    def __init__(self, backend: str = "iss", *, preset: str = "edge", seed: typing.SupportsIndex = 1, profile: bool = False) -> None:
        self._handle: int | None = None
        self._stop = stop = threading.Event()
        self._interrupt = lib.Interrupt(lambda _: int(stop.is_set()))
        self.backend = backend
        self.preset = preset
        self.profile = bool(profile)
        options = lib.DeviceOptions(backend=lib.text(backend, "backend"), preset=lib.text(preset, "preset"),
                                    seed=lib.integer(seed, "seed", 1, 2**64 - 1), profile=self.profile, interrupt=self._interrupt)
        handle = ctypes.c_void_p()
        lib.call("systole_device_open", options, ctypes.byref(handle))
        self._handle = handle.value

    @property
    def handle(self) -> int:
        """The systole_device. ValueError: it is closed."""
        if self._handle is None:
            raise ValueError("the device is closed")
        return self._handle

    def run(self, program: Program, *inputs: npt.ArrayLike | collections.abc.Mapping[str, npt.ArrayLike]) -> list[npt.NDArray[typing.Any]]:
        """Runs a program; returns a list of arrays, one an output.

        inputs: an array each, in the order of program.inputs, or one mapping by name. An int8 input also takes float32, which is
        quantised, or uint8, which is re-centred. An array may be a stack of images: along a leading axis of 1, or a new one.
        """
        if not isinstance(program, Program):
            raise TypeError(f"a systole.Program is run, not {type(program).__name__}: see systole.load()")
        handle = self.handle
        if len(inputs) == 1 and isinstance(inputs[0], collections.abc.Mapping):
            inputs = tuple(self._by_name(program, inputs[0]))
        if len(inputs) != len(program.inputs):
            names = ", ".join(repr(tensor.name) for tensor in program.inputs)
            raise TypeError(f"{program.name}: {len(inputs)} inputs instead of {len(program.inputs)} ({names})")
        arrays = [_array(typing.cast(npt.ArrayLike, values), tensor, i)
                  for i, (values, tensor) in enumerate(zip(inputs, program.inputs))]
        images = _images(arrays[0][0].shape, program.inputs[0]) if arrays else 1
        results: list[npt.NDArray[typing.Any]] = []
        for tensor in program.outputs:
            shape = tensor.shape
            if tensor.stacked:
                shape = (images, *shape[1:]) if shape[:1] == (1,) else (images, *shape)
            results.append(np.empty(shape, tensor.dtype))
        given = (lib.Array * len(arrays))(*(_describe(array, kind) for array, kind in arrays))
        wanted = (lib.Array * len(results))(*(_describe(array, TYPE_NAMES.index(tensor.type))
                                              for array, tensor in zip(results, program.outputs)))
        self._call("systole_device_run", handle, program.handle, given, len(arrays), wanted, len(results))
        return results

    def _call(self, name: str, *arguments: typing.Any) -> None:
        """Calls the library so that handlers of signals, that of Ctrl-C among them, run meanwhile: what they raise ends the run."""
        if threading.current_thread() is not threading.main_thread():
            lib.call(name, *arguments)  # signals are the main thread's
            return
        failures: list[lib.Error] = []
        done = threading.Event()  # an interrupted Thread.join of Python 3.11 takes the thread for ended

        def work() -> None:
            try:
                lib.call(name, *arguments)
            except lib.Error as error:
                failures.append(error)
            finally:
                done.set()

        threading.Thread(target=work, name="systole run").start()
        raised: BaseException | None = None
        while not done.is_set():  # the arrays are in use until then
            try:
                done.wait()
            except BaseException as error:  # pylint: disable=broad-except
                raised = error
                self._stop.set()
        self._stop.clear()
        if raised is not None:
            raise raised
        if failures:
            raise failures[0]

    @staticmethod
    def _by_name(program: Program, given: collections.abc.Mapping[str, npt.ArrayLike]) -> list[npt.ArrayLike]:
        names = [tensor.name for tensor in program.inputs]
        if sorted(given) != sorted(names):
            raise TypeError(f"{program.name}: inputs {sorted(given)} instead of {sorted(names)}")
        return [given[name] for name in names]

    @property
    def stats(self) -> Stats:
        """What the last run cost."""
        stats = lib.get(lib.RunStats, "systole_device_get_stats", self.handle)
        return Stats(stats.images, stats.runs, None if self.backend == "iss" else stats.cycles, stats.host_cpu_seconds,
                     bool(stats.saturated))

    @property
    def counters(self) -> dict[str, int | None]:
        """The performance counters of the last run, by name; None: it depends on time, which the iss has not."""
        count = lib.number("systole_num_counters")
        values = (ctypes.c_uint64 * count)()
        lib.call("systole_device_get_counters", self.handle, values, count)
        named = {lib.string("systole_counter_name", i): value for i, value in enumerate(values)}
        return {name: value if self.backend != "iss" or name in UNTIMED else None for name, value in named.items()}

    def _profiled(self) -> int:
        """The handle, of a device that records."""
        if not self.profile:
            raise lib.FailedPreconditionError("the device was opened without profile=True")
        return self.handle

    def layers(self) -> list[Layer]:
        """The layers of the last batch (profile); of StableHLO a program of the core each, of the last run."""
        handle = self._profiled()
        count = lib.get(ctypes.c_int64, "systole_device_num_layers", handle).value
        infos = (lib.get(lib.LayerInfo, "systole_device_layer", handle, i) for i in range(count))
        return [Layer(i.name.decode(), i.op.decode(), i.program, i.cycles, i.macs, self._core("layer", n)) for n, i in enumerate(infos)]

    def timeline(self) -> list[Event]:
        """The descriptors of the last batch (profile), in program order."""
        handle = self._profiled()
        count = lib.get(ctypes.c_int64, "systole_device_num_events", handle).value
        infos = (lib.get(lib.EventInfo, "systole_device_event", handle, i) for i in range(count))
        return [Event(i.unit.decode(), i.name.decode(), i.program, i.layer, i.descriptor, i.head, i.start, i.end, self._core("event", n))
                for n, i in enumerate(infos)]

    def _core(self, what: str, index: int) -> int:
        return int(lib.get(ctypes.c_int32, f"systole_device_{what}_core", self.handle, index).value)

    def write_profile(self, path: lib.Text, format: str = "html") -> None:  # pylint: disable=redefined-builtin
        """The last batch (profile) as a page ("html"), for Perfetto or XProf ("perfetto", "xspace"), or as "json"."""
        lib.call("systole_device_write_profile", self._profiled(), lib.text(format, "format"), lib.text(path, "path"))

    def __reduce__(self) -> typing.NoReturn:
        raise TypeError("a device cannot be pickled or copied, it belongs to its process: open another one, with "
                        f"systole.Device({self.backend!r}, preset={self.preset!r})")

    def close(self) -> None:
        """Lets go of it. Closing twice is no error."""
        handle, self._handle = self._handle, None
        if handle is not None:
            lib.call("systole_device_close", handle)

    def __enter__(self) -> Device:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def __repr__(self) -> str:
        return f"<systole.Device {self.backend!r}, {self.preset!r}{', closed' if self._handle is None else ''}>"
