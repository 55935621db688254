# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""systole run --firmware on the RTL of minichip: the example's firmware, and others that go wrong in a way of their own.

What is answered to a file that is no firmware is in docs/spec/errors.yaml.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
PARTS = ("start.S", "hardware.c", "log.c", "ring.c")
HEADERS = '#include "firmware.h"\n#include "gen/regs.h"\n#include "hardware.h"\nextern const struct image_header image_start;\n'
TRAPPED = """void trapped(uint32_t cause, uint32_t pc, uint32_t value) {
  hw_write(REG_STATE, BOOT_STATE_TRAP | cause << 8);
  log_event(BOOT_STATE_TRAP, pc, value);
  log_flush();
  hw_write(REG_HOST_IRQ, 1);
  for (;;) hw_sleep();
}
"""
READY = "hw_write(REG_STATE, BOOT_STATE_READY); hw_write(REG_HOST_IRQ, 1);\n"


def variable(name):
    """A variable's lines in the example's Makefile, as one."""
    text = (ROOT / "examples/firmware/Makefile").read_text().replace("\\\n", " ")
    return re.search(rf"^{name} = (.*)$", text, re.M)[1].split()


class OwnFirmware(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="own firmware ")
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        (self.work / "halt.txt").write_text("halt\n")
        self.ok("asm", "halt.txt", "--preset", "minichip", "-o", "halt.tpu")
        self.sent = os.urandom(64)
        (self.work / "from").write_bytes(self.sent)

    def tool(self, *words, **options):
        return subprocess.run([str(BUILD / "bin/systole"), *words], cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, timeout=300, **options)

    def ok(self, *words):
        done = self.tool(*words)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def fails(self, *words):
        done = self.tool(*words)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stdout

    def example(self):
        shutil.copytree(ROOT / "examples/firmware", self.work / "example")
        subprocess.run(["make", "-s", "-C", "example", "report.elf", f"FIRMWARE={ROOT / 'firmware/scalar'}"], cwd=self.work, check=True)
        return "example/report.elf"

    def compiled(self, main, before=""):
        (self.work / "own.c").write_text(f"{HEADERS}{TRAPPED}{before}int main(void) {{\n{main}for (;;) hw_sleep();\n}}\n")
        folder = ROOT / "firmware/scalar"
        subprocess.run([*variable("CC"), *variable("CFLAGS"), *variable("LDFLAGS"), "-T", folder / "link.ld", "-I", folder, "-o", "own.elf",
                        *(folder / part for part in PARTS), "own.c"], cwd=self.work, check=True)
        return "own.elf"

    def words(self, name):
        return struct.unpack("<6I", (self.work / name).read_bytes())

    def test_the_image_runs_instead_of_the_built_in_one(self):
        own = self.example()
        run = ("run", "halt.tpu", "--quiet", "--memory", "0x100000=from", "--dump", "0x101000+64=to", "--dump", "0x102000+24=report")
        self.ok(*run)
        self.assertNotEqual((self.work / "to").read_bytes(), self.sent)
        self.assertNotEqual(self.words("report")[0], 0x214E574F)
        self.assertRegex(self.ok(*run, "--firmware", own), r"^halt.tpu on rtl, minichip: 1 descriptors, \d+ cycles\n$")
        self.assertEqual((self.work / "to").read_bytes(), self.sent)
        mark, launches, copies, copy_cycles, program_cycles, status = self.words("report")
        self.assertEqual((mark, launches, copies, status), (0x214E574F, 1, 1, 0))
        self.assertTrue(50 < copy_cycles < 1000 and 50 < program_cycles < 2000, (copy_cycles, program_cycles))

    def test_on_both_cores(self):
        own = self.example()
        self.ok("run", "halt.tpu", "--second", "halt.tpu", "--quiet", "--firmware", own, "--memory", "0x100000=from", "--memory", "0x40100000=from",
                "--dump", "0x101000+64=to", "--dump", "0x40101000+64=second", "--dump", "0x102000+24=report", "--dump", "0x40102000+24=other")
        for name in ("to", "second"):
            self.assertEqual((self.work / name).read_bytes(), self.sent)
        for name in ("report", "other"):
            self.assertEqual(self.words(name)[:3], (0x214E574F, 1, 1))

    def test_profile_and_waveform(self):
        own = self.example()
        out = self.ok("profile", "halt.tpu", "--quiet", "--firmware", own, "-o", "page.html", "--json", "page.json")
        self.assertIn("halt.tpu on minichip", out)
        self.assertIn("--firmware example/report.elf", (self.work / "page.json").read_text())
        self.ok("run", "halt.tpu", "--quiet", "--firmware", own, "--trace", "wave.fst")
        self.assertGreater((self.work / "wave.fst").stat().st_size, 1000)
        self.assertIn("example/report.elf: is an input", self.fails("run", "halt.tpu", "--firmware", own, "--trace", own))

    def test_an_image_larger_than_the_built_in_ones_place(self):
        own = self.compiled(f"""{READY} ring_init(&ring, &image_start);
  while (!ring_poll(&ring)) hw_sleep();
  uint32_t sum = 0;
  for (int i = 0; i < 4000; i++) sum += much[i];
  completion_init(&completion, sum == 4000 * 7 ? STATUS_DONE : STATUS_TIMEOUT);
  ring_complete(&ring, 0, &completion);
""", "static struct ring ring;\nstatic struct completion completion;\nstatic volatile uint32_t much[4000] = {[0 ... 3999] = 7};\n")
        self.assertIn("1 descriptors", self.ok("run", "halt.tpu", "--quiet", "--firmware", own))

    def test_trap(self):
        out = self.fails("run", "halt.tpu", "--quiet", "--waves", "", "--firmware",
                         self.compiled("log_init(&image_start);\nlog_event(0x123, 4, 5);\n__asm__ volatile(\"unimp\");\n"))
        self.assertRegex(out, r"systole: own.elf: scalar unit: the firmware trapped, cause 2\n +1 +\d+  event 0x123 0x4 0x5\n"
                              r" +2 +\d+  event 0x84 0x[0-9a-f]+ 0x[0-9a-f]+\n$")

    def test_trap_in_the_handler_of_the_boot_rom(self):
        own = self.compiled("")
        image = bytearray((self.work / own).read_bytes())
        entry, headers = struct.unpack_from("<II", image, 24)
        size, count = struct.unpack_from("<HH", image, 42)
        segments = (struct.unpack_from("<II", image, headers + i * size) for i in range(count))
        place = next(offset for kind, offset in segments if kind == 1)  # of SMEM's address 0 in the file
        image[place + entry:place + entry + 4] = bytes(4)  # an illegal instruction
        (self.work / own).write_bytes(image)
        self.assertRegex(self.fails("run", "halt.tpu", "--quiet", "--firmware", own),
                         r"systole: own.elf: scalar unit: a trap before the firmware had set mtvec\n$")

    def test_stopped_before_it_was_ready(self):
        out = self.fails("run", "halt.tpu", "--quiet", "--firmware", self.compiled(
            "log_init(&image_start);\nhw_write(REG_COMPLETED, 42);\nhw_write(REG_STATE, BOOT_STATE_STOPPED);\nhw_write(REG_HOST_IRQ, 1);\n"))
        self.assertEqual(out, "systole: own.elf: scalar unit: the firmware stopped before it was ready; scalar.completed is 42 (0x2a)\n")

    def test_interrupts_without_end(self):
        out = self.fails("run", "halt.tpu", "--quiet", "--firmware", self.compiled("for (;;) hw_write(REG_HOST_IRQ, 1);\n"))
        self.assertEqual(out, "systole: own.elf: scalar unit: the firmware has raised 1000 interrupts and is not ready\n")

    def test_never_ready(self):
        out = self.fails("run", "halt.tpu", "--quiet", "--firmware", self.compiled("hw_write(REG_STATE, 77);\n"))
        self.assertEqual(out, "systole: own.elf: scalar unit: the firmware is not ready: 4000000 cycles without an interrupt, scalar.state is 77; "
                              "it has to write 3 to state, then host_irq\n")

    def test_an_interrupt_without_a_completion(self):
        out = self.fails("run", "halt.tpu", "--quiet", "--waves", "", "--firmware", self.compiled(
            f"{READY}while (!(hw_read(REG_EVENTS) & EVENTS_DOORBELL)) hw_sleep();\nhw_write(REG_HOST_IRQ, 1);\n"))
        self.assertEqual(out, "systole: own.elf: the firmware raised its interrupt, but 1000000 cycles later launch 1 is not complete\n")

    def test_a_signal_ends_one_that_hangs(self):
        for main in ("", READY):  # as it boots, with a program
            process = subprocess.Popen([str(BUILD / "bin/systole"), "run", "halt.tpu", "--quiet", "--firmware", self.compiled(main)], cwd=self.work,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            time.sleep(2)
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, out)
            self.assertLess(time.monotonic() - began, 10)


def main():
    global BUILD
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
