# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Gates of the units in a generic library: multipliers and memories stay what they are. Nothing may grow faster than rows x columns."""

import json
import time

from flow import boards, chip, report, tools, units

COMMANDS = ["proc -norom", "opt_expr", "opt_clean", "opt -nodffe -nosdff", "wreduce", "peepopt", "opt_clean", "memory -nomap",
            "chtype -set \\multiplier t:$mul", "alumacc", "opt -fast", "techmap", "opt_clean -purge"]


def measure(preset, unit, module, folder):
    """Gates, flip-flops, multipliers and bits of memory of a unit."""
    work = folder / unit.replace(" ", "_")
    work.mkdir(parents=True, exist_ok=True)
    job = {"load": str(folder / "chip.il"), "top": module, "registers": True, "stat": str(work / "stat.json"), "commands": COMMANDS}
    tools.yosys(job, work, "generic", f"{preset}: {unit}")
    design = json.loads((work / "stat.json").read_text())["design"]
    kinds = design["num_cells_by_type"]
    flip_flops = sum(number for kind, number in kinds.items() if "DFF" in kind)
    memories = sum(number for kind, number in kinds.items() if kind.startswith("$mem"))
    return {"gates": sum(number for kind, number in kinds.items() if kind.startswith("$_") and "DFF" not in kind), "flip_flops": flip_flops,
            "multipliers": kinds.get("multiplier", kinds.get("\\multiplier", 0)), "memories": memories, "memory_bits": design.get("num_memory_bits", 0)}


def run(args):
    tools.check(memory=False)
    start = time.monotonic()
    rows = []
    for preset in args.generic:
        folder = args.build / "fpga" / "generic" / preset
        core = boards.preset(preset)["core"]
        for unit, instances in units.chosen(chip.elaborate(preset, folder), args.only).items():
            measured = measure(preset, unit, instances[0][0], folder)
            rows.append({"unit": unit, "preset": preset, "instances": len(instances), **measured,
                         "gates_per_mac": round(measured["gates"] / (core["Rows"] * core["Cols"]), 2)})
            tools.say(", ".join(f"{key} {value}" for key, value in rows[-1].items()))
    report.table("Units in a generic library", rows)
    path = report.write(args.build, "fpga_generic.json", {"units": rows, "seconds": round(time.monotonic() - start)})
    print(f"\n{path}")
    return 0
