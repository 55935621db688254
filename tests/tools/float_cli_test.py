# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""`systole run`, `info`, `profile` and `compile` of a float TensorFlow Lite model: results against NumPy and the golden model."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def systole(*words, code=0):
    done = subprocess.run([BUILD / "bin/systole", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


class Model:
    """A .tflite file as the JSON that flatc reads."""

    TYPES = {"float32": "FLOAT32", "float16": "FLOAT16", "int32": "INT32", "int8": "INT8"}

    def __init__(self):
        self.tensors, self.buffers, self.codes, self.operators = [], [{}], [], []

    def tensor(self, name, shape, kind="float32", **more):
        self.tensors.append({"shape": list(shape), "type": self.TYPES[kind], "buffer": 0, "name": name, **more})
        return len(self.tensors) - 1

    def constant(self, name, values, **more):
        index = self.tensor(name, values.shape, str(values.dtype), **more)
        self.buffers.append({"data": list(values.tobytes())})
        self.tensors[index]["buffer"] = len(self.buffers) - 1
        return index

    def add(self, code, inputs, output, kind=None, **options):
        self.codes.append({"builtin_code": code})
        self.operators.append({"opcode_index": len(self.codes) - 1, "inputs": inputs, "outputs": [output],
                               **({"options_type": kind, "options": options} if kind else {})})
        return output

    def write(self, path, inputs, outputs):
        text = {"version": 3, "operator_codes": self.codes, "buffers": self.buffers,
                "subgraphs": [{"tensors": self.tensors, "inputs": inputs, "outputs": outputs, "operators": self.operators}]}
        source = path.with_suffix(".json")
        source.write_text(json.dumps(text))
        subprocess.run(["flatc", "-b", ROOT / "host/import/tflite_schema.fbs", source.name], cwd=path.parent, check=True)
        path.with_suffix(".bin").rename(path)


# A convolution of weights of 8 bits with a scale for each channel, a part that is quantised, a dense layer of weights of 16 bits.
RANDOM = np.random.default_rng(1)
WEIGHTS = RANDOM.integers(-127, 128, (8, 3, 3, 3)).astype(np.int8)
SCALES = RANDOM.uniform(0.002, 0.01, 8).astype(np.float32)
BIAS = RANDOM.uniform(-0.5, 0.5, 8).astype(np.float32)
STEP, ZERO = np.float32(0.03), -100
DENSE = RANDOM.uniform(-0.3, 0.3, (10, 8)).astype(np.float16)


def write_model(path):
    m = Model()
    x = m.tensor("image", (1, 9, 7, 3))
    weights = m.constant("weights", WEIGHTS, quantization={"scale": SCALES.tolist(), "zero_point": [0] * 8})
    y = m.add("CONV_2D", [x, weights, m.constant("bias", BIAS)], m.tensor("conv", (1, 5, 4, 8)), "Conv2DOptions",
              padding="SAME", stride_w=2, stride_h=2, activation="RELU")
    step = {"quantization": {"scale": [float(STEP)], "zero_point": [ZERO]}}
    q = m.add("QUANTIZE", [y], m.tensor("q", (1, 5, 4, 8), "int8", **step))
    q = m.add("MAX_POOL_2D", [q], m.tensor("pool", (1, 2, 2, 8), "int8", **step), "Pool2DOptions",
              padding="VALID", stride_w=2, stride_h=2, filter_width=2, filter_height=2)
    y = m.add("DEQUANTIZE", [q], m.tensor("real", (1, 2, 2, 8)))
    y = m.add("MEAN", [y, m.constant("axes", np.array([1, 2], np.int32))], m.tensor("mean", (1, 8)), "ReducerOptions", keep_dims=False)
    dense = m.add("DEQUANTIZE", [m.constant("half", DENSE)], m.tensor("dense", (10, 8)))
    y = m.add("FULLY_CONNECTED", [y, dense, -1], m.tensor("logits", (1, 10)), "FullyConnectedOptions")
    y = m.add("SOFTMAX", [y], m.tensor("result", (1, 10)), "SoftmaxOptions", beta=1)
    m.write(path, [x], [y])


def expected(image):
    """In double precision; SAME padding of 9 x 7 with strides of 2 is 1 on all sides."""
    padded = np.pad(image.astype(float), ((0, 0), (1, 1), (1, 1), (0, 0)))
    weights = WEIGHTS.astype(float) * SCALES[:, None, None, None].astype(float)
    conv = np.zeros((1, 5, 4, 8))
    for i in range(5):
        for j in range(4):
            conv[0, i, j] = np.tensordot(weights, padded[0, 2 * i:2 * i + 3, 2 * j:2 * j + 3], 3) + BIAS
    steps = np.clip(np.round(np.maximum(conv, 0) / STEP) + ZERO, -128, 127)
    pooled = steps[:, :4].reshape(1, 2, 2, 2, 2, 8).max((2, 4))
    logits = ((pooled - ZERO) * float(STEP)).mean((1, 2)) @ DENSE.T.astype(float)
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


class FloatCli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = self.folder / "net.tflite"
        write_model(self.model)

    def result(self, *words):
        image = np.random.default_rng(2).uniform(-1, 1, (1, 9, 7, 3)).astype(np.float32)
        np.save(self.folder / "x.npy", image)
        report = json.loads(systole("run", self.model, "--json", "--quiet", "--input", self.folder / "x.npy", "--output",
                                    self.folder / "y.npy", "--check", self.model, *words))
        self.assertTrue(report["check"]["bit_exact"])
        self.assertEqual(report["check"]["values"], 10)
        return float(np.abs(np.load(self.folder / "y.npy") - expected(image)).max()), report

    def test_results_are_numpy_s(self):
        for preset in ("lite", "v2", "mini"):
            one, report = self.result("--backend", "iss", "--checked", "--preset", preset)
            self.assertIn("array", {part["unit"].split(",")[0] for part in report["parts"]})
            six, _ = self.result("--backend", "iss", "--preset", preset, "--precision", "highest")
            self.assertLess(six, 1e-6, preset)
            self.assertLess(six, one, preset)
            self.assertLess(one, 2e-3, preset)

    def test_the_rtl_agrees(self):
        _, report = self.result()
        self.assertEqual(report["preset"], "lite")
        self.assertGreater(report["cycles"], 0)

    def test_a_stack_is_as_many_runs(self):
        np.save(self.folder / "x.npy", np.zeros((3, 1, 9, 7, 3), np.float32))
        systole("run", self.model, "--backend", "iss", "--input", self.folder / "x.npy", "--output", self.folder / "y.npy", "--quiet")
        self.assertEqual(np.load(self.folder / "y.npy").shape, (3, 1, 10))

    def test_info_says_what_runs_where(self):
        text = systole("info", self.model)
        self.assertIn("float model net\n", text)
        self.assertRegex(text, r"(?m)^image +float32 \(1, 9, 7, 3\)$")
        self.assertRegex(text, r"(?m)^-> result +float32 \(1, 10\)$")
        self.assertRegex(text, r"(?m)^lite: 2 products on the array .* 0 operations on the host")
        self.assertRegex(systole("info", self.model, "--preset", "mini"), r"(?m)^mini: 2 products on the array")
        self.assertEqual(json.loads(systole("info", self.model, "--json"))["array"]["operations"], 2)

    def test_a_page_shows_where_the_cycles_go(self):
        page = self.folder / "page.html"
        text = systole("profile", self.model, "--output", page, "--quiet")
        self.assertGreater(page.stat().st_size, 10000)
        self.assertIn("array", text)

    def test_refusals_name_what_to_do(self):
        self.assertIn("is a float model, which is compiled when it runs", systole("compile", self.model, "-o", self.folder / "n.tpu", code=1))
        self.assertRegex(systole("run", self.model, "--random", "1", "--preset", "edge", code=1),
                         "preset 'edge': a float model runs on bf16 cores: .*lite")
        self.assertIn("--batch has no effect on a float model", systole("run", self.model, "--random", "1", "--batch", "2", code=1))
        self.assertIn("there is no input 'y'", systole("info", self.model, "--input-shape", "y=1,9,7,3", code=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
