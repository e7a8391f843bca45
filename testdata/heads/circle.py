"""Trains the same network with different heads on two tasks with angles, and writes and prints their errors.

Angles are from 0 to 360 degrees, and errors the shorter way round, in degrees. The tasks need no download:

    digits   the 8 × 8 digits of scikit-learn, each turned by a random angle; test digits are others than those of training
    blobs    16 × 16 images of a large and a small blob in a direction, off the middle, under noise

All heads of a task have the same two hidden layers, batches, epochs and learning rate: nothing is chosen for one of them.

    pip install torch scikit-learn scipy belsim
    python circle.py           # writes circle.csv; some minutes of two cores
    python circle.py --table   # prints it

The heads are those of belsim.torch.Head(..., circular=True), read by the mean. sine and cosine is regression of both, with
the squared error; l1 is regression of the angle, on the line from 0 to 360 and on the circle.
"""

import argparse
import csv
import pathlib

import numpy as np
import torch
from belsim.torch import Head
from scipy import ndimage
from sklearn.datasets import load_digits
from torch import nn

LEVELS, SEEDS, RATE, EPOCHS, BATCH = 64, (0, 1), 3e-3, 15, 256
OUT = pathlib.Path(__file__).with_name("circle.csv")
FIELDS = ("task", "head", "code", "outputs", "seed", "error", "error_stderr")


def digits(rng):
    """Images and angles of training and test samples."""
    images = load_digits().images / 16
    images = images[rng.permutation(len(images))]
    parts = []
    for part, times in ((images[:1200], 8), (images[1200:], 4)):
        angles = rng.uniform(0, 360, len(part) * times)
        x = [ndimage.rotate(i, a, reshape=False, order=1) for i, a in zip(np.tile(part, (times, 1, 1)), angles)]
        parts.append((np.array(x).reshape(len(x), -1), angles))
    return parts


def blobs(rng):
    """The same for blobs."""
    parts = []
    for n in (9600, 2400):
        angles, size = rng.uniform(0, 360, n), 16
        u = np.stack((np.cos(np.radians(angles)), np.sin(np.radians(angles))), 1)
        middle = rng.uniform(-2, 2, (n, 2)) + (size - 1) / 2
        grid = np.stack(np.meshgrid(np.arange(size), np.arange(size)), -1)[None]

        def blob(at, width):
            return np.exp(-((grid - at[:, None, None]) ** 2).sum(-1) / 2 / width**2)

        x = blob(middle + 2.5 * u, 2.0) + blob(middle - 2.5 * u, 1.3) + 0.2 * rng.standard_normal((n, size, size))
        parts.append((x.reshape(n, -1), angles))
    return parts


class SineCosine(nn.Module):
    """Regression of the sine and the cosine."""

    outputs = 2

    def loss(self, z, y):
        u = torch.stack((y.deg2rad().cos(), y.deg2rad().sin()), -1).float()
        return nn.functional.mse_loss(z, u)

    def decode(self, z):
        return torch.atan2(z[:, 1], z[:, 0]).rad2deg() % 360


def heads():
    """Each head with its name and code."""
    ends = {"range": (0, 360), "circular": True}
    yield "sine and cosine", "", SineCosine()
    yield "l1, line", "", Head("l1", LEVELS, range=(0, 360))
    yield "l1, circle", "", Head("l1", LEVELS, **ends)
    for kind, code in (("ce", "johnson"), ("soft", "johnson"), ("bce", "johnson"), ("ce", "unary"), ("ce", "onehot"), ("soft", "onehot")):
        yield kind, code, Head(kind, LEVELS, code=code, **ends)


def away(found, y):
    return ((found.double() - y + 180) % 360 - 180).abs()


def train(head, parts, seed):
    """The errors of the test samples."""
    torch.manual_seed(seed)
    (x, y), (held, angles) = parts
    net = nn.Sequential(nn.Linear(x.shape[1], 192), nn.ReLU(), nn.Linear(192, 192), nn.ReLU(), nn.Linear(192, head.outputs))
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    steps = EPOCHS * (len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(BATCH):
            if len(batch) == BATCH:
                optimizer.zero_grad()
                head.loss(net(x[batch]), y[batch]).backward()
                optimizer.step()
                schedule.step()
    with torch.no_grad():
        return away(head.decode(net(held)), angles)


def run():
    rows = []
    for task, make in (("digits", digits), ("blobs", blobs)):
        data = {}
        for seed in SEEDS:
            parts = make(np.random.default_rng(seed))
            mean, std = parts[0][0].mean(), parts[0][0].std()
            data[seed] = [(torch.tensor((x - mean) / std).float(), torch.tensor(y)) for x, y in parts]
        for name, code, head in heads():
            for seed in SEEDS:
                off = train(head, data[seed], seed)
                rows.append((task, name, code, head.outputs, seed, f"{off.mean():.5g}", f"{off.std() / len(off) ** 0.5:.2g}"))
                print(*rows[-1], flush=True)
    with OUT.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows])


def table():
    with OUT.open() as file:
        rows = list(csv.DictReader(file))
    print("| head | outputs | digits | blobs |\n| --- | --- | --- | --- |")
    for name, code in dict.fromkeys((r["head"], r["code"]) for r in rows):
        cells = []
        for task in ("digits", "blobs"):
            own = [r for r in rows if (r["head"], r["code"], r["task"]) == (name, code, task)]
            cells.append(" and ".join(f"{float(r['error']):.3g}" for r in own))
        print(f"| {f'{code}, {name}' if code else name} | {own[0]['outputs']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print circle.csv")
    if not parser.parse_args().table:
        torch.set_num_threads(1)
        run()
    table()
