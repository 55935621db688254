# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Programs of the kinds that people write in JAX, with arguments to lower them for: (name, function, arguments, options of jit)."""

import functools
import os

import jax
import jax.numpy as jnp
from jax import lax
import numpy as np

F32, BF16, F16 = jnp.float32, jnp.bfloat16, jnp.float16
I8, I16, I32, U8, U16, U32 = jnp.int8, jnp.int16, jnp.int32, jnp.uint8, jnp.uint16, jnp.uint32


def of(*shape, dtype=F32):
    return jax.ShapeDtypeStruct(shape, dtype)


def elementwise():
    unary = ("abs acos acosh arcsin arcsinh arctan arctanh cbrt ceil conjugate cos cosh degrees exp exp2 expm1 fabs floor i0 isfinite isinf "
             "isnan log log10 log1p log2 logical_not negative positive radians reciprocal rint round sign signbit sin sinc sinh sqrt "
             "square tan tanh trunc").split()
    for name in unary:
        yield name, getattr(jnp, name), [of(4, 8)]
    for name in "erf erfc erf_inv digamma lgamma logistic rsqrt bessel_i0e bessel_i1e is_finite".split():
        yield f"lax_{name}", getattr(lax, name), [of(3, 5)]
    for name in ("add arctan2 copysign divide equal float_power floor_divide fmax fmin fmod greater greater_equal heaviside hypot less "
                 "less_equal logaddexp logaddexp2 maximum minimum mod multiply nextafter not_equal power remainder subtract").split():
        yield f"binary_{name}", getattr(jnp, name), [of(4, 8), of(8)]
    for name in "bitwise_and bitwise_or bitwise_xor left_shift right_shift floor_divide remainder gcd".split():
        for dtype in (I32, U32):
            yield f"{name}_{dtype.__name__}", getattr(jnp, name), [of(6, dtype=dtype)] * 2
    for name in "bitwise_not bitwise_count".split():
        yield name, getattr(jnp, name), [of(6, dtype=U8)]
    yield "clz", lax.clz, [of(6, dtype=I32)]
    for dtype in (BF16, F16, I8, I16, I32, U8, U16, U32, jnp.bool_, jnp.int4, jnp.float8_e4m3fn, jnp.float8_e5m2):
        yield f"convert_{np.dtype(dtype).name}", lambda x, d=dtype: x.astype(d), [of(5)]
        yield f"convert_from_{np.dtype(dtype).name}", lambda x: x.astype(F32), [of(5, dtype=dtype)]
    yield "bitcast", lambda x: lax.bitcast_convert_type(x, U32), [of(5)]
    yield "bitcast_narrow", lambda x: lax.bitcast_convert_type(x, U8), [of(5)]
    yield "reduce_precision", lambda x: lax.reduce_precision(x, 8, 7), [of(5)]
    yield "clamp", lambda x: jnp.clip(x, -1.0, 1.0), [of(5)]
    yield "where", lambda c, x: jnp.where(c, x, jnp.nan), [of(5, dtype=jnp.bool_), of(5)]
    yield "constants", lambda x: x + np.arange(24, dtype=np.float32).reshape(4, 6), [of(4, 6)]
    yield "constant_bits", lambda x: x & np.array([True, False, True, True, False, True, False, True, True, False]), [of(10, dtype=jnp.bool_)]
    yield "constant_true", lambda x: x & jnp.ones(20, bool), [of(20, dtype=jnp.bool_)]
    yield "constant_bf16", lambda x: x * np.linspace(-1, 1, 7).astype(BF16), [of(7, dtype=BF16)]
    yield "constant_special", lambda x: x + np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], np.float32), [of(5)]
    yield "constant_u64", lambda x: x * np.uint32(0xffffffff), [of(5, dtype=U32)]
    yield "constant_large", lambda x: x @ np.random.default_rng(0).normal(size=(20, 30)).astype(np.float32), [of(3, 20)]
    yield "complex", lambda x: jnp.real(jnp.exp(1j * x)), [of(5)]
    yield "empty", lambda x: x + 1, [of(0, 3)]
    yield "next_power", lambda x: lax.integer_pow(x, 5), [of(4)]
    yield "unicode_Straße", lambda größe: größe * 2, [of(2)]


def reductions():
    for name in "sum prod max min mean std var any all argmax argmin cumsum cumprod ptp median nansum nanmax count_nonzero".split():
        yield f"reduce_{name}", functools.partial(getattr(jnp, name), axis=1), [of(4, 8)]
    for name in "sum max argmax".split():
        yield f"reduce_all_{name}", getattr(jnp, name), [of(4, 8, dtype=I32)]
    yield "logsumexp", jax.nn.logsumexp, [of(4, 8)]
    yield "cumlogsumexp", lax.cumlogsumexp, [of(4, 8)]
    yield "cummax", lax.cummax, [of(4, 8)]
    yield "norm", jnp.linalg.norm, [of(4, 8)]
    yield "reduce_general", lambda x: lax.reduce(x, 0.0, lambda a, b: a * 2 + b, [0]), [of(4, 8)]
    yield "reduce_pair", lambda x, y: lax.reduce((x, y), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), [1]), [of(4, 8)] * 2
    for name, operation, initial in (("max", lax.max, -jnp.inf), ("sum", lax.add, 0.0)):
        yield (f"pool_{name}", lambda x, o=operation, i=initial: lax.reduce_window(x, i, o, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
               [of(2, 8, 8, 3)])
        yield (f"pool_same_{name}", lambda x, o=operation, i=initial: lax.reduce_window(x, i, o, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
               [of(2, 9, 9, 3)])
    yield ("pool_max_gradient", jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()),
           [of(2, 8, 8, 3)])
    yield "pool_dilated", lambda x: lax.reduce_window(x, 0.0, lax.add, (3,), (1,), "VALID", (1,), (2,)), [of(20)]


def shapes():
    yield "reshape", lambda x: x.reshape(2, 12), [of(4, 6)]
    yield "transpose", lambda x: x.transpose(2, 0, 1), [of(2, 3, 4)]
    yield "swapaxes", lambda x: x.swapaxes(0, 1), [of(2, 3, 4)]
    yield "broadcast", lambda x: jnp.broadcast_to(x, (5, 3)), [of(3)]
    yield "concatenate", lambda x, y: jnp.concatenate([x, y], 1), [of(2, 3), of(2, 4)]
    yield "stack", lambda x, y: jnp.stack([x, y]), [of(2, 3)] * 2
    yield "split", lambda x: jnp.split(x, 3, 1), [of(2, 6)]
    yield "slice", lambda x: x[1:7:2, ::-1], [of(8, 5)]
    yield "tile", lambda x: jnp.tile(x, (2, 3)), [of(2, 3)]
    yield "repeat", lambda x: jnp.repeat(x, 3, 0), [of(2, 3)]
    yield "roll", lambda x: jnp.roll(x, 2, 0), [of(5, 3)]
    yield "flip", jnp.flip, [of(5, 3)]
    for mode in "constant edge reflect symmetric wrap".split():
        yield f"pad_{mode}", functools.partial(jnp.pad, pad_width=((1, 2), (0, 3)), mode=mode), [of(4, 5)]
    yield "pad_interior", lambda x: lax.pad(x, 0.0, [(1, -1, 2), (0, 0, 1)]), [of(4, 5)]
    yield "iota", lambda x: x + jnp.arange(7), [of(7, dtype=I32)]
    yield "eye", lambda x: x + jnp.eye(4, k=1), [of(4, 4)]
    yield "tril", jnp.tril, [of(4, 4)]
    yield "diagonal", jnp.diagonal, [of(4, 4)]
    yield "trace", jnp.trace, [of(4, 4)]
    yield "meshgrid", jnp.meshgrid, [of(3), of(4)]
    yield "one_hot", functools.partial(jax.nn.one_hot, num_classes=10), [of(6, dtype=I32)]
    yield "take", lambda x, i: jnp.take(x, i, axis=1), [of(4, 6), of(3, dtype=I32)]
    yield "take_clip", lambda x, i: jnp.take(x, i, axis=0, mode="clip"), [of(4, 6), of(3, dtype=I32)]
    yield "take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 1), [of(4, 6), of(4, 2, dtype=I32)]
    yield "index", lambda x, i: x[i, 2], [of(4, 6), of(3, dtype=I32)]
    yield "scatter_set", lambda x, i, u: x.at[i].set(u), [of(5, 4), of(3, dtype=I32), of(3, 4)]
    yield "scatter_add", lambda x, i, u: x.at[i].add(u), [of(5, 4), of(3, dtype=I32), of(3, 4)]
    yield "scatter_max", lambda x, i, u: x.at[:, i].max(u), [of(5, 4), of(3, dtype=I32), of(5, 3)]
    yield "scatter_mul", lambda x, i: x.at[i].multiply(2, mode="drop", unique_indices=True), [of(5), of(3, dtype=I32)]
    yield "take_gradient", jax.grad(lambda x, i: jnp.take(x, i, axis=0).sum()), [of(5, 4), of(3, dtype=I32)]
    yield "batched_take", jax.vmap(lambda x, i: x[i]), [of(5, 4), of(5, dtype=I32)]
    yield "batched_scatter", jax.vmap(lambda x, i: x.at[i].add(1.0)), [of(5, 4), of(5, dtype=I32)]
    yield "dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 3)), [of(5, 4), of(dtype=I32)]
    yield "dynamic_update", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 1)), [of(5, 4), of(2, 2), of(dtype=I32)]
    for name in "sort argsort unique_values".split():
        if name != "unique_values":
            yield name, getattr(jnp, name), [of(4, 8)]
    yield "sort_pairs", lambda k, v: lax.sort((k, v), num_keys=1), [of(4, 8), of(4, 8, dtype=I32)]
    yield "sort_unstable", lambda k: lax.sort(k, dimension=0, is_stable=False), [of(4, 8)]
    yield "lexsort", lambda a, b: jnp.lexsort((a, b)), [of(8)] * 2
    yield "top_k", functools.partial(lax.top_k, k=3), [of(4, 8)]
    yield "approx_max_k", functools.partial(lax.approx_max_k, k=3), [of(4, 16)]
    yield "searchsorted", jnp.searchsorted, [of(8), of(3)]
    yield "histogram", functools.partial(jnp.histogram, bins=4), [of(20)]
    yield "bincount", functools.partial(jnp.bincount, length=5), [of(20, dtype=I32)]
    yield "interp", jnp.interp, [of(5), of(8), of(8)]
    yield "select_n", lambda w, *x: lax.select_n(w, *x), [of(4, dtype=I32)] + [of(4)] * 3


def products():
    yield "matmul", jnp.matmul, [of(4, 8), of(8, 5)]
    yield "matmul_batched", jnp.matmul, [of(3, 4, 8), of(3, 8, 5)]
    yield "matmul_bf16", lambda x, y: jnp.matmul(x, y, preferred_element_type=F32), [of(4, 8, dtype=BF16), of(8, 5, dtype=BF16)]
    yield "matmul_i8", lambda x, y: jnp.matmul(x, y, preferred_element_type=I32), [of(4, 8, dtype=I8), of(8, 5, dtype=I8)]
    for precision in ("default", "high", "highest", "BF16_BF16_F32", "BF16_BF16_F32_X3", "TF32_TF32_F32"):
        yield f"matmul_{precision}", functools.partial(jnp.matmul, precision=precision), [of(4, 8), of(8, 5)]
    yield "vdot", jnp.vdot, [of(8)] * 2
    yield "outer", jnp.outer, [of(4), of(5)]
    yield "kron", jnp.kron, [of(2, 2), of(3, 3)]
    yield "tensordot", functools.partial(jnp.tensordot, axes=[[0, 2], [1, 0]]), [of(3, 4, 5), of(5, 3, 2)]
    for number, (equation, *shape) in enumerate((("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
                                                 ("ii->i", (4, 4)), ("bij->bji", (2, 3, 4)), ("abc,cd,bd->a", (2, 3, 4), (4, 5), (3, 5)))):
        yield f"einsum_{number}", functools.partial(jnp.einsum, equation), [of(*s) for s in shape]
    yield "dot_general", lambda x, y: lax.dot_general(x, y, (((2,), (1,)), ((0,), (2,)))), [of(3, 4, 5), of(6, 5, 3)]
    yield "matmul_gradient", jax.grad(lambda x, y: jnp.tanh(x @ y).sum(), (0, 1)), [of(4, 8), of(8, 5)]
    yield "triangular_solve", lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True), [of(4, 4), of(4, 3)]
    yield "cholesky", jnp.linalg.cholesky, [of(4, 4)]
    yield "qr", jnp.linalg.qr, [of(5, 3)]
    yield "solve", jnp.linalg.solve, [of(4, 4), of(4)]
    yield "fft", lambda x: jnp.abs(jnp.fft.rfft(x)), [of(4, 16)]

    numbers = [("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")]
    for layout, (stride, padding, dilation) in ((layout, case) for layout in numbers for case in (
            ((1, 1), "SAME", (1, 1)), ((2, 2), "VALID", (1, 1)), ((1, 1), [(2, 1), (0, 3)], (2, 1)))):
        image, kernel = ((2, 9, 9, 3), (3, 3, 3, 8)) if layout[0] == "NHWC" else ((2, 3, 9, 9), (8, 3, 3, 3))

        def convolve(x, w, layout=layout, stride=stride, padding=padding, dilation=dilation):
            return lax.conv_general_dilated(x, w, stride, padding, rhs_dilation=dilation, dimension_numbers=layout)

        name = f"conv_{layout[0]}_{stride[0]}_{dilation[0]}"
        yield name, convolve, [of(*image), of(*kernel)]
        yield f"{name}_gradient", jax.grad(lambda x, w, f=convolve: f(x, w).sum(), (0, 1)), [of(*image), of(*kernel)]
    depthwise = functools.partial(lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", feature_group_count=6,
                                  dimension_numbers=("NHWC", "HWIO", "NHWC"))
    yield "conv_depthwise", depthwise, [of(2, 8, 8, 6), of(3, 3, 1, 6)]
    yield "conv_depthwise_gradient", jax.grad(lambda x, w: depthwise(x, w).sum(), (0, 1)), [of(2, 8, 8, 6), of(3, 3, 1, 6)]
    yield ("conv_transpose", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
           [of(2, 4, 4, 3), of(3, 3, 3, 5)])
    yield "conv_1d", lambda x, w: jnp.convolve(x, w), [of(20), of(3)]
    yield ("conv_3d", lambda x, w: lax.conv(x, w, (1, 1, 1), "SAME"), [of(1, 2, 4, 4, 4), of(3, 2, 2, 2, 2)])


def control():
    yield "cond", lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), [of(dtype=jnp.bool_), of(3)]
    yield "switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), [of(dtype=I32), of(3)]
    yield "while", lambda x: lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 1, jnp.tanh(c[1])), (0, x)), [of(3)]
    yield "fori", lambda x: lax.fori_loop(0, 5, lambda i, c: c * i, x), [of(3)]
    yield "scan", lambda x, w: lax.scan(lambda c, _: (jnp.tanh(c @ w), c.sum()), x, None, length=7), [of(2, 4), of(4, 4)]
    yield "scan_inputs", lambda c, x: lax.scan(lambda c, v: (c + v, c * v), c, x), [of(4), of(9, 4)]
    yield ("scan_gradient", jax.grad(lambda w, x: lax.scan(lambda c, v: (jnp.tanh(c @ w + v), None), x[0], x)[0].sum()),
           [of(4, 4), of(9, 4)])
    yield "scan_nested", lambda x: lax.scan(lambda c, _: (lax.fori_loop(0, 3, lambda i, d: d + i, c), None), x, None, length=4), [of(3)]
    yield "associative_scan", lambda x: lax.associative_scan(jnp.multiply, x), [of(16)]
    yield "map", lambda x: lax.map(jnp.sin, x), [of(5, 3)]
    yield "vmap", jax.vmap(lambda x, y: x @ y), [of(6, 3), of(6, 3)]
    yield "jvp", lambda x, t: jax.jvp(jnp.tanh, (x,), (t,)), [of(5)] * 2
    yield "hessian", jax.hessian(lambda x: jnp.sum(jnp.tanh(x) ** 2)), [of(4)]
    yield "remat", jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), [of(4)]
    yield "barrier", lambda x, y: lax.optimization_barrier((x, y)), [of(3), of(4)]
    yield "inner_jit", lambda x: jax.jit(lambda y: jax.jit(jnp.sin)(y) + 1)(x) + jax.jit(jnp.sin)(x), [of(4)]
    yield "stop_gradient", jax.grad(lambda x: (lax.stop_gradient(x) * x).sum()), [of(4)]
    yield "custom_vjp", jax.grad(lambda x: jax.nn.relu(x).sum()), [of(4)]
    yield "no_argument", lambda: jnp.zeros(3), []
    yield "no_result", lambda x: None, [of(3)]
    yield "unused_argument", lambda x, y: x * 2, [of(3), of(4)]
    yield "named_scope", jax.named_call(lambda x: jax.named_scope("block")(jnp.sin)(x), name="layer"), [of(3)]


def composites():
    yield ("composite", lambda x: lax.composite(lambda y, scale: jnp.tanh(y) * scale, name="my.layer")(x, scale=np.float32(2)), [of(3)])
    yield ("composite_pair", lambda x: lax.composite(lambda y: (jnp.sort(y), jnp.argsort(y)), name="my.sort")(x), [of(5)])
    yield "composite_twice", lambda x: (f := lax.composite(jnp.sin, name="my.sin"))(f(x)), [of(3)]


def randoms():
    key = of(2, dtype=U32)
    for name in ("uniform normal bernoulli bits truncated_normal exponential gumbel laplace logistic cauchy rademacher").split():
        function = getattr(jax.random, name)
        yield (f"random_{name}", (lambda k, f=function: f(k, -2.0, 2.0, (4, 3))) if name == "truncated_normal" else
               (lambda k, f=function: f(k, shape=(4, 3))), [key])
    yield "random_split", lambda k: jax.random.split(k, 4), [key]
    yield "random_fold_in", jax.random.fold_in, [key, of(dtype=U32)]
    yield "random_permutation", lambda k: jax.random.permutation(k, 10), [key]
    yield "random_choice", lambda k, x: jax.random.choice(k, x, (4,)), [key, of(9)]
    yield "random_categorical", jax.random.categorical, [key, of(4, 9)]
    yield "random_randint", lambda k: jax.random.randint(k, (5,), 0, 10), [key]
    yield "random_gamma", lambda k: jax.random.gamma(k, 2.0, (3,)), [key]
    yield "random_orthogonal", lambda k: jax.random.orthogonal(k, 4), [key]
    yield "random_rbg", lambda k: jax.random.normal(jax.random.wrap_key_data(k, impl="rbg"), (4,)), [of(4, dtype=U32)]
    yield "dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.8, x.shape), x / 0.8, 0), [key, of(4, 8)]


def activations():
    for name in "relu relu6 sigmoid softplus silu gelu elu celu selu leaky_relu log_sigmoid softmax log_softmax glu hard_swish soft_sign mish".split():
        yield f"nn_{name}", getattr(jax.nn, name), [of(4, 8)]
    for name in "gelu softmax silu log_softmax softplus".split():
        yield f"nn_{name}_gradient", jax.grad(lambda x, f=getattr(jax.nn, name): (f(x) ** 2).sum()), [of(4, 8)]
    yield "nn_standardize", jax.nn.standardize, [of(4, 8)]
    yield "attention", jax.nn.dot_product_attention, [of(2, 6, 3, 8)] * 3
    yield "attention_causal", functools.partial(jax.nn.dot_product_attention, is_causal=True), [of(2, 6, 3, 8)] * 3
    yield "attention_gradient", jax.grad(lambda q, k, v: jax.nn.dot_product_attention(q, k, v).sum(), (0, 1, 2)), [of(2, 6, 3, 8)] * 3


def loss_of(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))


def mlp(parameters, x):
    for w, b in parameters[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = parameters[-1]
    return x @ w + b


def cnn(parameters, x):
    for w in parameters["conv"]:
        x = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu((x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-3))
    return x.reshape(x.shape[0], -1) @ parameters["dense"]


def block(parameters, x, mask=True):
    batch, length, width = x.shape
    norm = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    q, k, v = jnp.split(norm @ parameters["qkv"], 3, -1)
    q, k, v = (t.reshape(batch, length, 4, width // 4) for t in (q, k, v))
    x = x + jax.nn.dot_product_attention(q, k, v, is_causal=mask).reshape(x.shape) @ parameters["out"]
    return x + jax.nn.gelu(x @ parameters["up"]) @ parameters["down"]


def sgd(loss):
    def step(parameters, *batch):
        value, gradients = jax.value_and_grad(loss)(parameters, *batch)
        return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients), value
    return step


def adam(loss):
    def step(parameters, first, second, count, *batch):
        value, gradients = jax.value_and_grad(loss)(parameters, *batch)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
        rate = 1e-3 * jnp.sqrt(1 - 0.999 ** count) / (1 - 0.9 ** count)
        parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-7), parameters, first, second)
        return parameters, first, second, count + 1, value
    return step


def models():
    donate = {"donate_argnums": 0}
    widths = (16, 32, 32, 10)
    parameters = [(of(i, o), of(o)) for i, o in zip(widths, widths[1:])]
    x, labels = of(8, 16), of(8, dtype=I32)
    yield "mlp", mlp, [parameters, x]
    yield "mlp_sgd", sgd(lambda p, x, y: loss_of(mlp(p, x), y)), [parameters, x, labels], donate
    yield ("mlp_adam", adam(lambda p, x, y: loss_of(mlp(p, x), y)), [parameters, parameters, parameters, of(), x, labels],
           {"donate_argnums": (0, 1, 2, 3)})
    low = jax.tree.map(lambda p: of(*p.shape, dtype=BF16), parameters)
    yield "mlp_bf16", sgd(lambda p, x, y: loss_of(mlp(p, x).astype(F32), y)), [low, of(8, 16, dtype=BF16), labels], donate
    convolutions = {"conv": [of(3, 3, 1, 12), of(6, 6, 12, 24)], "dense": of(7 * 7 * 24, 10)}
    images = of(4, 28, 28, 1)
    yield "cnn", cnn, [convolutions, images]
    yield "cnn_sgd", sgd(lambda p, x, y: loss_of(cnn(p, x), y)), [convolutions, images, of(4, dtype=I32)], donate
    yield ("cnn_adam", adam(lambda p, x, y: loss_of(cnn(p, x), y)), [convolutions] * 3 + [of(), images, of(4, dtype=I32)],
           {"donate_argnums": (0, 1, 2)})
    layer = {"qkv": of(32, 96), "out": of(32, 32), "up": of(32, 64), "down": of(64, 32)}
    yield "transformer", block, [layer, of(2, 6, 32)]
    yield "transformer_sgd", sgd(lambda p, x: block(p, x).var()), [layer, of(2, 6, 32)], donate
    layers = jax.tree.map(lambda p: of(3, *p.shape), layer)
    yield ("transformer_scan", sgd(lambda p, x: lax.scan(lambda c, w: (block(w, c), None), x, p)[0].var()), [layers, of(2, 6, 32)], donate)

    def lstm(parameters, x):
        def cell(state, inputs):
            h, c = state
            i, f, g, o = jnp.split(jnp.concatenate([inputs, h], -1) @ parameters, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h
        zeros = jnp.zeros((x.shape[1], 8))
        return lax.scan(cell, (zeros, zeros), x)[1]

    yield "lstm", lstm, [of(12, 32), of(5, 3, 4)]
    yield "lstm_sgd", sgd(lambda p, x: lstm(p, x).var()), [of(12, 32), of(5, 3, 4)], donate

    def decode(layer, embedding, cache, token, position):
        x = embedding[token][:, None]
        q, k, v = jnp.split(x @ layer["qkv"], 3, -1)
        cache = lax.dynamic_update_slice(cache, jnp.concatenate([k, v], -1), (0, position, 0))
        keys, values = jnp.split(cache, 2, -1)
        scores = jnp.where(jnp.arange(keys.shape[1]) <= position, jnp.einsum("bqd,bkd->bqk", q, keys) / jnp.sqrt(32.0), -jnp.inf)
        x = x + jax.nn.softmax(scores) @ values @ layer["out"]
        logits = (x @ embedding.T)[:, 0]
        return cache, jnp.argmax(logits, -1), lax.top_k(logits, 4)

    yield ("decode", decode, [layer, of(50, 32), of(2, 16, 64), of(2, dtype=I32), of(dtype=I32)], {"donate_argnums": 2})


def keras_models():
    """Training steps, predictions and initialisers of Keras, if it is installed."""
    os.environ["KERAS_BACKEND"] = "jax"
    try:
        import keras  # pylint: disable=import-outside-toplevel
    except ImportError:
        return
    layers = keras.layers

    def attention(width, length):
        tokens = keras.Input((length,), dtype="int32")
        x = layers.Embedding(30, width)(tokens)
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, width // 4)(x, x, use_causal_mask=True))
        return keras.Model(tokens, layers.Dense(30)(layers.LayerNormalization()(x + layers.Dense(width)(layers.Dense(64, "gelu")(x)))))

    def convolutions():
        return [layer for width, kernel, stride in ((12, 3, 1), (24, 6, 2), (32, 6, 2)) for layer in (
            layers.Conv2D(width, kernel, strides=stride, padding="same", use_bias=False), layers.BatchNormalization(scale=False),
            layers.Activation("relu"))]

    def dense():
        return [layers.Flatten(), layers.Dense(200, use_bias=False), layers.BatchNormalization(scale=False), layers.Activation("relu"),
                layers.Dropout(0.4), layers.Dense(10, activation="softmax")]

    numbers, images = np.zeros((8, 10), np.float32), np.zeros((8, 28, 28, 1), np.float32)
    models_of = {
        "cnn": (lambda: keras.Sequential([keras.Input((28, 28, 1)), *convolutions(), *dense()]), images),
        "depthwise": (lambda: keras.Sequential([
            keras.Input((28, 28, 1)), layers.SeparableConv2D(8, 3), layers.MaxPooling2D(), layers.AveragePooling2D(2),
            layers.GlobalAveragePooling2D(), layers.Dense(10, "softmax")]), images),
        "mlp": (lambda: keras.Sequential([keras.Input((10,)), layers.Dense(16, "relu"), layers.Dense(10, "softmax")]), numbers),
        "lstm": (lambda: keras.Sequential([
            keras.Input((6, 3)), layers.LSTM(8, return_sequences=True), layers.GRU(8), layers.Dense(10, "softmax")]),
                 np.zeros((8, 6, 3), np.float32)),
        "transformer": (lambda: attention(16, 12), np.zeros((8, 12), np.int32))}
    for name, (make, data) in models_of.items():
        for optimizer in ("adam", "sgd", "rmsprop", "adamw") if name in ("cnn", "mlp") else ("adam",):
            model = make()
            model.compile(optimizer=optimizer, loss=keras.losses.SparseCategoricalCrossentropy(from_logits=name == "transformer"),
                          metrics=["accuracy"])
            labels = np.zeros(data.shape if name == "transformer" else 8, np.int32)
            model._symbolic_build(data_batch=(data, labels))  # pylint: disable=protected-access
            model.optimizer.build(model.trainable_variables)
            state = tuple([v.value for v in variables] for variables in (
                model.trainable_variables, model.non_trainable_variables, model.optimizer.variables, model.metrics_variables))
            yield f"keras_{name}_{optimizer}", model.train_step, [state, (data, labels)], {"donate_argnums": 0}
            if optimizer == "adam":
                yield f"keras_{name}_test", model.test_step, [state[:2] + state[3:], (data, labels)], {}
                yield f"keras_{name}_predict", model.predict_step, [state[:2], (data,)], {}


def all_programs():
    for group in (keras_models, elementwise, reductions, shapes, products, control, composites, randoms, activations, models):
        for name, function, arguments, *options in group():
            yield name, function, arguments, options[0] if options else {}


def sharded_programs():
    """The same for four devices, if there are four."""
    if jax.device_count() < 4:
        return
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("batch",))

    def on(*axes):
        return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))

    def shard(value, *axes):
        return jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=on(*axes))

    parameters = [(of(i, o), of(o)) for i, o in ((16, 32), (32, 10))]
    data = [shard(of(8, 16), "batch"), shard(of(8, dtype=I32), "batch")]
    replicated = jax.tree.map(lambda p: shard(p), parameters)
    yield "sharded_mlp", sgd(lambda p, x, y: loss_of(mlp(p, x), y)), [replicated, *data], {"donate_argnums": 0}
    yield "sharded_constraint", lambda x: lax.with_sharding_constraint(jnp.tanh(x), on(None, "batch")), [data[0]], {}
    yield ("sharded_map", jax.shard_map(lambda x: lax.psum(x, "batch"), mesh=mesh, in_specs=jax.sharding.PartitionSpec("batch"),
                                        out_specs=jax.sharding.PartitionSpec()), [data[0]], {})
    yield ("sharded_gather", jax.shard_map(lambda x: lax.all_gather(x, "batch"), mesh=mesh, check_vma=False,
                                           in_specs=jax.sharding.PartitionSpec("batch"), out_specs=jax.sharding.PartitionSpec(None)), [data[0]], {})
    yield "sharded_result", jnp.sin, [data[0]], {"out_shardings": on("batch")}
