"""Trains many small networks that nothing is wrong with, for TestSound: NUMBER-CODE-LOSS-LEVELS.npz.

    pip install torch numpy scikit-learn
    python sound.py FOLDER [FROM TO]

Each has a task, noise, levels, code, loss and training time of its own, drawn by its number: 300 to 3,000 training samples
(diabetes has 242), 5 to 120 epochs. It was not trained on the 200 to 800 samples that are written: targets, outputs (logits,
or the predictions of direct regression) and the range. `belsim` must be on the path: it writes the codes.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_diabetes, load_digits
from torch import nn
from torch.nn import functional

HEADS = [  # code, loss
    ("softmax", "ce"), ("hl-gauss", "soft"), ("softmax", "l1"), ("unary", "bce"), ("unary", "l1"),
    ("johnson", "bce"), ("johnson", "ce"), ("direct", "l1"),
]  # fmt: skip


def synthetic(rng):
    """A random smooth function of some features, with noise of some shape, perhaps skewed by an exponential."""
    n, d = int(rng.integers(500, 3800)), int(rng.integers(3, 12))
    x = rng.normal(size=(n, d))
    f = np.sin(x @ rng.normal(size=(d, 8)) / np.sqrt(d) * 1.5 + rng.uniform(0, 6, 8)) @ rng.normal(size=8)
    noise = [rng.normal(size=n), rng.exponential(size=n), rng.standard_t(2.5, n), rng.gamma(0.5, size=n)][rng.integers(4)]
    if rng.random() < 0.4:
        noise = noise * np.exp(0.7 * x[:, 0])  # of another size elsewhere
    y = f + rng.uniform(0.02, 0.8) * f.std() * noise
    if rng.random() < 0.3:
        y = np.exp(y / y.std())
    return x, y


def diabetes(rng):
    x, y = load_diabetes(return_X_y=True)
    return x, y


def digits(rng):
    """The share of the ink of an image of a digit that is in its upper half; the pixels have noise."""
    x = load_digits().data
    upper = x[:, :32].sum(1) / x.sum(1)
    return x + rng.normal(0, 2, x.shape), upper


def words(code, levels, folder):
    if code in ("softmax", "hl-gauss"):
        return np.eye(levels)
    path = Path(folder) / f"code-{code}-{levels}.npy"
    if not path.exists():
        subprocess.run(["belsim", "codes", code, "--levels", str(levels), "-o", str(path)], check=True, capture_output=True)
    return np.load(path)


def make(number, folder):
    rng = np.random.default_rng(number)
    torch.manual_seed(number)
    x, y = (synthetic, synthetic, synthetic, synthetic, diabetes, digits)[rng.integers(6)](rng)
    code, loss = HEADS[number // 2 % len(HEADS)]  # so that odd and even numbers have the same
    levels = int(rng.choice([8, 10, 16, 24, 32, 48, 64, 100, 128]))
    tail = rng.choice([0, 0.005, 0.02])  # beyond each end of the range, which clips it
    lo, hi = np.quantile(y, [tail, 1 - tail])
    y = np.clip(y, lo, hi)
    order = rng.permutation(len(y))
    few, many = (200, 201) if len(y) < 500 else (300, max(301, min(800, len(y) // 2)))
    kept = order[: int(rng.integers(few, many))]
    order = order[len(kept) :][:3000]
    x = torch.tensor((x - x[order].mean(0)) / (x[order].std(0) + 1e-9), dtype=torch.float32)
    place = torch.tensor((y - lo) / (hi - lo) * (levels - 1), dtype=torch.float32)
    level = place.round().long()
    edges = torch.arange(levels + 1) - 0.5
    cdf = torch.special.ndtr((edges - place[:, None]) / 0.75)
    soft = (cdf[:, 1:] - cdf[:, :-1]) / (cdf[:, -1:] - cdf[:, :1])
    of = None if code == "direct" else torch.tensor(words(code, levels, folder), dtype=torch.float32)
    hidden, epochs, batch = int(rng.choice([16, 32, 64])), int(rng.choice([5, 15, 40, 120])), int(rng.choice([32, 128]))
    m = 1 if of is None else of.shape[1]
    model = nn.Sequential(nn.Linear(x.shape[1], hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, m))
    optimizer = torch.optim.Adam(model.parameters(), lr=float(rng.choice([1e-3, 4e-3])), weight_decay=1e-5)
    numbers = torch.arange(levels, dtype=torch.float32)
    for _ in range(epochs):
        shuffled = torch.tensor(rng.permutation(order))
        for at in shuffled.split(batch):
            z = model(x[at])
            if of is None:
                value = (z[:, 0] - place[at] / levels).abs().mean()
            elif loss == "bce":
                value = functional.binary_cross_entropy_with_logits(z, of[level[at]])
            elif loss == "l1":
                value = (torch.softmax(z @ of.T, 1) @ numbers - place[at]).abs().mean() / levels
            else:
                value = functional.cross_entropy(z @ of.T, soft[at] if loss == "soft" else level[at])
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
    with torch.no_grad():
        z = model(x[torch.tensor(kept)]).numpy()
    if of is None:
        z = z * levels / (levels - 1) * (hi - lo) + lo
    np.savez(f"{folder}/{number:03}-{code}-{loss}-{levels}.npz", targets=y[kept], outputs=z, range=[lo, hi])


if __name__ == "__main__":
    torch.set_num_threads(1)
    Path(sys.argv[1]).mkdir(exist_ok=True)
    for number in range(*map(int, sys.argv[2:])) if sys.argv[2:] else range(150):
        make(number, sys.argv[1])
