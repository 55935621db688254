#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""jax on the PJRT plugin: values, devices, donation, errors as exceptions, and scripts as users start them.

Usage: .venv-jax/bin/python tests/pjrt/jax_test.py --build build [unittest's arguments]
"""

import argparse
import atexit
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
import warnings

import jax
import jax.numpy as jnp
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


# Numbers of 64 bits, which the host computes.
WIDE = """
with jax.enable_x64(True):
  print(jnp.sum(jnp.asarray(np.array([1 << 40, -5])) * np.int64(3)))"""


def environment(**more):
    return {**os.environ, "PYTHONPATH": str(BUILD / "python"), "JAX_PLATFORMS": "systole", "SYSTOLE_PRESET": "mini", **more}


def behave(code, variables):
    """A child's part of run(): the script's exit code."""
    os.environ.update(variables)
    sys.path.insert(0, str(BUILD / "python"))  # where jax looks for plugins
    jax.config.update("jax_platforms", variables["JAX_PLATFORMS"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.alarm(600)
    try:
        exec(compile(code, "<script>", "exec"), {"__name__": "__main__", "jax": jax, "jnp": jnp, "np": np})
        atexit._run_exitfuncs()
    except BaseException:  # the interpreter's answer: the traceback and exit code 1
        traceback.print_exc()
        return 1
    return 0


def run(code, **more):
    """Runs a script on the plugin in a process of its own: its exit code, and what it printed. The process is forked behind the import
    of jax, which takes longer than most scripts and has not looked for a device yet."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # jax has no threads yet
            child = os.fork()
        if child == 0:
            status = 1
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                status = behave(code, environment(**more))
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return status, out.read().strip(), err.read()


class Plugin(unittest.TestCase):
    def value(self, code, **more):
        status, out, err = run(code, **more)
        self.assertEqual(status, 0, err)
        return out

    def error(self, code, **more):
        status, _, err = run(code, **more)
        self.assertEqual(status, 1, err)
        return err

    def test_devices(self):
        out = self.value("print(jax.devices(), jax.default_backend(), jax.devices()[2].device_kind)", SYSTOLE_DEVICES="3", SYSTOLE_PRESET="lite")
        self.assertEqual(out, "[SystoleDevice(id=0, coords=(0,0,0), core_on_chip=0), SystoleDevice(id=1, coords=(0,0,0), core_on_chip=1), "
                              "SystoleDevice(id=2, coords=(1,0,0), core_on_chip=0)] systole Systole lite")

    def test_values_come_back_as_they_went(self):
        self.value("""
rng = np.random.default_rng(1)
for dtype in ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32", jnp.bfloat16):
  for shape in ((), (0,), (3,), (2, 0, 3), (4, 5), (2, 3, 4, 5)):
    x = (rng.normal(size=shape) * 50).astype(np.int64).astype(dtype)
    for y in (x, x.T, x[..., ::-1] if x.ndim else x, np.asfortranarray(x)):
      z = jnp.asarray(y)
      assert z.dtype == y.dtype and np.array_equal(np.asarray(z), y), (dtype, shape)
print("done")""")

    def test_a_product_is_of_bf16(self):
        self.value("""
import ml_dtypes
rng = np.random.default_rng(1)
a, b = (rng.normal(size=s).astype(np.float32) for s in ((33, 70), (70, 19)))
round_ = lambda x: x.astype(ml_dtypes.bfloat16).astype(np.float32)
want = (round_(a).astype(np.float64) @ round_(b).astype(np.float64))
bound = np.abs(a) @ np.abs(b)
got = np.asarray(jnp.matmul(a, b))
assert np.all(np.abs(got - want) <= 70 * 2**-24 * bound), "DEFAULT"
exact = a.astype(np.float64) @ b.astype(np.float64)
assert not np.all(np.abs(got - exact) <= 2**-16 * bound), "rounded"
high = np.asarray(jnp.matmul(a, b, precision="high"))
assert np.all(np.abs(high - exact) <= 2**-15 * bound), "HIGH"
highest = np.asarray(jnp.matmul(a, b, precision="highest"))
assert np.all(np.abs(highest - exact) <= 70 * 2**-23 * bound), "HIGHEST"
print("done")""")

    def test_rtl_and_simulator_are_equal(self):
        code = """
rng = np.random.default_rng(2)
a, b = (rng.normal(size=s).astype(np.float32) for s in ((20, 30), (30, 9)))
print(np.asarray(jnp.tanh(a @ b)).tobytes().hex())"""
        self.assertEqual(self.value(code), self.value(code, SYSTOLE_BACKEND="rtl"))

    def test_gradients(self):
        self.value("""
def f(w, x): return jnp.sum(jnp.tanh(x @ w) ** 2)
w, x = jnp.ones((4, 3)) * 0.5, jnp.arange(8.0).reshape(2, 4) / 8
g = jax.jit(jax.grad(f))(w, x)
t = np.tanh(np.asarray(x) @ np.asarray(w))
want = np.asarray(x).T @ (2 * t * (1 - t * t))
assert np.allclose(np.asarray(g), want, atol=2e-2), (g, want)
print("done")""")

    def test_two_devices(self):
        self.value("""
a, b = (jax.device_put(jnp.arange(6.0), d) for d in jax.devices())
assert (b + 1).devices() == {jax.devices()[1]} and (a + 1).devices() == {jax.devices()[0]}
c = jax.device_put(b, jax.devices()[0]) + a
assert c.devices() == {jax.devices()[0]} and np.array_equal(np.asarray(c), 2 * np.arange(6.0))
print("done")""", SYSTOLE_DEVICES="2")

    def test_donation(self):
        self.value("""
import warnings
warnings.simplefilter("error")
f = jax.jit(lambda x: x + 1, donate_argnums=0)
x = jnp.arange(1000.0)
y = f(x)
assert x.is_deleted() and float(y[999]) == 1000
try:
  np.asarray(x)
except RuntimeError as e:
  assert "deleted" in str(e)
else:
  raise AssertionError
print("done")""")

    def test_donated_updates(self):
        # A cache that grows by a line in each call, in place; numpy's copy of an old one stays.
        code = """
def step(cache, line, at):
  cache = jax.lax.dynamic_update_slice(cache, line, (0, at, 0))
  return cache, jnp.einsum('htd,hd->ht', cache, line[:, 0]).sum()
f = jax.jit(step, donate_argnums=0)
lines = np.random.RandomState(0).randint(-8, 8, (9, 4, 1, 64)).astype(np.float32)
cache, kept = jnp.zeros((4, 300, 64)), []
for i, line in enumerate(lines):
  old = np.asarray(cache)
  cache, total = f(cache, line, 7 * i)
  kept.append((old.sum(), float(total)))
print(kept, np.asarray(cache).sum(), np.asarray(cache)[:, 7 * 8].tolist() == lines[8][:, 0].tolist())"""
        self.assertEqual(self.value(code), self.value(code, JAX_PLATFORMS="cpu"))

    def test_control_flow_and_random(self):
        code = """
print(jax.lax.fori_loop(0, 10, lambda i, x: x + i, 0), jax.lax.cond(True, lambda: 1, lambda: 2),
      jax.lax.scan(lambda c, x: (c + x, c), 0, jnp.arange(5))[1])
print(jax.random.bits(jax.random.key(7), (3,)), jax.vmap(lambda v: v @ v)(jnp.ones((2, 3))))"""
        out = self.value(code)
        self.assertIn("45 1 [0 0 1 3 6]", out)
        self.assertEqual(out, self.value(code, JAX_PLATFORMS="cpu"))

    def test_errors_are_exceptions(self):
        self.assertIn("jax_enable_x64", self.error("jax.config.update('jax_enable_x64', True)\njax.device_put(np.arange(3.0))"))
        err = self.error(WIDE, SYSTOLE_FALLBACK="error")
        self.assertIn("would run on the host, which is not allowed", err)
        self.assertNotRegex(err, r"(jit_\w+): \1: ")
        self.assertRegex(self.error("jax.devices()", SYSTOLE_PRESET="edge"), "preset 'edge' has no bf16 cell; .*SYSTOLE_PRESET")
        self.assertRegex(self.error("jax.devices()", SYSTOLE_BACKEND="gpu"), "backend 'gpu' does not exist; .*SYSTOLE_BACKEND")
        self.assertIn("SYSTOLE_DEVICES: devices = 'many' is not a number", self.error("jax.devices()", SYSTOLE_DEVICES="many"))

    def test_the_process_outlives_errors(self):
        out = self.value("""
def attempt(function):
  try:
    print(np.asarray(function()))
  except Exception as error:
    print(type(error).__name__, *str(error).split())
def alive():
  print("alive", float(jnp.sum(jnp.ones(3))))
attempt(lambda: jnp.fft.fft(jnp.ones((1 << 20) + 1)))
alive()
attempt(lambda: jnp.zeros(1 << 34, jnp.int8) + jnp.int8(1))
attempt(lambda: jnp.zeros(1 << 28, jnp.int8) + jnp.int8(1))
alive()
attempt(lambda: jax.jit(lambda a: a + 1).lower(jnp.ones(3)).compile()(jnp.ones(4)))
with jax.enable_x64(True):
  attempt(lambda: jnp.asarray(np.arange(3.0)))
  attempt(lambda: jnp.sum(jnp.asarray(np.array([1 << 40, -5])) * np.int64(3)))
alive()""").splitlines()
        wanted = ["JaxRuntimeError UNIMPLEMENTED: .*the largest length is 1048576", "alive 3.0", r"JaxRuntimeError UNIMPLEMENTED: .*shape \[17179869184\] is too large",
                  "JaxRuntimeError RESOURCE_EXHAUSTED: .* at .*no room for 268435456 bytes in the device's memory", "alive 3.0", "TypeError .*float32",
                  "JaxRuntimeError UNIMPLEMENTED: .*f64", f"{3 * (1 << 40) - 15}", "alive 3.0"]
        self.assertEqual(len(out), len(wanted), out)
        for line, pattern in zip(out, wanted):
            self.assertRegex(line, f"^{pattern}")

    def test_the_process_outlives_memory_that_runs_out(self):
        out = self.value("""
import resource
program = jax.jit(lambda x: jnp.broadcast_to(x, (1 << 25,)) + 1).lower(jnp.float32(2)).compile()
x = jnp.float32(2)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 20), resource.RLIM_INFINITY))
try:
  program(x).block_until_ready()
except Exception as error:
  print(type(error).__name__, error)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print("alive", float(program(x)[0]))""", SYSTOLE_PRESET="lite").splitlines()
        self.assertRegex(out[0], r"^JaxRuntimeError RESOURCE_EXHAUSTED: .*: no memory left on the host$")
        self.assertEqual(out[1:], ["alive 3.0"])

    def test_refused_numbers_of_64_bits(self):
        out = self.value("""
with jax.enable_x64(True):
  for numbers in (np.array([1 << 40, -5]), np.array([0.5])):
    try:
      print(jnp.asarray(numbers) * numbers.dtype.type(3))
    except jax.errors.JaxRuntimeError as error:
      print(*str(error).split())
print("alive", float(jnp.sum(jnp.ones(3))))""", SYSTOLE_FALLBACK="error").splitlines()
        self.assertRegex(out[0], r"^FAILED_PRECONDITION: .* would run on the host, .*: hlo\.multiply 1")
        self.assertRegex(out[1], r"^UNIMPLEMENTED: .*f64")
        self.assertEqual(out[2:], ["alive 3.0"])

    # What jaxlib does not look at itself: the plugin is asked directly.
    def test_an_artifact_of_another_version(self):
        artifacts = ROOT / "tests" / "data" / "stablehlo"
        out = self.value(f"""
import sys
sys.path.insert(0, {str(ROOT / "tests" / "pjrt")!r})
import plugin
artifact = open({str(artifacts / "exp.mlirbc")!r}, "rb").read()
at = artifact.index(b"StableHLO_v1.")
for bytes_ in (artifact, artifact[:at] + b"StableHLO_v9." + artifact[at + 13:], artifact.replace(b"exponential_v2", b"exponential_v9"),
               artifact[:100], b"no artifact"):
  print(plugin.compile_error(bytes_) or "compiles")
print("alive", float(jnp.sum(jnp.ones(3))))""").splitlines()
        self.assertEqual(out[0], "compiles")
        self.assertRegex(out[1], r"StableHLO version 9\.\S+; versions 0\.9 to 1\.x are supported")
        self.assertRegex(out[2], r"stablehlo\.exponential at .*compare.py:43:13 .*: not supported")
        self.assertRegex(out[3], "offset")
        self.assertRegex(out[4], "offset|bytecode")
        self.assertEqual(out[5:], ["alive 3.0"])

    def test_two_processes(self):
        code = "import jax, jax.numpy as jnp\nx = jnp.eye(8)\nfor _ in range(20): x = (x @ x + x) / 2\nprint(float(jnp.sum(x)))"
        both = [subprocess.Popen([sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, text=True) for _ in range(2)]
        self.assertEqual([process.communicate(timeout=300)[0].strip() for process in both], ["8.0", "8.0"])

    def test_what_runs_on_the_host_is_said(self):
        status, _, err = run(WIDE)
        self.assertEqual((status, err.count("runs on the host")), (0, 1), err)
        status, _, err = run("print(jnp.tanh(jnp.ones(3)) + 1)")
        self.assertEqual((status, err.count("runs on the host")), (0, 0), err)
        status, _, err = run("jax.jit(lambda x: jnp.tanh(x @ x))(jnp.ones((4, 4)))", SYSTOLE_REPORT="1")
        self.assertRegex(err, r"jit__lambda.*: 1 products on the array \(64 MACs, .*2 operations in 2 kernels .* 0 operations on the host")

    def test_interrupt(self):
        code = """
x = jnp.tanh(jnp.ones((8, 8)) @ jnp.ones((8, 8))).block_until_ready()  # the device has been opened, which is not what is interrupted
try:
  print("ready", flush=True)
  while True: x = jnp.tanh(x @ x)
except KeyboardInterrupt:
  print("interrupted", float(jnp.sum(jnp.ones(3))))"""
        code = "import jax, jax.numpy as jnp\n" + code
        # What runs in the background of a shell ignores the signal, and so would its children.
        process = subprocess.Popen([sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.assertEqual(process.stdout.readline().strip(), "ready")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(out.strip(), "interrupted 3.0", err)

    # One program that runs for seconds: the exception comes while it does, later calls behind it.
    def test_interrupted_step(self):
        out = self.value("""
import os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
step = jax.jit(lambda x, n: jax.lax.fori_loop(0, n, lambda i, x: jnp.tanh(x @ x) + 0.001, x))
x = jnp.ones((8, 8))
step(x, 3).block_until_ready()
result = step(x, 50000)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
  result.block_until_ready()
except KeyboardInterrupt:
  print("interrupted, done:", result.is_ready(), float(jnp.sum(jnp.ones(3))))""")
        self.assertEqual(out, "interrupted, done: False 3.0")

    def test_random_numbers_of_the_core(self):
        self.value("""
x = np.asarray(jax.lax.rng_uniform(2.0, 3.0, (4000,)))
assert x.min() >= 2 and x.max() < 3 and abs(x.mean() - 2.5) < 0.02 and len(np.unique(x)) > 3900
n = np.asarray(jax.lax.rng_uniform(-3, 4, (4000,)))
assert set(n) == set(range(-3, 4)) and np.bincount(n + 3).min() > 450""", SYSTOLE_FALLBACK="error")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
