# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""`systole compile`, `info` and `run` of SSD models that end with TFLite_Detection_PostProcess: results against TensorFlow Lite's kernel
and the golden model, and what is said of options that are wrong."""

import argparse
import base64
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import float_cli_test
from float_cli_test import ROOT, Model, systole

NAME = "TFLite_Detection_PostProcess"
NAMES = [NAME, f"{NAME}:1", f"{NAME}:2", f"{NAME}:3"]
FILES = ["boxes.npy", "classes.npy", "scores.npy", "count.npy"]
OPTIONS = {
    "max_detections": 5, "max_classes_per_detection": 2, "num_classes": 3, "nms_score_threshold": 0.2, "nms_iou_threshold": 0.5,
    "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0,
}  # fmt: skip


def flexbuffer(options):
    """A map of integers and floats, all of 8 bytes."""
    data, places = b"", []
    options = dict(sorted(options.items()))
    for name in options:
        places.append(len(data))
        data += name.encode() + b"\0"
    data += bytes(-len(data) % 8)
    word = lambda value: struct.pack("<d" if isinstance(value, float) else "<q", value)
    data += word(len(options))
    keys = len(data)
    for place in places:
        data += word(len(data) - place)
    data += word(len(data) - keys) + word(8) + word(len(options))
    values = len(data)
    for value in options.values():
        data += word(value)
    data += bytes((3 if isinstance(value, float) else 1) << 2 | 3 for value in options.values())
    return data + word(len(data) - values) + bytes([9 << 2 | 3, 8])


def write_float_model(path, options):
    """Boxes and scores by two convolutions of 1 x 1 over a map of 4 x 4 places."""
    random = np.random.default_rng(3)
    m = Model()
    x = m.tensor("map", (1, 4, 4, 8))
    operands = []
    for name, width in (("codes", 4), ("scores", 4)):
        weights = m.constant(f"{name}_weights", random.uniform(-1, 1, (width, 1, 1, 8)).astype(np.float32))
        bias = m.constant(f"{name}_bias", random.uniform(-1, 1, width).astype(np.float32))
        y = m.add("CONV_2D", [x, weights, bias], m.tensor(f"{name}_conv", (1, 4, 4, width)), "Conv2DOptions", padding="VALID", stride_w=1, stride_h=1)
        operands.append(m.add("RESHAPE", [y, m.constant(f"{name}_shape", np.array([1, 16, width], np.int32))], m.tensor(name, (1, 16, width))))
    operands[1] = m.add("LOGISTIC", [operands[1]], m.tensor("probabilities", (1, 16, 4)))
    anchors = [[(y + 0.5) / 4, (x + 0.5) / 4, 0.4, 0.4] for y in range(4) for x in range(4)]
    operands.append(m.constant("anchors", np.array(anchors, np.float32)))
    results = [m.tensor(name, ()) for name in NAMES]
    m.codes.append({"deprecated_builtin_code": 32, "builtin_code": "CUSTOM", "custom_code": NAME})
    m.operators.append({"opcode_index": len(m.codes) - 1, "inputs": operands, "outputs": results, "custom_options": list(flexbuffer(options))})
    m.write(path, [x], results)


class DetectionsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def cases(self):
        for case in json.loads((ROOT / "tests/data/tflite/kinds.json").read_text())["cases"]:
            if " ssd " not in case["name"]:
                continue
            path = self.folder / f"{case['name'].replace(' ', '_')}.tflite"
            path.write_bytes(base64.b64decode(case["model"]))
            yield case, path

    def outputs(self):
        return [word for name, file in zip(NAMES, FILES) for word in ("--output", f"{name}={self.folder / file}")]

    def test_models_of_integers(self):
        count = 0
        for case, path in self.cases():
            count += 1
            compiled = path.with_suffix(".tpu")
            text = systole("compile", path, "-o", compiled)
            self.assertRegex(text, rf"{NAME}/host\S* +hlo\.custom_call +host ")
            text = systole("info", compiled)
            for name in NAMES:
                self.assertIn(f" {name} ", text)
            image = np.frombuffer(base64.b64decode(case["inputs"][0]), np.uint8 if "uint8" in case["name"] else np.int8)
            np.save(self.folder / "image.npy", image.reshape(1, 32, 32, 3))
            systole("run", compiled, "--input", self.folder / "image.npy", *self.outputs(), "--backend", "iss", "--check", path)
            for file, wanted, shape in zip(FILES, case["outputs"], case["shapes"]):
                got = np.load(self.folder / file)
                self.assertEqual(got.dtype, np.float32)
                self.assertEqual(list(got.shape), shape, file)
                self.assertEqual(got.tobytes(), base64.b64decode(wanted), f"{case['name']}: {file}")
        self.assertEqual(count, 4)

    def test_several_images(self):
        _, path = next(self.cases())
        one = systole("run", path, "--random", 3, "--seed", 4, "--check", path, "--backend", "iss", *self.outputs())
        alone = [np.load(self.folder / file) for file in FILES]
        self.assertIn(", 0 mismatches", one)
        systole("run", path, "--random", 3, "--seed", 4, "--batch", 3, "--backend", "iss", *self.outputs())
        for file, values in zip(FILES, alone):
            np.testing.assert_array_equal(np.load(self.folder / file).ravel(), values.ravel())

    def test_float_model(self):
        path = self.folder / "float.tflite"
        write_float_model(path, OPTIONS)
        text = systole("info", path)
        self.assertIn("custom_call", text)
        text = systole("run", path, "--random", 2, "--check", path, "--backend", "iss", *self.outputs())
        self.assertIn("0 mismatches", text)
        boxes, classes, scores, count = (np.load(self.folder / file) for file in FILES)
        self.assertEqual(boxes.shape, (2, 1, 10, 4))
        boxes, classes, scores = boxes[:, 0], classes[:, 0], scores[:, 0]
        for image in range(2):
            found = int(count.ravel()[image])
            self.assertGreater(found, 0)
            self.assertTrue(np.all(scores[image, 0 : 2 * found : 2] >= 0.2))
            self.assertTrue(np.all(np.diff(scores[image, 0 : 2 * found : 2]) <= 0))
            self.assertTrue(np.all(classes[image] < 3))
            self.assertFalse(boxes[image, 2 * found :].any())

    def test_options_that_are_wrong(self):
        for change, message in (
            ({"num_classes": 0}, "option 'num_classes' is 0, not 1 to 1048576"),
            ({"num_classes": 2}, "scores f32[1,16,4] of 2 classes, with or without the background"),
            ({"max_detections": 2.0}, "option 'max_detections' is not an integer"),
            ({"nms_iou_threshold": 0.0}, "option 'nms_iou_threshold' is 0, not above 0 and at most 1"),
            ({"w_scale": None}, "no option 'w_scale'"),
        ):
            path = self.folder / "wrong.tflite"
            options = {name: value for name, value in {**OPTIONS, **change}.items() if value is not None}
            write_float_model(path, options)
            text = systole("run", path, "--random", 1, code=1)
            self.assertEqual(text.count("\n"), 1, text)
            self.assertIn(f"operator 5 CUSTOM '{NAME}'", text)
            self.assertTrue(text.endswith(f": {message}\n"), text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=float_cli_test.BUILD)
    args, rest = parser.parse_known_args()
    float_cli_test.BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
