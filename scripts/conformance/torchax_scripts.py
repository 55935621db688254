# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Scripts of torchax for jax_libraries.py. Each also compares what it gets with PyTorch on the CPU."""


def near(got, wanted, tolerance=1e-3):
    """Ends the script if the arrays are not those of PyTorch on the CPU."""
    import numpy as np

    for ours, theirs in zip(got, wanted, strict=True):
        difference, size = np.abs(np.asarray(ours) - np.asarray(theirs)).max(), np.abs(theirs).max()
        if not difference <= tolerance * size:
            raise ValueError(f"PyTorch's result differs by {difference:.2g}, its largest value is {size:.2g}")


def torchax_inference():
    "a convolutional classifier and attention in eager mode, against PyTorch"
    import torch
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 12, 3, groups=4), nn.GELU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, 5), nn.Softmax(1),
    ).eval()  # fmt: skip
    x, q = torch.randn(4, 3, 8, 8), torch.randn(2, 4, 7, 16)
    attend = lambda q: nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)
    with torch.no_grad():
        wanted = [net(x).numpy(), attend(q).numpy()]
    import torchax  # takes autograd away from tensors of the CPU

    torchax.enable_globally()
    with torch.no_grad():
        got = [net.to("jax")(x.to("jax")).jax(), attend(q.to("jax")).jax()]
    near(got, wanted)
    return got


def torchax_training():
    "a Transformer layer trained with optax in jit, against PyTorch's SGD"
    import copy

    import numpy as np
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.out = nn.Embedding(11, 16), nn.Linear(16, 11)
            self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)

        def forward(self, tokens):
            return self.out(self.layer(self.embed(tokens)))

    torch.manual_seed(0)
    model = Model()
    other = copy.deepcopy(model)
    tokens = torch.randint(0, 11, (8, 7))
    labels = torch.roll(tokens, 1, 1)
    loss_of = lambda logits, labels: nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = loss_of(model(tokens), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    wanted = [np.array(losses), *(parameter.detach().numpy().copy() for parameter in model.parameters())]

    import optax
    import torchax
    from torchax import interop
    from torchax.train import make_train_step

    with torchax.default_env():
        module = interop.JittableModule(other.to("jax"))
        tx = optax.sgd(0.1, momentum=0.9)
        step = interop.jax_jit(make_train_step(lambda weights, buffers, x: module.functional_call("forward", weights, buffers, x), loss_of, tx))
        weights, losses = module.params, []
        state = interop.call_jax(tx.init, weights)
        for _ in range(4):
            loss, weights, state = step(weights, module.buffers, state, tokens.to("jax"), labels.to("jax"))
            losses.append(loss.jax())
        got = [np.array(losses), *(weights[name].jax() for name, _ in model.named_parameters())]
    near(got, wanted)
    return got


SCRIPTS = (torchax_inference, torchax_training)
