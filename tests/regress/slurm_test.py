# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""`make regress ENGINE=slurm` with Slurm's own daemons: munged, slurmctld and slurmd of a temporary configuration on the loopback
interface, a run of array jobs, one that loses a task, and one that goes on after it was ended. Run by `make slurm`, as root.

All daemons are children of this program and end with it.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNER = ROOT / "scripts" / "regress" / "regress.py"
SUITES = """
suites:
  - {name: one, kind: networks, preset: nano, program: fake_test.py, cases: 4, timeout: 20}
  - {name: other, kind: units, program: fake_test.py, timeout: 20}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    """A controller and a node on this machine."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        for name in ("state", "spool", "munge"):
            (folder / name).mkdir()
        folder.chmod(0o755)
        (folder / "munge").chmod(0o755)
        key = folder / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.host = socket.gethostname().split(".")[0]
        self.socket = folder / "munge" / "socket"
        self.conf = folder / "slurm.conf"
        self.conf.write_text(f"""
ClusterName=test
SlurmctldHost={self.host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={self.socket}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MaxArraySize=8
MinJobAge=300
InactiveLimit=0
KillWait=2
NodeName={self.host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
        self.environment = {**os.environ, "SLURM_CONF": str(self.conf), "PATH": f"{os.environ['PATH']}:/usr/sbin"}

    def start(self):
        self._daemon("munged", "--foreground", "--force", f"--socket={self.socket}", f"--key-file={self.folder}/munge/key",
                     f"--log-file={self.folder}/munge/log", f"--pid-file={self.folder}/munge/pid", f"--seed-file={self.folder}/munge/seed")
        self._until(self.socket.exists, "munged")
        self._daemon("slurmctld", "-D", "-f", str(self.conf))
        self._until(lambda: self.call("scontrol", "ping")[0] == 0 and "UP" in self.call("scontrol", "ping")[1], "slurmctld")
        self._daemon("slurmd", "-D", "-f", str(self.conf), "-N", self.host)
        self._until(lambda: "idle" in self.call("sinfo", "--noheader", "--format=%t")[1], "slurmd")

    def call(self, *words):
        result = subprocess.run(words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return result.returncode, result.stdout

    def _daemon(self, *words):
        with open(self.folder / f"{words[0]}.out", "w") as log:
            self.processes.append(subprocess.Popen(words, env=self.environment, stdout=log, stderr=subprocess.STDOUT))

    def _until(self, there, name):
        end = time.time() + 60
        while not there():
            if self.processes[-1].poll() is not None or time.time() > end:
                logs = "".join(f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}" for path in self.folder.glob("*.*")
                               if path.suffix in (".log", ".out"))
                raise RuntimeError(f"{name} does not come up\n{logs}")
            time.sleep(0.2)

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="systole_slurm_")
        cls.addClassCleanup(cls.temporary.cleanup)
        folder = pathlib.Path(cls.temporary.name) / "cluster"
        folder.mkdir()
        os.chmod(cls.temporary.name, 0o755)
        cls.cluster = Cluster(folder)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.temporary.name))
        (self.folder / "build" / "bin").mkdir(parents=True)
        shutil.copy(ROOT / "tests" / "regress" / "fake_test.py", self.folder / "build" / "bin")
        (self.folder / "suites.yaml").write_text(SUITES)

    def command(self, *words):
        return [sys.executable, str(RUNNER), "--build", str(self.folder / "build"), "--suites", str(self.folder / "suites.yaml"),
                "--jobs", "2", *words]

    def run_it(self, *words, fault=""):
        result = subprocess.run(self.command(*words), env={**self.cluster.environment, "FAKE_FAULT": fault}, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, check=False, timeout=600)
        return result.returncode, result.stdout

    def latest(self):
        return sorted((self.folder / "build" / "regress").glob("*/run.json"))[-1].parent

    def report(self):
        return json.loads((self.latest() / "report.json").read_text())

    def test_more_tasks_than_an_array_may_have(self):
        code, output = self.run_it("--engine", "slurm", "--seeds", "8", "--first-seed", "1")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.report()["jobs"], 2 + 8)
        self.assertEqual(output.count("Slurm job"), 2)  # MaxArraySize=8: at most 7 tasks an array

    def test_failures_are_found_and_made_smaller(self):
        code, output = self.run_it("--engine", "slurm", "--seeds", "8", "--first-seed", "1", "--filter", "one", fault="sum")
        self.assertEqual(code, 1, output)
        causes = self.report()["failures"]
        self.assertEqual(len(causes), 1)
        self.assertEqual(causes[0]["text"], "[13]")

    def test_cancelled_tasks_are_told_and_ended_runs_go_on(self):
        process = subprocess.Popen(self.command("--engine", "slurm", "--seeds", "2", "--first-seed", "1", "--filter", "other"),
                                   env={**self.cluster.environment, "FAKE_FAULT": "hang"}, stdout=subprocess.PIPE, text=True)
        number = None
        for line in process.stdout:
            if "Slurm job" in line:
                number = line.split("Slurm job ")[1].split(",")[0]
                break
        self.assertTrue(number)
        time.sleep(3)
        self.assertEqual(self.cluster.call("scancel", number)[0], 0)
        output, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, output)
        self.assertIn("left no result", self.report()["failures"][0]["message"])
        code, output = self.run_it("--resume")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.report()["jobs"], 2)

    def test_without_a_cluster(self):
        result = subprocess.run(self.command("--engine", "slurm", "--seeds", "1"), env={**os.environ, "SLURM_CONF": "/nonexistent"},
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("regress: error: s", result.stdout)


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("slurm_test: Slurm's daemons want root")
    unittest.main()
