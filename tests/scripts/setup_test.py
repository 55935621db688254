#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""What scripts/setup.sh installs, for whom, and what it says; nothing is installed."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from scripts_test import ROOT, run


class SetupTest(unittest.TestCase):
    """setup.sh in a copy of the project, with the packages as a stand-in dpkg-query reports them."""

    def run_setup(self, installed, *arguments, extra_tools=(), at_once=1):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "scripts").mkdir()
            shutil.copy(ROOT / "scripts/setup.sh", folder / "scripts/setup.sh")
            for venv in (".venv", ".venv-jax", ".venv-onnx", ".venv-docs", ".venv-viewers"):
                name = f"requirements{venv.removeprefix('.venv').replace('-', '_')}.txt"
                shutil.copy(ROOT / "scripts" / name, folder / "scripts" / name)
                (folder / venv / "bin").mkdir(parents=True)
                shutil.copy(ROOT / "scripts" / name, folder / venv / "requirements.txt")
            (folder / ".ibex").mkdir()
            digest = re.search(r"(?m)^ibex_sha256=(\w+)$", (ROOT / "scripts/setup.sh").read_text())[1]
            (folder / ".ibex/sha256").write_text(digest + "\n")
            for name in ("pip", "python"):  # for the header that comes out of a package
                (folder / ".venv/bin" / name).write_text("#!/bin/sh\nexit 0\n")
                (folder / ".venv/bin" / name).chmod(0o755)
            tools = {"dpkg-query": "echo -n installed" if installed else "exit 1", "sha256sum": "cat >/dev/null", **dict(extra_tools)}
            (folder / "bin").mkdir()
            for name, text in tools.items():
                (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
                (folder / "bin" / name).chmod(0o755)
            for name in ("bash", "cat", "cmp", "dirname", "env", "flock", "grep", "sed", "tr"):
                if not (folder / "bin" / name).exists():
                    os.symlink(shutil.which(name), folder / "bin" / name)
            command = [folder / "scripts/setup.sh", *arguments]
            with concurrent.futures.ThreadPoolExecutor() as pool:
                runs = [pool.submit(run, command, env={"PATH": str(folder / "bin")}) for _ in range(at_once)]
                results = [made.result() for made in runs]
            return max(code for code, _ in results), "".join(output for _, output in results)

    def test_two_at_once_wait_for_each_other(self):
        mkdir, rmdir, sleep = (shutil.which(name) for name in ("mkdir", "rmdir", "sleep"))
        apt = f"{mkdir} busy || echo CLASH\n{sleep} 0.3\n{rmdir} busy"
        code, output = self.run_setup(False, "fst", extra_tools={"apt-get": apt, "id": "echo 0", "sha256sum": "exit 0"}, at_once=2)
        self.assertIn("setup: waiting for another set-up of this folder", output)
        self.assertNotIn("CLASH", output)

    def test_help_is_the_head_of_the_file(self):
        code, output = self.run_setup(True, "--help", extra_tools={"apt-get": "echo CALLED"})
        self.assertEqual(code, 0)
        self.assertIn("scripts/setup.sh jax", output)
        self.assertNotIn("#", output)

    def test_no_op_when_all_is_there(self):
        code, output = self.run_setup(True, extra_tools={"apt-get": "echo CALLED"})
        self.assertEqual((code, output), (0, ""))

    def test_check_lists_what_is_missing(self):
        code, output = self.run_setup(False, "--check", extra_tools={"apt-get": "echo CALLED"})
        self.assertEqual(code, 1)
        self.assertIn("missing packages: ca-certificates", output)
        self.assertIn("verilator", output)
        self.assertNotIn("CALLED", output)

    def test_neither_root_nor_sudo(self):
        code, output = self.run_setup(False, extra_tools={"apt-get": "echo CALLED", "id": "echo 1000"})
        self.assertEqual(code, 1)
        self.assertIn("not root and no sudo", output)
        self.assertNotIn("CALLED", output)

    def test_sudo_is_used_and_said(self):
        tools = {"apt-get": "echo apt-get $*", "id": "echo 1000", "sudo": '[ "$1" = -n ] && exit 0\nexec "$@"'}
        code, output = self.run_setup(False, extra_tools=tools)
        self.assertEqual(code, 0, output)
        self.assertIn("setup: using sudo", output)
        self.assertIn("install -y --no-install-recommends ca-certificates", output)

    def test_npm_only_for_training_and_only_where_there_is_none(self):
        tools = {"apt-get": "echo apt-get $*", "id": "echo 0"}
        for arguments, more, wanted in (((), {}, False), (("train",), {}, True), (("train",), {"npm": "exit 0"}, False)):
            code, output = self.run_setup(False, *arguments, extra_tools={**tools, **more})
            self.assertEqual(code, 0, output)
            self.assertEqual(" npm\n" in output, wanted, output)

    def test_browser_only_when_asked_and_only_where_there_is_none(self):
        tools = {"apt-get": "echo apt-get $*", "id": "echo 0"}
        for arguments, more, wanted in (((), {}, False), (("browser",), {}, True), (("browser",), {"chromium": "exit 0"}, False)):
            code, output = self.run_setup(False, *arguments, extra_tools={**tools, **more})
            self.assertEqual(code, 0, output)
            self.assertEqual(" chromium\n" in output, wanted, output)

    def test_docs_wants_its_own_tools_alone(self):
        tools = {"apt-get": "echo apt-get $*", "id": "echo 0"}
        for arguments, wanted in (((), False), (("docs",), True)):
            code, output = self.run_setup(False, *arguments, extra_tools=tools)
            self.assertEqual(code, 0, output)
            self.assertEqual(" doxygen " in output, wanted, output)
            self.assertEqual(" verilator " in output, not wanted, output)

    def test_fpga_wants_its_own_tools_and_environment_alone(self):
        tools = {"apt-get": "echo apt-get $*", "id": "echo 0"}
        code, output = self.run_setup(False, "fpga", extra_tools=tools)
        self.assertEqual(code, 0, output)
        self.assertIn("install -y --no-install-recommends ca-certificates python3 python3-numpy python3-venv python3-yaml\n", output)
        # An environment whose requirements have changed is made anew: its own, not that of JAX.
        for changed, arguments, wanted in ((".venv/", ("fpga",), 3), (".venv-jax/", ("fpga",), 0), (".venv-jax/", (), 3)):
            compare = f'case "$3" in {changed}*) exit 1 ;; esac'
            code, output = self.run_setup(True, *arguments, extra_tools={"apt-get": "echo CALLED", "cmp": compare, "rm": "exit 3"})
            self.assertEqual(code, wanted, output)
            self.assertEqual("setup: making .venv" in output, wanted == 3, output)
        said = run(["make", "-n", "fpga"], cwd=ROOT)[1]
        self.assertIn("scripts/setup.sh fpga\n", said)
        self.assertNotIn("scripts/setup.sh\n", said)

    def test_a_header_with_another_digest_is_refused(self):
        tools = {"apt-get": "echo CALLED", "sha256sum": "cat >/dev/null; exit 1", "mktemp": "echo .", "mkdir": "exit 0", "cp": "exit 0", "rm": "exit 0"}
        code, output = self.run_setup(True, extra_tools=tools)
        self.assertEqual(code, 1)
        self.assertIn("pjrt_c_api.h is not the file that is expected", output)

    def test_other_system(self):
        code, output = self.run_setup(True)
        self.assertEqual(code, 1)
        self.assertIn("no apt-get here", output)

    def test_unknown_argument(self):
        code, output = self.run_setup(True, "--force")
        self.assertEqual(code, 1)
        self.assertIn("unknown argument '--force'", output)


if __name__ == "__main__":
    unittest.main()
