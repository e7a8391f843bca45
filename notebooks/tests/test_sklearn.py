"""belsim.sklearn: the estimator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import belsim

pytest.importorskip("sklearn")

from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from belsim.sklearn import BELRegressor


def test_estimator() -> None:
    """scikit-learn's own checks; an MLP, and a classifier for each bit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(BELRegressor(levels=16, random_state=1))
        check_estimator(BELRegressor(LogisticRegression(), code="unary", levels=8, decoder="auto"))


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(
    ("classifier", "code", "decoder"),
    [
        (None, "johnson", "gen-ex"),
        (MLPClassifier((30,), max_iter=500, random_state=1), "gray", "gen"),
        (DecisionTreeClassifier(max_depth=6), "b1jdj", "gen"),
        (RidgeClassifier(), "unary", "bel-u"),
        (Perceptron(), "unary", "bel-u"),
    ],
)
def test_regression(classifier: Any, code: str, decoder: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (600, 2))
    y = 3 * x[:, 0] + x[:, 1]
    model = BELRegressor(classifier, code=code, levels=16, decoder=decoder, random_state=1).fit(x[:400], y[:400])
    assert model.score(x[400:], y[400:]) > 0.8
    assert model.outputs(x).shape == (600, belsim.code(code, 16).shape[1])
    predicted = model.predict(x)
    assert y[:400].min() <= predicted.min() < predicted.max() <= y[:400].max()


def test_no_logits() -> None:
    with pytest.raises(belsim.Error, match="want a classifier with predict_proba or decision_function"):
        BELRegressor(LinearRegression())
    with pytest.raises(belsim.Error, match="want a classifier with predict_proba or decision_function"):
        BELRegressor().set_params(classifier=LinearRegression()).fit([[0.0], [1.0]], [0.0, 1.0])


def test_constant_bits_and_labels() -> None:
    x = np.arange(20.0)[:, None]
    assert BELRegressor(LogisticRegression(), levels=4).fit(x, np.full(20, 7.0)).predict([[3.0]]) == pytest.approx([7.0])
    few = BELRegressor(LogisticRegression(), code="unary", levels=8, range=(0, 70), decoder="bel-u")
    few.fit(x, np.where(x[:, 0] < 10, 0.0, 20.0))
    assert (few.constant_ >= 0).sum() == 5
    assert set(few.predict(x)) == {0.0, 20.0}


def test_intervals() -> None:
    """Intervals hold new labels, within five standard deviations, and what predict says; without calibration they are refused."""
    rng = np.random.default_rng(46)
    x = rng.uniform(size=(3000, 1))
    y = x[:, 0] + 0.1 * x[:, 0] * rng.normal(size=3000)
    model = BELRegressor(LogisticRegression(C=1000), code="unary", levels=16).fit(x[:1000], y[:1000])
    with pytest.raises(belsim.Error, match=r"call calibrate\(X, y\)"):
        model.predict_interval(x)
    before = model.predict(x[2000:])
    lower, upper = model.calibrate(x[1000:2000], y[1000:2000]).predict_interval(x[2000:], confidence=0.8).T
    inside = (lower <= y[2000:]) & (y[2000:] <= upper)
    assert abs(inside.mean() - 0.8) < 5 * np.sqrt(0.16 * 2 / 1000)
    labels = model.predict(x[2000:])
    assert ((lower <= labels) & (labels <= upper)).all()
    np.testing.assert_array_equal(model.fit(x[:1000], y[:1000]).predict(x[2000:]), before)
