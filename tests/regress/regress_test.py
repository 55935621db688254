# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The runner of `make regress` on a test program that fails as it is told: jobs, resuming after a kill, causes, smaller cases, reports."""

import importlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNER = ROOT / "scripts" / "regress"
sys.path.insert(0, str(RUNNER))

coverage_data, failures, job, minimise, mutants, plan = (
    importlib.import_module(name) for name in ("coverage_data", "failures", "job", "minimise", "mutants", "plan"))
SUITES = """
suites:
  - {name: one, kind: networks, preset: nano, program: fake_test.py, cases: 4, timeout: 5, waves: ["--trace={file}"]}
  - {name: other, kind: units, program: fake_test.py, timeout: 5}
  - {name: fixed, kind: directed, program: fake_test.py, once: true, timeout: 1}
"""


class RunnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "build" / "bin").mkdir(parents=True)
        shutil.copy(ROOT / "tests" / "regress" / "fake_test.py", self.folder / "build" / "bin")
        (self.folder / "suites.yaml").write_text(SUITES)
        self.log = self.folder / "log"

    def command(self, *words):
        return [sys.executable, str(RUNNER / "regress.py"), "--build", str(self.folder / "build"), "--suites",
                str(self.folder / "suites.yaml"), "--jobs", "3", *words]

    def run_it(self, *words, fault="", **variables):
        result = subprocess.run(self.command(*words), env={**os.environ, "FAKE_FAULT": fault, "FAKE_LOG": str(self.log), **variables},
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300)
        return result.returncode, result.stdout

    def latest(self):
        return sorted((self.folder / "build" / "regress").glob("*/run.json"))[-1].parent

    def report(self):
        return json.loads((self.latest() / "report.json").read_text())

    def test_all_pass(self):
        code, output = self.run_it("--seeds", "10", "--first-seed", "100")
        self.assertEqual(code, 0, output)
        report = self.report()
        self.assertEqual(report["jobs"], 3 + 10 + 1)
        self.assertEqual(sorted(map(int, self.log.read_text().split())),
                         sorted([100, 104, 108, *range(100, 110), 1]))
        suites = ET.parse(self.latest() / "junit.xml").getroot()
        self.assertEqual(suites.get("tests"), "14")
        self.assertEqual(suites.get("failures"), "0")
        page = (self.latest() / "report.html").read_text()
        self.assertIn("0 failed", page)
        self.assertNotIn("http://", page.replace("http://www.w3.org", ""))

    def test_two_seeds_one_cause_is_made_smaller_and_repeated(self):
        code, output = self.run_it("--seeds", "12", "--first-seed", "7", "--filter", "one", fault="sum")
        self.assertEqual(code, 1, output)
        report = self.report()
        self.assertGreater(report["failed"], 1)
        self.assertEqual(len(report["failures"]), 1)  # another seed and another line is no other cause
        cause = report["failures"][0]
        self.assertTrue(cause["reproduced"])
        self.assertEqual(cause["size_after"], 13)  # one item, the smallest that fails
        self.assertGreater(cause["size_before"], 13)
        self.assertEqual(cause["text"], "[13]")
        self.assertTrue(pathlib.Path(cause["waves"]).read_text())
        stored = self.latest() / "failures" / cause["key"]
        again = subprocess.run(["sh", stored / "command.sh"], env={**os.environ, "FAKE_FAULT": "sum"}, stdout=subprocess.PIPE,
                               text=True, check=False)
        self.assertEqual(again.returncode, 1)
        self.assertIn("item 13 ", again.stdout)
        mended = subprocess.run(["sh", stored / "command.sh"], env={**os.environ, "FAKE_FAULT": ""}, stdout=subprocess.PIPE, check=False)
        self.assertEqual(mended.returncode, 0)
        suites = ET.parse(self.latest() / "junit.xml").getroot()
        self.assertEqual(suites.get("failures"), str(report["failed"]))
        self.assertIn(cause["key"], (self.latest() / "report.html").read_text())

    def test_two_causes(self):
        self.run_it("--seeds", "30", "--first-seed", "1", "--filter", "other", fault="two")
        self.assertEqual(len(self.report()["failures"]), 2)

    def test_crash_and_no_end(self):
        code, _ = self.run_it("--seeds", "4", "--first-seed", "3", "--filter", "one", fault="crash")
        self.assertEqual(code, 1)
        cause = self.report()["failures"][0]
        self.assertIn("Assertion failed in TOP.u_fake[#].a_fake", cause["title"])
        self.assertEqual(cause["text"], "[13]")
        code, _ = self.run_it("--seeds", "1", "--filter", "fixed", fault="hang")
        self.assertEqual(code, 1)
        self.assertIn("no end within", self.report()["failures"][0]["title"])

    def test_what_does_not_come_again_is_said(self):
        code, _ = self.run_it("--seeds", "4", "--first-seed", "3", "--filter", "one", "--jobs", "1", fault="shy")
        self.assertEqual(code, 1)
        cause = self.report()["failures"][0]
        self.assertFalse(cause["reproduced"])
        self.assertIn("--seed=3 --cases=4", cause["command"])

    def test_goes_on_after_a_kill(self):
        words = ("--seeds", "40", "--first-seed", "1", "--filter", "other", "--jobs", "1")
        process = subprocess.Popen(self.command(*words), env={**os.environ, "FAKE_LOG": str(self.log)}, stdout=subprocess.DEVNULL)
        end = time.time() + 60
        while time.time() < end and len(list((self.folder / "build" / "regress").glob("*/results/*.json"))) < 3:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = {path.stem for path in self.latest().glob("results/*.json")}
        self.assertTrue(3 <= len(done) < 40, done)
        self.log.write_text("")
        code, output = self.run_it("--resume")
        self.assertEqual(code, 0, output)
        ran = set(map(int, self.log.read_text().split()))
        self.assertFalse({f"other.{seed}" for seed in ran} & done)
        self.assertEqual(self.report()["jobs"], 40)

    def test_ends_with_its_programs(self):
        for number, wanted in ((signal.SIGINT, 130), (signal.SIGTERM, 130)):
            process = subprocess.Popen(self.command("--seeds", "4", "--filter", "other"), stderr=subprocess.STDOUT, text=True,
                                       env={**os.environ, "FAKE_FAULT": "hang", "FAKE_LOG": str(self.log)}, stdout=subprocess.PIPE)
            end = time.time() + 60
            while time.time() < end and (not self.log.exists() or len(self.log.read_text().split()) < 3):
                time.sleep(0.05)
            process.send_signal(number)
            output, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, wanted, output)
            self.assertIn("go on with --resume", output)
            self.assertNotIn("Traceback", output)
            self.assertEqual(list(self.latest().glob("results/*")), [])
            running = subprocess.run(["pgrep", "-f", str(self.folder / "build" / "bin")], stdout=subprocess.PIPE, text=True, check=False)
            self.assertEqual(running.stdout, "")
            self.log.unlink()

    def test_time(self):
        begin = time.monotonic()
        code, output = self.run_it("--time", "1s", "--filter", "other")
        self.assertEqual(code, 0, output)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertGreater(self.report()["jobs"], 1)

    def test_coverage_is_merged_and_holes_are_listed(self):
        functional = coverage_data.Functional()
        variables = {"FAKE_VERSION": functional.version, "FAKE_BINS": str(len(functional.names))}
        self.run_it("--seeds", "3", "--first-seed", "1", "--filter", "other", **variables)
        self.run_it("--seeds", "3", "--first-seed", "3", "--filter", "other", "--merge", "1", **variables)
        report = self.report()
        self.assertEqual(len(report["holes"]), len(functional.names) - 5)
        self.assertIn("BRDA:", (self.latest() / "functional.info").read_text())
        self.assertIn(f"{functional.names[0][0]}: {functional.names[0][1]}", report["holes"])
        self.assertNotIn(f"{functional.names[4][0]}: {functional.names[4][1]}", report["holes"])
        self.assertIn("<svg", (self.latest() / "report.html").read_text())
        # Counts of other bins are not added.
        self.run_it("--seeds", "1", "--filter", "other", FAKE_VERSION="other", FAKE_BINS=str(len(functional.names)))
        self.assertEqual(self.report()["functional"], 0)
        self.assertIn("1 records of other bins", (self.latest() / "report.html").read_text())

    def test_wrong_options(self):
        for words, wanted in ((["--filter", "nothing"], "no suite matches"), (["--presets", "v9"], "no suite runs on preset v9"),
                              (["--kinds", "x"], "no kind x"), (["--time", "ten"], "'ten' is no time"), (["--seeds", "0"], "'0' is not"),
                              (["--filter", "("], "--filter ("), (["--suites", "none.yaml"], "none.yaml"), (["--resume"], "no run to go on"),
                              (["--first-seed", "99999999999"], "is no seed"), (["--output", "/dev/null/x", "--seeds", "1"], "/results: cannot be made: Not a directory"),
                              (["--time", "0"], "--time 0: nothing would run"), (["--merge", "-1"], "'-1' is not a whole number"),
                              (["--seeds", "1", "--slurm-options=-p x"], "--slurm-options: without effect"),
                              (["--resume", "--seeds", "1"], "--seeds: without effect: --resume"),
                              (["--resume", "--first-seed", "0"], "--first-seed: without effect: --resume"),
                              (["--resume", "--filter", "x"], "--filter: without effect: --resume")):
            code, output = self.run_it(*words)
            self.assertEqual(code, 2, output)
            self.assertIn(wanted, output)
            self.assertNotIn("Traceback", output)
        self.assertFalse((self.folder / "build" / "regress").exists(), "a run that was refused leaves nothing")
        for text, wanted in (("suites: 3", "is no list"), ("suites: [{name: a, kind: units, programm: b}]", "suite a: no field programm"),
                             ("suites: [{name: a, kind: units}]", "suite a: no program"), ("suites: [", "no list of suites"),
                             ("suites: [{name: a, kind: x, program: b}]", "no kind x")):
            (self.folder / "wrong.yaml").write_text(text)
            code, output = self.run_it("--suites", str(self.folder / "wrong.yaml"))
            self.assertEqual(code, 2, output)
            self.assertIn(wanted, output)
            self.assertNotIn("Traceback", output)
        (self.folder / "build" / "bin" / "fake_test.py").unlink()
        code, output = self.run_it("--seeds", "1")
        self.assertEqual(code, 2)
        self.assertIn("build it first", output)


class CauseTest(unittest.TestCase):
    def test_messages(self):
        for text in ("layer conv2d0: 3 of 400 differ, first at (0, 1, 2): 5, golden 6", "layer conv2d7: 91 of 7 differ, first at (9, 1): -5, golden 0"):
            self.assertEqual(failures.normalise(text), "layer conv2d# of # differ, first at (#): #, golden #")
        self.assertEqual(failures.normalise("a/b/c.cc:17: x at 0xff"), failures.normalise("/q/c.cc:1: x at 0x1"))
        self.assertNotEqual(failures.normalise("bit_exact is false"), failures.normalise("acc is false"))

    def test_a_wrong_tensor_is_who_wrote_it(self):
        rest = "image 0, row 1, column 2, channel 3: got 4, golden 5 (6 of 7 differ); written by descriptor 8: requant n=1 ny=2 wait=1"
        cause = failures.normalise(f"Failed\n  conv2d0 (conv2d): {rest}")
        self.assertEqual(cause, "Failed a tensor differs, written by requant")
        self.assertEqual(failures.normalise(f"Failed\n  dense12 (dense): {rest} nx=7"), cause)
        self.assertNotEqual(failures.normalise(f"Failed\n  conv2d0 (conv2d): {rest}".replace("requant", "pool")), cause)

    def test_the_first_message_counts(self):
        found = failures.find("fail", "[ RUN      ] A/B.C/3\nx_test.cc:3: Failure\nfirst\nGoogle Test trace:\nx_test.cc:1: seed 12: y\n\n"
                                      "x_test.cc:4: Failure\nsecond\n")
        self.assertEqual((found.test, found.message, found.seed, found.cause), ("A/B.C/3", "first", 12, "B.C: first"))
        found = failures.find("crash", "[ RUN      ] A.B\n[12] %Error: q.sv:3: Assertion failed in TOP.a.b: 'x'\n%Error: q.sv:3: Verilog $stop\n")
        self.assertEqual(found.cause, "q.sv: Assertion failed in TOP.a.b: 'x'")


class MutantsTest(unittest.TestCase):
    def test_sites(self):
        with tempfile.TemporaryDirectory() as name:
            rtl = pathlib.Path(name)
            (rtl / "x.sv").write_text("module x #(parameter int W = 4 + 1) (input logic [W-1:0] a_i, b_i, output logic c_o);\n"
                                      "  assign c_o = a_i == b_i && !(a_i > b_i);\n"
                                      "  always_ff @(posedge c_o) a_x : assert (a_i != b_i);\nendmodule\n")
            found = mutants.find(rtl, "x.sv")
            either = "((a_i == b_i) || (!(a_i > b_i)))"
            self.assertEqual(sorted((m.line, m.new) for m in found), [(2, either), (2, "((a_i) != (b_i))"), (2, "((a_i) >= (b_i))"), (2, "(|((a_i > b_i)))")])
            next(m for m in found if m.new == either).apply(rtl)
            self.assertIn(f"assign c_o = {either};", (rtl / "x.sv").read_text())
            self.assertEqual(len({m.name for m in found}), len(found))


class MinimiseTest(unittest.TestCase):
    @staticmethod
    def case(values):
        choices, spans = [], []
        for value in values:
            choices += [[1, 2], [value, 100]]
            spans.append([len(choices) - 1, len(choices)])
        return job.Case(1, sum(values) + len(values), choices + [[0, 2]], spans, str(values))

    def test_finds_the_two_items_that_matter(self):
        def attempt(choices):
            values, rest = [], list(choices)
            while len(rest) > 1 and rest.pop(0):
                values.append(rest.pop(0))
            return self.case(values) if sum(v >= 40 for v in values) >= 2 else None
        found = minimise.minimise(self.case([3, 90, 17, 5, 60, 99, 2]), attempt, minimise.Budget(2000, 60))
        self.assertEqual(found.text, "[40, 40]")

    def test_budget(self):
        runs = []
        found = minimise.minimise(self.case([3, 90]), lambda choices: runs.append(1), minimise.Budget(5, 60))
        self.assertEqual((len(runs), found.runs, found.text), (5, 5, "[3, 90]"))


if __name__ == "__main__":
    unittest.main()
