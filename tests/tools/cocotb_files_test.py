# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""What of examples/cocotb needs no cocotb: its reader of program files against `systole info`, its registers, the errors of run.py."""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/cocotb"))
import program_file  # pylint: disable=wrong-import-position
import registers  # pylint: disable=wrong-import-position

BUILD = ROOT / "build"


def with_checksum(content):
    return content[:-4] + struct.pack("<I", zlib.crc32(content[:-4]))


class ProgramFile(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "model.tpu"
        subprocess.run([BUILD / "bin/systole", "compile", ROOT / "models/mnist_cnn.tflite", "--preset", "board8", "--output", self.path],
                       stdout=subprocess.DEVNULL, check=True)

    def test_it_reads_what_the_tool_reads(self):
        said = json.loads(subprocess.run([BUILD / "bin/systole", "info", "--json", self.path], stdout=subprocess.PIPE, check=True).stdout)
        program = program_file.read(self.path)
        self.assertEqual((program.preset, program.length, program.memory_bytes), (said["preset"], said["descriptors"], said["hbm_bytes"]))
        self.assertEqual([(tensor.name, tensor.address, tensor.pitch) for tensor in program.tensors],
                         [(tensor["name"], tensor["hbm_addr"], tensor["pitch"]) for tensor in said["tensors"]])
        self.assertEqual([tensor.name for tensor in program.tensors if tensor.role & program_file.OUTPUT], [said["outputs"][0]["name"]])

    def test_what_is_none_is_one_error(self):
        good = self.path.read_bytes()
        bad = [b"", b"text", good[:20], good[:-1], good[:300] + bytes([good[300] ^ 1]) + good[301:], with_checksum(good[:8] + b"\x03" + good[9:])]
        for content in (*bad, *(with_checksum(good[:size]) for size in range(24, len(good), len(good) // 300))):
            self.path.write_bytes(content)
            with self.assertRaisesRegex(ValueError, "model.tpu: no program file of version 4: .*"):
                program_file.read(self.path)


class Registers(unittest.TestCase):
    def test_names_offsets_and_fields(self):
        offsets, masks = registers.read(ROOT / "docs/reference/csr.xml")
        self.assertEqual([offsets[name] for name in ("id", "irq_enable", "counters.cycles", "scalar.doorbell")], [0, 0x18, 0x200, 0x410])
        self.assertEqual([masks[name] for name in ("ctrl.start", "ctrl.reset", "status.fault", "id.value")], [1, 2, 4, 0xFFFFFFFF])


class Run(unittest.TestCase):
    def test_what_is_missing_is_one_line(self):
        for arguments, wanted in ((("none.tflite",), "no none.tflite"), (("--input", "none.npy"), "no none.npy"),
                                  (("--build", "/none"), "no /none/bin/systole: `make cocotb` builds it"),
                                  (("--build", BUILD, "--waves", "none/f.fst"), "no folder none for f.fst")):
            done = subprocess.run([sys.executable, ROOT / "examples/cocotb/run.py", *arguments], stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (1, f"run.py: {wanted}\n"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
