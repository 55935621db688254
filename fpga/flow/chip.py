# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The RTL of a chip, elaborated once with its hierarchy, and its units."""

import re

from flow import boards
from flow.tools import ROOT, FlowError, yosys

OPTIONS = "--threads 1 --ignore-assertions --no-implicit-memories --keep-hierarchy -DSYNTHESIS"
# The units, by module: what the tables show a row for. Deeper ones are parts of these.
UNITS = {
    "sequencer": "systole_sequencer", "queue memory": "systole_queue_ram", "queue": "systole_unit_queue", "sync": "systole_sync", "fault": "systole_fault",
    "load": "systole_dma_load", "store": "systole_dma_store", "weights": "systole_weight_loader",
    "unified buffer": "systole_unified_buffer", "data setup": "systole_sds", "weight fifo": "systole_weight_fifo",
    "mxu": "systole_mxu", "array": "systole_mxu_array", "accumulators": "systole_accumulators", "vector": "systole_vector",
    "vpu": "systole_vpu", "vpu lane": "systole_vpu_alu_lane", "vpu function": "systole_vpu_sfu_lane",
    "registers": "systole_csr", "memory window": "systole_axi_hbm", "memory port": "systole_axi_dram",
    "hbm": "systole_hbm", "scalar unit": "systole_scalar", "scalar memory": "systole_smem", "processor": "systole_scalar_cpu",
    "crossing": "systole_crossing", "serial link": "systole_serial", "sdram": "systole_sdram",
    "chip link": "systole_link", "router": "systole_link_router", "pack": "systole_link_pack", "unpack": "systole_link_unpack",
}
TOP = "systole_top"
# In place of a preset's name: the links between chips, which no chip has yet.
NETWORK = "network"
NETWORK_TOP = "systole_link_node"
IBEX = ROOT / ".ibex"  # where rtl/ibex/ibex.f looks for it
SERIAL = [ROOT / "fpga" / "common" / f"systole_serial{suffix}.sv" for suffix in ("_pkg", "", "_receive", "_send")]


def elaborate(preset_name, folder, options=""):
    """RTLIL of the chip in folder/chip.il; options: more of the reader's. Returns {unit: [(module of the elaboration, its path in the chip)]}."""
    folder.mkdir(parents=True, exist_ok=True)
    if preset_name == NETWORK:
        read = f"{OPTIONS} {options} --top {NETWORK_TOP} -F rtl/systole.f rtl/link/{NETWORK_TOP}.sv"
        yosys({"read": read, "save": str(folder / "chip.il")}, folder, "read", f"reading {NETWORK_TOP}")
        return find_units(folder / "chip.il", NETWORK_TOP)
    preset = boards.preset(preset_name)
    source = f"rtl/gen/{TOP}.sv"
    design = folder / "chip.il"
    if preset["chip"]["Memory"] == "axi":
        # The host link of boards, beside the chip.
        options += f" --top systole_serial {' '.join(str(path) for path in SERIAL)}"
    if preset["chip"]["SmemBytes"]:
        if not IBEX.exists():
            raise FlowError(f"preset '{preset_name}' has a scalar unit, and Ibex is not in {IBEX}: run: scripts/setup.sh fpga")
        options += " -F rtl/ibex/ibex.f"
    read = f"{OPTIONS} {options} --top {TOP} -G Preset={preset['id']} -F rtl/systole.f {source}"
    yosys({"read": read, "save": str(design)}, folder, "read", f"reading {preset_name}")
    return find_units(design, TOP)


def find_units(design, module):
    """The units among the modules of an elaboration: they are named module$path."""
    found = {}
    names = re.findall(r"(?m)^module \\(\S+)$", design.read_text())
    for unit, wanted in UNITS.items():
        for name in names:
            base, _, path = name.partition("$")
            if base == wanted:
                found.setdefault(unit, []).append((name, path.removeprefix(module + ".")))
    if not found:
        raise FlowError(f"no unit found in {design}")
    return found
