# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Runs random tests over fresh seeds in parallel, makes what fails smaller, and reports: docs/regression.md."""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import engines
import failures
import job as job_module
import minimise
import plan

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = 1  # failures of a cause that are made smaller
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def seconds_of(text):
    """90, 90s, 10m, 8h."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no time (90s, 10m, 8h)")
    return float(match[1]) * UNITS[match[2]]


def positive(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def number(text):
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number")
    return int(text)


def seed_of(text):
    if not text.isdigit() or int(text) >= 2**31 - 10**6:
        raise argparse.ArgumentTypeError(f"'{text}' is no seed (0 to {2**31 - 10**6 - 1})")
    return int(text)


class Run:
    """A run's folder: run.json, results/<job>.json, failures/<cause>, the reports."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.results = self.folder / "results"

    def start(self, options):
        try:
            self.results.mkdir(parents=True)
        except OSError as error:
            raise plan.PlanError(f"{self.results}: cannot be made: {error.strerror}") from error
        self.options = options
        self._write(self.folder / "run.json", options)

    def load(self):
        try:
            self.options = json.loads((self.folder / "run.json").read_text())
        except (OSError, ValueError) as error:
            raise plan.PlanError(f"{self.folder}: no run to go on with: {error}") from error

    @staticmethod
    def _write(path, data):
        """Whole or not at all."""
        part = path.with_suffix(f".part{os.getpid()}")
        try:
            part.write_text(json.dumps(data) + "\n")
            part.replace(path)
        except OSError as error:
            raise plan.PlanError(f"{path}: {error.strerror}") from error

    def suites(self):
        o = self.options
        return plan.choose(plan.read_suites(o["suites"]), o["presets"], o["filter"], o["kinds"])

    def done(self):
        return {path.stem for path in self.results.glob("*.json")}

    def jobs(self):
        """Those that have no result yet."""
        done = self.done()
        return (job for job in plan.jobs(self.suites(), self.options["first_seed"], self.options["seeds"]) if job.name not in done)

    def job(self, name):
        suite, _, seed = name.rpartition(".") if name.rpartition(".")[2].isdigit() else (name, "", None)
        found = next((s for s in self.suites() if s.name == suite), None)
        if found is None:
            raise plan.PlanError(f"{self.folder}: no suite {suite}")
        return plan.Job(found, None if seed is None else int(seed))

    def run_job(self, job):
        suite = job.suite
        words = job_module.command_of(self.options["build"], suite, job.seed, suite.cases)
        keep = self.folder / "verilator" if self.options["coverage"] else None
        timeout = suite.timeout * (20 if self.options["coverage"] else 1)
        outcome = job_module.run(words, timeout, keep=keep)
        result = {"job": job.name, "suite": suite.name, "kind": suite.kind, "preset": suite.preset, "seed": job.seed,
                  "cases": max(1, suite.cases), "command": job_module.shell(words), "status": outcome.status,
                  "seconds": outcome.seconds, "cores": outcome.cores, "version": outcome.version, "output": ""}
        if outcome.status != "pass":
            failure = failures.find(outcome.status, outcome.output)
            result["output"] = outcome.output
            result["case_seed"] = failure.seed if failure.seed is not None else outcome.case.seed
            result["failure"] = {**dataclasses.asdict(failure), "key": failure.key}
            print(f"regress: {job.name}: {outcome.status}: {failure.message.splitlines()[0][:150]}", flush=True)
        self._write(self.results / f"{job.name}.json", result)

    def lost(self, job, why):
        """A job that left nothing behind: its machine went, or it was cancelled."""
        failure = failures.Failure("", why, None, "lost: " + failures.normalise(why))
        self._write(self.results / f"{job.name}.json", {
            "job": job.name, "suite": job.suite.name, "kind": job.suite.kind, "preset": job.suite.preset, "seed": job.seed, "cases": 0,
            "command": job_module.shell(job_module.command_of(self.options["build"], job.suite, job.seed, job.suite.cases)),
            "status": "lost", "seconds": 0, "cores": [], "version": "", "output": why, "case_seed": None,
            "failure": {**dataclasses.asdict(failure), "key": failure.key}})

    def forget_lost(self):
        """Such jobs run again."""
        for path in self.results.glob("*.json"):
            if json.loads(path.read_text())["status"] == "lost":
                path.unlink()

    def read_results(self):
        return [json.loads(path.read_text()) for path in sorted(self.results.glob("*.json"))]

    # Failures.

    def study(self, key, results):
        """Repeats the simplest failure of a cause alone, makes it smaller, records it, stores it."""
        result = min(results, key=lambda r: (r["seconds"], r["job"]))
        job = self.job(result["job"])
        folder = self.folder / "failures" / key
        folder.mkdir(parents=True, exist_ok=True)
        stored = folder / "cause.json"
        if stored.exists():
            cause = json.loads(stored.read_text())
        else:
            cause = self._smaller(key, result, job, folder)
            (folder / "output.txt").write_text(cause.pop("whole_output"))
            self._write(stored, cause)
        cause["count"] = len(results)
        cause["jobs"] = [r["job"] for r in results]
        self._write(stored, cause)
        (folder / "command.sh").write_text(f"#!/bin/sh\n# {cause['title'][:200]}\ncd {ROOT} && {cause['command']}\n")
        (folder / "command.sh").chmod(0o755)
        return cause

    def _smaller(self, key, result, job, folder):
        suite, build = job.suite, self.options["build"]
        failure, seed = result["failure"], result["case_seed"]
        cause = {"key": key, "title": failure["cause"], "message": failure["message"], "test": failure["test"], "seed": seed,
                 "reproduced": False, "size_before": 0, "size_after": 0, "runs": 0, "text": "", "waves": "", "waves_command": "",
                 "waves_why": "", "command": result["command"], "output": result["output"][-6000:], "whole_output": result["output"]}
        if result["status"] == "lost":
            cause["waves_why"] = "the program did not run"
            return cause
        tests = failure["test"] or None
        limit = min(suite.timeout, 2 * result["seconds"] + 30)

        def attempt(words, choices=None):
            """The outcome if it fails for this cause."""
            outcome = job_module.run(words, limit, choices)
            if outcome.status == "pass" or failures.find(outcome.status, outcome.output).key != key:
                return None
            return outcome

        # The seed alone; else all of the job's, of the one test.
        tries = []
        if seed is not None:
            tries.append(job_module.command_of(build, suite, seed, 1, tests))
        tries += [job_module.command_of(build, suite, job.seed, suite.cases, tests),
                  job_module.command_of(build, suite, job.seed, suite.cases)]
        words, outcome = next(((w, o) for w in tries if (o := attempt(w))), (None, None))
        if words is None:
            cause["waves_why"] = "the failure did not come again"
            return cause
        alone = seed is not None and words is tries[0]
        cause.update(reproduced=alone, command=job_module.shell(words), text=outcome.case.text, size_before=outcome.case.size,
                     size_after=outcome.case.size, seed=seed if alone else job.seed)
        choices = None
        if alone and outcome.case.choices:
            budget = minimise.Budget(self.options["minimise_runs"], self.options["minimise_seconds"])
            found = minimise.minimise(outcome.case, lambda list_: (o := attempt(words, list_)) and o.case, budget)
            cause.update(size_before=found.before, size_after=found.after, runs=found.runs, text=found.text)
            if found.choices is not None and (smaller := attempt(words, found.choices)):
                outcome, choices = smaller, found.choices
                (folder / "choices.txt").write_text(" ".join(map(str, choices)) + "\n")
                cause["command"] = job_module.shell(words, {"SYSTOLE_CHOICES": folder / "choices.txt"})
        cause["output"], cause["whole_output"] = outcome.output[-6000:], outcome.output
        cause["message"] = failures.find(outcome.status, outcome.output).message
        self._waves(cause, suite, words, choices, folder, limit)
        return cause

    def _waves(self, cause, suite, words, choices, folder, limit):
        """Repeats the failure with a waveform: programs that keep one by themselves leave it in SYSTOLE_WAVES, others have arguments."""
        chosen = {"SYSTOLE_CHOICES": str(folder / "choices.txt")} if choices is not None else {}
        kept = folder / "waves"
        kept.mkdir(exist_ok=True)
        variables = {"SYSTOLE_WAVES": str(kept)}
        outcome = job_module.run(words, 10 * limit, choices, variables=variables)
        files = sorted(kept.rglob("*.fst"))
        if files:
            opened = re.search(r"^open it: +(.*)$", outcome.output, re.M)
            cause.update(waves=str(files[0]), waves_command=opened[1] if opened else f"gtkwave {files[0]}",
                         waves_made_by=job_module.shell(words, {**chosen, **variables}))
        else:
            kept.rmdir()
            if not suite.waves:
                cause["waves_why"] = "the suite has no arguments that record one"
                return
            file = folder / "waves.fst"
            traced = [*words, *(word.replace("{file}", str(file)) for word in suite.waves)]
            outcome = job_module.run(traced, 10 * limit, choices)
            if not file.exists() or file.stat().st_size == 0:
                cause["waves_why"] = f"{job_module.shell(traced, chosen)} wrote none ({outcome.status})"
                return
            subprocess.run([ROOT / "scripts" / "python", ROOT / "scripts" / "waves" / "waves.py", "--view-only", file], cwd=ROOT,
                           env={k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")},
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            save = file.with_suffix(".gtkw")
            cause.update(waves=str(file), waves_made_by=job_module.shell(traced, chosen),
                         waves_command=f"gtkwave --dump {file}" + (f" --save {save}" if save.exists() else ""))
        if outcome.status == "pass":
            cause["waves_why"] = "with the waveform the case passes"
        (folder / "waves.txt").write_text(f"{cause['waves_made_by']}\n{cause['waves_command']}\n")

    def finish(self, output, complete, merge):
        results = self.read_results()
        causes = []
        for key, failed in failures.group([r for r in results if r["status"] != "pass"]):
            print(f"regress: cause {key}, {len(failed)} jobs: {failed[0]['failure']['cause'][:120]}", flush=True)
            causes.append(self.study(key, failed))
        o = self.options
        run = {"id": o["id"], "commit": o["commit"], "dirty": o["dirty"], "first_seed": o["first_seed"], "engine": o["engine"],
               "workers": o["workers"], "complete": complete, "folder": str(self.folder)}
        import report  # its libraries take as long as all that refuses wrong options
        summary = report.write(output, run, results, causes, merge)
        print(f"\nregress: {summary['jobs']} jobs, {summary['cases']} seeds, {summary['failed']} failed, {summary['causes']} causes, "
              f"functional coverage {summary['functional']:.1f} %")
        for cause in causes:
            print(f"regress: {cause['key']} ({cause['count']}): {cause['title'][:120]}\n  {cause['command']}")
        print(f"regress: {self.folder / 'report.html'}")
        return 1 if summary["failed"] else 0


def commit_of():
    def git(*words):
        result = subprocess.run(["git", "-C", str(ROOT), *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        return result.stdout.strip()
    return git("rev-parse", "--short", "HEAD") or "unknown", bool(git("status", "--porcelain", "--untracked-files=no"))


def arguments(argv):
    parser = argparse.ArgumentParser(prog="make regress", description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="folder of the built tests")
    parser.add_argument("--output", type=pathlib.Path, help="folder of runs and history (default: <build>/regress)")
    parser.add_argument("--seeds", type=positive, help="seeds of each suite")
    parser.add_argument("--time", type=seconds_of, help="90s, 10m, 8h: nothing new starts after it (default without --seeds: 10m)")
    parser.add_argument("--first-seed", type=seed_of, help="the first one (default: fresh ones, from the clock)")
    parser.add_argument("--presets", default="", help="comma-separated, of suites on whole cores")
    parser.add_argument("--kinds", default="", help=f"comma-separated: {', '.join(plan.KINDS)}")
    parser.add_argument("--filter", default="", help="regular expression of suites' names")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, help="so many at a time")
    parser.add_argument("--engine", choices=("local", "slurm"), help="default: local")
    parser.add_argument("--slurm-options", default="", help="of sbatch, e.g. '--partition=night --time=60'")
    parser.add_argument("--resume", action="store_true", help="go on with the latest run of the output folder")
    parser.add_argument("--coverage", action="store_true", help="the tests are of a build with line and toggle coverage")
    parser.add_argument("--merge", type=number, default=0, metavar="N", help="add the coverage of the last N runs before this one")
    parser.add_argument("--minimise-runs", type=number, default=300, help="of a cause at most (0: leave cases as they are)")
    parser.add_argument("--minimise-seconds", type=seconds_of, default=180.0, help="for a cause at most")
    parser.add_argument("--suites", type=pathlib.Path, default=HERE / "suites.yaml", help="what there is to run")
    parser.add_argument("--list", action="store_true", help="print the suites and the programs that they need")
    parser.add_argument("--programs", action="store_true", help="print the programs that the chosen suites need")
    parser.add_argument("--worker", nargs=2, metavar=("RUN", "TASKS"), help=argparse.SUPPRESS)  # a task of an array
    return parser.parse_args(argv)


def worker(folder, tasks):
    """A task of a Slurm array."""
    run = Run(folder)
    run.load()
    index = int(os.environ["SLURM_ARRAY_TASK_ID"])
    names = pathlib.Path(tasks).read_text().split()
    if run.options["deadline"] is None or time.time() < run.options["deadline"]:
        run.run_job(run.job(names[index]))
    return 0


def folder_of(output, now):
    """A new one, named by the time."""
    name = now.strftime("%Y-%m-%d_%H-%M-%S")
    for more in ("", *(f"_{n}" for n in range(2, 100))):
        if not (output / (name + more)).exists():
            return name + more, output / (name + more)
    raise plan.PlanError(f"{output}: a hundred runs in a second")


def latest(output):
    runs = sorted(path.parent for path in output.glob("*/run.json"))
    if not runs:
        raise plan.PlanError(f"{output}: no run to go on with")
    return runs[-1]


def check(args):
    """PlanError for options that have no effect beside the others. A run that goes on is what it was."""
    if args.time == 0:
        raise plan.PlanError("--time 0: nothing would run")
    if args.resume:
        for option in ("seeds", "time", "first_seed", "presets", "kinds", "filter"):
            if getattr(args, option) not in (None, ""):
                raise plan.PlanError(f"--{option.replace('_', '-')}: without effect: --resume goes on with a run as it was begun")
    elif args.slurm_options and args.engine != "slurm":
        raise plan.PlanError("--slurm-options: without effect: the engine is local, only slurm has it")


def missing(suites, build):
    """PlanError names a program that is not built."""
    for suite in suites:
        path = pathlib.Path(build) / "bin" / suite.program
        if not path.exists():
            raise plan.PlanError(f"{path} is not there: build it first (make regress does)")


def execute(args):
    check(args)
    words = [word for word in args.presets.split(",") if word]
    kinds = [word for word in args.kinds.split(",") if word]
    suites = plan.choose(plan.read_suites(args.suites), words, args.filter, kinds)
    output = (args.output or args.build / "regress").resolve()
    if args.programs and args.resume:
        run = Run(latest(output))
        run.load()
        suites = run.suites()
    if args.list:
        for suite in suites:
            print(f"{suite.name:22} {suite.kind:13} {suite.preset:7} {suite.program}")
        return 0
    if args.programs:
        print("\n".join(sorted({suite.program for suite in suites})))
        return 0
    if args.resume:
        run = Run(latest(output))
        run.load()
        if args.engine not in (None, run.options["engine"]):
            raise plan.PlanError(f"--engine {args.engine}: {run.folder.name} was begun with {run.options['engine']}")
        missing(run.suites(), run.options["build"])
        run.forget_lost()
        used = run.options["used"]
    else:
        if args.time is None and args.seeds is None:
            args.time = 600.0
        if args.engine == "slurm" and args.seeds is None:
            raise plan.PlanError("ENGINE=slurm needs --seeds: an array has a size")
        missing(suites, args.build)
        name, folder = folder_of(output, datetime.datetime.now())
        commit, dirty = commit_of()
        first = args.first_seed if args.first_seed is not None else int(time.time()) // 10 % 200_000 * 10_000
        run = Run(folder)
        run.start({"id": name, "build": str(args.build.resolve()), "suites": str(args.suites.resolve()), "presets": words, "kinds": kinds,
                   "filter": args.filter, "seeds": args.seeds, "time": args.time, "first_seed": first, "engine": args.engine or "local",
                   "workers": args.jobs, "coverage": args.coverage, "minimise_runs": args.minimise_runs,
                   "minimise_seconds": args.minimise_seconds, "commit": commit, "dirty": dirty, "used": 0.0, "deadline": None})
        used = 0.0
    o = run.options
    begin = time.time()
    deadline = None if o["time"] is None else begin + max(0, o["time"] - used)
    o["deadline"] = deadline
    run._write(run.folder / "run.json", o)
    print(f"regress: {run.folder}, {len(run.suites())} suites, seeds from {o['first_seed']}", flush=True)
    complete = False
    try:
        if o["engine"] == "slurm":
            names = [job.name for job in run.jobs()]
            if names:
                engines.slurm(names, run.folder, lambda tasks: job_module.shell(
                    [ROOT / "scripts" / "python", HERE / "regress.py", "--worker", run.folder, tasks]), o["workers"],
                    args.slurm_options.split())
            if deadline is None or time.time() < deadline:
                for job in list(run.jobs()):
                    run.lost(job, "the array's task left no result")
        else:
            engines.local(run.jobs(), run.run_job, o["workers"], deadline)
        complete = True
    except KeyboardInterrupt:
        print("\nregress: ended; go on with --resume", file=sys.stderr)
        return 130
    finally:
        o["used"] = used + time.time() - begin
        run._write(run.folder / "run.json", o)
    runs = [path.parent for path in sorted(output.glob("*/functional.json")) if path.parent < run.folder]
    return run.finish(output, complete, runs[-args.merge:] if args.merge > 0 else [])


def main(argv=None):
    args = arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: no program stays behind
    try:
        return worker(*args.worker) if args.worker else execute(args)
    except (plan.PlanError, engines.EngineError, OSError) as error:
        print(f"regress: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        job_module.end_all()
        print("\nregress: ended; go on with --resume", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
