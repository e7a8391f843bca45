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
        near = {
            f"check_sample_weight_equivalence_on_{of}_data": "LogisticRegression stops near its optimum" for of in ("dense", "sparse")
        }
        near["check_regressors_no_decision_function"] = "the probabilities of the levels are what predict_proba gives"
        check_estimator(BELRegressor(levels=16), expected_failed_checks=near)
        check_estimator(BELRegressor(LogisticRegression(), code="unary", levels=8, decoder="auto"), expected_failed_checks=near)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(
    ("classifier", "code", "decoder"),
    [
        (None, "unary", "gen-ex"),
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
    model = BELRegressor(classifier, code=code, levels=16, decoder=decoder).fit(x[:400], y[:400])
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
    assert BELRegressor(LogisticRegression(), code="johnson", levels=4).fit(x, np.full(20, 7.0)).predict([[3.0]]) == pytest.approx(
        [7.0]
    )
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


def test_default() -> None:
    """The estimator learns as it is, whatever the units of the features, as logistic regression of scaled ones does."""
    from sklearn.datasets import load_diabetes

    for scaled in (True, False):
        x, y = load_diabetes(return_X_y=True, scaled=scaled)
        assert BELRegressor(levels=16).fit(x[:300], y[:300]).score(x[300:], y[300:]) > 0.4


def test_weights() -> None:
    """A sample of weight 0 is as none; a classifier without weights refuses them; masked labels are refused."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(120, 2)), rng.normal(size=120)
    w = np.where(np.arange(120) < 80, 1.0, 0.0)
    for classifier in (None, LogisticRegression()):
        model = BELRegressor(classifier, levels=8)
        if classifier is None:
            np.testing.assert_array_equal(model.fit(x, y, w).predict(x), model.fit(x[:80], y[:80], w[:80]).predict(x))
        times = rng.integers(0, 3, 120)
        twice = np.repeat(np.arange(120), times)
        a, b = (BELRegressor(classifier, levels=8, decoder="gen-ex").fit(*of) for of in ((x, y, times), (x[twice], y[twice])))
        np.testing.assert_allclose(a.predict(x), b.predict(x), atol=0.02)  # of about 5: the solver stops near the optimum
        heavy = BELRegressor(classifier, levels=8, range=(-4, 4)).fit(x, y, np.where(y > 0, 9.0, 1.0)).predict(x)
        assert heavy.mean() > BELRegressor(classifier, levels=8, range=(-4, 4)).fit(x, y).predict(x).mean() + 0.1
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(belsim.Error, match="sample_weight: KNeighborsClassifier takes no weights"):
        BELRegressor(KNeighborsClassifier(), levels=8).fit(x, y, w)
    with pytest.raises(belsim.Error, match="y: 1 of 120 values are masked"):
        BELRegressor(levels=8).fit(x, np.ma.masked_array(y, mask=np.arange(120) == 3))


def test_pipelines() -> None:
    """Preprocessing by names of columns and of features that are missing, inside and outside; intervals of a pipeline."""
    pd = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.uniform(size=300), "group": rng.choice(["x", "y"], 300), "b": rng.uniform(size=300)})
    y = frame["a"] + (frame["group"] == "x")
    frame.loc[::50, "b"] = np.nan
    parts = make_column_transformer((OneHotEncoder(), ["group"]), (SimpleImputer(), ["a", "b"]))
    inside = BELRegressor(make_pipeline(parts, LogisticRegression(C=100)), levels=8).fit(frame[:200], y[:200])
    assert inside.score(frame[200:], y[200:]) > 0.9
    numbers = frame[["a", "b"]].to_numpy()
    filled = BELRegressor(make_pipeline(SimpleImputer(), LogisticRegression()), levels=8).fit(numbers, y)
    assert np.isfinite(filled.predict(numbers)).all()
    with pytest.raises(ValueError, match="NaN"):
        BELRegressor(levels=8).fit(numbers, y)
    outside = make_pipeline(parts, StandardScaler(), BELRegressor(levels=8, calibration=0.3)).fit(frame[:200], y[:200])
    labels, intervals = outside.predict(frame[200:], confidence=0.8)
    assert ((intervals[:, 0] <= labels) & (labels <= intervals[:, 1])).all()


def test_distributions() -> None:
    """predict_proba is a distribution over the levels, also after calibrate, and predict has its mean, median, mode and quantiles."""
    x = np.random.default_rng(1).uniform(size=(600, 1))
    y = x[:, 0] + 0.1 * np.random.default_rng(2).standard_normal(600)
    for code in ("unary", "johnson"):
        model = BELRegressor(code=code, levels=16).fit(x[:300], y[:300])
        for _ in "12":
            p, full = model.predict_proba(x), model.predict(x, output_type="full")
            assert p.shape == (600, 16) and (p >= 0).all()
            np.testing.assert_allclose(p.sum(1), 1, atol=1e-12)
            np.testing.assert_array_equal(full["probabilities"], p)
            np.testing.assert_allclose(full["mean"], p @ np.linspace(*model.range_, 16))
            lower, upper = model.predict(x, output_type="quantiles", quantiles=[0.05, 0.95])
            assert ((lower <= full["median"]) & (full["median"] <= upper)).all() and np.mean((lower <= y) & (y <= upper)) > 0.5
            model.calibrate(x[300:], y[300:])


def test_outputs_with_missing_labels() -> None:
    """Of several outputs each is as if it were trained alone with the samples that have its label."""
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(400, 2))
    y = x + 0.05 * rng.standard_normal((400, 2))
    y[rng.uniform(size=y.shape) < 0.3] = np.nan
    w = rng.uniform(0.5, 2, 400)
    both = BELRegressor(levels=8).fit(x, y, w)
    alone = []
    for k in range(2):
        at = ~np.isnan(y[:, k])
        alone.append(BELRegressor(levels=8).fit(x[at], y[at, k], w[at]))
    np.testing.assert_array_equal(both.predict(x), np.column_stack([of.predict(x) for of in alone]))
    assert both.outputs(x).shape == (400, 2, 7) and both.predict_proba(x).shape == (400, 2, 8)
    full = both.predict(x, output_type="full")
    assert full["mean"].shape == full["quantiles"][0].shape == (400, 2) and full["probabilities"].shape == (400, 2, 8)
    assert both.calibrate(x, y).predict_interval(x).shape == (400, 2, 2)
    with pytest.raises(belsim.Error, match="all are NaN"):
        BELRegressor().fit(x, np.column_stack([y[:, 0], np.full(400, np.nan)]))


def test_calibration() -> None:
    """Intervals hold their share where rows have a period, and by the weights of the samples. 4 standard errors of 3,000 are 0.022."""
    rng = np.random.default_rng(3)
    n, noisy = 6000, np.arange(6000) % 5 != 4
    x = np.column_stack([rng.uniform(size=n), noisy])
    y = x[:, 0] + np.where(noisy, 0.2, 0.01) * rng.standard_normal(n)
    held = slice(3000, None)
    for w in (np.ones(n), np.where(noisy, 1.0, 20)):
        model = BELRegressor(code="unary", levels=16, calibration=0.2).fit(x[:3000, :1], y[:3000], w[:3000])
        lower, upper = model.predict_interval(x[held, :1]).T
        inside = np.average((lower <= y[held]) & (y[held] <= upper), weights=w[held])
        assert 0.85 < inside < 0.95


def test_large_labels() -> None:
    """A unit of the labels changes nothing, up to the largest doubles."""
    x = np.linspace(0, 1, 200)[:, None]
    small, large = (BELRegressor(levels=16).fit(x, x[:, 0] * unit).predict(x) / unit for unit in (1.0, 2.0**1023))
    np.testing.assert_allclose(large, small, rtol=1e-12)
