#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The Python package `systole` of the built tree, with nothing but NumPy.

Usage: scripts/python tests/capi/python_test.py --build build [unittest's arguments]
"""

import argparse
import base64
import copy
import ctypes
import gc
import inspect
import json
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
MODEL = ROOT / "models/mnist_cnn.tflite"
ARTIFACTS = ROOT / "tests/data/stablehlo"
systole = None  # imported from the built tree
# StableHLO of jax.export: lambda x: x of float32[4], which has nothing for a core to do.
KEEP = zlib.decompress(base64.b64decode(
    "eNpFT9tKw0AQ3elkXMMSQgghlBJCKEWLNLWIglDqqw8VrX5ASNuUruRGLqX9HJ/8PH/BjX2QYeCcM5wzMy/Ln3fjo4nXafK8fI0O"
    "s3B2H94ycAmIAwok08bVnYCAm0NhCqG6q4FAWzHTVooAEiZy2+W9b99CQs51gQaSsICRQSZZng1ke26fHG/gkTvxOdEX9RGHBgw5"
    "4tjAm4kaeZ7vBaBDrzdGS++ySNeeCFZAwLUJAuEbINeUk6OwGGkOwoWSgT3gUB0WuLZH/dH40bFMYa1bmTYyZ4d9WrCs2LZpwnZt"
    "vlF/sipp2irv0Gd8DNs6qaN6H5dJVBbpKSuqci/rjGXKGeZtFpVx1chGFnn9r1VJmcpNXLNP2URRGmfrbcyOHbuen9lizObnvQs2"
    "ravNVG7D8vS3sUrqNm0ime8KdsYsi9WtZbtWoezSIfJBBKOr6ewXxTVZCQ=="))


def digits(count, seed=1):
    return np.random.default_rng(seed).integers(-128, 128, (count, 28, 28, 1), dtype=np.int8)


class Values(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = systole.load(MODEL, preset="nano", batch=2)
        cls.device = systole.Device("iss", preset="nano")

    def run_digits(self, images):
        scores, = self.device.run(self.program, images)
        return scores

    def test_rtl_equals_simulator_to_the_bit(self):
        images = digits(3)
        with systole.Device("rtl", preset="nano", profile=True) as rtl:
            scores, = rtl.run(self.program, images)
            np.testing.assert_array_equal(scores, self.run_digits(images))
            stats, counters = rtl.stats, rtl.counters
            self.assertEqual((stats.images, stats.runs), (3, 2))
            self.assertEqual(counters["cycles"], stats.cycles)
            layers, events = rtl.layers(), rtl.timeline()
            self.assertEqual([layer.name for layer in layers], ["conv1.out", "conv2.out", "conv3.out", "dense1.out", "dense2.out"])
            batch = stats.cycles // 2  # refreshes fall elsewhere in each: one is a little longer
            self.assertAlmostEqual(sum(layer.cycles for layer in layers) / batch, 1, delta=0.01)
            self.assertTrue(all(event.head <= event.start < event.end <= 1.02 * batch for event in events))
            self.assertEqual({event.unit for event in events}, {"load", "weight loader", "array", "vector unit", "store"})
            with tempfile.TemporaryDirectory() as folder:
                for form in ("html", "perfetto", "xspace", "json"):
                    path = pathlib.Path(folder) / form
                    rtl.write_profile(path, form)
                    self.assertGreater(path.stat().st_size, 1000)
        self.assertIsNone(self.device.stats.cycles)
        # What the simulator counts, it counts as the core does; what it has no time for is None everywhere.
        counted = {name: value for name, value in self.device.counters.items() if value is not None}
        self.assertEqual({name: counters[name] for name in counted}, counted)
        self.assertEqual({name for name in counters if name.endswith("_bytes") or name == "mxu_vectors"} - set(counted), set())
        self.assertIsNone(self.device.counters["cycles"])
        values = (ctypes.c_uint64 * len(counters))()
        systole._library.call("systole_device_get_counters", self.device.handle, values, len(counters))
        self.assertEqual({name for name, value in zip(counters, values) if value and name not in counted}, set())

    def test_what_an_int8_input_takes(self):
        images = digits(2)
        tensor = self.program.inputs[0]
        expected = self.run_digits(images)
        numbers = ((images.astype(np.float32) - tensor.zero_point) * np.float32(tensor.scale))
        np.testing.assert_array_equal(self.run_digits(numbers), expected)
        np.testing.assert_array_equal(self.run_digits((images.astype(np.int16) + 128).astype(np.uint8)), expected)
        np.testing.assert_array_equal(self.run_digits({"image": images} if tensor.name == "image" else images), expected)
        np.testing.assert_array_equal(self.run_digits(images[0]), expected[:1])  # one image, as the tensor's shape without its 1
        np.testing.assert_array_equal(self.run_digits(images.tolist() and images), expected)

    def test_arrays_in_any_layout(self):
        images = digits(4)
        expected = self.run_digits(images)
        doubled = np.repeat(images, 2, axis=2)
        for form in (images[::-1][::-1], np.asfortranarray(images), doubled[:, :, ::2], images.transpose(0, 2, 1, 3).swapaxes(1, 2)):
            np.testing.assert_array_equal(self.run_digits(form), expected)
        numbers = images.astype(np.float32) * np.float32(0.003)
        np.testing.assert_array_equal(self.run_digits(numbers.astype(">f4")), self.run_digits(numbers))
        fixed = images.copy()
        fixed.setflags(write=False)
        np.testing.assert_array_equal(self.run_digits(fixed), expected)

    def test_wrong_arrays(self):
        for dtype in ("int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "float64", "complex64", "bool", "U3", "object",
                      "datetime64[s]"):
            with self.subTest(dtype), self.assertRaises(TypeError) as caught:
                self.run_digits(np.zeros((1, 28, 28, 1), dtype))
            self.assertEqual(str(caught.exception), f"input 0 'image': an array of {np.dtype(dtype)}, give int8, uint8 or float32")
        for shape in ((), (0, 28, 28, 1), (27, 28), (1, 28, 28, 3), (784,), (1, 1, 1, 28, 28, 1)):
            with self.subTest(shape), self.assertRaisesRegex(systole.InvalidArgumentError, "'image'"):
                self.run_digits(np.zeros(shape, np.int8))
        with self.assertRaisesRegex(ValueError, "^input 0 'image': .*inhomogeneous"):
            self.run_digits([[1, 2], [3]])
        with self.assertRaisesRegex(systole.InvalidArgumentError, "NaN"):
            self.run_digits(np.full((1, 28, 28, 1), np.nan, np.float32))
        with self.assertRaisesRegex(TypeError, "2 inputs instead of 1 .'image'"):
            self.device.run(self.program, digits(1), digits(1))
        with self.assertRaisesRegex(TypeError, "'picture'"):
            self.device.run(self.program, {"picture": digits(1)})
        with self.assertRaisesRegex(TypeError, "systole.load"):
            self.device.run(str(MODEL), digits(1))
        self.run_digits(digits(1))  # goes on

    def test_stablehlo(self):
        program = systole.load(ARTIFACTS / "matmul_highest.mlirbc")
        self.assertIsNone(program.preset)
        a, b = (np.random.default_rng(i).normal(size=tensor.shape).astype(np.float32) for i, tensor in enumerate(program.inputs))
        with systole.Device(preset="mini") as device:
            product, = device.run(program, a, b)
            np.testing.assert_allclose(product, a @ b, rtol=1e-5, atol=1e-6)
            constant = systole.load(ARTIFACTS / "constant_bf16.mlirbc")
            self.assertEqual(constant.inputs[0].type, "bfloat16")
            bits, = device.run(constant, np.full(7, 0x3F80, np.uint16))  # 1.0
            self.assertEqual(bits.dtype, np.uint16)
            with self.assertRaisesRegex(TypeError, "an array of float32, give uint16, the bits of bfloat16"):
                device.run(constant, np.ones(7, np.float32))
            with self.assertRaisesRegex(TypeError, "an array of float64, give float32"):
                device.run(program, a.astype(np.float64), b)
            with self.assertRaisesRegex(systole.FailedPreconditionError, "made for preset 'nano'"):
                device.run(self.program, digits(1))
        with self.assertRaisesRegex(systole.FailedPreconditionError, "bf16 presets"):
            self.device.run(program, a, b)
        with self.assertRaisesRegex(systole.UnimplementedError, "complex"):
            systole.load(ARTIFACTS / "unsupported.mlirbc")
        newer = (ARTIFACTS / "exp.mlirbc").read_bytes().replace(b"StableHLO_v1.", b"StableHLO_v9.")
        with self.assertRaisesRegex(systole.UnimplementedError, r"StableHLO version 9\..*; versions 0\.9 to 1\.x are supported"):
            systole.parse(newer)

    def test_several_devices(self):
        program = systole.load(ARTIFACTS / "sharded_mlp.mlirbc", preset="minichip")
        self.assertIn("1 collective over the links", program.placement)
        one = systole.load(ARTIFACTS / "matmul_highest.mlirbc")
        rng = np.random.default_rng(1)
        inputs = [rng.normal(size=t.shape).astype(np.float32) if t.type == "float32" else rng.integers(0, 10, t.shape).astype(np.int32)
                  for t in program.inputs]
        cycles, results = {}, {}
        for backend, preset in (("iss", "mini"), ("iss", "minichip"), ("rtl", "minichip")):
            with systole.Device(backend, preset=preset) as device:
                device.run(one, *(np.ones(t.shape, np.float32) for t in one.inputs))  # one device, then four
                results[backend, preset] = [array.tobytes() for array in device.run(program, *inputs)]
                cycles[backend] = device.stats.cycles
        self.assertEqual(len(set(map(tuple, results.values()))), 1)
        self.assertIsNone(cycles["iss"])
        # Of four devices at the same time: less than the longest of one after the other.
        self.assertTrue(1000 < cycles["rtl"] < 20000, cycles)
        with systole.Device("rtl", preset="minichip", profile=True) as device:
            for _ in range(2):  # one core, four, one, four
                device.run(one, *(np.ones(t.shape, np.float32) for t in one.inputs))
                self.assertEqual({layer.core for layer in device.layers()}, {0})
                self.assertEqual([array.tobytes() for array in device.run(program, *inputs)], results["rtl", "minichip"])
                layers, events = device.layers(), device.timeline()
                for core in range(4):
                    own = [layer for layer in layers if layer.core == core]
                    self.assertEqual(own[0].program, 0)
                    self.assertGreater(sum(layer.cycles for layer in own), 0.9 * device.stats.cycles)
                    self.assertLessEqual(sum(layer.cycles for layer in own), 1.05 * device.stats.cycles)
                    self.assertTrue(any("all_reduce" in layer.name for layer in own), own)
                self.assertEqual({event.core for event in events}, set(range(4)))
                self.assertTrue(all((layers[e.layer].core, layers[e.layer].program) == (e.core, e.program) for e in events if e.layer >= 0))
            with systole.Device("rtl", preset="lite", profile=True) as other:
                with self.assertRaisesRegex(systole.FailedPreconditionError, "a profile of 4 devices is of cores on links, .* 'lite' have none"):
                    other.run(program, *inputs)
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "profile"
                device.write_profile(path, "json")
                data = json.loads(path.read_text())
                self.assertEqual([len(data["programs"]), len(data["links"]) > 0, data["command"].endswith("--preset minichip --devices 4")], [4, True, True])


class Objects(unittest.TestCase):
    def test_programs_are_pickled_and_copied(self):
        images = digits(3)
        with systole.load(MODEL, preset="nano", batch=2) as program, systole.Device("iss", preset="nano") as device:
            expected = device.run(program, images)[0]
            others = [pickle.loads(pickle.dumps(program, level)) for level in range(pickle.HIGHEST_PROTOCOL + 1)]
            others += [copy.copy(program), copy.deepcopy([program])[0]]
            for other in others:
                for name in ("name", "preset", "batch", "inputs", "outputs", "placement"):
                    self.assertEqual(getattr(other, name), getattr(program, name))
            program.close()
            for other in others:  # each for itself
                np.testing.assert_array_equal(device.run(other, images)[0], expected)
                other.close()
            with self.assertRaisesRegex(ValueError, "'mnist_cnn' is closed"):
                pickle.dumps(program)
        module = systole.load(ARTIFACTS / "matmul_highest.mlirbc")
        for make in (pickle.dumps, copy.copy, copy.deepcopy):
            with self.assertRaisesRegex(TypeError, r"cannot be pickled or copied, it is StableHLO or a float model: .* systole\.parse\(\)"):
                make(module)

    def test_devices_are_not_pickled_or_copied(self):
        with systole.Device("iss", preset="nano") as device:
            for make in (pickle.dumps, copy.copy, copy.deepcopy):
                with self.assertRaisesRegex(TypeError, r"open another one, with systole\.Device\('iss', preset='nano'\)"):
                    make(device)

    def test_a_model_that_is_not_there_is_an_error_of_opening(self):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["SYSTOLE_MODELS"] = folder
            self.addCleanup(os.environ.pop, "SYSTOLE_MODELS", None)
            for preset in ("v2chip", "nano"):  # bf16, int8
                with self.assertRaises(systole.NotFoundError) as caught:
                    systole.Device("rtl", preset=preset)
                self.assertEqual(str(caught.exception), f"no RTL model of {preset} in {folder} (SYSTOLE_MODELS); there are none; "
                                 f"`make model PRESET={preset}` builds it")
            shutil.copy(BUILD / "lib/systole/model_nano.so", pathlib.Path(folder) / "model_nano.so")
            with self.assertRaisesRegex(systole.NotFoundError, "there is nano;"):
                systole.Device("rtl", preset="edge")
            systole.Device("rtl", preset="nano").close()

    def test_folders_of_models_are_named_once(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            shutil.copytree(BUILD / "python/systole", folder / "systole", ignore=shutil.ignore_patterns("models", "__pycache__"))  # with the library
            (folder / "systole/models").mkdir()
            done = subprocess.run([sys.executable, "-c", "import systole; systole.Device('rtl', preset='nano')"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, "PYTHONPATH": str(folder)})
            self.assertIn(f"no RTL model of nano in {folder}/lib/systole, {folder}/systole/models; there are none;", done.stdout)

    def test_profile_of_stablehlo(self):
        program = systole.load(ARTIFACTS / "matmul_highest.mlirbc")
        a, b = (np.random.default_rng(i).normal(size=tensor.shape).astype(np.float32) for i, tensor in enumerate(program.inputs))
        with systole.Device("rtl", preset="lite", profile=True) as device, tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(systole.FailedPreconditionError, "no run"):
                device.layers()
            for _ in range(2):  # the second does not add to the first
                product, = device.run(program, a, b)
                np.testing.assert_allclose(product, a @ b, rtol=1e-5, atol=1e-6)
                stats, layers, events = device.stats, device.layers(), device.timeline()
                self.assertEqual({layer.program for layer in layers}, set(range(stats.runs)))
                self.assertGreaterEqual(len(layers), stats.runs)
                self.assertLessEqual(sum(layer.cycles for layer in layers), stats.cycles)
                self.assertGreater(sum(layer.cycles for layer in layers), stats.cycles * 9 // 10)
                # Of highest precision: six products of bf16.
                self.assertEqual(max(layer.macs for layer in layers), 6 * a.shape[0] * a.shape[1] * b.shape[1])
                self.assertIn("array", {event.unit for event in events})
                self.assertTrue(all(event.head <= event.start < event.end <= stats.cycles for event in events))
            for form in ("html", "perfetto", "xspace", "json"):
                path = pathlib.Path(folder) / form
                device.write_profile(path, form)
                self.assertGreater(path.stat().st_size, 1000)
            with self.assertRaisesRegex(systole.FailedPreconditionError, "nothing to profile"):
                device.run(systole.parse(KEEP), np.ones(4, np.float32))
                device.layers()
        with self.assertRaisesRegex(systole.InvalidArgumentError, "only rtl can be profiled"):
            systole.Device("iss", preset="lite", profile=True)

    def test_errors_speak_of_python(self):
        with systole.Device("iss", preset="nano") as device:
            device.run(systole.load(MODEL, preset="nano"), digits(1))
            for call in (device.layers, device.timeline, lambda: device.write_profile("/no/where")):
                with self.assertRaisesRegex(systole.FailedPreconditionError, "^the device was opened without profile=True$"):
                    call()
            with self.assertRaisesRegex(systole.FailedPreconditionError, "^no run has succeeded on this device yet$"):
                _ = systole.Device("iss", preset="nano").stats
        for error in (getattr(systole, name) for name in systole.__all__ if name.endswith("Error")):
            self.assertEqual(error.__module__, "systole")
            self.assertIsInstance(pickle.loads(pickle.dumps(error("what"))), error)
        with self.assertRaisesRegex(TypeError, "path is None, not the name of a file"):
            systole.load(None)
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(systole.UnavailableError, "is a folder"):
                systole.load(folder)
            if os.geteuid() != 0:  # who reads all files
                closed = pathlib.Path(folder) / "closed.tflite"
                closed.touch(mode=0)
                with self.assertRaisesRegex(systole.UnavailableError, "Permission denied"):
                    systole.load(closed)
        with self.assertRaisesRegex(TypeError, "seed is str, not a whole number"):
            systole.Device("iss", preset="nano", seed="1")
        with self.assertRaisesRegex(TypeError, "batch is float, not a whole number"):
            systole.load(MODEL, preset="nano", batch=1.5)
        with self.assertRaisesRegex(TypeError, r"data is str, not bytes: systole\.load\(\) takes a file's path"):
            systole.parse(str(MODEL))

    def test_every_public_name_has_types(self):
        self.assertTrue((pathlib.Path(systole.__file__).with_name("py.typed")).exists())

        def check(function, name):
            parameters = [p for p in inspect.signature(function).parameters if p != "self"]
            self.assertEqual(set(typing.get_type_hints(function, include_extras=True)), {*parameters, "return"}, name)

        def functions(scope):
            for name, value in vars(scope).items():
                value = value.fget if isinstance(value, property) else value.__func__ if isinstance(value, staticmethod) else value
                if inspect.isfunction(value):
                    yield f"{scope.__name__}.{name}", value

        for module in (systole._library, systole._program, systole._device):
            for name, function in functions(module):
                check(function, name)
        for scope in (systole.Program, systole.Device):
            for name, function in functions(scope):
                check(function, name)
            self.assertGreater(len(list(functions(scope))), 8)
        with self.assertRaises(AssertionError):  # one without is seen
            check(lambda given: given, "seeded")

    def test_files(self):
        with tempfile.TemporaryDirectory(prefix="with a blank ") as folder:
            path = pathlib.Path(folder) / "zahlen ä.tpu"
            with systole.load(MODEL, preset="nano", batch=2) as program:
                program.save(path)
            again = systole.load(path)
            self.assertEqual((again.preset, again.batch, again.name), ("nano", 2, "mnist_cnn"))
            self.assertEqual(systole.parse(path.read_bytes()).outputs, again.outputs)
            with self.assertRaisesRegex(systole.InvalidArgumentError, "made for preset 'nano', not for 'edge'"):
                systole.load(path, preset="edge")
            with self.assertRaises(systole.DataLossError):
                systole.parse(path.read_bytes()[:-9])
            with self.assertRaisesRegex(systole.NotFoundError, "no such file"):
                systole.load(pathlib.Path(folder) / "no such file.tflite")
            with self.assertRaises(systole.Error):
                systole.load(folder)
            with self.assertRaises(systole.Error):
                again.save("/dev/full")
            with self.assertRaises(TypeError):
                systole.load(12)
            with self.assertRaises(ValueError):
                systole.load("a\0b")

    def test_after_close(self):
        program = systole.load(MODEL, preset="nano")
        device = systole.Device("iss", preset="nano")
        device.run(program, digits(1))
        program.close()
        program.close()
        self.assertEqual(program.inputs[0].shape, (1, 28, 28, 1))
        with self.assertRaisesRegex(ValueError, "is closed"):
            device.run(program, digits(1))
        device.close()
        device.close()
        with self.assertRaisesRegex(ValueError, "the device is closed"):
            _ = device.stats
        with self.assertRaisesRegex(ValueError, "the device is closed"):
            device.run(systole.load(MODEL, preset="nano"), digits(1))

    def test_two_devices_in_turns_and_in_threads(self):
        program = systole.load(MODEL, preset="nano")
        images = [digits(1, seed) for seed in range(4)]
        with systole.Device("iss", preset="nano") as iss, systole.Device("rtl", preset="nano") as a, systole.Device("rtl", preset="nano") as b:
            expected = [iss.run(program, image)[0] for image in images]
            for image, scores in zip(images[:1], expected):
                np.testing.assert_array_equal(a.run(program, image)[0], scores)
                np.testing.assert_array_equal(b.run(program, image)[0], scores)
            found = {}

            def work(device, index):
                found[index] = device.run(program, images[index])[0]

            threads = [threading.Thread(target=work, args=(device, index)) for index, device in enumerate((a, b, iss, iss))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for index, scores in enumerate(expected):
                np.testing.assert_array_equal(found[index], scores)

    def test_errors_of_devices(self):
        with self.assertRaisesRegex(systole.InvalidArgumentError, "gpu"):
            systole.Device("gpu")
        with self.assertRaisesRegex(ValueError, "'big'"):
            systole.Device(preset="big")
        with self.assertRaisesRegex(systole.UnimplementedError, "probe"):  # the checked model has none
            systole.Device("rtl", preset="mini", profile=True)
        for options in ({"seed": -1}, {"seed": 2**64}):
            with self.assertRaisesRegex(ValueError, "seed is"):
                systole.Device("iss", preset="nano", **options)
        for batch in (0, -1, 2**20 + 1, 2**64 + 1):
            with self.assertRaisesRegex(ValueError, "batch is"):
                systole.load(MODEL, preset="nano", batch=batch)
        with systole.Device("iss", preset="nano") as device, self.assertRaisesRegex(systole.FailedPreconditionError, "no run"):
            _ = device.stats

    def test_collected(self):
        device = systole.Device("iss", preset="nano")
        handle = device.handle
        del device
        gc.collect()
        with self.assertRaises(systole.InvalidArgumentError):
            systole._library.call("systole_device_close", handle)


class Process(unittest.TestCase):
    environment = None

    def python(self, code, **more):
        return subprocess.run([sys.executable, "-c", code], env={**self.environment, **more}, capture_output=True, text=True,
                              timeout=300, check=False)

    def test_interrupt(self):
        code = f"""
import systole, numpy as np
program = systole.load({str(MODEL)!r}, preset="nano", batch=1)
device = systole.Device("rtl", preset="nano")
print("ready", flush=True)
try:
    device.run(program, np.zeros((4000, 28, 28, 1), np.int8))
except KeyboardInterrupt:
    print("interrupted")
scores, = device.run(program, np.zeros((1, 28, 28, 1), np.int8))
print(scores.shape)
"""
        with subprocess.Popen([sys.executable, "-c", code], env=self.environment, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            begin = time.monotonic()
            out, _ = process.communicate(timeout=120)
        self.assertEqual(out, "interrupted\n(1, 10)\n")
        self.assertLess(time.monotonic() - begin, 60)

    def test_a_library_that_is_not_there(self):
        for library in ("/no/such.so", "libm.so.6"):
            done = self.python("import systole", SYSTOLE_LIBRARY=library)
            self.assertEqual(done.returncode, 1)
            self.assertIn("ImportError: systole: the library cannot be loaded", done.stderr)

    def test_a_device_left_open_at_the_end(self):
        done = self.python(f"import systole\np = systole.load({str(MODEL)!r}, preset='nano')\nd = systole.Device('rtl', preset='nano')\n"
                           "import numpy as np; d.run(p, np.zeros((1, 28, 28, 1), np.int8)); print('end')")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "end\n", ""))

    def test_structures_are_those_of_the_header(self):
        library = systole._library
        lines = []
        for name, structure in library.STRUCTURES.items():
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            lines += [f'printf("{name}.{field[0]} %zu\\n", offsetof({name}, {field[0]}));' for field in structure._fields_]
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "layout.c"
            source.write_text("#include <stdio.h>\n#include <systole.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n")
            subprocess.run(["gcc", "-std=c99", "-I", ROOT / "host/include", source, "-o", source.with_suffix("")], check=True)
            found = dict(line.split() for line in subprocess.check_output([source.with_suffix("")], text=True).splitlines())
        for name, structure in library.STRUCTURES.items():
            self.assertEqual(int(found[name]), ctypes.sizeof(structure), name)
            for field in structure._fields_:
                self.assertEqual(int(found[f"{name}.{field[0]}"]), getattr(structure, field[0]).offset, f"{name}.{field[0]}")
        header = (ROOT / "host/include/systole.h").read_text()
        self.assertEqual(set(library.STRUCTURES) | {"systole_program", "systole_device"}, set(re.findall(r"^typedef struct (\w+)", header, re.M)))
        self.assertEqual(int(re.search(r"#define SYSTOLE_ABI_VERSION (\d+)", header)[1]), library.ABI_VERSION)
        numbers = {name: int(number) for name, number in re.findall(r"^  SYSTOLE_(\w+) = (\d+)", header, re.M)}
        for name, number in zip(systole._program.TYPE_NAMES, range(12)):
            self.assertEqual(numbers[name.upper()], number)
        for error, number in zip(library.ERRORS[1:], range(1, 12)):
            self.assertEqual(numbers[re.sub(r"(?<!^)(?=[A-Z])", "_", error.__name__[:-len("Error")]).upper()], number)

    def test_the_page_names_everything(self):
        page = (ROOT / "docs/api.md").read_text()
        functions = re.findall(r"\b(systole_\w+)\(", re.sub(r"(?s)/\*.*?\*/", "", (ROOT / "host/include/systole.h").read_text()))
        self.assertGreater(len(functions), 25)
        for name in (*functions, *systole.__all__):
            self.assertRegex(page, rf"\b{name}\b")

    def test_example(self):
        done = subprocess.run([sys.executable, ROOT / "examples/python/digits_numpy.py", "--preset", "nano", "--backend", "rtl", "--count", "2",
                               "--share", BUILD / "share", "--model", MODEL], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 of 2 right", done.stdout)
        for words in (("--preset", "v9", "--share", BUILD / "share"), ("--share", "/no/where")):
            done = subprocess.run([sys.executable, ROOT / "examples/python/digits_numpy.py", "--model", MODEL, *words], env=self.environment,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "^digits_numpy: .*(no preset|preset 'v9'|No such file or directory)")


def main():
    global BUILD, systole
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build.resolve()
    sys.path.insert(0, str(BUILD / "python"))
    Process.environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
    import systole as package
    systole = package
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
