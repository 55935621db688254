# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shell completion and manual page: bash completes commands, options, presets, backends and files, also behind a real Tab key; every option
of docs/commands.md is in all four files; an option that is added there makes them stale."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from gen import commands, share  # noqa: E402

BASH = ROOT / "share/completions/systole.bash"
ASK = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _systole; printf "%s\\n" "${COMPREPLY[@]}"'


class BashTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("net.tflite", "net.tpu", "net with blank.tflite", "notes.txt", "step.mlirbc"):
            (self.folder / name).write_text("")
        (self.folder / "digits").mkdir()

    def complete(self, *words):
        result = subprocess.run(["bash", "--norc", "-c", ASK, "bash", str(BASH), *words], cwd=self.folder, text=True, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((result.returncode, result.stderr), (0, ""), words)
        return sorted(line for line in result.stdout.splitlines() if line)

    def test_commands(self):
        self.assertEqual(self.complete("systole", "b"), ["bench", "board"])
        self.assertEqual(self.complete("systole", "board", ""), ["info", "run", "test"])
        self.assertEqual(self.complete("systole", "--v"), ["--version"])
        self.assertIn("compile", self.complete("systole", ""))

    def test_options(self):
        self.assertEqual(self.complete("systole", "run", "--che"), ["--check", "--checked"])
        self.assertEqual(self.complete("systole", "run", "net.tflite", "--quiet", "--bac"), ["--backend"])
        self.assertEqual(self.complete("systole", "board", "run", "--po"), ["--port"])
        self.assertEqual(self.complete("systole", "disasm", "--pre"), ["--precision", "--preset"])
        self.assertEqual(self.complete("systole", "board", "info", "--pre"), [])

    def test_values(self):
        presets = {"nano", "edge", "v1", "mini", "lite", "v2", "board", "board8", "minichip", "edgechip", "v2chip", "litechip"}
        self.assertEqual(set(self.complete("systole", "run", "--preset", "")), presets)
        self.assertEqual(self.complete("systole", "compile", "--preset", "v"), ["v1"])
        self.assertEqual(self.complete("systole", "train", "--preset", ""), ["lite", "litechip", "mini", "minichip", "v2", "v2chip"])
        self.assertEqual(self.complete("systole", "run", "--backend", ""), ["iss", "rtl", "serial:"])
        self.assertEqual(self.complete("systole", "train", "--backend", ""), ["iss", "rtl"])
        self.assertEqual(self.complete("systole", "run", "--preset", "=", "boa"), ["board", "board8"])  # bash cuts at the =
        self.assertEqual(self.complete("systole", "compile", "--host-operators", "="), ["allow", "alone", "error"])
        self.assertIn("tiling", self.complete("systole", "compile", "--print-ir-after", ""))
        self.assertEqual(self.complete("systole", "run", "--batch", ""), [])

    def test_files(self):
        self.assertEqual(self.complete("systole", "run", ""), ["digits", "net with blank.tflite", "net.tflite", "net.tpu", "step.mlirbc"])
        self.assertEqual(self.complete("systole", "compile", "net"), ["net with blank.tflite", "net.tflite"])
        self.assertEqual(self.complete("systole", "run", "no"), ["notes.txt"])  # a model may have any name
        self.assertEqual(self.complete("systole", "run", "--digits", ""), ["digits"])
        self.assertEqual(self.complete("systole", "run", "-o", "not"), ["notes.txt"])
        self.assertEqual(self.complete("systole", "run", "--input", "x", "=", "not"), ["notes.txt"])

    def test_a_tab_key(self):
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile"], {**os.environ, "TERM": "dumb", "PS1": "> ", "HISTFILE": os.devnull})
        try:
            os.write(terminal, f"source '{BASH}'; bind 'set bell-style none'; systole() {{ printf 'got<%s>\\n' \"$@\"; }}\n".encode())
            os.write(terminal, b"systole com\tnet.tf\t--pres\ted\t\n")  # `edge` and `edgechip`: completed as far as they agree
            said, until = "", time.monotonic() + 30
            while "got<edge>" not in said and time.monotonic() < until:
                if select.select([terminal], [], [], 0.2)[0]:
                    said += os.read(terminal, 4096).decode(errors="replace")
            self.assertEqual(re.findall(r"got<([^%>]*)>", said), ["compile", "net.tflite", "--preset", "edge"], said)
        finally:
            os.close(terminal)
            os.waitpid(child, 0)


class FilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in (commands.PAGE, "docs/spec/presets.yaml", "host/include/systole.h", "Makefile"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)

    def edit(self, old, new):
        text = (self.root / commands.PAGE).read_text()
        self.assertIn(old, text)
        (self.root / commands.PAGE).write_text(text.replace(old, new, 1))

    def test_every_option_is_in_every_file(self):
        text = (ROOT / commands.PAGE).read_text()
        options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text[text.index("<!-- generated: systole -->"):], re.M))
        self.assertGreater(len(options), 50)
        for path in ("share/completions/systole.bash", "share/completions/_systole", "share/completions/systole.fish", "share/man/systole.1"):
            found = (ROOT / path).read_text().replace("\\-", "-")
            for option in options:
                wanted = f" -l {option[2:]} " if path.endswith(".fish") else option
                self.assertIn(wanted, found, path)

    def test_an_option_that_is_added_makes_each_file_stale(self):
        before = share.generate(self.root)
        for path, text in before.items():
            self.assertEqual((ROOT / path).read_text(), text, f"{path} is stale: run `make generate`")
        self.edit("  --checked ", "  --fresh TEXT                an option that is new\n  --checked ")
        after = share.generate(self.root)
        self.assertEqual([path for path in before if before[path] == after[path]], [])

    def test_what_is_no_help_text_is_refused(self):
        self.edit("  --checked ", "  <checked> ")
        with self.assertRaisesRegex(ValueError, "'<checked>' is no option"):
            share.generate(self.root)

    def test_the_manual_page_is_one(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        page = str(ROOT / "share/man/systole.1")
        result = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", page], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        text = (ROOT / "share/man/systole.1").read_text()
        self.assertIn(f'"systole {share.version_of(ROOT)}"', text)
        self.assertEqual([line for line in text.splitlines() if line.startswith("'")], [])


if __name__ == "__main__":
    unittest.main()
