# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Netlists of ECP5 cells for simulators: models of the cells, and netlists of the flow (fpga/flow) read into Yosys.

The models are those of Yosys' package. It has none for the block RAM (ecp5_ram.v) and the multiplier (../synth/ecp5_multiplier.v).
"""

import json
import pathlib
import re

import design

LATTICE = pathlib.Path("share") / "lattice"
MODELS = [design.ROOT / "verif" / "engines" / "ecp5_ram.v", design.ROOT / "verif" / "synth" / "ecp5_multiplier.v"]


def cell_models(kinds):
    """The models of Yosys' package for cells of these kinds, and for the cells that these models use, without timing."""
    import pyosys  # pylint: disable=import-outside-toplevel
    folder = pathlib.Path(pyosys.__file__).parent / LATTICE
    text = "\n".join((folder / name).read_text() for name in ("common_sim.vh", "ccu2c_sim.vh"))
    modules = dict(re.findall(r"(?ms)^module (\w+)(.*?^endmodule)", re.sub(r"(?ms)^\s*specify$.*?^\s*endspecify$", "", text)))
    wanted = [kind for kind in kinds if kind in modules]
    for name in wanted:
        wanted += [other for other in modules if other not in wanted and re.search(rf"(?m)^\s*{other}\b", modules[name])]
    return {name: f"module {name}{modules[name]}\n" for name in wanted}


def read_mapped(core, path, top, work, bare=()):
    """Reads a netlist of the flow. The netlist marks unconnected outputs as unknown, which Yosys would take for constants. Cells of the
    kinds in `bare` lose their parameters, because their models have none.
    """
    mapped = json.loads(path.read_text())
    for cell in mapped["modules"][top]["cells"].values():
        if cell["type"] in bare:
            cell["parameters"] = {}
        cell["connections"] = {port: bits for port, bits in cell["connections"].items() if bits != ["x"] or cell["port_directions"][port] == "input"}
    (work / "read.json").write_text(json.dumps(mapped))
    core.read_netlist(work / "read.json", top)
