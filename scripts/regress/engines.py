# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Where jobs run: processes of this machine, or array jobs of Slurm. Each leaves its results in the run's folder, a file a job, so that
a run that was ended goes on where it was."""

import concurrent.futures
import os
import shutil
import subprocess
import sys
import threading
import time

import job as job_module


class EngineError(Exception):
    """An engine that cannot run; the message says why."""


def local(jobs, run_one, workers, deadline=None):
    """Runs jobs, an iterator, with so many at a time; run_one(job). After the deadline (of time.time) nothing new starts."""
    lock, stop = threading.Lock(), threading.Event()

    def work():
        while not stop.is_set() and (deadline is None or time.time() < deadline):
            with lock:
                job = next(jobs, None)
            if job is None:
                return
            try:
                run_one(job)
            except job_module.Ended:
                return

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        try:
            running = [pool.submit(work) for _ in range(workers)]
            for future in concurrent.futures.as_completed(running):
                future.result()
        except BaseException:
            stop.set()
            job_module.end_all()
            raise


def slurm(names, run_folder, worker, workers, options=()):
    """Runs the jobs with these names as arrays; worker(file): the words of a task, which finds the names in the file, one a line, and
    its line (from 0) in SLURM_ARRAY_TASK_ID. All machines see the same folders. Waits for the end."""
    for tool in ("sbatch", "scontrol", "squeue", "scancel"):
        if not shutil.which(tool):
            raise EngineError(f"no {tool}: this machine submits to no Slurm (scripts/setup.sh slurm installs it)")
    most = _most_tasks()
    folder = run_folder / "slurm"
    folder.mkdir(exist_ok=True)
    submitted = []
    try:
        for first in range(0, len(names), most):
            part = names[first:first + most]
            listing = folder / f"tasks.{time.time_ns()}.txt"
            listing.write_text("\n".join(part) + "\n")
            command = ["sbatch", "--parsable", f"--array=0-{len(part) - 1}%{workers}", "--job-name=systole-regress",
                       f"--output={folder}/%A_%a.log", f"--chdir={os.getcwd()}", "--export=ALL", *options,
                       f"--wrap=exec {worker(listing)}"]
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            if result.returncode != 0:
                raise EngineError(f"sbatch: {result.stderr.strip()}")
            submitted.append(result.stdout.strip().split(";")[0])
            print(f"regress: Slurm job {submitted[-1]}, {len(part)} tasks", flush=True)
        _wait(submitted)
    except BaseException:
        for number in submitted:
            subprocess.run(["scancel", number], check=False)
        raise


def _most_tasks():
    """Tasks that one array may have."""
    result = subprocess.run(["scontrol", "show", "config"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        raise EngineError(f"scontrol show config: {result.stderr.strip() or result.stdout.strip()}")
    for line in result.stdout.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "MaxArraySize":
            return max(1, int(value) - 1)
    return 1000


def _wait(numbers, pause=2):
    """Until the queue has none of these jobs any more."""
    misses = 0
    while True:
        result = subprocess.run(["squeue", "--noheader", "--format=%i %T", "--states=all", "--jobs", ",".join(numbers)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if result.returncode == 0:
            misses = 0
            states = {line.split()[1] for line in result.stdout.splitlines() if len(line.split()) > 1}
            if not states - {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"}:
                return
        elif "Invalid job id" in result.stderr:
            return  # done, and already forgotten
        else:
            misses += 1
            if misses > 30:
                raise EngineError(f"squeue: {result.stderr.strip()}")
            print(f"regress: squeue: {result.stderr.strip()}", file=sys.stderr)
        time.sleep(pause)
