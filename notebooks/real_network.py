"""The data of notebook 3, and how its networks are trained.

The data are the diamonds of ggplot2: the target is log₁₀ of the price, in levels here. A network has two hidden layers, a
bottleneck, and the outputs that its code needs. ``train`` gives their outputs for the test samples.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import torch
from plotnine.data import diamonds

from belsim.torch import Head

LEVELS, RANGE = 64, (2.5, 4.3)  # the first level and the last one, in log10 dollars
THETA = 10  # units of the bottleneck
SEEDS = 5
EPOCHS, BATCH = 12, 256

Matrices = Mapping[str, np.ndarray]

y = np.log10(diamonds["price"].to_numpy(dtype=np.float64))
in_levels = torch.tensor((y - RANGE[0]) / (RANGE[1] - RANGE[0]) * (LEVELS - 1), dtype=torch.float32)  # 0 … 63
order = np.random.default_rng(0).permutation(len(y))
train_rows, test_rows = order[:20_000], order[20_000:30_000]


def _features() -> torch.Tensor:
    """Weight and measures, standardized by the training samples, and the classes one-hot."""
    numbers = diamonds[["carat", "depth", "table", "x", "y", "z"]].to_numpy(dtype=np.float64)
    classes = [np.eye(len(c.cat.categories))[c.cat.codes] for c in (diamonds["cut"], diamonds["color"], diamonds["clarity"])]
    mean, std = numbers[train_rows].mean(0), numbers[train_rows].std(0)
    return torch.tensor(np.hstack([(numbers - mean) / std, *classes]), dtype=torch.float32)


features = _features()
labels = y[test_rows]  # of the test samples, in log10 dollars
truth = in_levels[test_rows].numpy()  # the same in levels, which lie between two levels


def network(name: str, code: np.ndarray | None) -> torch.nn.Module:
    """Layers, bottleneck and outputs, with PyTorch's own initial weights."""
    layers = [torch.nn.Linear(features.shape[1], 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU()]
    outputs = {"direct": 1, "multiclass": LEVELS}[name] if code is None else code.shape[1]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(64, THETA), torch.nn.Linear(THETA, outputs))
    if name == "direct":
        torch.nn.init.constant_(model[-1].bias, LEVELS / 2)
    return model


def loss_of(name: str, loss: str, code: np.ndarray | None) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The loss of outputs (N, M) for targets (N,) in levels, 0 to 63, which may lie between two levels."""
    if code is not None:
        return Head(loss.lower(), LEVELS, code=code).loss
    if name == "multiclass":
        return lambda z, exact: torch.nn.functional.cross_entropy(z, exact.round().long())
    of = torch.nn.functional.l1_loss if loss == "L1" else torch.nn.functional.mse_loss
    return lambda z, exact: of(z[:, 0], exact)


def train(pairs: Iterable[tuple[str, str]], codes: Matrices) -> dict[tuple[str, str, int], np.ndarray]:
    """The outputs for the test samples by name, loss and seed. Names are those of ``codes``, or ``direct``, or ``multiclass``."""
    jobs = [(name, loss, codes.get(name)) for name, loss in pairs]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        done = zip(jobs, pool.map(_train, jobs), strict=True)
        return {(name, loss, seed): z for (name, loss, _), outputs in done for seed, z in enumerate(outputs)}


def _train(job: tuple[str, str, np.ndarray | None]) -> np.ndarray:
    """The outputs for the test samples, of a network for each seed.

    The networks learn side by side: their weights are stacked, and their losses added up, which gives each its own gradient.
    """
    name, loss, code = job
    torch.set_num_threads(1)
    networks = []
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        networks.append(network(name, code))
    one = networks[0]
    weights, buffers = torch.func.stack_module_state(networks)
    apply = torch.func.vmap(lambda w, b, x: torch.func.functional_call(one, (w, b), (x,)))
    mean_loss = loss_of(name, loss, code)
    orders = [np.random.default_rng(seed) for seed in range(SEEDS)]
    optimizer = torch.optim.Adam(list(weights.values()), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    steps = len(train_rows) // BATCH
    for _ in range(EPOCHS):
        shuffled = np.stack([rng.permutation(train_rows)[: steps * BATCH] for rng in orders])
        for rows in np.split(shuffled, steps, axis=1):
            z = apply(weights, buffers, features[rows])
            value = SEEDS * mean_loss(z.flatten(0, 1), in_levels[rows].flatten())  # each network's mean, added up
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
        schedule.step()
    with torch.no_grad():
        return apply(weights, buffers, features[test_rows].expand(SEEDS, -1, -1)).numpy()


def interval(errors: Iterable[float]) -> tuple[float, float]:
    """The mean of the five seeds, and half of its 95 % interval."""
    values = np.asarray(list(errors))
    return values.mean(), 2.776 * values.std(ddof=1) / np.sqrt(len(values))  # t of 4 degrees of freedom
