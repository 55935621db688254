# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The RTL in Yosys, in this process (the Python package pyosys). slang reads it; the caller chooses the passes that follow."""

import contextlib
import dataclasses
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Port:
    name: str
    input: bool
    width: int


class Design:
    """One Yosys design; what Yosys prints goes to a log."""

    def __init__(self, log):
        from pyosys import libyosys  # pylint: disable=import-outside-toplevel
        self._yosys = libyosys
        self._design = libyosys.Design()
        self._log = pathlib.Path(log)
        self._log.write_text("")

    @contextlib.contextmanager
    def _output_to_log(self):
        sys.stdout.flush()
        saved = os.dup(1)
        file = os.open(self._log, os.O_WRONLY | os.O_APPEND)
        os.dup2(file, 1)
        try:
            yield
        finally:
            os.dup2(saved, 1)
            os.close(file)
            os.close(saved)

    def log(self):
        """The text that Yosys has printed."""
        return self._log.read_text()

    def run(self, *passes):
        with self._output_to_log():
            for command in passes:
                self._yosys.run_pass(command, self._design)

    def read(self, top, parameters, sources=(), keep_hierarchy=False, rtl=ROOT / "rtl"):
        """Elaborates a module of a folder rtl/. Arrays with a ram_style attribute become memories; other arrays become registers."""
        self._top = top
        files = [str(source) for source in sources] or [str(next(rtl.rglob(f"{top}.sv")))]
        options = ["--threads 1", "--ignore-assertions", "--no-implicit-memories", "-DSYNTHESIS", f"--top {top}"]
        options += [f"-G {key}={value}" for key, value in parameters.items()]
        if keep_hierarchy:
            options.append("--keep-hierarchy")
        self.run(f"read_slang {' '.join(options)} -F {rtl / 'systole.f'} {' '.join(files)}", f"hierarchy -top {top}", "proc -norom")

    def read_netlist(self, path, top):
        """Reads a mapped design (Yosys' JSON)."""
        self._top = top
        self.run(f"read_json {path}", f"hierarchy -top {top}")

    def ports(self):
        """The ports of the top module, in the order of their declaration."""
        netlist = self._log.with_suffix(".ports.json")
        self.run(f"write_json {netlist}")
        ports = json.loads(netlist.read_text())["modules"][self._top]["ports"]
        netlist.unlink()
        return [Port(name, port["direction"] == "input", len(port["bits"])) for name, port in ports.items()]
