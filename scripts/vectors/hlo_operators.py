#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Makes tests/data/hlo/operators.jsonl.gz: what jax on the CPU makes of single operations of StableHLO and small programs.

Usage: VENV/bin/python scripts/vectors/hlo_operators.py   (VENV: pip install jax==0.10.2 jaxlib==0.10.2 numpy)

A line a case: the program in the text of host/ir, inputs and outputs in hexadecimal, and how far an output may be from jax's. 0:
equal to the bit (integers, moves, and sums and products whose every step is exact, so that no order of summation shows). Otherwise
`ulp`: units in the last place of fp32 (of the result's own type for f16 and bf16), or of the largest magnitude of the output where
the case says `scaled`.
"""

import contextlib
import gzip
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.interpreters import mlir
from jax._src.lib import _jax
from jax._src.lib import xla_client as xc
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from stablehlo_text import module_text

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "tests" / "data" / "hlo" / "operators.jsonl.gz"
SEED = 20261122
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "bfloat16", "float16"]

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(SEED)
cases = []


def add(name, module, inputs, outputs, ulp, scaled):
    with module.context:  # as a plugin gets it
        artifact = _jax.mlir.serialize_portable_artifact(str(module), stablehlo.get_current_version(), False)
        text = module_text(_jax.mlir.deserialize_portable_artifact(artifact), "m")
    outputs = [np.asarray(o) for o in outputs]
    assert all(str(o.dtype) != "float64" for o in outputs), name
    for o in outputs:  # the CPU flushes subnormal numbers
        if o.dtype == np.float32:
            assert not np.any((o != 0) & (np.abs(o) < 2.0**-126)), name
    entry = {"name": name, "text": text, "inputs": [np.asarray(x).tobytes().hex() for x in inputs],
             "outputs": [o.tobytes().hex() for o in outputs]}
    if ulp:
        entry["ulp"] = ulp
    if scaled:
        entry["scaled"] = True
    cases.append(entry)


def case(name, function, *inputs, ulp=0, scaled=False, x64=True):
    with contextlib.nullcontext() if x64 else jax.enable_x64(False):
        inputs = [np.asarray(x) for x in inputs]
        lowered = jax.jit(function, keep_unused=True).lower(*inputs)
        outputs = jax.tree_util.tree_leaves(lowered.compile()(*inputs))
        add(name, lowered.compiler_ir("stablehlo"), inputs, outputs, ulp, scaled)


TYPES = {"bool": "i1", "float32": "f32", "bfloat16": "bf16", "float16": "f16"}


def tensor(value):
    name = str(value.dtype)
    element = TYPES.get(name) or name.replace("uint", "ui").replace("int", "i").replace("uii", "ui")
    return "tensor<" + "".join(f"{n}x" for n in value.shape) + element + ">"


def operation(name, results, *inputs, attributes="", region="", ulp=0, scaled=False):
    """One operation that jax does not lower to on the CPU; `results` are arrays of the results' types."""
    inputs = [np.asarray(x) for x in inputs]
    arguments = ", ".join(f"%a{i}: {tensor(x)}" for i, x in enumerate(inputs))
    types = ", ".join(tensor(r) for r in results)
    values = ", ".join(f"%r#{i}" for i in range(len(results))) if len(results) > 1 else "%r"
    count = f":{len(results)}" if len(results) > 1 else ""
    text = f"""module {{ func.func public @main({arguments}) -> ({types}) {{
      %r{count} = "stablehlo.{name.split()[0]}"({", ".join(f"%a{i}" for i in range(len(inputs)))}) {region} {{{attributes}}}
        : ({", ".join(tensor(x) for x in inputs)}) -> ({types})
      return {values} : {types} }} }}"""
    device = jax.devices()[0]
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        program = device.client.compile_and_load(module, xc.DeviceList((device,)), xc.CompileOptions())
        arrays = program.execute_sharded([jax.device_put(x, device) for x in inputs]).disassemble_into_single_device_arrays()
        add(name, module, inputs, [o[0] for o in arrays], ulp, scaled)


def whole(shape, dtype="float32", limit=8):
    """Small whole numbers: sums and products of them are exact."""
    return rng.integers(-limit, limit + 1, shape).astype(dtype)


def real(shape, dtype="float32", scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(jnp.dtype(dtype))


def positive(shape, dtype="float32", low=0.01, high=100.0):
    return np.exp(rng.uniform(np.log(low), np.log(high), shape)).astype(jnp.dtype(dtype))


def bits(shape, dtype):
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    values.flat[:5] = np.array([info.min, info.max, 0, 1, info.max // 2], dtype)
    return values


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 1e15, 1e-15], np.float32)


def specials(dtype="float32"):
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    with np.errstate(over="ignore"):
        return a.ravel().astype(jnp.dtype(dtype)), b.ravel().astype(jnp.dtype(dtype))


def elementwise():
    binary = {"add": lax.add, "subtract": lax.sub, "multiply": lax.mul, "divide": lax.div, "remainder": lax.rem,
              "maximum": lax.max, "minimum": lax.min}
    for name, function in binary.items():
        for dtype in INTEGERS:
            case(f"{name} {dtype}", function, bits(12, dtype), bits(12, dtype)[::-1].copy())
        for dtype in FLOATS:
            ulp = 0 if dtype == "float32" or name != "divide" else 1
            case(f"{name} {dtype}", function, real(12, dtype, 4), real(12, dtype), ulp=ulp)
        case(f"{name} specials", function, *specials())
    for name, function in {"divide": lax.div, "remainder": lax.rem}.items():
        for dtype in ("int32", "uint8", "int64"):
            case(f"{name} by zero {dtype}", function, bits(8, dtype), np.array([0, -1, 1, 2] * 2).astype(dtype))
    for name, function in {"and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor}.items():
        for dtype in ("int8", "uint32", "int64", "bool"):
            pair = (rng.random((2, 9)) < 0.5) if dtype == "bool" else (bits(9, dtype), bits(9, dtype))
            case(f"{name} {dtype}", function, *pair)
    case("maximum bool", lax.max, *(rng.random((2, 9)) < 0.5))
    case("minimum bool", lax.min, *(rng.random((2, 9)) < 0.5))
    shifts = {"left": lax.shift_left, "logical": lax.shift_right_logical, "arithmetic": lax.shift_right_arithmetic}
    for name, function in shifts.items():
        for dtype in ("int8", "uint16", "int32", "uint32", "int64"):
            width = np.iinfo(dtype).bits
            case(f"shift {name} {dtype}", function, bits(8, dtype),
                 np.array([0, 1, 3, width - 1, width, width + 1, 5, 2]).astype(dtype))
    exponents = whole(24, "int32", 4)
    operation("power int32", [exponents], whole(24, "int32", 5), exponents)
    operation("power uint8", [np.zeros(9, "uint8")], bits(9, "uint8"), np.arange(9, dtype="uint8"))
    for name in ("add", "multiply"):
        truth = rng.random((2, 9)) < 0.5
        operation(f"{name} bool", [truth[0]], *truth)
    case("power float32", lax.pow, positive(32), real(32, scale=2), ulp=4)
    case("power specials", lax.pow, *specials(), ulp=4)
    case("integer_pow", lambda a: lax.integer_pow(a, 3), whole(8))
    case("atan2", lax.atan2, real(32), real(32), ulp=6)
    for dtype in ("float16", "bfloat16"):
        case(f"power {dtype}", lax.pow, positive(16, dtype, 0.5, 4), real(16, dtype), ulp=2)
    unary()


def unary():
    for name, function in {"not": lax.bitwise_not, "popcnt": lax.population_count, "clz": lax.clz}.items():
        for dtype in ("int8", "uint16", "int32", "uint64"):
            case(f"{name} {dtype}", function, bits(9, dtype))
    case("not bool", lax.bitwise_not, rng.random(9) < 0.5)
    for name, function in {"abs": lax.abs, "negate": lax.neg, "sign": lax.sign}.items():
        for dtype in ("int8", "int32", "int64", *FLOATS):
            case(f"{name} {dtype}", function, bits(9, dtype) if "int" in dtype else real(9, dtype))
        case(f"{name} specials", function, SPECIAL)
    for name, function in {"floor": lax.floor, "ceil": lax.ceil, "even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
                           "afz": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), "is_finite": lax.is_finite}.items():
        halves = np.concatenate([SPECIAL, np.arange(-4, 4, 0.5, dtype=np.float32), real(8, scale=1e5)])
        case(f"round {name}", function, halves)
        case(f"round {name} bfloat16", function, halves.astype(jnp.bfloat16))
    functions = {
        "exponential": (lax.exp, real(40, scale=10), 4), "expm1": (lax.expm1, real(40, scale=2), 6),
        "log": (lax.log, positive(40, low=1e-30, high=1e30), 4), "log1p": (lax.log1p, positive(40), 6),
        "logistic": (lax.logistic, real(40, scale=4), 8), "sqrt": (lax.sqrt, positive(40), 0),
        "rsqrt": (lax.rsqrt, positive(40), 3), "cbrt": (lax.cbrt, real(40, scale=10), 4),
        "tanh": (lax.tanh, real(40), 8), "tan": (lax.tan, real(40), 8), "sine": (lax.sin, real(40, scale=10), 4),
        "cosine": (lax.cos, real(40, scale=10), 4),
    }
    for name, (function, values, ulp) in functions.items():
        case(name, function, values, ulp=ulp)
        case(f"{name} specials", function, SPECIAL, ulp=max(ulp, 1))
        for dtype in ("bfloat16", "float16"):
            case(f"{name} {dtype}", function, values[np.abs(values) < 100][:12].astype(jnp.dtype(dtype)), ulp=2)
    operation("logistic alone", [np.zeros(40, np.float32)], real(40, scale=4), ulp=8)
    for exponent, mantissa in ((8, 7), (5, 10), (5, 2), (8, 23), (4, 3), (2, 0)):
        values = np.concatenate([SPECIAL, real(16, scale=3), real(16, scale=1e4), real(8, scale=1e-6)])
        case(f"reduce_precision {exponent} {mantissa}", lambda x: lax.reduce_precision(x, exponent, mantissa), values)


def choices():
    for name in ("eq", "ne", "ge", "gt", "le", "lt"):
        function = getattr(lax, name)
        for dtype in ("int8", "uint32", "float32", "bfloat16", "bool"):
            pair = {"bool": lambda: rng.random((2, 9)) < 0.5, "float32": specials, "bfloat16": lambda: specials("bfloat16")}
            case(f"compare {name} {dtype}", function, *pair.get(dtype, lambda: (bits(9, dtype), bits(9, dtype)))())
    for direction in ("LT", "LE", "EQ", "GT"):
        operation(f"compare {direction} total order", [np.zeros(121, bool)], *specials(), attributes=(
            f"comparison_direction = #stablehlo<comparison_direction {direction}>, compare_type = #stablehlo<comparison_type TOTALORDER>"))
    case("select", lax.select, rng.random(9) < 0.5, real(9), real(9))
    case("select scalar", lambda c, a, b: lax.select(c, a, b), np.array(True), real(9), real(9))
    case("clamp", lax.clamp, np.float32(-1), real(20, scale=2), np.float32(0.5))
    case("clamp tensors", lax.clamp, bits(9, "int8") // 2, bits(9, "int8"), np.full(9, 60, "int8"))
    values = {"bool": np.array([True, False]), **{d: bits(9, d) for d in INTEGERS},
              **{d: np.concatenate([SPECIAL, real(8, scale=100), real(4, scale=1e10)]).astype(jnp.dtype(d)) for d in FLOATS}}
    with np.errstate(over="ignore"):
        for source in values:
            targets = [t for t in values if t != source]
            case(f"convert {source}", lambda x, t=tuple(targets): [lax.convert_element_type(x, jnp.dtype(d)) for d in t],
                 values[source])
    case("bitcast float32 uint32", lambda x: lax.bitcast_convert_type(x, jnp.uint32), real(5))
    case("bitcast uint32 uint8", lambda x: lax.bitcast_convert_type(x, jnp.uint8), bits(6, "uint32"))
    case("bitcast uint8 float32", lambda x: lax.bitcast_convert_type(x, jnp.float32), np.frombuffer(real(4).tobytes(), np.uint8).reshape(4, 4))


def shapes():
    for dtype in ("int32", "float32", "uint8", "bfloat16", "int64"):
        for dimension in range(2):
            case(f"iota {dtype} {dimension}", lambda d=dimension, t=dtype: lax.broadcasted_iota(jnp.dtype(t), (3, 4), d))
    for shape, target, dims in (((), (2, 3), ()), ((3,), (2, 3), (1,)), ((2, 1), (2, 3, 4), (0, 2)), ((2, 3), (2, 4, 3), (0, 2))):
        case(f"broadcast {shape} {target}", lambda x, t=target, d=dims: lax.broadcast_in_dim(x, t, d), real(shape))
    operation("broadcast_in_dim permuted", [np.zeros((2, 3), np.float32)], real((3, 2)), attributes="broadcast_dimensions = array<i64: 1, 0>")
    case("reshape", lambda x: lax.reshape(x, (4, 3)), real((2, 6)))
    case("reshape scalar", lambda x: lax.reshape(x, ()), real((1, 1)))
    for permutation in ((1, 0, 2), (2, 1, 0), (0, 2, 1), (2, 0, 1)):
        case(f"transpose {permutation}", lambda x, p=permutation: lax.transpose(x, p), real((2, 3, 4)))
    case("transpose bytes", lambda x: lax.transpose(x, (1, 0)), bits((3, 5), "int8"))
    case("slice", lambda x: lax.slice(x, (1, 0), (5, 7), (2, 3)), real((6, 8)))
    case("slice empty", lambda x: lax.slice(x, (2,), (2,)), real(4))
    for start in ((1, 2), (-3, 9), (5, 0)):
        case(f"dynamic_slice {start}", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)), real((5, 6)), np.int32(start[0]), np.int32(start[1]))
        case(f"dynamic_update_slice {start}", lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)), real((5, 6)), real((2, 3)), np.int32(start[0]), np.int32(start[1]))
    case("concatenate", lambda a, b, c: lax.concatenate((a, b, c), 1), real((2, 3)), real((2, 1)), real((2, 4)))
    case("concatenate 0", lambda a, b: lax.concatenate((a, b), 0), bits((2, 3), "int16"), bits((1, 3), "int16"))
    for config in (((1, 2, 0), (0, 1, 2)), ((-1, -2, 0), (0, -1, 0)), ((2, -1, 1), (-2, 3, 2)), ((-2, 1, 3), (1, 1, 0)), ((-4, 0, 0), (0, 0, 0))):
        case(f"pad {config}", lambda x, v, c=config: lax.pad(x, v, c), real((4, 5)), np.float32(7))
    case("reverse", lambda x: lax.rev(x, (0, 2)), real((2, 3, 4)))
    case("reverse none", lambda x: lax.rev(x, ()), real((2, 3)))
    case("optimization_barrier", lambda a, b: lax.optimization_barrier((a, b)), real(3), bits(5, "int8"))


def products():
    def dot(contracting, batch=((), ()), precision=None, dtype=None):
        return lambda a, b: lax.dot_general(a, b, (contracting, batch), precision=precision, preferred_element_type=dtype)

    case("dot matrices", dot(((1,), (0,))), whole((5, 17)), whole((17, 7)))
    case("dot long", dot(((1,), (0,))), whole((3, 300), limit=4), whole((300, 2), limit=4))
    case("dot wide", dot(((1,), (0,))), whole((13, 9)), whole((9, 70)))
    case("dot transposed", dot(((0,), (1,))), whole((6, 3)), whole((4, 6)))
    case("dot vectors", dot(((0,), (0,))), whole(9), whole(9))
    case("dot outer", dot(((), ())), positive(4, "bfloat16").astype(np.float32), positive(3, "bfloat16").astype(np.float32))
    case("dot batch", dot(((2,), (1,)), ((0,), (0,))), whole((3, 2, 5)), whole((3, 5, 4)))
    case("dot batch inside", dot(((0, 3), (2, 0)), ((1,), (3,))), whole((2, 3, 4, 5)), whole((5, 4, 2, 3)))
    case("dot bfloat16", dot(((1,), (0,))), whole((4, 6), jnp.bfloat16), whole((6, 3), jnp.bfloat16))
    case("dot bfloat16 to float32", dot(((1,), (0,)), dtype=jnp.float32), whole((4, 6), jnp.bfloat16), whole((6, 3), jnp.bfloat16))
    case("dot float16", dot(((1,), (0,)), dtype=jnp.float32), (whole((4, 6), limit=1000) / 8).astype(np.float16), whole((6, 3), np.float16))
    for dtype in ("int8", "uint8", "int32", "int64"):
        case(f"dot {dtype}", dot(((1,), (0,)), dtype=jnp.int32 if "8" in dtype else None), bits((3, 5), dtype), bits((5, 4), dtype))
    case("dot high", dot(((1,), (0,)), precision="high"), real((8, 64)), real((64, 8)), ulp=512, scaled=True)
    case("dot highest", dot(((1,), (0,)), precision="highest"), real((8, 64)), real((64, 8)), ulp=32, scaled=True)
    case("dot highest exact", dot(((1,), (0,)), precision="highest"), whole((4, 3), limit=4000), whole((3, 4), limit=1000))
    rounded = [real(s, "bfloat16").astype(np.float32) for s in ((8, 64), (64, 8))]
    case("dot default rounded", dot(((1,), (0,))), *rounded, ulp=32, scaled=True)
    convolutions()


def convolutions():
    def conv(lhs, rhs, numbers, strides, padding, name, dtype="float32", **more):
        case(f"convolution {name}", lambda a, b: lax.conv_general_dilated(a, b, strides, padding, dimension_numbers=numbers, **more),
             whole(lhs, dtype, 4), whole(rhs, dtype, 4))

    nhwc = ("NHWC", "HWIO", "NHWC")
    conv((2, 5, 6, 3), (3, 3, 3, 4), nhwc, (1, 1), "SAME", "same")
    conv((1, 7, 7, 2), (3, 2, 2, 3), nhwc, (2, 3), "VALID", "strided")
    conv((1, 7, 7, 2), (3, 3, 2, 3), nhwc, (1, 1), [(2, 1), (0, 3)], "dilated", rhs_dilation=(2, 3))
    conv((1, 4, 3, 2), (3, 3, 2, 3), nhwc, (1, 1), [(2, 2), (1, 3)], "transposed", lhs_dilation=(2, 3))
    conv((1, 6, 6, 2), (3, 3, 2, 3), nhwc, (1, 1), [(-1, 1), (1, -2)], "negative padding")
    conv((2, 5, 5, 6), (3, 3, 2, 9), nhwc, (1, 1), "SAME", "groups", feature_group_count=3)
    conv((1, 6, 6, 8), (3, 3, 1, 8), nhwc, (1, 1), "SAME", "depthwise", feature_group_count=8)
    conv((1, 6, 6, 4), (3, 3, 1, 8), nhwc, (2, 2), "SAME", "depthwise multiplier", feature_group_count=4)
    conv((6, 5, 5, 2), (3, 3, 2, 6), nhwc, (1, 1), "VALID", "batch groups", batch_group_count=3)
    conv((2, 3, 5, 6), (4, 3, 3, 3), ("NCHW", "OIHW", "NCHW"), (1, 1), "SAME", "nchw")
    conv((3, 5, 6, 2), (3, 5, 6, 4), ("CHWN", "IHWO", "NHWC"), (1, 1), [(1, 1), (2, 0)], "gradient of weights")
    conv((2, 9, 3), (4, 3, 5), ("NWC", "WIO", "NWC"), (2,), "SAME", "one dimension")
    conv((1, 4, 5, 3, 2), (2, 2, 2, 2, 3), ("NDHWC", "DHWIO", "NDHWC"), (1, 2, 1), "SAME", "three dimensions")
    conv((2, 3), (3, 4), ("NC", "IO", "NC"), (), [], "no dimensions")
    conv((1, 5, 5, 2), (3, 3, 2, 3), nhwc, (1, 1), "SAME", "bfloat16", jnp.bfloat16, preferred_element_type=jnp.float32)
    conv((1, 5, 5, 2), (3, 3, 2, 3), nhwc, (1, 1), "SAME", "int32", "int32")
    case("convolution highest", lambda a, b: lax.conv_general_dilated(a, b, (1, 1), "SAME", dimension_numbers=nhwc, precision="highest"),
         real((1, 6, 6, 4)), real((3, 3, 4, 5)), ulp=32, scaled=True)

    def forward(x, w, strides=(1, 1)):
        return lax.conv_general_dilated(x, w, strides, "SAME", dimension_numbers=nhwc)

    def sum_of(function):
        return lambda *a: jnp.sum(function(*a) * 2)

    case("gradients of a convolution", jax.grad(sum_of(forward), (0, 1)), whole((2, 5, 5, 3)), whole((3, 3, 3, 4)))
    case("gradients of a strided convolution", jax.grad(sum_of(lambda x, w: forward(x, w, (2, 2))), (0, 1)), whole((2, 6, 6, 3)), whole((3, 3, 3, 4)))
    depth = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=nhwc, feature_group_count=3)  # noqa: E731
    case("gradients of a depthwise convolution", jax.grad(sum_of(depth), (0, 1)), whole((2, 5, 5, 3)), whole((3, 3, 1, 6)))


def reductions():
    for name, function in {"sum": jnp.sum, "max": jnp.max, "min": jnp.min, "prod": jnp.prod}.items():
        for axes in (0, 1, 2, (0, 2), (1, 2), None):
            limit = 2 if name == "prod" else 8
            case(f"reduce {name} {axes}", lambda x, f=function, a=axes: f(x, axis=a), whole((3, 4, 5), limit=limit))
        for dtype in ("int8", "uint32", "int64"):
            case(f"reduce {name} {dtype}", lambda x, f=function: f(x, axis=1, **({"dtype": x.dtype} if f in (jnp.sum, jnp.prod) else {})), bits((4, 6), dtype))
    case("reduce sum bfloat16", lambda x: jnp.sum(x, axis=0), whole((6, 4), jnp.bfloat16, 4))
    case("reduce sum lines", lambda x: jnp.sum(x, axis=1), whole((19, 33)))
    case("reduce or", lambda x: jnp.any(x, axis=1), rng.random((5, 6)) < 0.2)
    case("reduce and", lambda x: jnp.all(x, axis=0), rng.random((5, 6)) < 0.8)
    case("reduce xor", lambda x: lax.reduce(x, np.int32(0), lax.bitwise_xor, (0,)), bits((5, 6), "int32"))
    case("reduce general", lambda x: lax.reduce(x, np.float32(1), lambda a, b: a * 0.5 + b, (1,)), whole((4, 6)))
    case("reduce nan", lambda x: (jnp.max(x), jnp.min(x)), SPECIAL)
    case("argmax", lambda x: jnp.argmax(x, axis=1), whole((5, 9)))
    case("argmin", lambda x: jnp.argmin(x, axis=0), whole((5, 9)))
    case("argmax nan", lambda x: jnp.argmax(x), SPECIAL)
    windows = {"max": (-np.float32(np.inf), lax.max), "min": (np.float32(np.inf), lax.min), "sum": (np.float32(0), lax.add)}
    for name, (init, function) in windows.items():
        for window, stride, padding, base, dilation in (
            ((1, 2, 2, 1), (1, 2, 2, 1), "VALID", None, None), ((1, 3, 3, 1), (1, 2, 1, 1), "SAME", None, None),
            ((2, 3, 2, 1), (1, 1, 1, 1), "VALID", None, (1, 2, 2, 1)), ((1, 2, 2, 1), (1, 1, 2, 1), "VALID", (1, 2, 3, 1), None),
        ):
            case(f"reduce_window {name} {window}", lambda x, i=init, f=function, w=window, s=stride, p=padding, b=base, d=dilation: lax.reduce_window(
                x, i, f, w, s, p, base_dilation=b, window_dilation=d), whole((2, 6, 6, 3)))
    case("cumsum", lambda x: lax.cumsum(x, axis=1), whole((3, 7)))
    case("cummax", lambda x: lax.cummax(x, axis=0), whole((5, 3)))
    case("reduce_window general", lambda x, y: lax.reduce_window((x, y), (np.float32(0), np.int32(0)), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (2, 2), (1, 1), "VALID"),
         whole((4, 5)), bits((4, 5), "int32"))

    def pooled(x):
        return jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") * 3)

    case("gradient of max pool", jax.grad(pooled), rng.permutation(2 * 6 * 6 * 2).reshape(2, 6, 6, 2).astype(np.float32))

    def overlapping(x):
        return jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") * 3)

    case("gradient of overlapping max pool", jax.grad(overlapping), rng.permutation(2 * 7 * 7).reshape(1, 7, 7, 2).astype(np.float32))
    case("scan of a map", lambda x, y: lax.map(lambda p: p[0] * 2 + p[1], (x, y)), whole(5), whole(5))
    operation("map", [np.zeros((2, 3), np.float32)], whole((2, 3)), whole((2, 3)), attributes="dimensions = array<i64: 0, 1>", region="""({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.multiply %x, %y : tensor<f32>
        %t = stablehlo.subtract %s, %x : tensor<f32>
        stablehlo.return %t : tensor<f32> })""")


def indexing():
    case("gather rows", lambda x, i: jnp.take(x, i, axis=0), real((7, 4)), np.array([[0, 6], [3, 3]]))
    case("gather columns", lambda x, i: jnp.take(x, i, axis=1, mode="clip"), real((3, 7)), np.array([5, -2, 9]))
    case("gather elements", lambda x, i, j: x[i, j], real((5, 6)), np.array([0, 4, 2]), np.array([5, 1, 0]))
    case("gather along", lambda x, i: jnp.take_along_axis(x, i, axis=1), real((3, 5)), np.array([[4, 0], [1, 1], [2, 3]]))
    case("gather fill", lambda x, i: jnp.take(x, i, axis=0, mode="fill"), real((4, 2)), np.array([3, 9, -1]))
    case("gather uint8 indices", lambda x, i: jnp.take(x, i, axis=0), real((4, 2)), np.array([3, 0], np.uint8))
    dims = lax.GatherDimensionNumbers(offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(0, 1))
    case("gather windows", lambda x, i: lax.gather(x, i, dims, (2, 3), mode="clip"), real((5, 6)), np.array([[0, 0], [3, 3], [4, 5]]))
    case("gather vmapped", jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (2,))), real((4, 6)), np.array([0, 2, 5, 1]))
    for name in ("add", "min", "max", "multiply", "set"):
        case(f"scatter {name}", lambda x, i, u, n=name: getattr(x.at[i], n)(u), whole((6, 3)), np.array([5, 0, 2]), whole((3, 3)))
        if name not in ("set",):
            case(f"scatter {name} again", lambda x, i, u, n=name: getattr(x.at[i], n)(u), whole((6, 3)), np.array([1, 0, 1]), whole((3, 3)))
        case(f"scatter {name} elements", lambda x, i, j, u, n=name: getattr(x.at[i, j], n)(u), whole((6, 3)), np.array([5, 0, 9]), np.array([0, 2, 1]), whole(3))
    case("scatter power", lambda x, i, u: x.at[i].power(u), whole((6,), limit=3), np.array([5, 0]), np.array([2.0, 3.0], np.float32), ulp=1)
    case("scatter apply", lambda x, i: x.at[i].apply(lambda v: v * 2 + 1), whole((6,)), np.array([5, 0]))
    numbers = lax.ScatterDimensionNumbers(update_window_dims=(1, 2), inserted_window_dims=(), scatter_dims_to_operand_dims=(0, 1))
    case("scatter windows", lambda x, i, u: lax.scatter_add(x, i, u, numbers, mode="drop"), whole((5, 6)), np.array([[0, 0], [3, 3], [4, 5], [1, 1]]), whole((4, 2, 3)))
    case("scatter vmapped", jax.vmap(lambda x, i, u: x.at[i].add(u)), whole((4, 6)), np.array([[0, 2], [2, 5], [5, 1], [1, 0]]), whole((4, 2)))
    case("gradient of gather", jax.grad(lambda x, i: jnp.sum(jnp.take(x, i, axis=0) * 2)), whole((5, 3)), np.array([1, 1, 4]))
    case("one_hot", lambda i: jax.nn.one_hot(i, 5, dtype=jnp.float32), np.array([0, 4, 2]))


def control():
    case("sort", lambda x: lax.sort(x, dimension=0), real((9, 3)))
    case("sort special", lax.sort, SPECIAL)
    case("sort int", lambda x: lax.sort(x, dimension=1), bits((3, 17), "int16"))
    case("sort keys and values", lambda k, v: lax.sort((k, v), num_keys=1), rng.integers(0, 4, 23).astype(np.int32), np.arange(23, dtype=np.int32))
    case("sort two keys", lambda k, v, w: lax.sort((k, v, w), num_keys=2), rng.integers(0, 3, 21).astype(np.int32), whole(21, limit=2), np.arange(21))
    case("sort descending", lambda x: jnp.sort(x, descending=True), whole(14))
    case("argsort", lambda x: jnp.argsort(x), whole((2, 11)))
    case("sort middle", lambda x: lax.sort(x, dimension=1), real((2, 8, 2)))
    case("while", lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2 + s[0]), (np.int32(0), np.int32(1))), np.int32(9))
    case("while not at all", lambda n: lax.while_loop(lambda s: s < n, lambda s: s + 1, np.int32(3)), np.int32(2))
    case("fori captured", lambda x, w: lax.fori_loop(0, 4, lambda i, y: y @ w, x), whole((2, 3), limit=2), whole((3, 3), limit=2))
    case("scan", lambda x, xs: lax.scan(lambda c, v: (c + v, c * v), x, xs), whole(3), whole((5, 3)))
    case("nested loops", lambda x: lax.fori_loop(0, 3, lambda i, a: lax.fori_loop(0, i, lambda j, b: b + j, a), x), np.int32(1))
    for index in (0, 2, 7, -1):
        case(f"case {index}", lambda i, x: lax.switch(i, [lambda v: v, lambda v: v * 2, lambda v: v - x[0]], x), np.int32(index), whole(4))
    for truth in (True, False):
        case(f"cond {truth}", lambda c, x: lax.cond(c, lambda v: v + 1, lambda v: -v, x), np.bool_(truth), whole(4))
    for algorithm in (lax.RandomAlgorithm.RNG_THREE_FRY, lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_DEFAULT):
        for shape, dtype in (((7,), "uint32"), ((3, 4), "uint32"), ((3, 5), "uint32"), ((), "uint32"), ((2, 3), "uint64"), ((5,), "uint8"), ((5,), "uint16")):
            case(f"rng_bit_generator {algorithm.name} {shape} {dtype}",
                 lambda k, s=shape, d=dtype, a=algorithm: lax.rng_bit_generator(k, s, dtype=jnp.dtype(d), algorithm=a), bits(2, "uint64")[::-1].copy() // 3 + 77)
    key = np.array([7, 9], np.uint32)
    case("random bits", lambda k: jax.random.bits(jax.random.wrap_key_data(k), (5, 3), np.uint32), key)
    case("random uniform", lambda k: jax.random.uniform(jax.random.wrap_key_data(k), (9,), jnp.float32), key, x64=False)
    case("random normal", lambda k: jax.random.normal(jax.random.wrap_key_data(k), (9,), jnp.float32), key, ulp=32, x64=False)
    case("random permutation", lambda k: jax.random.permutation(jax.random.wrap_key_data(k), 12), key, x64=False)
    spread = whole((3, 4, 4), limit=3) + 6 * np.eye(4, dtype=np.float32)
    square = np.matmul(spread, np.swapaxes(spread, 1, 2))
    for lower in ("true", "false"):
        operation(f"cholesky {lower}", [square], square, attributes=f"lower = {lower}", ulp=64, scaled=True)
    for left in (True, False):
        for lower in ("true", "false"):
            for transpose in ("NO_TRANSPOSE", "TRANSPOSE"):
                other = whole((3, 4, 2) if left else (3, 2, 4))
                operation(f"triangular_solve {left} {lower} {transpose}", [other], spread, other, ulp=64, scaled=True, attributes=(
                    f"left_side = {str(left).lower()}, lower = {lower}, unit_diagonal = {lower}, transpose_a = #stablehlo<transpose {transpose}>"))
    image, feature = real((2, 3, 3, 4)), [real(4) for _ in range(2)]
    numbers = "epsilon = 1.000000e-03 : f32, feature_index = 3 : i64"
    moments = [real(4), positive(4, low=0.5, high=2)]
    operation("batch_norm_training", [image, *moments], image, *feature, attributes=numbers, ulp=64, scaled=True)
    operation("batch_norm_inference", [image], image, *feature, *moments, attributes=numbers, ulp=64, scaled=True)
    operation("batch_norm_grad", [image, *moments], image, feature[0], *moments, real((2, 3, 3, 4)), attributes=numbers, ulp=128, scaled=True)
    case("softmax", lambda x: jax.nn.softmax(x), real((4, 9)), ulp=16)
    case("gelu", lambda x: jax.nn.gelu(x), real(20), ulp=64, scaled=True)
    case("layer norm", lambda x: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5), real((3, 16)), ulp=64, scaled=True, x64=False)
    case("erf", lax.erf, real(20), ulp=64)
    case("erf_inv", lax.erf_inv, np.linspace(-0.99, 0.99, 20, dtype=np.float32), ulp=64)
    case("top_k", lambda x: lax.top_k(x, 3), rng.permutation(24).reshape(2, 12).astype(np.float32))


for group in (elementwise, choices, shapes, products, reductions, indexing, control):
    group()
OUTPUT.parent.mkdir(parents=True, exist_ok=True)
lines = "".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in cases)
OUTPUT.write_bytes(gzip.compress(lines.encode(), mtime=0))
print(f"{len(cases)} cases, {OUTPUT.stat().st_size} bytes: {OUTPUT}")
