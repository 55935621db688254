# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The PJRT plugin of Systole for JAX: JAX_PLATFORMS=systole python script.py

jax calls initialize() when it looks for its backends. Environment variables that the plugin reads:
SYSTOLE_BACKEND=iss|rtl, SYSTOLE_PRESET=v2|lite|mini|litechip|..., SYSTOLE_DEVICES=n, SYSTOLE_FALLBACK=allow|error, SYSTOLE_REPORT=1.
"""

import ctypes
import functools
import os
import pathlib
import sys

LIBRARY = pathlib.Path(__file__).parent / "libsystole_pjrt.so"


def _show_operations(compiled):
    """Of compiled.as_text(): with the operations of the program. What jax reads when it compiles one has its types alone."""
    usual = compiled.as_text

    @functools.wraps(usual)
    def as_text(self):
        library = ctypes.CDLL(str(LIBRARY))
        library.systole_show_operations(1)
        try:
            return usual(self)
        finally:
            library.systole_show_operations(0)

    compiled.as_text = as_text


def initialize():
    """Registers the platform "systole" with jax; below all others, so that it is taken only when it is asked for."""
    import jax._src.xla_bridge as bridge
    import jax.stages
    from jax._src.interpreters import mlir

    if not LIBRARY.exists():
        raise FileNotFoundError(f"{LIBRARY} does not exist: build it with `make build`, then install the package from build/python")
    # Each a line: what starts the process that _propagation.py is.
    command = [sys.executable or "", str(LIBRARY.parent / "_propagation.py"), os.pathsep.join(path for path in sys.path if path)]
    from . import _callbacks, _complex_linalg, _host_linalg, _lowerings

    bridge.register_plugin("systole", priority=-1, library_path=str(LIBRARY),
                           options={"propagation_command": "\n".join(command), "caller": _callbacks.address()})
    _lowerings.register()
    _complex_linalg.register()
    _host_linalg.register()
    _callbacks.register()
    _show_operations(jax.stages.Compiled)
    # Arguments that a program gives away are overwritten only on the platforms of this list.
    if "systole" not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append("systole")
