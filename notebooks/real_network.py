"""The data of notebooks 3 and 5, and how their networks are trained.

The data are the diamonds of ggplot2: the target is log₁₀ of the price, in levels here. A network has two hidden layers, a
bottleneck, and the outputs that its code needs. ``train`` gives their outputs for the test samples.

``python real_network.py`` writes what notebook 3 reads, in about six minutes of processor time: the errors of all networks,
03_networks.csv.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import torch
from plotnine.data import diamonds

import belsim
from belsim.torch import Head

LEVELS, RANGE = 64, (2.5, 4.3)  # the first level and the last one, in log10 dollars
WIDTH = (RANGE[1] - RANGE[0]) / (LEVELS - 1)  # of a level, in log10 dollars
THETA = 10  # units of the bottleneck
SEEDS = 5
EPOCHS, BATCH = 12, 256

CODES = ["unary", "johnson", "johnson-nonzero", "b1jdj", "b1jdj-nr", "b2jdj", "b2jdj-nr"]
CODES += ["hexj", "hexj-nr", "hadamard", "onehot", "gray", "binary"]
PAIRS = [(code, loss) for code in CODES for loss in ("BCE", "CE")]
PAIRS += [(code, loss) for code in ("unary", "johnson", "b2jdj", "hexj", "onehot") for loss in ("L1", "L2")]
BASELINES = [("direct", "L1"), ("direct", "L2"), ("multiclass", "CE")]

Matrices = Mapping[str, np.ndarray]
Outputs = dict[tuple[str, str, int], np.ndarray]

y = np.log10(diamonds["price"].to_numpy(dtype=np.float64))
in_levels = torch.tensor((y - RANGE[0]) / WIDTH, dtype=torch.float32)  # 0 … 63
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


def train(pairs: Iterable[tuple[str, str]], codes: Matrices, seeds: int = SEEDS) -> Outputs:
    """The outputs for the test samples by name, loss and seed. Names are those of ``codes``, or ``direct``, or ``multiclass``."""
    jobs = [(name, loss, codes.get(name), seeds) for name, loss in pairs]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        done = zip(jobs, pool.map(_train, jobs), strict=True)
        return {(name, loss, seed): z for (name, loss, _, _), outputs in done for seed, z in enumerate(outputs)}


def _train(job: tuple[str, str, np.ndarray | None, int]) -> np.ndarray:
    """The outputs for the test samples, of a network for each seed.

    The networks learn side by side: their weights are stacked, and their losses added up, which gives each its own gradient.
    """
    name, loss, code, seeds = job
    torch.set_num_threads(1)
    networks = []
    for seed in range(seeds):
        torch.manual_seed(seed)
        networks.append(network(name, code))
    one = networks[0]
    weights, buffers = torch.func.stack_module_state(networks)
    apply = torch.func.vmap(lambda w, b, x: torch.func.functional_call(one, (w, b), (x,)))
    mean_loss = loss_of(name, loss, code)
    orders = [np.random.default_rng(seed) for seed in range(seeds)]
    optimizer = torch.optim.Adam(list(weights.values()), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    steps = len(train_rows) // BATCH
    for _ in range(EPOCHS):
        shuffled = np.stack([rng.permutation(train_rows)[: steps * BATCH] for rng in orders])
        for rows in np.split(shuffled, steps, axis=1):
            z = apply(weights, buffers, features[rows])
            value = seeds * mean_loss(z.flatten(0, 1), in_levels[rows].flatten())  # each network's mean, added up
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
        schedule.step()
    with torch.no_grad():
        return apply(weights, buffers, features[test_rows].expand(seeds, -1, -1)).numpy()


def fit(name: str, outputs: np.ndarray) -> belsim.Fit:
    """What ``belsim.fit`` says of a network that was trained with BCE."""
    return belsim.fit(name, outputs, labels, levels=LEVELS, range=RANGE, kind="logits")


def errors(name: str, outputs: np.ndarray, code: np.ndarray | None) -> pd.DataFrame:
    """The mean errors of the test samples by each decoder, in levels: against the label, and against its level."""
    if name == "direct":
        found = {("", ""): outputs[:, 0]}
    elif code is None:  # multiclass, the expected level
        p = np.exp(outputs - outputs.max(1, keepdims=True))
        found = {("", ""): p @ np.arange(LEVELS) / p.sum(1)}
    else:
        bel = [("bel-" + name[0], "bits")] if name.startswith(("unary", "johnson")) else []
        decoders = [*bel, ("gen", "bits"), ("gen", "logits"), ("gen-ex", "logits")]
        found = {(decoder, reads): belsim.decode(outputs, code, decoder, reads=reads) for decoder, reads in decoders}
    level = belsim.quantize(labels, RANGE, LEVELS, outside="clip")
    return pd.DataFrame(
        {"decoder": decoder, "reads": reads, "error": np.abs(z - truth).mean(), "error_of_level": np.abs(z - level).mean()}
        for (decoder, reads), z in found.items()
    )


def independent(f: belsim.Fit, outputs: np.ndarray, code: np.ndarray, rows: pd.DataFrame) -> pd.DataFrame:
    """The errors of decoders if bits erred independently: with the fitted mixture, and with the rates that were observed."""
    level = belsim.quantize(labels, RANGE, LEVELS, outside="clip")
    count = np.bincount(level, minlength=LEVELS)
    wrong = np.zeros(code.shape)
    np.add.at(wrong, level, (outputs > 0) != code[level])
    rates = {"errors": wrong / np.maximum(count, 1)[:, None], "prior": count}
    found = []
    for reads, of in rows.groupby("reads"):
        scale = {"temperature": f.logit_scale} if "gen-ex" in set(of.decoder) else {}  # of logits, whose table has scale 1
        models: dict[str, Any] = {"independent": {"model": f}, "rates": {**rates, **scale}}
        for column, model in models.items():
            t = belsim.compare([f.code], levels=LEVELS, decoder=list(of.decoder), reads=reads, **model)
            found.append(pd.DataFrame({"decoder": t.decoder, "reads": reads, "model": column, "error": t.exact.fillna(t["mean"])}))
    return pd.concat(found).pivot_table("error", ["decoder", "reads"], "model").reset_index()


def measured(trained: Outputs, codes: Matrices) -> Iterator[pd.DataFrame]:
    """The errors of networks, beside what the model with independent bits predicts for those of codes and BCE."""
    for (name, loss, seed), z in trained.items():
        rows = errors(name, z, codes.get(name))
        if loss == "BCE":
            f = fit(name, z)
            rows = rows.merge(independent(f, z, codes[name], rows), "left", ["decoder", "reads"])
            rows = rows.assign(r=f.r, sigma=f.sigma)
        rows.insert(0, "seed", seed)
        rows.insert(0, "loss", loss)
        rows.insert(0, "code", name)
        yield rows


def interval(errors: Iterable[float]) -> str:
    """The mean over the seeds, and half of its 95 % interval."""
    values = np.asarray(list(errors))
    half = {5: 2.776, 3: 4.303}[len(values)] * values.std(ddof=1) / np.sqrt(len(values))  # Student's t
    return f"{values.mean():.3f} ± {half:.3f}"


def main() -> None:
    """Trains all networks, and writes the file."""
    codes = {name: belsim.code(name, LEVELS) for name in CODES}
    trained = train(PAIRS + BASELINES, codes)
    pd.concat(measured(trained, codes)).to_csv("03_networks.csv", index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
