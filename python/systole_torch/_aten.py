# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Operators of PyTorch's core ATen set as functions of jax: what lowerings are, arithmetic, tensors from nothing, random numbers.

A lowering is `f(node, *operands, **keywords)`: `node` says what type the result has (Node below); tensors are jax arrays, all else is
what the graph has. The meaning of each operator is that of PyTorch's documentation of it.
"""

import functools
import math
import operator

import jax
import jax.numpy as jnp
import torch

# int64 is int32, as jax has it unless it is told otherwise; what does not fit is refused where it enters.
DTYPES = {torch.bool: jnp.bool_, torch.uint8: jnp.uint8, torch.int8: jnp.int8, torch.int16: jnp.int16, torch.int32: jnp.int32,
          torch.int64: jnp.int32, torch.float16: jnp.float16, torch.bfloat16: jnp.bfloat16, torch.float32: jnp.float32,
          torch.float64: jnp.float32}  # of a tensor without dimensions: a number of Python

LOWERINGS = {}
RANDOM = set()  # the names of lowerings that draw random numbers


class Unsupported(NotImplementedError):
    """What an operator is asked for and has no lowering."""


def dtype_of(dtype):
    if dtype not in DTYPES:
        raise Unsupported(f"type {str(dtype).removeprefix('torch.')}")
    return DTYPES[dtype]


class Node:
    """What a lowering knows of its place: the types of operands and results, and random numbers.

    `name` is the operator's, as "max.dim". `results` are the tensors (without data) that it gives, `operands` its arguments with such
    tensors in place of arrays, `keys` gives the next key of random numbers.
    """

    def __init__(self, name, results, operands, keys):
        self.name, self.results, self.operands, self.keys = name, results, operands, keys

    @property
    def dtype(self):
        return dtype_of(self.results[0].dtype)


def lowering(*names, random=False):
    """Registers a function under names as "add.Tensor"; "add" is that of all overloads without one of their own."""
    def register(function):
        for name in names:
            LOWERINGS[name] = function
            if random:
                RANDOM.add(function)
        return function
    return register


def name_of(target):
    """The name of an operator, as "max.dim"."""
    return f"{target._schema.name.split('::')[1]}.{target._overloadname}"


def find(target):
    """The lowering of an operator, or None."""
    if target.namespace not in ("aten", "prims", "systole"):
        return None
    name = name_of(target)
    return LOWERINGS.get(name, LOWERINGS.get(name.split(".")[0]))


def lowest(dtype):
    return -math.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min


def highest(dtype):
    return math.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).max


def is_half(dtype):
    return dtype in (jnp.bfloat16, jnp.float16)


def _arithmetic(function):
    """An elementwise function: operands in the type of the result. Numbers beside halves are computed with in float32, as on a CPU."""
    @functools.wraps(function)
    def lowered(node, *operands, **keywords):
        dtype = node.dtype
        if is_half(dtype) and any(isinstance(x, float) for x in (*operands, *keywords.values())):
            dtype = jnp.float32
        cast = [jnp.asarray(x, dtype) if isinstance(x, jax.Array) else x if x is None or isinstance(x, str) else jnp.asarray(x, dtype)
                for x in operands]
        return function(*cast, **keywords)
    return lowered


def _comparison(function):
    """A function of two operands in the type that both have together."""
    def lowered(node, a, b):
        kinds = [x if isinstance(x, torch.Tensor) else y for x, y in zip(node.operands, (a, b), strict=True)]
        dtype = dtype_of(torch.result_type(*kinds))
        return function(jnp.asarray(a, dtype), jnp.asarray(b, dtype))
    return lowered


def _scaled(function):
    """Sums with a factor `alpha` of the second operand."""
    return _arithmetic(lambda a, b, alpha=1: function(a, b if alpha == 1 else b * jnp.asarray(alpha, b.dtype)))


def divide(a, b, rounding_mode=None):
    if rounding_mode is None:
        return a / b
    if jnp.issubdtype(a.dtype, jnp.floating):
        if rounding_mode == "trunc":
            return jnp.trunc(a / b)
        # By the remainder, which is exact where the quotient is rounded.
        rest = jnp.fmod(a, b)
        quotient = (a - rest) / b
        quotient = jnp.where((rest != 0) & ((b < 0) != (rest < 0)), quotient - 1, quotient)
        whole = jnp.floor(quotient)
        whole = jnp.where(quotient - whole > 0.5, whole + 1, whole)
        return jnp.where(b == 0, a / b, jnp.where(quotient == 0, jnp.copysign(0.0, a / b), whole)).astype(a.dtype)
    return jnp.floor_divide(a, b) if rounding_mode == "floor" else jax.lax.div(a, jnp.broadcast_to(b, a.shape))


def _power(a, b):
    return jnp.power(a, b)


def _round(a, decimals=0):
    return jnp.round(a) if decimals == 0 else jnp.round(a * 10.0**decimals) / 10.0**decimals


_UNARY = {
    "abs": jnp.abs, "acos": jnp.arccos, "acosh": jnp.arccosh, "asin": jnp.arcsin, "asinh": jnp.arcsinh, "atan": jnp.arctan,
    "atanh": jnp.arctanh, "ceil": jnp.ceil, "cos": jnp.cos, "cosh": jnp.cosh, "digamma": jax.lax.digamma, "erf": jax.lax.erf,
    "erfc": jax.lax.erfc, "erfinv": jax.lax.erf_inv, "exp": jnp.exp, "exp2": jnp.exp2, "expm1": jnp.expm1, "floor": jnp.floor,
    "frac": lambda x: x - jnp.trunc(x), "lgamma": jax.lax.lgamma, "log": jnp.log, "log10": jnp.log10, "log1p": jnp.log1p,
    "log2": jnp.log2, "neg": jnp.negative, "positive": lambda x: x, "reciprocal": lambda x: 1 / x, "relu": lambda x: jnp.maximum(x, 0),
    "round": _round, "rsqrt": jax.lax.rsqrt, "sigmoid": jax.nn.sigmoid, "sign": lambda x: jnp.where(jnp.isnan(x), 0, jnp.sign(x)) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.sign(x), "sgn": jnp.sign, "sin": jnp.sin,
    "sinh": jnp.sinh, "sqrt": jnp.sqrt, "square": jnp.square, "tan": jnp.tan, "tanh": jnp.tanh, "trunc": jnp.trunc,
    "bitwise_not": jnp.invert,
}
_BINARY = {
    "div": divide, "true_divide": divide, "floor_divide": lambda a, b: divide(a, b, "floor"), "mul": operator.mul, "pow": _power,
    "maximum": jnp.maximum, "minimum": jnp.minimum, "fmax": jnp.fmax, "fmin": jnp.fmin, "fmod": jnp.fmod, "remainder": jnp.remainder,
    "atan2": jnp.arctan2, "bitwise_and": jnp.bitwise_and, "bitwise_or": jnp.bitwise_or, "bitwise_xor": jnp.bitwise_xor,
    "bitwise_left_shift": jnp.left_shift, "bitwise_right_shift": jnp.right_shift, "__lshift__": jnp.left_shift,
    "__rshift__": jnp.right_shift, "copysign": jnp.copysign, "hypot": jnp.hypot,
    "fma": lambda a, b, c: a * b + c, "nextafter": jnp.nextafter, "logaddexp": jnp.logaddexp,
}
for _name, _function in {**_UNARY, **_BINARY}.items():
    lowering(_name)(_arithmetic(_function))
for _name, _function in {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
                         "ge": operator.ge}.items():
    lowering(_name)(_comparison(_function))
for _name, _function in {"logical_and": jnp.logical_and, "logical_or": jnp.logical_or, "logical_xor": jnp.logical_xor,
                         "logical_not": jnp.logical_not, "isinf": jnp.isinf, "isnan": jnp.isnan, "isfinite": jnp.isfinite,
                         "signbit": jnp.signbit}.items():
    lowering(_name)(lambda node, *operands, f=_function: f(*operands))
lowering("add")(_scaled(operator.add))
lowering("sub")(_scaled(operator.sub))
lowering("rsub")(_scaled(lambda a, b: b - a))




@lowering("polygamma")
def _polygamma(node, n, x):
    if n == 0:
        return jax.lax.digamma(x)
    if n != 1:
        raise Unsupported("orders beyond 1 of polygamma")
    # Below a half by reflection: psi'(x) + psi'(1 - x) = (pi / sin(pi x))^2.
    low = x < 0.5
    value = jax.scipy.special.polygamma(1, jnp.where(low, 1 - x, x))
    return jnp.where(low, jnp.square(math.pi / jnp.sin(math.pi * (x - jnp.round(x)))) - value, value)


lowering("special_zeta", "zeta")(lambda node, a, b: jax.scipy.special.zeta(*(jnp.asarray(v, node.dtype) for v in (a, b))))
lowering("special_i0", "bessel_i0", "i0")(lambda node, x: jax.scipy.special.i0(x))
lowering("special_i0e", "bessel_i0e")(lambda node, x: jax.scipy.special.i0e(x))
lowering("special_i1", "bessel_i1")(lambda node, x: jax.scipy.special.i1(x))
lowering("special_i1e", "bessel_i1e")(lambda node, x: jax.scipy.special.i1e(x))
lowering("special_ndtri", "ndtri")(lambda node, x: jax.scipy.special.ndtri(x))
lowering("special_log_ndtr", "log_ndtr")(lambda node, x: jax.scipy.special.log_ndtr(x))
lowering("igamma")(lambda node, a, x: jax.scipy.special.gammainc(a, x))
lowering("igammac")(lambda node, a, x: jax.scipy.special.gammaincc(a, x))


@lowering("where")
def _where(node, condition, a, b):
    return jnp.where(condition, jnp.asarray(a, node.dtype), jnp.asarray(b, node.dtype))


@lowering("clamp")
def _clamp(node, x, low=None, high=None, **keywords):
    low, high = keywords.get("min", low), keywords.get("max", high)
    x = x.astype(node.dtype)
    if low is not None:
        x = jnp.maximum(x, jnp.asarray(low, x.dtype))
    return x if high is None else jnp.minimum(x, jnp.asarray(high, x.dtype))


lowering("clamp_min")(lambda node, x, low: _clamp(node, x, low))
lowering("clamp_max")(lambda node, x, high: _clamp(node, x, None, high))


# Tensors from nothing.
lowering("full")(lambda node, size, value, **_: jnp.full(tuple(size), value, node.dtype))
lowering("new_full")(lambda node, x, size, value, **_: jnp.full(tuple(size), value, node.dtype))
lowering("empty", "empty_strided", "empty_permuted", "zeros")(lambda node, size, *_, **__: jnp.zeros(tuple(size), node.dtype))
lowering("new_empty", "new_zeros", "new_empty_strided")(lambda node, x, size, *_, **__: jnp.zeros(tuple(size), node.dtype))
lowering("_efficientzerotensor")(lambda node, size, **_: jnp.zeros(tuple(size), node.dtype))
lowering("ones")(lambda node, size, **_: jnp.ones(tuple(size), node.dtype))
lowering("full_like")(lambda node, x, value, **_: jnp.full(x.shape, value, node.dtype))
lowering("empty_like", "zeros_like")(lambda node, x, **_: jnp.zeros(x.shape, node.dtype))
lowering("ones_like")(lambda node, x, **_: jnp.ones(x.shape, node.dtype))
lowering("scalar_tensor")(lambda node, value, **_: jnp.asarray(value, node.dtype))
lowering("arange.start_step")(lambda node, start, end, step=1, **_: jnp.arange(start, end, step).astype(node.dtype))
lowering("arange.start")(lambda node, start, end, **_: jnp.arange(start, end).astype(node.dtype))
lowering("arange")(lambda node, end, **_: jnp.arange(end).astype(node.dtype))
lowering("iota")(lambda node, length, start, step, **_: (start + step * jnp.arange(length)).astype(node.dtype))
lowering("eye")(lambda node, n, m=None, **_: jnp.eye(n, m if isinstance(m, int) else None, dtype=node.dtype))


# Random numbers: those of jax from keys that PyTorch's generator gives, so torch.manual_seed decides them.
@lowering("rand", "rand_like", random=True)
def _rand(node, like, **_):
    return jax.random.uniform(node.keys(), getattr(like, "shape", like), jnp.float32).astype(node.dtype)


@lowering("randn", "randn_like", random=True)
def _randn(node, like, **_):
    return jax.random.normal(node.keys(), getattr(like, "shape", like), jnp.float32).astype(node.dtype)


@lowering("randint", random=True)
def _randint(node, high, size, **_):
    return jax.random.randint(node.keys(), tuple(size), 0, high).astype(node.dtype)


@lowering("randint.low", random=True)
def _randint_low(node, low, high, size, **_):
    return jax.random.randint(node.keys(), tuple(size), low, high).astype(node.dtype)


@lowering("randperm", random=True)
def _randperm(node, n, **_):
    return jax.random.permutation(node.keys(), n).astype(node.dtype)


@lowering("bernoulli", random=True)
def _bernoulli(node, x, p=None, **_):
    return jax.random.bernoulli(node.keys(), x if p is None or not isinstance(p, (float, jax.Array)) else p, x.shape).astype(node.dtype)


@lowering("uniform", random=True)
def _uniform(node, x, low=0.0, high=1.0, **_):
    return jax.random.uniform(node.keys(), x.shape, jnp.float32, low, high).astype(node.dtype)


@lowering("normal_functional", random=True)
def _normal(node, x, mean=0.0, std=1.0, **_):
    return (mean + std * jax.random.normal(node.keys(), x.shape, jnp.float32)).astype(node.dtype)


@lowering("native_dropout", random=True)
def _dropout(node, x, p, train):
    if train is False or p == 0:
        return x, jnp.ones(x.shape, jnp.bool_)
    kept = jax.random.bernoulli(node.keys(), 1 - p, x.shape)
    return (jnp.where(kept, x * jnp.asarray(0.0 if p == 1 else 1 / (1 - p), x.dtype), 0), kept)
