#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Measures how training steps scale over the cores of linked chips: cycles, efficiency, how much of the collectives kernels hide.

Each step is divided by its batch, as jit and Keras divide it, and compiled for 1, 2, 4 and 8 cores. `systole profile` then runs it with
random inputs, of a block's parameters and data with values as a network has them. Weak scaling: every core has the same batch, and as
many cycles are ideal. Strong scaling: the batch of one core is divided, and so should the cycles be.

.venv-jax/bin/python scripts/scaling.py [--preset litechip] [--steps digits,resnet,transformer,megatron] [--devices 1,2,4,8]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def digits(count, batch):
    """The network of examples/keras_mnist.py, by model.fit: a step of Adam."""
    import jax
    import keras
    import numpy as np
    from keras_mnist import network

    keras.utils.set_random_seed(1)
    devices = [f"{d.platform}:{d.id}" for d in jax.devices()[:count]]
    keras.distribution.set_distribution(keras.distribution.DataParallel(devices=devices) if count > 1 else None)
    model = network()
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    images = np.zeros((batch, 28, 28, 1), np.float32)
    model.fit(images, np.zeros(batch, np.int32), batch_size=batch, epochs=1, verbose=0)


def compiled(count, loss, params, data, cut=None):
    """A step of gradient descent whose batch is divided; parameters that are cut are so between the two cores of a chip."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    cores = 2 if cut and count > 1 else 1
    mesh = Mesh(np.array(jax.devices()[:count]).reshape(-1, cores), ("batch", "chip"))

    def abstract(shape, spec):
        return jax.ShapeDtypeStruct(shape, np.float32, sharding=NamedSharding(mesh, spec))

    def step(params, *data):
        value, gradient = jax.value_and_grad(loss)(params, *data)
        return value, jax.tree.map(lambda p, g: p - 0.01 * g, params, gradient)

    # Values as a network has them: with larger ones a softmax takes the long way.
    random = np.random.default_rng(1)
    for i, shape in enumerate([shape for _, shape in sorted(params.items())] + list(data)):
        scale = 1.0 if i >= len(params) else 0.1 if len(shape) == 1 else shape[-2] ** -0.5
        np.save(f"{os.environ['SYSTOLE_DUMP']}/arg{i}.npy", (scale * random.standard_normal(shape)).astype(np.float32))
    params = {name: abstract(shape, (cut or {}).get(name, P())) for name, shape in params.items()}
    jax.jit(step, donate_argnums=0).lower(params, *[abstract(shape, P("batch")) for shape in data]).compile()


def resnet(count, batch):
    """A block of two 3x3 convolutions with batch normalisation over the whole batch and a skip, 14 x 14 x 128."""
    import jax
    import jax.numpy as jnp

    def layer(x, w, scale, bias):
        x = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return (x - x.mean((0, 1, 2))) * jax.lax.rsqrt(x.var((0, 1, 2)) + 1e-3) * scale + bias

    def loss(p, x, y):
        z = jax.nn.relu(layer(x, p["w1"], p["s1"], p["b1"]))
        return ((jax.nn.relu(layer(z, p["w2"], p["s2"], p["b2"]) + x) - y) ** 2).mean()

    weight, image = (3, 3, 128, 128), (batch, 14, 14, 128)
    params = {"w1": weight, "w2": weight, **{name: (128,) for name in ("s1", "b1", "s2", "b2")}}
    compiled(count, lambda p, x, y: loss(p, x, jnp.float32(y)), params, (image, image))


def block(count, batch, cut):
    """A Transformer block of 256 features, 8 heads, 128 tokens."""
    from jax_model_parallel import Transformer

    d = 256
    params = {"qkv": (3, 8, d, 32), "out": (8, 32, d), "up": (d, 4 * d), "bias": (4 * d,), "down": (4 * d, d)}
    tokens = (batch, 128, d)
    compiled(count, lambda p, x, y: ((Transformer.block(p, x) - y) ** 2).mean(), params, (tokens, tokens), cut)


def transformer(count, batch):
    """The block with the same parameters on all cores."""
    block(count, batch, None)


def megatron(count, batch):
    """The block with its heads and hidden columns cut between the cores of a chip, and the batch divided by chips."""
    from jax.sharding import PartitionSpec as P

    block(count, batch, {"qkv": P(None, "chip"), "out": P("chip"), "up": P(None, "chip"), "bias": P("chip"), "down": P("chip")})


# The step, and the batch of a core.
STEPS = {"digits": (digits, 64), "resnet": (resnet, 16), "transformer": (transformer, 8), "megatron": (megatron, 8)}


def write_program(args, step, count, batch, folder):
    """The program of a step, as the plugin divides it."""
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in ("program_*", "arg*.npy"):
        for old in folder.glob(pattern):
            old.unlink()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([f"{args.build}/python", f"{ROOT}/examples"]), "JAX_PLATFORMS": "systole",
                   "KERAS_BACKEND": "jax", "SYSTOLE_BACKEND": "iss", "SYSTOLE_PRESET": args.preset, "SYSTOLE_DEVICES": str(max(args.devices)),
                   "SYSTOLE_DUMP": str(folder)}
    done = subprocess.run([sys.executable, __file__, "--write", step, str(count), str(batch)], env=environment, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"scaling: {step} for {count} cores was not compiled: {done.stderr.strip().splitlines()[-1]}")
    # The step is the largest that was compiled.
    program = max((p for p in folder.glob("program_*.mlirbc") if ".shardy" not in p.name), key=lambda p: p.stat().st_size)
    shardy = program.with_suffix(".shardy.mlirbc")
    return shardy if shardy.exists() else program


def measure(args, step, count, batch):
    print(f"{step} on {count} cores, batch {batch} ...", end="\r", file=sys.stderr, flush=True)
    program = write_program(args, step, count, batch, args.output / f"{step}_{count}_{batch}")
    inputs = [f"--input={path.stem}={path}" for path in sorted(program.parent.glob("arg*.npy"))]
    options = ["--preset", args.preset, "--devices", str(count), "--quiet"]
    data = program.parent / "profile.json"
    systole(args, "profile", program, *inputs, *options, "-o", data.with_suffix(".html"), "--json", data)
    profile = json.loads(data.read_text())
    data.unlink()  # which the page has, too
    exact = None
    if args.check:
        checked = systole(args, "run", program, *(inputs or ["--random", "1"]), *options, "--backend", "rtl", "--json", "--check", program)
        exact = json.loads(checked)["check"]["bit_exact"]
    cores = [core["exchanges"] for core in profile.get("cores", [])]
    return {"step": step, "cores": count, "batch": batch, "cycles": profile["programs"][0]["cycles"],
            "exchange": sum(core["cycles"] for core in cores) / count, "alone": sum(core["alone"] for core in cores) / count,
            "programs": max(len(program["starts"]) for program in profile["programs"]), "bit_exact": exact}


def systole(args, command, *words):
    done = subprocess.run([args.build / "bin/systole", command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"scaling: {done.stderr.strip()}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--output", type=pathlib.Path, help="folder of programs and scaling.json (default: scaling in the build folder)")
    parser.add_argument("--preset", default="litechip")
    parser.add_argument("--steps", default=",".join(STEPS), help=f"of {', '.join(STEPS)}")
    parser.add_argument("--devices", default="1,2,4,8", help="numbers of cores; the first is what the others are compared with")
    parser.add_argument("--scaling", choices=("weak", "strong", "both"), default="weak")
    parser.add_argument("--check", action="store_true", help="compare with the golden model of as many processes, to the bit")
    args = parser.parse_args()
    if args.write:
        step, count, batch = args.write
        STEPS[step][0](int(count), int(batch))
        return
    args.build = args.build.resolve()
    if not (args.build / "bin/systole").exists():
        parser.error(f"--build {args.build}: no bin/systole there; `make scaling` builds what is needed")
    args.output = (args.output or args.build / "scaling").resolve()
    try:
        args.devices = [int(n) for n in args.devices.split(",")]
    except ValueError:
        parser.error(f"--devices {args.devices}: numbers of cores, as 1,2,4,8")
    if not args.devices or min(args.devices) < 1:
        parser.error("--devices: numbers of cores, as 1,2,4,8")
    unknown = set(args.steps.split(",")) - set(STEPS)
    if unknown:
        parser.error(f"--steps: no step {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}")
    try:
        args.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--output {args.output}: {error.strerror}")
    rows = []
    print(f"{'step':12} {'scaling':7} {'cores':>5} {'batch':>6} {'cycles':>12} {'efficiency':>11} {'in collectives':>15} {'hidden':>7} {'programs':>9}  to the bit", flush=True)
    for step in args.steps.split(","):
        own = STEPS[step][1]
        for kind in ("weak", "strong") if args.scaling == "both" else (args.scaling,):
            first = None
            for count in args.devices:
                batch = own * count if kind == "weak" else own
                row = {"scaling": kind, **measure(args, step, count, batch)}
                first = first or row
                ideal = first["cycles"] if kind == "weak" else first["cycles"] * first["cores"] / count
                row["efficiency"] = ideal / row["cycles"]
                rows.append(row)
                hidden = f"{1 - row['alone'] / row['exchange']:.1%}" if row["exchange"] else "-"
                exact = {None: "-", True: "yes", False: "no"}[row["bit_exact"]]
                print(f"{step:12} {kind:7} {count:5} {batch:6} {row['cycles']:12,} {row['efficiency']:11.1%} "
                      f"{row['exchange'] / row['cycles']:15.1%} {hidden:>7} {row['programs']:9,}  {exact}", flush=True)
    (args.output / "scaling.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
