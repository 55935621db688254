# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Cycles, bytes and descriptors of models and presets on the RTL, as tests/data/counts.json records them: none moves unseen.

--update writes the file anew. SYSTOLE_LONG=1: all but v2chip, which a target of its own builds; --pair: v2chip alone.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests/data/counts.json"
FIELDS = ("name", "section", "preset", "model", "cycles", "macs", "ideal_cycles", "expected_cycles", "hbm_read_bytes", "hbm_write_bytes",
          "descriptor_bytes")
MODEL = "models/mnist_cnn.tflite"
RUNS = [[MODEL, "--preset", preset, "--batch", batch] for preset, batch in (("nano", "2"), ("edge", "8"), ("v1", "4"), ("board8", "1"), ("board", "2"))]
RUNS += [["matmul"]]
LONG = [*RUNS, [MODEL, "--preset", "edgechip", "--batch", "8"], ["convolution"], ["hbm"], ["bf16"], ["elementwise"], ["training"], ["hlo"]]
PAIR = [["bf16"]]
SYSTOLE = None
pair = False


def bench(*arguments):
    return subprocess.run([SYSTOLE, "bench", *arguments, "--reports", "", "--quiet"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


def update():
    """Counts of all presets; those of v2chip stay where its model is not built."""
    built = (SYSTOLE.parent.parent / "lib/systole/model_v2chip.so").exists()
    records = [] if built else [record for record in json.loads(RECORDED.read_text()) if record["preset"] == "v2chip"]
    for run in LONG:
        measured = bench(*run, "--json")
        if measured.returncode:
            sys.exit(f"counts_test: {measured.stderr.strip()}")
        records += [{field: record[field] for field in FIELDS if record.get(field) is not None} for record in json.loads(measured.stdout)
                    if record.get("cycles")]
    lines = ",\n".join(f"  {json.dumps(record)}" for record in records)
    RECORDED.write_text(f"[\n{lines}\n]\n")


class CountsTest(unittest.TestCase):
    def test_no_count_moved(self):
        for run in PAIR if pair else LONG if os.environ.get("SYSTOLE_LONG") else RUNS:
            with self.subTest(run=" ".join(run)):
                result = bench(*run, "--compare", RECORDED)
                self.assertEqual(result.returncode, 0, f"{result.stdout}{result.stderr}\nto record: tests/profile/counts_test.py --update")
                self.assertIn(", 0 moved", result.stdout)

    def seeded(self, change):
        """The comparison with records that were changed."""
        records = json.loads(RECORDED.read_text())
        change(next(r for r in records if r["preset"] == "nano" and r["section"] == "model"), records)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(records, file)
            file.flush()
            return bench(*RUNS[0], "--compare", file.name)

    def test_a_count_that_moved_is_seen(self):
        def cycle(record, _):
            record["cycles"] -= 1

        result = self.seeded(cycle)
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 recorded counts moved, the first: cycles of mnist_cnn on nano", result.stderr)

    def test_a_record_that_is_gone_is_seen(self):
        def another(record, records):
            records.append({**record, "name": "another"})

        result = self.seeded(another)
        self.assertEqual(result.returncode, 1)
        self.assertIn("another on nano is not there", result.stderr)

    def test_bad_files(self):
        self.assertEqual(bench(*RUNS[0], "--compare", "no_such.json").returncode, 1)
        result = bench(*RUNS[0], "--compare", "docs/spec/presets.yaml")
        self.assertEqual(result.returncode, 1)
        self.assertIn("presets.yaml: not a list of records", result.stderr)


def main():
    global SYSTOLE, pair
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--pair", action="store_true")
    args, rest = parser.parse_known_args()
    pair = args.pair
    SYSTOLE = args.build.resolve() / "bin" / "systole"
    if args.update:
        return update()
    return unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
