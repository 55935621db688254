#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Scripts of flax (linen and nnx), optax, equinox, orbax-checkpoint, numpyro and torchax, on the PJRT plugin and on jax's CPU.

Each script runs in a process of its own, once on each platform, with as many devices as it asks for. What it returns (losses, parameters,
means of samples) must agree within the script's tolerance, relative to the largest value of each array. Products run at precision "highest". Adam's epsilon is
1e-3, so that it does not make steps of gradients that are nothing but rounding.

  make conformance-libraries                        # all
  make conformance-libraries ARGS="--only flax,numpyro --failures"
  make conformance-libraries ARGS="--preset litechip"
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import torchax_scripts

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = {}


def script(library, devices=1, tolerance=1e-3):
    def add(function):
        SCRIPTS[f"{library}: {function.__doc__}"] = (function, devices, tolerance)
        return function

    return add


def images(count=16):
    import numpy as np

    rng = np.random.default_rng(0)
    return rng.normal(size=(count, 8, 8, 3)).astype(np.float32), rng.integers(0, 5, size=count).astype(np.int32)


@script("flax.linen")
def linen_classifier():
    "a classifier with convolutions, batch normalisation and dropout"
    import jax
    import optax
    from flax import linen as nn
    from flax.training import train_state

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, train):
            for width in (8, 12):
                x = nn.Conv(width, (3, 3))(x)
                x = nn.BatchNorm(use_running_average=not train)(x)
                x = nn.max_pool(nn.relu(x), (2, 2), (2, 2))
            x = nn.Dropout(0.2, deterministic=not train)(x.reshape(len(x), -1))
            return nn.Dense(5)(x)

    class State(train_state.TrainState):
        statistics: dict

    x, y = images()
    net = Net()
    variables = net.init(jax.random.key(0), x, False)
    state = State.create(apply_fn=net.apply, params=variables["params"], tx=optax.adam(1e-2, eps=1e-3), statistics=variables["batch_stats"])

    @jax.jit
    def step(state, key):
        def loss(params):
            logits, changed = state.apply_fn({"params": params, "batch_stats": state.statistics}, x, True, mutable=["batch_stats"], rngs={"dropout": key})
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), changed["batch_stats"]

        (value, statistics), gradients = jax.value_and_grad(loss, has_aux=True)(state.params)
        return state.apply_gradients(grads=gradients, statistics=statistics), value

    losses = []
    for i in range(4):
        state, value = step(state, jax.random.key(i))
        losses.append(value)
    return losses, state.statistics, net.apply({"params": state.params, "batch_stats": state.statistics}, x, False)


@script("flax.linen", devices=4)
def linen_transformer():
    "a causal Transformer, its layers scanned and rematerialised, its batch on four devices"
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax
    from flax import linen as nn
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x, _):
            mask = nn.make_causal_mask(x[..., 0])
            x = x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x), mask=mask)
            return x + nn.Dense(16)(nn.gelu(nn.Dense(32)(nn.LayerNorm()(x)))), None

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            embed = nn.Embed(11, 16)
            x = embed(tokens)
            layers = nn.scan(nn.remat(Block), variable_axes={"params": 0}, split_rngs={"params": True}, length=3)
            x, _ = layers()(x, None)
            return embed.attend(nn.LayerNorm()(x))

    tokens = np.random.default_rng(0).integers(0, 11, size=(8, 9)).astype(np.int32)
    model = Model()
    params = model.init(jax.random.key(0), tokens)
    mesh = Mesh(np.array(jax.devices()), ("batch",))
    put = lambda tree, *axes: jax.device_put(tree, NamedSharding(mesh, PartitionSpec(*axes)))
    tx = optax.adamw(1e-2, eps=1e-3)

    @jax.jit
    def step(params, state, tokens):
        def loss(params):
            logits = model.apply(params, tokens[:, :-1])
            return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

        value, gradients = jax.value_and_grad(loss)(params)
        updates, state = tx.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, value

    params, state, tokens, losses = put(params), put(tx.init(params)), put(tokens, "batch"), []
    for _ in range(3):
        params, state, value = step(params, state, tokens)
        losses.append(value)
    return losses, jnp.stack(jax.tree.leaves(jax.tree.map(jnp.linalg.norm, params)))


@script("flax.nnx")
def nnx_classifier():
    "a classifier with convolutions, batch normalisation and dropout"
    import jax
    import optax
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.conv, self.norm = nnx.Conv(3, 8, (3, 3), rngs=rngs), nnx.BatchNorm(8, rngs=rngs)
            self.drop, self.last = nnx.Dropout(0.2, rngs=rngs), nnx.Linear(128, 5, rngs=rngs)

        def __call__(self, x):
            x = nnx.avg_pool(nnx.relu(self.norm(self.conv(x))), (2, 2), (2, 2))
            return self.last(self.drop(x.reshape(len(x), -1)))

    x, y = images()
    net = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(net, optax.adam(1e-2, eps=1e-3), wrt=nnx.Param)
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))

    @nnx.jit
    def step(net, optimizer, metrics, x, y):
        def loss(net):
            logits = net(x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), logits

        (value, logits), gradients = nnx.value_and_grad(loss, has_aux=True)(net)
        metrics.update(loss=value, logits=logits, labels=y)
        optimizer.update(net, gradients)
        return value

    losses = [step(net, optimizer, metrics, x, y) for _ in range(4)]
    net.eval()
    return losses, net(x), metrics.compute(), jax.tree.leaves(nnx.state(net, nnx.BatchStat))


@script("flax.nnx", devices=4)
def nnx_recurrent():
    "an LSTM over sequences, its kernels divided among four devices"
    import jax
    import numpy as np
    import optax
    from flax import nnx
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.rnn = nnx.RNN(nnx.LSTMCell(6, 8, rngs=rngs))
            self.last = nnx.Linear(8, 8, rngs=rngs, kernel_init=nnx.with_partitioning(nnx.initializers.lecun_normal(), (None, "model")))

        def __call__(self, x):
            return self.last(self.rnn(x)[:, -1])

    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))
    x = np.random.default_rng(0).normal(size=(8, 5, 6)).astype(np.float32)
    with jax.set_mesh(mesh):

        @nnx.jit
        def create():
            net = Net(nnx.Rngs(0))
            state = nnx.state(net)
            nnx.update(net, jax.lax.with_sharding_constraint(state, nnx.get_partition_spec(state)))
            return net

        net = create()
        optimizer = nnx.Optimizer(net, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param)

        @nnx.jit
        def step(net, optimizer, x):
            value, gradients = nnx.value_and_grad(lambda net: ((net(x) - x[:, 0, :1]) ** 2).mean())(net)
            optimizer.update(net, gradients)
            return value

        divided = jax.device_put(x, NamedSharding(mesh, P("data")))
        losses = [step(net, optimizer, divided) for _ in range(3)]
        spec = net.last.kernel.get_value().sharding.spec
        assert tuple(spec) == (None, "model"), spec
        return losses, net(divided)


@script("optax")
def optax_optimisers():
    "fifteen optimisers with a schedule, clipping and accumulation"
    import jax
    import jax.numpy as jnp
    import optax

    target = jax.random.normal(jax.random.key(1), (6, 4))
    a = jax.random.normal(jax.random.key(2), (8, 6))
    loss = lambda p: ((jnp.tanh(a @ p["w"]) + p["b"] - a @ target) ** 2).mean()
    schedule = optax.warmup_cosine_decay_schedule(0.0, 0.05, 3, 10)
    makers = {name: getattr(optax, name) for name in ("sgd", "adam", "adamw", "adamax", "nadam", "adagrad", "adabelief", "lamb", "lion", "rmsprop", "yogi", "radam",
                                                      "novograd", "fromage", "amsgrad")}
    results = {}
    for name, make in makers.items():
        tx = optax.MultiSteps(optax.chain(optax.clip_by_global_norm(1.0), make(0.05 if name == "fromage" else schedule)), every_k_schedule=2)
        p = {"w": jnp.ones((6, 4)) * 0.1, "b": jnp.zeros(4)}
        state = tx.init(p)

        @jax.jit
        def step(p, state):
            updates, state = tx.update(jax.grad(loss)(p), state, p)
            return optax.apply_updates(p, updates), state

        for _ in range(6):
            p, state = step(p, state)
        results[name] = (p, loss(p))
    return results


@script("optax")
def optax_searches():
    "L-BFGS with a line search, and losses"
    import jax
    import jax.numpy as jnp
    import optax

    rosenbrock = lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    tx = optax.lbfgs()
    x = jnp.zeros(4)
    state = tx.init(x)
    value_and_grad = optax.value_and_grad_from_state(rosenbrock)

    @jax.jit
    def step(x, state):
        value, gradient = value_and_grad(x, state=state)
        updates, state = tx.update(gradient, state, x, value=value, grad=gradient, value_fn=rosenbrock)
        return optax.apply_updates(x, updates), state

    for _ in range(40):
        x, state = step(x, state)
    logits, labels = jax.random.normal(jax.random.key(0), (7, 5)), jnp.array([0, 1, 4, 2, 2, 0, 3])
    ctc = optax.ctc_loss(jax.random.normal(jax.random.key(3), (2, 9, 5)), jnp.zeros((2, 9)), jnp.array([[1, 2, 2], [3, 1, 0]]), jnp.array([[0, 0, 0], [0, 0, 1.0]]))
    return (x, optax.softmax_cross_entropy_with_integer_labels(logits, labels), optax.huber_loss(logits), optax.sigmoid_focal_loss(logits, jax.nn.one_hot(labels, 5)), ctc,
            optax.hinge_loss(logits, jnp.sign(logits)), optax.kl_divergence(jax.nn.log_softmax(logits), jax.nn.softmax(logits[::-1])), optax.global_norm(logits))


@script("equinox")
def equinox_perceptron():
    "a perceptron trained with filtered transformations, saved and loaded"
    import io

    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import optax

    model = eqx.nn.MLP(3, 2, 16, 2, key=jax.random.key(0))
    tx = optax.adam(1e-2)
    state = tx.init(eqx.filter(model, eqx.is_inexact_array))
    x = jax.random.normal(jax.random.key(1), (12, 3))

    @eqx.filter_jit
    def step(model, state):
        loss = lambda model: ((jax.vmap(model)(x) - jnp.sin(x[:, :2])) ** 2).mean()
        value, gradients = eqx.filter_value_and_grad(loss)(model)
        updates, state = tx.update(gradients, state, eqx.filter(model, eqx.is_inexact_array))
        return eqx.apply_updates(model, updates), state, value

    losses = []
    for _ in range(6):
        model, state, value = step(model, state)
        losses.append(value)
    file = io.BytesIO()
    eqx.tree_serialise_leaves(file, model)
    file.seek(0)
    other = eqx.tree_deserialise_leaves(file, eqx.nn.MLP(3, 2, 16, 2, key=jax.random.key(9)))
    return losses, jax.vmap(other)(x)


@script("equinox")
def equinox_attention():
    "attention, a GRU in a scan, batch normalisation with state, and a bounded loop with gradients"
    import equinox as eqx
    import equinox.internal as eqxi
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.key(0), 3)
    attention = eqx.nn.MultiheadAttention(2, 8, key=keys[0])
    cell = eqx.nn.GRUCell(8, 6, key=keys[1])
    norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(6, axis_name="batch", mode="batch")
    x = jax.random.normal(keys[2], (5, 7, 8))

    @eqx.filter_jit
    def run(x, state):
        def one(x, state):
            y = attention(x, x, x, mask=jnp.tril(jnp.ones((7, 7), bool)))
            h, _ = jax.lax.scan(lambda h, r: (cell(r, h), None), jnp.zeros(6), y)
            return norm(h, state)

        return jax.vmap(one, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(x, state)

    y, state = run(x, state)
    looped = lambda v: eqxi.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, jnp.sin(s[1]) * 1.5), (0, v), max_steps=8, kind="checkpointed")[1].sum()
    return y, eqx.filter_grad(lambda x: (run(x, state)[0] ** 3).sum())(x), jax.jit(jax.grad(looped))(x[0]), jax.tree.leaves(eqx.filter(state, eqx.is_array))


@script("orbax-checkpoint", devices=4, tolerance=0)
def orbax_shardings():
    "arrays saved in one sharding and restored in another"
    import jax
    import jax.numpy as jnp
    import numpy as np
    import orbax.checkpoint as ocp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("d", "m"))
    place = lambda *axes: NamedSharding(mesh, P(*axes))
    tree = {"w": jax.device_put(jnp.arange(64.0).reshape(8, 8), place("d", "m")), "h": jax.device_put(jnp.arange(12, dtype=jnp.bfloat16), place("d")),
            "n": jnp.int32(7), "key": jax.random.key_data(jax.random.key(3))}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "saved"
        with ocp.StandardCheckpointer() as saver:
            saver.save(path, tree)
            saver.wait_until_finished()
            wanted = jax.tree.map(lambda v: jax.ShapeDtypeStruct(v.shape, v.dtype, sharding=place(*((None, "d")[:v.ndim]))), tree)
            got = saver.restore(path, wanted)
    assert got["w"].sharding.spec == P(None, "d"), got["w"].sharding
    return got, jax.jit(lambda w: w @ w)(got["w"])


@script("orbax-checkpoint")
def orbax_training():
    "training that goes on from a checkpoint, saved asynchronously"
    import jax
    import jax.numpy as jnp
    import optax
    import orbax.checkpoint as ocp

    tx = optax.adam(0.1)
    x = jax.random.normal(jax.random.key(0), (8, 3))

    @jax.jit
    def step(p, state):
        updates, state = tx.update(jax.grad(lambda p: ((x @ p - 1) ** 2).mean())(p), state)
        return optax.apply_updates(p, updates), state

    p = jnp.zeros(3)
    state = tx.init(p)
    with tempfile.TemporaryDirectory() as folder:
        with ocp.CheckpointManager(folder, options=ocp.CheckpointManagerOptions(max_to_keep=2)) as manager:
            for i in range(4):
                p, state = step(p, state)
                manager.save(i, args=ocp.args.StandardSave({"p": p, "state": state}))
            manager.wait_until_finished()
            steps = manager.all_steps()
            kept = manager.restore(3, args=ocp.args.StandardRestore({"p": p, "state": state}))
    q, more = step(kept["p"], kept["state"])
    p, state = step(p, state)
    assert jnp.array_equal(p, q) and list(steps) == [2, 3], (p, q, steps)
    return q, more


@script("numpyro", tolerance=0.25)
def numpyro_samples():
    "NUTS on eight schools: means of the posterior"
    import jax
    import jax.numpy as jnp
    import numpyro
    from numpyro import distributions as dist
    from numpyro.infer import MCMC, NUTS

    effects = jnp.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    errors = jnp.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    def schools():
        mu, tau = numpyro.sample("mu", dist.Normal(0, 5)), numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("schools", 8):
            theta = numpyro.sample("theta", dist.TransformedDistribution(dist.Normal(0, 1), dist.transforms.AffineTransform(mu, tau)))
            numpyro.sample("effects", dist.Normal(theta, errors), obs=effects)

    sampler = MCMC(NUTS(numpyro.handlers.reparam(schools, {"theta": numpyro.infer.reparam.TransformReparam()})), num_warmup=150, num_samples=250, progress_bar=False)
    sampler.run(jax.random.key(0))
    samples = sampler.get_samples()
    return {name: samples[name].mean(0) for name in ("mu", "theta")}


@script("numpyro")
def numpyro_variation():
    "variational inference of a regression, with a guide of normal distributions"
    import jax
    import jax.numpy as jnp
    import numpyro
    from numpyro import distributions as dist
    from numpyro.infer import SVI, Predictive, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal

    x = jax.random.normal(jax.random.key(0), (40, 3))
    y = x @ jnp.array([1.0, -2.0, 0.5]) + 0.3

    def model(x, y=None):
        w = numpyro.sample("w", dist.Normal(jnp.zeros(3), 1).to_event(1))
        b, noise = numpyro.sample("b", dist.Normal(0, 1)), numpyro.sample("noise", dist.Exponential(1))
        numpyro.sample("y", dist.Normal(x @ w + b, noise), obs=y)

    guide = AutoNormal(model)
    result = SVI(model, guide, numpyro.optim.Adam(0.02), Trace_ELBO()).run(jax.random.key(1), 60, x, y, progress_bar=False)
    drawn = Predictive(guide, params=result.params, num_samples=5)(jax.random.key(2), x)
    return result.losses, result.params, drawn["w"]


for torchax_script in torchax_scripts.SCRIPTS:
    script("torchax")(torchax_script)


def work(name, path):
    """In a process of its own: the script's arrays, to a file."""
    import jax
    import numpy as np

    jax.config.update("jax_default_matmul_precision", "highest")
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(SCRIPTS[name][0]())]
    np.savez(path, *[leaf.astype(np.float32) if leaf.dtype.kind == "V" or leaf.dtype.name == "bfloat16" else leaf for leaf in leaves])


def run(name, platform, folder, args):
    _, devices, _ = SCRIPTS[name]
    path = pathlib.Path(folder) / f"{platform}_{abs(hash(name))}.npz"
    environment = {**os.environ, "PYTHONPATH": str(args.build / "python"), "JAX_PLATFORMS": platform, "SYSTOLE_PRESET": args.preset, "SYSTOLE_REPORT": "1",
                   "SYSTOLE_DEVICES": str(devices), "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
    done = subprocess.run([sys.executable, __file__, "--work", name, str(path)], env=environment, capture_output=True, text=True, timeout=args.timeout, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith(("systole: ", "  ", "For simplicity"))]
        raise RuntimeError(f"ended with {done.returncode}: {lines[-1] if lines else ''}" + ("\n" + done.stderr[-6000:] if args.failures else ""))
    return path, done.stderr


def compare(name, args):
    """Why the platforms differ, or "", and how many operations ran on the host."""
    import numpy as np

    tolerance = SCRIPTS[name][2]
    with tempfile.TemporaryDirectory() as folder:
        try:
            here, report = run(name, "systole", folder, args)
            there, _ = run(name, "cpu", folder, args)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            return str(error), 0
        on_host = sum(map(int, re.findall(r"(\d+) operations on the host", report)))
        with np.load(here) as a, np.load(there) as b:
            if len(a.files) != len(b.files):
                return f"{len(a.files)} arrays instead of {len(b.files)}", on_host
            for file in a.files:
                got, want = a[file], b[file]
                if got.shape != want.shape or got.dtype != want.dtype:
                    return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}", on_host
                size = np.abs(want).max(initial=0)
                bound = args.tolerance if args.tolerance is not None else tolerance
                difference = np.abs(got.astype(np.float64) - want).max(initial=0)
                if not difference <= bound * size:
                    return f"an array of {list(got.shape)} differs by {difference:.2g}, its largest value is {size:.2g}", on_host
    return "", on_host


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--preset", default="minichip")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], metavar="PART,PART", help="names that hold one of these")
    parser.add_argument("--failures", action="store_true", help="what the scripts that fail wrote")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=1200, help="seconds a script")
    parser.add_argument("--tolerance", type=float, help="instead of the scripts' own")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        return work(*args.work)
    args.build = args.build.resolve()
    names = [name for name in SCRIPTS if not args.only or any(part in name for part in args.only)]
    if not names:
        raise SystemExit(f"no script's name holds one of {', '.join(args.only)}")
    passed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, (why, on_host) in zip(names, pool.map(lambda name: compare(name, args), names)):
            passed += not why
            print(f"{name}: {why or 'equal'}{f'; {on_host} operations on the host' if on_host else ''}", flush=True)
    print(f"{passed} of {len(names)} scripts")
    return int(passed < len(names))


if __name__ == "__main__":
    sys.exit(main())
