# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Programs and presets."""

from __future__ import annotations

import ctypes
import pathlib
import tempfile
import types
import typing

import numpy as np

from . import _library as lib

# By systole_type. NumPy has no bfloat16: its bits are uint16.
DTYPES: tuple[np.dtype[typing.Any], ...] = tuple(np.dtype(name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "uint16", "float16", "float32"))
TYPE_NAMES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bfloat16", "float16", "float32")
BFLOAT16 = TYPE_NAMES.index("bfloat16")


class Preset(typing.NamedTuple):
    """A configuration of a chip."""
    name: str
    cell: str  # "int8", "bf16"
    rows: int
    cols: int
    memory_bytes: int


class Tensor(typing.NamedTuple):
    """An input or output of a program."""
    name: str
    type: str  # "int8", ...; "bfloat16" is passed as the uint16 of its bits
    dtype: np.dtype[typing.Any]
    shape: tuple[int, ...]  # of one image, where arrays are stacks of images
    stacked: bool
    scale: float | None  # an int8 q stands for scale * (q - zero_point); None: it does not
    zero_point: int


def presets() -> dict[str, Preset]:
    """All presets, by name."""
    found = {}
    for index in range(lib.number("systole_num_presets")):
        info = lib.get(lib.PresetInfo, "systole_get_preset", index)
        found[info.name.decode()] = Preset(info.name.decode(), info.cell.decode(), info.rows, info.cols, info.memory_bytes)
    return found


class Program:
    """A compiled model, made by load() or parse(). Immutable: threads may share it.

    One of an int8 preset can be pickled and copied, as what save() writes. TypeError: StableHLO and float models have no such file.
    """

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle
        info = lib.get(lib.ProgramInfo, "systole_program_get_info", handle)
        self.name: str = info.name.decode(errors="replace")
        self.preset: str | None = info.preset.decode() or None  # None: StableHLO or a float model, for every bf16 preset
        self.batch: int = info.batch  # images of one run of the device
        self.placement: str = info.placement.decode(errors="replace")  # what runs where, as text
        self.inputs = tuple(self._tensor("systole_program_input", i) for i in range(info.num_inputs))
        self.outputs = tuple(self._tensor("systole_program_output", i) for i in range(info.num_outputs))

    def _tensor(self, function: str, index: int) -> Tensor:
        info = lib.get(lib.TensorInfo, function, self._handle, index)
        return Tensor(info.name.decode(errors="replace"), TYPE_NAMES[info.type], DTYPES[info.type], tuple(info.shape[:info.rank]),
                      bool(info.stacked), info.scale if info.quantised else None, info.zero_point)

    def save(self, path: lib.Text) -> None:
        """Writes it as a program file (.tpu)."""
        lib.call("systole_program_save", self.handle, lib.text(path, "path"))

    def __reduce__(self) -> tuple[typing.Callable[[bytes, str], Program], tuple[bytes, str]]:
        handle = self.handle
        if self.preset is None:
            raise TypeError(f"the program {self.name!r} cannot be pickled or copied, it is StableHLO or a float model: keep the file's bytes, and "
                            "call systole.parse() with them where the program is needed")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "program.tpu"
            lib.call("systole_program_save", handle, lib.text(file, "path"))
            return _restored, (file.read_bytes(), self.name)

    def close(self) -> None:
        """Lets go of it. Closing twice is no error."""
        handle, self._handle = self._handle, None
        if handle is not None:
            lib.call("systole_program_close", handle)

    @property
    def handle(self) -> int:
        """The systole_program. ValueError: it is closed."""
        if self._handle is None:
            raise ValueError(f"the program {self.name!r} is closed")
        return self._handle

    def __enter__(self) -> Program:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def __repr__(self) -> str:
        return f"<systole.Program {self.name!r} for {self.preset or 'bf16 presets'}, batch {self.batch}>"


def _restored(data: bytes, name: str) -> Program:
    """Of a pickle."""
    return parse(data, name=name)


def _options(preset: str | None, batch: typing.SupportsIndex | None, refuse_host: bool, model_options: str | None) -> lib.CompileOptions:
    return lib.CompileOptions(preset=lib.text(preset, "preset"), batch=0 if batch is None else lib.integer(batch, "batch", 1, 2**20),
                              refuse_host=bool(refuse_host), model_options=lib.text(model_options, "model_options"))


def load(path: lib.Text, *, preset: str | None = None, batch: typing.SupportsIndex | None = None, refuse_host: bool = False,
         model_options: str | None = None) -> Program:
    """The program of a file: .tpu, or a .tflite, .onnx, .safetensors or StableHLO artifact (jax.export) that is compiled.

    preset, batch: that a model is compiled for ("edge", 1); a program file has its own. refuse_host: a model of which anything
    would run on the host is an error. model_options: how an ONNX model is read, as `systole run` has it, "--dim batch=4".
    """
    if path is None:
        raise TypeError("path is None, not the name of a file")
    handle = ctypes.c_void_p()
    lib.call("systole_program_load", lib.text(path, "path"), _options(preset, batch, refuse_host, model_options), ctypes.byref(handle))
    return Program(handle.value or 0)


def parse(data: bytes | bytearray | memoryview, *, name: str = "program", preset: str | None = None,
          batch: typing.SupportsIndex | None = None, refuse_host: bool = False, model_options: str | None = None) -> Program:
    """The same of bytes; name stands for the file in messages."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"data is {type(data).__name__}, not bytes: systole.load() takes a file's path")
    data = bytes(data)
    handle = ctypes.c_void_p()
    lib.call("systole_program_parse", data, len(data), lib.text(name, "name"), _options(preset, batch, refuse_host, model_options),
             ctypes.byref(handle))
    return Program(handle.value or 0)
