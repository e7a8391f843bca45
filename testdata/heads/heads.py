"""Trains the same networks with different heads on eight tasks, and writes their errors: heads.csv, of which tables.py has the columns.

All heads of a task have the same layers, the same batches, the same number of epochs (data.py), and the same choice of three
learning rates: the one with the smallest error of 15 % of the training samples, which no network is trained with.

    mkdir codes
    for code in unary johnson b1jdj hexj onehot; do belsim codes $code --levels 64 -o codes/$code-64.npy; done
    python heads.py --codes codes    # trains what heads.csv lacks

The heads:

    l1, huber, l2   one output; regression of the label. Huber's loss is quadratic up to one level
    ce              softmax(Z Cᵀ) over the levels, cross-entropy against the nearest level. Of onehot it is softmax
    soft            the same, against a Gaussian of σ levels around the real label. Of onehot it is HL-Gauss
    bce             binary cross-entropy of each bit of the nearest level
    l1, l2 of a code  the error of its mean, softmax(Z Cᵀ)·n, in the place of one output: training through gen-ex
    corn            63 conditional probabilities of the next level (Shi, Cao and Raschka 2023)
"""

import argparse
import csv
import functools
import os
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import data as datasets

HERE = os.path.dirname(os.path.abspath(__file__))

LEVELS = 64
CODES = ("unary", "johnson", "b1jdj", "hexj", "onehot")
GRID = (1 / 3, 1, 3)  # times the learning rate of the task. Where the largest is the best, three times as much is tried
LARGEST = 27
GRIDS = dict.fromkeys(("pose/cnn/64", "horizon/cnn/64"), (3, 9))  # no more, to save time
VALIDATION = 0.15  # of the training samples
STACK = {"mlp": 33, "mlp-long": 26, "wide": 13, "conv-long": 21, "cnn": 11, "cnn20": 14, "cnn40": 11}  # networks that are trained together

# The scale of a task's errors in levels: σ = s.
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
# ---- Targets and losses of a stack of networks.


def gaussian(y, sigma):
    """A Gaussian around each label, as the probability of the bins of one level, within the range: HL-Gauss."""
    edges = torch.arange(LEVELS + 1, dtype=torch.float64) - 0.5
    cdf = torch.special.ndtr((edges - torch.tensor(y)[:, None]) / sigma)
    return ((cdf[:, 1:] - cdf[:, :-1]) / (cdf[:, -1:] - cdf[:, :1])).float()


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
        matrices = []
        for i, (head, code, sigma) in enumerate(heads):
            family = ("genex" if code else "direct") if head in ("l1", "l2", "huber") else head
            family = "ce" if family == "soft" else family
            self.kinds[family].append(i)
            if family in ("ce", "bce", "genex"):
                c = torch.zeros(LEVELS, self.width)
                c[:, : self.widths[i]] = codes[code]
                matrices.append(c)
                if sigma not in self.tables:
                    s = SCALE[task] if sigma == "s" else float(sigma or 0)
                    self.tables[sigma] = gaussian(y, s) if s else onehot[level]
            else:
                matrices.append(None)
            self.targets.append(sigma)
        self.code = {f: torch.stack([matrices[i] for i in self.kinds[f]]) for f in ("ce", "bce", "genex") if self.kinds[f]}

    def target(self, family, batch):
        rows = {s: t[batch] for s, t in self.tables.items()}
        return torch.stack([rows[self.targets[i]] for i in self.kinds[family]])

    def __call__(self, z, batch):
        """The sum of the losses of all networks: their parameters have nothing in common."""
        total = 0
        if self.kinds["ce"]:
            scores = torch.bmm(z[self.kinds["ce"]], self.code["ce"].transpose(1, 2))
            p = self.target("ce", batch)
            total = total - (p * torch.log_softmax(scores, -1)).sum() / len(batch)
        if self.kinds["bce"]:
            bits = torch.bmm(self.target("bce", batch), self.code["bce"])
            loss = torch.nn.functional.binary_cross_entropy_with_logits(z[self.kinds["bce"]], bits, reduction="none")
            widths = torch.tensor([self.widths[i] for i in self.kinds["bce"]])[:, None, None]
            real = torch.arange(self.width) < widths  # not those that pad
            total = total + (loss * real / widths).sum() / len(batch)
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
            if isinstance(layer, datasets.Convolution):
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


def fit(task, heads, rates, codes, seed):
    """Trains a stack of networks. Returns the outputs of each for the samples of validation and of the test."""
    architecture, epochs, usual = datasets.TASKS[task]
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

    step = 0
    for epoch in range(epochs):
        now = [r * 0.5 * (1 + np.cos(np.pi * epoch / epochs)) for r in rate]
        for batch in torch.tensor(rng.permutation(trained)).split(datasets.BATCH):
            each = (batch[:, None] * len(labels) + labels).flatten()
            grads = torch.autograd.grad(losses(run(batch), each), every)
            step += 1
            adam(every, grads, moments, now, step)
    return [outputs_of(validated), outputs_of(tested)], losses, (y[validated], y[tested])


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
    x, y, trained, tested = datasets.load(task.split("/")[0])
    inputs = x.shape[1]
    if "conv" in task:
        x = pieces(x, 3, 1, 0, 3)
    elif "cnn" in task:
        x = pieces(x, 5, 2, 2, 5)
    return x, y * (LEVELS - 1), trained, tested, inputs


# ---- Reading the outputs.


def read(head, z, code):
    """The answers in levels of what reads the outputs, by its column. The first one is the head's own.

    A level's share is spread over its bin for the median. gen_bits has the prediction of direct regression, and CORN's rank.
    """
    if direct(head):
        return {"gen_bits": z}
    z = z.astype(np.float64)
    if head[0] == "corn":
        passed = np.cumprod(1 / (1 + np.exp(-z)), -1)
        return {"gen_bits": (passed > 0.5).sum(-1), "gen_ex": passed.sum(-1)}
    c, n = code.numpy().astype(float), np.arange(LEVELS)
    scores = z @ c.T
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    before = p.cumsum(-1) - p
    at = ((before + p) >= 0.5).argmax(-1)[..., None]
    median = at - 0.5 + (0.5 - np.take_along_axis(before, at, -1)) / np.take_along_axis(p, at, -1)
    gen = [(v @ (2 * c - 1).T).argmax(-1) for v in (2.0 * (z > 0) - 1, z)]
    return {"gen_ex": p @ n, "median": median[..., 0], "gen_bits": gen[0], "gen": gen[1]}


def errors(predicted, y):
    return np.abs(np.clip(predicted, 0, LEVELS - 1) - y)


# ---- The table.

KEY = ["data", "architecture", "levels", "code", "training", "sigma", "seed"]
READ = ["gen_bits", "gen", "gen_ex"]
COLUMNS = [*KEY, "rate", "samples", *READ, *(c + "_label" for c in READ), "median_label", "wrong"]


def key(task, head, seed):
    """What names a network in the table."""
    training, code, sigma = head
    if not code:
        code, training = ("corn", "bce") if training == "corn" else ("direct", training)
    return (*task.split("/"), code, training, sigma, str(seed))


def measured(task, head, seed, rate, z, y, code):
    """The row of a network: of its outputs z for test samples with the labels y, in levels from 0."""
    level, row = np.rint(y), dict(zip(KEY, key(task, head, seed))) | {"rate": f"{rate:.3g}", "samples": len(y)}
    for column, answer in read(head, z, code).items():
        near = np.rint(answer) if direct(head) else answer
        row |= {column: f"{errors(near, level).mean():.5g}", column + "_label": f"{errors(answer, y).mean():.5g}"}
    if head[0] == "bce":
        bits, c = np.abs(np.diff(code.numpy(), axis=0)).sum(0), code.numpy()[level.astype(int)] > 0
        wrong = ((z > 0) != c).reshape(-1, c.shape[-1]).mean(0)
        row["wrong"] = " ".join(f"{t:.0f}:{wrong[bits == t].mean():.4g}" for t in np.unique(bits))
    return [row.get(c, "") for c in COLUMNS]


def rows(path):
    """The rates of the networks that a table has, by their keys."""
    if not os.path.exists(path):
        return {}
    with open(path, newline="", encoding="utf-8") as f:
        return {tuple(r[k] for k in KEY): float(r["rate"]) for r in csv.DictReader(f)}


def append(path):
    """A writer of rows at the end of a table, and its file."""
    new, f = not os.path.exists(path), open(path, "a", newline="", encoding="utf-8")
    out = csv.writer(f, lineterminator="\n")
    if new:
        out.writerow(COLUMNS)
    return out, f


def search(task, wanted, seed, codes):
    """Trains heads with rates, (head, rate) each, and returns what the best rate in validation gave for each head.

    That is its validation error, the rate, and the test's outputs.
    """
    best, size = {}, STACK[task.split("/")[1]]
    for i in range(0, len(wanted), size):
        part, begun = wanted[i : i + size], time.process_time()
        found, losses, (yv, yt) = fit(task, [h for h, _ in part], [r for _, r in part], codes, seed)
        for (h, r), width, *zs in zip(part, losses.widths, *found):
            valid, z = (z[:, 0] * losses.std + losses.mean if direct(h) else z[:, :width] for z in zs)
            own = next(iter(read(h, valid, codes.get(h[1])).values()))
            error = np.nan_to_num(errors(own, yv.ravel()).mean(), nan=np.inf)
            if h not in best or error < best[h][0]:
                best[h] = error, r, z.reshape(*yt.shape, *z.shape[1:])
        print(task, seed, len(part), f"{time.process_time() - begun:.1f} s", flush=True)
    return best, yt


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--codes", default="codes", help="folder with NAME-64.npy")
    p.add_argument("--tasks", default=",".join(SCALE))
    p.add_argument("--upto", type=int, help="so many steps of the plan, which begins with seed 0 of the first heads")
    p.add_argument("-o", default=os.path.join(HERE, "heads.csv"), help="table of errors; rows are added")
    a = p.parse_args()
    torch.set_num_threads(1)  # several processes are faster than several threads, for networks of this size
    codes = {c: torch.tensor(np.load(f"{a.codes}/{c}-{LEVELS}.npy")).float() for c in CODES}
    done = rows(a.o)
    out, file = append(a.o)
    for heads, seed in [(heads, seed) for heads in (FIRST, MORE) for seed in (0, 1, 2)][: a.upto]:
        for task in a.tasks.split(","):
            todo = [h for h in heads if key(task, h, seed) not in done]
            if not todo:
                continue
            if heads is MORE:  # the rate of the same code with soft targets, σ = 0.75
                rates = {h: [done[key(task, ("soft", h[1], "0.75"), 0)]] for h in todo}
            else:
                rates = {h: GRIDS.get(task, GRID) if seed == 0 else [done[key(task, h, 0)]] for h in todo}
            best, y = search(task, [(h, r) for h in todo for r in rates[h]], seed, codes)
            edge = max(GRID)
            while heads is FIRST and seed == 0 and task not in GRIDS and edge < LARGEST:
                more = [(h, 3 * edge) for h, b in best.items() if b[1] == edge]
                edge *= 3
                for h, b in (search(task, more, seed, codes)[0] if more else {}).items():
                    best[h] = min(best[h], b, key=lambda x: x[0])
            for h, (_, rate, z) in best.items():
                out.writerow(measured(task, h, seed, rate, z, y, codes.get(h[1])))
                done[key(task, h, seed)] = rate
            file.flush()


if __name__ == "__main__":
    main()
