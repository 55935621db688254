# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Proves the small cells with the distribution's tools: Yosys, yosys-smtbmc and z3.

For each configuration in proofs.yaml it runs bounded model checking from reset and k-induction, and checks that every cover is reached.
For each mutant of the cell, the bounded check must fail by an assertion: a proof that also passes for a mutant proves nothing about the
cell. A cell without registers ("combinational") is proved by Yosys' own solver in one step.
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import pathlib
import re
import shutil
import subprocess
import sys
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import cache  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MODES = {"bmc": [], "induction": ["-i"], "cover": ["-c"]}


@dataclasses.dataclass
class Task:
    """One run of the solver."""

    cell: str
    source: str  # of the cell and of what it instantiates
    parameters: dict
    mode: str
    depth: int
    mutant: str = ""

    @property
    def name(self):
        values = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.cell}({values}) {self.mode} {self.depth}" + (f", mutant: {self.mutant}" if self.mutant else "")


def make_tasks(entry):
    """The proofs and the mutants of one cell."""
    cell = entry["cell"]
    source = (ROOT / "rtl" / "cells" / f"{cell}.sv").read_text()
    used = "".join((ROOT / "rtl" / file).read_text() for file in entry.get("uses", []))
    for parameters in entry["configurations"]:
        for mode in ["combinational"] if "combinational" in entry else MODES:
            yield Task(cell, source + used, parameters, mode, entry[mode])
    for mutant in entry["mutants"]:
        if source.count(mutant["from"]) != 1:
            raise ValueError(f"{cell}: mutant wants exactly one {mutant['from']!r}, found {source.count(mutant['from'])}")
        text = f"{mutant['from']} -> {mutant['to']}"
        mode = "combinational" if "combinational" in entry else "bmc"
        yield Task(cell, source.replace(mutant["from"], mutant["to"]) + used, mutant["at"], mode, entry[mode], text)


def run_tool(command, folder):
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return result.returncode, result.stdout


@functools.lru_cache(maxsize=None)
def lower_checks():
    """Newer releases of Yosys need this pass: it converts their check cells to those that the SAT solver reads."""
    return "chformal -lower\n" if "-lower" in run_tool(["yosys", "-p", "help chformal"], None)[1] else ""


def run(task, folder):
    """Returns (passed, message). A proof passes when it holds; a mutant passes when an assertion fails."""
    folder.mkdir(parents=True)
    (folder / "cell.sv").write_text(task.source)
    parameters = " ".join(f"-chparam {key} {value}" for key, value in task.parameters.items())
    read = f"""
        read_verilog -sv -formal cell.sv {HERE / (task.cell + "_props.sv")}
        hierarchy -check -top {task.cell}_props {parameters}
        """
    if task.mode == "combinational":
        (folder / "model.ys").write_text(f"{read}proc\nflatten\nopt\nchformal -cover -remove\n{lower_checks()}sat -prove-asserts -set-def-inputs\n")
        code, output = run_tool(["yosys", "model.ys"], folder)
        proved, failed = "SAT proof finished - no model found" in output, "SAT proof finished - model found" in output
        if code != 0 or proved == failed:
            return False, f"Yosys failed:\n{output[-2000:]}"
        if task.mutant:
            return failed, "caught" if failed else "NOT CAUGHT"
        return proved, "proved" if proved else "failed"
    (folder / "model.ys").write_text(f"""{read}
        proc
        memory_dff
        memory_collect
        memory_map
        flatten
        opt_clean
        async2sync
        dffunmap
        write_smt2 -wires model.smt2
        """)
    code, output = run_tool(["yosys", "-q", "-T", "-e", "implicitly declared", "model.ys"], folder)
    if code != 0:
        return False, f"Yosys failed:\n{output}"
    command = ["yosys-smtbmc", "-s", "z3", "--unroll", "--presat", *MODES[task.mode], "-t", str(task.depth), "model.smt2"]
    code, output = run_tool(command, folder)
    (folder / "log").write_text(output)
    failed = re.findall(r"Assert failed in \S+: (\S+)", output)
    if task.mutant:
        return bool(failed), f"caught by {failed[0]}" if failed else "NOT CAUGHT"
    if code != 0 or "Status: PASSED" not in output:
        return False, f"{', '.join(failed) or 'failed'}, see {folder / 'log'}"
    if task.mode == "cover":
        return True, f"{len(re.findall('Reached cover statement', output))} covers reached"
    return True, "proved" if task.mode == "induction" else "holds"


def run_once(task, folder):
    """Runs a task, or returns its verdict from the cache. Only good verdicts are cached."""
    kept = cache.Entry("formal", cache.version("yosys", "-V"), cache.version("z3", "--version"), pathlib.Path(__file__).read_bytes(),
                       (HERE / f"{task.cell}_props.sv").read_bytes(), dataclasses.astuple(task))
    verdict = folder / "verdict"
    if kept.restore(folder):
        return True, verdict.read_text()
    passed, text = run(task, folder)
    if passed:
        verdict.write_text(text)
        kept.store(folder, ["verdict"])
    return passed, text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cell", help="only this cell")
    args = parser.parse_args()

    for tool in ("yosys", "yosys-smtbmc", "z3"):
        if not shutil.which(tool):
            print(f"formal: no {tool}; run scripts/setup.sh", file=sys.stderr)
            return 1
    tasks = [task for entry in yaml.safe_load((HERE / "proofs.yaml").read_text())
             if args.cell in (None, entry["cell"]) for task in make_tasks(entry)]
    if not tasks:
        print(f"formal: nothing to prove for {args.cell}", file=sys.stderr)
        return 1

    work = args.build.resolve() / "formal"
    shutil.rmtree(work, ignore_errors=True)
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda pair: run_once(pair[1], work / str(pair[0])), enumerate(tasks)))
    failures = 0
    for task, (passed, text) in zip(tasks, results):
        failures += not passed
        print(f"{'ok  ' if passed else 'FAIL'} {task.name}: {text}")
    mutants = sum(bool(task.mutant) for task in tasks)
    print(f"formal: {len(tasks) - mutants} proofs, {mutants} mutants, {failures} failures, {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
