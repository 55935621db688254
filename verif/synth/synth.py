# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Maps the core with open tools, prints its size, and simulates small netlists against the RTL.

Tables of cells, multipliers and memories also go to <build>/reports/synth.json. For the method, see mapper.py and lockstep.py.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shutil
import sys
import time

import children
import lockstep
import mapper
import yaml

ECP5_MODELS = pathlib.Path("/usr/share/yosys/ecp5/cells_sim.v")
# Columns of the table: name, cell types.
ECP5_COLUMNS = {
    "LUT4": {"LUT4"}, "carry": {"CCU2C"}, "mux": {"PFUMX", "L6MUX21"}, "flip-flop": {"TRELLIS_FF"}, "multiplier": {"MULT18X18D"},
    "block RAM": {"DP16KD"}, "LUT RAM": {"TRELLIS_DPR16X4"},
}
ECP5_CELLS = set().union(*ECP5_COLUMNS.values())


def ecp5_row(module):
    return {column: module.instances * sum(module.ecp5[cell] for cell in types) for column, types in ECP5_COLUMNS.items()}


def generic_row(module):
    flops = sum(number for cell, number in module.generic.items() if "DFF" in cell)
    gates = sum(number for cell, number in module.generic.items() if cell.startswith("$_") and "DFF" not in cell)
    return {"gates": module.instances * gates, "flip-flops": module.instances * flops, "multipliers": module.instances * module.generic["multiplier"],
            "memories": module.instances * len(module.memories),
            "memory bits": module.instances * sum(memory.words * memory.width for memory in module.memories)}


def table(modules, make_row):
    """A row per module of the RTL, summed over all its instances and parameters, and a row for the whole design."""
    rows = collections.defaultdict(collections.Counter)
    for module in modules:
        for name in (module.name, "total"):
            rows[name].update({"instances": module.instances, **make_row(module)})
    total = rows.pop("total")
    return {**{name: dict(rows[name]) for name in sorted(rows)}, "total": dict(total)}


def memory_table(modules):
    """The memories of the design; equal ones share a row."""
    instances = collections.Counter()
    for module in modules:
        for memory in module.memories:
            instances[(module.name, *dataclasses.astuple(memory))] += module.instances
    names = ["module", *(field.name for field in dataclasses.fields(mapper.Memory))]
    return [{**dict(zip(names, key)), "instances": number} for key, number in sorted(instances.items())]


def find_problems(modules):
    problems = []
    for module in modules:
        problems += [f"{module.name}: {number} cells of type {cell} are not mapped for ECP5"
                     for cell, number in module.ecp5.items() if cell not in ECP5_CELLS]
        problems += [f"{module.name}: {number} cells of type {cell} are not mapped to gates"
                     for cell, number in module.generic.items() if not cell.startswith("$_") and cell not in ("$mem_v2", "multiplier")]
        problems += [f"{module.name}: memory {memory.name}, {memory.words} words of {memory.width} bits with {memory.read_ports} read and "
                     f"{memory.write_ports} write ports, became flip-flops" for memory in module.memories if memory.ecp5 == "flip-flops"]
    if not any(module.ecp5["MULT18X18D"] for module in modules):
        problems.append("the design was mapped without a single multiplier")
    return sorted(problems)


def print_table(rows, title):
    columns = list(next(iter(rows.values())))
    width = max(len(name) for name in rows) + 2
    print(f"\n{title}\n{'':{width}}" + "".join(f"{column:>12}" for column in columns))
    for name, row in rows.items():
        print(f"{name:{width}}" + "".join(f"{row[column]:>12}" for column in columns))


def print_memories(rows):
    width = max((len(f"{row['module']}.{row['name']}") for row in rows), default=0) + 2
    print(f"\nMemories\n{'':{width}}{'instances':>10}{'words':>8}{'bits':>6}{'read ports':>12}{'write ports':>13}  ECP5")
    for row in rows:
        print(f"{row['module'] + '.' + row['name']:{width}}{row['instances']:>10}{row['words']:>8}{row['width']:>6}{row['read_ports']:>12}"
              f"{row['write_ports']:>13}  {row['ecp5']}")


def map_design(design, work, pool):
    """Maps the modules of the whole design, the largest first, so that the workers finish at about the same time."""
    text = mapper.read_rtl(design["top"], design["parameters"], [], work, keep_hierarchy=True)
    head, modules = mapper.split(text)
    modules = mapper.merge_equal_modules(modules)
    instances = mapper.count_instances(modules, design["top"])
    names = sorted(modules, key=lambda name: len(modules[name]), reverse=True)
    futures = [pool.submit(mapper.map_module, name, head, modules, instances, work) for name in names]
    return [future.result() for future in concurrent.futures.as_completed(futures)]


def map_netlists(entries, work, pool):
    """Maps small designs to netlists."""
    def run(entry):
        sources = [mapper.HERE / source for source in entry.get("sources", [])]
        subject = entry.get("name", entry["top"])
        netlist, ports = mapper.map_netlist(subject, entry["top"], entry["parameters"], sources, work / subject)
        return lockstep.Subject(subject, entry["top"], entry["parameters"], netlist, ports, entry.get("faults", 4),
                                entry.get("settle", lockstep.RESET_CYCLES))

    return list(pool.map(run, entries))


def simulate(entries, work, pool):
    """The lockstep report of the small designs."""
    sources = list(dict.fromkeys(mapper.HERE / source for entry in entries for source in entry.get("sources", [])))
    report = lockstep.run(map_netlists(entries, work, pool), mapper.ROOT / "rtl", sources,
                          [ECP5_MODELS, mapper.HERE / "ecp5_multiplier.v"], work, mapper.HERE / "lockstep.cc")
    print("Netlists for ECP5 against the RTL, random inputs")
    for row in report:
        print(f"  {row['name']:24}{row['cycles']:>8} cycles, {len(row['problems'])} problems, "
              f"{row['faults_seen']} of {row['faults']} seeded faults seen")
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--only", choices=("design", "netlists"), help="one part")
    parser.add_argument("--preset", type=int, help="the core at another preset than that of synth.yaml")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time; each may take 1 GiB")
    args = parser.parse_args()

    for tool in ("yosys", "verilator", str(mapper.FRONT_END)):
        if not shutil.which(tool):
            print(f"synth: no {tool}; run scripts/setup.sh", file=sys.stderr)
            return 1
    presets = yaml.safe_load((mapper.ROOT / "docs" / "spec" / "presets.yaml").read_text())["presets"]
    numbers = {entry["id"]: name for name, entry in presets.items() if entry["chip"]["Memory"] == "hbm" and entry["chip"]["Cores"] == 1}
    if args.preset is not None and args.preset not in numbers:
        print(f"synth: no preset {args.preset} of one core with HBM: {', '.join(f'{number} ({name})' for number, name in numbers.items())}", file=sys.stderr)
        return 2
    start = time.monotonic()
    work = args.build.resolve() / "synth"
    shutil.rmtree(work, ignore_errors=True)
    plan = yaml.safe_load((mapper.HERE / "synth.yaml").read_text())
    if args.preset is not None:
        plan["design"]["parameters"]["Preset"] = args.preset
    report = {"top": plan["design"]["top"], "parameters": plan["design"]["parameters"]}
    problems = []
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    try:
        if args.only != "design":
            report["lockstep"] = simulate(plan["netlists"], work / "netlists", pool)
            problems += [problem for row in report["lockstep"] for problem in row["problems"]]
        if args.only != "netlists":
            modules = map_design(plan["design"], work / "design", pool)
            report |= {"ecp5": table(modules, ecp5_row), "generic": table(modules, generic_row), "memories": memory_table(modules)}
            print_table(report["ecp5"], f"ECP5, {report['top']} {report['parameters']}")
            print_table(report["generic"], "Generic gates")
            print_memories(report["memories"])
            problems += find_problems(modules)
    except RuntimeError as error:
        print(f"synth: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        children.stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    report["problems"] = problems
    path = args.build / "reports" / "synth.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")
    for problem in problems:
        print(f"synth: {problem}", file=sys.stderr)
    print(f"\nsynth: {len(problems)} problems, {time.monotonic() - start:.0f} s, {path}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
