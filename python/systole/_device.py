# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Devices: runs, and what they cost."""

import collections.abc
import ctypes
import threading
import typing

import numpy as np

from . import _library as lib
from ._program import BFLOAT16, DTYPES, TYPE_NAMES, Program


class Stats(typing.NamedTuple):
    """What the last run of a device cost."""
    images: int
    runs: int  # of the device's programs
    cycles: typing.Optional[int]  # None on the iss, which has no time
    host_cpu_seconds: float
    saturated: bool  # a sum went beyond int32


class Layer(typing.NamedTuple):
    """A layer's share of the last batch."""
    name: str
    op: str
    program: int
    cycles: int
    macs: int


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


def _array(values, tensor, position):
    """An array for the library; the caller keeps it alive."""
    where = f"input {position} {tensor.name!r}"
    given = np.asarray(values)
    if tensor.type == "bfloat16":
        kind = BFLOAT16 if given.dtype.itemsize == 2 and given.dtype.kind in "uV" else None
        given = given.view(np.uint16) if kind else given
    else:
        kind = DTYPES.index(given.dtype.newbyteorder("=")) if given.dtype.newbyteorder("=") in DTYPES else None
    if kind is None:
        accepts = "int8, uint8 or float32" if tensor.scale is not None and tensor.type == "int8" else tensor.type
        raise TypeError(f"{where}: an array of {given.dtype}, give {accepts}")
    return np.ascontiguousarray(given, dtype=DTYPES[kind]).reshape(given.shape), kind


def _describe(array, kind):
    return lib.Array(type=kind, rank=array.ndim, shape=(ctypes.c_int64 * array.ndim)(*array.shape), data=array.ctypes.data,
                     bytes=array.nbytes)


def _images(shape, tensor):
    """Images in a stack; an array that is none is left to the library to refuse."""
    if len(shape) == len(tensor.shape) + 1:
        return shape[0]
    return shape[0] if tensor.shape[:1] == (1,) and len(shape) == len(tensor.shape) else 1


class Device:
    """A core: backend "iss" (instruction-set simulator), "rtl" (the Verilated core) or "serial:PORT" (a board).

    profile: record every descriptor's times (rtl, int8 presets). seed: of what unwritten memory holds. May be used as a context.
    """

    def __init__(self, backend="iss", *, preset="edge", seed=1, profile=False):
        self._handle = None
        self._stop = stop = threading.Event()
        self._interrupt = lib.Interrupt(lambda _: int(stop.is_set()))
        self.backend = backend
        self.preset = preset
        options = lib.DeviceOptions(backend=lib.text(backend, "backend"), preset=lib.text(preset, "preset"),
                                    seed=lib.integer(seed, "seed", 1, 2**64 - 1), profile=bool(profile), interrupt=self._interrupt)
        handle = ctypes.c_void_p()
        lib.call("systole_device_open", options, ctypes.byref(handle))
        self._handle = handle.value

    @property
    def handle(self):
        """The systole_device. ValueError: it is closed."""
        if self._handle is None:
            raise ValueError("the device is closed")
        return self._handle

    def run(self, program, *inputs):
        """Runs a program; returns a list of arrays, one an output.

        inputs: an array each, in the order of program.inputs, or one mapping by name. An int8 input also takes float32, which is
        quantised, or uint8, which is re-centred. An array may be a stack of images: along a leading axis of 1, or a new one.
        """
        if not isinstance(program, Program):
            raise TypeError(f"a systole.Program is run, not {type(program).__name__}: see systole.load()")
        handle = self.handle
        if len(inputs) == 1 and isinstance(inputs[0], collections.abc.Mapping):
            inputs = self._by_name(program, inputs[0])
        if len(inputs) != len(program.inputs):
            names = ", ".join(repr(tensor.name) for tensor in program.inputs)
            raise TypeError(f"{program.name}: {len(inputs)} inputs instead of {len(program.inputs)} ({names})")
        arrays = [_array(values, tensor, i) for i, (values, tensor) in enumerate(zip(inputs, program.inputs))]
        images = _images(arrays[0][0].shape, program.inputs[0]) if arrays else 1
        results = []
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

    def _call(self, *arguments):
        """Calls the library so that handlers of signals, that of Ctrl-C among them, run meanwhile: what they raise ends the run."""
        if threading.current_thread() is not threading.main_thread():
            lib.call(*arguments)  # signals are the main thread's
            return
        failures = []
        done = threading.Event()  # an interrupted Thread.join of Python 3.11 takes the thread for ended

        def work():
            try:
                lib.call(*arguments)
            except lib.Error as error:
                failures.append(error)
            finally:
                done.set()

        threading.Thread(target=work, name="systole run").start()
        raised = None
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
    def _by_name(program, given):
        names = [tensor.name for tensor in program.inputs]
        if sorted(given) != sorted(names):
            raise TypeError(f"{program.name}: inputs {sorted(given)} instead of {sorted(names)}")
        return [given[name] for name in names]

    @property
    def stats(self):
        """What the last run cost."""
        stats = lib.get(lib.RunStats, "systole_device_get_stats", self.handle)
        return Stats(stats.images, stats.runs, None if self.backend == "iss" else stats.cycles, stats.host_cpu_seconds,
                     bool(stats.saturated))

    @property
    def counters(self):
        """The performance counters of the last run, by name; the iss counts what does not depend on time."""
        count = lib.value("systole_num_counters")
        values = (ctypes.c_uint64 * count)()
        lib.call("systole_device_get_counters", self.handle, values, count)
        return {lib.value("systole_counter_name", i): value for i, value in enumerate(values)}

    def layers(self):
        """The layers of the last batch (profile)."""
        count = lib.get(ctypes.c_int64, "systole_device_num_layers", self.handle).value
        infos = (lib.get(lib.LayerInfo, "systole_device_layer", self.handle, i) for i in range(count))
        return [Layer(i.name.decode(), i.op.decode(), i.program, i.cycles, i.macs) for i in infos]

    def timeline(self):
        """The descriptors of the last batch (profile), in program order."""
        count = lib.get(ctypes.c_int64, "systole_device_num_events", self.handle).value
        infos = (lib.get(lib.EventInfo, "systole_device_event", self.handle, i) for i in range(count))
        return [Event(i.unit.decode(), i.name.decode(), i.program, i.layer, i.descriptor, i.head, i.start, i.end) for i in infos]

    def write_profile(self, path, format="html"):  # pylint: disable=redefined-builtin
        """The last batch (profile) as a page ("html"), for Perfetto or XProf ("perfetto", "xspace"), or as "json"."""
        lib.call("systole_device_write_profile", self.handle, lib.text(format, "format"), lib.text(path, "path"))

    def close(self):
        """Lets go of it. Closing twice is no error."""
        handle, self._handle = self._handle, None
        if handle is not None:
            lib.call("systole_device_close", handle)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) is not None:
            self.close()

    def __repr__(self):
        return f"<systole.Device {self.backend!r}, {self.preset!r}{', closed' if self._handle is None else ''}>"
