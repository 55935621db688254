# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""`systole run`, `info`, `profile` and the Python package on ONNX models: a perceptron and a convolutional network as exporters write
them, on simulator and RTL, against NumPy and ONNX's reference; options; models that are refused."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def systole(*words, code=0):
    done = subprocess.run([BUILD / "bin/systole", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


def weights(random, *shape):
    return (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def model(nodes, inputs, outputs, constants, opset=17):
    infos = [[helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in part] for part in (inputs, outputs)]
    graph = helper.make_graph(nodes, "net", *infos, [numpy_helper.from_array(value, name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def perceptron():
    random = np.random.default_rng(1)
    constants = {"w1": weights(random, 32, 64), "b1": weights(random, 32), "w2": weights(random, 10, 32), "b2": weights(random, 10)}
    nodes = [helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], "/fc1/Gemm", transB=1), helper.make_node("Relu", ["h"], ["r"]),
             helper.make_node("Gemm", ["r", "w2", "b2"], ["l"], "/fc2/Gemm", transB=1), helper.make_node("Softmax", ["l"], ["y"], axis=-1)]
    return model(nodes, [("x", TensorProto.FLOAT, ["batch", 64])], [("y", TensorProto.FLOAT, ["batch", 10])], constants)


def convolutions():
    """With the shape of its last reshape computed, as PyTorch exports x.view(x.size(0), -1)."""
    random = np.random.default_rng(2)
    constants = {"k1": weights(random, 8, 1, 3, 3), "s": np.abs(weights(random, 8)) + 1, "o": weights(random, 8), "m": weights(random, 8),
                 "v": np.abs(weights(random, 8)) + 1, "k2": weights(random, 16, 8, 3, 3), "b2": weights(random, 16),
                 "w": weights(random, 10, 64), "zero": np.array(0), "axis": np.array([0]), "rest": np.array([-1])}
    nodes = [helper.make_node("Conv", ["x", "k1"], ["c1"], pads=[1, 1, 1, 1]),
             helper.make_node("BatchNormalization", ["c1", "s", "o", "m", "v"], ["n1"]), helper.make_node("Relu", ["n1"], ["r1"]),
             helper.make_node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Conv", ["p1", "k2", "b2"], ["c2"]), helper.make_node("Relu", ["c2"], ["r2"]),
             helper.make_node("MaxPool", ["r2"], ["p2"], kernel_shape=[2, 2], strides=[2, 2]), helper.make_node("Shape", ["p2"], ["shape"]),
             helper.make_node("Gather", ["shape", "zero"], ["n"]), helper.make_node("Unsqueeze", ["n", "axis"], ["n2"]),
             helper.make_node("Concat", ["n2", "rest"], ["flat"], axis=0), helper.make_node("Reshape", ["p2", "flat"], ["f"]),
             helper.make_node("Gemm", ["f", "w"], ["y"], transB=1)]
    return model(nodes, [("x", TensorProto.FLOAT, [2, 1, 12, 12])], [("y", TensorProto.FLOAT, None)], constants)


class OnnxCli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def save(self, name, value):
        np.save(self.folder / name, value)
        return self.folder / f"{name}.npy"

    def save_model(self, made, name="m.onnx"):
        onnx.save(made, self.folder / name)
        return self.folder / name

    def test_networks_on_the_simulator_are_near_the_reference(self):
        random = np.random.default_rng(3)
        for made, shape in ((perceptron(), (5, 64)), (convolutions(), (2, 1, 12, 12))):
            file, x = self.save_model(made), random.standard_normal(shape).astype(np.float32)
            want = ReferenceEvaluator(made).run(None, {"x": x})[0]
            dims = ["--dim", "batch=5"] if shape == (5, 64) else []
            errors = []
            for precision in ("default", "high", "highest"):
                out, _ = systole("run", file, "--backend", "iss", "--input", self.save("x", x), "--output", self.folder / "y.npy", "--check",
                                 file, "--precision", precision, "--json", "--quiet", *dims)
                self.assertTrue(json.loads(out)["check"]["bit_exact"])
                errors.append(np.max(np.abs(np.load(self.folder / "y.npy") - want)) / np.max(np.abs(want)))
            self.assertLess(errors[0], 2e-2)
            self.assertLess(errors[1], 1e-4)
            self.assertLess(errors[2], 2e-6)

    def test_presets_and_the_rtl_have_the_golden_model_s_bits(self):
        file = self.save_model(perceptron())
        for options in (("--backend", "iss", "--preset", "v2"), ("--backend", "rtl", "--preset", "lite")):
            out, err = systole("run", file, "--random", 1, "--check", file, "--json", *options)
            self.assertTrue(json.loads(out)["check"]["bit_exact"])
            self.assertEqual(err.count("m.onnx: dimension batch is 1 (--dim batch=SIZE sets it)"), 1)

    def test_info_names_inputs_and_outputs(self):
        file = self.save_model(perceptron(), "renamed")
        out, _ = systole("info", file, "--dim", "batch=3", "--preset", "v2")
        self.assertRegex(out, r"ONNX model net\n\ninput, output +values\n-+\nx +float32 \(3, 64\)\n-> y +float32 \(3, 10\)\n")
        self.assertRegex(out, r"v2: 2 products on the array \(\S+ MACs")
        self.assertEqual(json.loads(systole("info", file, "--json")[0])["host"]["operations"], 0)

    def test_profile_on_the_rtl(self):
        file, page = self.save_model(perceptron()), self.folder / "page.html"
        out, _ = systole("profile", file, "--precision", "high", "--output", page)
        self.assertIn("dot_general", out)
        self.assertGreater(page.stat().st_size, 1000)

    def test_fixed_inputs(self):
        nodes = [helper.make_node("Reshape", ["x", "shape"], ["r"]), helper.make_node("Mul", ["r", "rate"], ["y"])]
        made = model(nodes, [("x", TensorProto.FLOAT, [6]), ("shape", TensorProto.INT64, [2]), ("rate", TensorProto.FLOAT, [])],
                     [("y", TensorProto.FLOAT, None)], {})
        file, x, y = self.save_model(made), self.save("x", np.arange(6, dtype=np.float32)), self.folder / "y.npy"
        systole("run", file, "--backend", "iss", "--input", x, "--fix", "shape=2,3", "--fix", f"rate={self.save('r', np.float32(0.5))}",
                "--output", y)
        self.assertTrue(np.array_equal(np.load(y), np.arange(6, dtype=np.float32).reshape(2, 3) / 2))
        for option, says in (("shape=2", "--fix shape: 1 number for int64 [2]"), ("shape=a,b", "neither numbers nor a file"), ("shape=2,3.5", "'3.5' is no int64"),
                             ("shape=2,99999999999999999999", "is no int64"),
                             ("size=1", "--fix size: there is no such input"), ("shape", "NAME=FILE.npy or NAME=NUMBERS")):
            _, err = systole("run", file, "--backend", "iss", "--random", 1, "--fix", option, code=1)
            self.assertIn(says, err)
            self.assertEqual(err.count("\n"), 1)

    def test_one_line_for_what_cannot_be_run(self):
        file = self.save_model(perceptron())
        bytes_ = file.read_bytes()
        (self.folder / "half.onnx").write_bytes(bytes_[: len(bytes_) // 2])
        (self.folder / "text.onnx").write_text("not a model")
        fancy = perceptron()
        fancy.graph.node[1].op_type = "Fancy"
        self.save_model(fancy, "fancy.onnx")
        for words, says in ((("run", "half.onnx"), "half.onnx: not an ONNX model, or cut off or damaged"),
                            (("info", "text.onnx"), "text.onnx: not an ONNX model, or cut off or damaged"),
                            (("run", "fancy.onnx"), "fancy.onnx: Fancy 'r': not supported"),
                            (("run", "m.onnx", "--preset", "edge"), "preset 'edge': an ONNX model runs on bf16 cores"),
                            (("run", "m.onnx", "--dim", "batch"), "--dim batch: NAME=SIZE is needed"),
                            (("run", "m.onnx", "--dim", "size=2"), "--dim size: there is no such dimension"),
                            (("run", "m.onnx", "--batch", "2"), "--batch has no effect on an ONNX model"),
                            (("compile", "m.onnx"), "it is compiled when it runs: `systole run`, `systole profile`")):
            options = ["--random", 1, "--backend", "iss"] if words[0] == "run" else []
            _, err = systole(words[0], self.folder / words[1], *words[2:], *options, code=1)
            self.assertIn(says, err)
            self.assertEqual(err.count("\n"), 1, err)

    def test_python_runs_a_model(self):
        made = convolutions()
        file, x = self.save_model(made), np.random.default_rng(4).standard_normal((2, 1, 12, 12)).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        script = ("import numpy, systole, sys\n"
                  "program = systole.load(sys.argv[1], preset='lite', model_options='--precision highest')\n"
                  "with systole.Device('iss', preset='lite') as device:\n"
                  "    y, = device.run(program, numpy.load(sys.argv[2]))\n"
                  "numpy.save(sys.argv[3], y)\n")
        done = subprocess.run([sys.executable, "-c", script, file, self.folder / "x.npy", self.folder / "y.npy"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(BUILD / "python")}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        want = ReferenceEvaluator(made).run(None, {"x": x})[0]
        self.assertLess(np.max(np.abs(np.load(self.folder / "y.npy") - want)), 2e-6 * np.max(np.abs(want)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
