# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Runs models on Systole's cores, simulated or real, on NumPy arrays.

    import systole

    program = systole.load("digits.tflite", preset="nano", batch=4)
    with systole.Device("rtl", preset="nano", profile=True) as device:
        scores, = device.run(program, images)
        print(device.stats.cycles, device.counters["mxu_busy"])
        for event in device.timeline(): ...

Stands on the C API (systole.h) alone. Errors of the library are exceptions: systole.Error and what is below it.
"""

from ._device import Device, Event, Layer, Stats
from ._library import Error, version
from ._library import (AbortedError, CancelledError, DataLossError, FailedPreconditionError, InternalError, InvalidArgumentError,
                       NotFoundError, OutOfRangeError, ResourceExhaustedError, UnavailableError, UnimplementedError)
from ._program import Preset, Program, Tensor, load, parse, presets

__version__ = version()
__all__ = ["AbortedError", "CancelledError", "DataLossError", "Device", "Error", "Event", "FailedPreconditionError", "InternalError",
           "InvalidArgumentError", "Layer", "NotFoundError", "OutOfRangeError", "Preset", "Program", "ResourceExhaustedError",
           "Stats", "Tensor", "UnavailableError", "UnimplementedError", "load", "parse", "presets", "version"]
